//! A page for every paper: its tables, figures and examples next to the values that the library computes.

use std::fmt::Write;

use evenhand_papers::{Entry, Exhibit, entries, exhibits, table};
use evenhand_report::Page;

use crate::Fault;
use crate::generated::{Generated, Picture, page};

/// Returns the pages. Computing them takes about a minute.
///
/// # Errors
/// A solver failed, or a picture cannot be drawn.
pub fn papers() -> Result<Vec<Generated>, Fault> {
    let (exhibits, entries) = (exhibits(), entries(&[]).map_err(|error| error.to_string())?);
    let mut papers: Vec<&str> = exhibits.iter().map(paper).collect();
    papers.dedup();
    papers.into_iter().map(|name| one(name, &exhibits, &entries)).collect()
}

fn paper(exhibit: &Exhibit) -> &'static str {
    exhibit.id.split('.').next().unwrap_or_default()
}

fn one(name: &str, exhibits: &[Exhibit], entries: &[Entry]) -> Result<Generated, Fault> {
    let mut text = format!("# {name}: printed values and computed values\n\n");
    let mut pictures = Vec::new();
    writeln!(text, "`evenhand reproduce {name}` computes the values of this page.")?;
    for exhibit in exhibits.iter().filter(|exhibit| paper(exhibit) == name) {
        write!(text, "\n## {}\n\n", exhibit.title)?;
        if let Some(missing) = exhibit.missing() {
            write!(text, "Not checked: {missing}.\n\n")?;
        }
        if let Some(picture) = exhibit.picture().map_err(|error| error.to_string())? {
            write!(text, "![{}](images/{}.svg)\n\n", exhibit.title, exhibit.id)?;
            let path = format!("docs/papers/images/{}.svg", exhibit.id);
            pictures.push(Picture { path, text: picture });
        }
        let values: Vec<Entry> = entries.iter().filter(|entry| exhibit.holds(entry)).cloned().collect();
        if !values.is_empty() {
            text.push_str(&page(&Page::new().table(table(&values))));
        }
    }
    Ok(Generated { title: name.to_owned(), path: format!("docs/papers/{name}.md"), text, pictures })
}

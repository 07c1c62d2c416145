//! Everything that is reproduced as files: a table of each kind and a picture for every table and figure, and
//! a page that shows them side by side.

use std::fmt::Write;

use crate::data::Missing;
use crate::entry::Entry;
use crate::error::PaperError;
use crate::exhibits::Exhibit;
use crate::render::table;
use evenhand_problem::Medium;
use evenhand_report::html::document;
use evenhand_report::{Form, Page};

/// A file of an album.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AlbumFile {
    /// Its name within the folder.
    pub name: String,
    /// What it holds.
    pub text: String,
}

/// In which forms a table is written, with the endings of the files.
const FORMS: [(Form, &str); 3] = [(Form::Markdown, "md"), (Form::Csv, "csv"), (Form::Latex, "tex")];
/// Entries that belong to no table or figure.
const OTHERS: &str = "other-values";

/// The files of the album of these tables and figures and these values, the page `index.html` last.
///
/// Values that belong to none of them stand together in `other-values`.
///
/// # Errors
/// A picture cannot be drawn.
pub fn album(exhibits: &[Exhibit], entries: &[Entry]) -> Result<Vec<AlbumFile>, PaperError> {
    let mut files = Vec::new();
    let mut page = Html::new();
    for exhibit in exhibits {
        let values: Vec<Entry> = entries.iter().filter(|entry| exhibit.holds(entry)).cloned().collect();
        let picture = exhibit.picture()?;
        page.section(exhibit.id, exhibit.title, picture.as_deref(), exhibit.missing(), &values);
        files.extend(tables(exhibit.id, &values));
        files.extend(picture.map(|text| AlbumFile { name: format!("{}.svg", exhibit.id), text }));
    }
    let is_other = |entry: &&Entry| !exhibits.iter().any(|exhibit| exhibit.holds(entry));
    let others: Vec<Entry> = entries.iter().filter(is_other).cloned().collect();
    if !others.is_empty() {
        page.section(OTHERS, "Examples and claims of the text", None, None, &others);
        files.extend(tables(OTHERS, &others));
    }
    files.push(AlbumFile { name: "index.html".to_owned(), text: page.end() });
    Ok(files)
}

/// The values in every form; nothing where there is none.
fn tables<'a>(id: &'a str, values: &'a [Entry]) -> impl Iterator<Item = AlbumFile> + 'a {
    let forms = FORMS.iter().filter(|_| !values.is_empty());
    forms.map(move |(form, ending)| {
        let page = Page::new().table(table(values));
        AlbumFile { name: format!("{id}.{ending}"), text: page.render(form) }
    })
}

/// The page that is written section by section.
struct Html {
    text: String,
}

impl Html {
    fn new() -> Self {
        let text = "<p>What the papers print, and what exact arithmetic and simulation give. The pictures are \
                    drawn anew from what was computed.</p>\n";
        Self { text: text.to_owned() }
    }

    fn section(
        &mut self,
        id: &str,
        title: &str,
        picture: Option<&str>,
        missing: Option<Missing>,
        values: &[Entry],
    ) {
        let (id, title) = (Medium::Html.show(id), Medium::Html.show(title));
        self.line(format_args!("<h2 id=\"{id}\">{id}: {title}</h2>"));
        // Within the page, which loads nothing.
        if let Some(picture) = picture {
            self.line(format_args!("<figure>\n{picture}</figure>"));
        }
        if let Some(missing) = missing {
            self.line(format_args!("<p>Not checked: {}</p>", Medium::Html.show(&missing.to_string())));
        }
        if values.is_empty() {
            let why =
                if picture.is_some() { "The paper prints no values with it." } else { "Not reproduced." };
            self.line(format_args!("<p>{why}</p>"));
            return;
        }
        self.line(format_args!(
            "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"{id}\">\n<table>\n<thead><tr>\
             <th scope=\"col\">value</th><th scope=\"col\">paper</th><th scope=\"col\">ours</th><th scope=\"col\">verdict</th>\
             </tr></thead>\n<tbody>"
        ));
        for entry in values {
            let (class, verdict) = match entry.agrees {
                Some(true) => ("good", "agrees"),
                Some(false) => ("bad", "differs"),
                None if !entry.is_checked() => ("", "not checked"),
                None => ("", ""),
            };
            let note = match entry.note.as_str() {
                "" => String::new(),
                note => format!("<br><small>{}</small>", Medium::Html.show(note)),
            };
            self.line(format_args!(
                "<tr><td>{}<br><small>{}</small></td><td>{}</td><td>{}{note}</td>\
                 <td class=\"{class}\">{verdict}</td></tr>",
                Medium::Html.show(&entry.id),
                Medium::Html.show(entry.source),
                Medium::Html.show(&entry.paper),
                Medium::Html.show(&entry.ours),
            ));
        }
        let links = FORMS.map(|(_, ending)| format!("<a href=\"{id}.{ending}\">{ending}</a>")).join(", ");
        self.line(format_args!("</tbody>\n</table>\n</div>\n<p>The table as {links}.</p>"));
    }

    fn line(&mut self, text: std::fmt::Arguments<'_>) {
        // Writing into a string does not fail.
        let _ = writeln!(self.text, "{text}");
    }

    fn end(self) -> String {
        document("The papers, reproduced", &self.text)
    }
}

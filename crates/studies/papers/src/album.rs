//! Writes all reproductions as files. Every table and figure has a table in several formats and a picture. One page
//! shows the published and the computed values side by side.

use crate::data::Missing;
use crate::entry::Entry;
use crate::error::PaperError;
use crate::exhibits::Exhibit;
use crate::render::table;
use evenhand_problem::printable;
use evenhand_report::html::{document, picture, short};
use evenhand_report::text::few;
use evenhand_report::{Form, Page};
use maud::{PreEscaped, html};

/// A file of an album.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AlbumFile {
    /// The name of the file within the folder.
    pub name: String,
    /// The content of the file.
    pub text: String,
}

/// The formats of tables, with the extensions of their files.
const FORMS: [(Form, &str); 3] = [(Form::Markdown, "md"), (Form::Csv, "csv"), (Form::Latex, "tex")];
/// The name for entries that belong to no table or figure.
const OTHERS: &str = "other-values";
/// The largest number of differing values that the head of the page lists.
const NAMED: usize = 12;

/// Returns the files of the album of these exhibits and entries. The page `index.html` is the last file.
///
/// Entries that belong to no table or figure are in the files `other-values`.
///
/// # Errors
/// A picture cannot be drawn.
pub fn album(exhibits: &[Exhibit], entries: &[Entry]) -> Result<Vec<AlbumFile>, PaperError> {
    let mut files = Vec::new();
    let mut body = short(&sentences(exhibits, entries));
    for exhibit in exhibits {
        let values: Vec<Entry> = entries.iter().filter(|entry| exhibit.holds(entry)).cloned().collect();
        let picture = exhibit.picture()?;
        body += &section(exhibit.id, exhibit.title, picture.as_deref(), exhibit.missing(), &values);
        files.extend(tables(exhibit.id, &values));
        files.extend(picture.map(|text| AlbumFile { name: format!("{}.svg", exhibit.id), text }));
    }
    let is_other = |entry: &&Entry| !exhibits.iter().any(|exhibit| exhibit.holds(entry));
    let others: Vec<Entry> = entries.iter().filter(is_other).cloned().collect();
    if !others.is_empty() {
        body += &section(OTHERS, "Examples and claims of the text", None, None, &others);
        files.extend(tables(OTHERS, &others));
    }
    let text = document("The papers, reproduced", &body, false);
    files.push(AlbumFile { name: "index.html".to_owned(), text });
    Ok(files)
}

/// Returns the tables and figures that are not checked here because their data is missing.
pub fn unchecked_exhibits(exhibits: &[Exhibit]) -> impl Iterator<Item = &Exhibit> {
    exhibits.iter().filter(|exhibit| exhibit.missing().is_some())
}

/// Returns sentences with the number of values that agree, and the values that differ.
fn sentences(exhibits: &[Exhibit], entries: &[Entry]) -> Vec<String> {
    let count = |agrees: Option<bool>| entries.iter().filter(|entry| entry.agrees == agrees).count();
    let unchecked = entries.iter().filter(|entry| !entry.is_checked()).count();
    let with =
        |count: usize, one: &str, many: &str| format!("{count} {}", if count == 1 { one } else { many });
    let mut all = vec![format!(
        "{}: {} with the papers, {}, {} nothing to be compared with, and {} not checked.",
        with(entries.len(), "value", "values"),
        with(count(Some(true)), "agrees", "agree"),
        with(count(Some(false)), "differs", "differ"),
        with(count(None) - unchecked, "has", "have"),
        with(unchecked, "was", "were"),
    )];
    let missing: Vec<&str> = unchecked_exhibits(exhibits).map(|exhibit| exhibit.id).collect();
    if !missing.is_empty() {
        let many = with(missing.len(), "table or figure was", "tables and figures were");
        all.push(format!("{many} not checked, because data is missing: {}.", few(&missing, NAMED)));
    }
    let differ: Vec<&str> =
        entries.iter().filter(|entry| entry.agrees == Some(false)).map(|entry| entry.id.as_str()).collect();
    if !differ.is_empty() {
        all.push(format!("These differ: {}.", few(&differ, NAMED)));
    }
    all.push("Every picture is drawn anew from what was computed.".to_owned());
    all
}

/// Returns the values in every format. Returns no files if there are no values.
fn tables<'a>(id: &'a str, values: &'a [Entry]) -> impl Iterator<Item = AlbumFile> + 'a {
    let forms = FORMS.iter().filter(|_| !values.is_empty());
    forms.map(move |(form, ending)| {
        let page = Page::new().table(table(values));
        AlbumFile { name: format!("{id}.{ending}"), text: page.render(form) }
    })
}

/// Returns the part of the page about one table or figure.
fn section(id: &str, title: &str, shown: Option<&str>, missing: Option<Missing>, values: &[Entry]) -> String {
    let verdict = |entry: &Entry| match entry.agrees {
        Some(true) => ("good", "agrees"),
        Some(false) => ("bad", "differs"),
        None if !entry.is_checked() => ("", "not checked"),
        None => ("", ""),
    };
    let markup = html! {
        h2 id=(id) { (id) ": " (title) }
        @if let Some(svg) = shown { (PreEscaped(picture(svg, title))) }
        @if let Some(missing) = missing { p { "Not checked: " (printable(&missing.to_string())) } }
        @if values.is_empty() {
            p { @if shown.is_some() { "The paper prints no values with it." } @else { "Not reproduced." } }
        } @else {
            div class="wide" tabindex="0" role="region" aria-label=(id) {
                table {
                    thead { tr { @for head in ["value", "paper", "ours", "verdict"] { th scope="col" { (head) } } } }
                    tbody {
                        @for entry in values {
                            @let (class, word) = verdict(entry);
                            tr {
                                th scope="row" class="long" { (printable(&entry.id)) br; small { (printable(entry.source)) } }
                                td { (printable(&entry.paper)) }
                                td {
                                    (printable(&entry.ours))
                                    @if !entry.note.is_empty() { br; small { (printable(&entry.note)) } }
                                }
                                td class=(class) { (word) }
                            }
                        }
                    }
                }
            }
            p {
                "The table as "
                @for (k, (_, ending)) in FORMS.iter().enumerate() {
                    @if k > 0 { ", " }
                    a href=(format!("{id}.{ending}")) { (ending) }
                }
                "."
            }
        }
    };
    markup.into_string() + "\n"
}

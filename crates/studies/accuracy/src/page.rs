//! Writes the folder of a run: tables in three formats, pictures, and a page with all tables and
//! pictures.

use evenhand_report::plot::PlotError;
use evenhand_report::{Form, Page};

use crate::record::{Record, Unanswered};
use crate::{pictures, text};

/// A file of the folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageFile {
    /// The name.
    pub name: &'static str,
    /// The content.
    pub text: String,
}

/// The names of the pictures, with a title and a description of each.
const PICTURES: [(&str, &str, &str); 2] = [
    (
        "work-precision.svg",
        "Time and error",
        "Medians over the instances of a kind. A mark is a contender, and a line connects the settings of one method. \
        Lower is closer to the exact answer, and further left is faster.",
    ),
    (
        "profiles.svg",
        "Profiles",
        "Left: the fraction of the instances that a contender answers within 1e-6, by its time as a multiple of the \
        fastest such time. Right: the fraction that it answers within a given error.",
    ),
];

/// The number of records that the page shows until the reader asks for more.
const FIRST_RECORDS: usize = 20;

/// Returns all files except `accuracy.json`. The last file is `index.html`.
///
/// # Errors
/// A picture cannot be drawn.
pub fn files(records: &[Record], unanswered: &[Unanswered]) -> Result<Vec<PageFile>, PlotError> {
    let page = text::accuracy(records).append(text::unanswered(unanswered));
    let mut files = vec![
        PageFile { name: "accuracy.md", text: page.render(&Form::Markdown) },
        PageFile { name: "accuracy.csv", text: page.render(&Form::Csv) },
        PageFile { name: "accuracy.tex", text: page.render(&Form::Latex) },
    ];
    let mut shown = Page::new();
    let figures = [pictures::work_precision(records), pictures::profiles(records)];
    for ((name, title, what), figure) in PICTURES.into_iter().zip(figures) {
        if records.is_empty() {
            continue;
        }
        let drawn = figure.to_svg()?;
        shown = shown.heading(title).picture(drawn.clone(), what);
        files.push(PageFile { name, text: drawn });
    }
    let names = files.iter().map(|file| file.name).chain(["accuracy.json"]).map(str::to_owned).collect();
    let rows =
        Page::new().heading("All records").folded(text::all(records).at_most(FIRST_RECORDS, "records"));
    // Pictures come before the tables of numbers.
    let opening = text::opening(records).short(text::short(records)).append(shown);
    let tables = text::tables(records).append(text::unanswered(unanswered));
    let html = opening.append(tables).append(rows).files(names).document();
    files.push(PageFile { name: "index.html", text: html });
    Ok(files)
}

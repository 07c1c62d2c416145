//! A page that is made, and how its parts are written.

use evenhand_problem::format::problem_to_json;
use evenhand_problem::{Medium, Problem};
use evenhand_report::{Form, Page};

/// A page that is made from the library.
#[derive(Debug, Clone)]
pub struct Generated {
    /// Its name in the list of chapters.
    pub title: String,
    /// Where it goes, from the root of the book.
    pub path: String,
    /// Markdown.
    pub text: String,
    /// The pictures that it shows.
    pub pictures: Vec<Picture>,
}

/// A picture of a generated page.
#[derive(Debug, Clone)]
pub struct Picture {
    /// Where it goes, from the root of the book.
    pub path: String,
    /// SVG.
    pub text: String,
}

/// A table, or several, as Markdown.
pub(crate) fn page(page: &Page) -> String {
    page.render(&Form::Markdown)
}

/// The file of a problem.
pub(crate) fn problem(problem: &Problem) -> String {
    format!("```json\n{}\n```\n", problem_to_json(problem).trim_end())
}

/// A line of the registry: `x_n` is shown with its index below the line.
pub(crate) fn line(text: &str) -> String {
    let mut shown = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('_') {
        let end = after.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(after.len());
        shown.push_str(&Medium::Markdown.show(before));
        shown.push_str(&format!("<sub>{}</sub>", &after[..end]));
        rest = &after[end..];
    }
    shown + &Medium::Markdown.show(rest)
}

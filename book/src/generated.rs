//! A generated page, and functions that write its parts.

use evenhand_exact::Certificate;
use evenhand_problem::Problem;
use evenhand_problem::format::problem_to_json;
use evenhand_report::{Form, Page};

/// A page that is generated from the library.
#[derive(Debug, Clone)]
pub struct Generated {
    /// The title in the list of chapters.
    pub title: String,
    /// The path, relative to the root of the book.
    pub path: String,
    /// The text in Markdown.
    pub text: String,
    /// The pictures of the page.
    pub pictures: Vec<Picture>,
}

/// A picture of a generated page.
#[derive(Debug, Clone)]
pub struct Picture {
    /// The path, relative to the root of the book.
    pub path: String,
    /// The picture as SVG.
    pub text: String,
}

/// Returns the tables of a report as Markdown.
pub(crate) fn page(page: &Page) -> String {
    page.render(&Form::Markdown)
}

/// Returns the table of the verdicts of a certificate, without the text above the table.
pub(crate) fn verdicts(certificate: &Certificate) -> String {
    let text = page(&evenhand_report::claims(certificate));
    text.lines().skip_while(|line| !line.starts_with('|')).map(|line| line.to_owned() + "\n").collect()
}

/// Returns the file of a problem as a block of Markdown.
pub(crate) fn problem(problem: &Problem) -> String {
    json(&problem_to_json(problem))
}

/// Returns a JSON text as a block of Markdown.
pub(crate) fn json(text: &str) -> String {
    format!("```json\n{}\n```\n", text.trim_end())
}

/// Returns a text of the registry as Markdown in which the `n` of `x_n` is a subscript.
pub(crate) fn line(text: &str) -> String {
    let mut shown = String::new();
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('*', "&#42;").replace('|', "&#124;");
    let mut rest = text.as_str();
    while let Some((before, after)) = rest.split_once('_') {
        let end = after.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(after.len());
        shown.push_str(&format!("{before}<sub>{}</sub>", &after[..end]));
        rest = &after[end..];
    }
    shown + rest
}

#[cfg(test)]
mod tests {
    #[test]
    fn indices_become_subscripts() {
        assert_eq!(super::line("x_n >= e_n gamma_n"), "x<sub>n</sub> >= e<sub>n</sub> gamma<sub>n</sub>");
        assert_eq!(
            super::line("max_r(d_nr / c_r) | 2 * 3"),
            "max<sub>r</sub>(d<sub>nr</sub> / c<sub>r</sub>) &#124; 2 &#42; 3"
        );
    }
}

//! A page that is made, and how its parts are written.

use evenhand_exact::Certificate;
use evenhand_problem::Problem;
use evenhand_problem::format::problem_to_json;
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

/// The verdicts of a certificate; what it is about stands above them.
pub(crate) fn verdicts(certificate: &Certificate) -> String {
    let text = page(&evenhand_report::claims(certificate));
    text.lines().skip_while(|line| !line.starts_with('|')).map(|line| line.to_owned() + "\n").collect()
}

/// The file of a problem.
pub(crate) fn problem(problem: &Problem) -> String {
    json(&problem_to_json(problem))
}

/// A file of JSON.
pub(crate) fn json(text: &str) -> String {
    format!("```json\n{}\n```\n", text.trim_end())
}

/// A line of the registry: `x_n` is shown with its index below the line.
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

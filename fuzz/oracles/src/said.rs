//! Checks that messages to people are a single line, and that the position in a message exists.

use evenhand_problem::format::{FormatError, Source};
use evenhand_report::{Form, Page, Terminal};

/// The largest size of a message in bytes. It suffices for a few names, but not for the content of a file.
const LONGEST: usize = 4_000;

/// Checks that a message is a single line.
#[track_caller]
pub fn one_line(message: &str) {
    assert!(!message.trim().is_empty(), "a message without words");
    assert!(!message.chars().any(char::is_control), "a message of several lines: {message:?}");
    assert!(message.len() <= LONGEST, "a message of {} bytes: {message:.200}...", message.len());
}

/// Checks that an error is a single line with the file, line and column, and that this position exists.
#[track_caller]
pub fn format_error(error: &FormatError, source: &Source<'_>) {
    let said = error.to_string();
    one_line(&said);
    let place = format!("{}:{}:{}: ", source.name, error.line, error.column);
    assert!(said.starts_with(&place) && said.len() > place.len(), "no place or no reason: {said}");
    assert!(error.offset + error.length <= source.text.len(), "a place beyond the end: {said}");
    let before = source.text.get(..error.offset);
    let before = before.unwrap_or_else(|| panic!("a place inside a character: {said}"));
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    assert_eq!((error.line, error.column), (before.matches('\n').count() + 1, column), "{said}");
}

/// Checks a page in every format: numbers are valid numbers, and no character controls a terminal.
pub fn page(page: &Page) {
    let terminal = Terminal { width: Some(80), colour: false };
    for form in [Form::Text(terminal), Form::Csv, Form::Markdown, Form::Latex, Form::Html] {
        let text = page.render(&form);
        let steers = text.chars().find(|c| c.is_control() && *c != '\n');
        assert_eq!(steers, None, "{text}");
        let mut words = text.split(|c: char| !c.is_ascii_alphanumeric());
        let no_number = words.find(|word| ["inf", "NaN", "nan"].contains(word));
        assert_eq!(no_number, None, "{form:?}: {text}");
    }
}

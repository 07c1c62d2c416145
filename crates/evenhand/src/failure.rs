//! Why the program ends without a verdict, and with which status.

use std::io::{IsTerminal, Write};
use std::process::ExitCode;

use evenhand::mechanisms::MechanismError;
use evenhand::mechanisms::ratio::RatioError;
use evenhand::problem::format::{FormatError, ReadError};
use evenhand::report::text::printable;

use crate::output;

/// An end without a verdict. The last line on standard error is `error: ...`.
#[derive(Debug)]
pub struct Failure {
    status: u8,
    message: String,
    /// The offending line, drawn.
    excerpt: Option<String>,
}

impl Failure {
    /// Usage, unreadable or malformed input, input of the wrong kind.
    pub fn input(message: impl Into<String>) -> Self {
        Self { status: 2, message: message.into(), excerpt: None }
    }

    /// A solver failed or a limit was reached.
    pub fn solver(message: impl Into<String>) -> Self {
        Self { status: 3, message: message.into(), excerpt: None }
    }

    /// Malformed input, shown in `text`, or input beyond the reader's budget.
    pub fn format(error: &FormatError, text: &str) -> Self {
        Self { status: if error.is_too_large() { 3 } else { 2 }, message: error.to_string(), excerpt: excerpt(error, text) }
    }

    /// Says it on standard error.
    pub fn report(self) -> ExitCode {
        if let Some(excerpt) = self.excerpt {
            let _ = write!(std::io::stderr(), "{excerpt}");
        }
        // One line, whatever the message holds.
        let words: Vec<&str> = self.message.split_whitespace().collect();
        let line = printable(&words.join(" "));
        // Nothing is left to be done when standard error is gone.
        let _ = writeln!(std::io::stderr(), "error: {line}");
        ExitCode::from(self.status)
    }
}

impl From<ReadError> for Failure {
    fn from(error: ReadError) -> Self {
        Self::input(error.to_string())
    }
}

impl From<MechanismError> for Failure {
    fn from(error: MechanismError) -> Self {
        match error {
            MechanismError::NotApplicable { .. }
            | MechanismError::NeedsOption { .. }
            | MechanismError::BadOption { .. } => Self::input(error.to_string()),
            _ => Self::solver(error.to_string()),
        }
    }
}

impl From<RatioError> for Failure {
    fn from(error: RatioError) -> Self {
        Self::solver(error.to_string())
    }
}

/// Help and version are no failures; a usage error ends with one line as every failure does.
pub fn of_usage(error: &clap::Error) -> Result<ExitCode, Failure> {
    use clap::error::ErrorKind;
    let rendered = error.render();
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
            let coloured = std::io::stdout().is_terminal() && !plain;
            output::text(&if coloured { rendered.ansi().to_string() } else { rendered.to_string() })?;
            Ok(ExitCode::SUCCESS)
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            let excerpt = Some(rendered.to_string());
            Err(Failure { status: 2, message: "a command is missing".to_owned(), excerpt })
        }
        _ => {
            let text = rendered.to_string();
            let (first, rest) = text.split_once("\n\n").unwrap_or((&text, ""));
            let message = first.trim_start_matches("error: ").to_owned();
            let rest = rest.trim();
            let excerpt = (!rest.is_empty()).then(|| format!("{rest}\n"));
            Err(Failure { status: 2, message, excerpt })
        }
    }
}

/// The line of an error with the offending piece marked.
fn excerpt(error: &FormatError, text: &str) -> Option<String> {
    /// Characters of a line that are shown before and after the start of the piece.
    const AROUND: usize = 60;
    let line = printable(text.lines().nth(error.line() - 1)?);
    let characters: Vec<char> = line.chars().collect();
    let at = (error.column() - 1).min(characters.len());
    let (from, to) = (at.saturating_sub(AROUND), (at + AROUND).min(characters.len()));
    let shown: String = characters[from..to].iter().collect();
    let piece = text.get(error.offset()..error.offset() + error.length()).unwrap_or_default();
    let marks = "^".repeat(piece.chars().count().clamp(1, (to - at).max(1)));
    let (number, indent) = (error.line(), " ".repeat(at - from));
    let gutter = " ".repeat(number.to_string().len());
    let place = format!("[{}:{number}:{}]", printable(error.file()), error.column());
    Some(format!("{gutter} {place}\n{number} | {shown}\n{gutter} | {indent}{marks}\n"))
}

//! The reasons why a command ends without a verdict, and their exit statuses.

use std::fmt::Display;
use std::io::{IsTerminal, Write};
use std::process::ExitCode;

use clap::CommandFactory as _;
use evenhand::certify::ratio::RatioError;
use evenhand::import::ImportError;
use evenhand::mechanisms::{MechanismError, registry};
use evenhand::problem::format::{FormatError, ReadError};
use evenhand::report::text::{printable, printable_lines};
use evenhand::simulate::SimulateError;

use crate::arguments::Arguments;
use crate::arguments::names::nearest;
use crate::output;

/// The end of a command without a verdict. Standard error shows a line `error: ...`, followed by lines that
/// help to correct the error.
#[derive(Debug)]
pub struct Failure {
    status: u8,
    message: String,
    /// The lines after the first line: the offending line with a mark, tips, and the usage.
    help: String,
}

impl Failure {
    /// Returns the failure for wrong usage, and for input that is unreadable, malformed or of the wrong kind.
    pub fn input(message: impl Display) -> Self {
        Self { status: 2, message: message.to_string(), help: String::new() }
    }

    /// Returns the failure for an error of a solver, and for a limit that was reached.
    pub fn solver(message: impl Display) -> Self {
        Self { status: 3, message: message.to_string(), help: String::new() }
    }

    /// Returns the failure for malformed input, an excerpt of which is shown from `text`, and for input that
    /// exceeds the budget of the reader.
    pub fn format(error: &FormatError, text: &str) -> Self {
        let help = excerpt(error, text).unwrap_or_default();
        let status = if error.is_too_large { 3 } else { 2 };
        Self { status, message: error.to_string(), help }
    }

    /// Returns `true` if the input caused the failure, and `false` if a limit or a solver caused it.
    pub fn is_of_input(&self) -> bool {
        self.status == 2
    }

    /// Adds a line that tells the user what to do.
    #[must_use]
    pub fn tip(mut self, tip: impl AsRef<str>) -> Self {
        self.help.push_str(&format!("  tip: {}\n", printable(tip.as_ref())));
        self
    }

    /// Adds lines that another process wrote to standard error.
    #[must_use]
    pub fn note(mut self, lines: &str) -> Self {
        self.help.push_str(lines);
        self
    }

    /// Writes the failure to standard error, and returns its exit status.
    pub fn report(self) -> ExitCode {
        // The message becomes a single line, whatever characters it contains.
        let words: Vec<&str> = self.message.split_whitespace().collect();
        let mut text = format!("error: {}\n", printable(&words.join(" ")));
        for line in self.help.lines() {
            // Only the first line may begin with `error: `, whatever names or files contain.
            let indent = if line.starts_with("error: ") { "  " } else { "" };
            text.push_str(&format!("{indent}{}\n", printable(line)));
        }
        // An error is ignored, because it cannot be reported.
        let _ = std::io::stderr().write_all(text.as_bytes());
        ExitCode::from(self.status)
    }
}

impl From<ReadError> for Failure {
    fn from(error: ReadError) -> Self {
        Self::input(error)
    }
}

impl From<MechanismError> for Failure {
    fn from(error: MechanismError) -> Self {
        match error {
            MechanismError::NotApplicable { .. }
            | MechanismError::DoesNotTake { .. }
            | MechanismError::Unreadable { .. }
            | MechanismError::NeedsOption { .. }
            | MechanismError::BadOption { .. } => Self::input(error),
            _ => Self::solver(error),
        }
    }
}

impl From<SimulateError> for Failure {
    fn from(error: SimulateError) -> Self {
        match error {
            SimulateError::Mechanism(error) => error.into(),
            SimulateError::TooManyServers { .. }
            | SimulateError::TooManyExpected { .. }
            | SimulateError::TooManyRows { .. }
            | SimulateError::TooManyTasks { .. }
            | SimulateError::TooManyRuns(_)
            | SimulateError::TooManyRounds { .. }
            | SimulateError::TooManyJobs(_)
            | SimulateError::Late(_)
            | SimulateError::Import(ImportError::Temporary { .. }) => Self::solver(error),
            error => Self::input(error),
        }
    }
}

impl From<RatioError> for Failure {
    fn from(error: RatioError) -> Self {
        Self::solver(error)
    }
}

/// The largest number of known names that the tip lists if no known name is similar.
const LISTED: usize = 12;

/// Returns the failure for a name that does not exist. `what` is the kind of the name. The tip is the most
/// similar name, or the first names of the list.
pub fn unknown<'a>(what: &str, name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Failure {
    let candidates: Vec<&str> = candidates.into_iter().collect();
    let failure = Failure::input(format!("there is no {what} `{name}`"));
    match (nearest(name, candidates.iter().copied()), candidates.as_slice()) {
        (Some(nearest), _) => failure.tip(format!("did you mean `{nearest}`?")),
        (None, []) => failure,
        (None, known) if known.len() <= LISTED => failure.tip(format!("expected {}", known.join(", "))),
        (None, known) => {
            failure.tip(format!("expected {}, ... ({} names)", known[..LISTED].join(", "), known.len()))
        }
    }
}

/// Prints help or the version, which are not failures. Otherwise returns the failure for a usage error. Its
/// first line has the same form as that of other failures.
pub fn of_usage(error: &clap::Error) -> Result<ExitCode, Failure> {
    use clap::error::ErrorKind;
    let rendered = error.render();
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            let coloured = std::io::stdout().is_terminal() && output::colours_are_wanted();
            output::text(&if coloured { rendered.ansi().to_string() } else { rendered.to_string() })?;
            Ok(ExitCode::SUCCESS)
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            let help = format!("\n{rendered}");
            Err(Failure { status: 2, message: "a command is missing".to_owned(), help })
        }
        _ => {
            let text = rendered.to_string();
            let (first, rest) = text.split_once("\n\n").unwrap_or((&text, ""));
            let message = first.trim_start_matches("error: ").to_owned();
            let help = format!("{}\n", rest.trim_matches('\n'));
            let help = if rest.trim().is_empty() { String::new() } else { help };
            let failure = Failure { status: 2, message, help: String::new() };
            let mut failure = tip_of_usage(error).into_iter().fold(failure, Failure::tip);
            failure.help.push_str(&help);
            Err(failure)
        }
    }
}

/// Returns a tip that clap does not give. If the command line names no mechanism, the tip lists the
/// mechanisms. After `help`, the tip is the most similar command.
fn tip_of_usage(error: &clap::Error) -> Option<String> {
    use clap::error::{ContextKind, ContextValue, ErrorKind};
    match (error.kind(), error.get(ContextKind::InvalidArg), error.get(ContextKind::InvalidSubcommand)) {
        (ErrorKind::MissingRequiredArgument, Some(ContextValue::Strings(missing)), _)
            if missing
                .iter()
                .any(|argument| argument.starts_with("--mechanism") || argument == "<MECHANISM>") =>
        {
            Some(format!("the mechanisms are {}", registry::names().join(", ")))
        }
        (ErrorKind::InvalidSubcommand, _, Some(ContextValue::String(name)))
            if error.get(ContextKind::SuggestedSubcommand).is_none() =>
        {
            let commands = Arguments::command();
            let nearest = nearest(name, commands.get_subcommands().map(clap::Command::get_name))?;
            Some(format!("did you mean `{nearest}`?"))
        }
        _ => None,
    }
}

/// Returns the line with the error, in which the offending piece is marked.
fn excerpt(error: &FormatError, text: &str) -> Option<String> {
    /// The number of characters that are shown before and after the beginning of the piece.
    const AROUND: usize = 60;
    let line = text.lines().nth(error.line.checked_sub(1)?)?;
    let characters: Vec<char> = line.chars().collect();
    let at = error.column.saturating_sub(1).min(characters.len());
    let (from, to) = (at.saturating_sub(AROUND), (at + AROUND).min(characters.len()));
    let shown = |from: usize, to: usize| printable(&characters[from..to].iter().collect::<String>());
    let piece = text.get(error.offset..error.offset + error.length).unwrap_or_default();
    let end = (at + piece.chars().count().max(1)).min(to);
    let marks = "^".repeat(shown(at, end.max(at)).chars().count().max(1));
    let (number, indent) = (error.line, " ".repeat(shown(from, at).chars().count()));
    let gutter = " ".repeat(number.to_string().len());
    let place = format!("[{}:{number}:{}]", printable(&error.file), error.column);
    let line = shown(from, to);
    Some(printable_lines(&format!("{gutter} {place}\n{number} | {line}\n{gutter} | {indent}{marks}\n")))
}

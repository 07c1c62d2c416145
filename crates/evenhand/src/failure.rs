//! Why the program ends without a verdict, and with which status.

use std::process::ExitCode;

use evenhand::mechanisms::MechanismError;
use evenhand::problem::format::{FormatError, ReadError};
use miette::{GraphicalReportHandler, GraphicalTheme, LabeledSpan, MietteDiagnostic, NamedSource, Report};

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

    /// Malformed input, shown in `text`.
    pub fn format(error: &FormatError, text: &str) -> Self {
        Self { status: 2, message: error.to_string(), excerpt: excerpt(error, text) }
    }

    /// Says it on standard error.
    pub fn report(self) -> ExitCode {
        if let Some(excerpt) = self.excerpt {
            eprint!("{excerpt}");
        }
        // One line, whatever the message holds.
        let line: Vec<&str> = self.message.split_whitespace().collect();
        eprintln!("error: {}", line.join(" "));
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
            MechanismError::NotApplicable { .. } => Self::input(error.to_string()),
            _ => Self::solver(error.to_string()),
        }
    }
}

/// Help and version are no failures; a usage error ends with one line as every failure does.
pub fn of_usage(error: &clap::Error) -> Result<ExitCode, Failure> {
    use clap::error::ErrorKind;
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            print!("{}", error.render().ansi());
            Ok(ExitCode::SUCCESS)
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            eprint!("{}", error.render());
            Err(Failure::input("a command is missing"))
        }
        _ => {
            let text = error.render().to_string();
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
    /// Lines longer than this say nothing on a terminal.
    const LONGEST_LINE: usize = 2_000;
    let start = error.offset().min(text.len());
    let begin = text.get(..start)?.rfind('\n').map_or(0, |at| at + 1);
    let end = text.get(start..)?.find('\n').map_or(text.len(), |at| start + at);
    if end - begin > LONGEST_LINE {
        return None;
    }
    let length = error.length().min(end - start);
    let diagnostic = MietteDiagnostic::new(error.message().to_owned())
        .with_label(LabeledSpan::underline(start..start + length));
    let report = Report::new(diagnostic).with_source_code(NamedSource::new(error.file(), text.to_owned()));
    let theme = match (colours(), unicode()) {
        (true, _) => GraphicalTheme::unicode(),
        (false, true) => GraphicalTheme::unicode_nocolor(),
        (false, false) => GraphicalTheme::none(),
    };
    let mut drawn = String::new();
    let handler = GraphicalReportHandler::new_themed(theme).with_context_lines(1);
    handler.render_report(&mut drawn, report.as_ref()).ok()?;
    Some(drawn)
}

fn unicode() -> bool {
    use std::io::IsTerminal;
    std::io::stderr().is_terminal()
}

fn colours() -> bool {
    unicode() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

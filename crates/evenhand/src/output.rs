//! Writes results to standard output, and warnings and notes to standard error.

use std::fmt::Display;
use std::io::{BufWriter, ErrorKind, IsTerminal, Write};
use std::process::ExitCode;
use std::sync::Mutex;
use std::time::Duration;

use evenhand::problem::printable_json;
use evenhand::report::json::with_decimals;
use evenhand::report::text::printable;
use evenhand::report::{Form, Page, Terminal};
use indicatif::ProgressBar;
use serde_json::Value;

use crate::arguments::{Common, Format};
use crate::failure::Failure;

/// Writes text to standard output. A reader that has closed the pipe (`| head`) is not an error.
///
/// # Errors
/// If standard output cannot be written to, for example because the disk is full.
pub fn text(text: &(impl Display + ?Sized)) -> Result<(), Failure> {
    let mut out = BufWriter::new(std::io::stdout().lock());
    match write!(out, "{text}").and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::solver(format!("standard output cannot be written to: {error}")))
        }
        _ => Ok(()),
    }
}

/// Writes one JSON document.
///
/// # Errors
/// The errors of [`text`].
pub fn json(value: &Value, common: &Common) -> Result<(), Failure> {
    match common.decimals {
        true => document(&format!("{:#}\n", with_decimals(value.clone()))),
        false => document(&format!("{value:#}\n")),
    }
}

/// Writes the text of a JSON document. Characters that control a terminal are escaped.
///
/// # Errors
/// The errors of [`text`].
pub fn document(json: &str) -> Result<(), Failure> {
    text(&printable_json(json))
}

/// Writes a page in the format of `--format`.
///
/// # Errors
/// The errors of [`text`]. Also if the format is CSV or LaTeX and the page has no table.
pub fn page(page: &Page, common: &Common) -> Result<(), Failure> {
    if let (Format::Csv | Format::Latex, false) = (common.format, page.has_table()) {
        let form = if common.format == Format::Csv { "csv" } else { "latex" };
        return Err(Failure::input(format!("{form} holds only tables, and this result has no table"))
            .tip("--format table, markdown, html or json"));
    }
    let form = match common.format {
        Format::Table | Format::Json => Form::Text(terminal()),
        Format::Csv => Form::Csv,
        Format::Markdown => Form::Markdown,
        Format::Latex => Form::Latex,
        Format::Html => return text(&page.document()),
        Format::Prometheus | Format::Script => {
            let (form, command) = match common.format {
                Format::Script => ("script", "moves"),
                _ => ("prometheus", "verdict"),
            };
            return Err(Failure::input(format!("{form} is a form of `{command}`"))
                .tip("--format table, markdown, html or json"));
        }
    };
    text(&page.render(&form))
}

/// Writes a result as JSON, or as a page in the format of `--format`.
///
/// # Errors
/// The errors of [`page`].
pub fn result(
    common: &Common,
    document: impl FnOnce() -> Value,
    shown: impl FnOnce() -> Page,
) -> Result<ExitCode, Failure> {
    match common.format {
        Format::Json => json(&document(), common)?,
        _ => page(&shown(), common)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns a progress bar on standard error, which is drawn only on a terminal. If the number of steps is not
/// known, it is a spinner.
pub fn progress(common: &Common, steps: Option<u64>) -> ProgressBar {
    let bar = if common.quiet {
        ProgressBar::hidden()
    } else {
        steps.map_or_else(ProgressBar::new_spinner, ProgressBar::new)
    };
    bar.enable_steady_tick(Duration::from_millis(120));
    bar
}

/// Returns the width and the colours of standard output. The width is the value of `COLUMNS` or the width of
/// the terminal. If neither exists, the width is not limited.
fn terminal() -> Terminal {
    let columns = std::env::var("COLUMNS").ok().and_then(|text| text.trim().parse().ok());
    let is_terminal = std::io::stdout().is_terminal();
    let of_terminal = || is_terminal.then(terminal_size::terminal_size).flatten();
    let width = columns.or_else(|| of_terminal().map(|(width, _)| usize::from(width.0)));
    Terminal { width: width.filter(|width| *width > 0), colour: is_terminal && colours_are_wanted() }
}

/// Returns `true` if colours may be used: `NO_COLOR` (no-color.org) is not set, and the terminal is not
/// `dumb`.
pub fn colours_are_wanted() -> bool {
    let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let dumb = std::env::var_os("TERM").is_some_and(|value| value == "dumb");
    !refused && !dumb
}

/// The warnings and notes so far. They are stored until the program knows whether the command fails, because
/// an error comes before them.
static REMARKS: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Writes a line of a log to standard error at once. An error is ignored, because it cannot be reported.
pub fn line(text: &str) {
    let _gone = std::io::stderr().write_all(format!("{}\n", printable(text)).as_bytes());
}

/// Stores a line `warning: ...` that will be written to standard error.
pub fn warn(common: &Common, message: impl AsRef<str>) {
    remark(common, "warning", message.as_ref());
}

/// Stores a line `note: ...` that will be written to standard error.
pub fn note(common: &Common, message: impl AsRef<str>) {
    remark(common, "note", message.as_ref());
}

/// Stores a warning if the kernel could not check a certificate. The certificate is still written.
pub fn unchecked(common: &Common, why: Option<&str>) {
    if let Some(why) = why {
        warn(common, format!("the kernel did not check the certificate: {why}"));
    }
}

fn remark(common: &Common, kind: &str, message: &str) {
    if common.quiet {
        return;
    }
    let mut remarks = REMARKS.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    remarks.push(format!("{kind}: {}\n", printable(message)));
}

/// Writes the stored warnings and notes to standard error. An error is ignored, because it cannot be
/// reported.
pub fn say_remarks() {
    let remarks = std::mem::take(&mut *REMARKS.lock().unwrap_or_else(std::sync::PoisonError::into_inner));
    let _ = std::io::stderr().write_all(remarks.concat().as_bytes());
}

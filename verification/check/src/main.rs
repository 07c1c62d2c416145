//! `evenhand-check CERT [--problem PROBLEM] [--format table|json]`: verifies a fairness, a ratio or a
//! worst-load certificate.
//!
//! The binary holds the problem and exact crates and nothing else: no solver, no floating point in
//! what decides. `-` reads standard input. Exit status 0: everything that the certificate states is
//! true; 1: something is not, or it is about another problem; 2: usage, or input that cannot be
//! read, with a last line `error: ...` on stderr.
#![forbid(unsafe_code)]

use std::io::{ErrorKind, Write};
use std::path::Path;
use std::process::ExitCode;

use evenhand_exact::ratio::{self, worst_load};
use evenhand_exact::{Certificate, Verdict, check, check_against};
use evenhand_problem::format::{FormatError, Source, read_text};
use evenhand_problem::{printable, printable_lines};

const USAGE: &str = "usage: evenhand-check CERTIFICATE [--problem PROBLEM] [--format table|json]";
const HELP: &str = "Verifies a fairness, ratio or worst-load certificate with rational arithmetic alone.

  CERTIFICATE          the file to check; - reads standard input
  --problem PROBLEM    refuse a certificate that is not about this problem
  --format table|json  how to say it (default: table)
  -h, --help           this text
  -V, --version        the version

Exit status: 0 valid, whatever it claims; 1 false, or about another problem; 2 usage or unreadable.";

fn main() -> ExitCode {
    match run(std::env::args_os().skip(1).map(|arg| arg.to_string_lossy().into_owned()).collect()) {
        Ok(code) => code,
        Err(message) => {
            // One line, whatever a name inside it contains.
            let line: Vec<&str> = message.lines().collect();
            eprintln!("error: {}", printable(&line.join(" ")));
            ExitCode::from(2)
        }
    }
}

/// What was asked for on the command line.
struct Arguments {
    certificate: String,
    problem: Option<String>,
    json: bool,
}

fn run(arguments: Vec<String>) -> Result<ExitCode, String> {
    match arguments.as_slice() {
        [only] if only == "-h" || only == "--help" => return say(&format!("{USAGE}\n\n{HELP}"), true),
        [only] if only == "-V" || only == "--version" => {
            return say(&format!("evenhand-check {}", env!("CARGO_PKG_VERSION")), true);
        }
        _ => {}
    }
    let arguments = parse(arguments)?;
    if arguments.certificate == "-" && arguments.problem.as_deref() == Some("-") {
        return Err("the certificate and the problem cannot both be standard input".to_owned());
    }
    let certificate = read(&arguments.certificate)?;
    let source = Source { name: &arguments.certificate, text: &certificate };
    let problem = arguments.problem.as_ref().map(|name| Ok::<_, String>((name, read(name)?))).transpose()?;
    let problem = problem.as_ref().map(|(name, text)| Source { name, text });
    let read = match () {
        () if ratio::is_ratio_certificate(&source) => about_ratio,
        () if worst_load::is_worst_load_certificate(&source) => about_worst_load,
        () => about_fairness,
    };
    let (verdict, table) = read(&source, problem.as_ref()).map_err(|error| error.to_string())?;
    let text = if arguments.json { verdict.to_json() } else { printable_lines(&table) };
    say(&text, verdict.valid)
}

/// The verdict, and how it is said to people.
type Checked = Result<(Verdict, String), FormatError>;

fn about_fairness(source: &Source<'_>, problem: Option<&Source<'_>>) -> Checked {
    let certificate = Certificate::parse(source)?;
    let verdict = match problem {
        None => check(&certificate),
        Some(problem) => check_against(&certificate, &problem.problem()?),
    };
    let says = certificate.claims.iter().map(|claim| {
        let says = match claim.holds {
            Some(true) => "holds",
            Some(false) => "is violated",
            None => "does not apply",
        };
        format!("{} {says}", claim.axiom.name())
    });
    let table = table(says, &verdict);
    Ok((verdict, table))
}

fn about_ratio(source: &Source<'_>, problem: Option<&Source<'_>>) -> Checked {
    let certificate = ratio::Certificate::parse(source)?;
    let verdict = match problem {
        None => ratio::check(&certificate),
        Some(problem) => ratio::check_against(&certificate, &problem.reservation()?),
    };
    let table = table(certificate.claims().into_iter(), &verdict);
    Ok((verdict, table))
}

fn about_worst_load(source: &Source<'_>, problem: Option<&Source<'_>>) -> Checked {
    let certificate = worst_load::Certificate::parse(source)?;
    let verdict = match problem {
        None => worst_load::check(&certificate),
        Some(problem) => worst_load::check_against(&certificate, &problem.reservation()?),
    };
    let table = table(certificate.claims().into_iter(), &verdict);
    Ok((verdict, table))
}

fn parse(arguments: Vec<String>) -> Result<Arguments, String> {
    let mut certificate = None;
    let mut problem = None;
    let mut json = None;
    let mut arguments = arguments.into_iter();
    while let Some(argument) = arguments.next() {
        let (name, mut value) = match argument.split_once('=') {
            Some((name, value)) if name.starts_with("--") => (name.to_owned(), Some(value.to_owned())),
            _ => (argument, None),
        };
        let mut value = |what: &str| {
            value
                .take()
                .or_else(|| arguments.next())
                .ok_or_else(|| format!("--{what} needs a value; {USAGE}"))
        };
        let repeated = match name.as_str() {
            "--problem" => problem.replace(value("problem")?).is_some(),
            "--format" => json.replace(is_json(&value("format")?)?).is_some(),
            other if other.starts_with('-') && other != "-" => {
                return Err(format!("unknown option `{other}`; {USAGE}"));
            }
            _ => certificate.replace(name.clone()).is_some(),
        };
        if repeated {
            return Err(format!("`{name}` is one too many; {USAGE}"));
        }
    }
    let certificate = certificate.ok_or_else(|| format!("no certificate is named; {USAGE}"))?;
    Ok(Arguments { certificate, problem, json: json.unwrap_or(false) })
}

fn is_json(format: &str) -> Result<bool, String> {
    match format {
        "json" => Ok(true),
        "table" => Ok(false),
        other => Err(format!("there is no format `{other}`: expected table or json")),
    }
}

fn read(path: &str) -> Result<String, String> {
    read_text(Path::new(path)).map_err(|error| error.to_string())
}

fn table(says: impl Iterator<Item = String>, verdict: &Verdict) -> String {
    let claims =
        if verdict.claims == 1 { "1 claim".to_owned() } else { format!("{} claims", verdict.claims) };
    let mut text = match &verdict.reason {
        None => format!("valid: {claims}, each proven"),
        Some(reason) => return format!("not valid: {reason}"),
    };
    for claim in says {
        text.push_str(&format!("\n  {claim}"));
    }
    if !verdict.tolerance.is_zero() {
        text.push_str(&format!("\nwithin the tolerance {}", verdict.tolerance));
    }
    text
}

/// Prints; a reader that has gone away is no reason to fail.
fn say(text: &str, valid: bool) -> Result<ExitCode, String> {
    let mut out = std::io::stdout().lock();
    let written = writeln!(out, "{text}").and_then(|()| out.flush());
    if let Err(error) = written
        && error.kind() != ErrorKind::BrokenPipe
    {
        eprintln!("error: standard output cannot be written to: {error}");
        return Ok(ExitCode::from(3));
    }
    Ok(if valid { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

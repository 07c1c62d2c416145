//! `evenhand-check CERTIFICATE`: verifies a fairness, a ratio or a worst-load certificate.
//!
//! The binary holds the problem and exact crates and nothing else: no solver, no floating point in
//! what decides. `-` reads standard input. Exit status 0: everything that the certificate states is
//! true; 1: something is not, or it is not what was asked for; 2: usage, or input that cannot be
//! read; 3: it is too large to be checked, or the output cannot be written. With 2 and 3 the first line on
//! standard error begins with `error: `.
#![forbid(unsafe_code)]

mod arguments;

use std::io::{ErrorKind, Write};
use std::path::Path;
use std::process::ExitCode;

use evenhand_exact::ratio::{self, worst_load};
use evenhand_exact::{AllowedSharing, Certificate, Conditions, Outcome, Requirement, Verdict, check_on};
use evenhand_problem::format::{Source, problem_sha256, read_text};
use evenhand_problem::{Sharing, number, printable, printable_lines};

use crate::arguments::{Arguments, HELP, USAGE};

/// An end without a verdict: the exit status, and why.
struct Failure(u8, String);

impl From<String> for Failure {
    fn from(message: String) -> Self {
        Self(2, message)
    }
}

/// A verdict, and how it is said to people and to programs.
struct Checked {
    verdict: Verdict,
    text: String,
    json: String,
}

fn main() -> ExitCode {
    match run(std::env::args_os().skip(1).map(|arg| arg.to_string_lossy().into_owned()).collect()) {
        Ok(code) => code,
        Err(Failure(status, message)) => {
            // One line, whatever a name inside it contains.
            let line: Vec<&str> = message.lines().collect();
            // Nothing is left to be done when standard error is gone.
            let _ = writeln!(std::io::stderr(), "error: {}", printable(&line.join(" ")));
            ExitCode::from(status)
        }
    }
}

fn run(arguments: Vec<String>) -> Result<ExitCode, Failure> {
    match arguments.as_slice() {
        [only] if only == "-h" || only == "--help" => return say(&format!("{USAGE}\n\n{HELP}"), true),
        [only] if only == "-V" || only == "--version" => {
            return say(&format!("evenhand-check {}", env!("CARGO_PKG_VERSION")), true);
        }
        _ => {}
    }
    let arguments = Arguments::parse(arguments)?;
    let text = read(&arguments.certificate)?;
    let source = Source { name: &arguments.certificate, text: &text };
    let is_ratio = ratio::is_ratio_certificate(&source);
    let checked = if is_ratio || worst_load::is_worst_load_certificate(&source) {
        if arguments.is_about_allocations() {
            return Err(Failure(
                2,
                format!("only --problem can be asked of this kind of certificate; {USAGE}"),
            ));
        }
        of_reservation(&source, is_ratio, arguments.problem.as_deref())?
    } else {
        of_allocation(&source, &arguments)?
    };
    let Checked { verdict, text, json } = checked;
    if verdict.too_large {
        return Err(Failure(3, verdict.reason.unwrap_or_default()));
    }
    say(if arguments.json { &json } else { &text }, verdict.valid)
}

fn of_allocation(source: &Source<'_>, arguments: &Arguments) -> Result<Checked, Failure> {
    let certificate = Certificate::parse(source).map_err(|error| error.to_string())?;
    let file = |name: &Option<String>| name.as_ref().map(|name| Ok::<_, String>((name.clone(), read(name)?)));
    let problem = file(&arguments.problem).transpose()?;
    let problem = problem.map(|(name, text)| Source { name: &name, text: &text }.problem()).transpose();
    let problem = problem.map_err(|error| error.to_string())?;
    let allocation = file(&arguments.allocation).transpose()?;
    let allocation = allocation
        .map(|(name, text)| Source { name: &name, text: &text }.allocation(&certificate.problem))
        .transpose()
        .map_err(|error| error.to_string())?
        .map(|file| file.allocation);
    let mut conditions =
        Conditions { problem: problem.as_ref(), allocation: allocation.as_ref(), ..Conditions::default() };
    for text in &arguments.require {
        let required = Requirement::parse(text, &certificate.problem);
        conditions.require.push(required.map_err(|error| format!("--require {text}: {error}"))?);
    }
    if let Some(text) = &arguments.max_tolerance {
        let most = number::parse(text).map_err(|error| format!("--max-tolerance: {error}"))?;
        if !(0..1).contains(&most) {
            return Err(Failure(2, "--max-tolerance: expected a number from 0 to below 1".to_owned()));
        }
        conditions.max_tolerance = Some(most);
    }
    conditions.sharing = match arguments.sharing.as_deref() {
        Some("tdm") => AllowedSharing::Only(Sharing::Tdm),
        Some(_) => AllowedSharing::Only(Sharing::Rdm),
        None => AllowedSharing::AsStated,
    };
    let verdict = check_on(&certificate, &conditions);
    let says: Vec<String> = certificate.claims.iter().map(|claim| statement(claim, &certificate)).collect();
    let text = format!("{}\n{}", words(&verdict, &says), about(&certificate));
    Ok(Checked { json: verdict.to_json_of(&certificate), text: printable_lines(&text), verdict })
}

fn of_reservation(source: &Source<'_>, is_ratio: bool, problem: Option<&str>) -> Result<Checked, Failure> {
    let problem = problem.map(|name| {
        let text = read(name)?;
        Source { name, text: &text }.reservation().map_err(|error| error.to_string())
    });
    let problem = problem.transpose()?;
    let (verdict, says) = if is_ratio {
        let certificate = ratio::Certificate::parse(source).map_err(|error| error.to_string())?;
        let verdict = match &problem {
            None => ratio::check(&certificate),
            Some(problem) => ratio::check_against(&certificate, problem),
        };
        (verdict, certificate.claims())
    } else {
        let certificate = worst_load::Certificate::parse(source).map_err(|error| error.to_string())?;
        let verdict = match &problem {
            None => worst_load::check(&certificate),
            Some(problem) => worst_load::check_against(&certificate, problem),
        };
        (verdict, certificate.claims())
    };
    let text = printable_lines(&words(&verdict, &says));
    Ok(Checked { json: verdict.to_json(), text, verdict })
}

/// A claim with its parameters, verdict and margin.
fn statement(claim: &evenhand_exact::Claim, certificate: &Certificate) -> String {
    let share = claim.share.map(|share| share.name(&certificate.problem));
    let alpha = claim.alpha.as_ref().map(number::format);
    let name: Vec<String> =
        std::iter::once(claim.axiom.name().to_owned()).chain(share).chain(alpha).collect();
    let says = match claim.outcome() {
        Outcome::Holds => "holds",
        Outcome::Within => "holds within the tolerance",
        Outcome::Violated => "is violated",
        Outcome::NotApplicable => "does not apply",
    };
    let margin =
        claim.margin.as_ref().map_or_else(String::new, |margin| format!(", margin {}", short(margin)));
    format!("{} {says}{margin}", name.join(":"))
}

/// A number as it is, or its beginning where it has more digits than anybody reads.
fn short(value: &evenhand_problem::Rational) -> String {
    /// Digits after which nobody reads on.
    const LONGEST: usize = 40;
    let text = value.to_string();
    if text.len() <= LONGEST { text } else { format!("{}... ({} characters)", &text[..LONGEST], text.len()) }
}

/// What the certificate is about.
fn about(certificate: &Certificate) -> String {
    let problem = &certificate.problem;
    format!(
        "problem `{}`, {} users, {} server classes, sha256 {}\nsharing {}, tolerance {}",
        problem.name(),
        problem.n_users(),
        problem.n_servers(),
        problem_sha256(problem),
        certificate.allocation.sharing.name(),
        number::format(&certificate.tolerance),
    )
}

fn words(verdict: &Verdict, says: &[String]) -> String {
    if let Some(reason) = &verdict.reason {
        return format!("not valid: {reason}");
    }
    let claims = if says.len() == 1 { "1 claim".to_owned() } else { format!("{} claims", says.len()) };
    let mut text = format!("valid: {claims}, each proven");
    for claim in says {
        text.push_str(&format!("\n  {claim}"));
    }
    text
}

fn read(path: &str) -> Result<String, String> {
    read_text(Path::new(path)).map_err(|error| error.to_string())
}

/// Prints; a reader that has gone away is no reason to fail, a full disk is.
fn say(text: &str, valid: bool) -> Result<ExitCode, Failure> {
    let mut out = std::io::stdout().lock();
    match writeln!(out, "{text}").and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure(3, format!("standard output cannot be written to: {error}")))
        }
        _ => Ok(if valid { ExitCode::SUCCESS } else { ExitCode::from(1) }),
    }
}

//! The program `evenhand-check CERTIFICATE`. It verifies a certificate of any kind.
#![forbid(unsafe_code)]

use std::io::{ErrorKind, Read, Write};
use std::process::ExitCode;

use evenhand_check::{File, Options, Unusable, check, printable};

const HELP: &str = "usage: evenhand-check CERTIFICATE [OPTION]...

Verifies a certificate of fairness, of a ratio or a worst load, or of a running cluster.

  CERTIFICATE              the file to check; - reads standard input
  --problem PROBLEM        refuse a certificate that is not about this problem
  --allocation ALLOCATION  refuse a certificate that is not about this allocation
  --require AXIOM[:PARAMETER]  refuse a certificate that does not claim this axiom to hold, such as max-min:drfh;
                           for a ratio or worst load: exact, or ratio:A for a ratio of at least A; for a
                           running cluster also rule:NAME, such as rule:kai; may be given several times
  --max-tolerance T        refuse a larger tolerance (default: 1e-6)
  --sharing rdm|tdm        how servers must be shared: rdm divides resources (default), tdm divides time
  --format table|json      output format (default: table)
  -h, --help               show this help
  -V, --version            show the version

Exit status: 0 valid (read what is claimed); 1 false, or a requirement is not met; 2 wrong usage or
unreadable file; 3 too large to be checked, or the output cannot be written.";

/// The largest size of a file, in bytes.
const MOST_BYTES: u64 = 1 << 30;

fn main() -> ExitCode {
    match run(std::env::args_os().skip(1).map(|argument| argument.to_string_lossy().into_owned())) {
        Ok(code) => code,
        Err(Unusable { status, what }) => {
            // The message stays on one line, even if a name in it contains line breaks. A failure to write the message
            // is ignored.
            let line: Vec<&str> = what.lines().collect();
            let _ = writeln!(std::io::stderr(), "error: {}", printable(&line.join(" ")));
            ExitCode::from(status)
        }
    }
}

fn usage<T>(what: &str) -> Result<T, Unusable> {
    Err(Unusable { status: 2, what: format!("{what} (run evenhand-check --help for the options)") })
}

fn run(mut arguments: impl Iterator<Item = String>) -> Result<ExitCode, Unusable> {
    let (mut certificate, mut problem, mut allocation, mut format) = (None, None, None, None);
    let mut options = Options::default();
    while let Some(argument) = arguments.next() {
        let parts = argument.split_once('=').filter(|(name, _)| name.starts_with("--"));
        let (name, value) = parts.map_or((&*argument, None), |(name, value)| (name, Some(value.to_owned())));
        let is_option = name.starts_with('-') && name != "-";
        let mut value = || value.clone().or_else(|| arguments.next()).unwrap_or_default();
        let (place, value) = match name {
            "-h" | "--help" => return say(HELP, true),
            "-V" | "--version" => return say(concat!("evenhand-check ", env!("CARGO_PKG_VERSION")), true),
            "--problem" => (&mut problem, value()),
            "--allocation" => (&mut allocation, value()),
            "--max-tolerance" => (&mut options.max_tolerance, value()),
            "--sharing" => (&mut options.sharing, value()),
            "--format" => (&mut format, value()),
            "--require" => {
                options.require.push(value());
                continue;
            }
            _ if is_option => return usage(&format!("unknown option `{name}`")),
            _ => (&mut certificate, argument.clone()),
        };
        if value.is_empty() || place.replace(value).is_some() {
            return usage(&format!("`{name}` has no value, or is a second file or a repeated option"));
        }
    }
    let Some(certificate) = certificate else { return usage("expected the file of a certificate") };
    let is_known = matches!(format.as_deref(), None | Some("table" | "json"))
        && matches!(options.sharing.as_deref(), None | Some("rdm" | "tdm"));
    if !is_known {
        return usage("--format: expected table or json; --sharing: expected rdm or tdm");
    }
    let files = [Some(&certificate), problem.as_ref(), allocation.as_ref()];
    if files.into_iter().flatten().filter(|name| *name == "-").count() > 1 {
        return usage("only one file can be standard input (-)");
    }
    let certificate = read(certificate)?;
    options.problem = problem.map(read).transpose()?;
    options.allocation = allocation.map(read).transpose()?;
    let report = check(&certificate, &options)?;
    let is_json = format.is_some_and(|format| format == "json");
    say(&if is_json { report.json() } else { report.text() }, report.reason.is_none())
}

fn read(name: String) -> Result<File, Unusable> {
    let mut bytes = Vec::new();
    let found = match name.as_str() {
        "-" => std::io::stdin().lock().take(MOST_BYTES + 1).read_to_end(&mut bytes),
        path => std::fs::File::open(path).and_then(|file| file.take(MOST_BYTES + 1).read_to_end(&mut bytes)),
    };
    let what = match (found, String::from_utf8(bytes)) {
        (Err(error), _) => error.to_string(),
        (Ok(_), Ok(text)) if text.len() as u64 <= MOST_BYTES => return Ok(File { name, text }),
        (Ok(_), _) => format!("expected at most {MOST_BYTES} bytes of UTF-8 text"),
    };
    Err(Unusable { status: 2, what: format!("{name}: {what}") })
}

/// Prints the answer. A closed pipe is not an error, but a full disk is.
fn say(text: &str, valid: bool) -> Result<ExitCode, Unusable> {
    let mut out = std::io::stdout().lock();
    match writeln!(out, "{text}").and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Unusable { status: 3, what: format!("standard output cannot be written to: {error}") })
        }
        _ => Ok(ExitCode::from(u8::from(!valid))),
    }
}

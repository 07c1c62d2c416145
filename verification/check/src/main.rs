//! `evenhand-check CERTIFICATE`: verifies a fairness, a ratio or a worst-load certificate.
#![forbid(unsafe_code)]

use std::io::{ErrorKind, Read, Write};
use std::process::ExitCode;

use evenhand_check::{File, Options, Unusable, check, printable};

const USAGE: &str = "usage: evenhand-check CERTIFICATE [--problem PROBLEM] [--allocation ALLOCATION] \
[--require AXIOM[:PARAMETER]]... [--max-tolerance T] [--sharing rdm|tdm] [--format table|json]";

const HELP: &str = "Verifies a fairness, ratio or worst-load certificate with rational arithmetic alone.

  CERTIFICATE              the file to check; - reads standard input
  --problem PROBLEM        refuse a certificate that is not about this problem
  --allocation ALLOCATION  refuse a certificate that is not about this allocation
  --require AXIOM[:PARAMETER]
                           refuse a certificate that does not claim it to hold; may be given several
                           times; max-min and proportional need their parameter, as in max-min:drfh
  --max-tolerance T        refuse a larger tolerance (default: 1e-6)
  --sharing rdm|tdm        refuse another way of sharing servers (default: resources are divided; time is
                           shared only where the problem itself states times)
  --format table|json      how to say it (default: table)
  -h, --help               this text
  -V, --version            the version

Exit status: 0 valid, whatever it claims; 1 false, or not what is asked for; 2 usage or unreadable; 3 too
large to be checked, or the output cannot be written.";

/// Most bytes of a file.
const MOST_BYTES: u64 = 1 << 30;

fn main() -> ExitCode {
    let arguments = std::env::args_os().skip(1).map(|argument| argument.to_string_lossy().into_owned());
    match run(arguments.collect()) {
        Ok(code) => code,
        Err(Unusable { status, what }) => {
            // One line, whatever a name inside it contains. Nothing is left to be done when it cannot be written.
            let line: Vec<&str> = what.lines().collect();
            let _ = writeln!(std::io::stderr(), "error: {}", printable(&line.join(" ")));
            ExitCode::from(status)
        }
    }
}

fn usage<T>(what: &str) -> Result<T, Unusable> {
    Err(Unusable { status: 2, what: format!("{what}; {USAGE}") })
}

fn run(arguments: Vec<String>) -> Result<ExitCode, Unusable> {
    match arguments.as_slice() {
        [only] if only == "-h" || only == "--help" => return say(&format!("{USAGE}\n\n{HELP}"), true),
        [only] if only == "-V" || only == "--version" => {
            return say(concat!("evenhand-check ", env!("CARGO_PKG_VERSION")), true);
        }
        _ => {}
    }
    let names = ["--problem", "--allocation", "--max-tolerance", "--sharing", "--format"];
    let mut values: [Option<String>; 5] = Default::default();
    let (mut certificate, mut require) = (None, Vec::new());
    let mut arguments = arguments.into_iter();
    while let Some(argument) = arguments.next() {
        let (name, value) = match argument.split_once('=') {
            Some((name, value)) if name.starts_with("--") => (name.to_owned(), Some(value.to_owned())),
            _ => (argument, None),
        };
        let place = match names.iter().position(|known| *known == name) {
            Some(at) => &mut values[at],
            None if name == "--require" => &mut None,
            None if name.starts_with('-') && name != "-" => {
                return usage(&format!("unknown option `{name}`"));
            }
            None if certificate.is_none() => {
                certificate = Some(name);
                continue;
            }
            None => return usage(&format!("`{name}` is one too many")),
        };
        let Some(value) = value.or_else(|| arguments.next()) else {
            return usage(&format!("{name} needs a value"));
        };
        if name == "--require" {
            require.push(value);
        } else if place.replace(value).is_some() {
            return usage(&format!("`{name}` is one too many"));
        }
    }
    let Some(certificate) = certificate else { return usage("no certificate is named") };
    let [problem, allocation, max_tolerance, sharing, format] = values;
    let is_one_of = |value: &Option<String>, words: [&str; 2]| {
        value.as_ref().is_none_or(|value| words.contains(&value.as_str()))
    };
    if !is_one_of(&format, ["table", "json"]) || !is_one_of(&sharing, ["rdm", "tdm"]) {
        return usage("--format is table or json, --sharing rdm or tdm");
    }
    let files = [Some(&certificate), problem.as_ref(), allocation.as_ref()];
    if files.into_iter().flatten().filter(|name| *name == "-").count() > 1 {
        return usage("only one file can be standard input (-)");
    }
    let certificate = read(certificate)?;
    let options = Options {
        problem: problem.map(read).transpose()?,
        allocation: allocation.map(read).transpose()?,
        require,
        max_tolerance,
        sharing,
    };
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
        (Ok(_), Ok(_)) => format!("expected at most {MOST_BYTES} bytes"),
        (Ok(_), Err(_)) => "expected UTF-8 text".to_owned(),
    };
    Err(Unusable { status: 2, what: format!("{name}: {what}") })
}

/// Prints; a reader that has gone away is no reason to fail, a full disk is.
fn say(text: &str, valid: bool) -> Result<ExitCode, Unusable> {
    let mut out = std::io::stdout().lock();
    match writeln!(out, "{text}").and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Unusable { status: 3, what: format!("standard output cannot be written to: {error}") })
        }
        _ => Ok(ExitCode::from(u8::from(!valid))),
    }
}

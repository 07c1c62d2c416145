//! Runs programs as processes with limits on time and memory, and checks that they end in an allowed way.

use std::fmt::Write as _;
use std::fs::File;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The longest time between two checks of a running program.
const LONGEST_NAP: Duration = Duration::from_millis(20);
/// The number of seconds that a program may take for each second of its processor time, because other
/// processes share the machine.
const PATIENCE: u32 = 5;
/// The largest number of bytes of output that are stored.
const MOST_OUTPUT: u64 = 4 << 20;

/// The limits of a program.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// The limit of processor time in seconds.
    pub seconds: u32,
    /// The limit of the address space in bytes.
    pub bytes: u64,
}

impl Default for Limits {
    /// Returns the limits of a minute and 2 GiB. A gigabyte of address space is added, because programs
    /// reserve memory that they do not use.
    fn default() -> Self {
        Self { seconds: 60, bytes: 3 << 30 }
    }
}

/// The end of a program.
#[derive(Debug, Clone)]
pub struct End {
    /// The exit status. `None` if a signal ended the program.
    pub status: Option<i32>,
    /// The signal that ended the program. `None` if no signal ended it.
    pub signal: Option<i32>,
    /// True if the program was stopped because it took too long.
    pub too_long: bool,
    /// The bytes that the program wrote to standard output.
    pub stdout: Vec<u8>,
    /// The bytes that the program wrote to standard error.
    pub stderr: Vec<u8>,
    /// The time from the start to the end of the program.
    pub took: Duration,
}

/// Runs the program in a folder. If the folder contains the file `input.json`, the file is the standard input
/// of the program.
///
/// # Errors
/// If the program cannot be started, or its output cannot be stored.
pub fn run(program: &Path, arguments: &[String], folder: &Path, limits: Limits) -> io::Result<End> {
    let (out, err) = (folder.join(".stdout"), folder.join(".stderr"));
    let input = File::open(folder.join("input.json")).map_or_else(|_| Stdio::null(), Stdio::from);
    let limited = format!("ulimit -t {}; ulimit -v {}; exec \"$@\"", limits.seconds, limits.bytes >> 10);
    let start = Instant::now();
    let mut child = Command::new("sh")
        .args(["-c", &limited, "sh"])
        .arg(program)
        .args(arguments)
        .current_dir(folder)
        .env("RAYON_NUM_THREADS", "1")
        .env_remove("RUST_BACKTRACE")
        .stdin(input)
        .stdout(File::create(&out)?)
        .stderr(File::create(&err)?)
        .spawn()?;
    let longest = Duration::from_secs(limits.seconds.into()) * PATIENCE;
    let (mut nap, mut too_long) = (Duration::from_millis(1), false);
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if start.elapsed() > longest {
            too_long = true;
            child.kill()?;
            break child.wait()?;
        }
        std::thread::sleep(nap);
        nap = (nap * 5 / 4).min(LONGEST_NAP);
    };
    Ok(End {
        status: status.code(),
        signal: status.signal(),
        too_long,
        stdout: beginning(&out)?,
        stderr: beginning(&err)?,
        took: start.elapsed(),
    })
}

fn beginning(path: &PathBuf) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    io::Read::read_to_end(&mut io::Read::take(File::open(path)?, MOST_OUTPUT), &mut bytes)?;
    Ok(bytes)
}

/// Returns the first fault in the end of a program. Returns `None` if there is no fault.
#[must_use]
pub fn fault(arguments: &[String], end: &End) -> Option<String> {
    let stderr = String::from_utf8_lossy(&end.stderr);
    // The system sends SIGKILL or SIGXCPU to a program that has used all of its processor time.
    if end.too_long || end.signal.is_some_and(|signal| [9, 24].contains(&signal)) {
        return Some("no end within the limit on time".to_owned());
    }
    if stderr.contains("this is a defect") || stderr.contains("panicked at") {
        return Some(format!("a panic: {}", first_line(&stderr)));
    }
    let Some(status) = end.status else {
        return Some(format!("signal {}: {}", end.signal.unwrap_or_default(), first_line(&stderr)));
    };
    if !(0..=3).contains(&status) {
        return Some(format!("exit status {status}: {}", first_line(&stderr)));
    }
    if status >= 2 && !stderr.lines().any(|line| line.starts_with("error: ") || line.starts_with("usage: ")) {
        return Some(format!("exit status {status} without a word: {}", first_line(&stderr)));
    }
    let steers = |bytes: &[u8]| bytes.iter().any(|byte| *byte < b' ' && !b"\n\t".contains(byte));
    let makes_roff =
        arguments.first().is_some_and(|command| ["man", "completions"].contains(&command.as_str()));
    if steers(&end.stderr) || steers(&end.stdout) && !makes_roff {
        return Some("control characters in the output".to_owned());
    }
    let as_json = arguments.windows(2).any(|pair| pair[0] == "--format" && pair[1] == "json");
    let is_text = makes_roff || arguments.iter().any(|word| word == "--help");
    if as_json && status < 2 && !is_text && !is_json(&end.stdout) {
        return Some("the output is no JSON document".to_owned());
    }
    None
}

fn is_json(bytes: &[u8]) -> bool {
    bytes.is_empty() || serde_json::from_slice::<serde_json::Value>(bytes).is_ok()
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or("nothing is said").chars().take(300).collect()
}

/// Returns the program and its arguments as a line of shell.
#[must_use]
pub fn shown(program: &Path, arguments: &[String]) -> String {
    let mut line = program.file_name().unwrap_or_default().to_string_lossy().into_owned();
    for argument in arguments {
        let _ = write!(line, " '{}'", argument.replace('\'', r"'\''"));
    }
    line
}

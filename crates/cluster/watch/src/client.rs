//! Runs the client of a system, without a shell and for a limited time.

use std::fmt;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use evenhand_import::MAX_UNPACKED_BYTES;
use evenhand_problem::printable;

use crate::error::{Failure, WatchError};
use crate::stop::Stop;

/// The shortest and the longest time between two checks whether a client has ended.
const BETWEEN_LOOKS: [Duration; 2] = [Duration::from_millis(1), Duration::from_millis(50)];
/// The largest number of bytes of a client's standard error that a message repeats.
const MOST_ERRORS: usize = 400;

/// A program and its arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandLine {
    words: Vec<String>,
}

impl CommandLine {
    /// Returns the command line with the words `words`. The first word is the program.
    #[must_use]
    pub fn new(words: impl IntoIterator<Item = String>) -> Self {
        Self { words: words.into_iter().collect() }
    }

    /// Splits a text into words as a POSIX shell does, but expands no variables and no patterns, and runs no
    /// pipes.
    ///
    /// # Errors
    /// [`WatchError::CommandLine`] if the text has no words, or a quotation mark is not closed.
    ///
    /// # Examples
    /// ```
    /// use evenhand_watch::client::CommandLine;
    /// let line = CommandLine::parse("ssh login 'squeue --json'").unwrap();
    /// assert_eq!(line.words(), ["ssh", "login", "squeue --json"]);
    /// assert!(CommandLine::parse("squeue '--json").is_err());
    /// ```
    pub fn parse(text: &str) -> Result<Self, WatchError> {
        let words = shlex::split(text).filter(|words| words.first().is_some_and(|word| !word.is_empty()));
        words.map(Self::new).ok_or_else(|| WatchError::CommandLine(printable(text)))
    }

    /// Returns the program and its arguments.
    #[must_use]
    pub fn words(&self) -> &[String] {
        &self.words
    }

    /// Runs the command, and returns its output in a file without a name. The time limit is measured by the
    /// clock of the system.
    ///
    /// # Errors
    /// [`Failure`] if the command cannot be started, ends with an error, prints nothing or too much, or does
    /// not end before `end`. Also if the watch is asked to stop.
    pub fn run(&self, end: Instant, limit: Duration, stop: &Stop) -> Result<File, Failure> {
        let failure = |message: String| Failure::Client { command: printable(&self.to_string()), message };
        let file = || tempfile::tempfile().map_err(|error| failure(format!("no temporary file: {error}")));
        let same = |file: &File| file.try_clone().map_err(|error| failure(error.to_string()));
        let (mut output, mut errors) = (file()?, file()?);
        let (program, arguments) =
            self.words.split_first().ok_or_else(|| failure("no program".to_owned()))?;
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::null()).stdout(same(&output)?).stderr(same(&errors)?);
        // The client and the programs that it starts form a process group, so that they can be ended together.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = command.spawn().map_err(|error| failure(format!("cannot be started: {error}")))?;
        let status = match self.wait(&mut child, &output, end, limit, stop) {
            Ok(status) => status,
            Err(failed) => {
                end_group(&mut child);
                return Err(failed);
            }
        };
        if !status.success() {
            return Err(failure(format!("{status}{}", said(&mut errors))));
        }
        let length = output.seek(SeekFrom::End(0)).map_err(|error| failure(error.to_string()))?;
        if length == 0 {
            return Err(failure(format!("it printed nothing{}", said(&mut errors))));
        }
        output.rewind().map_err(|error| failure(error.to_string()))?;
        Ok(output)
    }

    fn wait(
        &self,
        child: &mut Child,
        output: &File,
        end: Instant,
        limit: Duration,
        stop: &Stop,
    ) -> Result<ExitStatus, Failure> {
        let command = || printable(&self.to_string());
        let mut pause = BETWEEN_LOOKS[0];
        loop {
            match child.try_wait() {
                Ok(Some(status)) => return Ok(status),
                Ok(None) => {}
                Err(error) => return Err(Failure::Client { command: command(), message: error.to_string() }),
            }
            let length = output.metadata().map_or(0, |of| of.len());
            if length > MAX_UNPACKED_BYTES {
                let message = format!("it prints more than {MAX_UNPACKED_BYTES} bytes");
                return Err(Failure::Client { command: command(), message });
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(Failure::Timeout { command: command(), limit });
            }
            if stop.wait(pause.min(left)) {
                return Err(Failure::Stopped);
            }
            pause = (pause * 2).min(BETWEEN_LOOKS[1]);
        }
    }
}

impl fmt::Display for CommandLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match shlex::try_join(self.words.iter().map(String::as_str)) {
            Ok(line) => f.write_str(&line),
            // One of the words contains a null character.
            Err(_) => f.write_str(&self.words.join(" ")),
        }
    }
}

/// Ends a client and the programs that it started. Errors are ignored, because they mean that the processes have
/// already ended.
fn end_group(child: &mut Child) {
    #[cfg(unix)]
    if let Some(group) = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw) {
        let _ended = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
    let _ended = child.kill();
    let _status = child.wait();
}

/// Returns what a client printed on standard error, as the end of a message.
fn said(errors: &mut File) -> String {
    let mut bytes = Vec::new();
    let mut read = |bytes: &mut Vec<u8>| -> io::Result<()> {
        let length = errors.seek(SeekFrom::End(0))?;
        errors.seek(SeekFrom::Start(length.saturating_sub(MOST_ERRORS as u64)))?;
        errors.take(MOST_ERRORS as u64).read_to_end(bytes).map(drop)
    };
    // If reading fails, the message still has the exit status of the client.
    let _ = read(&mut bytes);
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    if lines.is_empty() { String::new() } else { format!(": {}", printable(&lines.join("; "))) }
}

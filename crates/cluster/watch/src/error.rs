//! The errors of this crate: a round without a verdict, and a watch that cannot begin.

use std::path::PathBuf;
use std::time::Duration;

use thiserror::Error;

/// The reason why a round gave no verdict. The next round may give one.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Failure {
    /// A client could not be started, or ended with an error.
    #[error("`{command}`: {message}")]
    Client {
        /// The command.
        command: String,
        /// A description of the error.
        message: String,
    },
    /// A client took longer than the time limit and was ended.
    #[error("`{command}` took longer than {} seconds and was ended (--timeout raises the limit)", .limit.as_secs_f64())]
    Timeout {
        /// The command.
        command: String,
        /// The time limit for all commands of a round.
        limit: Duration,
    },
    /// The dump is cut off, or is refused for another reason.
    #[error("the dump is refused: {0}")]
    Dump(String),
    /// A limit of work or memory was reached.
    #[error("a limit was reached: {0}")]
    Limit(String),
    /// The snapshot could not be judged.
    #[error("no verdict: {0}")]
    Verdict(String),
    /// The watch was asked to stop during the round.
    #[error("the watch was asked to stop")]
    Stopped,
}

impl Failure {
    /// The reasons, as they are named in metrics and in the history.
    pub const REASONS: [&'static str; 5] = ["client", "timeout", "dump", "limit", "verdict"];

    /// Returns the reason in one word.
    #[must_use]
    pub fn reason(&self) -> &'static str {
        match self {
            Self::Client { .. } => "client",
            Self::Timeout { .. } => "timeout",
            Self::Dump(_) => "dump",
            Self::Limit(_) => "limit",
            Self::Verdict(_) => "verdict",
            Self::Stopped => "stopped",
        }
    }
}

/// The reason why a watch cannot begin, or why a history cannot be read or written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum WatchError {
    /// A command line is empty, or has a quotation mark that is not closed.
    #[error("--command: `{0}` is not a command line: it is empty, or a quotation mark is not closed")]
    CommandLine(String),
    /// No client of the system prints its dump.
    #[error("{0} has no client that is known here: state the commands that print its dump with --command")]
    NoClient(&'static str),
    /// The address is not a loopback address.
    #[error(
        "--listen {0}: this address can be reached from other machines, and anybody there could read the verdict; listen on \
         127.0.0.1 behind a proxy, or add --insecure"
    )]
    NotLoopback(String),
    /// The program cannot listen on the address.
    #[error("--listen {address}: {source}")]
    Listen {
        /// The address.
        address: String,
        /// The error that the system reported.
        source: std::io::Error,
    },
    /// A file is not a history.
    #[error("{}: this SQLite file is not a history of `evenhand watch`: name another file", .0.display())]
    NoHistory(PathBuf),
    /// A history was written by a later version.
    #[error("{}: this history has the format {found}, and this program reads {known}: use the later version", .file.display())]
    Later {
        /// The file.
        file: PathBuf,
        /// The format of the file.
        found: i64,
        /// The format of this program.
        known: i64,
    },
    /// A history belongs to another system.
    #[error("{}: this is the history of {found}, not of {asked}: name another file", .file.display())]
    OtherSystem {
        /// The file.
        file: PathBuf,
        /// The system of the history.
        found: String,
        /// The system that this watch judges.
        asked: String,
    },
    /// Another program writes to the history.
    #[error("{}: another watch writes to this history: stop it, or name another file", .0.display())]
    Locked(PathBuf),
    /// The history cannot be read or written.
    #[error("{}: {message}", .file.display())]
    History {
        /// The file.
        file: PathBuf,
        /// A description of the error.
        message: String,
    },
    /// A thread or its runtime cannot be started.
    #[error("no thread can be started: {0}")]
    Thread(std::io::Error),
}

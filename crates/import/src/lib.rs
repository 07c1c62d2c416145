//! Real cluster data as allocation problems.
//!
//! | importer | reads |
//! |---|---|
//! | [`openb`] | node and pod lists of the Alibaba GPU cluster trace of 2023 |
//! | [`google`] | machine table or events, and task events, of the Google cluster trace of 2011 |
//! | [`google_stream`], [`openb_stream`], [`azure_stream`], [`TaskTable`] | tasks with their times, for simulations |
//! | [`MachineEvents`] | the machine events of the Google trace over time, for simulations |
//! | [`snapshot`] | dumps of running clusters: who asks for what, what runs where, what waits |
//! | [`catalogue()`] | a price list of cloud machine types, for reservation problems |
//!
//! Files may be plain, gzip or zstd, whatever they are called. A malformed row is an error with
//! file and line; what the mapping cannot express is told in a [`Note`], with numbers.
#![forbid(unsafe_code)]

mod azure;
mod catalogue;
mod google;
mod input;
mod note;
mod openb;
mod ordered;
mod schedulers;
mod spill;
mod stream;
mod table;

use evenhand_problem::number;
use evenhand_problem::problem::{Problem, ProblemError};
use rug::Rational;
use thiserror::Error;

pub use azure::azure_stream;
pub use catalogue::{MachineType, catalogue};
pub use google::{
    GoogleOptions, GoogleUsers, MachineChange, MachineEvent, MachineEvents, google, google_machines,
    google_stream,
};
pub use input::{FREE_BYTES, Input, MAX_EXPANSION, MAX_LINE_BYTES, MAX_UNPACKED_BYTES};
pub use note::Note;
pub use openb::{openb, openb_nodes, openb_stream};
pub use schedulers::{Options, snapshot};
pub use stream::{StreamedTasks, Trace, TraceStream, TraceTask};
pub use table::{TaskRow, TaskTable};

/// Amounts under the names of their resources.
fn amounts<const N: usize>(resources: [&str; N], amounts: [Rational; N]) -> Vec<(String, Rational)> {
    resources.map(str::to_owned).into_iter().zip(amounts).collect()
}

/// Refuses a problem that could be written but not read again.
fn writable(problem: Problem) -> Result<Problem, ImportError> {
    let name = |r: &usize| &problem.resources()[*r];
    let servers = problem.servers().iter().flat_map(|class| {
        let place = move |r| format!("server `{}`: capacity of `{}`", class.name(), name(r));
        class.capacity().entries().iter().map(move |(r, value)| (value, place(r)))
    });
    let users = problem.users().iter().flat_map(|user| {
        let place = move |r| format!("user `{}`: demand of `{}`", user.name(), name(r));
        user.base_demand().entries().iter().map(move |(r, value)| (value, place(r)))
    });
    if let Some((_, place)) = servers.chain(users).find(|(value, _)| number::stated(value).is_none()) {
        return Err(ImportError::TooLong { place });
    }
    Ok(problem)
}

/// What an importer made.
#[derive(Debug, Clone, PartialEq)]
pub struct Import {
    /// The problem.
    pub problem: Problem,
    /// What the problem does not say of the data.
    pub notes: Vec<Note>,
    /// Names in the problem and what the data calls them, where a name was made up: users and
    /// platforms of the Google trace.
    pub originals: Vec<(String, String)>,
}

/// Why data cannot be imported.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ImportError {
    /// A file cannot be opened, read or decompressed.
    #[error("{file}: {source}")]
    Io {
        /// Name of the file.
        file: String,
        /// What went wrong.
        source: std::io::Error,
    },
    /// What is not kept in memory cannot be written into a temporary file, or not be read again.
    #[error("temporary file in {folder}: {source}")]
    Temporary {
        /// Where it is.
        folder: String,
        /// What went wrong.
        source: std::io::Error,
    },
    /// A row is not what the format says.
    #[error("{file}:{line}: {message}")]
    Record {
        /// Name of the file.
        file: String,
        /// Line in the decompressed file, from 1.
        line: u64,
        /// What was found and what was expected.
        message: String,
    },
    /// A dump of a cluster does not say what it should.
    #[error("{file}: {}{message}", if place.is_empty() { String::new() } else { format!("{place}: ") })]
    Dump {
        /// Name of the file.
        file: String,
        /// Where in the file: a path, or empty.
        place: String,
        /// What was found and what was expected.
        message: String,
    },
    /// Dumps that do not belong together, or of which one is missing.
    #[error("{0}")]
    Dumps(String),
    /// The file has more bytes, or a longer line, than an importer takes.
    #[error("{file}:{line}: too large: {limit}")]
    TooLarge {
        /// Name of the file.
        file: String,
        /// Line in the decompressed file, from 1.
        line: u64,
        /// The limit, in words.
        limit: String,
    },
    /// A number of the problem is too long to be written into a problem file. Only a mean can be.
    #[error(
        "{place}: this number has more than {} digits, the most that a problem file may state",
        evenhand_problem::number::MAX_DIGITS
    )]
    TooLong {
        /// Where in the problem, with the name of the user or server.
        place: String,
    },
    /// The data holds no server, or something else that no problem can be made of.
    #[error("no allocation problem can be made of this: {0}")]
    Problem(#[from] ProblemError),
}

//! Real cluster data as allocation problems.
//!
//! | importer | reads |
//! |---|---|
//! | [`openb`] | node and pod lists of the Alibaba GPU cluster trace of 2023 |
//! | [`google`] | machine table or events, and task events, of the Google cluster trace of 2011 |
//! | [`google_stream`], [`openb_stream`], [`azure_stream`], [`TaskTable`] | tasks with their times, for simulations |
//! | [`MachineEvents`] | the machine events of the Google trace over time, for simulations |
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
mod spill;
mod stream;
mod table;

use evenhand_problem::number;
use evenhand_problem::problem::{MAX_COUNT, Problem, ProblemError};
use evenhand_problem::snapshot::Snapshot;
use rug::Rational;
use thiserror::Error;

pub use azure::azure_stream;
pub use catalogue::{MachineType, catalogue};
pub use google::{
    GoogleOptions, GoogleUsers, MachineChange, MachineEvent, MachineEvents, google, google_machines,
    google_stream,
};
pub use input::{FREE_BYTES, Input, MAX_EXPANSION, MAX_LINE_BYTES, MAX_UNPACKED_BYTES, broken_limit, split};
pub use note::Note;
pub use openb::{openb, openb_nodes, openb_stream};
pub use ordered::Ordered;
pub use stream::{StreamedTasks, Trace, TraceStream, TraceTask};
pub use table::{TaskRow, TaskTable};

/// Amounts under the names of their resources.
fn amounts<const N: usize>(resources: [&str; N], amounts: [Rational; N]) -> Vec<(String, Rational)> {
    resources.map(str::to_owned).into_iter().zip(amounts).collect()
}

/// Refuses a problem that could be written but not read again.
fn writable(problem: Problem) -> Result<Problem, ImportError> {
    let mut digits = Digits::default();
    digits.problem(&problem)?;
    Ok(problem)
}

/// Refuses a snapshot that could be written but not read again.
///
/// # Errors
/// [`ImportError`] for a number with more digits than a file may state, and for more digits or tasks than a file may have together.
pub fn writable_snapshot(snapshot: &Snapshot) -> Result<(), ImportError> {
    let mut digits = Digits::default();
    digits.problem(&snapshot.problem)?;
    let problem = &snapshot.problem;
    for said in &snapshot.reported {
        let place = || match &said.resource {
            Some(resource) => format!("the reported number `{}` of `{resource}`", said.what),
            None => format!("the reported number `{}`", said.what),
        };
        said.value.iter().try_for_each(|value| digits.take(value, place))?;
    }
    for rounded in &snapshot.rounded {
        let (server, resource) =
            (problem.servers()[rounded.server].name(), &problem.resources()[rounded.resource]);
        let place = || format!("server `{server}`: what is rounded of `{resource}`");
        let by_server = rounded.by_server.iter().map(|(_, amount)| amount);
        [&rounded.most, &rounded.in_all]
            .into_iter()
            .chain(by_server)
            .try_for_each(|value| digits.take(value, place))?;
    }
    let waiting = snapshot.waiting.iter().map(|waiting| waiting.tasks);
    let running: Rational = snapshot.allocation.totals().iter().sum();
    if waiting.fold(running, |sum, tasks| sum + tasks) > MAX_COUNT {
        return Err(ImportError::Dumps(format!("more than {MAX_COUNT} tasks run and wait")));
    }
    Ok(())
}

/// The digits of the numbers that are going to be written.
#[derive(Default)]
struct Digits(u64);

impl Digits {
    /// Counts a number, which is refused where the reader of files would refuse it.
    fn take(&mut self, value: &Rational, place: impl Fn() -> String) -> Result<(), ImportError> {
        /// Bits of numerator and denominator together whose digits are fewer than a number may have.
        const FEW: u32 = 1_300;
        let bits = value.numer().significant_bits().saturating_add(value.denom().significant_bits());
        if bits > FEW && number::stated(value).is_none() {
            return Err(ImportError::TooLong { place: place() });
        }
        // A digit has more than three bits.
        self.0 += u64::from(bits / 3 + 2);
        if self.0 > number::MAX_TOTAL_DIGITS {
            let limit = number::MAX_TOTAL_DIGITS;
            let message =
                format!("the numbers have more than {limit} digits together, the most that a file may have");
            return Err(ImportError::Dumps(message));
        }
        Ok(())
    }

    fn problem(&mut self, problem: &Problem) -> Result<(), ImportError> {
        let name = |r: &usize| &problem.resources()[*r];
        for class in problem.servers() {
            for (r, value) in class.capacity().entries() {
                self.take(value, || format!("server `{}`: capacity of `{}`", class.name(), name(r)))?;
            }
        }
        for user in problem.users() {
            for (r, value) in user.base_demand().entries() {
                self.take(value, || format!("user `{}`: demand of `{}`", user.name(), name(r)))?;
            }
        }
        for group in problem.groups().list() {
            self.take(&group.weight, || format!("group `{}`: weight", group.name))?;
            let on = group.on.iter().flat_map(|on| &on.limit).map(|entry| ("limit on classes", entry));
            let guarantee = group.guarantee.iter().flatten().map(|entry| ("guarantee", entry));
            let limit = group.limit.iter().map(|entry| ("limit", entry));
            let lend = group.lend.iter().map(|entry| ("lend", entry));
            for (what, (r, value)) in guarantee.chain(limit).chain(lend).chain(on) {
                self.take(value, || format!("group `{}`: {what} of `{}`", group.name, name(r)))?;
            }
        }
        Ok(())
    }
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
    /// A number of the problem is too long to be written into a file: a mean or a sum of numbers that are not.
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

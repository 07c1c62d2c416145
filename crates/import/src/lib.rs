//! Importers of real cluster data.
//!
//! | importer | reads |
//! |---|---|
//! | [`openb`] | node and pod lists of the Alibaba GPU cluster trace of 2023 |
//! | [`gavel()`] | the table of throughputs and the lists of jobs of Gavel (OSDI 2020) |
//! | [`google`] | machine table or events, and task events, of the Google cluster trace of 2011 |
//! | [`google_stream`], [`openb_stream`], [`azure_stream`], [`TaskTable`] | tasks with their times, for simulations |
//! | [`MachineEvents`] | the machine events of the Google trace over time, for simulations |
//! | [`catalogue()`] | a price list of cloud machine types, for reservation problems |
//!
//! Files may be plain, gzip, zstd or the only file of a zip archive, whatever their names are. A malformed row is an
//! error with file and line. A [`Note`] describes data that the problem does not express, with the number of rows.
#![forbid(unsafe_code)]

mod azure;
mod catalogue;
mod gavel;
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
pub use gavel::{GavelOptions, gavel, gavel_scenario};
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

/// Returns amounts with the names of their resources.
fn amounts<const N: usize>(resources: [&str; N], amounts: [Rational; N]) -> Vec<(String, Rational)> {
    resources.map(str::to_owned).into_iter().zip(amounts).collect()
}

/// Rejects a problem that could be written to a file but not read again.
fn writable(problem: Problem) -> Result<Problem, ImportError> {
    let mut digits = Digits::default();
    digits.problem(&problem)?;
    Ok(problem)
}

/// Rejects a snapshot that could be written to a file but not read again.
///
/// # Errors
/// Returns an [`ImportError`] for a number with more digits than a file may state, and if the snapshot has
/// more digits or tasks than a file may have together.
pub fn writable_snapshot(snapshot: &Snapshot) -> Result<(), ImportError> {
    let mut digits = Digits::default();
    digits.problem(&snapshot.problem)?;
    let problem = &snapshot.problem;
    for reported in &snapshot.reported {
        let place = || match &reported.resource {
            Some(resource) => format!("the reported number `{}` of `{resource}`", reported.what),
            None => format!("the reported number `{}`", reported.what),
        };
        reported.value.iter().try_for_each(|value| digits.take(value, place))?;
    }
    for rounded in &snapshot.rounded {
        let (server, resource) =
            (problem.servers()[rounded.server].name(), &problem.resources()[rounded.resource]);
        let place = || format!("server `{server}`: rounding of `{resource}`");
        let by_server = rounded.by_server.iter().map(|(_, amount)| amount);
        [&rounded.most, &rounded.in_all]
            .into_iter()
            .chain(by_server)
            .try_for_each(|value| digits.take(value, place))?;
    }
    let waiting = snapshot.waiting.iter().map(|waiting| waiting.tasks);
    let running: Rational = snapshot.allocation.totals().iter().sum();
    if waiting.fold(running, |sum, tasks| sum + tasks) > MAX_COUNT {
        return Err(ImportError::Dumps(format!(
            "the dump has more than {MAX_COUNT} tasks, the most that is accepted"
        )));
    }
    Ok(())
}

/// The number of digits of all numbers that will be written.
#[derive(Default)]
struct Digits(u64);

impl Digits {
    /// Counts the digits of a number, or rejects the number if the reader of files would reject it.
    fn take(&mut self, value: &Rational, place: impl Fn() -> String) -> Result<(), ImportError> {
        /// A number with at most this many bits, of numerator and denominator together, is never too long.
        const FEW: u32 = 1_300;
        let bits = value.numer().significant_bits().saturating_add(value.denom().significant_bits());
        if bits > FEW && number::stated(value).is_none() {
            return Err(ImportError::TooLong { place: place() });
        }
        // A digit needs more than three bits, so this is an upper bound.
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
        for (user, rates) in problem.users().iter().filter_map(|user| Some((user, user.rates()?))) {
            for (i, rate) in rates.by_class() {
                let class = problem.servers()[*i].name();
                self.take(rate, || format!("user `{}`: rate on `{class}`", user.name()))?;
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

/// The result of an import.
#[derive(Debug, Clone, PartialEq)]
pub struct Import {
    /// The problem.
    pub problem: Problem,
    /// Notes about data that the problem does not express.
    pub notes: Vec<Note>,
    /// Pairs of a name in the problem and the name in the data, for names that the importer made up. These
    /// are users and platforms of the Google trace.
    pub originals: Vec<(String, String)>,
}

/// The reason why the data cannot be imported.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ImportError {
    /// A file cannot be opened, read or decompressed.
    #[error("{file}: {source}")]
    Io {
        /// The name of the file.
        file: String,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// A temporary file cannot be written or read.
    #[error("temporary file in {folder}: {source}")]
    Temporary {
        /// The folder of the file.
        folder: String,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// A row does not follow the format.
    #[error("{file}:{line}: {message}")]
    Record {
        /// The name of the file.
        file: String,
        /// The line in the decompressed file, from 1.
        line: u64,
        /// The text that was found, and the text that was expected.
        message: String,
    },
    /// A value in a dump of a cluster does not follow the format.
    #[error("{file}: {}{message}", if place.is_empty() { String::new() } else { format!("{place}: ") })]
    Dump {
        /// The name of the file.
        file: String,
        /// The path of the value in the file. It is empty if the error is about the whole file.
        place: String,
        /// The value that was found, and the value that was expected.
        message: String,
    },
    /// Dumps do not belong together, or a dump is missing.
    #[error("{0}")]
    Dumps(String),
    /// The file has more bytes, or a longer line, than an importer accepts.
    #[error("{file}:{line}: too large: {limit}")]
    TooLarge {
        /// The name of the file.
        file: String,
        /// The line in the decompressed file, from 1.
        line: u64,
        /// A description of the limit.
        limit: String,
    },
    /// A number of the problem, such as a mean or a sum, is too long to be written to a file.
    #[error(
        "{place}: this number has more than {} digits, the most that a problem file may state",
        evenhand_problem::number::MAX_DIGITS
    )]
    TooLong {
        /// The place of the number in the problem, with the name of the user or server.
        place: String,
    },
    /// The data describe an impossible problem, for example one without servers.
    #[error("no allocation problem can be made of this: {0}")]
    Problem(#[from] ProblemError),
}

//! The record of the run of one contender on one case.

use crate::case::Kind;
use crate::judge::Measures;

/// The way in which the run of a contender ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// The contender gave an answer, which may be wrong.
    Solved,
    /// The contender gave no answer in time.
    Timeout,
    /// The contender failed.
    Failed,
    /// The contender gave an answer that cannot be read, or that has invalid numbers.
    Malformed,
}

evenhand_problem::names! { Status:
    Solved = "solved", "the contender gave an answer";
    Timeout = "timeout", "the contender gave no answer in time";
    Failed = "failed", "the contender failed";
    Malformed = "malformed", "the answer cannot be read, or has values that are not numbers";
}

/// The record of the run of one contender on one case.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// The name of the case.
    pub instance: String,
    /// The kind of answer that was requested.
    pub kind: Kind,
    /// The name of the contender.
    pub contender: String,
    /// The method of the contender, without settings.
    pub method: String,
    /// True if the contender is an external program.
    pub outside: bool,
    /// The numbers of users and classes, of job types and pools, or of rows and columns.
    pub size: (usize, usize),
    /// How the run ended.
    pub status: Status,
    /// The reason why there is no answer.
    pub why: Option<String>,
    /// The quality of the answer.
    pub measures: Measures,
    /// The contender's own statements about its answer.
    pub claims: Claims,
    /// The cost of the run.
    pub cost: Cost,
}

/// A case without an exact answer, which no contender runs on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unanswered {
    /// The name of the case.
    pub instance: String,
    /// The kind of answer that was requested.
    pub kind: Kind,
    /// The reason why there is no exact answer.
    pub why: String,
}

/// A contender's claims about its own answer, which are not checked.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Claims {
    /// The status in the contender's own words.
    pub status: Option<String>,
    /// The objective that the contender states.
    pub objective: Option<f64>,
    /// The gap that the contender states.
    pub gap: Option<f64>,
}

/// The cost of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Cost {
    /// The median time in seconds. If the first run was short, it is only a warm-up and does not count. For a
    /// run that did not end, this is the time until the run was stopped.
    pub seconds: f64,
    /// The number of runs over which the median is taken.
    pub runs: usize,
    /// The peak of resident memory in bytes. A contender inside this program has the increase over the memory
    /// before the run. An external program has the total. `None` if the system does not report memory.
    pub memory: Option<u64>,
    /// The contender's number of steps.
    pub steps: Option<u64>,
    /// The exit status of an external program.
    pub exit: Option<i32>,
}

//! What is kept of one contender on one case.

use crate::case::Kind;
use crate::judge::Measures;

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// With an answer, right or wrong.
    Solved,
    /// Not in time.
    Timeout,
    /// The contender has no answer.
    Failed,
    /// Its answer cannot be read, or has numbers that are none.
    Malformed,
}

evenhand_problem::names! { Status:
    Solved = "solved", "there is an answer";
    Timeout = "timeout", "there is none in time";
    Failed = "failed", "the contender has none";
    Malformed = "malformed", "it cannot be read, or has numbers that are none";
}

/// One contender on one case.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// Name of the case.
    pub instance: String,
    /// What was asked.
    pub kind: Kind,
    /// Name of the contender.
    pub contender: String,
    /// Its method, whatever the settings.
    pub method: String,
    /// Whether it is a program from outside.
    pub outside: bool,
    /// Users (or job types) and classes (or pools).
    pub size: (usize, usize),
    /// How it ended.
    pub status: Status,
    /// Why it did not end with an answer.
    pub why: Option<String>,
    /// What the answer is worth.
    pub measures: Measures,
    /// What the contender says.
    pub claims: Claims,
    /// What it took.
    pub cost: Cost,
}

/// What a contender says of its own answer; nothing of it is checked.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Claims {
    /// How it ended, in its own word.
    pub status: Option<String>,
    /// Its objective.
    pub objective: Option<f64>,
    /// Its gap.
    pub gap: Option<f64>,
}

/// What a run took.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Cost {
    /// Median, after a run to warm up where the first one was short; of a run that did not end, the time until then.
    pub seconds: f64,
    /// Runs behind the median.
    pub runs: usize,
    /// Peak of resident memory in bytes, above what there was before (inside) or in all (outside); none where the
    /// system does not tell.
    pub memory: Option<u64>,
    /// Its own steps.
    pub steps: Option<u64>,
    /// Exit status of a program.
    pub exit: Option<i32>,
}

//! The solvers that are measured, each in its own file. A new solver needs a file and a line in [`all`].
//!
//! A contender receives a case in exact numbers, converts it as needed, and returns doubles. [`judge`](crate::judge)
//! measures the quality of the answer. The contender's own claims are recorded next to it.

mod approximations;
mod clarabel;
mod doubles;
mod highs;
mod interior_point;
pub mod linear;
mod microlp;
pub mod model;
mod path_follower;
mod trajectory;

use std::time::Duration;

use evenhand_lp::stated::StatedAnswer;
use evenhand_problem::Allocation;
use thiserror::Error;

use crate::case::{Case, Kind};
use crate::programmes::ProgrammeStatus;

/// A solver with its settings.
pub trait Contender: Send + Sync {
    /// Returns a name that no other contender has.
    fn name(&self) -> String;

    /// Returns the method without settings. A plot connects the contenders of the same method by a line.
    fn method(&self) -> String {
        self.name()
    }

    /// Returns a description in one line.
    fn about(&self) -> String;

    /// Returns `true` if the contender can solve problems of this kind.
    fn takes(&self, kind: Kind) -> bool;

    /// Returns `true` if the contender can solve this problem, given that it can solve problems of this kind.
    /// Other problems have no records.
    fn applies(&self, case: &Case) -> bool {
        self.takes(case.kind)
    }

    /// Returns the answer, after at most about this time.
    ///
    /// # Errors
    /// [`NoAnswer`]
    fn solve(&self, case: &Case, time: Duration) -> Result<Answer, NoAnswer>;
}

/// The answer of a contender. It may contain any numbers, which are checked later.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Answer {
    /// The tasks by user, as `(class, tasks)`.
    pub tasks: Vec<Vec<(usize, f64)>>,
    /// An allocation in exact numbers, which replaces `tasks`.
    pub allocation: Option<Allocation>,
    /// The served jobs of each type, for a configuration programme.
    pub served: Vec<f64>,
    /// The servers as `(pool, configuration, servers)`, for a configuration programme.
    pub servers: Vec<(usize, Vec<u64>, f64)>,
    /// The values of the columns, for a linear programme.
    pub x: Vec<f64>,
    /// The prices of the rows of the minimised programme, for a linear programme, if the contender has any.
    pub prices: Option<Vec<f64>>,
    /// Values and prices in exact numbers, which replace `x` and `prices`, for a linear programme.
    pub stated: Option<StatedAnswer>,
    /// The status that the contender states, for a linear programme.
    pub says: Option<ProgrammeStatus>,
    /// True if the answer is only about the least share, and not about other levels.
    pub only_least: bool,
    /// The status in the contender's own words.
    pub status: String,
    /// The objective according to the contender.
    pub objective: Option<f64>,
    /// The gap according to the contender.
    pub gap: Option<f64>,
    /// The number of steps that the contender reports.
    pub steps: Option<u64>,
}

/// The reason why a contender has no answer.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum NoAnswer {
    /// The contender reports a failure.
    #[error("{0}")]
    Failed(String),
    /// The answer cannot be read.
    #[error("{0}")]
    Malformed(String),
    /// The time was up.
    #[error("the time was up")]
    Timeout,
    /// A number or a size is too large.
    #[error("too many {0}")]
    TooLarge(&'static str),
    /// The contender cannot solve problems of this kind.
    #[error("it does not support problems of this kind")]
    Kind,
}

/// Returns all contenders that are compiled into this program.
#[must_use]
pub fn all() -> Vec<Box<dyn Contender>> {
    let mut all: Vec<Box<dyn Contender>> = Vec::new();
    all.extend(highs::all());
    all.extend(microlp::all());
    all.extend(clarabel::all());
    all.extend(path_follower::all());
    all.extend(interior_point::all());
    all.extend(trajectory::all());
    all.extend(doubles::all());
    all.extend(approximations::all());
    all
}

/// Returns the name of a method with a setting that is not the default.
fn named(method: &str, setting: Option<f64>) -> String {
    setting.map_or_else(|| method.to_owned(), |setting| format!("{method}-{setting:e}"))
}

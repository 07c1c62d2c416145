//! The solvers that are measured, each in a file of its own: a new one is a file, and a line of [`all`].
//!
//! A contender is given a case in exact numbers, makes of it what it works with, and returns doubles. What
//! the answer is worth is for [`judge`](crate::judge) to find out; what the contender says of it is kept beside that.

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

use evenhand_problem::Allocation;
use thiserror::Error;

use crate::case::{Case, Kind};

/// A solver with its settings.
pub trait Contender: Send + Sync {
    /// A name that no other contender has.
    fn name(&self) -> String;

    /// The method, whatever its settings are: contenders of one method make one line of a plot.
    fn method(&self) -> String {
        self.name()
    }

    /// What it is, in a line.
    fn about(&self) -> String;

    /// The kinds that it takes.
    fn takes(&self, kind: Kind) -> bool;

    /// Whether it can take this problem of such a kind; of the others there is no record.
    fn applies(&self, case: &Case) -> bool {
        self.takes(case.kind)
    }

    /// Its answer, in about so much time.
    ///
    /// # Errors
    /// [`NoAnswer`]
    fn solve(&self, case: &Case, time: Duration) -> Result<Answer, NoAnswer>;
}

/// What a contender returns. Numbers may be anything: they are looked at afterwards.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Answer {
    /// By user: `(class, tasks)`.
    pub tasks: Vec<Vec<(usize, f64)>>,
    /// In place of `tasks`, numbers that are exact already.
    pub allocation: Option<Allocation>,
    /// Of a configuration programme: jobs served, by type.
    pub served: Vec<f64>,
    /// Of a configuration programme: `(pool, configuration, servers)`.
    pub servers: Vec<(usize, Vec<u64>, f64)>,
    /// Whether it is about the best least share alone, and says nothing of the other levels.
    pub only_least: bool,
    /// How it says that it ended, in its own word.
    pub status: String,
    /// The objective that it claims.
    pub objective: Option<f64>,
    /// The gap that it claims.
    pub gap: Option<f64>,
    /// Its steps.
    pub steps: Option<u64>,
}

/// Why a contender has no answer.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum NoAnswer {
    /// It says so.
    #[error("{0}")]
    Failed(String),
    /// What it wrote cannot be read.
    #[error("{0}")]
    Malformed(String),
    /// The time was up.
    #[error("the time was up")]
    Timeout,
    /// There is too much of something.
    #[error("too many {0}")]
    TooLarge(&'static str),
    /// It does not take such problems.
    #[error("it does not take problems of this kind")]
    Kind,
}

/// All that are compiled in.
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
    all
}

/// A name with a setting that is not the usual one.
fn named(method: &str, setting: Option<f64>) -> String {
    setting.map_or_else(|| method.to_owned(), |setting| format!("{method}-{setting:e}"))
}

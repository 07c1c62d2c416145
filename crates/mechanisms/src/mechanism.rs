//! What a mechanism is.

use evenhand_exact::{Axiom, Share};
use evenhand_lp::LpError;
use evenhand_problem::{Allocation, Arithmetic, Problem};
use thiserror::Error;

/// An allocation rule.
pub trait Mechanism: Sync {
    /// What it is, for people.
    fn info(&self) -> &Info;

    /// Whether it is defined for `problem`.
    ///
    /// # Errors
    /// Why not, in words.
    fn applies(&self, problem: &Problem) -> Result<(), String>;

    /// The allocation, in the arithmetic asked for.
    ///
    /// # Errors
    /// [`MechanismError`]: it does not apply, or a solver failed. An exact answer is verified in
    /// rationals or not returned.
    fn allocate(&self, problem: &Problem, arithmetic: Arithmetic) -> Result<Outcome, MechanismError>;

    /// The axiom that the mechanism is made to satisfy, if it has a name.
    fn axiom(&self) -> Option<(Axiom, Option<Share>)>;
}

/// A row of the registry: what a mechanism is, for people.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Info {
    /// Name on the command line and in files.
    pub id: &'static str,
    /// Other names that are accepted.
    pub aliases: &'static [&'static str],
    /// Long name.
    pub title: &'static str,
    /// What it equalises or maximises.
    pub equalises: &'static str,
    /// What it guarantees, on which problems.
    pub guarantees: &'static str,
    /// Where it is defined and where the guarantees are proven.
    pub reference: &'static str,
}

/// An allocation and how it was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// The allocation.
    pub allocation: Allocation,
    /// Rounds of raising a level until somebody is blocked or all are satisfied; 0 without rounds.
    pub rounds: usize,
    /// Linear programmes solved.
    pub programmes: usize,
    /// Exact pivots that bases from floating point needed.
    pub pivots: usize,
}

/// Why a mechanism gives no allocation.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum MechanismError {
    /// It is not defined for this problem.
    #[error("{mechanism} does not apply to this problem: {why}")]
    NotApplicable {
        /// Its name.
        mechanism: &'static str,
        /// The reason.
        why: String,
    },
    /// A solver failed or reached a limit.
    #[error("{mechanism}: {source}")]
    Solver {
        /// Its name.
        mechanism: &'static str,
        /// What the solver says.
        source: LpError,
    },
}

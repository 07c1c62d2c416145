//! Reasons why an axiom stays undecided.

use evenhand_budget::{Exceeded, Kind};
use evenhand_exact::{InstanceError, Refusal, ShareError};
use evenhand_levels::LevelsError;
use evenhand_lp::LpError;
use thiserror::Error;

/// The reason why an axiom is neither proven nor refuted.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum Undecided {
    /// Max-min was requested without a share.
    #[error("no share is named: request max-min with one, such as max-min:drfh")]
    NoShare,
    /// The share is not defined for the problem.
    #[error(transparent)]
    Share(#[from] ShareError),
    /// A computed allocation does not fit the problem.
    #[error(transparent)]
    Instance(#[from] InstanceError),
    /// A linear programme has no solution, or its solver failed.
    #[error(transparent)]
    Lp(#[from] LevelsError),
    /// The mechanism whose answer would be the evidence returns an error.
    #[error("{0}")]
    Mechanism(String),
    /// The evidence is rejected, or the axiom does not apply to this problem.
    #[error("{0}")]
    Refused(String),
    /// Neither the evidence for the axiom nor the evidence against it is accepted.
    #[error("neither proven ({proof}) nor refuted ({refutation})")]
    Neither {
        /// The reason why the proof is not accepted.
        proof: String,
        /// The reason why the refutation is not accepted.
        refutation: String,
    },
    /// The last possible evidence is rejected, for this reason.
    #[error("neither proven nor refuted ({0})")]
    Last(String),
    /// Max-min: the linear programme of a user's rise neither proves nor refutes the axiom.
    #[error("neither a rise of user `{user}` nor a bound on it was found")]
    Rise {
        /// The name of the user.
        user: String,
    },
    /// Whole tasks: the search would have too many variables.
    #[error("too large: the search would have {numbers} pairs of a user and a single server")]
    TooMany {
        /// The number of variables.
        numbers: u128,
    },
    /// Whole tasks: the search ended without an answer.
    #[error("HiGHS found no better whole tasks, which does not prove that there are none")]
    NoneFound,
    /// The time limit of all axioms together was reached.
    #[error("it was not decided in {seconds} seconds")]
    Late {
        /// The time limit of all axioms together, in seconds.
        seconds: f64,
    },
    /// The search exceeds a limit of work or memory.
    #[error("{0}")]
    TooLarge(Exceeded),
    /// Whole tasks: the time limit of the search was reached.
    #[error("no better whole tasks were found in {seconds} seconds")]
    OutOfTime {
        /// The time limit of the search, in seconds.
        seconds: f64,
    },
}

impl From<LpError> for Undecided {
    fn from(error: LpError) -> Self {
        Self::Lp(LevelsError::Lp(error))
    }
}

impl Undecided {
    /// Returns true if more work may decide the axiom.
    pub(super) fn needs_work(&self) -> bool {
        matches!(self, Self::TooLarge(Exceeded { kind: Kind::Work { .. }, .. }))
    }
}

impl From<Refusal> for Undecided {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal.to_string())
    }
}

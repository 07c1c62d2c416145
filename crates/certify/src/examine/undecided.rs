//! Why an axiom stays undecided.

use evenhand_budget::{Exceeded, Kind};
use evenhand_exact::{InstanceError, Refusal, ShareError};
use evenhand_levels::LevelsError;
use thiserror::Error;

/// Why an axiom is neither proven nor refuted.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum Undecided {
    /// Max-min without a share.
    #[error("no share is named")]
    NoShare,
    /// The share is not defined for the problem.
    #[error(transparent)]
    Share(#[from] ShareError),
    /// An allocation that was found does not fit the problem.
    #[error(transparent)]
    Instance(#[from] InstanceError),
    /// A linear programme has no answer.
    #[error(transparent)]
    Lp(#[from] LevelsError),
    /// A mechanism whose answer would be the evidence has none.
    #[error("{0}")]
    Mechanism(String),
    /// The evidence is refused, or the axiom is not about this problem.
    #[error("{0}")]
    Refused(String),
    /// Neither the evidence for it nor that against it is accepted.
    #[error("neither proven ({proof}) nor refuted ({refutation})")]
    Neither {
        /// Why it is not proven.
        proof: String,
        /// Why it is not refuted.
        refutation: String,
    },
    /// The last evidence that there is is refused.
    #[error("neither proven nor refuted ({0})")]
    Last(String),
    /// Max-min: the programme of a user's rise decides nothing.
    #[error("neither a rise of user `{user}` nor a bound on it was found")]
    Rise {
        /// Its name.
        user: String,
    },
    /// Whole tasks: more numbers of tasks than are searched.
    #[error("{numbers} numbers of tasks on single servers are too many to be searched")]
    TooMany {
        /// How many there are.
        numbers: u128,
    },
    /// Whole tasks: the search ended without an answer.
    #[error("HiGHS finds no whole tasks that dominate, which is no proof")]
    NoneFound,
    /// The time for all axioms was over.
    #[error("it was not decided in {seconds} seconds")]
    Late {
        /// The time that all had.
        seconds: f64,
    },
    /// It needs more work or memory than is allowed.
    #[error("{0}")]
    TooLarge(Exceeded),
    /// Whole tasks: the time for the search was over.
    #[error("no whole tasks that dominate were found in {seconds} seconds")]
    OutOfTime {
        /// The time that it had.
        seconds: f64,
    },
}

impl Undecided {
    /// Whether more work than it was allowed may decide it.
    pub(super) fn needs_work(&self) -> bool {
        matches!(self, Self::TooLarge(Exceeded { kind: Kind::Work { .. }, .. }))
    }
}

impl From<Refusal> for Undecided {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal.to_string())
    }
}

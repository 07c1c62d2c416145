//! Why the hunt ends early.

use evenhand_budget::Exceeded;
use evenhand_certify::ratio::RatioError;
use evenhand_lp::LpError;
use evenhand_packing::PackingError;
use evenhand_problem::ProblemError;
use thiserror::Error;

use super::MOST_MATRICES;

/// Why the hunt ends early.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum HuntError {
    /// A setting is out of range.
    #[error("{what}: expected a number from {from} to {to}, found {found}")]
    Setting {
        /// Which.
        what: &'static str,
        /// The least.
        from: u64,
        /// The most.
        to: u64,
        /// What was stated.
        found: u64,
    },
    /// There are too many instances to try all.
    #[error(
        "too large to try everything: {matrices} matrices of demands up to the order of the types, expected \
         at most {MOST_MATRICES}"
    )]
    TooLarge {
        /// How many.
        matrices: String,
    },
    /// A saved state that no hunt leaves.
    #[error("the saved state is damaged: {0}")]
    State(String),
    /// Two methods disagree, which is a fault of one of them.
    #[error("two methods disagree: {what}")]
    Disagree {
        /// About what.
        what: &'static str,
    },
    /// The time that was given is over.
    #[error("the time was up before the search could begin")]
    OutOfTime,
    /// An instance that is no problem.
    #[error(transparent)]
    Problem(#[from] ProblemError),
    /// The rational method failed.
    #[error(transparent)]
    Packing(PackingError),
    /// An instance takes more work or memory than one may.
    #[error(transparent)]
    Exceeded(#[from] Exceeded),
    /// There is no certificate.
    #[error(transparent)]
    Ratio(RatioError),
}

impl From<PackingError> for HuntError {
    fn from(error: PackingError) -> Self {
        if error == PackingError::OutOfTime { Self::OutOfTime } else { Self::Packing(error) }
    }
}

impl From<RatioError> for HuntError {
    fn from(error: RatioError) -> Self {
        match error {
            RatioError::Packing(error) => error.into(),
            error => Self::Ratio(error),
        }
    }
}

impl HuntError {
    /// Whether a single instance was too large: the others can still be looked at.
    #[must_use]
    pub fn is_too_large(&self) -> bool {
        matches!(
            self,
            Self::Packing(
                PackingError::Budget { .. }
                    | PackingError::Lp(LpError::TooLarge | LpError::PivotLimit { .. })
            ) | Self::Ratio(RatioError::TooLarge(_))
                | Self::Exceeded(_)
        )
    }

    /// Whether the caller asked for something impossible.
    #[must_use]
    pub fn is_usage(&self) -> bool {
        matches!(self, Self::Setting { .. } | Self::TooLarge { .. } | Self::State(_))
    }
}

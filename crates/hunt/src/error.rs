//! Why the hunt ends early.

use evenhand_certify::ratio::RatioError;
use evenhand_lp::LpError;
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
    Lp(LpError),
    /// There is no certificate.
    #[error(transparent)]
    Ratio(RatioError),
}

impl From<LpError> for HuntError {
    fn from(error: LpError) -> Self {
        if error == LpError::OutOfTime { Self::OutOfTime } else { Self::Lp(error) }
    }
}

impl From<RatioError> for HuntError {
    fn from(error: RatioError) -> Self {
        match error {
            RatioError::Lp(error) => error.into(),
            error => Self::Ratio(error),
        }
    }
}

impl HuntError {
    /// Whether the caller asked for something impossible.
    #[must_use]
    pub fn is_usage(&self) -> bool {
        matches!(self, Self::Setting { .. } | Self::TooLarge { .. } | Self::State(_))
    }
}

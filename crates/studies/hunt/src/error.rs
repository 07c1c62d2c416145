//! Errors that end the hunt.

use evenhand_budget::Exceeded;
use evenhand_certify::ratio::RatioError;
use evenhand_lp::LpError;
use evenhand_packing::PackingError;
use evenhand_problem::ProblemError;
use thiserror::Error;

use super::MOST_MATRICES;

/// An error that ends the hunt.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum HuntError {
    /// A setting is out of range.
    #[error("{what}: expected a number from {from} to {to}, found {found}")]
    Setting {
        /// The name of the setting.
        what: &'static str,
        /// The smallest value that is allowed.
        from: u64,
        /// The largest value that is allowed.
        to: u64,
        /// The stated value.
        found: u64,
    },
    /// There are too many instances to search all of them.
    #[error(
        "too large for an exhaustive search: {matrices} matrices of demands up to the order of the types, expected at \
        most {MOST_MATRICES}"
    )]
    TooLarge {
        /// The number of matrices.
        matrices: String,
    },
    /// No hunt can have reached this saved state.
    #[error("the saved state is damaged: {0}")]
    State(String),
    /// Two methods give different results, so one of them is wrong.
    #[error("two methods disagree: {what}")]
    Disagree {
        /// The result in which they differ.
        what: &'static str,
    },
    /// The time limit is reached.
    #[error("the time was up before the search could begin")]
    OutOfTime,
    /// An instance is not a valid problem.
    #[error(transparent)]
    Problem(#[from] ProblemError),
    /// The rational method failed.
    #[error(transparent)]
    Packing(PackingError),
    /// An instance needs more work or memory than is allowed.
    #[error(transparent)]
    Exceeded(#[from] Exceeded),
    /// The certificate cannot be made.
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
    /// Returns `true` if a single instance was too large. The search can then continue with the other
    /// instances.
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

    /// Returns `true` if the cause of the error is the caller's input.
    #[must_use]
    pub fn is_usage(&self) -> bool {
        matches!(self, Self::Setting { .. } | Self::TooLarge { .. } | Self::State(_))
    }
}

//! Why evidence does not show what it should.

use std::fmt;

use crate::budget::TooLarge;
use crate::instance::InstanceError;
use crate::share::ShareError;

/// Why evidence does not show what it should, in words that name what is false.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    reason: String,
    is_too_large: bool,
}

impl Refusal {
    pub(crate) fn new(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), is_too_large: false }
    }

    /// With the place in front.
    #[must_use]
    pub(crate) fn about(mut self, place: &str) -> Self {
        self.reason = format!("{place}: {}", self.reason);
        self
    }

    /// Whether nothing was found false: judging would take more than it is allowed.
    #[must_use]
    pub fn is_too_large(&self) -> bool {
        self.is_too_large
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)
    }
}

impl std::error::Error for Refusal {}

impl From<TooLarge> for Refusal {
    fn from(error: TooLarge) -> Self {
        Self { reason: error.to_string(), is_too_large: true }
    }
}

impl From<InstanceError> for Refusal {
    fn from(error: InstanceError) -> Self {
        match error {
            InstanceError::TooLarge(error) => error.into(),
            error => Self::new(error.to_string()),
        }
    }
}

impl From<ShareError> for Refusal {
    fn from(error: ShareError) -> Self {
        Self::new(error.to_string())
    }
}

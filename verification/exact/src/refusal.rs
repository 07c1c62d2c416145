//! Why evidence does not show what it should, why an axiom does not apply, and why an allocation cannot be examined.

use std::fmt;

use thiserror::Error;

use crate::budget::TooLarge;

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

/// Why an axiom does not apply, in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inapplicable {
    reason: String,
}

impl Inapplicable {
    pub(crate) fn new(reason: impl Into<String>) -> Self {
        Self { reason: reason.into() }
    }
}

impl fmt::Display for Inapplicable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)
    }
}

impl std::error::Error for Inapplicable {}

impl From<Inapplicable> for String {
    fn from(why: Inapplicable) -> Self {
        why.reason
    }
}

impl From<Inapplicable> for Refusal {
    fn from(why: Inapplicable) -> Self {
        Self::new(why.reason)
    }
}

/// Why a problem and an allocation cannot be examined together.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum InstanceError {
    /// The allocation is for another number of users.
    #[error("an allocation for {found} users, the problem has {expected}")]
    UserCount {
        /// Users of the problem.
        expected: usize,
        /// Users of the allocation.
        found: usize,
    },
    /// A class that is not there, or classes out of order.
    #[error("the tasks of user {user} name a server class that is not there, or not in ascending order")]
    BadClass {
        /// Index of the user.
        user: usize,
    },
    /// A server that is not there or stands twice, users that are not there or out of order, or sums that
    /// are not the tasks.
    #[error("the placements are not those of the tasks on single servers of the problem")]
    BadPlacements,
    /// More memory or work than the budget allows.
    #[error(transparent)]
    TooLarge(#[from] TooLarge),
}

impl From<InstanceError> for Refusal {
    fn from(error: InstanceError) -> Self {
        match error {
            InstanceError::TooLarge(error) => error.into(),
            error => Self::new(error.to_string()),
        }
    }
}

//! The reasons why evidence does not prove a claim, why an axiom does not apply, and why an allocation cannot be
//! examined.

use std::fmt;

use thiserror::Error;

use crate::budget::TooLarge;

/// The reason why evidence does not prove its claim, in words that name the false statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    reason: String,
    is_too_large: bool,
}

impl Refusal {
    pub(crate) fn new(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), is_too_large: false }
    }

    /// Returns true if judging would exceed the budget, so that there is no verdict.
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

/// The reason why an axiom does not apply, in words.
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

/// The reason why an allocation does not fit a problem.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum InstanceError {
    /// The allocation is for another number of users.
    #[error("an allocation for {found} users, the problem has {expected}")]
    UserCount {
        /// The number of users of the problem.
        expected: usize,
        /// The number of users of the allocation.
        found: usize,
    },
    /// A server class does not exist, or the classes are not in order.
    #[error(
        "the tasks of user {user} name a server class that does not exist, or classes that are not in ascending order"
    )]
    BadClass {
        /// The index of the user.
        user: usize,
    },
    /// A server does not exist or occurs twice, users do not exist or are not in order, or the tasks on servers do not
    /// add up to the tasks on classes.
    #[error("the placements do not add up to the tasks, or name servers that the problem does not have")]
    BadPlacements,
    /// Preparing the allocation would exceed the memory or the budget of work.
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

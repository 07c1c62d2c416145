//! Why an allocation of a problem cannot be examined.

use thiserror::Error;

use crate::budget::TooLarge;
use crate::refusal::Refusal;

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

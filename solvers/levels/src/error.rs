//! Errors of the methods for levels, placements and allocations without justified complaints.

use evenhand_lp::LpError;
use thiserror::Error;

/// The reason why a method has no answer.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum LevelsError {
    /// A linear programme has no answer.
    #[error(transparent)]
    Lp(#[from] LpError),
    /// The deadline has passed.
    #[error("the time was up before an exact answer was found")]
    OutOfTime,
    /// Rounding hides which users are blocked.
    #[error("floating point does not show which users are blocked")]
    Uncertain,
    /// The rounds of a lexicographic maximum made no progress.
    #[error("round {round}: no user could be proven blocked")]
    NoProgress {
        /// The number of the round, from 1.
        round: usize,
    },
    /// A face of the No Justified Complaints set does not fit the problem.
    #[error(transparent)]
    Face(#[from] FaceError),
    /// No face that HiGHS proposed has a point in exact arithmetic.
    #[error("none of the {faces} faces that HiGHS proposed has a point in exact arithmetic")]
    FacesRefuted {
        /// The number of faces tried.
        faces: usize,
    },
    /// An enumeration would be larger than its limits allow.
    #[error("too large: more than {limit} {what}")]
    Budget {
        /// The quantity that exceeds the limit.
        what: &'static str,
        /// The limit.
        limit: usize,
    },
}

impl LevelsError {
    /// Returns true if floating point is at fault: HiGHS failed, or rounding misled it. Exact arithmetic alone may then
    /// still have an answer.
    #[must_use]
    pub fn is_of_highs(&self) -> bool {
        match self {
            Self::Lp(error) => error.is_of_highs(),
            Self::Face(_) | Self::Budget { .. } | Self::OutOfTime => false,
            Self::Uncertain | Self::NoProgress { .. } | Self::FacesRefuted { .. } => true,
        }
    }
}

/// The reason why a face does not fit a problem.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum FaceError {
    /// The face has witnesses for another number of users.
    #[error("the face has witnesses for {found} users, the problem has {expected}")]
    Users {
        /// The number of users of the problem.
        expected: usize,
        /// The number of users with an entry in the face.
        found: usize,
    },
    /// A bottleneck is not a capacity row.
    #[error("the face names capacity row {row}, which does not exist")]
    NoRow {
        /// The index of the row.
        row: usize,
    },
    /// An active user has no witness.
    #[error("user {user} is active and has no witness")]
    NoWitness {
        /// The index of the user.
        user: usize,
    },
    /// A user that is not active has a witness.
    #[error("user {user} has a witness and is not active")]
    NotActive {
        /// The index of the user.
        user: usize,
    },
    /// A user with unlimited tasks is required to have all its tasks, which is impossible.
    #[error("user {user} has unlimited tasks and cannot be satisfied")]
    Unlimited {
        /// The index of the user.
        user: usize,
    },
    /// A witness is not a bottleneck of the face, or the user demands nothing of that row.
    #[error("row {row} cannot be the witness of user {user}")]
    NotWitness {
        /// The index of the user.
        user: usize,
        /// The index of the row.
        row: usize,
    },
}

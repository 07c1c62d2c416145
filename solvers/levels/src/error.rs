//! The reasons why there are no levels, no placement or no allocation without justified complaints.

use evenhand_lp::LpError;
use thiserror::Error;

/// The reason why a method has no answer.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum LevelsError {
    /// A linear programme has no answer.
    #[error(transparent)]
    Lp(#[from] LpError),
    /// The time that was given is up.
    #[error("no exact answer in the time that was given")]
    OutOfTime,
    /// Rounding hides who is blocked.
    #[error("doubles do not tell who is blocked")]
    Uncertain,
    /// The rounds of a lexicographic maximum made no progress.
    #[error("round {round}: no user could be proven blocked")]
    NoProgress {
        /// Number of the round, from 1.
        round: usize,
    },
    /// A face of the No Justified Complaints set that does not fit the problem.
    #[error(transparent)]
    Face(#[from] FaceError),
    /// No face that HiGHS proposed has a point in exact arithmetic.
    #[error("none of the {faces} faces that HiGHS proposed has a point in exact arithmetic")]
    FacesRefuted {
        /// Faces tried.
        faces: usize,
    },
    /// An enumeration would be larger than its limits allow.
    #[error("too large: more than {limit} {what}")]
    Budget {
        /// What there are too many of.
        what: &'static str,
        /// The limit.
        limit: usize,
    },
}

impl LevelsError {
    /// Returns whether floating point is at fault: HiGHS failed, or rounding misled it. Exact arithmetic alone may then still
    /// have an answer.
    #[must_use]
    pub fn is_of_highs(&self) -> bool {
        match self {
            Self::Lp(error) => error.is_of_highs(),
            Self::Face(_) | Self::Budget { .. } | Self::OutOfTime => false,
            Self::Uncertain | Self::NoProgress { .. } | Self::FacesRefuted { .. } => true,
        }
    }
}

/// Why a face does not fit a problem.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum FaceError {
    /// Witnesses for another number of users.
    #[error("the face has witnesses for {found} users, the problem has {expected}")]
    Users {
        /// Users of the problem.
        expected: usize,
        /// Witnesses of the face.
        found: usize,
    },
    /// A bottleneck that is no capacity row.
    #[error("the face names capacity row {row}, which does not exist")]
    NoRow {
        /// The index.
        row: usize,
    },
    /// An active user without a witness.
    #[error("user {user} is active and has no witness")]
    NoWitness {
        /// The index.
        user: usize,
    },
    /// A witness of a user that is not active.
    #[error("user {user} has a witness and is not active")]
    NotActive {
        /// The index.
        user: usize,
    },
    /// A user that has unlimited tasks cannot have them all.
    #[error("user {user} has unlimited tasks and cannot be satisfied")]
    Unlimited {
        /// The index.
        user: usize,
    },
    /// A row that is no bottleneck of the face, or of which the user can hold nothing.
    #[error("row {row} cannot be the witness of user {user}")]
    NotWitness {
        /// The user.
        user: usize,
        /// The row.
        row: usize,
    },
}

//! The errors of linear programmes.

use thiserror::Error;

/// The reason why a linear programme has no answer.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum LpError {
    /// A coefficient, bound or cost is NaN, infinite, or out of the range of a double.
    #[error("a number of the linear programme is not finite in double precision")]
    NotFinite,
    /// There are more rows, columns or entries than HiGHS can index.
    #[error("the linear programme is too large for HiGHS")]
    TooLarge,
    /// A row names a column that does not exist.
    #[error("there is no column {column}")]
    NoColumn {
        /// The index of the column.
        column: usize,
    },
    /// A basis does not have the size of the programme.
    #[error("the basis does not have the size of the linear programme")]
    BasisLength,
    /// HiGHS refused a call.
    #[error("HiGHS refused to {what}")]
    Call {
        /// The refused operation.
        what: &'static str,
    },
    /// This version of HiGHS does not know an option.
    #[error("HiGHS does not know the option `{0}`")]
    Option(&'static str),
    /// The model was lost in an earlier failure.
    #[error("the HiGHS model is gone after an earlier failure")]
    Lost,
    /// HiGHS ended with another status.
    #[error("HiGHS ended with the status {0}")]
    Status(&'static str),
    /// HiGHS: the model is empty.
    #[error("the linear programme is empty")]
    Empty,
    /// HiGHS: the model is infeasible.
    #[error("the linear programme is infeasible")]
    Infeasible,
    /// HiGHS: the model is unbounded or infeasible.
    #[error("the linear programme is unbounded or infeasible")]
    UnboundedOrInfeasible,
    /// HiGHS: the model is unbounded.
    #[error("the linear programme is unbounded")]
    Unbounded,
    /// HiGHS: the time limit was reached.
    #[error("HiGHS reached its time limit")]
    TimeLimit,
    /// HiGHS: the iteration limit was reached.
    #[error("HiGHS reached its iteration limit")]
    IterationLimit,
    /// The deadline has passed.
    #[error("no exact answer in the time that was given")]
    OutOfTime,
    /// Rounding hides which users are blocked.
    #[error("doubles do not tell who is blocked")]
    Uncertain,
    /// Exact arithmetic found no optimal basis within the limit of pivots.
    #[error("no exactly optimal basis after {pivots} exact pivots")]
    PivotLimit {
        /// The number of pivots done.
        pivots: usize,
    },
    /// The programme has no upper bound, in exact arithmetic.
    #[error("the linear programme is unbounded in exact arithmetic")]
    ExactlyUnbounded,
    /// The programme has no feasible point, in exact arithmetic.
    #[error("the linear programme is infeasible in exact arithmetic")]
    ExactlyInfeasible,
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

impl LpError {
    /// Returns whether floating point is at fault: HiGHS failed or rounding misled it, so exact
    /// arithmetic alone may still find the answer.
    #[must_use]
    pub fn is_of_highs(&self) -> bool {
        !matches!(
            self,
            Self::PivotLimit { .. }
                | Self::ExactlyUnbounded
                | Self::ExactlyInfeasible
                | Self::Face(_)
                | Self::Budget { .. }
                | Self::OutOfTime
        )
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
    /// A user with unlimited tasks is to be satisfied, but cannot have them all.
    #[error("user {user} has unlimited tasks and cannot be satisfied")]
    Unlimited {
        /// The index of the user.
        user: usize,
    },
    /// A witness is not a bottleneck of the face, or the user can use nothing of that row.
    #[error("row {row} cannot be the witness of user {user}")]
    NotWitness {
        /// The index of the user.
        user: usize,
        /// The index of the row.
        row: usize,
    },
}

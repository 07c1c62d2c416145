//! Why a linear programme has no answer.

use thiserror::Error;

/// Why a linear programme has no answer.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum LpError {
    /// A coefficient, bound or cost is NaN or infinite, or out of the range of a double.
    #[error("a number of the linear programme is not finite in double precision")]
    NotFinite,
    /// More rows, columns or entries than HiGHS can index.
    #[error("the linear programme is too large for HiGHS")]
    TooLarge,
    /// A row that names a column that does not exist.
    #[error("there is no column {column}")]
    NoColumn {
        /// The index.
        column: usize,
    },
    /// A basis of another size.
    #[error("the basis does not have the size of the linear programme")]
    BasisLength,
    /// A call that HiGHS refused.
    #[error("HiGHS refused to {what}")]
    Call {
        /// What was asked of it.
        what: &'static str,
    },
    /// An option that this HiGHS does not know.
    #[error("HiGHS does not know the option `{0}`")]
    Option(&'static str),
    /// An earlier call failed and took the model with it.
    #[error("the HiGHS model is gone after an earlier failure")]
    Lost,
    /// A status of HiGHS that calls for nothing but a message.
    #[error("HiGHS ended with the status {0}")]
    Status(&'static str),
    /// HiGHS: the model is empty.
    #[error("the linear programme is empty")]
    Empty,
    /// HiGHS: infeasible.
    #[error("the linear programme is infeasible")]
    Infeasible,
    /// HiGHS: unbounded or infeasible.
    #[error("the linear programme is unbounded or infeasible")]
    UnboundedOrInfeasible,
    /// HiGHS: unbounded.
    #[error("the linear programme is unbounded")]
    Unbounded,
    /// HiGHS: time limit.
    #[error("HiGHS reached its time limit")]
    TimeLimit,
    /// HiGHS: iteration limit.
    #[error("HiGHS reached its iteration limit")]
    IterationLimit,
    /// The time that was given is up.
    #[error("no exact answer in the time that was given")]
    OutOfTime,
    /// Rounding hides who is blocked.
    #[error("doubles do not tell who is blocked")]
    Uncertain,
    /// Exact arithmetic found no optimal basis within the limit of pivots.
    #[error("no exactly optimal basis after {pivots} exact pivots")]
    PivotLimit {
        /// Pivots done.
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

impl LpError {
    /// Whether floating point is at fault: HiGHS failed, or rounding misled it, so that exact
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

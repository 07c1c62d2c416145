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
}

impl LpError {
    /// Whether floating point is at fault: HiGHS failed, or rounding misled it, so that exact
    /// arithmetic alone may still find the answer.
    #[must_use]
    pub fn is_of_highs(&self) -> bool {
        !matches!(
            self,
            Self::PivotLimit { .. } | Self::ExactlyUnbounded | Self::ExactlyInfeasible
        )
    }
}

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
    /// HiGHS rejected a call.
    #[error("HiGHS refused to {what}")]
    Call {
        /// The rejected operation.
        what: &'static str,
    },
    /// This version of HiGHS does not know an option.
    #[error("HiGHS does not know the option `{0}`")]
    Option(&'static str),
    /// The model was lost in an earlier failure.
    #[error("the HiGHS model is gone after an earlier failure")]
    Lost,
    /// HiGHS ended with a status that has no error of its own here.
    #[error("HiGHS ended with the status {0}")]
    Status(&'static str),
    /// HiGHS reports that the model is empty.
    #[error("the linear programme is empty")]
    Empty,
    /// HiGHS reports that the model is infeasible.
    #[error("the linear programme is infeasible")]
    Infeasible,
    /// HiGHS reports that the model is unbounded or infeasible.
    #[error("the linear programme is unbounded or infeasible")]
    UnboundedOrInfeasible,
    /// HiGHS reports that the model is unbounded.
    #[error("the linear programme is unbounded")]
    Unbounded,
    /// HiGHS reached the time limit.
    #[error("HiGHS reached its time limit")]
    TimeLimit,
    /// HiGHS reached the iteration limit.
    #[error("HiGHS reached its iteration limit")]
    IterationLimit,
    /// Exact arithmetic reached no optimal basis within the limit of pivots.
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
}

impl LpError {
    /// Returns true if floating point is at fault: HiGHS failed or rounding misled it. Exact arithmetic alone may then
    /// still find the answer.
    #[must_use]
    pub fn is_of_highs(&self) -> bool {
        !matches!(self, Self::PivotLimit { .. } | Self::ExactlyUnbounded | Self::ExactlyInfeasible)
    }
}

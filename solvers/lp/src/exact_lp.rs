//! Linear programmes in exact rationals, starting from a guessed basis.
//!
//! The programme is `max c x` over `a x <= b`, `a x >= b` or `a x = b`, `x >= 0`. The guess comes
//! from HiGHS and is nearly always optimal. If it is not, exact pivots repair it. The dual of the
//! returned optimum is exact as well, so strong duality proves it. For a programme without a
//! feasible point, Farkas' multipliers are the proof.

pub(crate) mod factors;
pub(crate) mod pricing;
mod search;

use crate::linear::SparseRow;
use rug::Rational;

use crate::error::LpError;
pub(crate) use search::SimplexBasis;
pub use search::prices;

/// The direction of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sense {
    /// The row is `a x <= b`.
    AtMost,
    /// The row is `a x >= b`.
    AtLeast,
    /// The row is `a x = b`.
    Equal,
}

/// A column: its cost and its entries `(row, value)`.
#[derive(Debug, Clone, Default)]
pub struct ExactColumn {
    /// The objective coefficient.
    pub cost: Rational,
    /// The entries that are not 0. No row is listed twice.
    pub entries: SparseRow,
}

/// A linear programme in rationals.
#[derive(Debug, Clone, Default)]
pub struct ExactLp {
    /// `(direction, right-hand side)` of each row.
    pub rows: Vec<(Sense, Rational)>,
    /// The columns.
    pub columns: Vec<ExactColumn>,
}

/// A basic variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Variable {
    /// The slack of a row: `b - a x` or `a x - b`. The slack of an equation is `b - a x`, which is
    /// 0 in every feasible point. At an infeasible vertex it may differ from 0.
    Slack(usize),
    /// A column.
    Column(usize),
}

/// An exactly optimal vertex with its dual.
#[derive(Debug, Clone)]
pub struct ExactOptimum {
    /// Value of each column.
    pub x: Vec<Rational>,
    /// Dual value of each row: at least 0 for `<=`, at most 0 for `>=`, and of any sign for `=`.
    pub y: Vec<Rational>,
    /// The optimal basis.
    pub basis: Vec<Variable>,
    /// The number of exact pivots that were needed after the guessed basis.
    pub pivots: usize,
}

/// A feasible vertex, or a proof that no point is feasible.
#[derive(Debug, Clone)]
pub enum Feasibility {
    /// A feasible vertex, at [`ExactOptimum::basis`].
    Feasible(ExactOptimum),
    /// No point is feasible. The multipliers `y`, one for each row, prove it. They are at least 0 for `<=` and at most
    /// 0 for `>=`, with `y a_j >= 0` for every column and `y b < 0`.
    Infeasible(Vec<Rational>),
}

impl Feasibility {
    /// Returns the optimum of a programme that must have a feasible point.
    ///
    /// # Errors
    /// [`LpError::ExactlyInfeasible`] when no point is feasible.
    pub fn optimum(self) -> Result<ExactOptimum, LpError> {
        match self {
            Self::Feasible(optimum) => Ok(optimum),
            Self::Infeasible(_) => Err(LpError::ExactlyInfeasible),
        }
    }
}

impl ExactLp {
    /// Computes the optimum, starting from `basis`.
    ///
    /// If the basis has too few variables or is singular, it is completed with slacks. Variables
    /// that do not exist are ignored.
    ///
    /// # Errors
    /// [`LpError::ExactlyUnbounded`], [`LpError::ExactlyInfeasible`], or [`LpError::PivotLimit`].
    pub fn optimise(&self, basis: &[Variable], max_pivots: usize) -> Result<ExactOptimum, LpError> {
        self.solve(basis, max_pivots)?.optimum()
    }

    /// Computes the optimum, or proves that there is no feasible point.
    ///
    /// With costs of 0 any feasible vertex is the optimum. See [`ExactLp::optimise`] for the
    /// starting basis.
    ///
    /// # Errors
    /// [`LpError::ExactlyUnbounded`] or [`LpError::PivotLimit`].
    pub fn solve(&self, basis: &[Variable], max_pivots: usize) -> Result<Feasibility, LpError> {
        SimplexBasis::new(self, basis, max_pivots).run()
    }

    fn column(&self, variable: Variable) -> SparseRow {
        match variable {
            Variable::Column(j) => self.columns[j].entries.clone(),
            Variable::Slack(row) => vec![(row, self.slack_sign(row))],
        }
    }

    fn slack_sign(&self, row: usize) -> Rational {
        Rational::from(if self.rows[row].0 == Sense::AtLeast { -1 } else { 1 })
    }

    /// Returns true if the variable is 0 in every feasible point because its row is an equation.
    fn is_fixed(&self, variable: Variable) -> bool {
        matches!(variable, Variable::Slack(row) if self.rows[row].0 == Sense::Equal)
    }
}

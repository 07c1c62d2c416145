//! Linear programmes in exact rationals, from a basis that somebody guessed.
//!
//! `max c x` over `a x <= b` or `a x >= b`, `x >= 0`. The guess comes from HiGHS and is nearly
//! always optimal; where it is not, exact pivots repair it. The dual of the returned optimum is
//! exact as well, so that strong duality proves it.

use evenhand_exact::linear::{Lu, SparseRow};
use rug::Rational;

use crate::error::LpError;

/// Direction of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sense {
    /// `a x <= b`
    AtMost,
    /// `a x >= b`
    AtLeast,
}

/// A column: its cost and its entries `(row, value)`.
#[derive(Debug, Clone, Default)]
pub struct ExactColumn {
    /// Objective coefficient.
    pub cost: Rational,
    /// Entries that are not 0, no row twice.
    pub entries: SparseRow,
}

/// A linear programme in rationals.
#[derive(Debug, Clone, Default)]
pub struct ExactLp {
    /// `(direction, right-hand side)` by row.
    pub rows: Vec<(Sense, Rational)>,
    /// Columns.
    pub columns: Vec<ExactColumn>,
}

/// A basic variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Variable {
    /// The slack of a row: `b - a x` or `a x - b`.
    Slack(usize),
    /// A column.
    Column(usize),
}

/// An exactly optimal vertex with its dual.
#[derive(Debug, Clone)]
pub struct ExactOptimum {
    /// Values by column.
    pub x: Vec<Rational>,
    /// Dual values by row: at least 0 for `<=`, at most 0 for `>=`.
    pub y: Vec<Rational>,
    /// The optimal basis.
    pub basis: Vec<Variable>,
    /// Exact pivots that the guessed basis needed.
    pub pivots: usize,
}

/// Degenerate pivots after which the least index decides, which cannot cycle.
const PATIENCE: usize = 40;

impl ExactLp {
    /// The optimum, starting from `basis` (completed with slacks when it is short or singular).
    ///
    /// # Errors
    /// [`LpError::ExactlyUnbounded`], [`LpError::ExactlyInfeasible`], or [`LpError::PivotLimit`].
    pub fn optimise(&self, basis: &[Variable], max_pivots: usize) -> Result<ExactOptimum, LpError> {
        let mut search = Search {
            lp: self,
            basis: basis.to_vec(),
            costs: self.columns.iter().map(|c| c.cost.clone()).collect(),
            slack_costs: vec![Rational::new(); self.rows.len()],
            pivots: 0,
            max_pivots,
            stalled: 0,
        };
        search.run()
    }

    fn column(&self, variable: Variable) -> SparseRow {
        match variable {
            Variable::Column(j) => self.columns[j].entries.clone(),
            Variable::Slack(row) => vec![(row, self.slack_sign(row))],
        }
    }

    fn slack_sign(&self, row: usize) -> Rational {
        Rational::from(if self.rows[row].0 == Sense::AtMost { 1 } else { -1 })
    }
}

/// A basis on its way to the optimum.
struct Search<'a> {
    lp: &'a ExactLp,
    basis: Vec<Variable>,
    costs: Vec<Rational>,
    /// 0 but while costs are shifted.
    slack_costs: Vec<Rational>,
    pivots: usize,
    max_pivots: usize,
    stalled: usize,
}

/// What a basis determines.
struct Vertex {
    factors: Lu,
    /// By position in the basis.
    values: Vec<Rational>,
    y: Vec<Rational>,
}

impl Search<'_> {
    fn run(&mut self) -> Result<ExactOptimum, LpError> {
        let mut vertex = self.factor()?;
        if vertex.values.iter().any(|v| *v < 0) {
            // Shift costs until the basis is dual feasible; the dual simplex method then reaches a
            // feasible vertex, from which the primal one goes on with the true costs.
            self.shift_costs(&vertex);
            vertex = self.dual_simplex()?;
            self.costs = self.lp.columns.iter().map(|c| c.cost.clone()).collect();
            self.slack_costs.fill(Rational::new());
            vertex.y = self.duals(&vertex.factors);
        }
        let vertex = self.primal_simplex(vertex)?;
        let mut x = vec![Rational::new(); self.lp.columns.len()];
        for (variable, value) in self.basis.iter().zip(vertex.values) {
            if let Variable::Column(j) = variable {
                x[*j] = value;
            }
        }
        Ok(ExactOptimum { x, y: vertex.y, basis: self.basis.clone(), pivots: self.pivots })
    }

    /// Factors the basis; a singular or short one is completed with slacks.
    fn factor(&mut self) -> Result<Vertex, LpError> {
        let n_rows = self.lp.rows.len();
        let mut seen = std::collections::HashSet::new();
        self.basis.retain(|v| seen.insert(*v));
        // Rows of the factored matrix are basic variables, columns are rows of the programme, so
        // that variables which depend on others are found as dependent rows.
        let factors = loop {
            let rows: Vec<SparseRow> = self.basis.iter().map(|v| self.lp.column(*v)).collect();
            match Lu::factor(rows, n_rows) {
                Err(singular) => {
                    self.basis.remove(singular.row);
                }
                Ok(factors) if factors.free_columns().is_empty() => break factors,
                Ok(factors) => {
                    self.basis.extend(factors.free_columns().iter().map(|&row| Variable::Slack(row)));
                }
            }
        };
        let rhs: Vec<Rational> = self.lp.rows.iter().map(|(_, b)| b.clone()).collect();
        let values = factors.solve_transposed(rhs);
        let y = self.duals(&factors);
        Ok(Vertex { factors, values, y })
    }

    fn duals(&self, factors: &Lu) -> Vec<Rational> {
        let costs = self.basis.iter().map(|v| self.cost(*v)).collect();
        let mut y = vec![Rational::new(); self.lp.rows.len()];
        factors.solve(costs, &mut y);
        y
    }

    fn cost(&self, variable: Variable) -> Rational {
        match variable {
            Variable::Column(j) => self.costs[j].clone(),
            Variable::Slack(row) => self.slack_costs[row].clone(),
        }
    }

    /// `c_j - y a_j`: how much the objective rises per unit of a nonbasic variable.
    fn reduced_cost(&self, variable: Variable, y: &[Rational]) -> Rational {
        match variable {
            Variable::Slack(row) => &self.slack_costs[row] - self.lp.slack_sign(row) * &y[row],
            Variable::Column(j) => {
                let mut value = self.costs[j].clone();
                for (row, entry) in &self.lp.columns[j].entries {
                    if !y[*row].is_zero() {
                        value -= Rational::from(entry * &y[*row]);
                    }
                }
                value
            }
        }
    }

    fn nonbasic(&self) -> Vec<Variable> {
        let basic: std::collections::HashSet<Variable> = self.basis.iter().copied().collect();
        let slacks = (0..self.lp.rows.len()).map(Variable::Slack);
        let columns = (0..self.lp.columns.len()).map(Variable::Column);
        slacks.chain(columns).filter(|v| !basic.contains(v)).collect()
    }

    fn shift_costs(&mut self, vertex: &Vertex) {
        for variable in self.nonbasic() {
            let reduced = self.reduced_cost(variable, &vertex.y);
            if reduced > 0 {
                match variable {
                    Variable::Column(j) => self.costs[j] -= reduced,
                    Variable::Slack(row) => self.slack_costs[row] -= reduced,
                }
            }
        }
    }

    fn primal_simplex(&mut self, mut vertex: Vertex) -> Result<Vertex, LpError> {
        self.stalled = 0;
        loop {
            let Some(entering) = self.entering(&vertex) else { return Ok(vertex) };
            let direction =
                vertex.factors.solve_transposed(dense(&self.lp.column(entering), self.lp.rows.len()));
            let leaving = self.ratio_test(&vertex.values, &direction).ok_or(LpError::ExactlyUnbounded)?;
            self.count(vertex.values[leaving].is_zero())?;
            self.basis[leaving] = entering;
            vertex = self.factor()?;
        }
    }

    fn entering(&self, vertex: &Vertex) -> Option<Variable> {
        let mut best: Option<(Rational, Variable)> = None;
        for variable in self.nonbasic() {
            let reduced = self.reduced_cost(variable, &vertex.y);
            if reduced > 0 {
                if self.stalled > PATIENCE {
                    return Some(variable);
                }
                if best.as_ref().is_none_or(|(most, _)| reduced > *most) {
                    best = Some((reduced, variable));
                }
            }
        }
        best.map(|(_, variable)| variable)
    }

    fn ratio_test(&self, values: &[Rational], direction: &[Rational]) -> Option<usize> {
        let mut best: Option<(Rational, Variable, usize)> = None;
        for (position, step) in direction.iter().enumerate() {
            if *step <= 0 {
                continue;
            }
            let ratio = Rational::from(&values[position] / step);
            let candidate = (ratio, self.basis[position]);
            if best.as_ref().is_none_or(|(r, v, _)| (&candidate.0, candidate.1) < (r, *v)) {
                best = Some((candidate.0, candidate.1, position));
            }
        }
        best.map(|(_, _, position)| position)
    }

    fn dual_simplex(&mut self) -> Result<Vertex, LpError> {
        self.stalled = 0;
        loop {
            let vertex = self.factor()?;
            let leaving = match self.leaving(&vertex.values) {
                None => return Ok(vertex),
                Some(position) => position,
            };
            // Row `leaving` of the inverse of the basis.
            let mut unit = vec![Rational::new(); self.basis.len()];
            unit[leaving] = Rational::from(1);
            let mut row = vec![Rational::new(); self.lp.rows.len()];
            vertex.factors.solve(unit, &mut row);
            let mut best: Option<(Rational, Variable)> = None;
            for variable in self.nonbasic() {
                let mut alpha = Rational::new();
                for (r, entry) in self.lp.column(variable) {
                    if !row[r].is_zero() {
                        alpha += entry * &row[r];
                    }
                }
                if alpha < 0 {
                    let ratio = self.reduced_cost(variable, &vertex.y) / alpha;
                    if best.as_ref().is_none_or(|(least, _)| ratio < *least) {
                        best = Some((ratio, variable));
                    }
                }
            }
            let (ratio, entering) = best.ok_or(LpError::ExactlyInfeasible)?;
            self.count(ratio.is_zero())?;
            self.basis[leaving] = entering;
        }
    }

    fn leaving(&self, values: &[Rational]) -> Option<usize> {
        let negative = values.iter().enumerate().filter(|(_, v)| **v < 0);
        if self.stalled > PATIENCE {
            negative.min_by_key(|(position, _)| self.basis[*position]).map(|(position, _)| position)
        } else {
            negative.min_by(|a, b| a.1.cmp(b.1)).map(|(position, _)| position)
        }
    }

    fn count(&mut self, degenerate: bool) -> Result<(), LpError> {
        self.pivots += 1;
        if degenerate {
            self.stalled += 1;
        }
        if self.pivots > self.max_pivots {
            return Err(LpError::PivotLimit { pivots: self.pivots - 1 });
        }
        Ok(())
    }
}

fn dense(entries: &SparseRow, n: usize) -> Vec<Rational> {
    let mut values = vec![Rational::new(); n];
    for (row, value) in entries {
        values[*row] = value.clone();
    }
    values
}

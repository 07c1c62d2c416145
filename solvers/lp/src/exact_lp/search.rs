//! The simplex method in rationals: the dual method reaches a feasible vertex, and then the primal method reaches an
//! optimal vertex.

use rug::{Integer, Rational};

use super::factors::Factors;
use super::pricing::{Columns, Multipliers};
use super::{ExactLp, ExactOptimum, Feasibility, Variable};
use crate::error::LpError;
use crate::settings::EXACT;

/// A basis on the way to the optimum, with all numbers that it determines.
pub struct SimplexBasis<'a> {
    lp: &'a ExactLp,
    columns: Columns,
    basis: Vec<Variable>,
    /// For each variable, by its number, true if it is basic.
    is_basic: Vec<bool>,
    factors: Factors,
    /// Values of the basic variables, indexed by position in the basis.
    values: Vec<Rational>,
    /// Dual value of each row.
    y: Vec<Rational>,
    pivots: usize,
    max_pivots: usize,
    stalled: usize,
}

/// Shifted costs that make the first basis of the dual simplex method dual feasible.
///
/// The costs of columns that would improve the first basis are lowered to the prices of these columns in that basis.
struct CostShift {
    y: Vec<Rational>,
    /// For each variable, by its number, true if its cost is lowered.
    lowered: Vec<bool>,
}

impl<'a> SimplexBasis<'a> {
    /// Factors a basis. [`completed`] adds variables that are missing.
    pub fn new(lp: &'a ExactLp, basis: &[Variable], max_pivots: usize) -> Self {
        let (basis, factors) = completed(lp, basis);
        let columns = Columns::new(lp);
        let mut is_basic = vec![false; columns.len()];
        for variable in &basis {
            is_basic[Columns::number(lp, *variable)] = true;
        }
        let values = factors.solve(lp.rows.iter().map(|(_, b)| b.clone()).collect());
        Self {
            lp,
            columns,
            basis,
            is_basic,
            factors,
            values,
            y: Vec::new(),
            pivots: 0,
            max_pivots,
            stalled: 0,
        }
    }

    /// Computes the prices of the basis.
    pub fn priced(mut self) -> Self {
        self.y = self.duals();
        self
    }

    /// Returns the price of each row. The basis must be priced.
    pub fn y(&self) -> &[Rational] {
        &self.y
    }

    /// Returns the value of each column.
    pub fn x(&self) -> Vec<Rational> {
        let mut x = vec![Rational::new(); self.lp.columns.len()];
        for (variable, value) in self.basis.iter().zip(&self.values) {
            if let Variable::Column(j) = variable {
                x[*j].clone_from(value);
            }
        }
        x
    }

    /// Returns the basis, including the variables that were added to complete it.
    pub fn into_basis(self) -> Vec<Variable> {
        self.basis
    }

    /// Returns the largest violation of a bound, in units of the variables. `None` at a feasible vertex.
    pub fn primal_violation(&self, unit: impl Fn(Variable) -> f64) -> Option<f64> {
        let violated = (0..self.basis.len()).filter(|&position| self.is_infeasible(position));
        largest(violated.map(|at| self.values[at].to_f64().abs() / unit(self.basis[at])))
    }

    /// Returns the largest positive reduced cost, in units of the variables. `None` if the prices are feasible.
    pub fn dual_violation(&self, unit: impl Fn(Variable) -> f64) -> Option<f64> {
        let y = Multipliers::new(&self.y);
        largest(self.candidates().filter_map(|k| {
            let reduced = self.columns.reduced_cost(&y, k);
            let unit = || unit(Columns::variable(self.lp, k));
            (reduced > 0).then(|| self.columns.value(&y, k, reduced).to_f64() * unit())
        }))
    }

    /// Computes the optimum, or the proof that no point is feasible.
    pub fn run(mut self) -> Result<Feasibility, LpError> {
        if self.y.is_empty() {
            self.y = self.duals();
        }
        if (0..self.basis.len()).any(|position| self.is_infeasible(position)) {
            if let Some(proof) = self.dual_simplex()? {
                return Ok(Feasibility::Infeasible(proof));
            }
            self.y = self.duals();
        }
        self.primal_simplex()?;
        let x = self.x();
        Ok(Feasibility::Feasible(ExactOptimum { x, y: self.y, basis: self.basis, pivots: self.pivots }))
    }

    fn duals(&self) -> Vec<Rational> {
        duals(self.lp, &self.basis, &self.factors)
    }

    /// Returns the numbers of the variables that may enter, ascending. A fixed variable outside the basis stays at 0,
    /// so it may not enter.
    fn candidates(&self) -> impl Iterator<Item = usize> {
        (0..self.columns.len())
            .filter(|&k| !self.is_basic[k] && !self.lp.is_fixed(Columns::variable(self.lp, k)))
    }

    fn is_infeasible(&self, position: usize) -> bool {
        let value = &self.values[position];
        *value < 0 || (!value.is_zero() && self.lp.is_fixed(self.basis[position]))
    }

    fn primal_simplex(&mut self) -> Result<(), LpError> {
        self.stalled = 0;
        while let Some((entering, reduced)) = self.entering() {
            let direction = self.direction(entering);
            let leaving = self.ratio_test(&direction).ok_or(LpError::ExactlyUnbounded)?;
            self.count(self.values[leaving].is_zero())?;
            let row = self.inverse_row(leaving);
            self.pivot(leaving, entering, &direction, &reduced, &row);
        }
        Ok(())
    }

    /// Returns the variable with the largest reduced cost. When progress has stalled, returns the first variable with a
    /// positive reduced cost.
    fn entering(&self) -> Option<(usize, Rational)> {
        let y = Multipliers::new(&self.y);
        let mut best: Option<(usize, Integer)> = None;
        for k in self.candidates() {
            let reduced = self.columns.reduced_cost(&y, k);
            let is_better = |(other, most): &(usize, Integer)| {
                Integer::from(&reduced * self.columns.factor(*other))
                    > Integer::from(most * self.columns.factor(k))
            };
            if reduced > 0 && best.as_ref().is_none_or(is_better) {
                best = Some((k, reduced));
                if self.stalled > EXACT.patience {
                    break;
                }
            }
        }
        best.map(|(k, reduced)| (k, self.columns.value(&y, k, reduced)))
    }

    fn ratio_test(&self, direction: &[Rational]) -> Option<usize> {
        let mut best: Option<(Rational, Variable, usize)> = None;
        for (position, step) in direction.iter().enumerate() {
            let variable = self.basis[position];
            // A fixed variable may move in neither direction.
            if *step <= 0 && (step.is_zero() || !self.lp.is_fixed(variable)) {
                continue;
            }
            let ratio = Rational::from(&self.values[position] / step);
            if best.as_ref().is_none_or(|(r, v, _)| (&ratio, variable) < (r, *v)) {
                best = Some((ratio, variable, position));
            }
        }
        best.map(|(_, _, position)| position)
    }

    /// Pivots until the vertex is feasible, or returns the proof that no point is feasible. Afterwards `y` still
    /// belongs to the shifted costs.
    fn dual_simplex(&mut self) -> Result<Option<Vec<Rational>>, LpError> {
        self.stalled = 0;
        let y = Multipliers::new(&self.y);
        let mut shift = CostShift { y: self.y.clone(), lowered: vec![false; self.columns.len()] };
        for k in self.candidates() {
            shift.lowered[k] = self.columns.reduced_cost(&y, k) > 0;
        }
        while let Some(leaving) = self.leaving() {
            let row = self.inverse_row(leaving);
            // A variable below 0 has to rise. A fixed variable above 0 has to fall.
            let falls = self.values[leaving] > 0;
            let towards: Vec<Rational> =
                row.iter().map(|v| if falls { Rational::from(-v) } else { v.clone() }).collect();
            let Some((entering, ratio)) = self.dual_ratio_test(&towards, &shift) else {
                return Ok(Some(towards));
            };
            self.count(ratio.is_zero())?;
            let direction = self.direction(entering);
            let reduced = self.shifted_cost(entering, &shift);
            self.pivot(leaving, entering, &direction, &reduced, &row);
        }
        Ok(None)
    }

    /// Returns the variable whose reduced cost becomes 0 first, among the variables with a negative product with `row`.
    fn dual_ratio_test(&self, row: &[Rational], shift: &CostShift) -> Option<(usize, Rational)> {
        let row = Multipliers::new(row);
        let y = Multipliers::new(&self.y);
        let moved: Vec<Rational> =
            self.y.iter().zip(&shift.y).map(|(y, start)| Rational::from(y - start)).collect();
        let moved = Multipliers::new(&moved);
        let mut best: Option<(usize, Rational)> = None;
        for k in self.candidates() {
            let entry = self.columns.product(&row, k);
            if entry >= 0 {
                continue;
            }
            let ratio = if shift.lowered[k] {
                (self.columns.product(&moved, k), entry * moved.denominator())
            } else {
                (self.columns.reduced_cost(&y, k), entry * y.denominator())
            };
            let ratio = Rational::from(ratio).abs();
            if best.as_ref().is_none_or(|(_, least)| ratio < *least) {
                best = Some((k, ratio));
            }
        }
        best
    }

    /// Computes the reduced cost of a variable at the shifted costs.
    fn shifted_cost(&self, k: usize, shift: &CostShift) -> Rational {
        let variable = Columns::variable(self.lp, k);
        let mut reduced = Rational::new();
        for (row, value) in self.lp.column(variable) {
            if shift.lowered[k] {
                reduced += Rational::from(&shift.y[row] - &self.y[row]) * value;
            } else {
                reduced -= value * &self.y[row];
            }
        }
        match variable {
            Variable::Column(j) if !shift.lowered[k] => reduced + &self.lp.columns[j].cost,
            _ => reduced,
        }
    }

    /// Returns the position of the variable that violates its bound most. When progress has stalled, returns the
    /// position of the violating variable with the lowest number.
    fn leaving(&self) -> Option<usize> {
        let infeasible = (0..self.basis.len()).filter(|&position| self.is_infeasible(position));
        if self.stalled > EXACT.patience {
            infeasible.min_by_key(|&position| self.basis[position])
        } else {
            // `min_by` returns the first of equal elements, while `max_by` returns the last.
            infeasible.min_by(|&a, &b| self.values[b].cmp_abs(&self.values[a]))
        }
    }

    fn direction(&self, entering: usize) -> Vec<Rational> {
        let mut column = vec![Rational::new(); self.lp.rows.len()];
        for (row, value) in self.lp.column(Columns::variable(self.lp, entering)) {
            column[row] = value;
        }
        self.factors.solve(column)
    }

    /// Computes row `position` of the inverse of the basis.
    fn inverse_row(&self, position: usize) -> Vec<Rational> {
        let mut unit = vec![Rational::new(); self.basis.len()];
        unit[position] = Rational::from(1);
        self.factors.solve_transposed(unit)
    }

    /// Exchanges two variables of the basis. The arguments give the direction and the reduced cost of the entering
    /// variable, and the row of the inverse of the leaving variable.
    fn pivot(
        &mut self,
        leaving: usize,
        entering: usize,
        direction: &[Rational],
        reduced: &Rational,
        row: &[Rational],
    ) {
        let step = Rational::from(&self.values[leaving] / &direction[leaving]);
        add_multiple(&mut self.values, &Rational::from(-&step), direction);
        self.values[leaving] = step;
        add_multiple(&mut self.y, &Rational::from(reduced / &direction[leaving]), row);

        self.is_basic[Columns::number(self.lp, self.basis[leaving])] = false;
        self.is_basic[entering] = true;
        self.basis[leaving] = Columns::variable(self.lp, entering);
        self.factors.update(leaving, direction);
        if self.factors.are_worn() {
            // A pivot other than 0 leaves the basis regular, so factoring succeeds.
            if let Ok(factors) = factor(self.lp, &self.basis) {
                self.factors = factors;
            }
        }
    }

    /// Counts and charges a pivot before it is made: two systems are solved, and every column is
    /// priced.
    fn count(&mut self, degenerate: bool) -> Result<(), LpError> {
        let numbers = self.values.iter().chain(&self.y);
        let bits = numbers.map(|v| u64::from(v.numer().significant_bits() + v.denom().significant_bits()));
        let n_rows = self.values.len() as u64;
        let words = evenhand_budget::words_of_bits(bits.sum::<u64>() / (4 * n_rows + 1));
        // Columns and rows of the factors have few entries, so the number of operations is about proportional to these
        // sizes.
        let n_numbers = 4 * (4 * n_rows + self.columns.len() as u64);
        evenhand_budget::operations(n_numbers, words, "an exact linear programme");
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

/// Returns the largest number as a positive double, even if the number is too small for a double.
fn largest(numbers: impl Iterator<Item = f64>) -> Option<f64> {
    numbers.max_by(f64::total_cmp).map(|most| most.max(f64::MIN_POSITIVE))
}

/// Factors a basis.
///
/// A singular or short basis is completed with slacks. Variables that do not exist in the programme are ignored.
fn completed(lp: &ExactLp, basis: &[Variable]) -> (Vec<Variable>, Factors) {
    let exists = |variable: &Variable| match variable {
        Variable::Slack(row) => *row < lp.rows.len(),
        Variable::Column(j) => *j < lp.columns.len(),
    };
    let mut seen = std::collections::HashSet::new();
    let known = basis.iter().copied().filter(exists);
    let mut basis: Vec<Variable> = known.filter(|v| seen.insert(*v)).collect();
    loop {
        match factor(lp, &basis) {
            Err(singular) => {
                basis.remove(singular.row);
            }
            Ok(factors) if factors.free_rows().is_empty() => return (basis, factors),
            Ok(factors) => {
                basis.extend(factors.free_rows().iter().map(|&row| Variable::Slack(row)));
            }
        }
    }
}

fn duals(lp: &ExactLp, basis: &[Variable], factors: &Factors) -> Vec<Rational> {
    let cost = |variable: &Variable| match variable {
        Variable::Column(j) => lp.columns[*j].cost.clone(),
        Variable::Slack(_) => Rational::new(),
    };
    factors.solve_transposed(basis.iter().map(cost).collect())
}

/// Computes only the prices of a basis, with one price for each row. If the basis has too few variables or is singular,
/// it is completed with slacks.
#[must_use]
pub fn prices(lp: &ExactLp, basis: &[Variable]) -> Vec<Rational> {
    let (basis, factors) = completed(lp, basis);
    duals(lp, &basis, &factors)
}

fn factor(lp: &ExactLp, basis: &[Variable]) -> Result<Factors, crate::linear::Singular> {
    Factors::new(basis.iter().map(|v| lp.column(*v)).collect(), lp.rows.len())
}

fn add_multiple(target: &mut [Rational], factor: &Rational, vector: &[Rational]) {
    if factor.is_zero() {
        return;
    }
    for (value, entry) in target.iter_mut().zip(vector) {
        if !entry.is_zero() {
            *value += Rational::from(entry * factor);
        }
    }
}

//! A vertex of a programme with bounds, in exact numbers: its values, its prices, and pivots to a better vertex.
//!
//! The variables are the columns, followed by the activities `r = A x` of the rows, with `A x - r = 0`. The equations
//! determine the values of basic variables. Every other variable is at one of its bounds, or at 0 if it has no bound.
//! Bounds do not become rows. The method is the textbook primal simplex method for bounded variables. Its first phase
//! minimises the sum of violations.

use std::time::Instant;

use rug::{Integer, Rational};

use crate::error::LpError;
use crate::exact_lp::factors::Factors;
use crate::exact_lp::pricing::Multipliers;
use crate::highs::{Basis, BasisStatus};
use crate::linear::SparseRow;
use crate::model::{Bounds, Model};
use crate::settings::EXACT;

/// The entries of a column as whole numbers.
struct WholeColumn {
    /// The number by which the column and its cost were multiplied.
    factor: Integer,
    /// The cost in the minimised programme.
    cost: Integer,
    entries: Vec<(usize, Integer)>,
}

/// A vertex of a programme and its basis.
pub struct Vertex<'m> {
    model: &'m Model,
    columns: Vec<WholeColumn>,
    /// Variable at each position of the basis.
    basis: Vec<usize>,
    /// Status of each variable. For a variable that is not basic, the status says at which bound it is.
    status: Vec<BasisStatus>,
    factors: Factors,
    /// Value of each variable.
    values: Vec<Rational>,
    /// Price of each row.
    y: Vec<Rational>,
    pivots: usize,
    stalled: usize,
}

/// The reason why exact pivots ended.
pub enum End {
    /// The vertex is optimal.
    Optimal,
    /// No point is feasible. The prices of the rows prove it: their bound without costs is above 0.
    Infeasible(Vec<Rational>),
    /// The objective is unbounded. The vector has one entry for each column: a direction in which the objective
    /// improves without end.
    Unbounded(Vec<Rational>),
    /// The time is up.
    Limit,
}

/// A variable that enters the basis.
struct Entering {
    variable: usize,
    /// True if the variable rises when it enters, false if it falls.
    rises: bool,
}

/// The event that ends the step of an entering variable.
enum Blocked {
    /// The variable can rise or fall without end.
    Never,
    /// The entering variable reaches its other bound.
    Flips(Rational),
    /// The basic variable at this position reaches its lower or upper bound.
    At { position: usize, status: BasisStatus, step: Rational },
}

impl<'m> Vertex<'m> {
    /// Returns the vertex of a basis. If the basis is singular or has too few variables, it is completed with
    /// activities of rows.
    pub fn new(model: &'m Model, basis: &Basis) -> Self {
        let whole = |j: usize| whole_column(&model.columns[j].entries, &model.minimised_cost(j));
        let columns = (0..model.columns.len()).map(whole).collect();
        let n = model.columns.len();
        let stated = |k: usize| {
            let list = if k < n { &basis.columns } else { &basis.rows };
            list.get(if k < n { k } else { k - n }).copied().unwrap_or(BasisStatus::Lower)
        };
        let count = n + model.rows.len();
        let proposed: Vec<usize> = (0..count).filter(|k| stated(*k) == BasisStatus::Basic).collect();
        let (basis, factors) = completed(model, proposed);
        let mut status: Vec<BasisStatus> = (0..count).map(|k| resting(bounds(model, k), stated(k))).collect();
        basis.iter().for_each(|k| status[*k] = BasisStatus::Basic);
        let mut vertex = Self {
            model,
            columns,
            basis,
            status,
            factors,
            values: vec![Rational::new(); count],
            y: Vec::new(),
            pivots: 0,
            stalled: 0,
        };
        vertex.rest();
        vertex.y = vertex.prices(|k| if k < n { model.minimised_cost(k) } else { Rational::new() });
        vertex
    }

    /// Returns the values of the columns.
    pub fn x(&self) -> &[Rational] {
        &self.values[..self.model.columns.len()]
    }

    /// Returns the activities of the rows.
    pub fn activities(&self) -> &[Rational] {
        &self.values[self.model.columns.len()..]
    }

    /// Returns the prices of the rows.
    pub fn y(&self) -> &[Rational] {
        &self.y
    }

    /// Returns the number of exact pivots.
    pub const fn pivots(&self) -> usize {
        self.pivots
    }

    /// Returns the status of every column and every row.
    pub fn basis(&self) -> Basis {
        let (columns, rows) = self.status.split_at(self.model.columns.len());
        Basis { columns: columns.to_vec(), rows: rows.to_vec() }
    }

    /// Returns the largest violation of a bound. `None` at a feasible vertex.
    pub fn primal_violation(&self) -> Option<f64> {
        let violations = self.basis.iter().map(|k| bounds(self.model, *k).violation(&self.values[*k]));
        violations
            .filter(|violation| *violation > 0)
            .map(|violation| positive(&violation))
            .max_by(f64::total_cmp)
    }

    /// Returns the largest violation of a reduced cost. `None` if the prices are optimal for the basis.
    pub fn dual_violation(&self) -> Option<f64> {
        let y = Multipliers::new(&self.y);
        let wrong = (0..self.status.len()).filter_map(|k| {
            let (reduced, factor) = self.reduced_cost(k, &y, true);
            let is_wrong = self.improves(k, &reduced).is_some();
            is_wrong.then(|| positive(&Rational::from((reduced.abs(), factor * y.denominator()))))
        });
        wrong.max_by(f64::total_cmp)
    }

    /// Pivots until the vertex is optimal, or proves that no vertex is optimal.
    ///
    /// # Errors
    /// [`LpError::PivotLimit`] when `most_pivots` pivots do not suffice.
    pub fn optimise(&mut self, most_pivots: usize, until: Option<Instant>) -> Result<End, LpError> {
        let n = self.model.columns.len();
        loop {
            if until.is_some_and(|until| Instant::now() >= until) {
                return Ok(End::Limit);
            }
            let infeasible = self.primal_violation().is_some();
            let model = self.model;
            self.y = if infeasible {
                let gradients: Vec<Rational> = self.gradients();
                self.prices_at(gradients)
            } else {
                self.prices(|k| if k < n { model.minimised_cost(k) } else { Rational::new() })
            };
            let Some(entering) = self.entering(!infeasible) else {
                if infeasible {
                    // Without costs, the bound that these prices prove is the least sum of violations.
                    return Ok(End::Infeasible(std::mem::take(&mut self.y)));
                }
                return Ok(End::Optimal);
            };
            let direction = self.direction(entering.variable);
            match self.ratio_test(&entering, &direction) {
                Blocked::Never => return Ok(End::Unbounded(self.ray(&entering, &direction))),
                Blocked::Flips(step) => {
                    self.count(step.is_zero(), most_pivots)?;
                    self.step(&entering, &direction, &step);
                    self.status[entering.variable] =
                        if entering.rises { BasisStatus::Upper } else { BasisStatus::Lower };
                }
                Blocked::At { position, status, step } => {
                    self.count(step.is_zero(), most_pivots)?;
                    self.step(&entering, &direction, &step);
                    self.exchange(position, status, entering.variable, &direction);
                }
            }
        }
    }

    /// Sets the values of all variables according to their status and their bounds.
    fn rest(&mut self) {
        let n = self.model.columns.len();
        let mut rest = vec![Rational::new(); self.model.rows.len()];
        for k in 0..self.status.len() {
            let bounds = bounds(self.model, k);
            let value = match self.status[k] {
                BasisStatus::Basic | BasisStatus::Zero => None,
                BasisStatus::Lower => bounds.lower.as_ref(),
                BasisStatus::Upper => bounds.upper.as_ref(),
            };
            let value = value.cloned().unwrap_or_default();
            if !value.is_zero() {
                match k.checked_sub(n) {
                    None => self.model.columns[k]
                        .entries
                        .iter()
                        .for_each(|(row, entry)| rest[*row] -= Rational::from(entry * &value)),
                    Some(row) => rest[row] += &value,
                }
            }
            self.values[k] = value;
        }
        for (k, value) in self.basis.iter().zip(self.factors.solve(rest)) {
            self.values[*k] = value;
        }
    }

    /// Returns the prices for the given costs of variables.
    fn prices(&self, cost: impl Fn(usize) -> Rational) -> Vec<Rational> {
        self.prices_at(self.basis.iter().map(|k| cost(*k)).collect())
    }

    /// Returns the prices for the given costs of basic variables. `costs` is indexed by position in the basis.
    fn prices_at(&self, costs: Vec<Rational>) -> Vec<Rational> {
        self.factors.solve_transposed(costs)
    }

    /// Returns the gradient of the sum of violations: one cost for each basic variable, indexed by position in the
    /// basis.
    fn gradients(&self) -> Vec<Rational> {
        let gradient = |k: &usize| {
            let (bounds, value) = (bounds(self.model, *k), &self.values[*k]);
            let is_below = bounds.lower.as_ref().is_some_and(|lower| value < lower);
            let is_above = bounds.upper.as_ref().is_some_and(|upper| value > upper);
            Rational::from(i32::from(is_above) - i32::from(is_below))
        };
        self.basis.iter().map(gradient).collect()
    }

    /// Returns the reduced cost of a variable as a numerator and a factor. The reduced cost is
    /// `numerator / (factor * denominator of y)`.
    fn reduced_cost(&self, k: usize, y: &Multipliers, with_costs: bool) -> (Integer, Integer) {
        match k.checked_sub(self.columns.len()) {
            Some(row) => (y.numerator(row).clone(), Integer::from(1)),
            None => {
                let column = &self.columns[k];
                let mut reduced =
                    if with_costs { Integer::from(&column.cost * y.denominator()) } else { Integer::new() };
                column.entries.iter().for_each(|(row, value)| reduced -= value * y.numerator(*row));
                (reduced, column.factor.clone())
            }
        }
    }

    /// Returns true if a variable has to rise for the objective to improve at this reduced cost, and false if it has to
    /// fall. Returns `None` if the variable may stay at its value.
    fn improves(&self, k: usize, reduced: &Integer) -> Option<bool> {
        let rises = match self.status[k] {
            BasisStatus::Basic => return None,
            BasisStatus::Lower => (*reduced < 0).then_some(true),
            BasisStatus::Upper => (*reduced > 0).then_some(false),
            BasisStatus::Zero => (!reduced.is_zero()).then_some(*reduced < 0),
        };
        rises.filter(|_| !bounds(self.model, k).is_fixed())
    }

    /// Returns the variable with the largest reduced cost of the wrong sign. When progress has stalled, returns the
    /// first variable with a wrong sign.
    fn entering(&self, with_costs: bool) -> Option<Entering> {
        let y = Multipliers::new(&self.y);
        let mut best: Option<(f64, Entering)> = None;
        for variable in 0..self.status.len() {
            let (reduced, factor) = self.reduced_cost(variable, &y, with_costs);
            let Some(rises) = self.improves(variable, &reduced) else { continue };
            let entering = Entering { variable, rises };
            if self.stalled > EXACT.patience {
                return Some(entering);
            }
            let size = log2(&reduced) - log2(&factor);
            if best.as_ref().is_none_or(|(most, _)| size > *most) {
                best = Some((size, entering));
            }
        }
        best.map(|(_, entering)| entering)
    }

    /// Returns how fast each basic variable falls while `variable` rises, indexed by position in the basis.
    fn direction(&self, variable: usize) -> Vec<Rational> {
        let mut column = vec![Rational::new(); self.model.rows.len()];
        for (row, value) in matrix_column(self.model, variable) {
            column[row] = value;
        }
        self.factors.solve(column)
    }

    fn ratio_test(&self, entering: &Entering, direction: &[Rational]) -> Blocked {
        let own = bounds(self.model, entering.variable);
        let range =
            own.lower.as_ref().zip(own.upper.as_ref()).map(|(lower, upper)| Rational::from(upper - lower));
        let mut first = range.map_or(Blocked::Never, Blocked::Flips);
        let mut first_variable = entering.variable;
        for (position, fall) in direction.iter().enumerate().filter(|(_, fall)| !fall.is_zero()) {
            let k = self.basis[position];
            let (bounds, value) = (bounds(self.model, k), &self.values[k]);
            let does_fall = (*fall > 0) == entering.rises;
            // A variable outside its bounds stops at the first bound where it becomes feasible.
            let (first_bound, second_bound) = if does_fall {
                ((&bounds.upper, BasisStatus::Upper), (&bounds.lower, BasisStatus::Lower))
            } else {
                ((&bounds.lower, BasisStatus::Lower), (&bounds.upper, BasisStatus::Upper))
            };
            let is_ahead = |bound: &Rational| if does_fall { value > bound } else { value < bound };
            let is_reached = |bound: &Rational| if does_fall { value >= bound } else { value <= bound };
            let stop = match (first_bound, second_bound) {
                ((Some(bound), status), _) if is_ahead(bound) => Some((bound, status)),
                (_, (Some(bound), status)) if is_reached(bound) => Some((bound, status)),
                _ => None,
            };
            let Some((bound, status)) = stop else { continue };
            let step = (Rational::from(bound - value) / fall).abs();
            let is_first = match &first {
                Blocked::Never => true,
                Blocked::Flips(least) | Blocked::At { step: least, .. } => {
                    step < *least || step == *least && k < first_variable
                }
            };
            if is_first {
                first = Blocked::At { position, status, step };
                first_variable = k;
            }
        }
        first
    }

    /// Moves the values along a direction.
    fn step(&mut self, entering: &Entering, direction: &[Rational], step: &Rational) {
        let signed = if entering.rises { step.clone() } else { Rational::from(-step) };
        self.values[entering.variable] += &signed;
        if signed.is_zero() {
            return;
        }
        for (position, fall) in direction.iter().enumerate().filter(|(_, fall)| !fall.is_zero()) {
            self.values[self.basis[position]] -= Rational::from(fall * &signed);
        }
    }

    fn exchange(&mut self, position: usize, status: BasisStatus, entering: usize, direction: &[Rational]) {
        self.status[self.basis[position]] = status;
        self.status[entering] = BasisStatus::Basic;
        self.basis[position] = entering;
        self.factors.update(position, direction);
        if self.factors.are_worn() {
            // A pivot other than 0 leaves the basis regular, so factoring succeeds.
            if let Ok(factors) = factor(self.model, &self.basis) {
                self.factors = factors;
            }
        }
    }

    /// Returns the direction of a step without end, with one entry for each column.
    fn ray(&self, entering: &Entering, direction: &[Rational]) -> Vec<Rational> {
        let n = self.model.columns.len();
        let sign = Rational::from(if entering.rises { 1 } else { -1 });
        let mut ray = vec![Rational::new(); n];
        if let Some(own) = ray.get_mut(entering.variable) {
            own.clone_from(&sign);
        }
        for (position, fall) in direction.iter().enumerate() {
            if let Some(own) = ray.get_mut(self.basis[position]) {
                *own -= Rational::from(fall * &sign);
            }
        }
        ray
    }

    /// Counts a pivot before it is made: two systems are solved, and every column is priced.
    fn count(&mut self, degenerate: bool, most_pivots: usize) -> Result<(), LpError> {
        let bits =
            self.y.iter().map(|v| u64::from(v.numer().significant_bits() + v.denom().significant_bits()));
        let n_rows = self.y.len() as u64;
        let words = evenhand_budget::words_of_bits(bits.sum::<u64>() / (2 * n_rows + 1));
        evenhand_budget::operations(4 * (4 * n_rows + self.columns.len() as u64), words, "exact pivots");
        self.pivots += 1;
        self.stalled = if degenerate { self.stalled + 1 } else { 0 };
        if self.pivots > most_pivots {
            return Err(LpError::PivotLimit { pivots: self.pivots - 1 });
        }
        Ok(())
    }
}

/// Returns the bounds of a variable. The variable is a column or the activity of a row.
fn bounds(model: &Model, k: usize) -> &Bounds {
    match k.checked_sub(model.columns.len()) {
        None => &model.columns[k].bounds,
        Some(row) => &model.rows[row].bounds,
    }
}

/// Returns the stated status of a nonbasic variable, corrected to a bound that the variable really has.
fn resting(bounds: &Bounds, stated: BasisStatus) -> BasisStatus {
    match (stated, &bounds.lower, &bounds.upper) {
        (BasisStatus::Upper, _, Some(_)) | (_, None, Some(_)) => BasisStatus::Upper,
        (_, Some(_), _) => BasisStatus::Lower,
        (_, None, None) => BasisStatus::Zero,
    }
}

fn matrix_column(model: &Model, k: usize) -> SparseRow {
    match k.checked_sub(model.columns.len()) {
        None => model.columns[k].entries.clone(),
        Some(row) => vec![(row, Rational::from(-1))],
    }
}

fn factor(model: &Model, basis: &[usize]) -> Result<Factors, crate::linear::Singular> {
    Factors::new(basis.iter().map(|k| matrix_column(model, *k)).collect(), model.rows.len())
}

/// Returns a basis with its factors. If the basis is singular or has too few variables, it is completed with activities
/// of rows.
fn completed(model: &Model, mut basis: Vec<usize>) -> (Vec<usize>, Factors) {
    loop {
        match factor(model, &basis) {
            Err(singular) => {
                basis.remove(singular.row);
            }
            Ok(factors) if factors.free_rows().is_empty() => return (basis, factors),
            Ok(factors) => basis.extend(factors.free_rows().iter().map(|row| model.columns.len() + row)),
        }
    }
}

fn whole_column(entries: &SparseRow, cost: &Rational) -> WholeColumn {
    let mut factor = cost.denom().clone();
    entries.iter().for_each(|(_, value)| factor.lcm_mut(value.denom()));
    let whole = |value: &Rational| value.numer() * Integer::from(factor.div_exact_ref(value.denom()));
    let entries = entries.iter().map(|(row, value)| (*row, whole(value))).collect();
    WholeColumn { cost: whole(cost), entries, factor }
}

/// Returns a positive number as a double. The double is above 0 even if the number is too small for a double.
fn positive(value: &Rational) -> f64 {
    value.to_f64().clamp(f64::MIN_POSITIVE, f64::MAX)
}

/// Returns the binary logarithm of the absolute value.
fn log2(value: &Integer) -> f64 {
    let (mantissa, exponent) = value.to_f64_exp();
    mantissa.abs().log2() + f64::from(exponent)
}

//! Exact optima by iterative refinement: HiGHS does the pivots, and rationals state the remaining problem.
//!
//! Around an exact point `x` with exact prices `y`, the programme in the differences is
//!
//! ```text
//! max (c - y A) e - y s   such that   A e + s = S (b - A x),   e >= -S x,   s >= 0
//! ```
//!
//! Here `S` is so large that a violation below the precision of doubles becomes 1, and costs are magnified in the same
//! way. An optimal basis of this programme is a basis of the original one, and nearly always exactly optimal after one
//! or two steps (Gleixner, Steffy and Wolter, "Iterative refinement for linear programming", INFORMS Journal on
//! Computing 28, 2016). If a feasible point is known from the start, `e = 0` is feasible whatever the rounding. Exact
//! pivots repair the last basis if it is still not optimal.

use evenhand_problem::number::near;
use rug::Rational;

use crate::error::LpError;
use crate::exact_lp::{ExactLp, Feasibility, Sense, SimplexBasis, Variable};
use crate::highs::{Basis, BasisStatus, ColumnBlock, FloatLp, FloatSolution};
use crate::settings::EXACT;

/// The start of a refinement.
#[derive(Debug, Clone, Copy, Default)]
pub struct StartingPoint<'a> {
    /// A feasible point, indexed by column, if one is known.
    pub point: Option<&'a [Rational]>,
    /// A basis close to an optimal one.
    pub basis: &'a [Variable],
}

/// Computes the exact optimum, or the proof that no point is feasible.
///
/// `units[j]` is roughly the largest value that column `j` can have.
///
/// # Errors
/// [`LpError::ExactlyUnbounded`] when the optimum is unbounded, or [`LpError::PivotLimit`] when `max_pivots` pivots do
/// not suffice.
pub fn solve(
    lp: &ExactLp,
    units: &[f64],
    start: StartingPoint<'_>,
    max_pivots: usize,
) -> Result<Feasibility, LpError> {
    match refined(lp, units, start, max_pivots, 0.0) {
        Ok(search) => search.run(),
        Err(basis) => SimplexBasis::new(lp, &basis, max_pivots).run(),
    }
}

/// Computes a basis that is optimal for a right-hand side that is known only to about 20 digits.
///
/// The basis may violate bounds by as much as the unknown digits. If a few refinements do not reach such a basis, the
/// last basis is returned.
#[must_use]
pub fn nearly(lp: &ExactLp, units: &[f64], basis: &[Variable]) -> Vec<Variable> {
    let start = StartingPoint { point: None, basis };
    refined(lp, units, start, 0, EXACT.unknown).map_or_else(|basis| basis, SimplexBasis::into_basis)
}

/// Refines a basis until its prices are right and it violates no bound by `unknown` or more.
///
/// Returns the last basis if refinement does not achieve this.
fn refined<'lp>(
    lp: &'lp ExactLp,
    units: &[f64],
    start: StartingPoint<'_>,
    max_pivots: usize,
    unknown: f64,
) -> Result<SimplexBasis<'lp>, Vec<Variable>> {
    let scaling = Scaling::new(lp, units);
    let mut around = DifferenceProgramme::start(lp, start.point);
    let mut basis = start.basis.to_vec();
    // A basis given without a point may already be optimal, so it is tested before the first refinement.
    let mut is_untested = start.point.is_none() && !basis.is_empty();
    for _ in 0..EXACT.refinements {
        if !std::mem::take(&mut is_untested) {
            match around.optimum(lp, &scaling, &basis) {
                Ok((next, _)) => basis = next,
                Err(_) => break,
            }
        }
        let search = SimplexBasis::new(lp, &basis, max_pivots).priced();
        let primal = search.primal_violation(|variable| scaling.unit(variable));
        let primal = primal.filter(|violation| *violation >= unknown);
        let dual = search.dual_violation(|variable| scaling.unit(variable) / scaling.cost);
        if primal.is_none() && dual.is_none() {
            return Ok(search);
        }
        let next = around.closer(&search, primal, dual);
        basis = search.into_basis();
        match next {
            Some(next) => around = next,
            None => break,
        }
    }
    Err(basis)
}

/// An optimum in doubles, as differences from the point at which the search started.
pub struct InDoubles {
    /// Difference of each column.
    pub differences: Vec<f64>,
    /// For each row, the change of the optimum for one more unit of the right-hand side.
    pub duals: Vec<f64>,
    /// The optimal basis.
    pub basis: Vec<Variable>,
}

/// Computes the optimum around a point in doubles, without a proof.
///
/// # Errors
/// [`LpError`] when HiGHS fails.
pub fn in_doubles(lp: &ExactLp, units: &[f64], start: StartingPoint<'_>) -> Result<InDoubles, LpError> {
    let scaling = Scaling::new(lp, units);
    let (basis, solution) = DifferenceProgramme::start(lp, start.point).optimum(lp, &scaling, start.basis)?;
    let duals = solution.row_duals.iter().zip(&scaling.rows).map(|(y, row)| y * scaling.cost / row);
    Ok(InDoubles {
        differences: solution.columns.iter().zip(units).map(|(x, unit)| x * unit).collect(),
        duals: duals.collect(),
        basis,
    })
}

/// The units that bring the numbers of a programme near 1.
struct Scaling<'a> {
    /// The units of the columns.
    units: &'a [f64],
    /// For each row, its largest entry in these units.
    rows: Vec<f64>,
    /// The largest cost in these units.
    cost: f64,
}

impl<'a> Scaling<'a> {
    fn new(lp: &ExactLp, units: &'a [f64]) -> Self {
        let mut rows = vec![0.0_f64; lp.rows.len()];
        let mut cost = 0.0_f64;
        for (column, unit) in lp.columns.iter().zip(units) {
            for (row, value) in &column.entries {
                rows[*row] = rows[*row].max((near(value) * unit).abs());
            }
            cost = cost.max((column.cost.to_f64() * unit).abs());
        }
        let or_one = |value: f64| if value > 0.0 { value } else { 1.0 };
        Self { units, rows: rows.into_iter().map(or_one).collect(), cost: or_one(cost) }
    }

    /// Returns the unit in which a variable is measured.
    fn unit(&self, variable: Variable) -> f64 {
        match variable {
            Variable::Column(j) => self.units[j],
            Variable::Slack(row) => self.rows[row],
        }
    }
}

/// Returns the factor by which differences are multiplied so that a violation becomes 1, within limits.
fn magnified(scale: f64, violation: Option<f64>) -> f64 {
    violation.map_or(scale, |v| (1.0 / v).min(scale * EXACT.magnification).max(1.0))
}

/// The programme in the differences from a point.
struct DifferenceProgramme {
    /// The point: the value of each column.
    x: Vec<Rational>,
    /// Price of each row. All prices are 0 at the start.
    y: Vec<Rational>,
    /// The factor by which differences of the point are multiplied. `dual_scale` is the factor of differences of the
    /// prices.
    primal_scale: f64,
    dual_scale: f64,
}

impl DifferenceProgramme {
    fn start(lp: &ExactLp, point: Option<&[Rational]>) -> Self {
        let origin = || vec![Rational::new(); lp.columns.len()];
        Self {
            x: point.map_or_else(origin, <[Rational]>::to_vec),
            y: vec![Rational::new(); lp.rows.len()],
            primal_scale: 1.0,
            dual_scale: 1.0,
        }
    }

    /// Returns the programme around the vertex of a basis that violates bounds. `None` if this programme is the same as
    /// before.
    fn closer(&self, search: &SimplexBasis<'_>, primal: Option<f64>, dual: Option<f64>) -> Option<Self> {
        let next = Self {
            x: search.x(),
            y: search.y().to_vec(),
            primal_scale: magnified(self.primal_scale, primal),
            dual_scale: magnified(self.dual_scale, dual),
        };
        (next.x != self.x || next.y != self.y).then_some(next)
    }

    /// Computes the optimal basis in doubles. Also returns the scaled solution.
    fn optimum(
        &self,
        lp: &ExactLp,
        scaling: &Scaling<'_>,
        start: &[Variable],
    ) -> Result<(Vec<Variable>, FloatSolution), LpError> {
        let mut rest: Vec<Rational> = lp.rows.iter().map(|(_, b)| b.clone()).collect();
        for (column, x) in lp.columns.iter().zip(&self.x).filter(|(_, x)| !x.is_zero()) {
            for (row, value) in &column.entries {
                rest[*row] -= Rational::from(value * x);
            }
        }
        let rest = rest.iter().zip(&scaling.rows).map(|(r, s)| r.to_f64() / s * self.primal_scale);
        let mut float = FloatLp::new(&self.row_bounds(lp, &rest.collect::<Vec<_>>()))?;
        float.add_columns(&self.columns(lp, scaling)?)?;
        let priced: Vec<usize> = self.priced_rows(lp).collect();
        float.add_columns(&self.slacks(lp, scaling, &priced)?)?;
        if !start.is_empty() {
            float.set_basis(&self.basis_in(lp, &priced, start))?;
        }
        let solution = float.solve()?;
        Ok((basis_out(lp, &priced, &float.basis()?), solution))
    }

    /// Returns the rows whose slack has its own cost.
    fn priced_rows(&self, lp: &ExactLp) -> impl Iterator<Item = usize> {
        let has_slack = |row: &usize| lp.rows[*row].0 != Sense::Equal;
        (0..lp.rows.len()).filter(has_slack).filter(|row| !self.y[*row].is_zero())
    }

    fn row_bounds(&self, lp: &ExactLp, rest: &[f64]) -> Vec<(f64, f64)> {
        let bounds = |(row, &rest): (usize, &f64)| match lp.rows[row].0 {
            _ if !self.y[row].is_zero() => (rest, rest),
            Sense::AtMost => (f64::NEG_INFINITY, rest),
            Sense::AtLeast => (rest, f64::INFINITY),
            Sense::Equal => (rest, rest),
        };
        rest.iter().enumerate().map(bounds).collect()
    }

    /// Returns the columns of the differences, with their reduced costs.
    fn columns(&self, lp: &ExactLp, scaling: &Scaling<'_>) -> Result<ColumnBlock, LpError> {
        let mut block = ColumnBlock::default();
        for ((column, x), unit) in lp.columns.iter().zip(&self.x).zip(scaling.units) {
            let mut cost = column.cost.clone();
            for (row, value) in &column.entries {
                if !self.y[*row].is_zero() {
                    cost -= Rational::from(value * &self.y[*row]);
                }
            }
            let cost = cost.to_f64() * unit / scaling.cost * self.dual_scale;
            let entries = column.entries.iter();
            let entries = entries.map(|(row, v)| (*row, near(v) * unit / scaling.rows[*row]));
            block.push_above(cost, -x.to_f64() / unit * self.primal_scale, entries)?;
        }
        Ok(block)
    }

    /// Returns the columns of the slacks that have a cost.
    fn slacks(&self, lp: &ExactLp, scaling: &Scaling<'_>, priced: &[usize]) -> Result<ColumnBlock, LpError> {
        let mut block = ColumnBlock::default();
        for &row in priced {
            let sign = if lp.rows[row].0 == Sense::AtLeast { -1.0 } else { 1.0 };
            let cost = -sign * self.y[row].to_f64() * scaling.rows[row] / scaling.cost;
            block.push(cost * self.dual_scale, [(row, sign)])?;
        }
        Ok(block)
    }

    /// Converts a basis of the programme to a basis of the programme in differences.
    fn basis_in(&self, lp: &ExactLp, priced: &[usize], start: &[Variable]) -> Basis {
        let mut columns = vec![BasisStatus::Lower; lp.columns.len() + priced.len()];
        let resting = |row: usize| match lp.rows[row].0 {
            Sense::AtMost if self.y[row].is_zero() => BasisStatus::Upper,
            _ => BasisStatus::Lower,
        };
        let mut rows: Vec<BasisStatus> = (0..lp.rows.len()).map(resting).collect();
        for variable in start {
            match *variable {
                Variable::Column(j) => columns[j] = BasisStatus::Basic,
                Variable::Slack(row) => match priced.binary_search(&row) {
                    Ok(at) => columns[lp.columns.len() + at] = BasisStatus::Basic,
                    Err(_) => rows[row] = BasisStatus::Basic,
                },
            }
        }
        Basis { columns, rows }
    }
}

/// Converts a basis of the programme in differences to a basis of the programme.
fn basis_out(lp: &ExactLp, priced: &[usize], basis: &Basis) -> Vec<Variable> {
    let of_programme = |variable: Variable| match variable {
        Variable::Column(j) if j >= lp.columns.len() => Variable::Slack(priced[j - lp.columns.len()]),
        other => other,
    };
    basis.variables().map(of_programme).collect()
}

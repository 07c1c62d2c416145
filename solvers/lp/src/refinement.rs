//! Iterative refinement of a vertex: HiGHS solves in doubles the programme of the remaining differences.
//!
//! Around an exact point `x` with activities `r = A x` and exact prices `y`, the programme in the differences is
//!
//! ```text
//! min D (c - y A) e + D y s   such that   A e - s = 0,   S (l - r) <= s <= S (u - r),   S (l' - x) <= e <= S (u' - x)
//! ```
//!
//! The factors `S` (of bounds) and `D` (of costs) turn a violation that doubles cannot represent into 1. An optimal
//! basis of this programme is also optimal for the given programme, except for rounding. After one or two steps it is
//! nearly always exactly optimal (Gleixner, Steffy and Wolter, "Iterative refinement for linear programming", INFORMS
//! Journal on Computing 28, 2016).

use rug::Rational;

use crate::error::LpError;
use crate::highs::{Basis, BasisStatus, ColumnBlock, FloatLp};
use crate::model::{Bounds, Model};
use crate::settings::EXACT;
use crate::vertex::Vertex;

/// The factors of bounds and of costs.
#[derive(Clone, Copy)]
pub struct Magnification {
    bounds: f64,
    costs: f64,
}

impl Default for Magnification {
    fn default() -> Self {
        Self { bounds: 1.0, costs: 1.0 }
    }
}

impl Magnification {
    /// Returns the factors for these violations. Each factor grows by at most
    /// [`Exact::magnification`](crate::settings::Exact) in one step.
    #[must_use]
    pub fn next(self, primal: Option<f64>, dual: Option<f64>) -> Self {
        let next = |now: f64, violation: Option<f64>| {
            violation.map_or(now, |by| (1.0 / by).min(now * EXACT.magnification).max(1.0))
        };
        Self { bounds: next(self.bounds, primal), costs: next(self.costs, dual) }
    }
}

/// Returns the optimal basis in doubles of the programme around a vertex.
///
/// # Errors
/// [`LpError`] when HiGHS fails.
pub fn refined(model: &Model, vertex: &Vertex<'_>, by: Magnification) -> Result<Basis, LpError> {
    let n_rows = model.rows.len();
    let mut float = FloatLp::new(&vec![(0.0, 0.0); n_rows])?;
    let reduced = model.reduced_costs(vertex.y());
    let mut block = ColumnBlock::default();
    for ((column, x), cost) in model.columns.iter().zip(vertex.x()).zip(&reduced) {
        let (lower, upper) = around(&column.bounds, x, by.bounds);
        let entries = column.entries.iter().map(|(row, value)| (*row, value.to_f64()));
        // [`FloatLp`] maximises.
        block.push_between(-cost.to_f64() * by.costs, lower, upper, entries)?;
    }
    for (row, (activity, price)) in vertex.activities().iter().zip(vertex.y()).enumerate() {
        let (lower, upper) = around(&model.rows[row].bounds, activity, by.bounds);
        block.push_between(-price.to_f64() * by.costs, lower, upper, [(row, -1.0)])?;
    }
    float.add_columns(&block)?;
    let Basis { mut columns, rows } = vertex.basis();
    columns.extend(rows);
    float.set_basis(&Basis { columns, rows: vec![BasisStatus::Lower; n_rows] })?;
    float.solve_again()?;
    let mut basis = float.basis()?;
    let rows = basis.columns.split_off(model.columns.len());
    Ok(Basis { columns: basis.columns, rows })
}

/// Returns the bounds of the difference from a value, multiplied by `factor`.
fn around(bounds: &Bounds, value: &Rational, factor: f64) -> (f64, f64) {
    let difference = |bound: &Rational| Rational::from(bound - value).to_f64() * factor;
    (
        bounds.lower.as_ref().map_or(f64::NEG_INFINITY, difference),
        bounds.upper.as_ref().map_or(f64::INFINITY, difference),
    )
}

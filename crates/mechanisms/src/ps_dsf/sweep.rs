//! Sweeps over the server classes: each class is water-filled anew in turn, given what its users have on the
//! others (Gauss-Seidel; docs/theory.md, section 4). A point that a sweep does not change is PS-DSF. Sweeps often
//! converge, slowly on large problems, and sometimes go round in circles.

use super::pairs::{PairModel, Point};
use super::residual::residual;
use super::scalar::Scalar;
use super::water_filling::fill;

/// Where sweeps ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Swept {
    /// The last point.
    pub point: Point<f64>,
    /// Its residual.
    pub residual: f64,
    /// Sweeps.
    pub sweeps: usize,
}

/// One sweep over all classes in `order`; by row, the level at which it ran out, if it did.
pub fn sweep<T: Scalar>(model: &PairModel<T>, order: &[usize], point: &mut Point<T>) -> Vec<Option<T>> {
    let mut levels = vec![None; model.capacity.len()];
    for class in order {
        let found = fill(model, *class, point);
        levels[model.rows_of_class[*class].clone()].clone_from_slice(&found);
    }
    model.refresh_totals(point);
    levels
}

/// Change of a number of tasks, relative to the user's total, that is rounding.
const STILL: f64 = 1e-14;

/// At most `most` sweeps over all classes in `order` from `point` until the residual is within
/// `tolerance`, or until they come back to a point where they were before, which solves nothing.
pub fn sweeps(
    model: &PairModel<f64>,
    order: &[usize],
    point: Point<f64>,
    tolerance: f64,
    most: usize,
) -> Swept {
    let first = residual(model, &point);
    let mut swept = Swept { point, residual: first, sweeps: 0 };
    // A point of the past, replaced after ever longer times, finds any cycle (Brent).
    let mut past = swept.point.clone();
    let mut age = 0;
    let mut patience = 64;
    while swept.residual > tolerance && swept.sweeps < most {
        sweep(model, order, &mut swept.point);
        swept.sweeps += 1;
        swept.residual = residual(model, &swept.point);
        age += 1;
        let Point { tasks, totals } = &swept.point;
        let moves = |p: usize| (tasks[p] - past.tasks[p]).abs() > STILL * totals[model.pairs[p].user];
        if !(0..tasks.len()).any(moves) {
            break;
        }
        if age >= patience {
            past = swept.point.clone();
            age = 0;
            patience *= 2;
        }
    }
    swept
}

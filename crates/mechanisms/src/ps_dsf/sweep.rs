//! Sweeps over the classes: each is filled anew in turn, given what its users have elsewhere.

use super::market::{Market, Point};
use super::residual::residual;
use super::scalar::Scalar;
use super::water_filling::fill;

/// Why sweeps ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// The residual is within the tolerance.
    Solved,
    /// They came back to a point where they were before, which solves nothing.
    Cycle,
    /// The most sweeps.
    Limit,
}

/// Where sweeps ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Swept {
    /// The last point.
    pub point: Point<f64>,
    /// Its residual.
    pub residual: f64,
    /// Sweeps.
    pub sweeps: usize,
    /// Why they ended.
    pub end: End,
}

/// One sweep over all classes in `order`.
pub fn sweep<T: Scalar>(market: &Market<T>, order: &[usize], point: &mut Point<T>) {
    for class in order {
        fill(market, *class, point);
    }
    market.refresh_totals(point);
}

/// One sweep; by row, the level at which it ran out, if it did.
pub fn sweep_to_levels(market: &Market<f64>, order: &[usize], point: &mut Point<f64>) -> Vec<Option<f64>> {
    let mut levels = vec![None; market.capacity.len()];
    for class in order {
        let found = fill(market, *class, point);
        levels[market.rows_of_class[*class].clone()].clone_from_slice(&found);
    }
    market.refresh_totals(point);
    levels
}

/// Change of a number of tasks, relative to the user's total, that is rounding.
const STILL: f64 = 1e-14;

/// At most `most` sweeps over all classes in `order` from `point` until the residual is within
/// `tolerance`.
pub fn sweeps(
    market: &Market<f64>,
    order: &[usize],
    point: Point<f64>,
    tolerance: f64,
    most: usize,
) -> Swept {
    repeat(market, point, tolerance, most, |point| sweep(market, order, point))
}

/// [`sweeps`], each of which is what `once` does to a point.
pub fn repeat(
    market: &Market<f64>,
    point: Point<f64>,
    tolerance: f64,
    most: usize,
    mut once: impl FnMut(&mut Point<f64>),
) -> Swept {
    let first = residual(market, &point);
    let mut swept = Swept { point, residual: first, sweeps: 0, end: End::Solved };
    // A point of the past, replaced after ever longer times, finds any cycle (Brent).
    let mut past = swept.point.clone();
    let mut age = 0;
    let mut patience = 64;
    while swept.residual > tolerance {
        if swept.sweeps >= most {
            swept.end = End::Limit;
            return swept;
        }
        once(&mut swept.point);
        swept.sweeps += 1;
        swept.residual = residual(market, &swept.point);
        age += 1;
        let Point { tasks, totals } = &swept.point;
        let moves = |p: usize| (tasks[p] - past.tasks[p]).abs() > STILL * totals[market.places[p].user];
        if swept.residual > tolerance && !(0..tasks.len()).any(moves) {
            swept.end = End::Cycle;
            return swept;
        }
        if age >= patience {
            past = swept.point.clone();
            age = 0;
            patience *= 2;
        }
    }
    swept
}

//! Sweeps over the classes: each is filled anew in turn, given what its users have elsewhere.

use super::jump::jump;
use super::market::{Market, Point};
use super::regime::{Reading, Regime, Rows};
use super::residual::residual;
use super::scalar::Scalar;
use super::water_filling::fill;

/// How sweeps proceed and end.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sweeps {
    /// Residual at which the point counts as solved.
    pub tolerance: f64,
    /// Most sweeps.
    pub most: usize,
    /// Whether to jump to the solution of a regime that has settled.
    pub jumps: bool,
    /// Part of the way to the filled class that a point goes; 1 but for damped sweeps.
    pub part: f64,
}

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

/// What counts as nothing when a regime is compared with the one before.
const READING: Reading = Reading { nothing: 1e-7, rows: Rows::Needed, small_classes: false };
/// Sweeps through which a regime must stay what it is.
const SETTLED: usize = 6;
/// Change of a number of tasks, relative to the user's total, that is rounding.
const STILL: f64 = 1e-14;

/// Sweeps from `point` until the residual is within the tolerance.
pub fn sweeps(market: &Market<f64>, order: &[usize], point: Point<f64>, how: &Sweeps) -> Swept {
    let first = residual(market, &point);
    let mut swept = Swept { point, residual: first, sweeps: 0, end: End::Solved };
    let mut regime: Option<Regime> = None;
    let mut unchanged = 0;
    let mut wait = SETTLED;
    // A point of the past, replaced after ever longer times, finds any cycle (Brent).
    let mut past = swept.point.clone();
    let mut age = 0;
    let mut patience = 64;
    while swept.residual > how.tolerance {
        if swept.sweeps >= how.most {
            swept.end = End::Limit;
            return swept;
        }
        if how.part < 1.0 {
            order.iter().for_each(|class| fill_partly(market, *class, &mut swept.point, how.part));
            market.refresh_totals(&mut swept.point);
        } else {
            sweep(market, order, &mut swept.point);
        }
        swept.sweeps += 1;
        swept.residual = residual(market, &swept.point);
        age += 1;
        let Point { tasks, totals } = &swept.point;
        let moves = |p: usize| (tasks[p] - past.tasks[p]).abs() > STILL * totals[market.places[p].user];
        if swept.residual > how.tolerance && !(0..tasks.len()).any(moves) {
            swept.end = End::Cycle;
            return swept;
        }
        if age >= patience {
            past = swept.point.clone();
            age = 0;
            patience *= 2;
        }
        if !how.jumps {
            continue;
        }
        let now = Regime::read(market, &swept.point, READING).ok();
        unchanged = if now.is_some() && now == regime { unchanged + 1 } else { 0 };
        regime = now;
        if unchanged >= wait {
            unchanged = 0;
            wait *= 2;
            if let Some((_, landed)) = jump(market, &swept.point, READING) {
                let reached = residual(market, &landed);
                if reached <= how.tolerance {
                    swept.point = landed;
                    swept.residual = reached;
                }
            }
        }
    }
    swept
}

/// [`fill`], but only the given part of the way from where `point` is.
fn fill_partly(market: &Market<f64>, class: usize, point: &mut Point<f64>, part: f64) {
    let before: Vec<f64> = market.of_class[class].clone().map(|p| point.tasks[p]).collect();
    fill(market, class, point);
    for (p, before) in market.of_class[class].clone().zip(before) {
        let change = (1.0 - part) * (before - point.tasks[p]);
        point.tasks[p] += change;
        point.totals[market.places[p].user] += change;
    }
}

//! Sweeps over the classes: each is filled anew in turn, given what its users have elsewhere.
//!
//! The answer of `ps-dsf` is the limit of these sweeps from an empty cluster, in the order of the
//! problem file or of the caller. Theorem 1 has several solutions in general, not even with the same
//! totals, so that the order is a part of the definition.

use super::filling::fill;
use super::jump::jump;
use super::market::{Market, Point};
use super::regime::{Reading, Regime, Rows};
use super::residual::residual;
use super::scalar::Scalar;

/// When sweeps end.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settings {
    /// Residual at which the point counts as solved.
    pub tolerance: f64,
    /// Most sweeps.
    pub sweeps: usize,
    /// Whether to jump to the solution of a regime that has settled.
    pub jumps: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self { tolerance: 1e-12, sweeps: 100_000, jumps: true }
    }
}

/// Where sweeps ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Limit {
    /// The last point.
    pub point: Point<f64>,
    /// Its residual.
    pub residual: f64,
    /// Sweeps.
    pub sweeps: usize,
}

/// One sweep over all classes in `order`.
pub fn sweep<T: Scalar>(market: &Market<T>, order: &[usize], point: &mut Point<T>) {
    for class in order {
        fill(market, *class, point);
    }
    market.refresh_totals(point);
}

/// What counts as nothing when a regime is compared with the one before.
const READING: Reading = Reading { nothing: 1e-7, rows: Rows::Needed };
/// Sweeps through which a regime must stay what it is.
const SETTLED: usize = 6;
/// Sweeps without any change, relative to the totals, after which nothing more is to come.
const STILL: f64 = 1e-15;

/// Sweeps from `point` until the residual is within the tolerance.
pub fn sweeps(market: &Market<f64>, order: &[usize], point: Point<f64>, settings: &Settings) -> Limit {
    let mut limit = Limit { residual: residual(market, &point), point, sweeps: 0 };
    let mut regime: Option<Regime> = None;
    let mut unchanged = 0;
    let mut wait = SETTLED;
    while limit.residual > settings.tolerance && limit.sweeps < settings.sweeps {
        let before = limit.point.tasks.clone();
        sweep(market, order, &mut limit.point);
        limit.sweeps += 1;
        limit.residual = residual(market, &limit.point);
        let Point { tasks, totals } = &limit.point;
        let moves = |p: usize| (tasks[p] - before[p]).abs() > STILL * totals[market.places[p].user];
        if !(0..tasks.len()).any(moves) {
            break;
        }
        if !settings.jumps {
            continue;
        }
        let now = Regime::read(market, &limit.point, READING).ok();
        unchanged = if now.is_some() && now == regime { unchanged + 1 } else { 0 };
        regime = now;
        if unchanged >= wait {
            unchanged = 0;
            if let Some((_, landed)) = jump(market, &limit.point, READING) {
                let reached = residual(market, &landed);
                if reached <= settings.tolerance {
                    limit.point = landed;
                    limit.residual = reached;
                    break;
                }
            }
            wait *= 2;
        }
    }
    limit
}

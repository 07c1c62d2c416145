//! Sweeps that jump to the solution of a regime that has settled.

use super::super::sweep::{Swept, repeat, sweep};
use super::jump::jump;
use super::market::{Market, Point};
use super::regime::{Reading, Regime, Rows};
use super::residual::residual;

/// What counts as nothing when a regime is compared with the one before.
const READING: Reading = Reading { nothing: 1e-7, rows: Rows::Needed, small_classes: false };
/// Sweeps through which a regime must stay what it is.
const SETTLED: usize = 6;

/// At most `most` sweeps from `point` until the residual is within `tolerance`, and jumps between them.
pub fn sweeps(
    market: &Market<f64>,
    order: &[usize],
    point: Point<f64>,
    tolerance: f64,
    most: usize,
) -> Swept {
    let mut regime: Option<Regime> = None;
    let mut unchanged = 0;
    let mut wait = SETTLED;
    repeat(market, point, tolerance, most, |point| {
        sweep(market, order, point);
        let now = Regime::read(market, point, READING).ok();
        unchanged = if now.is_some() && now == regime { unchanged + 1 } else { 0 };
        regime = now;
        if unchanged >= wait {
            unchanged = 0;
            wait *= 2;
            if let Some((_, landed)) = jump(market, point, READING)
                && residual(market, &landed) <= tolerance
            {
                *point = landed;
            }
        }
    })
}

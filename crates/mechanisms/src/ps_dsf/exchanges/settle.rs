//! From a point of the sweeps to a solution nearby: exchanges from its regime, and sweeps in turns.

use super::super::sweep::sweep;
use super::market::{Market, Point};
use super::pivot::exchange;
use super::regime::{Reading, Regime, Rows};
use super::residual::residual;

/// What counts as nothing when a regime is read, in turns.
const NOTHING: [f64; 3] = [1e-4, 1e-7, 1e-2];
/// Most exchanges in one go.
const EXCHANGES: usize = 40;
/// Sweeps after exchanges; after such that were worth nothing they become more.
const SWEEPS: usize = 2;
/// Most sweeps between exchanges.
const MOST_SWEEPS: usize = 20;

/// What was found.
#[derive(Debug, Clone)]
pub struct Settled {
    /// The point.
    pub point: Point<f64>,
    /// Its residual.
    pub residual: f64,
    /// Sweeps.
    pub sweeps: usize,
    /// Regimes that were solved.
    pub solves: usize,
}

/// Exchanges and sweeps from `point` until the residual is within `tolerance`, with at most about
/// `most` sweeps. Exchanges count that leave at most the part `worth` of the residual; others are
/// undone, so that with a small one the sweeps go where they would go without.
pub fn settle(
    market: &Market<f64>,
    order: &[usize],
    point: Point<f64>,
    (tolerance, worth): (f64, f64),
    most: usize,
) -> Settled {
    let mut now = Settled { residual: residual(market, &point), point, sweeps: 0, solves: 0 };
    let mut patience = SWEEPS;
    let mut vain = 0;
    while now.residual > tolerance && now.sweeps < most {
        let mut better = None;
        let reading =
            Reading { nothing: NOTHING[vain % NOTHING.len()], rows: Rows::Needed, small_classes: false };
        if let Ok(regime) = Regime::read(market, &now.point, reading) {
            let from = (&now.point, now.residual);
            better = exchange(market, from, regime, (tolerance, EXCHANGES), &mut now.solves);
        }
        if let Some(reached) = better.as_mut().filter(|reached| reached.residual > tolerance) {
            (0..SWEEPS).for_each(|_| sweep(market, order, &mut reached.point));
            now.sweeps += SWEEPS;
            reached.residual = residual(market, &reached.point);
        }
        if let Some(reached) = better.filter(|reached| reached.residual <= worth * now.residual) {
            (now.point, now.residual) = (reached.point, reached.residual);
            patience = SWEEPS;
        } else {
            (0..patience).for_each(|_| sweep(market, order, &mut now.point));
            now.sweeps += patience;
            now.residual = residual(market, &now.point);
            vain += 1;
            patience = (patience + SWEEPS).min(MOST_SWEEPS);
        }
    }
    now
}

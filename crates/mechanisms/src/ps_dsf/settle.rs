//! From a point of the sweeps to a solution nearby: jumps to the solution of its regime, corrected,
//! and sweeps in turns.

use super::jump::{clamped, solve_signed};
use super::market::{Market, Point};
use super::regime::{Reading, Regime, Rows};
use super::residual::residual;
use super::sweep::sweep;

/// What counts as nothing when a regime is read, in the order of trial.
const NOTHING: [f64; 3] = [1e-2, 1e-4, 1e-7];
/// Corrections of a regime whose solution has negative tasks.
const CORRECTIONS: usize = 30;
/// Relative size of negative tasks that are rounding.
const ROUNDING: f64 = 1e-11;
/// Part of the residual that a jump must leave at most.
const WORTH: f64 = 0.3;
/// Sweeps after a jump.
const SWEEPS: usize = 2;

/// What was found.
#[derive(Debug, Clone)]
pub struct Settled {
    /// The point.
    pub point: Point<f64>,
    /// Its residual.
    pub residual: f64,
    /// Sweeps.
    pub sweeps: usize,
    /// Jumps.
    pub jumps: usize,
}

/// Jumps and sweeps from `point` until the residual is within `tolerance`, at most `rounds` times.
pub fn settle(
    market: &Market<f64>,
    order: &[usize],
    point: Point<f64>,
    tolerance: f64,
    rounds: usize,
) -> Settled {
    let mut now = Settled { residual: residual(market, &point), point, sweeps: 0, jumps: 0 };
    let mut patience = SWEEPS;
    for _ in 0..rounds {
        let mut best: Option<(f64, Point<f64>)> = None;
        for nothing in NOTHING {
            let Ok(regime) = Regime::read(market, &now.point, Reading { nothing, rows: Rows::Needed }) else {
                continue;
            };
            let Some(landed) = corrected(market, &now.point, regime, &mut now.jumps) else { continue };
            let mut landed = clamped(market, landed);
            let mut reached = residual(market, &landed);
            if reached > tolerance {
                (0..SWEEPS).for_each(|_| sweep(market, order, &mut landed));
                now.sweeps += SWEEPS;
                reached = residual(market, &landed);
            }
            if best.as_ref().is_none_or(|(least, _)| reached < *least) {
                best = Some((reached, landed));
            }
            if reached <= tolerance {
                break;
            }
        }
        match best {
            Some((reached, landed)) if reached < WORTH * now.residual => {
                (now.point, now.residual) = (landed, reached);
                patience = SWEEPS;
            }
            _ => {
                (0..patience).for_each(|_| sweep(market, order, &mut now.point));
                now.sweeps += patience;
                now.residual = residual(market, &now.point);
                patience = (patience * 2).min(32);
            }
        }
        if now.residual <= tolerance {
            break;
        }
    }
    now
}

/// The solution of the regime, without the places at which it has negative tasks.
fn corrected(
    market: &Market<f64>,
    point: &Point<f64>,
    mut regime: Regime,
    jumps: &mut usize,
) -> Option<Point<f64>> {
    let mut last = None;
    for _ in 0..CORRECTIONS {
        *jumps += 1;
        let Some(landed) = solve_signed(market, point, &regime, true) else { break };
        let mut removed = false;
        for (user, places) in regime.support.iter_mut().enumerate() {
            if regime.satisfied[user] || places.len() < 2 {
                continue;
            }
            let scale = point.totals[user];
            let is_negative = |p: &usize| landed.tasks[*p] < -ROUNDING * scale;
            if !places.iter().any(is_negative) {
                continue;
            }
            let worst = places.iter().copied().min_by(|a, b| landed.tasks[*a].total_cmp(&landed.tasks[*b]));
            places.retain(|p| Some(*p) != worst);
            worst.into_iter().for_each(|p| regime.bottleneck[p] = None);
            removed = true;
        }
        last = Some(landed);
        if !removed {
            break;
        }
    }
    last
}

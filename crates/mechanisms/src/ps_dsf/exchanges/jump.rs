//! From a point to the solution of its regime, in floating point.

use super::market::{Market, Point};
use super::regime::{Reading, Regime};
use super::sparse;
use super::system::Unknown;

/// Relative size of negative tasks that are rounding.
const ROUNDING: f64 = 1e-11;
/// More unknowns cost too much.
const MOST_UNKNOWNS: usize = 1000;

/// The solution of the regime at `point`, if it has one without negative tasks.
pub fn jump(market: &Market<f64>, point: &Point<f64>, reading: Reading) -> Option<(Regime, Point<f64>)> {
    let regime = Regime::read(market, point, reading).ok()?;
    let landed = solve(market, point, &regime)?;
    Some((regime, landed))
}

/// The only solution of `regime`.
fn solve(market: &Market<f64>, point: &Point<f64>, regime: &Regime) -> Option<Point<f64>> {
    let mut landed = solve_signed(market, point, regime, false)?;
    for (user, places) in market.of_user.iter().enumerate() {
        for &p in places {
            if landed.tasks[p] < -ROUNDING * landed.totals[user] {
                return None;
            }
            landed.tasks[p] = landed.tasks[p].max(0.0);
        }
    }
    market.refresh_totals(&mut landed);
    Some(landed)
}

/// The point without negative tasks.
pub fn clamped(market: &Market<f64>, mut point: Point<f64>) -> Point<f64> {
    point.tasks.iter_mut().for_each(|tasks| *tasks = tasks.max(0.0));
    market.refresh_totals(&mut point);
    point
}

/// [`solve`], negative tasks included. With `forest` the tasks stay where they are that
/// [`Regime::forest`] leaves out.
pub fn solve_signed(
    market: &Market<f64>,
    point: &Point<f64>,
    regime: &Regime,
    forest: bool,
) -> Option<Point<f64>> {
    let system = regime.system(market);
    let unknowns = system.unknowns.clone();
    // Unknowns in units of what they are, so that all are about 1, and as differences from it.
    let mut values: Vec<f64> = unknowns.iter().map(|u| u.value(market, regime, point)).collect();
    let keep = if forest { regime.forest(market, point, &unknowns) } else { vec![true; unknowns.len()] };
    let (system, kept) = system.pinned(&keep, &values);
    let n = kept.len();
    if n > MOST_UNKNOWNS {
        return None;
    }
    let unit: Vec<f64> = (kept.iter())
        .map(|k| match unknowns[*k] {
            Unknown::Tasks(p) => point.totals[market.places[p].user],
            Unknown::Level(_) => values[*k],
        })
        .collect();
    let mut rows = Vec::with_capacity(system.rows.len());
    for (entries, rhs) in &system.rows {
        let known: f64 = entries.iter().map(|(k, value)| value * values[kept[*k]]).sum();
        rows.push((entries.iter().map(|(k, value)| (*k, value * unit[*k])).collect(), rhs - known));
    }
    let change = sparse::solve(rows, n, forest)?;
    for ((k, change), unit) in kept.iter().zip(&change).zip(&unit) {
        values[*k] += change * unit;
    }
    Some(regime.point(market, &unknowns, &values)).filter(|p| p.tasks.iter().all(|x| x.is_finite()))
}

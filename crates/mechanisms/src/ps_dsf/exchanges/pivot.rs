//! From the regime of a point to one that solves the problem, by exchanging what it violates.
//!
//! The solution of a regime tells what is wrong with it: negative tasks (their places leave), users
//! with more than all their tasks, rows that are overfilled, places where a user is above the level
//! of the row (they leave), and places where it could have more (the worst one enters). Levels that
//! users tie together are a forest; a place that would close a cycle pushes out the one whose tasks
//! first become 0, as in the simplex method for networks.

use super::jump::{clamped, solve_signed};
use super::market::{Market, Point};
use super::regime::Regime;
use super::residual::residual;
use super::system::Unknown;
use super::violations::{Here, ROUNDING};

/// Part of its tasks by which a user moves to a new place to see what that pushes out.
const PROBE: f64 = 1e-3;
/// Growth of the residual that counts as going astray, and how often that may be.
const ASTRAY: (f64, usize) = (4.0, 5);

/// The best point that was found.
#[derive(Debug, Clone)]
pub struct Reached {
    /// The point.
    pub point: Point<f64>,
    /// Its residual.
    pub residual: f64,
}

/// Exchanges from `regime`, read at `start` with residual `first`, at most `most` times or until the
/// residual is within `tolerance`; `solves` counts the regimes that were solved.
pub fn exchange(
    market: &Market<f64>,
    (start, first): (&Point<f64>, f64),
    mut regime: Regime,
    (tolerance, most): (f64, usize),
    solves: &mut usize,
) -> Option<Reached> {
    let mut point = start.clone();
    let mut best: Option<Reached> = None;
    let mut astray = 0;
    for _ in 0..most {
        regime.rows = regime.bottleneck.iter().flatten().copied().collect();
        regime.rows.sort_unstable();
        regime.rows.dedup();
        let pinned = pinned(market, &point, &regime);
        *solves += 1;
        let Some(landed) = solve_signed(market, &point, &regime, true) else { break };
        if negative_leave(&mut regime, &landed, &point) {
            continue;
        }
        let landed = clamped(market, landed);
        let reached = residual(market, &landed);
        point.clone_from(&landed);
        if best.as_ref().is_none_or(|best| reached < best.residual) {
            best = Some(Reached { point: landed.clone(), residual: reached });
        }
        astray += usize::from(reached > ASTRAY.0 * first);
        if reached <= tolerance || astray >= ASTRAY.1 {
            break;
        }
        let here = Here::new(market, &landed, &regime, pinned.clone());
        let changed = here.satisfied(&mut regime);
        let changed = here.other_bottlenecks(&mut regime) | changed;
        let changed = here.unsatisfied(&mut regime) | changed;
        if here.overfilled(&mut regime) | changed {
            continue;
        }
        let Some((p, row)) = here.wanted(&regime) else { break };
        if !pinned[p] {
            regime.support[market.places[p].user].push(p);
        }
        if !enter(market, &landed, &mut regime, &mut point, (p, row), solves) {
            break;
        }
    }
    best
}

/// By place: whether [`Regime::forest`] leaves its tasks where they are, of users that lack tasks.
fn pinned(market: &Market<f64>, point: &Point<f64>, regime: &Regime) -> Vec<bool> {
    let unknowns = regime.unknowns();
    let keep = regime.forest(market, point, &unknowns);
    let mut pinned = vec![false; market.places.len()];
    for (unknown, keep) in unknowns.iter().zip(keep) {
        if let Unknown::Tasks(p) = unknown {
            pinned[*p] = !keep && !regime.satisfied[market.places[*p].user];
        }
    }
    pinned
}

/// The worst negative place of every user leaves, if there is one.
fn negative_leave(regime: &mut Regime, landed: &Point<f64>, point: &Point<f64>) -> bool {
    let mut left = false;
    for (user, places) in regime.support.iter_mut().enumerate().filter(|(_, places)| places.len() > 1) {
        let scale = landed.totals[user].abs().max(point.totals[user]);
        let worst = places.iter().copied().min_by(|a, b| landed.tasks[*a].total_cmp(&landed.tasks[*b]));
        let Some(worst) = worst.filter(|p| landed.tasks[*p] < -ROUNDING * scale) else { continue };
        places.retain(|p| *p != worst);
        regime.bottleneck[worst] = None;
        left = true;
    }
    left
}

/// Place `p` of the support is blocked by `row` from now on; what closes a cycle pushes another
/// place out, and `point` goes there. False when nothing can be pushed out.
fn enter(
    market: &Market<f64>,
    landed: &Point<f64>,
    regime: &mut Regime,
    point: &mut Point<f64>,
    (p, row): (usize, usize),
    solves: &mut usize,
) -> bool {
    let user = market.places[p].user;
    regime.bottleneck[p] = Some(row);
    if regime.rows.binary_search(&row).is_err() {
        regime.rows.push(row);
        regime.rows.sort_unstable();
    }
    if !pinned(market, landed, regime)[p] {
        return true;
    }
    let mut moved = landed.clone();
    moved.tasks[p] += PROBE * landed.totals[user];
    *solves += 1;
    let Some(probe) = solve_signed(market, &moved, regime, true) else { return false };
    let mut first = (f64::INFINITY, None);
    for (user, places) in regime.support.iter().enumerate() {
        if regime.satisfied[user] || places.len() < 2 {
            continue;
        }
        for &q in places.iter().filter(|q| **q != p) {
            let fall = landed.tasks[q] - probe.tasks[q];
            if fall > 1e-13 * landed.totals[user] && landed.tasks[q] / fall < first.0 {
                first = (landed.tasks[q] / fall, Some(q));
            }
        }
    }
    let (part, Some(out)) = first else { return false };
    for (tasks, there) in point.tasks.iter_mut().zip(&probe.tasks) {
        *tasks += part * (there - *tasks);
    }
    point.tasks[out] = 0.0;
    *point = clamped(market, point.clone());
    regime.support[market.places[out].user].retain(|q| *q != out);
    regime.bottleneck[out] = None;
    true
}

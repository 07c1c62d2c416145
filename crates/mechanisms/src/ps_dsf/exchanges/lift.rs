//! From a limit in floating point to an exact PS-DSF allocation.
//!
//! The regime of the limit is a rational linear system. What it leaves free (the placement of users
//! that have all their tasks, a continuum of solutions) takes the simplest rational near the limit; where
//! that does not fit, a linear programme over the supports decides.
//! Theorem 1 is decided exactly for every candidate; one that does not pass is not returned.

use evenhand_problem::Rational;

use super::market::{Market, Point};
use super::regime::{Reading, Regime, Rows};
use super::rounding::{simplest_near, solve_rows};
use super::{supports, theorem};

/// What counts as nothing, in the order in which it is tried.
const NOTHING: [f64; 7] = [1e-8, 1e-10, 1e-7, 1e-6, 1e-12, 1e-5, 1e-4];
/// Most unknowns of a system that has more of them than its rows need.
const MOST_UNKNOWNS: usize = 300;

/// Regimes for which a linear programme is tried where the equations do not suffice.
const MOST_PROGRAMMES: usize = 8;
/// Reasons that are told.
const MOST_REASONS: usize = 5;

/// An exact PS-DSF allocation.
#[derive(Debug, Clone)]
pub struct Lifted {
    /// The tasks.
    pub point: Point<Rational>,
    /// By place: the bottleneck of its user; `None` for users that have all their tasks.
    pub bottlenecks: Vec<Option<usize>>,
}

/// An exact PS-DSF allocation in the regime of `limit`.
///
/// # Errors
/// What was tried and why it failed, in words.
pub fn lift(market: &Market<f64>, exact: &Market<Rational>, limit: &Point<f64>) -> Result<Lifted, String> {
    let mut reasons: Vec<String> = Vec::new();
    let mut note = |reason: String| {
        if !reasons.contains(&reason) {
            reasons.push(reason);
        }
    };
    let mut tried: Vec<Regime> = Vec::new();
    for (small_classes, nothing) in
        [false, true].into_iter().flat_map(|s| NOTHING.map(|nothing| (s, nothing)))
    {
        for rows in [Rows::Needed, Rows::Full, Rows::Touching] {
            let regime = match Regime::read(market, limit, Reading { nothing, rows, small_classes }) {
                Ok(regime) => regime,
                Err(p) => {
                    note(format!("nothing is full where user {} runs", market.places[p].user + 1));
                    continue;
                }
            };
            if tried.contains(&regime) {
                continue;
            }
            for forest in [true, false] {
                match solve(market, exact, limit, &regime, forest) {
                    Ok(lifted) => return Ok(lifted),
                    Err(reason) => note(reason),
                }
            }
            tried.push(regime);
        }
    }
    for regime in tried.iter().take(MOST_PROGRAMMES) {
        let found = supports::solve(market, exact, limit, regime)
            .and_then(|point| theorem::bottlenecks(exact, &point).map(|bottlenecks| (point, bottlenecks)));
        match found {
            Ok((point, bottlenecks)) => return Ok(Lifted { point, bottlenecks }),
            Err(reason) => note(reason),
        }
    }
    reasons.truncate(MOST_REASONS);
    Err(format!(
        "none of {} regimes near the limit has an exact solution that satisfies Theorem 1: {}",
        tried.len(),
        reasons.join("; ")
    ))
}

/// The exact solution of a regime.
///
/// # Errors
/// Which condition of Theorem 1 it does not satisfy, in words.
fn solve(
    market: &Market<f64>,
    exact: &Market<Rational>,
    limit: &Point<f64>,
    regime: &Regime,
    forest: bool,
) -> Result<Lifted, String> {
    let system = regime.system(exact);
    let unknowns = system.unknowns.clone();
    let mut values: Vec<Rational> =
        unknowns.iter().map(|unknown| simplest_near(unknown.value(market, regime, limit))).collect();
    let keep = if forest { regime.forest(market, limit, &unknowns) } else { vec![true; unknowns.len()] };
    let (system, kept) = system.pinned(&keep, &values);
    if !forest && kept.len() > MOST_UNKNOWNS {
        return Err("there are too many users that might be split".to_owned());
    }
    let mut some: Vec<Rational> = kept.iter().map(|k| values[*k].clone()).collect();
    solve_rows(system.rows, &mut some);
    kept.into_iter().zip(some).for_each(|(k, value)| values[k] = value);
    let point = regime.point(exact, &unknowns, &values);
    let bottlenecks = theorem::bottlenecks(exact, &point)?;
    Ok(Lifted { point, bottlenecks })
}

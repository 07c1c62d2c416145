//! From a limit in floating point to an exact PS-DSF allocation.
//!
//! The regime of the limit is a rational linear system. What it leaves free (the placement of users
//! that have all their tasks, a continuum of solutions) takes the simplest rational near the limit; where
//! that does not fit, a linear programme over the supports decides.
//! Theorem 1 is decided exactly for every candidate; one that does not pass is not returned.

use evenhand_exact::linear::{Lu, SparseRow};
use evenhand_problem::Rational;

use super::market::{Market, Point};
use super::regime::{Reading, Regime, Rows};
use super::{supports, theorem};

/// What counts as nothing, in the order in which it is tried.
const NOTHING: [f64; 7] = [1e-8, 1e-10, 1e-7, 1e-6, 1e-12, 1e-5, 1e-4];
/// Relative distance of a free number from the limit.
const NEAR: f64 = 1e-9;

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

/// Solves the equations in `values`, whose entries stay where the equations leave them free. Equations
/// that depend on others are left out: whether they hold is for the caller to check.
fn solve_rows(rows: Vec<(SparseRow, Rational)>, values: &mut [Rational]) {
    let mut kept: Vec<(SparseRow, Rational)> =
        rows.into_iter().filter(|(entries, _)| entries.iter().any(|(_, value)| *value != 0)).collect();
    loop {
        let matrix = kept.iter().map(|(entries, _)| entries.clone()).collect();
        match Lu::factor(matrix, values.len()) {
            Ok(lu) => {
                let rhs = kept.into_iter().map(|(_, rhs)| rhs).collect();
                return lu.solve(rhs, values);
            }
            Err(singular) => {
                kept.remove(singular.row);
            }
        }
    }
}

/// The rational with the least denominator within [`NEAR`] of a double, relative to it.
pub fn simplest_near(value: f64) -> Rational {
    let centre = Rational::from_f64(value).unwrap_or_default();
    if centre <= 0 {
        return Rational::new();
    }
    let width = Rational::from_f64(value * NEAR).unwrap_or_default();
    simplest_between(Rational::from(&centre - &width), Rational::from(&centre + &width))
}

/// The simplest rational between two positive ones, by their continued fractions.
fn simplest_between(mut low: Rational, mut high: Rational) -> Rational {
    let mut quotients = Vec::new();
    loop {
        let whole = low.clone().floor();
        if whole == low || Rational::from(&whole + 1) <= high {
            let last = if whole == low { whole } else { whole + 1 };
            return quotients.into_iter().rev().fold(last, |value, q: Rational| q + value.recip());
        }
        let (a, b) = (high - &whole, low - &whole);
        (low, high) = (a.recip(), b.recip());
        quotients.push(whole);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_simplest_rational() {
        for (p, q) in [(1, 3), (22, 7), (355, 113), (5, 1), (1, 1000), (83, 249)] {
            let value = Rational::from((p, q));
            assert_eq!(simplest_near(value.to_f64()), value);
        }
        assert_eq!(simplest_near(0.0), 0);
        assert_eq!(simplest_near(-1.0), 0);
        assert_eq!(
            simplest_between(Rational::from((3, 10)), Rational::from((4, 10))),
            Rational::from((1, 3))
        );
    }
}

//! Lexicographic max-min with limits on the accelerators of users (docs/theory.md, section 12).
//!
//! The programme of a round is the programme of [`lexicographic`](super::lexicographic) with an additional row
//! `sum_i x_ni / rate_ni <= at_most` for every user that has such a limit. The programme is stated as a whole, with a
//! row for the level of each user, because users that are otherwise identical may have different limits:
//!
//! ```text
//! max t   such that   the rows of the classes, of the limits and of the tasks hold,
//!                     sum_i u_ni x_ni >= w_n t               for every active user,
//!                     sum_i u_ni x_ni >= w_n (its level)     for every other user.
//! ```
//!
//! A user whose level row has a positive price is blocked at `t`. The prices of the active users' level rows sum to 1,
//! so each round blocks at least one active user.

use evenhand_exact::{LimitRows, PriceVector, ShareCoefficients};
use evenhand_lp::exact_lp::{ExactColumn, ExactLp, Sense, Variable};
use evenhand_lp::refine::{self, StartingPoint};
use evenhand_lp::settings::EXACT;
use evenhand_problem::{Constraints, Rational};

use super::{LevelDual, LexicographicOptimum};
use crate::error::LevelsError;
use crate::groups::{capacity_entries, limit_entries};

/// The column of the level `t`.
const LEVEL: usize = 0;

/// A user that takes part, and its rows in the programme.
struct Seat {
    user: usize,
    /// The row of the user's level.
    row: usize,
    /// The row of the user's tasks, if they are limited.
    task_row: Option<usize>,
    is_active: bool,
}

/// The programme of all rounds.
struct Programme {
    lp: ExactLp,
    /// For each column, roughly its largest value.
    units: Vec<f64>,
    /// `(user, class)` of each column after the column of the level.
    placements: Vec<(usize, usize)>,
    seats: Vec<Seat>,
    /// The number of capacity rows and limit rows.
    n_priced: usize,
}

/// Computes the weighted lexicographic max-min allocation within limits, in exact rationals, with a proof of each
/// level. In each proof, the prices of limits follow the prices of the capacity rows.
///
/// # Errors
/// [`LevelsError`] when no exactly optimal basis is found within the limit of pivots.
pub fn lexicographic_limited(
    constraints: &Constraints<'_>,
    coefficients: &ShareCoefficients,
    limits: &LimitRows,
) -> Result<LexicographicOptimum<Rational>, LevelsError> {
    let n_users = constraints.problem().n_users();
    let mut programme = Programme::new(constraints, coefficients, limits);
    let mut answer = LexicographicOptimum {
        tasks: vec![Vec::new(); n_users],
        duals: Vec::new(),
        rounds: 0,
        solves: 0,
        pivots: 0,
    };
    let (mut basis, mut point): (Vec<Variable>, Option<Vec<Rational>>) = (Vec::new(), None);
    while programme.seats.iter().any(|seat| seat.is_active) {
        let start = StartingPoint { point: point.as_deref(), basis: &basis };
        let optimum = refine::solve(&programme.lp, &programme.units, start, EXACT.max_pivots)?.optimum()?;
        answer.rounds += 1;
        answer.solves += 1;
        answer.pivots += optimum.pivots;
        let dual = programme.dual(&optimum.x[LEVEL], &optimum.y);
        if !programme.freeze(&dual) {
            return Err(LevelsError::NoProgress { round: answer.rounds });
        }
        answer.duals.push(dual);
        basis = optimum.basis;
        point = Some(optimum.x);
    }
    for (&(n, i), x) in programme.placements.iter().zip(point.iter().flat_map(|point| &point[1..])) {
        if !x.is_zero() {
            answer.tasks[n].push((i, x.clone()));
        }
    }
    Ok(answer)
}

impl Programme {
    fn new(constraints: &Constraints<'_>, coefficients: &ShareCoefficients, limits: &LimitRows) -> Self {
        let problem = constraints.problem();
        let mut lp = ExactLp::default();
        lp.rows.extend(constraints.rows().iter().map(|row| (Sense::AtMost, row.capacity.clone())));
        lp.rows.extend(limits.list().iter().map(|limit| (Sense::AtMost, limit.most.clone())));
        let n_priced = lp.rows.len();
        lp.columns.push(ExactColumn { cost: Rational::from(1), entries: Vec::new() });
        let (mut units, mut placements, mut seats) = (vec![0.0], Vec::new(), Vec::new());
        for n in (0..problem.n_users()).filter(|n| problem.is_active(*n)) {
            let has_worth = |i: &usize| !coefficients.of(n, *i).is_zero();
            let classes: Vec<usize> = problem.classes_of(n).filter(has_worth).collect();
            if classes.is_empty() {
                continue;
            }
            let user = &problem.users()[n];
            let row = lp.rows.len();
            lp.rows.push((Sense::AtLeast, Rational::new()));
            lp.columns[LEVEL].entries.push((row, Rational::from(-1)));
            let task_row = user.tasks().map(|tasks| {
                lp.rows.push((Sense::AtMost, tasks.clone()));
                row + 1
            });
            let mut most = 0.0;
            for i in classes {
                let worth = Rational::from(coefficients.of(n, i) / user.weight());
                let gamma = problem.gamma(n, i).to_f64();
                most += gamma * worth.to_f64();
                let mut entries = capacity_entries(constraints, n, i);
                entries.extend(limit_entries(constraints, limits, n, i));
                entries.push((row, worth));
                entries.extend(task_row.map(|row| (row, Rational::from(1))));
                lp.columns.push(ExactColumn { cost: Rational::new(), entries });
                placements.push((n, i));
                units.push(gamma.min(user.tasks().map_or(f64::INFINITY, Rational::to_f64)));
            }
            units[LEVEL] = f64::max(units[LEVEL], most);
            seats.push(Seat { user: n, row, task_row, is_active: true });
        }
        Self { lp, units, placements, seats, n_priced }
    }

    /// Returns the prices of a round.
    fn dual(&self, level: &Rational, y: &[Rational]) -> LevelDual {
        let rows = y[..self.n_priced].iter().enumerate().filter(|(_, price)| !price.is_zero());
        let mut prices = PriceVector {
            rows: rows.map(|(row, price)| (row, price.clone())).collect(),
            ..PriceVector::default()
        };
        for seat in &self.seats {
            // Rows `>=` of a maximisation have duals of at most 0.
            let weight = Rational::from(-&y[seat.row]);
            if !weight.is_zero() {
                prices.user_weights.push((seat.user, weight));
            }
            if let Some(price) = seat.task_row.map(|row| &y[row]).filter(|price| !price.is_zero()) {
                prices.users.push((seat.user, price.clone()));
            }
        }
        LevelDual { level: level.clone(), prices }
    }

    /// Fixes the levels of the active users that the prices block. Returns true if there are such users.
    fn freeze(&mut self, dual: &LevelDual) -> bool {
        let mut any = false;
        for seat in self.seats.iter_mut().filter(|seat| seat.is_active) {
            if dual.prices.weight(seat.user).is_zero() {
                continue;
            }
            seat.is_active = false;
            any = true;
            self.lp.rows[seat.row].1.clone_from(&dual.level);
            self.lp.columns[LEVEL].entries.retain(|(row, _)| *row != seat.row);
        }
        any
    }
}

//! Weighted lexicographic max-min: raise the common level of the users until some are blocked,
//! freeze those, and go on (THEORY, section 2).
//!
//! In every round the programme is
//!
//! ```text
//! max t   such that   sum_n x_ni d_nir <= k_i c_ir           for every capacity row,
//!                     sum_i u_ni x_ni >= w_n t               for every active user,
//!                     sum_i u_ni x_ni >= (a fixed level)     for every other user.
//! ```
//!
//! A user that has all its tasks before the level blocks anybody is *satisfied* and costs no round
//! of its own: with the satisfied users fixed, `t` is a lower bound of the next blocking level,
//! and adding those that this `t` satisfies is Newton's method on a concave function, which ends
//! after a few steps on the exact level.

mod data;
mod duals;
mod exact;
mod float;
mod inside;
mod integers;
mod interior;
mod interval;
mod keys;
mod known;
mod lift;
mod master;
mod part;
mod peel;
mod repair;
mod rise;
mod rounds;
mod search;
mod split;
mod start;

pub use interval::{LevelIntervals, Within, lexicographic_within};
pub use rise::{Rise, RiseBound, Rises};
pub use rounds::{LevelDual, LexicographicOptimum, Settings};

use evenhand_exact::ShareCoefficients;
use evenhand_problem::{Constraints, Rational};

use crate::error::LevelsError;
use data::LevelData;

/// The weighted lexicographic max-min allocation in exact rationals: `x_n` is unique; of the
/// placements that reach it, the vertex at which the method ends, the same one every time and with
/// any number of threads.
///
/// # Errors
/// [`LevelsError`] when no exactly optimal basis is found within the limits. An unverified answer is never
/// returned.
pub fn lexicographic(
    constraints: &Constraints<'_>,
    coefficients: &ShareCoefficients,
    settings: &Settings,
) -> Result<LexicographicOptimum<Rational>, LevelsError> {
    exact::run(&LevelData::new(constraints, coefficients), *settings)
}

/// `(class, tasks)` by user, ascending by class.
pub type TasksInDoubles = Vec<Vec<(usize, f64)>>;

/// What nearly proves the levels of [`lexicographic`], without it: the prices that doubles find, and what these prove exactly,
/// in short numbers. They are true whatever doubles found, and less sharp by rounding where that was right. An allocation that
/// may be the answer, by user, is where the search begins.
#[must_use]
pub fn lexicographic_duals_nearly(
    constraints: &Constraints<'_>,
    coefficients: &ShareCoefficients,
    settings: &Settings,
    known: Option<&TasksInDoubles>,
) -> Vec<LevelDual> {
    let mut data = LevelData::new(constraints, coefficients);
    if let Some(tasks) = known {
        data.know(tasks);
    }
    float::duals(&data, *settings)
}

/// [`lexicographic`] in double precision: nothing is proven. Where HiGHS fails, or what it gives is no
/// solution within 1e-7, the exact optimum is rounded.
///
/// # Errors
/// [`LevelsError`] when HiGHS fails or the rounds make no progress.
pub fn lexicographic_float(
    constraints: &Constraints<'_>,
    coefficients: &ShareCoefficients,
    settings: &Settings,
) -> Result<LexicographicOptimum<f64>, LevelsError> {
    let data = LevelData::new(constraints, coefficients);
    match float::run(&data, *settings) {
        Ok(optimum) if float::is_sound(&data, &optimum) => Ok(optimum),
        // Numbers too far apart for doubles on the way, though perhaps not in the end.
        Ok(_) => exact::run(&data, *settings).map(float::rounded),
        Err(error) if error.is_of_highs() => exact::run(&data, *settings).map(float::rounded),
        Err(error) => Err(error),
    }
}

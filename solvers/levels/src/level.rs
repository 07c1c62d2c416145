//! Weighted lexicographic max-min: raise the common level of the users until some are blocked,
//! freeze the blocked users, and raise the level of the rest again (docs/theory.md, section 2).
//!
//! In every round the programme is
//!
//! ```text
//! max t   such that   sum_n x_ni d_nir <= k_i c_ir           for every capacity row,
//!                     sum_i u_ni x_ni >= w_n t               for every active user,
//!                     sum_i u_ni x_ni >= (a fixed level)     for every other user.
//! ```
//!
//! A user is *satisfied* if it has all its tasks at a level below the blocking level. Satisfied
//! users cost no round of their own. With the satisfied users fixed, `t` is a lower bound of the
//! next blocking level. The next step also fixes the users that this `t` satisfies. Repeating such
//! steps is Newton's method on a concave function. It reaches the exact level after a few steps.

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
mod limited;
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
pub use limited::lexicographic_limited;
pub use rise::{Rise, RiseBound, Rises};
pub use rounds::{LevelDual, LexicographicOptimum, Settings};

use evenhand_exact::ShareCoefficients;
use evenhand_problem::{Constraints, Rational};

use crate::error::LevelsError;
use data::LevelData;

/// Computes the weighted lexicographic max-min allocation in exact rationals.
///
/// The totals `x_n` are unique. If several placements reach these totals, the method returns one
/// vertex. It returns the same vertex every time and with any number of threads.
///
/// # Errors
/// [`LevelsError`] when no exactly optimal basis is found within the limits. An unverified answer is
/// never returned.
pub fn lexicographic(
    constraints: &Constraints<'_>,
    coefficients: &ShareCoefficients,
    settings: &Settings,
) -> Result<LexicographicOptimum<Rational>, LevelsError> {
    exact::run(&LevelData::new(constraints, coefficients), *settings)
}

/// Tasks of each user, indexed by user: `(class, tasks)`, ascending by class.
pub type TasksInDoubles = Vec<Vec<(usize, f64)>>;

/// Computes prices that nearly prove the levels of [`lexicographic`], without solving it exactly.
///
/// The prices come from doubles and are rounded to short numbers. Their bounds are proven exactly, whatever the doubles
/// were. If the doubles were right, the bounds exceed the exact levels only by rounding. `known` is an allocation that
/// may already be the answer; the search starts from it.
#[must_use]
pub fn lexicographic_duals_nearly(
    constraints: &Constraints<'_>,
    coefficients: &ShareCoefficients,
    settings: &Settings,
    known: Option<&TasksInDoubles>,
) -> Vec<LevelDual> {
    let mut data = LevelData::new(constraints, coefficients);
    if let Some(tasks) = known {
        data.set_known_allocation(tasks);
    }
    float::duals(&data, *settings)
}

/// Computes [`lexicographic`] in double precision, without a proof.
///
/// If HiGHS fails, or its answer is no solution within 1e-7, the exact optimum is computed and
/// rounded.
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
        // Intermediate numbers can be too far apart for doubles even if the numbers of the answer
        // are not.
        Ok(_) => exact::run(&data, *settings).map(float::rounded),
        Err(error) if error.is_of_highs() => exact::run(&data, *settings).map(float::rounded),
        Err(error) => Err(error),
    }
}

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
mod lift;
mod loads;
mod master;
mod part;
mod repair;
mod rise;
mod round;
mod rounds;
mod search;
mod split;
mod start;

pub use interval::{LevelIntervals, Within, lexicographic_within};
pub use rise::{Rise, RiseBound, Rises};
pub use rounds::{LevelDual, LexicographicOptimum, Settings, lexicographic, lexicographic_float};

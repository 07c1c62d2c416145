//! No Justified Complaints (NJC) on clusters: exact points, the best point for a goal, and the whole set of a small
//! problem (docs/theory.md, section 3).
//!
//! An allocation is NJC when every active user either has all its tasks or has at least its entitlement
//! `e_n = w_n / (sum of the weights of the active users)` of some saturated capacity row. Let `d` be the usage of the
//! row by one task and `C` its capacity. The user has its entitlement of the row on class `i` if `x_ni d >= e_n C`.
//! Rows are those of [`Constraints`], so divided and time-shared classes are treated in the same way.
//!
//! The NJC set is a finite union of rational polytopes, one for each [`Face`]: a set of saturated rows, and a witness
//! for each user. [`member`] computes an exact vertex of one polytope. [`select`] chooses among all polytopes by a
//! mixed-integer programme. [`best_above`] proves the choice of [`select`] or improves it. [`enumerate`] lists all
//! polytopes.
//!
//! [`Constraints`]: evenhand_problem::Constraints

mod best;
mod choices;
mod face;
mod faces;
mod goal;
mod market;
mod polytope;
mod select;
pub mod vertices;

pub use crate::error::FaceError;
pub use best::{BestMember, best_above};
pub use face::{Face, Witness};
pub use faces::{EnumerationLimits, NjcSet, Polytope, enumerate};
pub use goal::Goal;
pub use market::{Tasks, entitlements};
pub use polytope::member;
pub use select::{SelectSettings, Selection, select};

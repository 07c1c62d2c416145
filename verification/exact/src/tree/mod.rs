//! Hierarchical filling by its definition (docs/theory.md, section 9): the tree of a problem, the usage of its nodes,
//! the keys by which siblings are compared, and the users that may grow.
//!
//! The mechanism `tree` runs the filling. The kernel has its own implementation, which shares no code with this one.
//! [`Bound`]s stop the filling where free capacity is lacking. The mechanism computes the bounds with a solver, and a
//! certificate states the prices that prove the bounds.

mod amount;
mod bound;
mod forest;
mod holdings;
mod key;
mod shared;

pub use amount::Amount;
pub use bound::Bound;
pub use forest::{ClassLimit, ClassLimits, Forest, Leaf, Node};
pub use holdings::{Amounts, Holdings, Saved, Way};
pub use key::{Key, Term, Ways, asks, by_child, guaranteed, key, rising, share, weight};
pub use shared::Shared;

//! Hierarchical filling by its definition (theory, section 9): the tree of a problem, what its nodes hold, what siblings
//! are compared by, and which may grow.
//!
//! The mechanism `tree` runs the filling; the kernel runs its own, which shares no code with it. What stops it for want
//! of place are [`Bound`]s: the mechanism finds them with a solver, a certificate states the prices that prove them.

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

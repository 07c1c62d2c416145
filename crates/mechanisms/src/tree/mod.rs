//! `tree`: hierarchical filling of groups with guarantees, limits and weights (docs/theory.md, section 9).
//!
//! A group contains users and other groups. Filling starts without tasks. At every moment, the root lets
//! those of its children grow whose key is least. Children below their guarantee come first, then the
//! priority decides, then the share divided by the weight. Each of these children lets its own children grow
//! in the same way, down to single users, whose tasks grow at rates that keep equal levels equal. A user
//! stops when it has all its tasks, when a resource that it needs is used up, or when a limit is reached. All
//! events happen at rational numbers of tasks, so the result is rational. The result does not depend on the
//! order of the file. Without groups and guarantees, and with the default share, the result is `drfh`.

mod allocate;
mod course;
pub(crate) mod entitlements;
mod fill;
mod levels;
mod ongoing;
mod raise;
mod reported;
mod rounds;
mod rule;
mod servers;
mod stops;
mod trail;
mod turn;
mod turns;
mod whole;
mod why;

pub(crate) use allocate::RULE;
pub use allocate::{Settings, TREE, allocate, entitlements, filling, settings};
pub use entitlements::Entitlements;
pub use levels::{Held, Next, NodeKind, Standing, held, levels};
pub(crate) use ongoing::schedule;
pub use ongoing::{Preemption, TreePolicy};
pub use reported::Reported;
pub use rule::{PerResource, Rule};
pub use stops::stops_of_groups;
pub use turns::Turns;
pub(crate) use whole::fill_in_time;
pub use whole::{Whole, fill_whole};
pub use why::{Amount, Stop, StopKind, Wanting, Why, why};

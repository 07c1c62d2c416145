//! `tree`: hierarchical filling of groups with guarantees, limits and weights (theory, section 9).
//!
//! Users stand in groups, groups in groups. Filling starts with nothing; at every moment the root lets those of its
//! children grow whose key is least (below their guarantee first, then by priority, then by share over weight), each
//! of these its own children in the same way, down to single users, whose tasks grow at such rates that equal
//! levels stay equal. A user that can grow no more, for want of tasks, of room, or under a limit, is left behind.
//! All events are rational, and so is the result; it does not depend on the order of the file. Without groups,
//! guarantees and another share it is `drfh`.

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
pub(crate) use whole::fill_in_time;
pub use whole::{Whole, fill_whole};
pub use why::{Amount, Stop, StopKind, Wanting, Why, why};

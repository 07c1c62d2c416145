//! Progressive filling: whole tasks, one at a time, on single servers (docs/theory.md, sections 5 and 8).
//!
//! A [`Rule`] defines which user is served next, on which server its task goes, and how ties are broken. No decision
//! depends on floating-point errors: amounts are integers over a common denominator, and scores are compared as
//! fractions.
//!
//! | | |
//! |---|---|
//! | [`fill()`] | one filling |
//! | [`sample`] | many fillings of a random rule |
//! | [`law()`] | the outcomes of a random rule with their exact probabilities, for small problems |
//! | [`slot_allocation`] | tasks by slots |
//! | [`schedule`] | a filling that continues while tasks arrive and finish |
//! | [`schedule_among`] | the same while servers are added and removed |
//! | [`FILL`], [`SLOTS`] | the mechanisms `fill` and `slots` |
//!
//! A class that is shared by time (a user states its `gamma` there) has one unit of time on each of its servers. A
//! task of user `n` takes `k_i / gamma_ni` units of time on one server.
//!
//! # Examples
//! DRFH, Figure 1: each user gets ten tasks on the server that suits it.
//! ```
//! use evenhand_mechanisms::filling::{Rule, ServerRule, fill};
//! use evenhand_problem::{Rational, format::Source};
//!
//! let problem = Source { name: "figure-1", text: r#"{"kind": "allocation-problem",
//!     "resources": ["cpu", "memory"],
//!     "servers": [{"name": "high-memory", "capacity": {"cpu": 2, "memory": 12}},
//!                 {"name": "high-cpu", "capacity": {"cpu": 12, "memory": 2}}],
//!     "users": [{"name": "1", "demand": {"cpu": 0.2, "memory": 1}},
//!               {"name": "2", "demand": {"cpu": 1, "memory": 0.2}}]}"# }.problem()?;
//! let rule = Rule { server: ServerRule::BestFit, ..Rule::default() };
//! assert_eq!(fill(&problem, rule, &Rational::from(1), 0)?.totals(), [10, 10]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod digits;
pub(crate) mod draw;
mod law;
mod lines;
mod mechanism;
mod model;
mod ongoing;
pub(crate) mod prepared;
mod proposals;
mod queue;
pub(crate) mod rule;
pub(crate) mod run;
mod schedule;
pub(crate) mod scheduler;
mod server_first;
mod server_tree;
mod slots;
mod trials;
mod user_first;
mod users;

pub use crate::mechanism::{Integrality, Measure};
pub use draw::Draw;
pub use law::{WeighedOutcome, law};
pub use mechanism::FILL;
pub use prepared::MAX_SERVERS;
pub use rule::{Rule, Score, ServerRule, Ties};
pub use run::fill;
pub use schedule::{Policy, schedule, schedule_among};
pub use scheduler::{Part, Scheduler};
pub use slots::{SLOTS, slot_allocation, slots_of_servers};
pub use trials::{Statistic, sample};

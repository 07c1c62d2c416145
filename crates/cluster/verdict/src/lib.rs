//! Running clusters: the usage and the fair share of every queue, the effect of a change, and the tasks to move.
//!
//! The input is a snapshot: a problem with groups, and the tasks that run on single servers. Importers write snapshots. Every
//! number of a [`Verdict`] and of [`moves::Moves`] can be written as a certificate ([`certificate`]), which the kernel checks.
//! One predicate decides which tasks could start ([`Standing::may_start`]).
#![forbid(unsafe_code)]

pub mod certificate;
pub mod change;
mod due;
mod error;
mod fair_tree;
pub mod migrations;
pub mod moves;
pub mod plan;
pub mod promises;
mod queues;
pub mod reported;
mod rooms;
pub mod script;
mod servers;
pub mod settings;
mod starts;
pub mod stopped;
mod stops;
mod task_rules;
pub mod value;
mod verdict;
pub mod waits;
pub mod why_not;

pub use change::Changes;
pub use due::{Due, Proof, by_rule};
pub use error::ClusterError;
pub use moves::Moves;
pub use plan::Plan;
pub use queues::{Kind, Queue, Queues, Vector, gang};
pub use rooms::{Bound, OnLimit, Rooms};
pub use servers::{Place, Server, Servers, placed};
pub use starts::{Answer, Assignment, Blocked, Standing};
pub use stops::{FewestStops, Stops};
pub use task_rules::{Lifted, TaskRules};
pub use verdict::{Admitted, End, Excess, Fit, Lent, Row, Starts, Unmet, Verdict};

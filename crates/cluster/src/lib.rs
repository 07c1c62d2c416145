//! Running clusters: what every queue holds beside what it is due, what a change brings, and which tasks to move.
//!
//! What is judged is a problem with groups and what runs of it on single servers, as an importer finds them. Every number of a
//! [`Verdict`] and of [`moves::Moves`] can be written as a certificate ([`certificate`]), which the kernel checks.
#![forbid(unsafe_code)]

pub mod certificate;
pub mod change;
mod due;
mod error;
mod fair_tree;
mod fits;
pub mod moves;
mod queues;
pub mod reported;
mod rooms;
pub mod script;
mod servers;
mod verdict;

pub use change::Changes;
pub use due::{Due, Proof, by_rule};
pub use error::ClusterError;
pub use fits::Fit;
pub use moves::Moves;
pub use queues::{Kind, Queue, Queues, Vector, gang};
pub use servers::{Place, Server, Servers, placed};
pub use verdict::{End, Row, Unmet, Verdict};

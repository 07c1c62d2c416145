//! Allocation mechanisms.
//!
//! Every mechanism is a file of its own, with settings of its own, and a row of the [`registry`], which the command line, the
//! tests and the table of the README read. What proves their allocations is found by
//! `evenhand-certify`. Nothing here prints.
#![forbid(unsafe_code)]

pub mod alpha;
mod asset;
mod cdrf;
mod drf;
mod drfh;
mod fair_sum;
pub mod filling;
mod fisher;
pub mod flags;
mod generic;
pub mod guarantees;
mod lift;
mod max_min;
mod mechanism;
pub mod njc;
pub mod per_server_drf;
mod proportional;
pub mod ps_dsf;
pub mod registry;
pub mod rounding;
mod tsf;
pub mod utilitarian;

pub use fair_sum::optimum::FairOptimum;
pub use flags::{Flags, Method};
pub use mechanism::{
    Bound, Findings, Info, Mechanism, MechanismError, Outcome, Search, Selected, SeriesPoint, Status, Tried,
};

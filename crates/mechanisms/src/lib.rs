//! Allocation mechanisms behind one trait.
//!
//! Every mechanism is a file of its own and a row of the [`registry`], which the command line, the
//! tests and the table of the README read. What proves their allocations is found by
//! `evenhand-certify`. Nothing here prints.
#![forbid(unsafe_code)]

mod alpha;
mod asset;
mod cdrf;
mod drf;
mod drfh;
mod fair_sum;
pub mod filling;
mod fisher;
mod generic;
pub mod guarantees;
mod max_min;
mod mechanism;
mod named;
mod njc;
mod per_server_drf;
mod proportional;
pub mod ps_dsf;
pub mod registry;
pub mod rounding;
mod tsf;
mod utilitarian;

pub use fair_sum::optimum::FairOptimum;
pub use mechanism::{
    Bound, Findings, Info, Mechanism, MechanismError, Method, OptionName, Options, Outcome, Search, Selected,
    Status, Step, Tried,
};
pub use named::Named;

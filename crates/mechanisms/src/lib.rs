//! Allocation mechanisms behind one trait, and what proves their results.
//!
//! Every mechanism is a file of its own and a row of the [`registry`], which the command line, the
//! tests and the table of the README read. [`certify()`] examines any allocation, from here or from
//! elsewhere; solvers find the evidence, and `evenhand-exact` decides. Nothing here prints.
#![forbid(unsafe_code)]

mod alpha;
mod asset;
mod cdrf;
pub mod certify;
pub mod compare;
mod digits;
mod drf;
mod drfh;
pub mod explain;
mod explain_places;
mod fair_sum;
pub mod filling;
mod fisher;
mod generic;
pub mod guarantees;
mod integer_pareto;
mod max_min;
mod mechanism;
mod named;
mod njc;
mod per_server_drf;
mod proportional;
pub mod ps_dsf;
pub mod ratio;
pub mod registry;
mod rounding;
mod tsf;
mod utilitarian;

pub use certify::{Examination, Request, certify};
pub use mechanism::{
    Bound, Findings, Info, Mechanism, MechanismError, Method, OptionName, Options, Outcome, Search, Selected,
    Status, Step, Tried,
};
pub use named::Named;

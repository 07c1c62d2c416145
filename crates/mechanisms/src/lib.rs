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
mod fair_sum;
mod fisher;
mod generic;
pub mod hunt;
mod max_min;
mod mechanism;
mod njc;
mod per_server_drf;
mod proportional;
mod ps_dsf_tdm;
pub mod ratio;
pub mod registry;
mod rounding;
mod tsf;
mod utilitarian;

pub use certify::{Examination, Request, certify};
pub use mechanism::{
    Bound, Findings, Info, Mechanism, MechanismError, OptionName, Options, Outcome, Selected, Status,
};

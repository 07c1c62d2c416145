//! Proofs and refutations of allocations. Solvers search for evidence, `evenhand-exact` computes the margins, and the
//! kernel checks every certificate before it is returned.
//!
//! | question | answer |
//! |---|---|
//! | which axioms does an allocation satisfy? | [`certify()`], which takes any allocation, from this engine or another program |
//! | why does a user have no more tasks? | [`explain`](mod@explain) |
//! | how do mechanisms differ on a problem? | [`compare`](mod@compare) |
//! | how far is greedy packing below the optimum? | [`ratio`] |
//!
//! Nothing in this crate prints.
#![forbid(unsafe_code)]

pub mod compare;
mod examine;
pub mod explain;
mod least;
pub mod polish;
pub mod ratio;
mod request;
mod self_test;

pub use examine::{
    CertifyError, Examination, Optima, Request, Undecided, certify, certify_among, certify_within,
    default_requests, default_tolerance,
};
pub use least::least_tolerance;
pub use request::{RequestError, apply_alpha, apply_share};
pub use self_test::{Checked, Refused, self_test};

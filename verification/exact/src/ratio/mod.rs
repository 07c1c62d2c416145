//! Ratio certificates: what greedy earns with a reservation problem, and what the optimum does.
//!
//! One JSON file, which needs nothing else to be checked. Everything is by name, zeros left out:
//!
//! ```text
//! {"kind": "ratio-certificate", "version": 1,
//!  "problem":  the reservation problem,
//!  "greedy":   {"reward", "steps": [{"pool", "configuration": {job: k}, "servers", "exhausted": job | null,
//!                                    "first": FIRST}]},
//!  "optimum":  {"reward", "assignment": [{"pool", "configuration", "servers"}], "served": {job: Y},
//!               "bound", "prices": {"load": {job: alpha}, "slot": {job: beta}, "server": {pool: pi}},
//!               "pricing": {pool: PRICING}},
//!  "ratio":    greedy's reward over the bound | null where the bound is 0,
//!  "integer":  {"greedy", "optimum"} of the same form, with whole numbers of servers and jobs}
//! PRICING = {"method": "dynamic-programme", "cells"} | {"method": "listed"}
//!         | {"method": "tree", "multipliers": [{resource: m}], "nodes": [[job, at] | multipliers]}
//! FIRST   = the first two | {"method": "tree", "value": {"multipliers", "nodes"}, "order": {the same}}
//!         | {"method": "known"}
//! ```
//!
//! What a valid certificate proves, for the fluid problem (pools as fractions of all servers, loads per
//! server):
//! 1. the global greedy assignment is `greedy.steps`, and earns `greedy.reward`;
//! 2. the optimum of the configuration linear programme is at least `optimum.reward` (the assignment)
//!    and at most `optimum.bound` (the prices): equal numbers are the exact optimum;
//! 3. greedy earns `ratio` of the bound: at least this part of the optimum, exactly this part where
//!    reward and bound are equal;
//! 4. where numbers of servers are stated, and `integer` is there: GPA with whole servers and the loads
//!    rounded down to whole jobs takes `integer.greedy.steps`, and the jobs served earn its reward; the
//!    best whole assignment earns at least `integer.optimum.reward` and at most its `bound`, which is
//!    that of its prices, rounded down to a multiple of the greatest common divisor of the rewards.
//!
//! The forms of the proofs are in [`FirstProof`] and [`PricingProof`].

mod certificate;
mod packing;
mod proof;
mod read;
pub mod worst_load;
mod write;

pub use certificate::{KIND, RatioCertificate, VERSION, Whole, is_ratio_certificate};
pub use packing::{Assignment, Configuration, Greedy, Optimum, PackingPrices, Step, sparse};
pub use proof::{FirstProof, MOST_CELLS, Multipliers, PricingProof, Tree, TreeNode};
pub use write::MOST_BYTES;

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

use rug::Rational;

mod certificate;
mod proof;
mod read;
pub mod worst_load;
mod write;

pub use certificate::{KIND, RatioCertificate, VERSION, Whole, is_ratio_certificate};
pub use proof::{FirstProof, MOST_CELLS, Multipliers, PricingProof, Tree, TreeNode};
pub use write::MOST_BYTES;

/// A configuration: jobs by type, those above 0 alone, in the order of the types.
pub type Configuration = Vec<(usize, u64)>;

/// A configuration that is given by a number of jobs for every type.
#[must_use]
pub fn sparse(k: &[u64]) -> Configuration {
    k.iter().copied().enumerate().filter(|(_, k)| *k > 0).collect()
}

/// A greedy assignment, fluid or with whole servers and jobs.
#[derive(Debug, Clone, PartialEq)]
pub struct Greedy<T> {
    /// Reward of the jobs that it serves.
    pub reward: Rational,
    /// In order.
    pub steps: Vec<Step<T>>,
}

/// One step: servers of one configuration.
#[derive(Debug, Clone, PartialEq)]
pub struct Step<T> {
    /// The pool.
    pub pool: usize,
    /// The first configuration of the types that are open.
    pub configuration: Configuration,
    /// Servers that it gets; may be 0.
    pub servers: T,
    /// The type that has no job left after it; `None` when the servers ran out first.
    pub exhausted: Option<usize>,
    /// Why the configuration is the first.
    pub first: FirstProof,
}

/// An optimum, from both sides.
#[derive(Debug, Clone, PartialEq)]
pub struct Optimum<T> {
    /// An assignment.
    pub assignment: Assignment<T>,
    /// No assignment earns more.
    pub bound: Rational,
    /// Why: the bound is theirs (whole jobs: rounded down to what whole jobs can earn).
    pub prices: PackingPrices,
    /// Why no configuration is worth more than its server, by pool.
    pub pricing: Vec<PricingProof>,
}

/// Servers, and the jobs on them.
#[derive(Debug, Clone, PartialEq)]
pub struct Assignment<T> {
    /// `sum_j u_j Y_j`
    pub reward: Rational,
    /// `(pool, configuration, servers)`; the others are idle.
    pub servers: Vec<(usize, Configuration, T)>,
    /// Jobs served, by type: `Y_j`.
    pub served: Vec<T>,
}

/// Prices that bound every assignment.
#[derive(Debug, Clone, PartialEq)]
pub struct PackingPrices {
    /// Price of the load, by type: `alpha_j`.
    pub load: Vec<Rational>,
    /// Price of a slot, by type: `beta_j`.
    pub slot: Vec<Rational>,
    /// Price of a server, by pool: `pi_i`.
    pub server: Vec<Rational>,
}

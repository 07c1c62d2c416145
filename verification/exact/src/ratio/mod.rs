//! Ratio certificates: the reward of greedy packing for a reservation problem, and the optimum.
//!
//! A certificate is one JSON file, which can be checked without any other file. All items appear by name, and zeros
//! are omitted:
//!
//! ```text
//! {"kind": "ratio-certificate", "version": 1,
//!  "problem":  the reservation problem,
//!  "greedy":   {"reward", "steps": [{"pool", "configuration": {job: k}, "servers", "exhausted": job | null,
//!                                    "first": FIRST}]},
//!  "optimum":  {"reward", "assignment": [{"pool", "configuration", "servers"}], "served": {job: Y},
//!               "bound", "prices": {"load": {job: alpha}, "slot": {job: beta}, "server": {pool: pi}},
//!               "pricing": {pool: PRICING}},
//!  "ratio":    greedy's reward over the bound | null if the bound is 0,
//!  "integer":  {"greedy", "optimum"} of the same form, with whole numbers of servers and jobs}
//! PRICING = {"method": "dynamic-programme", "cells"} | {"method": "listed"}
//!         | {"method": "tree", "multipliers": [{resource: m}], "nodes": [[job, at] | multipliers]}
//! FIRST   = the first two | {"method": "tree", "value": {"multipliers", "nodes"}, "order": {the same}}
//!         | {"method": "known"}
//! ```
//!
//! A valid certificate proves the following for the fluid problem (pools as fractions of all servers, loads per
//! server):
//!
//! 1. The global greedy assignment is `greedy.steps`, and earns `greedy.reward`.
//! 2. The optimum of the configuration linear programme is at least `optimum.reward` (by the assignment) and at most
//!    `optimum.bound` (by the prices). If these are equal, they are the exact optimum.
//! 3. Greedy earns `ratio` of the bound. So it earns at least this fraction of the optimum, and exactly this fraction
//!    if reward and bound are equal.
//! 4. Whole servers are covered if numbers of servers are stated and `integer` is present. GPA with whole servers,
//!    and with loads rounded down to whole jobs, takes `integer.greedy.steps`, and the jobs served earn its reward.
//!    The best whole assignment earns at least `integer.optimum.reward` and at most its `bound`. This is the bound of
//!    its prices, rounded down to a multiple of the greatest common divisor of the rewards.
//!
//! The forms of the proofs are described at [`FirstProof`] and [`PricingProof`].

use rug::Rational;

mod certificate;
mod proof;
mod read;
pub mod worst_load;
mod write;

pub use certificate::{KIND, RatioCertificate, VERSION, Whole, is_ratio_certificate};
pub use proof::{FirstProof, MOST_CELLS, Multipliers, PricingProof, Tree, TreeNode};
pub use write::MOST_BYTES;

/// A configuration: the number of jobs of each type, ascending by type. Types without jobs are omitted.
pub type Configuration = Vec<(usize, u64)>;

/// Returns the configuration with these numbers of jobs. `k` has a number for every type.
#[must_use]
pub fn sparse(k: &[u64]) -> Configuration {
    k.iter().copied().enumerate().filter(|(_, k)| *k > 0).collect()
}

/// A greedy assignment, fluid or with whole servers and jobs.
#[derive(Debug, Clone, PartialEq)]
pub struct Greedy<T> {
    /// The reward of the jobs that the assignment serves.
    pub reward: Rational,
    /// The steps, in order.
    pub steps: Vec<Step<T>>,
}

/// A step of greedy: servers of one pool get one configuration.
#[derive(Debug, Clone, PartialEq)]
pub struct Step<T> {
    /// The index of the pool.
    pub pool: usize,
    /// The first configuration of the open types.
    pub configuration: Configuration,
    /// The number of servers that get the configuration. It may be 0.
    pub servers: T,
    /// The type that has no job left after the step. `None` if the servers ran out first.
    pub exhausted: Option<usize>,
    /// The proof that the configuration is the first.
    pub first: FirstProof,
}

/// An optimum, between an assignment and a bound.
#[derive(Debug, Clone, PartialEq)]
pub struct Optimum<T> {
    /// An assignment, whose reward is a lower bound.
    pub assignment: Assignment<T>,
    /// An upper bound on the reward of every assignment.
    pub bound: Rational,
    /// The prices that prove the bound. For whole jobs, the bound is rounded down to a reward that whole jobs can earn.
    pub prices: PackingPrices,
    /// For each pool, the proof that no configuration is worth more than its server.
    pub pricing: Vec<PricingProof>,
}

/// Servers with their configurations, and the jobs that are served.
#[derive(Debug, Clone, PartialEq)]
pub struct Assignment<T> {
    /// The reward `sum_j u_j Y_j`.
    pub reward: Rational,
    /// Triples `(pool, configuration, servers)`. All other servers are idle.
    pub servers: Vec<(usize, Configuration, T)>,
    /// The jobs served, `Y_j`, of each type.
    pub served: Vec<T>,
}

/// Prices that bound every assignment.
#[derive(Debug, Clone, PartialEq)]
pub struct PackingPrices {
    /// The price of the load, `alpha_j`, of each type.
    pub load: Vec<Rational>,
    /// The price of a slot, `beta_j`, of each type.
    pub slot: Vec<Rational>,
    /// The price of a server, `pi_i`, of each pool.
    pub server: Vec<Rational>,
}

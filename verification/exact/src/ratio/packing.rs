//! What is packed: greedily, and between an assignment and a bound of the optimum.

use rug::Rational;

use super::proof::{FirstProof, PricingProof};

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

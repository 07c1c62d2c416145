//! `MaxReward(S)`: the first configuration that uses only some types (Reservation, Definition 2.3).

use std::collections::HashMap;
use std::sync::Arc;

use crate::limits::PackingError;
use evenhand_problem::Reservation;
use rug::{Integer, Rational};

use super::knapsack::{Knapsack, KnapsackMethod, Verdict, integers};
use super::limits::SearchLimits;
use evenhand_exact::ratio::{FirstProof, PricingProof};

/// A best configuration, with its reward.
#[derive(Debug, Clone, PartialEq)]
pub struct BestConfiguration {
    /// For each type, the number of its jobs.
    pub configuration: Vec<u64>,
    /// The reward `U(k)`.
    pub reward: Rational,
    /// The method that computed the configuration and proved that it is best.
    pub method: KnapsackMethod,
}

/// A solver for the best configuration of any set of types, with a cache of its answers.
///
/// The servers of every pool are scaled once. Configurations are ordered as in Definition 2.2: `k`
/// comes before `k'` if `U(k) > U(k')`, or if the rewards are equal and `k_j > k'_j` at the
/// smallest `j` where they differ.
pub struct MaxReward<'a> {
    problem: &'a Reservation,
    rewards: Vec<Rational>,
    pools: Vec<Shape<'a>>,
    /// For each pool, the index of the first pool with the same capacity. Pools with the same capacity share their
    /// answers.
    same_as: Vec<usize>,
    known: HashMap<(usize, Vec<usize>), Arc<BestConfiguration>>,
    limits: SearchLimits,
}

/// The configurations that fit on a server, described by the server's capacities or by a list.
enum Servers<'s> {
    Capacities(&'s Knapsack),
    Listed(&'s [Vec<u64>]),
}

/// The stored description of the configurations of one pool.
enum Shape<'a> {
    /// The scaled knapsack, or the error if it has too many numbers.
    Capacities(Box<Result<Knapsack, PackingError>>),
    Listed(&'a [Vec<u64>]),
    /// The pool has the same capacity as an earlier pool and uses that pool's description.
    Same,
}

impl<'a> MaxReward<'a> {
    /// Returns a solver for the pools and rewards of a problem, with the default limits.
    #[must_use]
    pub fn new(problem: &'a Reservation) -> Self {
        Self::within(problem, &SearchLimits::default())
    }

    /// Returns a solver for the pools and rewards of a problem. The limits apply to all of its answers together.
    #[must_use]
    pub fn within(problem: &'a Reservation, limits: &SearchLimits) -> Self {
        let mut first: HashMap<_, usize> = HashMap::new();
        let pools = problem.pools().iter().enumerate();
        let same_as: Vec<usize> = pools.map(|(i, pool)| *first.entry(pool.capacity()).or_insert(i)).collect();
        // A pool with the same capacity as an earlier pool uses the description of the earlier pool.
        let shape = |(i, &same): (usize, &usize)| match problem.configurations() {
            Some(list) => Shape::Listed(list),
            None if same != i => Shape::Same,
            None => Shape::Capacities(Box::new(Knapsack::new(problem, i, limits))),
        };
        Self {
            problem,
            rewards: problem.rewards(),
            pools: same_as.iter().enumerate().map(shape).collect(),
            same_as,
            known: HashMap::new(),
            limits: limits.clone(),
        }
    }

    /// Returns the limits that apply to all answers together.
    #[must_use]
    pub fn limits(&self) -> &SearchLimits {
        &self.limits
    }

    /// Returns the configurations that fit on a server of pool `i`.
    fn shape(&self, i: usize) -> Result<Servers<'_>, PackingError> {
        match &self.pools[self.same_as[i]] {
            Shape::Capacities(knapsack) => match &**knapsack {
                Ok(knapsack) => Ok(Servers::Capacities(knapsack)),
                Err(error) => Err(error.clone()),
            },
            Shape::Listed(list) => Ok(Servers::Listed(list)),
            // `same_as` never refers to a pool of this kind.
            Shape::Same => Ok(Servers::Listed(&[])),
        }
    }

    /// Returns the problem of this solver.
    #[must_use]
    pub fn problem(&self) -> &'a Reservation {
        self.problem
    }

    /// Computes the first configuration on a server of pool `i` that uses only `types`. `types` must be ascending.
    ///
    /// # Errors
    /// [`PackingError::Budget`] if both the table and the branch tree would be too large.
    pub fn first(&mut self, i: usize, types: &[usize]) -> Result<Arc<BestConfiguration>, PackingError> {
        let i = self.same_as[i];
        let key = (i, types.to_vec());
        if let Some(best) = self.known.get(&key) {
            return Ok(Arc::clone(best));
        }
        let (configuration, method) = match self.shape(i)? {
            Servers::Capacities(knapsack) => knapsack.first(types, &self.rewards)?,
            Servers::Listed(list) => (first_listed(list, types, self.problem), KnapsackMethod::Listed),
        };
        let reward = self.problem.reward(&configuration);
        let best = Arc::new(BestConfiguration { configuration, reward, method });
        self.known.insert(key, Arc::clone(&best));
        Ok(best)
    }

    /// Proves that `k` is the first configuration on a server of pool `i` that uses only `types`. `types` must be
    /// ascending, and `k` must be the result of [`MaxReward::first`].
    ///
    /// # Errors
    /// [`PackingError::Budget`] if both a table and a tree would be too large.
    pub fn prove_first(&self, i: usize, types: &[usize], k: &[u64]) -> Result<FirstProof, PackingError> {
        let mut profits = vec![Rational::new(); self.rewards.len()];
        types.iter().for_each(|&j| profits[j].clone_from(&self.rewards[j]));
        match self.shape(i)? {
            Servers::Capacities(knapsack) => knapsack.prove_first(types, &profits, k),
            Servers::Listed(_) => Ok(FirstProof::Listed),
        }
    }

    /// Returns configurations of pool `i` that are worth more than `bound` at the given integer profits.
    ///
    /// The result is empty if there are no such configurations, or if the search reached its limit.
    pub(super) fn better(&self, i: usize, profits: &[Integer], bound: &Integer) -> Vec<Vec<u64>> {
        let value = |k: &[u64]| profits.iter().zip(k).map(|(p, k)| Integer::from(p * k)).sum::<Integer>();
        match self.shape(i) {
            // The later request for a proof reports this error.
            Err(_) => Vec::new(),
            Ok(Servers::Capacities(knapsack)) => knapsack.better(profits, bound),
            Ok(Servers::Listed(list)) => {
                let useful = |k: &Vec<u64>| {
                    let useful = k.iter().zip(profits).map(|(k, p)| if p.is_zero() { 0 } else { *k });
                    useful.collect::<Vec<u64>>()
                };
                let best = list.iter().map(useful).map(|k| (value(&k), k)).max_by(|a, b| a.0.cmp(&b.0));
                best.filter(|(value, _)| value > bound).map(|(_, k)| k).into_iter().collect()
            }
        }
    }

    /// Decides whether `sum_j beta_j k_j <= bound` on all servers of pool `i`, and proves the decision.
    pub(super) fn verify(
        &self,
        i: usize,
        beta: &[Rational],
        bound: &Rational,
    ) -> Result<Verdict, PackingError> {
        match self.shape(i)? {
            Servers::Capacities(knapsack) => knapsack.verify(beta, bound),
            Servers::Listed(_) => {
                let (profits, unit) = integers(beta);
                let floor = Rational::from(bound / &unit).floor().into_numer_denom().0;
                let better = self.better(i, &profits, &floor).into_iter().next();
                Ok(better.map_or(Verdict::Proven(PricingProof::Listed), Verdict::Refuted))
            }
        }
    }
}

fn first_listed(list: &[Vec<u64>], types: &[usize], problem: &Reservation) -> Vec<u64> {
    let restricted = |k: &Vec<u64>| {
        let mut part = vec![0; k.len()];
        types.iter().for_each(|&j| part[j] = k[j]);
        part
    };
    let ranked = list.iter().map(restricted).map(|k| (problem.reward(&k), k));
    ranked.max().map_or_else(|| vec![0; problem.n_types()], |(_, k)| k)
}

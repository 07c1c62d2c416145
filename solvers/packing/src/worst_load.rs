//! The loads at which greedy is worst compared with the optimum: an infimum with a proof for every order.
//!
//! Let the types run out in the order `phi_1, ..., phi_(t-1)`, and let the servers run out during step `t`. `MaxReward`
//! then determines the configurations `K_1, ..., K_t`. These configurations get `z_1, ..., z_t >= 0` servers, which add
//! up to one, and greedy earns `sum_l z_l U(K_l)`. Type `phi_i` had the load `sum_(l <= i) z_l K_l[phi_i]`, and the
//! loads of the other types may be arbitrarily large. Every `z` therefore belongs to some loads, and the minimum of
//! `greedy - a optimum` over one order is a linear programme in `z` and `x`. The minimum is at least 0 if there are
//! prices `alpha, beta, pi >= 0`, independent of `z`, with
//!
//! * `alpha_j + beta_j >= a u_j`, and `alpha_j = 0` unless `j` is one of the `phi_i`,
//! * `sum_j beta_j k_j <= pi` for every configuration (a [`PricingProof`]),
//! * `sum_(i >= l) alpha_(phi_i) K_l[phi_i] + pi <= V_l` for `l = 1, ..., t`, where `V_l = U(K_l)`:
//!
//! `a optimum <= sum_j alpha_j rho_j + pi = sum_l z_l (sum_(i >= l) alpha_(phi_i) K_l[phi_i] + pi)`.
//!
//! Now let `V_t` be the least `U(MaxReward({j}))` over the types that have not run out. No later step earns less, so
//! the same prices prove the ratio for every order that begins with `phi` ([`OrderClaim::covers_all`]). Loads that
//! greedy serves entirely have the ratio 1. If two types run out at once, their order does not change the reward of
//! greedy: at every moment greedy uses the best configuration of the types with jobs left.
//!
//! The ratio `a` falls during the search (Dinkelbach, 1967). Prices for a larger `a` remain valid.

use std::sync::Arc;

use crate::limits::PackingError;
use crate::settings::PACKING;
use evenhand_lp::exact_lp::{ExactColumn, ExactLp, ExactOptimum, Sense};
use evenhand_lp::refine::{self, StartingPoint};
use rug::Rational;

use super::configuration_lp;
use super::greedy;
use super::knapsack::{Verdict, integers};
use super::max_reward::{BestConfiguration, MaxReward};
use evenhand_exact::ratio::PricingProof;

/// The least ratio of greedy to the optimum over all loads.
#[derive(Debug, Clone, PartialEq)]
pub struct WorstLoad {
    /// The proven lower bound of the ratio. The claims prove that no loads have a smaller ratio.
    pub ratio_lower: Rational,
    /// The ratio at `loads`. It equals `ratio_lower` if the search was complete.
    pub ratio_upper: Rational,
    /// Load of each type, per server, at which the ratio is `ratio_upper`.
    pub loads: Vec<Rational>,
    /// The reward of greedy at these loads.
    pub greedy: Rational,
    /// The optimum at these loads.
    pub optimum: Rational,
    /// The proof, in the order of a depth-first search.
    ///
    /// Each order is covered in one of two ways. Either a claim is about all orders that begin with it. Or a claim is
    /// about the order itself, and every order that is longer by one type of its last configuration is also covered.
    pub claims: Vec<OrderClaim>,
}

/// A claim that no loads of some orders have a ratio below [`WorstLoad::ratio_lower`].
#[derive(Debug, Clone, PartialEq)]
pub struct OrderClaim {
    /// The types that run out, in order.
    pub order: Vec<usize>,
    /// True if the claim is about all orders that begin with `order`. Otherwise the claim covers only loads for which
    /// the servers run out next.
    pub covers_all: bool,
    /// For each type, the price of its load.
    pub alpha: Vec<Rational>,
    /// For each type, the price of a slot.
    pub beta: Vec<Rational>,
    /// The price of a server.
    pub pi: Rational,
    /// The proof that no configuration is worth more than `pi`.
    pub proof: PricingProof,
}

/// Computes the worst loads for the types of a problem with one pool. The loads of the problem are ignored.
///
/// Returns `None` if no type has a reward. `progress` is called with the number of claims and the ratio so far.
///
/// # Errors
/// [`PackingError::SeveralPools`], or the errors of [`configuration_lp::solve`].
pub fn worst_load(
    best: &mut MaxReward<'_>,
    progress: &mut dyn FnMut(usize, &Rational),
) -> Result<Option<WorstLoad>, PackingError> {
    let problem = best.problem();
    if problem.n_pools() != 1 {
        return Err(PackingError::SeveralPools);
    }
    let rewards = problem.rewards();
    if rewards.iter().all(Rational::is_zero) {
        return Ok(None);
    }
    let columns = (0..problem.n_types())
        .map(|j| {
            let mut k = vec![0; problem.n_types()];
            k[j] = problem.most(0, j);
            k
        })
        .collect();
    let mut search = OrderSearch {
        best,
        rewards,
        columns,
        ratio: Rational::from(1),
        loads: None,
        claims: Vec::new(),
        progress,
    };
    let types: Vec<usize> = (0..problem.n_types()).collect();
    search.visit(&mut Vec::new(), &mut Vec::new(), &types)?;
    let OrderSearch { best, ratio, loads, claims, .. } = search;
    // If no loads have a ratio below 1, any loads that greedy serves entirely have the least ratio.
    let loads = loads.unwrap_or_else(|| first_served(best));
    let one = [Rational::from(1)];
    let greedy = greedy::fluid(best, &loads, &one)?.reward;
    let optimum = configuration_lp::solve(best, &loads, &one)?.value;
    let ratio_upper = if optimum.is_zero() { Rational::from(1) } else { Rational::from(&greedy / &optimum) };
    Ok(Some(WorstLoad { ratio_lower: ratio, ratio_upper, loads, greedy, optimum, claims }))
}

/// Returns the loads at which one server is full of jobs of the first type with a reward.
fn first_served(best: &MaxReward<'_>) -> Vec<Rational> {
    let mut loads = vec![Rational::new(); best.problem().n_types()];
    let rewarded = best.problem().jobs().iter().position(|job| !job.reward().is_zero());
    if let Some(j) = rewarded {
        loads[j] = Rational::from(best.problem().most(0, j));
    }
    loads
}

struct OrderSearch<'s, 'p> {
    best: &'s mut MaxReward<'p>,
    rewards: Vec<Rational>,
    /// The configurations that were needed in any programme so far.
    columns: Vec<Vec<u64>>,
    ratio: Rational,
    loads: Option<Vec<Rational>>,
    claims: Vec<OrderClaim>,
    progress: &'s mut dyn FnMut(usize, &Rational),
}

/// The answer of a linear programme to the question whether the current ratio holds.
enum Answer {
    Holds(Box<OrderClaim>),
    /// The ratio does not hold for these numbers of servers `z`. The other fields are the jobs served by the optimum
    /// and its reward.
    Fails {
        z: Vec<Rational>,
        slots: Vec<Rational>,
        reward: Rational,
    },
}

impl OrderSearch<'_, '_> {
    /// Proves the ratio for all orders that begin with `order`. Lowers the ratio if a counterexample requires it.
    ///
    /// `steps` are the configurations of the types of `order`, and `open` are the types that have not run out.
    fn visit(
        &mut self,
        order: &mut Vec<usize>,
        steps: &mut Vec<Arc<BestConfiguration>>,
        open: &[usize],
    ) -> Result<(), PackingError> {
        if open.is_empty() {
            return Ok(());
        }
        self.best.limits().turns(PACKING.visit_turns)?;
        let next = self.best.first(0, open)?;
        // The least reward of a server full of one open type is a lower bound for all later steps.
        let mut least: Option<Rational> = None;
        for &j in open {
            let alone = Rational::from(&self.rewards[j] * self.best.problem().most(0, j));
            if least.as_ref().is_none_or(|least| alone < *least) {
                least = Some(alone);
            }
        }
        let least = least.unwrap_or_default();
        steps.push(Arc::clone(&next));
        if let Answer::Holds(claim) = self.test_order(order, steps, &least, true)? {
            self.claim(*claim)?;
            steps.pop();
            return Ok(());
        }
        loop {
            match self.test_order(order, steps, &next.reward, false)? {
                Answer::Holds(claim) => {
                    self.claim(*claim)?;
                    break;
                }
                Answer::Fails { z, slots, reward } => self.improve(order, steps, &z, &slots, &reward),
            }
        }
        for j in (0..next.configuration.len()).filter(|&j| next.configuration[j] > 0) {
            let left: Vec<usize> = open.iter().copied().filter(|&h| h != j).collect();
            order.push(j);
            self.visit(order, steps, &left)?;
            order.pop();
        }
        steps.pop();
        Ok(())
    }

    fn claim(&mut self, claim: OrderClaim) -> Result<(), PackingError> {
        self.best.limits().nodes(claim.alpha.len() + claim.proof.n_nodes())?;
        self.claims.push(claim);
        (self.progress)(self.claims.len(), &self.ratio);
        Ok(())
    }

    /// Lowers the ratio to the ratio of a counterexample, and stores its loads.
    fn improve(
        &mut self,
        order: &[usize],
        steps: &[Arc<BestConfiguration>],
        z: &[Rational],
        slots: &[Rational],
        reward: &Rational,
    ) {
        let greedy: Rational = steps.iter().zip(z).map(|(k, z)| Rational::from(&k.reward * z)).sum();
        self.ratio = greedy / reward;
        let loads = slots.iter().enumerate().map(|(j, slots)| {
            let used = steps.iter().zip(z).map(|(k, z)| Rational::from(z * k.configuration[j]));
            let used: Rational = used.sum();
            if order.contains(&j) { used } else { used.max(slots.clone()) }
        });
        self.loads = Some(loads.collect());
    }

    /// Decides whether the ratio holds for an order whose last configuration earns `last`.
    fn test_order(
        &mut self,
        order: &[usize],
        steps: &[Arc<BestConfiguration>],
        last: &Rational,
        covers_all: bool,
    ) -> Result<Answer, PackingError> {
        let n_types = self.rewards.len();
        loop {
            let lp = self.programme(order, steps, last);
            let mut units: Vec<f64> = order.iter().map(|&j| self.best.problem().most(0, j) as f64).collect();
            units.resize(lp.columns.len(), 1.0);
            let optimum =
                refine::solve(&lp, &units, StartingPoint::default(), PACKING.most_pivots)?.optimum()?;
            let (pi, sigma) = (&optimum.y[order.len()], &optimum.y[order.len() + 1]);
            if Rational::from(pi + sigma) > 0 {
                return Ok(self.failure(order, steps, &optimum));
            }
            let mut alpha = vec![Rational::new(); n_types];
            let mut beta: Vec<Rational> =
                self.rewards.iter().map(|reward| Rational::from(reward * &self.ratio)).collect();
            for (row, &j) in order.iter().enumerate() {
                let price = Rational::from(-&optimum.y[row]);
                alpha[j] = Rational::from(&beta[j] - &price);
                beta[j] = price;
            }
            let (profits, unit) = integers(&beta);
            let bound = Rational::from(pi / &unit).floor().into_numer_denom().0;
            let found = self.best.better(0, &profits, &bound);
            let new: Vec<Vec<u64>> = found.into_iter().filter(|k| !self.columns.contains(k)).collect();
            if !new.is_empty() {
                self.columns.extend(new);
                continue;
            }
            match self.best.verify(0, &beta, pi)? {
                Verdict::Refuted(k) => self.columns.push(k),
                Verdict::Proven(proof) => {
                    let (order, pi) = (order.to_vec(), pi.clone());
                    return Ok(Answer::Holds(Box::new(OrderClaim {
                        order,
                        covers_all,
                        alpha,
                        beta,
                        pi,
                        proof,
                    })));
                }
            }
        }
    }

    /// Builds `max a reward(x, y) - greedy(z)` over the columns so far.
    ///
    /// The columns are the unserved jobs of the types in `order`, then `z`, then `x`. The rows are the rows of the
    /// types in `order`, the sum of `x`, and the sum of `z`.
    fn programme(&self, order: &[usize], steps: &[Arc<BestConfiguration>], last: &Rational) -> ExactLp {
        let one = || Rational::from(1);
        let mut lp = ExactLp::default();
        lp.rows.extend(order.iter().map(|_| (Sense::AtLeast, Rational::new())));
        lp.rows.extend([(Sense::AtMost, one()), (Sense::Equal, one())]);
        let worth = |j: usize| Rational::from(&self.rewards[j] * &self.ratio);
        for (row, &j) in order.iter().enumerate() {
            lp.columns.push(ExactColumn { cost: -worth(j), entries: vec![(row, one())] });
        }
        for (l, step) in steps.iter().enumerate() {
            let earned = if l == order.len() { last } else { &step.reward };
            let mut cost = Rational::from(-earned);
            let mut entries = Vec::new();
            // A type that ran out earlier is not in this configuration.
            for (row, &j) in order.iter().enumerate().filter(|(row, _)| *row >= l) {
                let k = step.configuration[j];
                if k > 0 {
                    cost += worth(j) * k;
                    entries.push((row, -Rational::from(k)));
                }
            }
            entries.push((order.len() + 1, one()));
            lp.columns.push(ExactColumn { cost, entries });
        }
        for k in &self.columns {
            let mut cost = Rational::new();
            let mut entries = Vec::new();
            for (j, &k) in k.iter().enumerate().filter(|(_, k)| **k > 0) {
                match order.iter().position(|&o| o == j) {
                    Some(row) => entries.push((row, Rational::from(k))),
                    None => cost += worth(j) * k,
                }
            }
            entries.sort_by_key(|(row, _)| *row);
            entries.push((order.len(), one()));
            lp.columns.push(ExactColumn { cost, entries });
        }
        lp
    }

    /// Reads the counterexample from an optimum with a positive value.
    fn failure(&self, order: &[usize], steps: &[Arc<BestConfiguration>], optimum: &ExactOptimum) -> Answer {
        let (unserved, rest) = optimum.x.split_at(order.len());
        let (z, x) = rest.split_at(steps.len());
        let mut slots = vec![Rational::new(); self.rewards.len()];
        for (k, x) in self.columns.iter().zip(x).filter(|(_, x)| !x.is_zero()) {
            slots.iter_mut().zip(k).for_each(|(slots, k)| *slots += Rational::from(x * *k));
        }
        let mut served = slots.clone();
        for (row, &j) in order.iter().enumerate() {
            let load = steps.iter().zip(z).map(|(k, z)| Rational::from(z * k.configuration[j]));
            served[j] = load.sum::<Rational>() - &unserved[row];
        }
        let reward = served.iter().zip(&self.rewards).map(|(y, u)| Rational::from(y * u)).sum();
        Answer::Fails { z: z.to_vec(), slots, reward }
    }
}

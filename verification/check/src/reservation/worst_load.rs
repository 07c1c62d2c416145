//! That greedy earns at least a part `a` of the optimum, whatever the load (theory, section 6).
//!
//! Claims stand in the order of a depth-first walk over the orders in which types run out. Let `K_l` be the
//! first configuration when `l - 1` types of the order have run out, for `l = 1..t`, and `U` its reward. A
//! claim holds with prices `alpha, beta, pi >= 0` when `alpha_j + beta_j >= a u_j`, `alpha_j = 0` outside the
//! order, `sum_j beta_j k_j <= pi` for every configuration, and `pi + sum alpha_j K_l[j] <= V_l` over the
//! types of the order from place `l` on, with `V_l = U(K_l)`: then `a` times the optimum is at most what
//! greedy earns under every load with which the servers run out in step `t` (`end`). With the least reward of
//! a server full of one open type as `V_t` the same is true whatever comes next (`all`), and the branch ends.
//! If all types run out greedy serves everything.

use std::collections::HashMap;

use rug::Rational;

use super::optimum::Prices;
use super::packing::{Packing, worth};
use super::problem::configuration;
use crate::json::Json;
use crate::problem::Amounts;
use crate::work::{self, Checked, ensure, refuse};

/// Whether the claims settle every order.
pub fn verify(a: &Rational, firsts: &Json<'_>, claims: &Json<'_>, packing: &mut Packing<'_>) -> Checked<()> {
    let problem = packing.problem;
    let rewards: Amounts = problem.jobs.iter().map(|job| job.reward.clone()).enumerate().collect();
    let mut best = HashMap::new();
    for [open, k, proof] in firsts.rows("open configuration first")? {
        let (open, k) = (problem.types.listed(open)?, configuration(&problem.types, k)?);
        packing.is_first(0, &open, &k, proof).map_err(|fault| fault.about("firsts"))?;
        let reward = worth(&rewards, &k);
        best.insert(open, (k, reward));
    }
    let mut claims = claims.rows("order covers prices pricing")?.into_iter();
    // Orders that are to be settled, the next one last: a type that runs out after the first so many of the
    // order that was looked at before.
    let mut pending = vec![(0, None)];
    let mut order: Vec<usize> = Vec::new();
    while let Some((length, next)) = pending.pop() {
        order.truncate(length);
        order.extend(next);
        let types = problem.jobs.len();
        work::spend(2 * (types + 1) * (order.len() + 1))?;
        // The place of every type in the order; those that do not run out have the last.
        let mut place = vec![order.len(); types];
        order.iter().enumerate().for_each(|(at, j)| place[*j] = at);
        let open = |l: usize| (0..types).filter(|j| place[*j] >= l).collect::<Vec<usize>>();
        let open_last = open(order.len());
        if open_last.is_empty() {
            continue;
        }
        let firsts: Option<Vec<_>> = (0..=order.len()).map(|l| best.get(&open(l))).collect();
        let Some(firsts) = firsts else { return refuse("claims: a first configuration is not stated") };
        let Some([stated, covers, prices, pricing]) = claims.next() else {
            return refuse("claims: there is none about an order");
        };
        let stated: Checked<Vec<usize>> =
            stated.list()?.iter().map(|name| problem.types.named(name)).collect();
        ensure(stated? == order, "claims: there is one about an order that has not its turn")?;
        let is_last = match covers.text()? {
            "all" => true,
            "end" => false,
            _ => return covers.wrong("expected all or end"),
        };
        let prices = Prices::read(prices, packing, a).map_err(|fault| fault.about("claims"))?;
        let is_outside = |j: &usize| !prices.alpha[*j].is_zero();
        let is_inside = !open_last.iter().any(is_outside);
        ensure(is_inside, "claims: the load of a type that does not run out has a price")?;
        let alone = |j: &usize| Rational::from(&problem.jobs[*j].reward * problem.most(0, *j));
        work::spend(problem.size())?;
        let least = open_last.iter().map(alone).min().filter(|_| is_last);
        for (l, (k, reward)) in firsts.iter().enumerate() {
            let later = k.iter().filter(|(j, _)| place[*j] >= l);
            let paid = later.map(|(j, k)| Rational::from(&prices.alpha[*j] * *k));
            let paid = work::sum(paid.chain([prices.pi[0].clone()]).collect())?;
            let value = least.as_ref().filter(|_| l == order.len()).unwrap_or(reward);
            ensure(paid <= *value, "claims: the prices exceed what a step earns")?;
        }
        let priced = packing.is_priced(0, &prices.beta, &prices.pi[0], pricing);
        priced.map_err(|fault| fault.about("claims: pricing"))?;
        if let Some((k, _)) = firsts.last().filter(|_| !is_last) {
            pending.extend(k.iter().rev().map(|(j, _)| (order.len(), Some(*j))));
        }
    }
    ensure(claims.next().is_none(), "claims: there are more than orders to be settled")
}

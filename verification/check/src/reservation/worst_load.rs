//! The proof that greedy earns at least a fraction `a` of the optimum, whatever the load (docs/theory.md, section 6).
//!
//! Claims are in the order of a depth-first walk over the orders in which types can run out. Let `K_l` be the first
//! configuration after `l - 1` types of the order have run out, for `l = 1..t`, and let `U` be its reward. A claim has
//! prices `alpha, beta, pi >= 0` with `alpha_j + beta_j >= a u_j`, with `alpha_j = 0` outside the order, and with
//! `sum_j beta_j k_j <= pi` for every configuration. In addition `pi + sum alpha_j K_l[j] <= V_l`, where the sum is
//! over the types from position `l` of the order on, and `V_l = U(K_l)`. Then `a` times the optimum is at most the
//! reward of greedy, under every load with which the servers run out in step `t` (`end`). Instead, `V_t` may be the
//! smallest reward of a server that is full of jobs of one open type. The same inequality then holds for any types that
//! run out next (`all`), and the branch ends. If all types run out, greedy serves every job.

use std::collections::HashMap;

use rug::Rational;

use super::earned::cover;
use super::packing::{Packing, worth};
use super::problem::Configuration;
use super::stated::{Claim, First};
use crate::names::{Amounts, at};
use crate::work::{self, Checked, context, ensure, require};

/// Checks that the claims cover every order.
pub fn verify(a: &Rational, firsts: &[First], claims: &[Claim], packing: &mut Packing<'_>) -> Checked<()> {
    let problem = packing.problem;
    let rewards: Amounts = problem.jobs.iter().map(|job| job.reward.clone()).enumerate().collect();
    let mut best = HashMap::new();
    for (open, k, proof) in firsts {
        context("firsts", packing.is_first(0, open, k, proof))?;
        best.insert(open, (k, worth(&rewards, k)));
    }
    let mut claims = claims.iter();
    // The orders that are still to be covered. The last entry is covered next. An entry is a length and a type. Its
    // order consists of the first `length` types of the previous order, followed by the type.
    let mut pending = vec![(0, None)];
    let mut order: Vec<usize> = Vec::new();
    while let Some((length, next)) = pending.pop() {
        order.truncate(length);
        order.extend(next);
        let types = problem.jobs.len();
        work::spend(2 * (types + 1) * (order.len() + 1))?;
        // The position of every type in the order. Types that are not in the order have the length of the order as
        // their position.
        let mut place = vec![order.len(); types];
        order.iter().enumerate().for_each(|(at, j)| place[*j] = at);
        let open = |l: usize| (0..types).filter(|j| place[*j] >= l).collect::<Vec<usize>>();
        let open_last = open(order.len());
        if open_last.is_empty() {
            continue;
        }
        let firsts: Option<Vec<_>> = (0..=order.len()).map(|l| best.get(&open(l))).collect();
        let firsts = require(firsts, "claims: `firsts` lacks the first configuration of some set of types")?;
        let (stated, is_last, prices, pricing) =
            require(claims.next(), "claims: a claim about some order of types is missing")?;
        ensure(*stated == order, "claims: a claim is about another order of types than the next one")?;
        context("claims", cover(prices, a, packing))?;
        let [alpha, _, pi] = prices;
        let pi = at(pi, 0).cloned().unwrap_or_default();
        let is_inside = !open_last.iter().any(|j| at(alpha, *j).is_some());
        ensure(is_inside, "claims: a price is stated for the load of a type that does not run out")?;
        let alone = |j: &usize| Rational::from(&problem.jobs[*j].reward * problem.most(0, *j));
        work::spend(problem.size())?;
        let least = open_last.iter().map(alone).min().filter(|_| *is_last);
        for (l, (k, reward)) in firsts.iter().enumerate() {
            let later: Configuration = k.iter().copied().filter(|(j, _)| place[*j] >= l).collect();
            let paid = work::plus(&worth(alpha, &later), &pi)?;
            let value = least.as_ref().filter(|_| l == order.len()).unwrap_or(reward);
            ensure(paid <= *value, "claims: the prices exceed the reward of a step")?;
        }
        context("claims: pricing", packing.is_priced(0, prices, pricing))?;
        if let Some((k, _)) = firsts.last().filter(|_| !*is_last) {
            pending.extend(k.iter().rev().map(|(j, _)| (order.len(), Some(*j))));
        }
    }
    ensure(claims.next().is_none(), "claims: there are more claims than orders of types")
}

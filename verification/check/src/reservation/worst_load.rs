//! That greedy earns at least a part `a` of the optimum, whatever the load (theory, section 6).
//!
//! Claims stand in the order of a depth-first walk over the orders in which types run out. Let `K_l` be the first
//! configuration when `l - 1` types of the order have run out, for `l = 1..t`, and `U` its reward. A claim holds with
//! prices `alpha, beta, pi >= 0` when `alpha_j + beta_j >= a u_j`, `alpha_j = 0` outside the order,
//! `sum_j beta_j k_j <= pi` for every configuration, and `pi + sum alpha_j K_l[j] <= V_l` over the types of the order
//! from place `l` on, with `V_l = U(K_l)`: then `a` times the optimum is at most what greedy earns under every load
//! with which the servers run out in step `t` (`end`). With the least reward of a server full of one open type as
//! `V_t` the same is true whatever comes next (`all`), and the branch ends. If all types run out greedy serves
//! everything.

use std::collections::HashMap;

use rug::Rational;

use super::packing::Packing;
use super::problem::Configuration;
use super::proof::{Prices, Proof, Reader};
use crate::json::Json;
use crate::problem::at;
use crate::work::{self, Checked, ensure, refuse};

/// The first configuration of some open types.
pub struct First {
    open: Vec<usize>,
    configuration: Configuration,
    proof: Proof,
}

/// What the prices say about an order.
pub struct OrderClaim {
    order: Vec<usize>,
    is_last: bool,
    prices: Prices,
    pricing: Proof,
}

pub fn firsts(reader: &Reader<'_>, raw: &Json<'_>) -> Checked<Vec<First>> {
    let read = |raw: &Json<'_>| {
        let [open, configuration, first] = raw.fields(["open", "configuration", "first"])?;
        Ok(First {
            open: reader.problem.types.listed(open)?,
            configuration: reader.configuration(configuration)?,
            proof: reader.proof(first, true)?,
        })
    };
    raw.list()?.iter().map(read).collect()
}

pub fn claims(reader: &Reader<'_>, raw: &Json<'_>) -> Checked<Vec<OrderClaim>> {
    let read = |raw: &Json<'_>| {
        let [order, covers, prices, pricing] = raw.fields(["order", "covers", "prices", "pricing"])?;
        let is_last = match covers.text()? {
            "all" => true,
            "end" => false,
            _ => return covers.wrong("expected all or end"),
        };
        Ok(OrderClaim {
            order: order
                .list()?
                .iter()
                .map(|name| reader.problem.types.named(name))
                .collect::<Checked<_>>()?,
            is_last,
            prices: reader.prices(prices)?,
            pricing: reader.proof(pricing, false)?,
        })
    };
    raw.list()?.iter().map(read).collect()
}

/// The first configuration of some types, and what it is worth.
struct Best<'c> {
    configuration: &'c Configuration,
    reward: Rational,
}

/// Whether the claims settle every order.
pub fn verify(
    a: &Rational,
    firsts: &[First],
    claims: &[OrderClaim],
    packing: &mut Packing<'_>,
) -> Checked<()> {
    let mut best: HashMap<&[usize], Best<'_>> = HashMap::new();
    for First { open, configuration, proof } in firsts {
        packing.is_first(0, open, configuration, proof).map_err(|fault| fault.about("firsts"))?;
        let reward = configuration.iter().map(|(j, k)| Rational::from(&packing.problem.jobs[*j].reward * *k));
        best.insert(open, Best { configuration, reward: reward.sum() });
    }
    let types = packing.problem.jobs.len();
    let mut rest = claims.iter();
    let mut order: Vec<usize> = Vec::new();
    // The configuration of every step up to that of the order, and how many of its types were walked.
    let mut steps: Vec<(&Best<'_>, usize)> = Vec::new();
    loop {
        work::steps(2 * (types as u64 + 1) * (order.len() as u64 + 10))?;
        let open: Vec<usize> = (0..types).filter(|j| !order.contains(j)).collect();
        if !open.is_empty() {
            let Some(first) = best.get(open.as_slice()) else {
                return refuse("claims: the first configuration of some open types is not stated");
            };
            let Some(claim) = rest.next().filter(|claim| claim.order == order) else {
                return refuse("claims: there is none about an order where it has its turn");
            };
            steps.push((first, 0));
            holds(claim, a, &steps, &open, packing)?;
            if claim.is_last {
                steps.pop();
            }
        }
        // The next order: longer by a type of the last configuration that has one left.
        loop {
            let Some((first, walked)) = steps.last_mut() else {
                return ensure(rest.next().is_none(), "claims: there are more than orders to be settled");
            };
            let next = first.configuration.get(*walked);
            *walked += 1;
            order.truncate(steps.len() - 1);
            match next {
                Some((j, _)) => {
                    order.push(*j);
                    break;
                }
                None => drop(steps.pop()),
            }
        }
    }
}

/// Whether a claim holds at the end of these steps.
fn holds(
    claim: &OrderClaim,
    a: &Rational,
    steps: &[(&Best<'_>, usize)],
    open: &[usize],
    packing: &Packing<'_>,
) -> Checked<()> {
    let (problem, zero) = (packing.problem, Rational::new());
    let Prices { load, slot, server } = &claim.prices;
    // The place of every type in the order, from 1; 0 for those that do not run out.
    let mut place = vec![0; problem.jobs.len()];
    claim.order.iter().enumerate().for_each(|(at, j)| place[*j] = at + 1);
    work::spend(2 * problem.jobs.len())?;
    for (j, job) in problem.jobs.iter().enumerate() {
        let (alpha, beta) = (at(load, j).unwrap_or(&zero), at(slot, j).unwrap_or(&zero));
        ensure(*alpha >= 0 && *beta >= 0, "claims: a price is negative")?;
        ensure(place[j] > 0 || alpha.is_zero(), "claims: a load has a price, and its type does not run out")?;
        let enough = Rational::from(alpha + beta) >= Rational::from(a * &job.reward);
        ensure(enough, "claims: prices are less than the ratio of a reward")?;
    }
    let alone = |j: &usize| Rational::from(&problem.jobs[*j].reward * problem.most(0, *j));
    work::spend(open.iter().map(|j| problem.jobs[*j].demand.len() + 2).sum())?;
    let least = open.iter().map(alone).min();
    let pi = at(server, 0).unwrap_or(&zero);
    for (l, (first, _)) in steps.iter().enumerate() {
        let mut parts = vec![pi.clone()];
        work::spend(first.configuration.len())?;
        for (j, k) in first.configuration.iter().filter(|(j, _)| place[*j] > l) {
            parts.extend(at(load, *j).map(|alpha| Rational::from(alpha * *k)));
        }
        let value = match &least {
            Some(least) if claim.is_last && l + 1 == steps.len() => least,
            _ => &first.reward,
        };
        ensure(work::sum(parts)? <= *value, "claims: the prices exceed what a step earns")?;
    }
    packing.is_priced(0, slot, pi, &claim.pricing).map_err(|fault| fault.about("claims: pricing"))
}

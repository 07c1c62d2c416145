//! Which configurations a server takes, and proofs about all of them (theory, section 6; docs/checker.md).
//!
//! The unit of a resource is the greatest rational of which all demands are multiples: capacities are rounded
//! down to it, which changes no configuration. Rewards likewise: every value of a configuration is a multiple
//! of one unit, so that a value below the next multiple after a bound is not above the bound.

use std::collections::HashSet;

use rug::{Integer, Rational};

use super::problem::{Configuration, Reservation, is_part};
use super::table;
use super::tree::{self, Bound};
use crate::json::Json;
use crate::problem::{Amounts, at};
use crate::work::{self, Checked, ensure, refuse};

pub struct Packing<'p> {
    pub problem: &'p Reservation,
    /// The unit of each resource; absent where nobody demands it.
    pub unit: Vec<Option<Rational>>,
    /// Of one server, by pool, in whole units.
    pub capacity: Vec<Amounts>,
    /// First configurations that were proven: a pool of such capacities, the open types as bits, which it is.
    proven: HashSet<(usize, Vec<u64>, Configuration)>,
}

/// The greatest rational of which all values, at least 0, are multiples; `None` where all are 0.
pub fn common_unit<'v>(values: impl Iterator<Item = &'v Rational>) -> Checked<Option<Rational>> {
    let mut unit: Option<Rational> = None;
    for value in values.filter(|value| !value.is_zero()) {
        let before = unit.unwrap_or_else(|| value.clone());
        work::steps(work::cost(work::words(&before) + work::words(value)))?;
        let denominator = Integer::from(before.denom().lcm_ref(value.denom()));
        let over = |v: &Rational| v.numer() * Integer::from(&denominator / v.denom());
        unit = Some(Rational::from((over(&before).gcd(&over(value)), denominator)));
    }
    Ok(unit)
}

/// What a configuration is worth.
pub fn worth(profits: &Amounts, k: &Configuration) -> Rational {
    k.iter().filter_map(|(j, k)| Some(Rational::from(at(profits, *j)? * *k))).sum()
}

impl<'p> Packing<'p> {
    pub fn new(problem: &'p Reservation) -> Checked<Self> {
        let mut demands: Vec<Vec<&Rational>> = vec![Vec::new(); problem.resources.list.len()];
        let entries = problem.jobs.iter().flat_map(|job| &job.demand);
        entries.for_each(|(r, demand)| demands[*r].push(demand));
        let units = demands.into_iter().map(|of| common_unit(of.into_iter()));
        let unit = units.collect::<Checked<Vec<Option<Rational>>>>()?;
        let in_units = |(r, c): &(usize, Rational)| match &unit[*r] {
            Some(unit) => (*r, Rational::from(c / unit).floor() * unit),
            None => (*r, c.clone()),
        };
        let capacity =
            problem.pools.iter().map(|pool| pool.capacity.iter().map(in_units).collect()).collect();
        Ok(Self { problem, unit, capacity, proven: HashSet::new() })
    }

    /// What some jobs leave of a server of a pool, by resource.
    pub fn left(&self, i: usize, jobs: impl Iterator<Item = (usize, u64)>) -> Vec<Rational> {
        let mut left = vec![Rational::new(); self.unit.len()];
        self.capacity[i].iter().for_each(|(r, c)| left[*r].clone_from(c));
        for (j, k) in jobs {
            self.problem.jobs[j].demand.iter().for_each(|(r, d)| left[*r] -= Rational::from(d * k));
        }
        left
    }

    /// Whether a server of a pool takes a configuration.
    pub fn takes(&self, i: usize, k: &Configuration) -> Checked<bool> {
        if let Some(list) = &self.problem.configurations {
            work::steps(20 * list.len() as u64 * (k.len() as u64 + 1))?;
            return Ok(list.iter().any(|most| is_part(k, most)));
        }
        let entries: usize = k.iter().map(|(j, _)| self.problem.jobs[*j].demand.len()).sum();
        work::spend(entries + self.unit.len())?;
        Ok(self.left(i, k.iter().copied()).iter().all(|left| *left >= 0))
    }

    /// Whether `sum_j beta_j k_j <= bound` for every configuration of a pool.
    pub fn is_priced(&self, i: usize, beta: &Amounts, bound: &Rational, proof: &Json<'_>) -> Checked<()> {
        ensure(*bound >= 0, "not even the empty configuration is worth as little")?;
        let unit = common_unit(beta.iter().map(|(_, beta)| beta))?.unwrap_or_else(|| Rational::from(1));
        let limit = (Rational::from(bound / &unit).floor() + 1u32) * &unit;
        let too_much = "a configuration is worth more";
        match (self.method(proof)?, &self.problem.configurations) {
            ("tree", None) => {
                let [_, multipliers, nodes] = proof.fields("method multipliers nodes")?;
                tree::verify(self, &Bound { pool: i, profits: beta, limit, order: None }, multipliers, nodes)
            }
            ("dynamic-programme", None) => {
                let [_, cells] = proof.fields("method cells")?;
                let types: Vec<usize> = beta.iter().map(|(j, _)| *j).collect();
                ensure(worth(beta, &table::first(self, i, cells, &types, (beta, &unit))?) < limit, too_much)
            }
            ("listed", Some(list)) => {
                proof.fields::<0>("method")?;
                work::spend(list.iter().map(Vec::len).sum())?;
                ensure(list.iter().all(|k| worth(beta, k) <= *bound), too_much)
            }
            ("known", _) => proof.wrong("there is no such method of proof"),
            _ => refuse("a proof of a kind that this problem does not take"),
        }
    }

    /// Whether `k` is the first configuration of the open types (ascending) on a server of a pool: none is
    /// worth more by its rewards, and of those worth as much it is the greatest at the first difference.
    pub fn is_first(&mut self, i: usize, open: &[usize], k: &Configuration, proof: &Json<'_>) -> Checked<()> {
        work::spend(open.len() + self.problem.jobs.len())?;
        let mut bits = vec![0_u64; self.problem.jobs.len() / 64 + 1];
        open.iter().for_each(|j| bits[j / 64] |= 1 << (j % 64));
        let same = self.capacity.iter().position(|capacity| *capacity == self.capacity[i]);
        let key = (same.unwrap_or(i), bits, k.clone());
        let method = self.method(proof)?;
        if method == "known" {
            proof.fields::<0>("method")?;
            return ensure(self.proven.contains(&key), "no earlier step has proven it");
        }
        ensure(k.iter().all(|(j, _)| open.binary_search(j).is_ok()), "it holds a type that is exhausted")?;
        ensure(self.takes(i, k)?, "it does not fit")?;
        let mut rewards: Amounts = open.iter().map(|j| (*j, self.problem.jobs[*j].reward.clone())).collect();
        rewards.retain(|(_, reward)| !reward.is_zero());
        let unit = common_unit(rewards.iter().map(|(_, u)| u))?.unwrap_or_else(|| Rational::from(1));
        let own = worth(&rewards, k);
        let is_first = match (method, &self.problem.configurations) {
            ("tree", None) => {
                let [_, value, order] = proof.fields("method value order")?;
                let bounds = [(value, own.clone() + &unit, None), (order, own, Some((k, open)))];
                for (proof, limit, order) in bounds {
                    let [multipliers, nodes] = proof.fields("multipliers nodes")?;
                    tree::verify(
                        self,
                        &Bound { pool: i, profits: &rewards, limit, order },
                        multipliers,
                        nodes,
                    )?;
                }
                true
            }
            ("dynamic-programme", None) => {
                let [_, cells] = proof.fields("method cells")?;
                table::first(self, i, cells, open, (&rewards, &unit))? == *k
            }
            ("listed", Some(list)) => {
                proof.fields::<0>("method")?;
                work::spend(list.iter().map(|other| other.len() + open.len()).sum())?;
                // The value, and then the jobs of each open type: the greatest comes first.
                let rank = |k: &Configuration| {
                    let jobs = |j: &usize| at(k, *j).copied().unwrap_or(0);
                    (worth(&rewards, k), open.iter().map(jobs).collect::<Vec<u64>>())
                };
                let own = rank(k);
                list.iter().all(|other| rank(other) <= own)
            }
            _ => return refuse("a proof of a kind that this problem does not take"),
        };
        ensure(is_first, "another configuration stands before it")?;
        self.proven.insert(key);
        Ok(())
    }

    /// How something is proven of all configurations.
    fn method<'j>(&self, proof: &'j Json<'_>) -> Checked<&'j str> {
        let known = ["tree", "dynamic-programme", "listed", "known"];
        match proof.get("method").given().map_or(Ok(""), Json::text)? {
            method if known.contains(&method) => Ok(method),
            _ => proof.wrong("there is no such method of proof"),
        }
    }
}

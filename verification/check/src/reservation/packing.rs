//! Which configurations a server takes, and proofs about all of them (theory, section 6; docs/checker.md).
//!
//! The unit of a resource is the greatest rational of which all demands are multiples: capacities are rounded
//! down to it, which changes no configuration. Rewards likewise: every value of a configuration is a multiple
//! of one unit, so that a value below the next multiple after a bound is not above the bound.

use std::collections::HashSet;

use rug::{Integer, Rational};

use super::problem::{Configuration, Reservation, is_part};
use super::stated::{Prices, Proof};
use super::table;
use super::tree::{self, Bound};
use crate::names::{Amounts, at};
use crate::work::{self, Checked, ensure, refuse};

/// Profits of types, and a unit of which they are multiples.
pub type Profits<'a> = (&'a Amounts, &'a Rational);

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

/// What a configuration, or what else there is so much of, is worth.
pub fn worth<V: Clone + Into<Rational>>(profits: &Amounts, amounts: &[(usize, V)]) -> Rational {
    amounts.iter().filter_map(|(j, amount)| Some(amount.clone().into() * at(profits, *j)?)).sum()
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

    /// Whether `sum_j beta_j k_j <= pi_i` for every configuration of a pool.
    pub fn is_priced(&self, i: usize, [_, beta, pi]: &Prices, proof: &Proof) -> Checked<()> {
        let bound = at(pi, i).cloned().unwrap_or_default();
        ensure(bound >= 0, "not even the empty configuration is worth as little")?;
        let types: Vec<usize> = beta.iter().map(|(j, _)| *j).collect();
        self.shows(&Bound { pool: i, profits: beta, limit: bound, order: None }, &types, proof)
    }

    /// Whether a proof shows that no configuration of some types (ascending) is worth more than the limit of a bound; and, where
    /// one is named that is worth as much, that it is the greatest of those at the first difference.
    fn shows(&self, bound: &Bound<'_>, types: &[usize], proof: &Proof) -> Checked<()> {
        let Bound { pool, profits, limit: most, order } = bound;
        let unit = common_unit(profits.iter().map(|(_, u)| u))?.unwrap_or_else(|| Rational::from(1));
        let limit = (Rational::from(most / &unit).floor() + 1u32) * &unit;
        let best: Configuration = match (proof, &self.problem.configurations) {
            (Proof::Tree(trees), None) => {
                let value = Bound { pool: *pool, profits, limit, order: None };
                let bounds = [Some(&value), order.map(|_| bound)].into_iter().flatten();
                let mut each = trees.iter().zip(bounds);
                return each.try_for_each(|(tree, bound)| tree::verify(self, bound, tree));
            }
            (Proof::Table(cells), None) => table::first(self, *pool, *cells, types, (profits, &unit))?,
            (Proof::Listed, Some(list)) => {
                work::spend(list.iter().map(|k| k.len() + types.len()).sum())?;
                let jobs = |k: &Configuration| -> Vec<u64> {
                    types.iter().map(|j| at(k, *j).copied().unwrap_or(0)).collect()
                };
                // The value, and then the jobs of each type: the greatest comes first.
                let best = list.iter().map(|k| (worth(profits, k), jobs(k))).max().unwrap_or_default();
                types.iter().copied().zip(best.1).filter(|(_, k)| *k > 0).collect()
            }
            _ => return refuse("a proof of a kind that this problem does not take"),
        };
        ensure(order.is_none_or(|(first, _)| *first == best), "another configuration stands before it")?;
        ensure(worth(profits, &best) < limit, "a configuration is worth more")
    }

    /// Whether `k` is the first configuration of the open types (ascending) on a server of a pool: none is
    /// worth more by its rewards, and of those worth as much it is the greatest at the first difference.
    pub fn is_first(&mut self, i: usize, open: &[usize], k: &Configuration, proof: &Proof) -> Checked<()> {
        work::spend(open.len() + self.problem.jobs.len())?;
        let mut bits = vec![0_u64; self.problem.jobs.len() / 64 + 1];
        open.iter().for_each(|j| bits[j / 64] |= 1 << (j % 64));
        let pools = &self.problem.pools;
        let same = pools.iter().position(|pool| pool.capacity == pools[i].capacity);
        let key = (same.unwrap_or(i), bits, k.clone());
        if matches!(proof, Proof::Known) {
            return ensure(self.proven.contains(&key), "no earlier step has proven it");
        }
        ensure(k.iter().all(|(j, _)| open.binary_search(j).is_ok()), "it holds a type that is exhausted")?;
        ensure(self.takes(i, k)?, "it does not fit")?;
        let mut rewards: Amounts = open.iter().map(|j| (*j, self.problem.jobs[*j].reward.clone())).collect();
        rewards.retain(|(_, reward)| !reward.is_zero());
        let (limit, order) = (worth(&rewards, k), Some((k, open)));
        self.shows(&Bound { pool: i, profits: &rewards, limit, order }, open, proof)?;
        self.proven.insert(key);
        Ok(())
    }
}

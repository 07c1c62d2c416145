//! Which configurations a server takes, and proofs about all of them (theory, section 6; docs/checker.md).
//!
//! Demands and capacities are counted in units: for each resource the greatest rational of which all demands are
//! multiples; capacities are rounded down, which changes no configuration. Rewards likewise: every value of a
//! configuration is a multiple of one unit, so that a bound `B` is as good as `B` rounded down to a multiple.

use std::collections::HashSet;

use rug::{Integer, Rational};

use super::problem::{Configuration, Reservation, is_part};
use super::proof::{Proof, Tree};
use super::table::Table;
use super::tree;
use crate::number::floor;
use crate::problem::{Amounts, at};
use crate::work::{self, Checked, ensure, refuse};

/// Amounts in units, by resource.
pub type Units = Vec<(usize, Integer)>;

pub struct Packing<'p> {
    pub problem: &'p Reservation,
    /// The unit of each resource; absent where nobody demands it.
    pub unit: Vec<Option<Rational>>,
    /// By type.
    pub demand: Vec<Units>,
    /// By pool: of the resources that somebody demands.
    pub capacity: Vec<Units>,
    /// First configurations that were proven: a pool of such capacities, the open types as bits, which it is.
    proven: HashSet<(usize, Vec<u64>, Configuration)>,
}

/// What is claimed of all configurations of a pool: by these profits (at least 0, in units) none is worth more
/// than `most`.
pub struct Bound<'a> {
    pub pool: usize,
    pub profits: &'a [Integer],
    /// The unit of the profits.
    pub unit: &'a Rational,
    pub most: Integer,
    /// Or, where it is there: it is not greater than this configuration at the first difference, of the types
    /// that are open.
    pub order: Option<(&'a Configuration, &'a [usize])>,
}

/// The greatest rational of which all values, at least 0, are multiples; `None` where all are 0.
pub fn common_unit<'v>(values: impl Iterator<Item = &'v Rational>) -> Checked<Option<Rational>> {
    let mut unit: Option<Rational> = None;
    for value in values.filter(|value| !value.is_zero()) {
        let Some(before) = unit else {
            unit = Some(value.clone());
            continue;
        };
        work::steps(work::cost(work::words(&before) + work::words(value)))?;
        let denominator = Integer::from(before.denom().lcm_ref(value.denom()));
        let over = |v: &Rational| v.numer() * Integer::from(&denominator / v.denom());
        unit = Some(Rational::from((over(&before).gcd(&over(value)), denominator)));
    }
    Ok(unit)
}

impl<'p> Packing<'p> {
    pub fn new(problem: &'p Reservation) -> Checked<Self> {
        let mut demands: Vec<Vec<&Rational>> = vec![Vec::new(); problem.resources.list.len()];
        let entries = problem.jobs.iter().flat_map(|job| &job.demand);
        entries.for_each(|(r, demand)| demands[*r].push(demand));
        let unit: Vec<Option<Rational>> =
            demands.into_iter().map(|of| common_unit(of.into_iter())).collect::<Checked<_>>()?;
        let in_units = |amounts: &Amounts| -> Units {
            let of = |(r, value): &(usize, Rational)| {
                Some((*r, floor(Rational::from(value / unit[*r].as_ref()?))))
            };
            amounts.iter().filter_map(of).collect()
        };
        let demand = problem.jobs.iter().map(|job| in_units(&job.demand)).collect();
        let capacity = problem.capacity.iter().map(in_units).collect();
        Ok(Self { problem, unit, demand, capacity, proven: HashSet::new() })
    }

    /// What a server of a pool has, by resource.
    pub fn free(&self, i: usize) -> Vec<Integer> {
        let mut free = vec![Integer::new(); self.unit.len()];
        self.capacity[i].iter().for_each(|(r, amount)| free[*r].clone_from(amount));
        free
    }

    /// Whether a server of a pool takes a configuration.
    pub fn takes(&self, i: usize, k: &Configuration) -> Checked<bool> {
        if let Some(list) = &self.problem.configurations {
            work::steps(20 * list.len() as u64 * (k.len() as u64 + 1))?;
            return Ok(list.iter().any(|most| is_part(k, most)));
        }
        let entries: usize = k.iter().map(|(j, _)| self.demand[*j].len()).sum();
        work::steps(20 * (entries + self.unit.len()) as u64)?;
        let mut free = self.free(i);
        for (j, k) in k {
            self.demand[*j].iter().for_each(|(r, d)| free[*r] -= Integer::from(d * *k));
        }
        Ok(free.iter().all(|free| *free >= 0))
    }

    /// Whether `sum_j beta_j k_j <= bound` for every configuration of a pool.
    pub fn is_priced(&self, i: usize, beta: &Amounts, bound: &Rational, proof: &Proof) -> Checked<()> {
        ensure(*bound >= 0, "not even the empty configuration is worth as little")?;
        let unit = common_unit(beta.iter().map(|(_, beta)| beta))?.unwrap_or_else(|| Rational::from(1));
        let profits = self.profits(beta, &unit)?;
        let most = floor(Rational::from(bound / &unit));
        match proof {
            Proof::Tree(proof) if self.problem.configurations.is_none() => tree::verify(
                self,
                &Bound { pool: i, profits: &profits, unit: &unit, most, order: None },
                proof,
            ),
            Proof::Table { cells } if self.problem.configurations.is_none() => {
                let types: Vec<usize> = (0..profits.len()).filter(|j| profits[*j] > 0).collect();
                let (_, value) = Table::new(self, i, *cells)?.first(&types, &profits)?;
                ensure(value <= most, "a configuration is worth more")
            }
            Proof::Listed => {
                let list = self.listed(profits.len())?;
                ensure(list.iter().all(|k| worth(&profits, k) <= most), "a configuration is worth more")
            }
            _ => refuse("a proof of a kind that this problem does not take"),
        }
    }

    /// Whether `k` is the first configuration of the open types (ascending) on a server of a pool: none is worth
    /// more by its rewards, and of those worth as much it is the greatest at the first difference.
    pub fn is_first(&mut self, i: usize, open: &[usize], k: &Configuration, proof: &Proof) -> Checked<()> {
        work::steps(10 * (open.len() + k.len() + self.problem.jobs.len()) as u64)?;
        let mut bits = vec![0_u64; self.problem.jobs.len() / 64 + 1];
        open.iter().for_each(|j| bits[j / 64] |= 1 << (j % 64));
        let same = self.problem.capacity.iter().position(|capacity| *capacity == self.problem.capacity[i]);
        let key = (same.unwrap_or(i), bits, k.clone());
        if let Proof::Known = proof {
            return ensure(self.proven.contains(&key), "no earlier step has proven it");
        }
        ensure(k.iter().all(|(j, _)| open.binary_search(j).is_ok()), "it holds a type that is exhausted")?;
        ensure(self.takes(i, k)?, "it does not fit")?;
        let rewards = open.iter().map(|j| (*j, self.problem.jobs[*j].reward.clone())).collect();
        let unit = open.iter().map(|j| &self.problem.jobs[*j].reward);
        let unit = common_unit(unit)?.unwrap_or_else(|| Rational::from(1));
        let profits = self.profits(&rewards, &unit)?;
        let own = worth(&profits, k);
        match proof {
            Proof::Trees { value, order } if self.problem.configurations.is_none() => {
                self.is_proven(i, &profits, &unit, own.clone(), None, value)?;
                self.is_proven(i, &profits, &unit, own - 1, Some((k, open)), order)?;
            }
            Proof::Table { cells } if self.problem.configurations.is_none() => {
                let (first, _) = Table::new(self, i, *cells)?.first(open, &profits)?;
                ensure(first == *k, "another configuration stands before it")?;
            }
            Proof::Listed => {
                let greater = |other: &Configuration| {
                    let jobs = |k: &Configuration, j: &usize| at(k, *j).copied().unwrap_or(0);
                    open.iter().map(|j| jobs(other, j)).gt(open.iter().map(|j| jobs(k, j)))
                };
                let before = |other: &Configuration| match worth(&profits, other) {
                    value if value == own => greater(other),
                    value => value > own,
                };
                ensure(
                    !self.listed(open.len())?.iter().any(before),
                    "another configuration stands before it",
                )?;
            }
            _ => return refuse("a proof of a kind that this problem does not take"),
        }
        self.proven.insert(key);
        Ok(())
    }

    fn is_proven(
        &self,
        pool: usize,
        profits: &[Integer],
        unit: &Rational,
        most: Integer,
        order: Option<(&Configuration, &[usize])>,
        proof: &Tree,
    ) -> Checked<()> {
        tree::verify(self, &Bound { pool, profits, unit, most, order }, proof)
    }

    /// Values by type, in units.
    fn profits(&self, values: &Amounts, unit: &Rational) -> Checked<Vec<Integer>> {
        work::spend(values.len() + 1)?;
        let mut profits = vec![Integer::new(); self.problem.jobs.len()];
        for (j, value) in values {
            profits[*j] = floor(Rational::from(value / unit));
        }
        Ok(profits)
    }

    /// The stated configurations, paid for.
    fn listed(&self, types: usize) -> Checked<&'p [Configuration]> {
        let Some(list) = &self.problem.configurations else {
            return refuse("a proof of a kind that this problem does not take");
        };
        work::steps(100 * list.len() as u64 * (types as u64 + 1))?;
        Ok(list)
    }
}

fn worth(profits: &[Integer], k: &Configuration) -> Integer {
    k.iter().map(|(j, k)| Integer::from(&profits[*j] * *k)).sum()
}

//! Configurations that fit on a server, and proofs about all configurations of a server (docs/theory.md, section 6;
//! docs/checker.md).
//!
//! The unit of a resource is the greatest rational number such that all demands are multiples of it. Capacities are
//! rounded down to multiples of the unit, which changes no configuration. Profits have a unit in the same sense, and
//! the worth of a configuration is a multiple of this unit. Therefore a worth that is less than the next multiple above
//! a bound does not exceed the bound.

use std::collections::HashSet;

use rug::{Integer, Rational};

use super::problem::{Configuration, Reservation, count, is_part};
use super::stated::{Prices, Proof};
use super::table;
use super::tree::{self, Bound};
use crate::names::{Amounts, at};
use crate::work::{self, Checked, ensure, refuse};

/// A problem with its units, and the configurations that were proven to be first configurations.
pub struct Packing<'p> {
    pub problem: &'p Reservation,
    /// The unit of each resource. The unit is 0 if no job demands the resource.
    pub unit: Vec<Rational>,
    /// The capacity of one server of each pool, rounded down to whole units.
    pub capacity: Vec<Amounts>,
    /// The proven first configurations: the capacity of the pool, the open types as bits, and the configuration.
    proven: HashSet<(&'p Amounts, Vec<u64>, Configuration)>,
}

/// Returns the greatest rational number such that both numbers are its multiples. The numbers have to be at least 0.
/// The result is 0 if both numbers are 0.
pub fn common_unit(a: &Rational, b: &Rational) -> Checked<Rational> {
    work::steps(work::cost(work::words(a) + work::words(b)))?;
    let denominator = Integer::from(a.denom().lcm_ref(b.denom()));
    let over = |v: &Rational| v.numer() * Integer::from(&denominator / v.denom());
    Ok(Rational::from((over(a).gcd(&over(b)), denominator)))
}

/// Returns the largest multiple of a unit that is at most a value. The unit has to be positive.
pub fn multiple(value: &Rational, unit: &Rational) -> Rational {
    Rational::from(value / unit).floor() * unit
}

/// Returns the sum of amounts times profits, for example the worth of a configuration.
pub fn worth<V: Clone + Into<Rational>>(profits: &Amounts, amounts: &[(usize, V)]) -> Rational {
    amounts.iter().filter_map(|(j, amount)| Some(amount.clone().into() * at(profits, *j)?)).sum()
}

impl<'p> Packing<'p> {
    pub fn new(problem: &'p Reservation) -> Checked<Self> {
        let mut unit = vec![Rational::new(); problem.resources.list.len()];
        for (r, demand) in problem.jobs.iter().flat_map(|job| &job.demand) {
            unit[*r] = common_unit(&unit[*r], demand)?;
        }
        let in_units = |(r, c): &(usize, Rational)| {
            (*r, if unit[*r].is_zero() { c.clone() } else { multiple(c, &unit[*r]) })
        };
        let capacity = problem.pools.iter().map(|of| of.capacity.iter().map(in_units).collect()).collect();
        Ok(Self { problem, unit, capacity, proven: HashSet::new() })
    }

    /// Returns the free capacity by resource that some jobs leave on a server of a pool.
    pub fn left(&self, i: usize, jobs: impl Iterator<Item = (usize, u64)>) -> Vec<Rational> {
        let mut left = vec![Rational::new(); self.unit.len()];
        self.capacity[i].iter().for_each(|(r, c)| left[*r].clone_from(c));
        for (j, k) in jobs {
            self.problem.jobs[j].demand.iter().for_each(|(r, d)| left[*r] -= Rational::from(d * k));
        }
        left
    }

    /// Returns true if a configuration fits on a server of a pool.
    pub fn takes(&self, i: usize, k: &Configuration) -> Checked<bool> {
        if let Some(list) = &self.problem.configurations {
            work::steps(20 * list.len() as u64 * (k.len() as u64 + 1))?;
            return Ok(list.iter().any(|most| is_part(k, most)));
        }
        let entries: usize = k.iter().map(|(j, _)| self.problem.jobs[*j].demand.len()).sum();
        work::spend(entries + self.unit.len())?;
        Ok(self.left(i, k.iter().copied()).iter().all(|left| *left >= 0))
    }

    /// Checks that `sum_j beta_j k_j <= pi_i` for every configuration of a pool.
    pub fn is_priced(&self, i: usize, [_, beta, pi]: &Prices, proof: &Proof) -> Checked<()> {
        let types: Vec<usize> = beta.iter().map(|(j, _)| *j).collect();
        let limit = at(pi, i).cloned().unwrap_or_default();
        self.shows(&Bound { pool: i, profits: beta, limit, order: None }, &types, proof)
    }

    /// Checks with a proof that no configuration of some types (ascending) is worth more than the limit of a bound. If
    /// the bound names a configuration that is worth the limit, the proof also has to show that it is the first of all
    /// configurations with this worth.
    fn shows(&self, bound: &Bound<'_>, types: &[usize], proof: &Proof) -> Checked<()> {
        let Bound { pool, profits, limit: most, order } = bound;
        let unit = profits.iter().try_fold(Rational::new(), |unit, (_, u)| common_unit(&unit, u))?;
        let unit = if unit.is_zero() { Rational::from(1) } else { unit };
        let limit = multiple(most, &unit) + &unit;
        let best: Configuration = match (proof, &self.problem.configurations) {
            (Proof::Tree(trees), None) => {
                let value = Bound { pool: *pool, profits, limit, order: None };
                let bounds = [Some(&value), order.map(|_| bound)].into_iter().flatten();
                let mut each = trees.iter().zip(bounds);
                return each.try_for_each(|(tree, bound)| tree::verify(self, bound, tree));
            }
            (Proof::Table(cells), None) => table::first(self, *pool, *cells, types, profits, &unit)?,
            (Proof::Listed, Some(list)) => {
                work::spend(list.iter().map(|k| k.len() + types.len()).sum())?;
                let jobs = |k: &Configuration| -> Vec<u64> { types.iter().map(|j| count(k, *j)).collect() };
                // Configurations are compared by their worth, then by the jobs of each type.
                let best = list.iter().map(|k| (worth(profits, k), jobs(k))).max().unwrap_or_default();
                types.iter().copied().zip(best.1).filter(|(_, k)| *k > 0).collect()
            }
            _ => {
                return refuse(
                    "the method of a proof does not match the problem: `listed` is for stated configurations, and \
                    only for them",
                );
            }
        };
        ensure(
            order.is_none_or(|(first, _)| *first == best),
            "another configuration has a larger reward, or an equal reward and comes first",
        )?;
        ensure(
            worth(profits, &best) < limit,
            "a configuration is worth more than the bound that the proof has to show",
        )
    }

    /// Checks that `k` is the first configuration of the open types (ascending) on a server of a pool. No configuration
    /// has a larger reward. Among configurations with the same reward, `k` has more jobs of the first type in which the
    /// configurations differ.
    pub fn is_first(&mut self, i: usize, open: &[usize], k: &Configuration, proof: &Proof) -> Checked<()> {
        work::spend(open.len() + self.problem.jobs.len())?;
        let mut bits = vec![0_u64; self.problem.jobs.len() / 64 + 1];
        open.iter().for_each(|j| bits[j / 64] |= 1 << (j % 64));
        let key = (&self.problem.pools[i].capacity, bits, k.clone());
        if matches!(proof, Proof::Known) {
            return ensure(
                self.proven.contains(&key),
                "the method is `known`, but no earlier step proves this configuration",
            );
        }
        ensure(
            k.iter().all(|(j, _)| open.binary_search(j).is_ok()),
            "the configuration has jobs of an exhausted type",
        )?;
        ensure(self.takes(i, k)?, "the configuration does not fit on a server of its pool")?;
        let rewards: Amounts = open.iter().map(|j| (*j, self.problem.jobs[*j].reward.clone())).collect();
        let (limit, order) = (worth(&rewards, k), Some((k, open)));
        self.shows(&Bound { pool: i, profits: &rewards, limit, order }, open, proof)?;
        self.proven.insert(key);
        Ok(())
    }
}

//! What the servers of a pool take, in integers.

use evenhand_problem::{Quantities, Reservation, ServerPool};
use rug::{Integer, Rational};

use super::work::Work;
use crate::refusal::Refusal;

/// A configuration: jobs by type, those above 0 alone, in the order of the types.
pub type Configuration = Vec<(usize, u64)>;

/// A configuration that is given by a number of jobs for every type.
#[must_use]
pub fn sparse(k: &[u64]) -> Configuration {
    k.iter().copied().enumerate().filter(|(_, k)| *k > 0).collect()
}

/// The servers of all pools.
pub(super) enum Shape<'p> {
    /// Demands and capacities.
    Capacities(Scaled<'p>),
    /// The maximal configurations, on every pool.
    Listed(&'p [Vec<u64>]),
}

/// Demands and capacities in units of the greatest common divisor of the demands, by resource;
/// capacities rounded down, which changes no configuration. As long as the problem, zeros left out: `q`
/// numbers the resources that some type demands, in the order of the problem.
pub(super) struct Scaled<'p> {
    /// By type: `(q, amount)`, ascending.
    pub demand: Vec<Vec<(usize, Integer)>>,
    /// By pool: `(q, amount)`, ascending.
    pub capacity: Vec<Vec<(usize, Integer)>>,
    /// By `q`: the resource, and its unit.
    pub units: Vec<(usize, Rational)>,
    /// By resource: `q`.
    pub position: Vec<Option<usize>>,
    /// Capacities as they are stated, by pool.
    pub stated: Vec<&'p Quantities>,
}

impl<'p> Shape<'p> {
    pub fn new(problem: &'p Reservation, work: &mut Work) -> Result<Self, Refusal> {
        if let Some(list) = problem.configurations() {
            return Ok(Self::Listed(list));
        }
        Ok(Self::Capacities(Scaled::new(problem, work)?))
    }

    /// Whether a server of pool `i` takes the configuration.
    pub fn is_feasible(&self, i: usize, k: &Configuration, work: &mut Work) -> Result<bool, Refusal> {
        match self {
            Self::Capacities(scaled) => {
                let n_entries: usize = k.iter().map(|(j, _)| scaled.demand[*j].len()).sum();
                work.steps(n_entries + scaled.units.len() + 1, 20)?;
                let mut left = scaled.capacity(i);
                for (j, k) in k {
                    for (q, demand) in &scaled.demand[*j] {
                        left[*q] -= Integer::from(demand * *k);
                    }
                }
                Ok(left.iter().all(|left| *left >= 0))
            }
            Self::Listed(list) => {
                work.steps(k.len() + 1, list.len())?;
                Ok(list.iter().any(|most| k.iter().all(|(j, k)| *k <= most[*j])))
            }
        }
    }

    /// Whether one job of type `j` fits on a server of pool `i`.
    pub fn fits(&self, i: usize, j: usize) -> bool {
        match self {
            Self::Capacities(scaled) => scaled.fits(i, j),
            Self::Listed(list) => list.iter().any(|most| most[j] > 0),
        }
    }
}

impl<'p> Scaled<'p> {
    fn new(problem: &'p Reservation, work: &mut Work) -> Result<Self, Refusal> {
        let jobs = problem.jobs();
        let n_entries: usize = jobs.iter().map(|job| job.demand().entries().len()).sum();
        work.steps(n_entries + problem.resources().len(), 200)?;
        let mut values: Vec<Vec<&Rational>> = vec![Vec::new(); problem.resources().len()];
        for (r, demand) in jobs.iter().flat_map(|job| job.demand().entries()) {
            values[*r].push(demand);
        }
        let mut units = Vec::new();
        let mut position = vec![None; values.len()];
        for (r, values) in values.iter().enumerate() {
            if let Some(unit) = common_unit(values.iter().copied(), work)? {
                position[r] = Some(units.len());
                units.push((r, unit));
            }
        }
        let in_units = |quantities: &Quantities| -> Vec<(usize, Integer)> {
            let stated = quantities.entries().iter();
            stated.filter_map(|(r, v)| position[*r].map(|q| (q, floor(v, &units[q].1)))).collect()
        };
        Ok(Self {
            demand: jobs.iter().map(|job| in_units(job.demand())).collect(),
            capacity: problem.pools().iter().map(|pool| in_units(pool.capacity())).collect(),
            stated: problem.pools().iter().map(ServerPool::capacity).collect(),
            units,
            position,
        })
    }

    /// The capacity of a server of pool `i`, by `q`.
    pub fn capacity(&self, i: usize) -> Vec<Integer> {
        let mut capacity = vec![Integer::new(); self.units.len()];
        self.capacity[i].iter().for_each(|(q, amount)| capacity[*q].clone_from(amount));
        capacity
    }

    /// The same of one resource.
    pub fn capacity_of(&self, i: usize, q: usize) -> Integer {
        let at = self.capacity[i].binary_search_by_key(&q, |(q, _)| *q);
        at.map_or_else(|_| Integer::new(), |at| self.capacity[i][at].1.clone())
    }

    pub fn fits(&self, i: usize, j: usize) -> bool {
        let here = &self.capacity[i];
        self.demand[j].iter().all(|(q, demand)| {
            here.binary_search_by_key(q, |(q, _)| *q).is_ok_and(|at| *demand <= here[at].1)
        })
    }
}

/// `floor(value / unit)`
pub(super) fn floor(value: &Rational, unit: &Rational) -> Integer {
    Rational::from(value / unit).floor().into_numer_denom().0
}

/// The greatest rational of which all values, at least 0, are multiples; `None` where all are 0.
pub(super) fn common_unit<'v>(
    values: impl Iterator<Item = &'v Rational> + Clone,
    work: &mut Work,
) -> Result<Option<Rational>, Refusal> {
    let mut unit: Option<Rational> = None;
    let n_values = values.clone().count();
    for value in values.filter(|value| !value.is_zero()) {
        unit = Some(match unit {
            None => value.clone(),
            Some(unit) => {
                let denominator = Integer::from(unit.denom().lcm_ref(value.denom()));
                // All values will be multiples of 1 / denominator at most.
                work.numbers(1, &denominator)?;
                let over = |v: &Rational| v.numer() * Integer::from(&denominator / v.denom());
                let numerator = over(&unit).gcd(&over(value));
                Rational::from((numerator, denominator))
            }
        });
    }
    if let Some(unit) = &unit {
        work.numbers(n_values, unit.denom())?;
    }
    Ok(unit)
}

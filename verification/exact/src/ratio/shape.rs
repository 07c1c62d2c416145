//! What the servers of a pool take, in integers.

use evenhand_problem::{Pool, Quantities, Reservation};
use rug::{Integer, Rational};

use super::work::Work;

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
/// capacities rounded down, which changes no configuration.
pub(super) struct Scaled<'p> {
    /// By type, then by resource.
    pub demand: Vec<Vec<Integer>>,
    /// By pool, then by resource; 0 for a resource that no type demands.
    pub capacity: Vec<Vec<Integer>>,
    /// By resource; `None` where no type demands any.
    pub units: Vec<Option<Rational>>,
    /// Capacities as they are stated.
    pub stated: Vec<&'p Quantities>,
}

impl<'p> Shape<'p> {
    pub fn new(problem: &'p Reservation, work: &mut Work) -> Result<Self, String> {
        if let Some(list) = problem.configurations() {
            return Ok(Self::Listed(list));
        }
        let n_resources = problem.resources().len();
        let mut scaled = Scaled {
            demand: vec![Vec::with_capacity(n_resources); problem.n_types()],
            capacity: vec![Vec::with_capacity(n_resources); problem.n_pools()],
            units: Vec::with_capacity(n_resources),
            stated: problem.pools().iter().map(Pool::capacity).collect(),
        };
        for r in 0..n_resources {
            let unit = common_unit(problem.jobs().iter().map(|job| &job.demand()[r]), work)?;
            for (demand, job) in scaled.demand.iter_mut().zip(problem.jobs()) {
                demand.push(unit.as_ref().map_or_else(Integer::new, |unit| floor(&job.demand()[r], unit)));
            }
            for (capacity, pool) in scaled.capacity.iter_mut().zip(problem.pools()) {
                capacity
                    .push(unit.as_ref().map_or_else(Integer::new, |unit| floor(&pool.capacity()[r], unit)));
            }
            scaled.units.push(unit);
        }
        Ok(Self::Capacities(scaled))
    }

    /// Whether a server of pool `i` takes the configuration.
    pub fn is_feasible(&self, i: usize, k: &Configuration, work: &mut Work) -> Result<bool, String> {
        match self {
            Self::Capacities(scaled) => {
                work.steps(k.len() + 1, 10 * scaled.units.len())?;
                Ok(scaled.capacity[i].iter().enumerate().all(|(r, capacity)| {
                    let used: Integer =
                        k.iter().map(|(j, k)| Integer::from(&scaled.demand[*j][r] * *k)).sum();
                    used <= *capacity
                }))
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

impl Scaled<'_> {
    pub fn fits(&self, i: usize, j: usize) -> bool {
        self.demand[j].iter().zip(&self.capacity[i]).all(|(demand, capacity)| demand <= capacity)
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
) -> Result<Option<Rational>, String> {
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

//! The reservation problem: jobs of several types, packed for reward into pools of identical servers.
//!
//! Pools are indexed by `i` in `0..n_pools()`, job types by `j` in `0..n_types()` and resources by `r`, in the order of
//! the file. A configuration `k` has one number of jobs for each type. The configurations that a server takes are given
//! either by capacities and demands (`sum_j k_j d_jr <= c_r`), or by a list of the maximal configurations. The theory
//! only needs that removing jobs from a feasible configuration leaves it feasible (Reservation, section 2).
//!
//! A [`Reservation`] is valid once built, like a [`Problem`](crate::Problem).

use rug::{Integer, Rational};

use crate::place::Place;
use crate::problem_error::{MAX_COUNT, ProblemError, ProblemErrorKind};
use crate::quantities::Quantities;
use crate::resolve::{Index, by_index, index_names, not_negative, quantities, whole};
pub use crate::spec::{JobSpec, PoolSpec, ReservationSpec};

/// A checked reservation problem.
#[derive(Debug, Clone, PartialEq)]
pub struct Reservation {
    name: String,
    resources: Vec<String>,
    pools: Vec<ServerPool>,
    jobs: Vec<JobType>,
    configurations: Option<Vec<Vec<u64>>>,
}

/// A pool of identical servers.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerPool {
    name: String,
    count: Option<u64>,
    fraction: Rational,
    capacity: Quantities,
}

/// A job type.
#[derive(Debug, Clone, PartialEq)]
pub struct JobType {
    name: String,
    demand: Quantities,
    reward: Rational,
    load: Rational,
}

crate::names::getters! { Reservation:
    /// The title, which may be empty.
    name: str;
    /// Names of the resources, indexed by `r`.
    resources: [String];
    /// The pools, indexed by `i`. There is at least one pool.
    pools: [ServerPool];
    /// The job types, indexed by `j`. The list may be empty. The order of the job types decides ties.
    jobs: [JobType];
}

impl Reservation {
    /// Checks a stated problem and builds it.
    ///
    /// # Errors
    /// Returns a [`ProblemError`] with the place of the first fault: a duplicate, empty or unknown name, a
    /// negative quantity, an invalid count, or a type that demands nothing or fits on no server.
    pub fn new(spec: ReservationSpec) -> Result<Self, ProblemError> {
        let at = Place::root();
        let listed = spec.configurations.is_some();
        if spec.resources.is_empty() && !listed {
            return Err(at.key("resources").error(ProblemErrorKind::NoResources));
        }
        if spec.pools.is_empty() && !listed {
            return Err(at.key("servers").error(ProblemErrorKind::NoServers));
        }
        let index = index_names("resource", spec.resources.iter().map(String::as_str), |r| {
            at.key("resources").index(r)
        })?;
        let pools = pools(spec.pools, &index, listed, &at.key("servers"))?;
        let names = index_names("job type", spec.jobs.iter().map(|job| job.name.as_str()), |j| {
            at.key("jobs").index(j).key("name")
        })?;
        let mut jobs = Vec::with_capacity(spec.jobs.len());
        for (j, job) in spec.jobs.into_iter().enumerate() {
            jobs.push(JobType::new(job, &index, listed, &at.key("jobs").index(j))?);
        }
        let configurations = spec.configurations;
        let configurations = configurations
            .map(|list| self::configurations(list, &names, &at.key("configurations")))
            .transpose()?;
        let problem = Self { name: spec.name, resources: spec.resources, pools, jobs, configurations };
        problem.check_fits(&at.key("jobs"))?;
        Ok(problem)
    }

    /// Checks that every type fits on some server, and that at most [`MAX_COUNT`] of its jobs fit on any
    /// server.
    fn check_fits(&self, at: &Place) -> Result<(), ProblemError> {
        for (j, job) in self.jobs.iter().enumerate() {
            let mut fits = false;
            for i in 0..self.n_pools() {
                let most = self.stated_most(i, j);
                fits |= most >= 1;
                if most > MAX_COUNT {
                    return Err(at.index(j).error(ProblemErrorKind::TooManyFit(job.name.clone())));
                }
            }
            if !fits {
                return Err(at.index(j).error(ProblemErrorKind::FitsNoServer(job.name.clone())));
            }
        }
        Ok(())
    }

    fn stated_most(&self, i: usize, j: usize) -> Integer {
        match &self.configurations {
            Some(list) => list.iter().map(|k| k[j]).max().unwrap_or(0).into(),
            None => {
                let capacity = &self.pools[i].capacity;
                let demand = self.jobs[j].demand.entries().iter();
                let most = demand.map(|(r, demand)| Rational::from(&capacity[*r] / demand).floor()).min();
                most.map_or_else(Integer::new, |most| most.into_numer_denom().0)
            }
        }
    }

    /// Returns the stated maximal configurations, or `None` if the problem states capacities and demands. The
    /// configurations apply to the servers of every pool. Any configuration below a stated configuration is
    /// feasible too.
    #[must_use]
    pub fn configurations(&self) -> Option<&[Vec<u64>]> {
        self.configurations.as_deref()
    }

    /// Returns the number of pools.
    #[must_use]
    pub fn n_pools(&self) -> usize {
        self.pools.len()
    }

    /// Returns the number of job types, `J`.
    #[must_use]
    pub fn n_types(&self) -> usize {
        self.jobs.len()
    }

    /// Returns the number of servers of all pools, `L`, or `None` if it is not stated.
    #[must_use]
    pub fn n_servers(&self) -> Option<u128> {
        self.pools.iter().map(|pool| pool.count.map(u128::from)).sum()
    }

    /// Returns the number of jobs of type `j` that fit on one otherwise empty server of pool `i`.
    #[must_use]
    pub fn most(&self, i: usize, j: usize) -> u64 {
        self.stated_most(i, j).to_u64().unwrap_or(MAX_COUNT)
    }

    /// Returns whether a server of pool `i` takes the configuration `k`.
    #[must_use]
    pub fn is_feasible(&self, i: usize, k: &[u64]) -> bool {
        if k.len() != self.n_types() {
            return false;
        }
        match &self.configurations {
            Some(list) => list.iter().any(|most| k.iter().zip(most).all(|(k, most)| k <= most)),
            None => {
                let mut used = vec![Rational::new(); self.resources.len()];
                for (job, k) in self.jobs.iter().zip(k).filter(|(_, k)| **k != 0) {
                    for (r, demand) in job.demand.entries() {
                        used[*r] += Rational::from(demand * k);
                    }
                }
                used.iter().zip(&self.pools[i].capacity).all(|(used, capacity)| used <= capacity)
            }
        }
    }

    /// Returns the reward of a full configuration, `U(k)`.
    #[must_use]
    pub fn reward(&self, k: &[u64]) -> Rational {
        self.jobs.iter().zip(k).map(|(job, k)| Rational::from(&job.reward * k)).sum()
    }

    /// Returns the load per server of each type: `rho_j`.
    #[must_use]
    pub fn loads(&self) -> Vec<Rational> {
        self.jobs.iter().map(|job| job.load.clone()).collect()
    }

    /// Returns the problem with other loads per server, one for each type. The number of servers is left
    /// open.
    #[must_use]
    pub fn with_loads(&self, loads: &[Rational]) -> Self {
        let mut other = self.clone();
        other.pools.iter_mut().for_each(|pool| pool.count = None);
        other.jobs.iter_mut().zip(loads).for_each(|(job, load)| job.load.clone_from(load));
        other
    }

    /// Returns the reward of each type: `u_j`.
    #[must_use]
    pub fn rewards(&self) -> Vec<Rational> {
        self.jobs.iter().map(|job| job.reward.clone()).collect()
    }

    /// Returns each pool's fraction of all servers. The fractions add up to 1.
    #[must_use]
    pub fn fractions(&self) -> Vec<Rational> {
        self.pools.iter().map(|pool| pool.fraction.clone()).collect()
    }

    /// Returns the number of whole jobs of every type when `L` servers are offered the loads:
    /// `floor(rho_j L)`. Returns `None` if the number of servers is not stated.
    #[must_use]
    pub fn whole_jobs(&self) -> Option<Vec<Integer>> {
        let servers = Integer::from(self.n_servers()?);
        let whole = |job: &JobType| Rational::from(&job.load * &servers).floor().into_numer_denom().0;
        Some(self.jobs.iter().map(whole).collect())
    }
}

crate::names::getters! { ServerPool:
    /// Name of the pool.
    name: str;
    /// Capacity of one server, indexed by resource. It is empty if configurations are stated.
    capacity: Quantities;
}

impl ServerPool {
    /// Returns the number of servers, or `None` if it is not stated.
    #[must_use]
    pub fn count(&self) -> Option<u64> {
        self.count
    }
}

crate::names::getters! { JobType:
    /// Name of the type.
    name: str;
    /// Demand `d_jr` of one job, indexed by resource. It is empty if configurations are stated.
    demand: Quantities;
    /// Reward of one job per unit of time, `u_j`.
    reward: Rational;
    /// Offered load per server of all pools together, `rho_j`.
    load: Rational;
}

impl JobType {
    fn new(spec: JobSpec, resources: &Index, listed: bool, at: &Place) -> Result<Self, ProblemError> {
        let demand = amounts(spec.demand, resources, listed, "demand", at)?;
        if !listed && demand.is_zero() {
            return Err(at.key("demand").error(ProblemErrorKind::TypeDemandsNothing(spec.name)));
        }
        let quantity =
            |value: Option<Rational>, field| not_negative(value.unwrap_or_default(), &|| at.key(field));
        let reward = quantity(spec.reward, "reward")?;
        let load = quantity(spec.load, "load")?;
        Ok(Self { name: spec.name, demand, reward, load })
    }
}

fn pools(
    mut specs: Vec<PoolSpec>,
    resources: &Index,
    listed: bool,
    at: &Place,
) -> Result<Vec<ServerPool>, ProblemError> {
    index_names("server", specs.iter().map(|pool| pool.name.as_str()), |i| at.index(i).key("name"))?;
    if specs.is_empty() {
        specs.push(PoolSpec { name: "servers".to_owned(), ..PoolSpec::default() });
    }
    let n_pools = specs.len();
    let counted = specs.iter().any(|pool| pool.count.is_some());
    let mut pools = Vec::with_capacity(n_pools);
    for (i, spec) in specs.into_iter().enumerate() {
        let at = at.index(i);
        if counted && spec.count.is_none() {
            return Err(at.error(ProblemErrorKind::CountMissing));
        }
        let bad = |count: &Rational| at.key("count").error(ProblemErrorKind::BadCount(count.to_string()));
        let count = spec.count.map(|count| whole(&count, 1).ok_or_else(|| bad(&count))).transpose()?;
        let capacity = amounts(spec.capacity, resources, listed, "capacity", &at)?;
        pools.push(ServerPool { name: spec.name, count, fraction: Rational::new(), capacity });
    }
    let total: Integer = pools.iter().map(|pool| Integer::from(pool.count.unwrap_or(1))).sum();
    for pool in &mut pools {
        pool.fraction = Rational::from((Integer::from(pool.count.unwrap_or(1)), total.clone()));
    }
    Ok(pools)
}

/// Reads capacities or demands. They must be absent if configurations are listed.
fn amounts(
    stated: Vec<(String, Rational)>,
    resources: &Index,
    listed: bool,
    field: &'static str,
    at: &Place,
) -> Result<Quantities, ProblemError> {
    match listed {
        false => quantities(stated, resources, || at.key(field)),
        true if stated.is_empty() => Ok(Quantities::default()),
        true => Err(at.key(field).error(ProblemErrorKind::BesideConfigurations(field))),
    }
}

fn configurations(
    list: Vec<Vec<(String, Rational)>>,
    names: &Index,
    at: &Place,
) -> Result<Vec<Vec<u64>>, ProblemError> {
    if list.is_empty() {
        return Err(at.clone().error(ProblemErrorKind::NoConfigurations));
    }
    let jobs = |value: Rational, at: &dyn Fn() -> Place| {
        whole(&value, 0).ok_or_else(|| at().error(ProblemErrorKind::BadJobs(value.to_string())))
    };
    let configuration = |(position, entries)| {
        let mut k = vec![0; names.len()];
        let entries = by_index("job type", entries, names, || at.index(position), jobs)?;
        entries.into_iter().for_each(|(j, jobs)| k[j] = jobs);
        Ok(k)
    };
    list.into_iter().enumerate().map(configuration).collect()
}

/// Returns the largest rational such that all values (at least 0) are integer multiples of it. Returns `None` if all
/// are 0.
///
/// # Examples
/// ```
/// use evenhand_problem::{Rational, reservation::greatest_common_divisor};
/// let values = [Rational::from((1, 2)), Rational::from((1, 3)), Rational::new()];
/// assert_eq!(greatest_common_divisor(&values), Some(Rational::from((1, 6))));
/// ```
#[must_use]
pub fn greatest_common_divisor<'a>(values: impl IntoIterator<Item = &'a Rational>) -> Option<Rational> {
    let mut divisor: Option<Rational> = None;
    for value in values.into_iter().filter(|value| !value.is_zero()) {
        divisor = Some(match divisor {
            None => value.clone(),
            Some(divisor) => {
                let denominator = Integer::from(divisor.denom().lcm_ref(value.denom()));
                let over = |v: &Rational| v.numer() * Integer::from(denominator.div_exact_ref(v.denom()));
                let numerator = over(&divisor).gcd(&over(value));
                Rational::from((numerator, denominator))
            }
        });
    }
    divisor
}

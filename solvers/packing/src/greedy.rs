//! The greedy placement with whole servers and jobs (GPA), and its fluid limit.
//!
//! Both repeat the same step. A step takes the best configuration of the types that still have jobs. It gives this
//! configuration servers until one of its types has no job left or no server is left. Then the exhausted type is
//! removed. If several types run out together, the type with the lowest index is removed first. Pools are filled one
//! after another in the order of the file. Each pool starts with the types that the earlier pools have not exhausted.
//!
//! On one pool with unlimited servers, the steps are the permutation `phi` and the constants `z` of Proposition 3.1.
//! Step `i` exhausts `phi_i` after `z_i` servers with `MaxReward` of the types `phi_i, phi_(i+1), ...`. The global
//! greedy assignment (Definition 3.2) is the initial segment of these steps that uses one server in total.

use std::sync::Arc;

use crate::limits::PackingError;
use rug::{Integer, Rational};

use super::max_reward::{BestConfiguration, MaxReward};

/// One step of the greedy placement, which gives several servers the same configuration.
#[derive(Debug, Clone, PartialEq)]
pub struct GreedyStep<T> {
    /// The index of the pool.
    pub pool: usize,
    /// The configuration and its reward.
    pub best: Arc<BestConfiguration>,
    /// The number of servers that get this configuration. It may be 0.
    pub servers: T,
    /// The type that has no job left after this step. `None` if the servers ran out first.
    pub exhausted: Option<usize>,
}

/// The fluid greedy assignment.
#[derive(Debug, Clone, PartialEq)]
pub struct Fluid {
    /// The steps, in order.
    pub steps: Vec<GreedyStep<Rational>>,
    /// The reward per unit of time. Every slot has a job.
    pub reward: Rational,
    /// For each type, the jobs that are not served.
    pub left: Vec<Rational>,
}

/// The greedy assignment with whole servers and jobs.
#[derive(Debug, Clone, PartialEq)]
pub struct Whole {
    /// The steps, in order.
    pub steps: Vec<GreedyStep<Integer>>,
    /// The reward of all slots, with or without a job.
    pub slot_reward: Rational,
    /// The reward of the slots that have a job.
    pub reward: Rational,
    /// For each type, the jobs that are not served.
    pub left: Vec<Integer>,
}

/// An amount of servers or jobs: a whole number, or a fluid quantity.
trait Amount: Clone + Ord {
    fn zero() -> Self;
    /// Returns the number of servers that are needed for `self` jobs with `k > 0` jobs on each server.
    fn servers(&self, k: u64) -> Self;
    /// Returns `self - k * servers`, or 0 if the difference is negative.
    fn less(&self, k: u64, servers: &Self) -> Self;
}

impl Amount for Rational {
    fn zero() -> Self {
        Self::new()
    }

    fn servers(&self, k: u64) -> Self {
        Self::from(self / k)
    }

    fn less(&self, k: u64, servers: &Self) -> Self {
        (self - Self::from(servers * k)).max(Self::new())
    }
}

impl Amount for Integer {
    fn zero() -> Self {
        Self::new()
    }

    fn servers(&self, k: u64) -> Self {
        Self::from(self + (k - 1)) / k
    }

    fn less(&self, k: u64, servers: &Self) -> Self {
        (self - Self::from(servers * k)).max(Self::new())
    }
}

/// Computes the fluid greedy assignment of the given loads to pools of the given sizes.
///
/// Sizes are numbers of servers or fractions of all servers. The loads are in the same unit.
///
/// # Errors
/// The same errors as [`MaxReward::first`].
pub fn fluid(
    best: &mut MaxReward<'_>,
    loads: &[Rational],
    sizes: &[Rational],
) -> Result<Fluid, PackingError> {
    let sizes: Vec<Option<Rational>> = sizes.iter().cloned().map(Some).collect();
    let (steps, left) = assign_greedily(best, loads, &sizes)?;
    let reward = steps.iter().map(|step| Rational::from(&step.servers * &step.best.reward)).sum();
    Ok(Fluid { steps, reward, left })
}

/// Computes the permutation and the constants of Proposition 3.1 for pool `i`.
///
/// The result is the greedy assignment if pool `i` has as many servers as greedy needs. The sum of the constants is the
/// number of servers at which greedy serves all jobs.
///
/// # Errors
/// The same errors as [`MaxReward::first`].
pub fn unlimited(best: &mut MaxReward<'_>, i: usize, loads: &[Rational]) -> Result<Fluid, PackingError> {
    let mut sizes = vec![Some(Rational::new()); best.problem().n_pools()];
    sizes[i] = None;
    let (steps, left) = assign_greedily(best, loads, &sizes)?;
    let steps: Vec<GreedyStep<Rational>> = steps.into_iter().filter(|step| step.pool == i).collect();
    let reward = steps.iter().map(|step| Rational::from(&step.servers * &step.best.reward)).sum();
    Ok(Fluid { steps, reward, left })
}

/// Runs the Greedy Placement Algorithm (Algorithm 1): whole jobs on whole servers.
///
/// # Errors
/// The same errors as [`MaxReward::first`].
pub fn whole(best: &mut MaxReward<'_>, jobs: &[Integer], servers: &[Integer]) -> Result<Whole, PackingError> {
    let sizes: Vec<Option<Integer>> = servers.iter().cloned().map(Some).collect();
    let (steps, left) = assign_greedily(best, jobs, &sizes)?;
    let slot_reward = steps.iter().map(|step| Rational::from(&step.best.reward * &step.servers)).sum();
    let served = jobs.iter().zip(&left).zip(best.problem().jobs());
    let reward =
        served.map(|((all, left), job)| Rational::from(job.reward() * Integer::from(all - left))).sum();
    Ok(Whole { steps, slot_reward, reward, left })
}

type GreedyAssignment<T> = (Vec<GreedyStep<T>>, Vec<T>);

/// Runs the greedy placement. The size `None` stands for unlimited servers. Returns the steps and the jobs that are
/// left.
fn assign_greedily<T: Amount>(
    best: &mut MaxReward<'_>,
    jobs: &[T],
    sizes: &[Option<T>],
) -> Result<GreedyAssignment<T>, PackingError> {
    let mut left = jobs.to_vec();
    let mut steps = Vec::new();
    let mut open: Vec<usize> = (0..jobs.len()).collect();
    for (pool, size) in sizes.iter().enumerate() {
        let mut size = size.clone();
        while !open.is_empty() && size.as_ref().is_none_or(|size| *size > T::zero()) {
            let first = best.first(pool, &open)?;
            let k = &first.configuration;
            let until = |&j: &usize| (k[j] > 0).then(|| (left[j].servers(k[j]), j));
            // Take the type that runs out first, with ties broken by the lowest index. If there is
            // no such type, no open type fits on a server of this pool.
            let Some((mut servers, type_exhausted)) = open.iter().filter_map(until).min() else { break };
            let mut exhausted = Some(type_exhausted);
            if let Some(size) = &mut size {
                if servers > *size {
                    servers = size.clone();
                    exhausted = None;
                }
                *size = size.less(1, &servers);
            }
            for &j in &open {
                left[j] = left[j].less(k[j], &servers);
            }
            steps.push(GreedyStep { pool, best: first, servers, exhausted });
            match exhausted {
                Some(gone) => open.retain(|&j| j != gone),
                None => break,
            }
        }
    }
    Ok((steps, left))
}

/// The two critical multiples of a load (Reservation, section 7.1, Figure 2).
///
/// A multiple `t` scales all loads `rho`. Up to the first multiple, greedy serves all jobs. From the second multiple
/// on, all servers are equally and fully used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CriticalLoads {
    /// The largest `t` at which greedy serves all jobs of the loads `t rho`. `None` if there are no jobs.
    pub all_served: Option<Rational>,
    /// The smallest `t` from which on all servers have the best configuration of all types and every slot has a job.
    /// `None` if a type of that configuration has no load.
    pub all_best: Option<Rational>,
}

/// Computes the critical multiples of the given loads on the servers of one pool.
///
/// # Errors
/// [`PackingError::SeveralPools`], or the errors of [`MaxReward::first`].
pub fn critical_loads(best: &mut MaxReward<'_>, loads: &[Rational]) -> Result<CriticalLoads, PackingError> {
    if best.problem().n_pools() != 1 {
        return Err(PackingError::SeveralPools);
    }
    // The number of servers that greedy uses if they are unlimited is proportional to the load.
    let servers: Rational = unlimited(best, 0, loads)?.steps.iter().map(|step| &step.servers).sum();
    let all_served = (!servers.is_zero()).then(|| servers.recip());
    let types: Vec<usize> = (0..loads.len()).collect();
    let first = best.first(0, &types)?;
    let held = first.configuration.iter().zip(loads).filter(|(k, _)| **k > 0);
    let multiples = held.map(|(k, load)| (!load.is_zero()).then(|| Rational::from(*k) / load));
    let all_best = multiples.collect::<Option<Vec<Rational>>>().and_then(|all| all.into_iter().max());
    Ok(CriticalLoads { all_served, all_best })
}

//! The greedy placement: with whole servers and jobs (GPA), and its fluid limit.
//!
//! Both repeat: take the best configuration of the types that are left, give it servers until one of
//! its types has no job left (the lowest of them, if several) or no server is left, and remove that
//! type. Pools are filled one after another in the order of the file; each starts with the types that
//! the pools before it have not exhausted.
//!
//! The steps of one pool that is never full are the permutation `phi` and the constants `z` of
//! Proposition 3.1: step `i` exhausts `phi_i` after `z_i` servers of `MaxReward` of the types
//! `phi_i, phi_(i+1), ...`; the global greedy assignment (Definition 3.2) is their beginning, up to
//! one server in all.

use std::sync::Arc;

use crate::limits::PackingError;
use rug::{Integer, Rational};

use super::max_reward::{BestConfiguration, MaxReward};

/// One step: servers of one configuration.
#[derive(Debug, Clone, PartialEq)]
pub struct GreedyStep<T> {
    /// The pool.
    pub pool: usize,
    /// The configuration, with its reward.
    pub best: Arc<BestConfiguration>,
    /// Servers that it gets; may be 0.
    pub servers: T,
    /// The type that has no job left after it; `None` when the servers ran out first.
    pub exhausted: Option<usize>,
}

/// The fluid greedy assignment.
#[derive(Debug, Clone, PartialEq)]
pub struct Fluid {
    /// In order.
    pub steps: Vec<GreedyStep<Rational>>,
    /// Reward per unit of time; every slot holds a job.
    pub reward: Rational,
    /// Jobs left unserved, by type.
    pub left: Vec<Rational>,
}

/// The greedy assignment with whole servers and jobs.
#[derive(Debug, Clone, PartialEq)]
pub struct Whole {
    /// In order.
    pub steps: Vec<GreedyStep<Integer>>,
    /// Reward of all slots, filled or not.
    pub slot_reward: Rational,
    /// Reward of the slots that hold a job.
    pub reward: Rational,
    /// Jobs left unserved, by type.
    pub left: Vec<Integer>,
}

/// Servers and jobs that are counted, or measured.
trait Amount: Clone + Ord {
    fn zero() -> Self;
    /// Servers after which `self` jobs are gone, `k > 0` at a time.
    fn servers(&self, k: u64) -> Self;
    /// `self - k servers`, at least 0.
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

/// The fluid greedy assignment of these loads to pools of these sizes, in servers or as fractions;
/// the loads are in the same unit.
///
/// # Errors
/// As [`MaxReward::first`].
pub fn fluid(
    best: &mut MaxReward<'_>,
    loads: &[Rational],
    sizes: &[Rational],
) -> Result<Fluid, PackingError> {
    let sizes: Vec<Option<Rational>> = sizes.iter().cloned().map(Some).collect();
    let (steps, left) = place(best, loads, &sizes)?;
    let reward = steps.iter().map(|step| Rational::from(&step.servers * &step.best.reward)).sum();
    Ok(Fluid { steps, reward, left })
}

/// The permutation and the constants of Proposition 3.1: the greedy assignment to as many servers of
/// pool `i` as it takes. The sum of the constants is the number of servers at which greedy serves all
/// jobs.
///
/// # Errors
/// As [`MaxReward::first`].
pub fn unlimited(best: &mut MaxReward<'_>, i: usize, loads: &[Rational]) -> Result<Fluid, PackingError> {
    let mut sizes = vec![Some(Rational::new()); best.problem().n_pools()];
    sizes[i] = None;
    let (steps, left) = place(best, loads, &sizes)?;
    let steps: Vec<GreedyStep<Rational>> = steps.into_iter().filter(|step| step.pool == i).collect();
    let reward = steps.iter().map(|step| Rational::from(&step.servers * &step.best.reward)).sum();
    Ok(Fluid { steps, reward, left })
}

/// The Greedy Placement Algorithm (Algorithm 1): whole jobs on whole servers.
///
/// # Errors
/// As [`MaxReward::first`].
pub fn whole(best: &mut MaxReward<'_>, jobs: &[Integer], servers: &[Integer]) -> Result<Whole, PackingError> {
    let sizes: Vec<Option<Integer>> = servers.iter().cloned().map(Some).collect();
    let (steps, left) = place(best, jobs, &sizes)?;
    let slot_reward = steps.iter().map(|step| Rational::from(&step.best.reward * &step.servers)).sum();
    let served = jobs.iter().zip(&left).zip(best.problem().jobs());
    let reward =
        served.map(|((all, left), job)| Rational::from(job.reward() * Integer::from(all - left))).sum();
    Ok(Whole { steps, slot_reward, reward, left })
}

type Placed<T> = (Vec<GreedyStep<T>>, Vec<T>);

fn place<T: Amount>(
    best: &mut MaxReward<'_>,
    jobs: &[T],
    sizes: &[Option<T>],
) -> Result<Placed<T>, PackingError> {
    let mut left = jobs.to_vec();
    let mut steps = Vec::new();
    let mut open: Vec<usize> = (0..jobs.len()).collect();
    for (pool, size) in sizes.iter().enumerate() {
        let mut size = size.clone();
        while !open.is_empty() && size.as_ref().is_none_or(|size| *size > T::zero()) {
            let first = best.first(pool, &open)?;
            let k = &first.configuration;
            let until = |&j: &usize| (k[j] > 0).then(|| (left[j].servers(k[j]), j));
            // The least, and of equals the lowest type. Without any, no open type fits here.
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

/// The two critical multiples of a load (Reservation, section 7.1, Figure 2): multiples `t` of the loads `rho` at which the picture changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CriticalLoads {
    /// Up to here greedy serves all jobs of `t rho`; `None` where there are none.
    pub all_served: Option<Rational>,
    /// From here on all servers have the best configuration of all types, and every slot of it holds
    /// a job; `None` where one of its types has no load.
    pub all_best: Option<Rational>,
}

/// The critical multiples of these loads, on servers of one pool.
///
/// # Errors
/// [`PackingError::SeveralPools`], or as [`MaxReward::first`].
pub fn critical_loads(best: &mut MaxReward<'_>, loads: &[Rational]) -> Result<CriticalLoads, PackingError> {
    if best.problem().n_pools() != 1 {
        return Err(PackingError::SeveralPools);
    }
    // Greedy on unlimited servers uses as many times more servers as there is load.
    let servers: Rational = unlimited(best, 0, loads)?.steps.iter().map(|step| &step.servers).sum();
    let all_served = (!servers.is_zero()).then(|| servers.recip());
    let types: Vec<usize> = (0..loads.len()).collect();
    let first = best.first(0, &types)?;
    let held = first.configuration.iter().zip(loads).filter(|(k, _)| **k > 0);
    let multiples = held.map(|(k, load)| (!load.is_zero()).then(|| Rational::from(*k) / load));
    let all_best = multiples.collect::<Option<Vec<Rational>>>().and_then(|all| all.into_iter().max());
    Ok(CriticalLoads { all_served, all_best })
}

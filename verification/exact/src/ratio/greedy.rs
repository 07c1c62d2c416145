//! The greedy assignment, replayed.

use rug::{Integer, Rational};

use super::proof::FirstProof;
use super::shape::Configuration;
use super::verify::Verifier;
use crate::refusal::Refusal;

/// A greedy assignment, fluid or with whole servers and jobs.
#[derive(Debug, Clone, PartialEq)]
pub struct Greedy<T> {
    /// Reward of the jobs that it serves.
    pub reward: Rational,
    /// In order.
    pub steps: Vec<Step<T>>,
}

/// One step: servers of one configuration.
#[derive(Debug, Clone, PartialEq)]
pub struct Step<T> {
    /// The pool.
    pub pool: usize,
    /// The first configuration of the types that are open.
    pub configuration: Configuration,
    /// Servers that it gets; may be 0.
    pub servers: T,
    /// The type that has no job left after it; `None` when the servers ran out first.
    pub exhausted: Option<usize>,
    /// Why the configuration is the first.
    pub first: FirstProof,
}

/// Servers and jobs that are measured, or counted.
pub(super) trait Amount: Clone + Ord {
    /// 0.
    fn zero() -> Self;
    /// Servers after which `self` jobs are gone, `k > 0` at a time.
    fn servers(&self, k: u64) -> Self;
    /// `self - k servers`, at least 0.
    fn less(&self, k: u64, servers: &Self) -> Self;
    /// `self += other`
    fn add(&mut self, other: &Self, times: u64);
    /// The same number.
    fn rational(&self) -> Rational;
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

    fn add(&mut self, other: &Self, times: u64) {
        *self += Self::from(other * times);
    }

    fn rational(&self) -> Self {
        self.clone()
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

    fn add(&mut self, other: &Self, times: u64) {
        *self += Self::from(other * times);
    }

    fn rational(&self) -> Rational {
        Rational::from(self)
    }
}

/// Whether greedy does exactly this with these jobs on pools of these sizes.
///
/// The pools are filled in the order of the file, each with the jobs that the pools before it have
/// left. On a pool: while a type is open, fits, and servers are left, the first configuration of the
/// open types gets servers until one of its types has no job left (the lowest of those, which is then
/// open no more), or no server is left.
pub(super) fn verify<T: Amount>(
    greedy: &Greedy<T>,
    jobs: &[T],
    sizes: &[T],
    verifier: &mut Verifier<'_>,
) -> Result<(), Refusal> {
    let mut left = jobs.to_vec();
    let mut open: Vec<usize> = (0..jobs.len()).collect();
    let mut steps = greedy.steps.iter().enumerate();
    for (i, size) in sizes.iter().enumerate() {
        let mut size = size.clone();
        loop {
            // The first type that is open fits, as a rule; those that do not are looked at again.
            let at = open.iter().position(|&j| verifier.shape.fits(i, j));
            verifier.work.steps(at.unwrap_or(open.len()) + 1, 100)?;
            if size <= T::zero() || at.is_none() {
                break;
            }
            let Some((position, step)) = steps.next() else {
                let pool = verifier.problem.pools()[i].name();
                return Err(Refusal::new(format!("it ends while `{pool}` has servers for types with jobs")));
            };
            let refuse = |fault: String| Err(Refusal::new(fault).about(&format!("step {position}")));
            if step.pool != i {
                return refuse(format!("`{}` is filled first", verifier.problem.pools()[i].name()));
            }
            verifier.work.steps(open.len() + step.configuration.len() + 1, 200)?;
            let first = verifier.first(i, &open, &step.configuration, &step.first);
            first.map_err(|fault| {
                fault.about(&format!("step {position}: the configuration is not proven to be the first"))
            })?;
            let until = |(j, k): &(usize, u64)| (left[*j].servers(*k), *j);
            let Some((mut servers, gone)) = step.configuration.iter().map(until).min() else {
                return refuse("the configuration is empty".to_owned());
            };
            let mut exhausted = Some(gone);
            if servers > size {
                servers = size.clone();
                exhausted = None;
            }
            if step.servers != servers {
                return refuse(format!("it gets {} servers", servers.rational()));
            }
            if step.exhausted != exhausted {
                return refuse("another type is exhausted, or none".to_owned());
            }
            size = size.less(1, &servers);
            for (j, k) in &step.configuration {
                verifier.work.rationals(4, &left[*j].rational())?;
                left[*j] = left[*j].less(*k, &servers);
            }
            match exhausted {
                Some(gone) => open.retain(|&j| j != gone),
                None => break,
            }
        }
    }
    if let Some((position, _)) = steps.next() {
        return Err(Refusal::new(format!("step {position}: nothing is left to be done")));
    }
    let mut reward = Rational::new();
    for ((all, left), job) in jobs.iter().zip(&left).zip(verifier.problem.jobs()) {
        verifier.work.rationals(1, &reward)?;
        reward += (all.rational() - left.rational()) * job.reward();
    }
    if greedy.reward != reward {
        return Err(Refusal::new(format!("the reward is {reward}")));
    }
    Ok(())
}

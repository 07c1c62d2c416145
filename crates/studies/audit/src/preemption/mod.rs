//! Searches small cases of Kueue's preemption by shares in which preemption repeats in a cycle.
//!
//! The rules are those of `fairPreemptions` (pkg/scheduler/preemption/preemption.go, v0.19.2). The queues belong to one
//! cohort and have no quota of their own, so they borrow all that they use. The settings are `reclaimWithinCohort:
//! Any`, `withinClusterQueue: Never`, equal priorities, and both strategies. Workloads are scheduled one by one. Each
//! queue proposes its oldest workload that fits or may preempt. The workload that leaves its queue with the smallest
//! share starts.

mod render;

use std::collections::HashMap;

use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use rayon::prelude::*;

use crate::{AuditError, MOST_INSTANCES};

pub use render::{document, page};

/// The largest values of [`Bounds`]. Shares multiplied by the product of all divisors then fit into 64 bits.
const MOST: [(&str, u64); 6] =
    [("queues", 4), ("resources", 4), ("workloads", 8), ("amount", 16), ("lendable", 32), ("weight", 8)];

/// The largest sizes and numbers of the cases that are searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// The largest number of queues. At least 2 queues have workloads.
    pub queues: u64,
    /// The largest number of resources.
    pub resources: u64,
    /// The largest number of workloads.
    pub workloads: u64,
    /// The largest amount of a resource that a workload requests.
    pub amount: u64,
    /// The largest amount of a resource that the cohort lends.
    pub lendable: u64,
    /// The largest weight of a queue.
    pub weight: u64,
}

/// A workload: the index of its queue, and the amounts that it requests, indexed by resource.
pub type Job = (usize, Vec<u64>);

/// The queues of a cohort and their workloads, in the order of arrival.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Case {
    /// The amount of each resource that the cohort can lend.
    pub lendable: Vec<u64>,
    /// The weights of the queues.
    pub weights: Vec<u64>,
    /// The workloads, in the order of arrival.
    pub jobs: Vec<Job>,
}

/// The running and the waiting workloads.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct State {
    /// The running workloads, in the order of admission.
    pub running: Vec<usize>,
    /// The waiting workloads, in the order in which they began to wait.
    pub waiting: Vec<usize>,
}

/// A step of the scheduler: a workload starts, and other workloads stop for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// The workload that starts.
    pub start: usize,
    /// The workloads that stop.
    pub stops: Vec<usize>,
    /// The workloads that run afterwards.
    pub running: Vec<usize>,
}

/// The numbers of queues, resources and workloads of a case. Every queue has at least one workload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// The number of queues.
    pub queues: u64,
    /// The number of resources.
    pub resources: u64,
    /// The number of workloads.
    pub workloads: u64,
}

/// The result of searching the cases of one shape.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Searched {
    /// The shape of the searched cases.
    pub shape: Shape,
    /// The number of cases that were tried.
    pub cases: u64,
    /// The number of cases in which preemption repeats in a cycle.
    pub round: u64,
}

/// The result of a search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The results by shape. Small shapes come first.
    pub searched: Vec<Searched>,
    /// True if every case within the bounds was tried.
    pub is_all: bool,
    /// The smallest case in which preemption repeats in a cycle. It has the fewest workloads, then the fewest
    /// resources, then the fewest queues, then the smallest amounts.
    pub smallest: Option<Case>,
}

impl Case {
    /// Returns the share of a queue divided by its weight, multiplied by a number that is the same for all queues.
    fn share(&self, queue: usize, running: &[usize]) -> u64 {
        let all: u64 = self.lendable.iter().chain(&self.weights).product();
        let used = |r: usize| -> u64 {
            running.iter().map(|j| &self.jobs[*j]).filter(|job| job.0 == queue).map(|job| job.1[r]).sum()
        };
        let parts = (0..self.lendable.len()).map(|r| used(r) * all / self.lendable[r] / self.weights[queue]);
        parts.max().unwrap_or(0)
    }

    /// Returns the resources of which too little is free for a workload while the given workloads run.
    fn lacking(&self, job: usize, running: &[usize]) -> Vec<usize> {
        let used = |r: usize| running.iter().map(|j| self.jobs[*j].1[r]).sum::<u64>();
        let lacks = |r: &usize| used(*r) + self.jobs[job].1[*r] > self.lendable[*r];
        (0..self.lendable.len()).filter(lacks).collect()
    }

    fn share_with(&self, job: usize, running: &[usize]) -> u64 {
        self.share(self.jobs[job].0, &[running, &[job]].concat())
    }

    /// Returns the workloads that stop so that a workload can start. Returns `None` if it may not preempt enough
    /// workloads.
    fn targets(&self, job: usize, running: &[usize]) -> Option<Vec<usize>> {
        let needed = self.lacking(job, running);
        let asks = |j: &usize| needed.iter().any(|r| self.jobs[*j].1[*r] > 0);
        let is_other = |j: &usize| self.jobs[*j].0 != self.jobs[job].0;
        // The last workload admitted comes first.
        let mut candidates: Vec<usize> =
            running.iter().rev().copied().filter(|j| is_other(j) && asks(j)).collect();
        let (mut left, mut targets, mut retry) = (running.to_vec(), Vec::new(), Vec::new());
        let new = self.share_with(job, running);
        let highest = |candidates: &[usize], left: &[usize]| {
            let share = |j: &usize| self.share(self.jobs[*j].0, left);
            let largest = candidates.iter().map(share).max()?;
            candidates.iter().find(|j| share(j) == largest).map(|j| self.jobs[*j].0)
        };
        let without =
            |left: &[usize], j: usize| left.iter().copied().filter(|of| *of != j).collect::<Vec<_>>();
        let mut fits = false;
        // First strategy: after the start, the share of the preempting queue may be at most the share that
        // remains to the other queue.
        while let Some(queue) = highest(&candidates, &left).filter(|_| !fits) {
            while let Some(at) = candidates.iter().position(|j| self.jobs[*j].0 == queue) {
                let j = candidates.remove(at);
                let rest = without(&left, j);
                if new <= self.share(queue, &rest) {
                    left = rest;
                    targets.push(j);
                    fits = self.lacking(job, &left).is_empty();
                    break;
                }
                retry.push(j);
            }
        }
        // Second strategy: the share of the preempting queue after the start must be below the present share of the
        // other queue. It applies once for each queue.
        while let Some(queue) = highest(&retry, &left).filter(|_| !fits) {
            let j = retry.iter().copied().find(|j| self.jobs[*j].0 == queue)?;
            if new < self.share(queue, &left) {
                left = without(&left, j);
                targets.push(j);
                fits = self.lacking(job, &left).is_empty();
            }
            retry.retain(|j| self.jobs[*j].0 != queue);
        }
        if !fits {
            return None;
        }
        // Some targets may not need to stop, because later targets freed enough. Such targets keep running.
        for at in (0..targets.len().saturating_sub(1)).rev() {
            let back = [&left[..], &[targets[at]]].concat();
            if self.lacking(job, &back).is_empty() {
                left = back;
                targets.swap_remove(at);
            }
        }
        Some(targets)
    }

    /// Returns the next state and the step to it. Returns `None` if no workload can start.
    fn next(&self, state: &State) -> Option<(State, Step)> {
        let mut best: Option<(u64, usize, Vec<usize>)> = None;
        let mut seen = vec![false; self.weights.len()];
        for (at, job) in state.waiting.iter().copied().enumerate() {
            if seen[self.jobs[job].0] {
                continue;
            }
            let fits = self.lacking(job, &state.running).is_empty();
            let stops = if fits { Some(Vec::new()) } else { self.targets(job, &state.running) };
            let Some(stops) = stops else { continue };
            seen[self.jobs[job].0] = true;
            let share = self.share_with(job, &state.running);
            if best.as_ref().is_none_or(|(least, ..)| share < *least) {
                best = Some((share, at, stops));
            }
        }
        let (_, at, stops) = best?;
        let mut next = state.clone();
        let job = next.waiting.remove(at);
        next.running.retain(|j| !stops.contains(j));
        next.running.push(job);
        next.waiting.extend(&stops);
        let step = Step { start: job, stops, running: next.running.clone() };
        Some((next, step))
    }

    /// Returns the steps of the cycle if the case returns to an earlier state.
    #[must_use]
    pub fn round(&self) -> Option<Vec<Step>> {
        let mut state = State { running: Vec::new(), waiting: (0..self.jobs.len()).collect() };
        let (mut seen, mut steps) = (HashMap::new(), Vec::new());
        loop {
            let (next, step) = self.next(&state)?;
            seen.insert(state, steps.len());
            steps.push(step);
            if let Some(first) = seen.get(&next) {
                return Some(steps.split_off(*first));
            }
            state = next;
        }
    }

    /// Returns the size by which cases are compared.
    fn size(&self) -> [u64; 6] {
        let amounts = self.jobs.iter().flat_map(|job| &job.1).sum();
        let (lendable, weights) = (self.lendable.iter().sum(), self.weights.iter().sum());
        let count = |of: usize| of as u64;
        [
            count(self.jobs.len()),
            count(self.lendable.len()),
            count(self.weights.len()),
            lendable,
            amounts,
            weights,
        ]
    }
}

impl Found {
    /// Returns the number of cases that were tried.
    #[must_use]
    pub fn cases(&self) -> u64 {
        self.searched.iter().map(|of| of.cases).sum()
    }

    /// Returns the number of cases in which preemption repeats in a cycle.
    #[must_use]
    pub fn round(&self) -> u64 {
        self.searched.iter().map(|of| of.round).sum()
    }
}

/// Returns `base` to the power of `times`. Returns `None` if the result does not fit into 64 bits.
fn power(base: u64, times: u64) -> Option<u64> {
    (0..times).try_fold(1_u64, |power, _| power.checked_mul(base))
}

impl Shape {
    /// Returns the number of different workloads. Two workloads differ if their queues or their amounts
    /// differ. The bounds keep the number small.
    fn kinds(self, bounds: Bounds) -> u64 {
        power(bounds.amount + 1, self.resources).map_or(u64::MAX, |all| (all - 1) * self.queues)
    }

    /// Returns the number of cases. It also counts cases in which some queue has no workload. Returns `None` if the
    /// number does not fit into 64 bits.
    fn count(self, bounds: Bounds) -> Option<u64> {
        let jobs = power(self.kinds(bounds), self.workloads)?;
        let lends = power(bounds.lendable, self.resources)?;
        jobs.checked_mul(lends)?.checked_mul(power(bounds.weight, self.queues)?)
    }

    /// Returns the case that a sequence of digits describes. `digit` is called with a base and returns the
    /// next digit, which is below the base. Returns `None` if a queue has no workload.
    fn case(self, bounds: Bounds, mut digit: impl FnMut(u64) -> u64) -> Option<Case> {
        let weights: Vec<u64> = (0..self.queues).map(|_| digit(bounds.weight) + 1).collect();
        let lendable = (0..self.resources).map(|_| digit(bounds.lendable) + 1).collect();
        let mut job = || -> Option<Job> {
            let kind = digit(self.kinds(bounds));
            let mut rest = kind / self.queues + 1;
            let amounts = (0..self.resources).map(|_| {
                let amount = rest % (bounds.amount + 1);
                rest /= bounds.amount + 1;
                amount
            });
            Some((usize::try_from(kind % self.queues).ok()?, amounts.collect()))
        };
        let jobs = (0..self.workloads).map(|_| job()).collect::<Option<Vec<Job>>>()?;
        let has_one = |queue: usize| jobs.iter().any(|job| job.0 == queue);
        (0..weights.len()).all(has_one).then_some(Case { lendable, weights, jobs })
    }
}

/// Tries all cases within the bounds. If there are more than `instances` cases, it draws that number of cases at random
/// from the seed.
///
/// # Errors
/// [`AuditError::Setting`] if a bound is out of range.
pub fn search(bounds: Bounds, instances: u64, seed: u64) -> Result<Found, AuditError> {
    let Bounds { queues, resources, workloads, amount, lendable, weight } = bounds;
    let least = [2, 1, 2, 1, 1, 1];
    for (((what, most), found), least) in
        MOST.into_iter().zip([queues, resources, workloads, amount, lendable, weight]).zip(least)
    {
        if !(least..=most).contains(&found) {
            return Err(AuditError::Setting { what, least, most, found });
        }
    }
    if !(1..=MOST_INSTANCES).contains(&instances) {
        return Err(AuditError::Setting {
            what: "instances",
            least: 1,
            most: MOST_INSTANCES,
            found: instances,
        });
    }
    let mut shapes = Vec::new();
    for workloads in 2..=workloads {
        for resources in 1..=resources {
            let shape = |queues| Shape { queues, resources, workloads };
            shapes.extend((2..=queues.min(workloads)).map(shape));
        }
    }
    let counts: Vec<Option<u64>> = shapes.iter().map(|shape| shape.count(bounds)).collect();
    let all = counts.iter().try_fold(0_u64, |sum, count| sum.checked_add((*count)?));
    let is_all = all.is_some_and(|all| all <= instances);
    let mut searched = Vec::new();
    let mut smallest: Option<Case> = None;
    let part = instances.div_ceil(shapes.len() as u64);
    // All cases of a shape are enumerated digit by digit if there are few. Random cases are drawn of a shape
    // that has more cases than are tried.
    for (at, (shape, count)) in shapes.into_iter().zip(counts).enumerate() {
        let tries = if is_all { count.unwrap_or(part) } else { part.min(count.unwrap_or(part)) };
        let is_whole = count == Some(tries);
        let case = |k: u64| {
            let (mut rest, mut rng) = (k, Pcg64::seed_from_u64(seed ^ ((at as u64) << 40) ^ k));
            shape.case(bounds, |base| {
                if !is_whole {
                    return rng.random_range(0..base);
                }
                let digit = rest % base;
                rest /= base;
                digit
            })
        };
        let tried = |k: u64| {
            let Some(case) = case(k) else { return (0, 0, None) };
            let is_round = case.round().is_some();
            (1, u64::from(is_round), is_round.then_some(case))
        };
        let smaller = |a: Option<Case>, b: Option<Case>| match (a, b) {
            (Some(a), Some(b)) => Some(if (b.size(), &b) < (a.size(), &a) { b } else { a }),
            (a, b) => a.or(b),
        };
        let (cases, round, found) = (0..tries)
            .into_par_iter()
            .map(tried)
            .reduce(|| (0, 0, None), |a, b| (a.0 + b.0, a.1 + b.1, smaller(a.2, b.2)));
        searched.push(Searched { shape, cases, round });
        smallest = smaller(smallest, found);
    }
    Ok(Found { searched, is_all, smallest })
}

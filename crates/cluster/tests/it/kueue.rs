//! Preemption by shares in Kueue, over all small cases: where it goes round without end.
//!
//! The rules are those of `fairPreemptions` (pkg/scheduler/preemption/preemption.go, v0.19.2) for queues of one cohort without
//! quota of their own, which borrow all they use, `reclaimWithinCohort: Any`, `withinClusterQueue: Never`, equal priorities and
//! both strategies. Workloads are looked at one by one: of each queue the oldest that fits or may preempt, of these the one
//! with the least share of its queue after it.

use std::collections::HashSet;

/// A workload: its queue, and what it asks for.
type Job = (usize, Vec<u64>);

struct Case {
    /// What the cohort can lend of each resource.
    lendable: Vec<u64>,
    weights: Vec<u64>,
    jobs: Vec<Job>,
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct State {
    /// In the order in which they were admitted.
    running: Vec<usize>,
    /// In the order in which they began to wait.
    waiting: Vec<usize>,
}

impl Case {
    /// The share of a queue over its weight when these run, times a number that is the same for all.
    fn share(&self, queue: usize, running: &[usize]) -> u64 {
        let all: u64 = self.lendable.iter().chain(&self.weights).product();
        let used = |r: usize| -> u64 {
            running.iter().map(|j| &self.jobs[*j]).filter(|job| job.0 == queue).map(|job| job.1[r]).sum()
        };
        let parts = (0..self.lendable.len()).map(|r| used(r) * all / self.lendable[r] / self.weights[queue]);
        parts.max().unwrap_or(0)
    }

    /// The resources of which there is too little for a workload beside these.
    fn lacking(&self, job: usize, running: &[usize]) -> Vec<usize> {
        let used = |r: usize| running.iter().map(|j| self.jobs[*j].1[r]).sum::<u64>();
        let lacks = |r: &usize| used(*r) + self.jobs[job].1[*r] > self.lendable[*r];
        (0..self.lendable.len()).filter(lacks).collect()
    }

    fn with(&self, job: usize, running: &[usize]) -> u64 {
        self.share(self.jobs[job].0, &[running, &[job]].concat())
    }

    /// The workloads that stop for one that does not fit, if they may.
    fn targets(&self, job: usize, running: &[usize]) -> Option<Vec<usize>> {
        let needed = self.lacking(job, running);
        let asks = |j: &usize| needed.iter().any(|r| self.jobs[*j].1[*r] > 0);
        let is_other = |j: &usize| self.jobs[*j].0 != self.jobs[job].0;
        // The one that was admitted last comes first.
        let mut candidates: Vec<usize> =
            running.iter().rev().copied().filter(|j| is_other(j) && asks(j)).collect();
        let (mut left, mut targets, mut retry) = (running.to_vec(), Vec::new(), Vec::new());
        let new = self.with(job, running);
        let highest = |candidates: &[usize], left: &[usize]| {
            let share = |j: &usize| self.share(self.jobs[*j].0, left);
            let largest = candidates.iter().map(share).max()?;
            candidates.iter().find(|j| share(j) == largest).map(|j| self.jobs[*j].0)
        };
        let without =
            |left: &[usize], j: usize| left.iter().copied().filter(|of| *of != j).collect::<Vec<_>>();
        let mut fits = false;
        // At most the share that the other queue is left with.
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
        // Less than the share that the other queue has; once for each queue.
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
        for at in (0..targets.len().saturating_sub(1)).rev() {
            let back = [&left[..], &[targets[at]]].concat();
            if self.lacking(job, &back).is_empty() {
                left = back;
                targets.swap_remove(at);
            }
        }
        Some(targets)
    }

    /// The next state, and how many workloads stop; `None` where nothing happens any more.
    fn next(&self, state: &State) -> Option<(State, usize)> {
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
            let share = self.with(job, &state.running);
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
        Some((next, stops.len()))
    }

    /// Whether it comes back to where it was: workloads stop and start without end.
    fn goes_round(&self) -> bool {
        let mut state = State { running: Vec::new(), waiting: (0..self.jobs.len()).collect() };
        let mut seen = HashSet::new();
        while let Some((next, _)) = self.next(&state) {
            if !seen.insert(state) {
                return true;
            }
            state = next;
        }
        false
    }
}

/// All cases of so many queues, resources and workloads with amounts up to `most`, lendable amounts up to `lendable` and weights
/// up to `weight`, the workloads in every order: how many there are, and how many go round.
fn all(queues: u64, resources: u32, jobs: u32, most: u64, lendable: u64, weight: u64) -> (u64, u64) {
    let kinds = ((most + 1).pow(resources) - 1) * queues;
    let amounts = |code: u64| (0..resources).map(|r| code / (most + 1).pow(r) % (most + 1)).collect();
    let (lends, weights) = (lendable.pow(resources), weight.pow(u32::try_from(queues).unwrap()));
    let (mut count, mut round) = (0, 0);
    for code in 0..kinds.pow(jobs) {
        let job = |k: u32| {
            let kind = code / kinds.pow(k) % kinds;
            (usize::try_from(kind % queues).unwrap(), amounts(kind / queues + 1))
        };
        let mut case = Case { jobs: (0..jobs).map(job).collect(), lendable: Vec::new(), weights: Vec::new() };
        for lend in 0..lends {
            case.lendable = (0..resources).map(|r| lend / lendable.pow(r) % lendable + 1).collect();
            for of in 0..weights {
                case.weights =
                    (0..u32::try_from(queues).unwrap()).map(|q| of / weight.pow(q) % weight + 1).collect();
                count += 1;
                round += u64::from(case.goes_round());
            }
        }
    }
    (count, round)
}

#[test]
fn the_example_goes_round() {
    // As in examples/schedulers/kueue.json: queue a has workloads of 2 and of 1, queue b weighs twice as much and has one of 3.
    let jobs = vec![(0, vec![2]), (0, vec![1]), (1, vec![3])];
    let case = Case { lendable: vec![3], weights: vec![1, 2], jobs };
    let mut state = State { running: vec![2], waiting: vec![0, 1] };
    let mut steps = Vec::new();
    for _ in 0..3 {
        let (next, stops) = case.next(&state).unwrap();
        steps.push((next.running.clone(), stops));
        state = next;
    }
    // b stops for the 1; the 2 fits beside it; both stop for b.
    assert_eq!(steps, [(vec![1], 1), (vec![1, 0], 0), (vec![2], 2)]);
    assert!(case.goes_round());
}

#[test]
fn the_smallest_that_goes_round() {
    let mut searched = 0;
    let mut round = |(queues, resources, jobs): (u64, u32, u32),
                     (most, lendable, weight): (u64, u64, u64)| {
        let (count, round) = all(queues, resources, jobs, most, lendable, weight);
        println!(
            "{queues} queues, {resources} resources, {jobs} workloads up to {most} of up to {lendable}, weights up to \
             {weight}: {round} of {count}"
        );
        searched += count;
        round
    };
    // Two workloads: none. Three, with weights: of 3 units, and no fewer.
    for (shape, amounts) in
        [((2, 1, 2), (4, 8, 4)), ((3, 1, 2), (3, 6, 3)), ((2, 2, 2), (2, 3, 2)), ((2, 3, 2), (1, 2, 2))]
    {
        assert_eq!(round(shape, amounts), 0);
    }
    assert_eq!(round((2, 1, 3), (2, 2, 2)), 0);
    assert_ne!(round((2, 1, 3), (3, 3, 2)), 0);
    // Equal weights: three workloads, none; four, of 6 units and no fewer.
    for (shape, amounts) in [
        ((2, 1, 3), (4, 8, 1)),
        ((3, 1, 3), (3, 6, 1)),
        ((2, 2, 3), (2, 3, 1)),
        ((3, 2, 3), (1, 2, 1)),
        ((2, 3, 3), (1, 2, 1)),
        ((2, 1, 4), (4, 5, 1)),
    ] {
        assert_eq!(round(shape, amounts), 0);
    }
    assert_ne!(round((2, 1, 4), (4, 6, 1)), 0);
    // Equal weights and single units: four workloads of three resources.
    assert_ne!(round((2, 3, 4), (1, 1, 1)), 0);
    println!("{searched} cases");
}

//! Local search for sizes that are too large to be searched completely.
//!
//! Several independent walks move over instances in integers. A step changes a demand, a reward or the order
//! of the types, or makes two configurations tie. A step is accepted if the least ratio of the new instance
//! is below that of the current instance plus a threshold. The threshold falls to 0 over a cycle (threshold
//! accepting: Dueck and Scheuer, 1990). Every cycle starts from one of three instances: a random instance, an
//! instance near that of Appendix C (with all types or one type less), or an instance near one of the best so
//! far.
//!
//! A round of a walk depends on the seed, the number of the walk, the number of the round, and the state before it.
//! It does not depend on threads or interruptions. All comparisons are exact.

use evenhand_problem::Rational;
use rand::Rng;
use rand_pcg::Pcg64;
use rayon::prelude::*;

use super::clock::Clock;
use super::types::{Instance, JobTypeNumbers};
use super::worst::{Counts, below_until};
use super::{Found, HuntError, Settings};

/// The number of walks, which does not depend on the number of threads.
pub const WALKS: usize = 8;
/// The number of steps of a walk in one round.
pub const STEPS: u64 = 100;
/// The number of rounds of a cycle.
const CYCLE: u64 = 20;
/// The reciprocal of the threshold at the start of a cycle. The threshold is a difference of ratios.
const STEEPNESS: u64 = 40;

/// The result of a round.
pub struct Round {
    /// The current instances of the walks. `None` if the time was up before all walks were done.
    pub walks: Option<Vec<Found>>,
    /// The instances with a ratio below the bound, in the order in which the walks found them.
    pub found: Vec<Found>,
    pub counts: Counts,
}

/// Runs one round of all walks.
///
/// # Errors
/// The errors of [`below`](super::below).
pub fn round(
    settings: &Settings,
    number: u64,
    walks: &[Found],
    best: &[Found],
    bound: &Rational,
    clock: &Clock,
) -> Result<Round, HuntError> {
    let limits = evenhand_budget::handle();
    let results: Vec<(Option<Found>, Vec<Found>, Counts)> = (0..WALKS)
        .into_par_iter()
        .map(|walk| {
            // Every round of a walk has its own random stream.
            let stream = u128::from(number) * WALKS as u128 + walk as u128;
            let mut walk = Walk {
                settings,
                random: Pcg64::new(u128::from(settings.seed), stream),
                now: walks.get(walk).cloned(),
                found: Vec::new(),
                bound: bound.clone(),
                clock,
                counts: Counts::default(),
            };
            // The first random numbers of similar seeds are similar, so a few are skipped.
            for _ in 0..4 {
                let _: u64 = walk.random.random();
            }
            match limits.enter(|| walk.round(number % CYCLE, best)) {
                Ok(now) => Ok((Some(now), walk.found, walk.counts)),
                Err(HuntError::OutOfTime) => Ok((None, walk.found, walk.counts)),
                Err(error) => Err(error),
            }
        })
        .collect::<Result<_, HuntError>>()?;
    let mut counts = Counts::default();
    let (mut walks, mut found) = (Some(Vec::new()), Vec::new());
    for (now, below, of_walk) in results {
        counts.add(&of_walk);
        walks = walks.zip(now).map(|(mut walks, now)| {
            walks.push(now);
            walks
        });
        found.extend(below);
    }
    Ok(Round { walks, found, counts })
}

struct Walk<'a> {
    settings: &'a Settings,
    random: Pcg64,
    now: Option<Found>,
    found: Vec<Found>,
    bound: Rational,
    clock: &'a Clock,
    counts: Counts,
}

impl Walk<'_> {
    fn round(&mut self, in_cycle: u64, best: &[Found]) -> Result<Found, HuntError> {
        if in_cycle == 0 {
            self.now = None;
        }
        let mut now = match self.now.take() {
            Some(now) => now,
            None => {
                let instance = self.start(best);
                let one = Rational::from(1);
                let ratio = self.ratio(&instance, &one)?.unwrap_or(one);
                Found { instance, ratio }
            }
        };
        self.keep(&now);
        for step in 0..STEPS {
            let left = CYCLE * STEPS - (in_cycle * STEPS + step) - 1;
            let threshold = Rational::from((left, CYCLE * STEPS * STEEPNESS));
            let bound = Rational::from(&now.ratio + &threshold).min(Rational::from(1));
            let instance = self.neighbour(&now.instance);
            if instance == now.instance || !instance.is_sound() {
                continue;
            }
            if let Some(ratio) = self.ratio(&instance, &bound)? {
                now = Found { instance, ratio };
                self.keep(&now);
            }
        }
        Ok(now)
    }

    fn ratio(&mut self, instance: &Instance, bound: &Rational) -> Result<Option<Rational>, HuntError> {
        let maximal = instance.maximal();
        below_until(instance, maximal.as_deref(), bound, &mut self.counts, self.clock)
    }

    fn keep(&mut self, found: &Found) {
        if found.ratio < self.bound {
            // Within a round, a walk keeps only instances that are better than all its earlier ones.
            self.bound.clone_from(&found.ratio);
            self.found.push(found.clone());
        }
    }

    fn start(&mut self, best: &[Found]) -> Instance {
        let Settings { types, resources, capacity, rewards, .. } = *self.settings;
        let near = match self.random.random_range(0..6u32) {
            0 => Instance::appendix_c(types, resources, capacity, rewards),
            1 => Instance::shortened(types, resources, capacity, rewards),
            2 | 3 if !best.is_empty() => {
                let at = self.random.random_range(0..best.len() as u64) as usize;
                best.get(at).map(|found| found.instance.clone())
            }
            _ => None,
        };
        let Some(mut near) = near else {
            let each = (0..types).map(|_| JobTypeNumbers {
                demand: self.demand(),
                reward: self.random.random_range(1..=rewards),
            });
            return Instance { types: each.collect(), capacity: vec![capacity; resources] };
        };
        for _ in 0..self.random.random_range(0..4u32) {
            let next = self.neighbour(&near);
            if next.is_sound() {
                near = next;
            }
        }
        near
    }

    /// Returns a random demand that is not zero.
    fn demand(&mut self) -> Vec<u32> {
        loop {
            let each = 0..self.settings.resources;
            let demand: Vec<u32> =
                each.map(|_| self.random.random_range(0..=self.settings.capacity)).collect();
            if demand.iter().any(|d| *d > 0) {
                return demand;
            }
        }
    }

    /// Returns the instance after one to three random changes.
    fn neighbour(&mut self, instance: &Instance) -> Instance {
        let mut next = instance.clone();
        let changes = [1, 1, 1, 2, 2, 3][self.random.random_range(0..6u32) as usize];
        for _ in 0..changes {
            self.change(&mut next);
        }
        next
    }

    fn change(&mut self, instance: &mut Instance) {
        let largest = self.settings.rewards;
        let j = self.random.random_range(0..instance.types.len() as u64) as usize;
        let r = self.random.random_range(0..instance.capacity.len() as u64) as usize;
        let capacity = instance.capacity[r];
        match self.random.random_range(0..12u32) {
            0..=2 => {
                let up = self.random.random::<bool>();
                let demand = &mut instance.types[j].demand[r];
                *demand = if up { (*demand + 1).min(capacity) } else { demand.saturating_sub(1) };
            }
            3 => instance.types[j].demand[r] = self.random.random_range(0..=capacity),
            4 | 5 => {
                let up = self.random.random::<bool>();
                let reward = &mut instance.types[j].reward;
                *reward = if up { (*reward + 1).min(largest) } else { (*reward - 1).max(1) };
            }
            6 | 7 => {
                let now = instance.types[j].reward;
                let width = now / 8 + 1;
                let (from, to) = (now.saturating_sub(width).max(1), now.saturating_add(width).min(largest));
                instance.types[j].reward = self.random.random_range(from..=to);
            }
            8 => instance.types[j].reward = self.random.random_range(1..=largest),
            9 => {
                let other = self.random.random_range(0..instance.types.len() as u64) as usize;
                instance.types.swap(j, other);
            }
            _ => self.tie(instance, j),
        }
    }

    /// Sets the reward of type `j` so that two random maximal configurations earn about the same.
    fn tie(&mut self, instance: &mut Instance, j: usize) {
        // An earlier change may have left a type that demands no resource.
        let Some(list) = instance.maximal().filter(|list| !list.is_empty()) else { return };
        let one = self.random.random_range(0..list.len() as u64) as usize;
        let other = self.random.random_range(0..list.len() as u64) as usize;
        // Only a random subset of the types counts. Greedy also meets configurations after some types have run out.
        let open: u64 = self.random.random();
        let rest = |k: &[u32]| -> i128 {
            let types =
                instance.types.iter().enumerate().zip(k).filter(|((h, _), _)| *h != j && open >> h & 1 == 1);
            types.map(|((_, each), k)| i128::from(each.reward) * i128::from(*k)).sum()
        };
        let jobs = i128::from(list[one][j]) - i128::from(list[other][j]);
        if jobs == 0 {
            return;
        }
        let missing = rest(&list[other]) - rest(&list[one]);
        let reward = missing.div_euclid(jobs) + i128::from(self.random.random_range(-1..=1i32));
        if let Ok(reward) = u64::try_from(reward)
            && (1..=self.settings.rewards).contains(&reward)
        {
            instance.types[j].reward = reward;
        }
    }
}

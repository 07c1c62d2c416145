//! Gangs that make room for others (docs/simulation.md, "Queues").
//!
//! A gang of user `m` may be stopped for one of user `n` where the tree would rather serve `n`: let `k` and `l` be the
//! children, towards `n` and `m`, of the lowest node above both; then the key of `k` with the gang started is at most
//! the key of `l` with the other one stopped. A node counts as below its guarantee where its user is: before the
//! start, after the stop.

use evenhand_problem::Rational;

use super::{Preemption, Queues};
use crate::mechanism::MechanismError;
use crate::tree::turn::gang;
use evenhand_exact::tree::{Key, key};

/// A gang that was stopped: its user, run and servers.
type Taken = (usize, u32, Vec<u32>);

impl Queues<'_> {
    /// Lets one gang make others stop, if that is of use to any; says whether one has started.
    pub(super) fn preempt(&mut self, placed: &mut Vec<(u32, u32)>) -> Result<bool, MechanismError> {
        if self.policy.preemption == Preemption::Never {
            return Ok(false);
        }
        let waiting: Vec<usize> = (0..self.waiting.len()).filter(|n| self.waits(*n)).collect();
        let mut hopeful: Vec<usize> = waiting.into_iter().filter(|n| self.victim(*n).is_some()).collect();
        while !hopeful.is_empty() {
            let n = self.turn(&hopeful);
            if let Some(taken) = self.make_room(n) {
                for (m, run, servers) in taken {
                    self.waiting[m] += servers.len() as u64;
                    self.stopped.push(run);
                }
                self.start(n, placed)?;
                return Ok(true);
            }
            hopeful.retain(|other| *other != n);
        }
        Ok(false)
    }

    /// Stops gangs until one of user `n` can start, and none that need not be stopped; nothing changes where it cannot
    /// even so.
    fn make_room(&mut self, n: usize) -> Option<Vec<Taken>> {
        let mut taken = Vec::new();
        while !self.can_start(n) {
            let Some((m, run)) = self.victim(n) else {
                taken.into_iter().rev().for_each(|of| self.put_back(of));
                return None;
            };
            taken.push(self.take(m, run));
        }
        let mut needed = Vec::new();
        for (m, run, servers) in taken.into_iter().rev() {
            self.put_back((m, run, servers));
            if !self.can_start(n) {
                needed.push(self.take(m, run));
            }
        }
        needed.reverse();
        Some(needed)
    }

    fn take(&mut self, m: usize, run: u32) -> Taken {
        let servers = self.runs[m].remove(&run).unwrap_or_default();
        servers.iter().for_each(|j| self.rooms.give_back(m, *j as usize));
        self.hold(m, &-Rational::from(servers.len()));
        (m, run, servers)
    }

    fn put_back(&mut self, (m, run, servers): Taken) {
        servers.iter().for_each(|j| self.rooms.take(m, *j as usize));
        self.hold(m, &Rational::from(servers.len()));
        self.runs[m].insert(run, servers);
    }

    /// The gang that is stopped next for user `n`, if any may be: under the highest node, of the child whose key beyond
    /// its guarantee is the largest, the youngest.
    fn victim(&mut self, n: usize) -> Option<(usize, u32)> {
        for (parent, k, started) in self.keys_when_started(n) {
            if self.policy.preemption == Preemption::Guarantees && started.is_above_guarantee {
                continue;
            }
            let mut first: Option<(Key, u32, usize)> = None;
            for l in self.forest.nodes[parent].children.iter().copied().filter(|l| *l != k) {
                let beyond = self.beyond(l);
                // Without one of its gangs its key is no larger.
                if started > beyond {
                    continue;
                }
                for m in self.below[l].clone() {
                    let Some(run) = self.youngest(m) else { continue };
                    let comes_first = first.as_ref().is_none_or(|(key, of, _)| (&beyond, run) > (key, *of));
                    if comes_first && self.may_stop(m, run, l, &started) {
                        first = Some((beyond.clone(), run, m));
                    }
                }
            }
            if let Some((_, run, m)) = first {
                return Some((m, run));
            }
        }
        None
    }

    /// The children on the way from the root to user `n`, each below its parent, with their keys after a gang has
    /// started; none where only guarantees count and the user is below none.
    fn keys_when_started(&mut self, n: usize) -> Vec<(usize, usize, Key)> {
        let forest = self.forest;
        let own = forest.leaf(n);
        let Some(leaf) = &forest.nodes[own].leaf else { return Vec::new() };
        let Some(way) = self.holdings.way(forest, leaf) else { return Vec::new() };
        let is_due = forest.guarantees_first && way.nodes.iter().any(|(_, is_below)| *is_below);
        if self.policy.preemption == Preemption::Guarantees && !is_due {
            return Vec::new();
        }
        let tasks = Rational::from(gang(forest, n));
        self.holdings.add(forest, n, &tasks);
        let mut keys = Vec::new();
        let mut child = (own, false);
        for (v, is_below) in way.nodes {
            let below: &[usize] = if child.1 && forest.guarantees_first { &[n] } else { &[] };
            keys.push((v, child.0, key(forest, &self.holdings, child.0, below).0));
            child = (v, is_below);
        }
        self.holdings.add(forest, n, &-tasks);
        keys.reverse();
        keys
    }

    /// The key of a node as if it were above its guarantee.
    fn beyond(&mut self, v: usize) -> Key {
        let known = &mut self.beyond[v];
        known.get_or_insert_with(|| key(self.forest, &self.holdings, v, &[]).0).clone()
    }

    /// The youngest gang of a user that did not start just now, if its user is left with the tasks that are pinned.
    fn youngest(&self, m: usize) -> Option<u32> {
        let (run, servers) = self.runs[m].range(..self.fresh).next_back()?;
        let left = Rational::from(&self.holdings.tasks[m] - servers.len() as u64);
        let pinned = self.forest.problem.groups().member(m).pinned.as_ref();
        pinned.is_none_or(|pinned| left >= *pinned).then_some(*run)
    }

    /// Whether the tree would rather have a gang started, with that key, than this one under `l` going on.
    fn may_stop(&mut self, m: usize, run: u32, l: usize, started: &Key) -> bool {
        let forest = self.forest;
        let Some(leaf) = &forest.nodes[forest.leaf(m)].leaf else { return false };
        let tasks = Rational::from(self.runs[m].get(&run).map_or(0, Vec::len));
        self.holdings.add(forest, m, &Rational::from(-&tasks));
        let way = self.holdings.way(forest, leaf);
        let is_below = way.is_some_and(|way| way.nodes.contains(&(l, true)));
        let below: &[usize] = if is_below && forest.guarantees_first { &[m] } else { &[] };
        let stopped = key(forest, &self.holdings, l, below).0;
        self.holdings.add(forest, m, &tasks);
        let is_strict = self.policy.preemption == Preemption::Guarantees;
        *started <= stopped && (!is_strict || stopped.is_above_guarantee)
    }
}

//! Preemption: running gangs are stopped so that other gangs can start (docs/scenarios.md, "Preemption").
//!
//! A gang of user `m` may be stopped for a gang of user `n` if the tree would rather serve `n`. Consider the
//! lowest node above both users, and let `k` and `l` be its children towards `n` and `m`. The key of `k`
//! after the start must be at most the key of `l` after the stop. Node `k` counts as below its guarantee if
//! user `n` is below it before the start. Node `l` counts as below its guarantee if user `m` is below it
//! after the stop.

use evenhand_problem::Rational;

use super::{Preemption, Queues, count};
use crate::error::MechanismError;
use evenhand_exact::tree::Key;

/// A gang that was stopped: its user, its run, and its servers with the tasks on each.
type Taken = (usize, u32, Vec<(u32, u64)>);

/// The two children of a node with the largest keys after a stop, each with the user whose gang would stop.
#[derive(Clone, Copy, Default)]
struct Richest {
    first: Option<(usize, usize)>,
    second: Option<(usize, usize)>,
}

impl Queues<'_> {
    /// Stops gangs so that one waiting gang can start, if possible. Returns whether a gang has started.
    pub(super) fn preempt(&mut self, placed: &mut Vec<(u32, u32)>) -> Result<bool, MechanismError> {
        if self.policy.preemption == Preemption::Never {
            return Ok(false);
        }
        let mut hopeful = self.hopeful();
        while !hopeful.is_empty() {
            let n = self.turn(&hopeful);
            if let Some(taken) = self.make_room(n) {
                for (m, run, servers) in taken {
                    self.waiting[m] += count(&servers);
                    self.stopped.push(run);
                }
                self.start(n, placed)?;
                return Ok(true);
            }
            hopeful.retain(|other| *other != n);
        }
        Ok(false)
    }

    /// Returns the waiting users for which some gang may be stopped, in ascending order.
    fn hopeful(&mut self) -> Vec<usize> {
        let users = self.waiting.len();
        if !(0..users).any(|n| self.waits(n)) {
            return Vec::new();
        }
        let is_strict = self.policy.preemption == Preemption::Guarantees;
        // For each node, the user below it for which the node's key without the user's youngest gang is largest.
        let mut best: Vec<Option<usize>> = vec![None; self.forest.nodes.len()];
        for m in 0..users {
            if self.update_stopped_keys(m).is_none() {
                continue;
            }
            let own = self.forest.leaf(m);
            let path = std::iter::once(own).chain(self.forest.above(own)).take_while(|v| *v != 0);
            for l in path {
                let key = self.key_without(m, l);
                let is_better = |of: usize| key > self.key_without(of, l);
                if (!is_strict || key.is_above_guarantee) && best[l].is_none_or(is_better) {
                    best[l] = Some(m);
                }
            }
        }
        let mut richest = vec![Richest::default(); self.forest.nodes.len()];
        for (l, m) in best.iter().enumerate().filter_map(|(l, m)| Some((l, (*m)?))) {
            let of = &mut richest[self.forest.nodes[l].parent.unwrap_or(0)];
            let beats = |other: Option<(usize, usize)>| {
                other.is_none_or(|(of, user)| self.key_without(m, l) > self.key_without(user, of))
            };
            if beats(of.first) {
                *of = Richest { first: Some((l, m)), second: of.first };
            } else if beats(of.second) {
                of.second = Some((l, m));
            }
        }
        let mut hopeful = Vec::new();
        for n in 0..users {
            if !self.waits(n) {
                continue;
            }
            let is_of_use = self.started(n).iter().any(|of| {
                let Richest { first, second } = richest[of.parent];
                let other = first.filter(|(l, _)| *l != of.child).or(second);
                !(is_strict && of.key.is_above_guarantee)
                    && other.is_some_and(|(l, m)| of.key <= *self.key_without(m, l))
            });
            if is_of_use {
                hopeful.push(n);
            }
        }
        hopeful
    }

    /// Returns the key of node `l` above user `m` without the user's youngest gang. The key must be known already.
    fn key_without(&self, m: usize, l: usize) -> &Key {
        self.memory.stopped(m, l)
    }

    /// Stops gangs until a gang of user `n` can start, and returns the stopped gangs. Gangs that need not
    /// stop are put back. If the gang of `n` cannot start even then, returns `None` and leaves the state
    /// unchanged.
    fn make_room(&mut self, n: usize) -> Option<Vec<Taken>> {
        let mut taken = Vec::new();
        while !self.can_start(n) {
            let Some((m, run)) = self.victim(n) else {
                taken.into_iter().rev().for_each(|of| self.put_back(of, n));
                return None;
            };
            taken.push(self.take(m, run, n));
        }
        let mut needed = Vec::new();
        for (m, run, servers) in taken.into_iter().rev() {
            self.put_back((m, run, servers), n);
            if !self.can_start(n) {
                needed.push(self.take(m, run, n));
            }
        }
        needed.reverse();
        // For all other users, the free capacity of these servers has changed.
        let servers = needed.iter().flat_map(|(_, _, servers)| servers);
        servers.for_each(|(j, _)| self.rooms.settle(*j as usize));
        Some(needed)
    }

    /// Stops a gang on trial. Only user `n` sees the free servers.
    fn take(&mut self, m: usize, run: u32, n: usize) -> Taken {
        let servers = self.runs[m].remove(&run).unwrap_or_default();
        servers.iter().for_each(|(j, tasks)| self.rooms.give_back_for(n, m, *j as usize, *tasks));
        self.hold(m, &-Rational::from(count(&servers)));
        (m, run, servers)
    }

    /// Undoes [`Self::take`].
    fn put_back(&mut self, (m, run, servers): Taken, n: usize) {
        servers.iter().for_each(|(j, tasks)| self.rooms.take_for(n, m, *j as usize, *tasks));
        self.hold(m, &Rational::from(count(&servers)));
        self.runs[m].insert(run, servers);
    }

    /// Returns the gang that is stopped next for user `n`, or `None` if no gang may be stopped. The search
    /// prefers the highest possible node, then its child with the largest key beyond the guarantee, then the
    /// youngest gang below this child.
    fn victim(&mut self, n: usize) -> Option<(usize, u32)> {
        let keys = self.started(n);
        keys.iter().find_map(|of| self.victim_under(of.parent, of.child, &of.key))
    }

    fn victim_under(&mut self, parent: usize, k: usize, started: &Key) -> Option<(usize, u32)> {
        let is_strict = self.policy.preemption == Preemption::Guarantees;
        if is_strict && started.is_above_guarantee {
            return None;
        }
        let children = &self.forest.nodes[parent].children;
        // Stopping a gang cannot increase the key of a child, so other children are excluded.
        let mut larger: Vec<(Key, usize)> = Vec::new();
        for l in children.iter().copied().filter(|l| *l != k) {
            let key = self.memory.beyond(self.forest, &self.holdings, l);
            if started <= key {
                larger.push((key.clone(), l));
            }
        }
        // Start with the largest key. Usually one of its gangs may stop, and the other children need not be examined.
        larger.sort_by(|a, b| b.0.cmp(&a.0));
        let mut first: Option<(Key, u32, usize)> = None;
        for (key, l) in larger {
            if first.as_ref().is_some_and(|(of, _, _)| key < *of) {
                break;
            }
            for at in 0..self.below[l].len() {
                let m = self.below[l][at];
                let Some(run) = self.youngest(m) else { continue };
                let is_older = first.as_ref().is_some_and(|(_, other, _)| run <= *other);
                if is_older || self.update_stopped_keys(m).is_none() {
                    continue;
                }
                let stopped = self.key_without(m, l);
                if started <= stopped && (!is_strict || stopped.is_above_guarantee) {
                    first = Some((key.clone(), run, m));
                }
            }
        }
        first.map(|(_, run, m)| (m, run))
    }

    /// Returns the youngest gang of a user that started before the current call of `fill`. Returns `None` if
    /// stopping it would leave the user fewer tasks than are pinned.
    pub(super) fn youngest(&self, m: usize) -> Option<u32> {
        let (run, servers) = self.runs[m].range(..self.fresh).next_back()?;
        let pinned = self.forest.problem.groups().member(m).pinned.as_ref();
        let is_free = |pinned: &Rational| Rational::from(&self.holdings.tasks[m] - count(servers)) >= *pinned;
        pinned.is_none_or(is_free).then_some(*run)
    }
}

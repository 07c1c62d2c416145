//! What is remembered of users between two decisions, since most of it stays: a start or a stop changes the nodes above
//! one user alone.

use evenhand_problem::Rational;

use super::{Preemption, Queues};
use crate::tree::turn::gang;
use evenhand_exact::tree::{Forest, Key, Ways, key};

/// A child on the way from the root to a user, below its parent, with its key after a gang of the user has started.
pub(super) struct WhenStarted {
    pub parent: usize,
    pub child: usize,
    pub key: Key,
}

/// By user what is known of it, and when that was so. All of it is decided below one child of the root.
pub(super) struct Memory {
    /// By node: the number of its last change.
    changed: Vec<u64>,
    now: u64,
    /// By user: the child of the root above it.
    top: Vec<usize>,
    /// By node: its distance from the root.
    pub depth: Vec<usize>,
    /// By user: its way, as of then.
    pub ways: Ways,
    ways_at: Vec<u64>,
    /// By user: keys with one more gang, as of then.
    pub started: Vec<Vec<WhenStarted>>,
    started_at: Vec<u64>,
    /// By user: by depth, from the child of the root down, the keys without this run, as of then.
    pub stopped: Vec<Vec<Key>>,
    stopped_at: Vec<(u64, u32)>,
}

impl Memory {
    pub fn new(forest: &Forest<'_>) -> Self {
        let users = forest.problem.n_users();
        let top = |n: usize| {
            let own = forest.leaf(n);
            std::iter::once(own).chain(forest.above(own)).take_while(|v| *v != 0).last().unwrap_or(own)
        };
        Self {
            // Nothing is known at the number 0.
            changed: vec![1; forest.nodes.len()],
            now: 1,
            top: (0..users).map(top).collect(),
            depth: (0..forest.nodes.len()).map(|v| forest.above(v).count()).collect(),
            ways: vec![None; users],
            ways_at: vec![0; users],
            started: (0..users).map(|_| Vec::new()).collect(),
            started_at: vec![0; users],
            stopped: vec![Vec::new(); users],
            stopped_at: vec![(0, 0); users],
        }
    }

    /// A node has changed.
    pub fn touch(&mut self, v: usize) {
        self.now += 1;
        self.changed[v] = self.now;
    }

    fn as_of(&self, n: usize) -> u64 {
        self.changed[self.top[n]]
    }
}

impl Queues<'_> {
    /// Makes the way of a user known.
    pub(super) fn know_way(&mut self, n: usize) {
        let as_of = self.memory.as_of(n);
        if self.memory.ways_at[n] == as_of {
            return;
        }
        let leaf = self.forest.nodes[self.forest.leaf(n)].leaf.as_ref();
        let way = leaf.and_then(|leaf| self.holdings.way(self.forest, leaf));
        self.memory.ways[n] = way.map(|way| way.nodes);
        self.memory.ways_at[n] = as_of;
    }

    /// Makes the keys known from the root to user `n` after a gang has started; none where only guarantees count and the
    /// user is below none.
    pub(super) fn know_started(&mut self, n: usize) {
        let as_of = self.memory.as_of(n);
        if self.memory.started_at[n] == as_of {
            return;
        }
        self.know_way(n);
        let forest = self.forest;
        let way = self.memory.ways[n].as_deref().unwrap_or_default();
        let is_due = forest.guarantees_first && way.iter().any(|(_, is_below)| *is_below);
        let mut keys = Vec::new();
        if self.policy.preemption != Preemption::Guarantees || is_due {
            let saved = self.holdings.of(forest, n);
            self.holdings.add(forest, n, &Rational::from(gang(forest, n)));
            let mut child = (forest.leaf(n), false);
            for &(parent, is_below) in way {
                let below: &[usize] = if child.1 && forest.guarantees_first { &[n] } else { &[] };
                let key = key(forest, &self.holdings, child.0, below).0;
                keys.push(WhenStarted { parent, child: child.0, key });
                child = (parent, is_below);
            }
            self.holdings.put_back(saved);
            keys.reverse();
        }
        self.memory.started[n] = keys;
        self.memory.started_at[n] = as_of;
    }

    /// Makes the keys known from the root to user `m` without its youngest gang; says which one that is, if one may
    /// stop.
    pub(super) fn know_stopped(&mut self, m: usize) -> Option<u32> {
        let run = self.youngest(m)?;
        let as_of = (self.memory.as_of(m), run);
        if self.memory.stopped_at[m] == as_of {
            return Some(run);
        }
        let forest = self.forest;
        let own = forest.leaf(m);
        let leaf = forest.nodes[own].leaf.as_ref()?;
        let tasks = Rational::from(self.runs[m].get(&run).map_or(0, Vec::len));
        let saved = self.holdings.of(forest, m);
        self.holdings.add(forest, m, &-tasks);
        let way = self.holdings.way(forest, leaf);
        let is_below = |l: usize| way.as_ref().is_some_and(|way| way.nodes.contains(&(l, true)));
        let path = std::iter::once(own).chain(forest.above(own)).take_while(|v| *v != 0);
        let mut keys: Vec<Key> = path
            .map(|l| {
                let below: &[usize] = if forest.guarantees_first && is_below(l) { &[m] } else { &[] };
                key(forest, &self.holdings, l, below).0
            })
            .collect();
        keys.reverse();
        self.holdings.put_back(saved);
        self.memory.stopped[m] = keys;
        self.memory.stopped_at[m] = as_of;
        Some(run)
    }
}

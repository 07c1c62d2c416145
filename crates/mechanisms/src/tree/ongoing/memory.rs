//! What is remembered of users between two decisions, since most of it stays: a start or a stop changes the nodes above
//! one user alone.

use std::collections::HashMap;
use std::rc::Rc;

use evenhand_problem::Rational;

use super::{Preemption, Queues, count};
use crate::tree::turn::gang;
use evenhand_exact::tree::{Forest, Holdings, Key, Ways, key};

/// A child on the way from the root to a user, below its parent, with its key after a gang of the user has started.
pub(super) struct WhenStarted {
    pub parent: usize,
    pub child: usize,
    pub key: Key,
}

/// What is known of one user or node, and in which state of its branch that was so.
struct Known<T> {
    at: u64,
    what: T,
}

/// The nodes above a user, each with whether it is below its guarantee; `None` where it can run no more.
type Way = Option<Vec<(usize, bool)>>;

/// What was found in one state of a branch, by the place of a user or node there.
struct Found {
    /// Tells the state from every other one of the branch.
    number: u64,
    ways: Vec<Option<Way>>,
    started: Vec<Option<Rc<Vec<WhenStarted>>>>,
    /// Without the youngest gang, which has so many tasks.
    stopped: Vec<Option<(u64, Rc<Vec<Key>>)>>,
    beyond: Vec<Option<Key>>,
}

/// What is below one child of the root. Ways and keys there are decided by the tasks of the users there alone, and who
/// makes room in vain or goes on after all leaves them as they were: what was found in a state is kept.
struct Branch {
    /// By place: the tasks of the users.
    tasks: Vec<u64>,
    nodes: usize,
    states: HashMap<Vec<u64>, Found>,
}

/// Places of users and nodes that the states of one branch may have in all. Of each about 300 bytes are kept.
const MOST_PLACES: usize = 1 << 15;

/// By user and node what is known of it.
pub(super) struct Memory {
    branches: Vec<Branch>,
    /// By user and by node: its branch, and its place there.
    of_user: Vec<(usize, usize)>,
    of_node: Vec<(usize, usize)>,
    /// By branch: the number of its state.
    state: Vec<u64>,
    now: u64,
    /// By node: its distance from the root.
    pub depth: Vec<usize>,
    /// By user: its way.
    pub ways: Ways,
    ways_at: Vec<u64>,
    /// By user: keys with one more gang.
    started: Vec<Known<Rc<Vec<WhenStarted>>>>,
    /// By user: by depth, from the child of the root down, the keys without its youngest gang of so many tasks.
    stopped: Vec<(Known<Rc<Vec<Key>>>, u64)>,
    /// By node: its key beyond its guarantee.
    beyond: Vec<Known<Key>>,
}

/// A key before one is known.
fn no_key() -> Key {
    Key { is_above_guarantee: true, priority: 0, is_weightless: false, level: Rational::new() }
}

impl Memory {
    pub fn new(forest: &Forest<'_>) -> Self {
        let users = forest.problem.n_users();
        let top_of = |v: usize| std::iter::once(v).chain(forest.above(v)).take_while(|v| *v != 0).last();
        let mut branches: Vec<Branch> = Vec::new();
        let mut branch_of = vec![None; forest.nodes.len()];
        let mut of_node = vec![(0, 0); forest.nodes.len()];
        for (v, place) in of_node.iter_mut().enumerate() {
            // The root has no key.
            let Some(top) = top_of(v) else { continue };
            let b = *branch_of[top].get_or_insert_with(|| {
                branches.push(Branch { tasks: Vec::new(), nodes: 0, states: HashMap::new() });
                branches.len() - 1
            });
            *place = (b, branches[b].nodes);
            branches[b].nodes += 1;
        }
        let in_branch = |n: usize| {
            let (b, _) = of_node[forest.leaf(n)];
            branches[b].tasks.push(0);
            (b, branches[b].tasks.len() - 1)
        };
        let of_user = (0..users).map(in_branch).collect();
        let mut memory = Self {
            // Nothing is known at the number 0.
            state: vec![0; branches.len()],
            branches,
            of_user,
            of_node,
            now: 0,
            depth: (0..forest.nodes.len()).map(|v| forest.above(v).count()).collect(),
            ways: vec![None; users],
            ways_at: vec![0; users],
            started: (0..users).map(|_| Known { at: 0, what: Rc::new(Vec::new()) }).collect(),
            stopped: (0..users).map(|_| (Known { at: 0, what: Rc::new(Vec::new()) }, 0)).collect(),
            beyond: (0..forest.nodes.len()).map(|_| Known { at: 0, what: no_key() }).collect(),
        };
        (0..memory.branches.len()).for_each(|b| memory.find(b));
        memory
    }

    /// User `n` runs so many tasks from now on.
    pub fn has(&mut self, n: usize, tasks: u64) {
        let (b, place) = self.of_user[n];
        self.branches[b].tasks[place] = tasks;
        self.find(b);
    }

    /// Finds the state of a branch, or begins a new one.
    fn find(&mut self, b: usize) {
        let branch = &mut self.branches[b];
        if let Some(found) = branch.states.get(&branch.tasks) {
            self.state[b] = found.number;
            return;
        }
        let (users, nodes) = (branch.tasks.len(), branch.nodes);
        if (branch.states.len() + 1) * (users + nodes) > MOST_PLACES {
            branch.states.clear();
        }
        self.now += 1;
        self.state[b] = self.now;
        let found = Found {
            number: self.now,
            ways: vec![None; users],
            started: vec![None; users],
            stopped: vec![None; users],
            beyond: vec![None; nodes],
        };
        branch.states.insert(branch.tasks.clone(), found);
    }

    /// The state of the branch of a user.
    fn as_of(&self, n: usize) -> u64 {
        self.state[self.of_user[n].0]
    }

    /// What was found in the state of the branch of a user, with its place there.
    fn found(&mut self, (b, place): (usize, usize)) -> Option<(&mut Found, usize)> {
        let branch = &mut self.branches[b];
        Some((branch.states.get_mut(&branch.tasks)?, place))
    }

    /// The keys from the root to user `n` with one more gang, which are known.
    pub fn started(&self, n: usize) -> Rc<Vec<WhenStarted>> {
        Rc::clone(&self.started[n].what)
    }

    /// The key of a node above user `m` without the youngest gang of it, which is known.
    pub fn stopped(&self, m: usize, l: usize) -> &Key {
        &self.stopped[m].0.what[self.depth[l] - 1]
    }

    /// The key of a node beyond its guarantee, which is known.
    pub fn beyond(&self, v: usize) -> &Key {
        &self.beyond[v].what
    }

    /// Makes the key of a node known as if it were above its guarantee.
    pub fn know_beyond(&mut self, forest: &Forest<'_>, holdings: &Holdings, v: usize) {
        let as_of = self.state[self.of_node[v].0];
        if self.beyond[v].at == as_of {
            return;
        }
        let known = self.found(self.of_node[v]).and_then(|(found, place)| found.beyond[place].clone());
        let what = known.unwrap_or_else(|| {
            let key = key(forest, holdings, v, &[]).0;
            if let Some((found, place)) = self.found(self.of_node[v]) {
                found.beyond[place] = Some(key.clone());
            }
            key
        });
        self.beyond[v] = Known { at: as_of, what };
    }
}

impl Queues<'_> {
    /// Makes the way of a user known.
    pub(super) fn know_way(&mut self, n: usize) {
        let as_of = self.memory.as_of(n);
        if self.memory.ways_at[n] == as_of {
            return;
        }
        let of_user = self.memory.of_user[n];
        let known = self.memory.found(of_user).and_then(|(found, place)| found.ways[place].clone());
        let nodes = known.unwrap_or_else(|| {
            let leaf = self.forest.nodes[self.forest.leaf(n)].leaf.as_ref();
            let way = leaf.and_then(|leaf| self.holdings.way(self.forest, leaf));
            let nodes = way.map(|way| way.nodes);
            if let Some((found, place)) = self.memory.found(of_user) {
                found.ways[place] = Some(nodes.clone());
            }
            nodes
        });
        self.memory.ways[n] = nodes;
        self.memory.ways_at[n] = as_of;
    }

    /// Makes the keys known from the root to user `n` after a gang has started; none where only guarantees count and the
    /// user is below none.
    pub(super) fn know_started(&mut self, n: usize) {
        let as_of = self.memory.as_of(n);
        if self.memory.started[n].at == as_of {
            return;
        }
        let of_user = self.memory.of_user[n];
        if let Some(what) = self.memory.found(of_user).and_then(|(found, place)| found.started[place].clone())
        {
            self.memory.started[n] = Known { at: as_of, what };
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
        let what = Rc::new(keys);
        if let Some((found, place)) = self.memory.found(of_user) {
            found.started[place] = Some(Rc::clone(&what));
        }
        self.memory.started[n] = Known { at: as_of, what };
    }

    /// Makes the keys known from the root to user `m` without its youngest gang; says which one that is, if one may
    /// stop.
    pub(super) fn know_stopped(&mut self, m: usize) -> Option<u32> {
        let run = self.youngest(m)?;
        let (as_of, tasks) =
            (self.memory.as_of(m), self.runs[m].get(&run).map_or(0, |servers| count(servers)));
        if self.memory.stopped[m].0.at == as_of && self.memory.stopped[m].1 == tasks {
            return Some(run);
        }
        let of_user = self.memory.of_user[m];
        let known = self.memory.found(of_user).and_then(|(found, place)| found.stopped[place].clone());
        if let Some((_, what)) = known.filter(|(of, _)| *of == tasks) {
            self.memory.stopped[m] = (Known { at: as_of, what }, tasks);
            return Some(run);
        }
        let forest = self.forest;
        let own = forest.leaf(m);
        let leaf = forest.nodes[own].leaf.as_ref()?;
        let saved = self.holdings.of(forest, m);
        self.holdings.add(forest, m, &-Rational::from(tasks));
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
        let what = Rc::new(keys);
        if let Some((found, place)) = self.memory.found(of_user) {
            found.stopped[place] = Some((tasks, Rc::clone(&what)));
        }
        self.memory.stopped[m] = (Known { at: as_of, what }, tasks);
        Some(run)
    }
}

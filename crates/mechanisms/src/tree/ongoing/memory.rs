//! A cache of keys and ways between two decisions. The *way* of a user is the list of the nodes above it.
//! Most keys and ways stay the same, because a start or a stop changes only the nodes above one user.

use std::collections::HashMap;
use std::rc::Rc;

use evenhand_problem::Rational;

use super::{Preemption, Queues, count};
use crate::tree::turn::gang;
use evenhand_exact::tree::{Forest, Holdings, Key, Ways, key};

/// A node on the path from the root to a user, with its parent and its key after a gang of the user has started.
pub(super) struct WhenStarted {
    pub parent: usize,
    pub child: usize,
    pub key: Key,
}

/// The nodes above a user, each with whether the user is below its guarantee, or `None` if the user can run
/// no more tasks.
type Way = Option<Vec<(usize, bool)>>;

/// The cached results for one state of a branch. Lists are indexed by the position of a user or node in the
/// branch.
struct BranchState {
    /// A number that is unique to the state.
    number: u64,
    /// The way of each user, or `None` if it is not known.
    ways: Vec<Option<Way>>,
    /// The keys from the root down to each user if one more gang of the user had started, or `None` if they
    /// are not known.
    started: Vec<Option<Rc<Vec<WhenStarted>>>>,
    /// The number of tasks in the youngest gang of each user, and the keys from the child of the root down to
    /// the user without this gang. The number of tasks is 0 if the keys are not known.
    stopped: Vec<(u64, Vec<Key>)>,
    /// The key of each node beyond its guarantee, or `None` if it is not known.
    beyond: Vec<Option<Key>>,
}

/// The subtree of one child of the root.
///
/// The ways and keys in a branch depend only on the tasks of its users. Gangs are often stopped on trial and put back,
/// which restores an earlier state. The results are therefore cached by state.
struct Branch {
    /// The number of tasks of each user of the branch.
    tasks: Vec<u64>,
    /// The number of nodes of the branch.
    nodes: usize,
    /// The index of each cached state, by the tasks of the users.
    known: HashMap<Vec<u64>, usize>,
    /// The cached states.
    states: Vec<BranchState>,
    /// The index of the current state.
    now: usize,
}

/// The maximum number of users and nodes in all cached states of a branch together. Each user or node takes
/// about 300 bytes.
const MOST_PLACES: usize = 1 << 15;

/// The cache for all branches.
pub(super) struct Memory {
    branches: Vec<Branch>,
    /// The branch of each user, and the index of the user in the branch.
    of_user: Vec<(usize, usize)>,
    /// The branch of each node, and the index of the node in the branch.
    of_node: Vec<(usize, usize)>,
    /// The number of the youngest state.
    youngest: u64,
    /// The distance of each node from the root.
    depth: Vec<usize>,
    /// The last known way of each user.
    pub ways: Ways,
    /// The number of the branch state for which each way was computed.
    ways_at: Vec<u64>,
}

impl Memory {
    pub fn new(forest: &Forest<'_>) -> Self {
        let users = forest.problem.n_users();
        let top_of = |v: usize| std::iter::once(v).chain(forest.above(v)).take_while(|v| *v != 0).last();
        let mut branches: Vec<Branch> = Vec::new();
        let mut branch_of = vec![None; forest.nodes.len()];
        let mut of_node = vec![(0, 0); forest.nodes.len()];
        for (v, place) in of_node.iter_mut().enumerate() {
            // The root has no key and belongs to no branch.
            let Some(top) = top_of(v) else { continue };
            let b = *branch_of[top].get_or_insert_with(|| {
                let known = HashMap::new();
                branches.push(Branch { tasks: Vec::new(), nodes: 0, known, states: Vec::new(), now: 0 });
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
            branches,
            of_user,
            of_node,
            // No state has the number 0.
            youngest: 0,
            depth: (0..forest.nodes.len()).map(|v| forest.above(v).count()).collect(),
            ways: vec![None; users],
            ways_at: vec![0; users],
        };
        (0..memory.branches.len()).for_each(|b| memory.enter_state(b));
        memory
    }

    /// Records that user `n` runs `tasks` tasks from now on.
    pub fn set_tasks(&mut self, n: usize, tasks: u64) {
        let (b, place) = self.of_user[n];
        self.branches[b].tasks[place] = tasks;
        self.enter_state(b);
    }

    /// Sets the current state of a branch. Creates the state if it is not cached.
    fn enter_state(&mut self, b: usize) {
        let branch = &mut self.branches[b];
        if let Some(now) = branch.known.get(&branch.tasks) {
            branch.now = *now;
            return;
        }
        let (users, nodes) = (branch.tasks.len(), branch.nodes);
        if (branch.states.len() + 1) * (users + nodes) > MOST_PLACES {
            branch.states.clear();
            branch.known.clear();
        }
        self.youngest += 1;
        branch.now = branch.states.len();
        branch.known.insert(branch.tasks.clone(), branch.now);
        branch.states.push(BranchState {
            number: self.youngest,
            ways: vec![None; users],
            started: vec![None; users],
            stopped: vec![(0, Vec::new()); users],
            beyond: vec![None; nodes],
        });
    }

    /// Returns the current state of a branch, and the index within it.
    fn state(&self, (b, place): (usize, usize)) -> (&BranchState, usize) {
        let branch = &self.branches[b];
        (&branch.states[branch.now], place)
    }

    fn state_mut(&mut self, (b, place): (usize, usize)) -> (&mut BranchState, usize) {
        let branch = &mut self.branches[b];
        (&mut branch.states[branch.now], place)
    }

    /// Returns the key of node `l` above user `m` without the user's youngest gang. [`Queues::update_stopped_keys`]
    /// must have computed it.
    pub fn stopped(&self, m: usize, l: usize) -> &Key {
        let (state, place) = self.state(self.of_user[m]);
        &state.stopped[place].1[self.depth[l] - 1]
    }

    /// Returns the key of a node beyond its guarantee.
    pub fn beyond(&mut self, forest: &Forest<'_>, holdings: &Holdings, v: usize) -> &Key {
        let (state, place) = self.state_mut(self.of_node[v]);
        state.beyond[place].get_or_insert_with(|| key(forest, holdings, v, &[]).0)
    }
}

impl Queues<'_> {
    /// Brings the way of a user in `memory.ways` up to date.
    pub(super) fn update_way(&mut self, n: usize) {
        let Self { forest, holdings, memory, .. } = self;
        let of_user = memory.of_user[n];
        let number = memory.state(of_user).0.number;
        if memory.ways_at[n] == number {
            return;
        }
        let (state, place) = memory.state_mut(of_user);
        let leaf = forest.nodes[forest.leaf(n)].leaf.as_ref();
        let way = || leaf.and_then(|leaf| holdings.way(forest, leaf)).map(|way| way.nodes);
        let way = state.ways[place].get_or_insert_with(way).clone();
        memory.ways[n] = way;
        memory.ways_at[n] = number;
    }

    /// Returns the keys from the root to user `n` after one of its gangs has started. The list is empty if preemption
    /// is only for guarantees and the user is below no guarantee.
    pub(super) fn started(&mut self, n: usize) -> Rc<Vec<WhenStarted>> {
        let of_user = self.memory.of_user[n];
        let (state, place) = self.memory.state(of_user);
        if let Some(keys) = &state.started[place] {
            return Rc::clone(keys);
        }
        self.update_way(n);
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
        let keys = Rc::new(keys);
        self.memory.state_mut(of_user).0.started[place] = Some(Rc::clone(&keys));
        keys
    }

    /// Computes the keys from the root to user `m` without its youngest gang. Returns the run of this gang,
    /// or `None` if no gang may stop.
    pub(super) fn update_stopped_keys(&mut self, m: usize) -> Option<u32> {
        let run = self.youngest(m)?;
        let tasks = self.runs[m].get(&run).map_or(0, |servers| count(servers));
        let of_user = self.memory.of_user[m];
        let (state, place) = self.memory.state(of_user);
        if state.stopped[place].0 == tasks {
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
        self.memory.state_mut(of_user).0.stopped[place] = (tasks, keys);
        Some(run)
    }
}

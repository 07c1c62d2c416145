//! Constraints of a snapshot by user: priorities, where the tasks of a gang may run, and which users start together.

use std::collections::{BTreeMap, HashMap};

use evenhand_problem::snapshot::{Constraint, Snapshot, Victims};
use evenhand_problem::{Problem, Rational};

use crate::moves::Tasks;
use crate::queues::gang;
use crate::servers::Place;

/// Gangs that run, in the order in which the snapshot first names them.
fn gangs(snapshot: &Snapshot) -> Vec<(String, BTreeMap<usize, Tasks>)> {
    let mut list: Vec<(String, BTreeMap<usize, Tasks>)> = Vec::new();
    let mut known: HashMap<&str, usize> = HashMap::new();
    for of in &snapshot.running {
        let place = Place { class: of.server, index: of.index };
        for name in of.gangs.iter().filter(|name| !name.is_empty()) {
            let at = *known.entry(name).or_insert_with(|| {
                list.push((name.clone(), BTreeMap::new()));
                list.len() - 1
            });
            *list[at].1.entry(of.user).or_default().entry(place).or_default() += 1;
        }
    }
    list
}

/// The constraints of a snapshot, by user, and whose tasks a scheduler may stop.
#[derive(Debug, Clone)]
pub struct TaskRules {
    /// By user; the default where the snapshot states nothing.
    list: Vec<Constraint>,
    /// By user: the users of one start, ascending; the user alone where it starts alone.
    starts: Vec<Vec<usize>>,
    /// By group: which tasks of other groups it may stop.
    across: Vec<Victims>,
    /// Gangs that run, as far as the snapshot names them: the name, and by user where its tasks run.
    gangs: Vec<(String, BTreeMap<usize, Tasks>)>,
    /// By user: its gangs.
    gangs_of: Vec<Vec<usize>>,
    /// By class: whether its servers take no new tasks.
    closed: Vec<bool>,
    /// Whether anything is stated at all.
    is_empty: bool,
}

impl TaskRules {
    /// Reads the constraints of a snapshot.
    #[must_use]
    pub fn new(snapshot: &Snapshot) -> Self {
        let problem = &snapshot.problem;
        let mut list: Vec<Constraint> =
            (0..problem.n_users()).map(|user| Constraint { user, ..Constraint::default() }).collect();
        for of in &snapshot.constraints {
            list[of.user] = of.clone();
        }
        let mut words: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for of in list.iter().filter(|of| !of.together.is_empty()) {
            words.entry(&of.together).or_default().push(of.user);
        }
        let mut starts: Vec<Vec<usize>> = (0..list.len()).map(|n| vec![n]).collect();
        for users in words.values() {
            users.iter().for_each(|n| starts[*n].clone_from(users));
        }
        let mut across = vec![Victims::default(); problem.groups().list().len()];
        snapshot.preemption.iter().for_each(|of| across[of.group] = of.across);
        let is_empty = snapshot.constraints.is_empty();
        let gangs = gangs(snapshot);
        let mut gangs_of = vec![Vec::new(); problem.n_users()];
        for (at, (_, tasks)) in gangs.iter().enumerate() {
            tasks.keys().for_each(|n| gangs_of[*n].push(at));
        }
        let mut closed = vec![false; problem.n_servers()];
        snapshot.closed.iter().for_each(|of| closed[of.server] = true);
        Self { list, starts, across, gangs, gangs_of, closed, is_empty }
    }

    /// Whether the snapshot names gangs of a user that run.
    #[must_use]
    pub fn has_gangs(&self, n: usize) -> bool {
        !self.gangs_of[n].is_empty()
    }

    /// The gangs with tasks of a user: the position, and by user where its tasks run.
    pub fn gangs_of(&self, n: usize) -> impl DoubleEndedIterator<Item = (usize, &BTreeMap<usize, Tasks>)> {
        self.gangs_of[n].iter().map(|at| (*at, &self.gangs[*at].1))
    }

    /// The name of a gang that runs.
    #[must_use]
    pub fn gang_name(&self, at: usize) -> &str {
        &self.gangs[at].0
    }

    /// The constraint of a user.
    #[must_use]
    pub fn of(&self, n: usize) -> &Constraint {
        &self.list[n]
    }

    /// Every constraint that states something.
    pub fn stated(&self) -> impl Iterator<Item = &Constraint> {
        let states = |of: &&Constraint| **of != Constraint { user: of.user, ..Constraint::default() };
        self.list.iter().filter(move |_| !self.is_empty).filter(states)
    }

    /// The users that start one gang each together with a user, and that user, ascending.
    #[must_use]
    pub fn start(&self, n: usize) -> &[usize] {
        &self.starts[n]
    }

    /// Whether a user is the first of its start: each start is asked for once.
    #[must_use]
    pub fn leads(&self, n: usize) -> bool {
        self.starts[n][0] == n
    }

    /// Returns the base demands of a start by resource, without amounts of 0.
    #[must_use]
    pub fn amounts(&self, problem: &Problem, n: usize) -> Vec<(usize, Rational)> {
        let mut sum: BTreeMap<usize, Rational> = BTreeMap::new();
        for m in self.start(n) {
            for (r, d) in problem.users()[*m].base_demand().entries() {
                *sum.entry(*r).or_default() += Rational::from(d * gang(problem, *m));
            }
        }
        sum.into_iter().filter(|(_, amount)| !amount.is_zero()).collect()
    }

    /// Whether the servers of a class take no new tasks.
    #[must_use]
    pub fn is_closed(&self, class: usize) -> bool {
        self.closed[class]
    }

    /// The classes on which a user may start tasks: those on which it may run, and that are not closed.
    pub fn classes_of<'r>(&'r self, problem: &'r Problem, n: usize) -> impl Iterator<Item = usize> + 'r {
        problem.classes_of(n).filter(|i| !self.closed[*i])
    }

    /// Why it cannot be known whether a start could start; empty: it can be known.
    #[must_use]
    pub fn not_modelled(&self, n: usize) -> Vec<&str> {
        self.start(n).iter().flat_map(|m| &self.list[*m].not_modelled).map(String::as_str).collect()
    }

    /// Tasks of a user that are admitted and have no server.
    #[must_use]
    pub fn admitted(&self, n: usize) -> u64 {
        self.list[n].admitted
    }

    /// Whether the policy of the system lets tasks of a user `m` be stopped for a start of user `n` in another queue
    /// (docs/schedulers.md). Of users whose tasks start and stop together, the lowest priority starts and the highest stops.
    #[must_use]
    pub fn may_stop(&self, problem: &Problem, m: usize, n: usize, is_strict: bool) -> bool {
        let together = |n: usize| self.start(n).iter().map(|k| &self.list[*k]);
        let victim = together(m).map(|of| of.priority).max();
        let starting = together(n).map(|of| of.priority).min();
        if together(m).any(|of| of.protected) || (is_strict && victim > starting) {
            return false;
        }
        let is_lower = victim < starting;
        match problem.groups().member(n).group.map_or(Victims::Any, |v| self.across[v]) {
            Victims::Never => false,
            Victims::LowerPriority => is_lower,
            Victims::Any => true,
        }
    }
}

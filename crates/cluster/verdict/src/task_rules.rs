//! The constraints of a snapshot for each user: priorities, the servers on which the tasks of a gang may run
//! together, and the users that start together.

use std::collections::{BTreeMap, HashMap};

use evenhand_problem::snapshot::{Constraint, Snapshot, Victims};
use evenhand_problem::{Problem, Rational};

use crate::moves::Tasks;
use crate::queues::gang;
use crate::servers::Place;

/// Returns the running gangs that the snapshot names, in the order of their first appearance. Each entry has
/// the name of the gang, and for each user the servers of its tasks.
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

/// The constraints of a snapshot for each user, and the policy on which tasks may be stopped.
#[derive(Debug, Clone)]
pub struct TaskRules {
    /// The constraint of each user. It is the default if the snapshot states no constraint.
    list: Vec<Constraint>,
    /// The users of each user's start, in ascending order. The start of a user that starts alone has only
    /// this user.
    starts: Vec<Vec<usize>>,
    /// The tasks of other groups that may be stopped for a group, indexed by group.
    across: Vec<Victims>,
    /// The running gangs that the snapshot names. Each entry has the name of the gang, and for each user the
    /// servers of its tasks.
    gangs: Vec<(String, BTreeMap<usize, Tasks>)>,
    /// The positions of the gangs of each user.
    gangs_of: Vec<Vec<usize>>,
    /// True if the servers of a class take no new tasks, indexed by class.
    closed: Vec<bool>,
    /// True if the snapshot states no constraint.
    is_empty: bool,
    /// True if all users may start tasks on all classes, even if the problem forbids it.
    is_anywhere: bool,
}

/// A kind of constraint on the servers of a start. A constraint can be lifted to test whether it stops the
/// start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Lifted {
    /// The server classes on which a user may run.
    Classes,
    /// Server classes that take no new tasks.
    Closed,
    /// Sets of classes on which the tasks of a gang run together.
    ClassSets,
    /// A server of its own for each task of a gang.
    DistinctServers,
}

impl Lifted {
    /// All kinds of constraints.
    pub const ALL: [Self; 4] = [Self::Classes, Self::Closed, Self::ClassSets, Self::DistinctServers];
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
        let mut together: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for of in list.iter().filter(|of| !of.together.is_empty()) {
            together.entry(&of.together).or_default().push(of.user);
        }
        let mut starts: Vec<Vec<usize>> = (0..list.len()).map(|n| vec![n]).collect();
        for users in together.values() {
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
        Self { list, starts, across, gangs, gangs_of, closed, is_empty, is_anywhere: false }
    }

    /// Returns `true` if the snapshot names running gangs of a user.
    #[must_use]
    pub fn has_gangs(&self, n: usize) -> bool {
        !self.gangs_of[n].is_empty()
    }

    /// Returns the running gangs with tasks of a user: the positions of the gangs, and for each user the
    /// servers of its tasks.
    pub fn gangs_of(&self, n: usize) -> impl DoubleEndedIterator<Item = (usize, &BTreeMap<usize, Tasks>)> {
        self.gangs_of[n].iter().map(|at| (*at, &self.gangs[*at].1))
    }

    /// Returns the name of the running gang at a position.
    #[must_use]
    pub fn gang_name(&self, at: usize) -> &str {
        &self.gangs[at].0
    }

    /// Returns the constraint of a user.
    #[must_use]
    pub fn of(&self, n: usize) -> &Constraint {
        &self.list[n]
    }

    /// Returns the constraints that differ from the default.
    pub fn stated(&self) -> impl Iterator<Item = &Constraint> {
        let states = |of: &&Constraint| **of != Constraint { user: of.user, ..Constraint::default() };
        self.list.iter().filter(move |_| !self.is_empty).filter(states)
    }

    /// Returns the users of the start of a user in ascending order: the user itself, and the users that start
    /// one gang each together with it.
    #[must_use]
    pub fn start(&self, n: usize) -> &[usize] {
        &self.starts[n]
    }

    /// Returns `true` if a user is the first user of its start. Only first users are considered, so that each
    /// start counts once.
    #[must_use]
    pub fn leads(&self, n: usize) -> bool {
        self.starts[n][0] == n
    }

    /// Returns the base demand of a start: pairs of a resource and an amount, without amounts of 0.
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

    /// Returns `true` if the servers of a class take no new tasks.
    #[must_use]
    pub fn is_closed(&self, class: usize) -> bool {
        self.closed[class]
    }

    /// Returns the classes on which a user may start tasks: the classes on which it may run, without closed classes.
    pub fn classes_of<'r>(&'r self, problem: &'r Problem, n: usize) -> impl Iterator<Item = usize> + 'r {
        let own = (!self.is_anywhere).then(|| problem.classes_of(n)).into_iter().flatten();
        let all = if self.is_anywhere { 0..problem.n_servers() } else { 0..0 };
        own.chain(all).filter(|i| !self.closed[*i])
    }

    /// Returns the same rules without one kind of constraint on servers.
    #[must_use]
    pub(crate) fn without(&self, lifted: Lifted) -> Self {
        let mut rules = self.clone();
        match lifted {
            Lifted::Classes => rules.is_anywhere = true,
            Lifted::Closed => rules.closed.fill(false),
            Lifted::ClassSets => rules.list.iter_mut().for_each(|of| of.class_sets.clear()),
            Lifted::DistinctServers => rules.list.iter_mut().for_each(|of| of.distinct_servers = false),
        }
        rules
    }

    /// Returns the conditions for a start that the snapshot does not model. If there are none, the snapshot alone
    /// decides whether the start could start.
    #[must_use]
    pub fn not_modelled(&self, n: usize) -> Vec<&str> {
        self.start(n).iter().flat_map(|m| &self.list[*m].not_modelled).map(String::as_str).collect()
    }

    /// Returns the number of admitted tasks of a user without a server.
    #[must_use]
    pub fn admitted(&self, n: usize) -> u64 {
        self.list[n].admitted
    }

    /// Returns `true` if the policy of the system allows tasks of user `m` to be stopped for a start of user
    /// `n` in another queue (docs/schedulers.md). If several users start together, their lowest priority
    /// counts. If several users stop together, their highest priority counts.
    #[must_use]
    pub fn may_stop(&self, problem: &Problem, m: usize, n: usize, is_strict: bool) -> bool {
        let constraints = |n: usize| self.start(n).iter().map(|k| &self.list[*k]);
        let victim = constraints(m).map(|of| of.priority).max();
        let starting = constraints(n).map(|of| of.priority).min();
        if constraints(m).any(|of| of.protected) || (is_strict && victim > starting) {
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

//! Constraints of a snapshot by user: priorities, where the tasks of a gang may run, and which users start together.

use std::collections::BTreeMap;

use evenhand_problem::snapshot::{Constraint, Snapshot, System, Victims};
use evenhand_problem::{Problem, Rational};

use crate::queues::gang;

/// The constraints of a snapshot, by user, and whose tasks a scheduler may stop.
#[derive(Debug, Clone)]
pub struct TaskRules {
    /// By user; the default where the snapshot states nothing.
    list: Vec<Constraint>,
    /// By user: the users of one start, ascending; the user alone where it starts alone.
    starts: Vec<Vec<usize>>,
    /// By group: which tasks of other groups it may stop.
    across: Vec<Victims>,
    system: Option<System>,
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
        Self { list, starts, across, system: snapshot.system, is_empty }
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

    /// What a start takes by resource, in base demands, and without amounts of 0.
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
    /// (docs/schedulers.md).
    #[must_use]
    pub fn may_stop(&self, problem: &Problem, m: usize, n: usize, is_strict: bool) -> bool {
        let (victim, starting) = (&self.list[m], &self.list[n]);
        if victim.protected || (is_strict && victim.priority > starting.priority) {
            return false;
        }
        let is_lower = victim.priority < starting.priority;
        if self.system == Some(System::Kubernetes) {
            return is_lower;
        }
        match problem.groups().member(n).group.map_or(Victims::Any, |v| self.across[v]) {
            Victims::Never => false,
            Victims::LowerPriority => is_lower,
            Victims::Any => true,
        }
    }
}

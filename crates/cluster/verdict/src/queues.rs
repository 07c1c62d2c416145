//! Queues: every group, and every user that stands in none. What they hold, and whether a waiting task of theirs is within
//! what they are due.

use evenhand_problem::{Problem, Rational};

use crate::task_rules::TaskRules;

/// Amounts by resource.
pub type Vector = Vec<Rational>;

/// A group, or a user that stands in no group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The group of this index, with all users below it.
    Group(usize),
    /// The user of this index, which stands in no group.
    User(usize),
}

/// A queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Queue {
    /// The name of the group or the user.
    pub name: String,
    /// The group or the user.
    pub kind: Kind,
    /// The queue that it stands in.
    pub parent: Option<usize>,
    /// Queues above it.
    pub depth: usize,
}

/// The queues of a problem: its groups in their order, then the users that stand in none.
#[derive(Debug)]
pub struct Queues<'p> {
    /// The problem.
    pub problem: &'p Problem,
    /// The queues.
    pub list: Vec<Queue>,
    /// By queue: the users in it and below it, ascending.
    pub users: Vec<Vec<usize>>,
    /// By user: its queue and those above it, from the innermost on.
    pub above: Vec<Vec<usize>>,
    /// By user: what one start of it takes, by resource that it demands.
    pub unit: Vec<Vec<(usize, Rational)>>,
    rules: &'p TaskRules,
}

impl<'p> Queues<'p> {
    /// Returns the queues of a problem.
    #[must_use]
    pub fn new(problem: &'p Problem, rules: &'p TaskRules) -> Self {
        let groups = problem.groups();
        let group = |(v, group): (usize, &evenhand_problem::Group)| Queue {
            name: group.name.clone(),
            kind: Kind::Group(v),
            parent: group.parent,
            depth: groups.above(group.parent).count(),
        };
        let mut list: Vec<Queue> = groups.list().iter().enumerate().map(group).collect();
        let mut above = Vec::with_capacity(problem.n_users());
        for (n, user) in problem.users().iter().enumerate() {
            let mut way: Vec<usize> = groups.above(groups.member(n).group).collect();
            if way.is_empty() {
                way.push(list.len());
                let name = user.name().to_owned();
                list.push(Queue { name, kind: Kind::User(n), parent: None, depth: 0 });
            }
            above.push(way);
        }
        let mut users = vec![Vec::new(); list.len()];
        for (n, way) in above.iter().enumerate() {
            way.iter().for_each(|v| users[*v].push(n));
        }
        let unit = (0..problem.n_users()).map(|n| rules.amounts(problem, n)).collect();
        Self { problem, list, users, above, unit, rules }
    }

    /// Returns the usage of every queue if users have these numbers of tasks.
    #[must_use]
    pub fn held(&self, totals: &[Rational]) -> Vec<Vector> {
        let mut held = vec![vec![Rational::new(); self.problem.n_resources()]; self.list.len()];
        for (n, total) in totals.iter().enumerate().filter(|(_, total)| !total.is_zero()) {
            for (r, d) in self.problem.users()[n].base_demand().entries() {
                let amount = Rational::from(d * total);
                self.above[n].iter().for_each(|v| held[*v][*r] += &amount);
            }
        }
        held
    }

    /// Whether a user waits when all users have so many tasks: every user of its start has a gang of tasks left, and can run
    /// somewhere.
    #[must_use]
    pub fn waits(&self, n: usize, totals: &[Rational]) -> bool {
        let left = |n: usize| self.problem.users()[n].tasks().map(|tasks| Rational::from(tasks - &totals[n]));
        let has_gang = |n: &usize| {
            self.problem.is_active(*n) && left(*n).is_none_or(|left| left >= gang(self.problem, *n))
        };
        self.rules.start(n).iter().all(has_gang)
    }

    /// How many times a user can start when all users have so many tasks, with the users that start with it; `None`: any number.
    #[must_use]
    pub fn starts_left(&self, n: usize, totals: &[Rational]) -> Option<Rational> {
        let left = |n: &usize| {
            let left = self.problem.users()[*n].tasks().map(|tasks| Rational::from(tasks - &totals[*n]));
            left.map(|left| (left / gang(self.problem, *n)).floor())
        };
        self.rules.start(n).iter().filter_map(left).min()
    }

    /// Returns the first of the users that start together with a user.
    #[must_use]
    pub fn first_of_start(&self, n: usize) -> usize {
        self.rules.start(n)[0]
    }

    /// By user whether it waits.
    #[must_use]
    pub fn waiting(&self, totals: &[Rational]) -> Vec<bool> {
        (0..totals.len()).map(|n| self.waits(n, totals)).collect()
    }

    /// Whether a queue that holds so much is still within what it is due with one more gang of a user.
    #[must_use]
    pub fn is_within(&self, n: usize, held: &[Rational], due: &[Rational]) -> bool {
        self.unit[n].iter().all(|(r, unit)| Rational::from(&held[*r] + unit) <= due[*r])
    }

    /// The first of the users who wait, one of whose gangs is within what the queue is due, beside what it holds: the
    /// queue is then short by a whole task. What is missing of each resource by no more than the tolerated part of what
    /// is due counts as there.
    #[must_use]
    pub fn short_by(
        &self,
        v: usize,
        held: &[Rational],
        due: &[Rational],
        waiting: &[bool],
        tolerance: &Rational,
    ) -> Option<usize> {
        if held.iter().zip(due).all(|(held, due)| held >= due) {
            return None;
        }
        let is_beyond = |r: usize| {
            let short = Rational::from(&due[r] - &held[r]);
            short > Rational::from(tolerance * &due[r])
        };
        let is_it = |n: &&usize| {
            waiting[**n]
                && self.is_within(**n, held, due)
                && self.unit[**n].iter().any(|(r, _)| is_beyond(*r))
        };
        self.users[v].iter().find(is_it).copied()
    }
}

/// Tasks of a user that run together or not at all.
#[must_use]
pub fn gang(problem: &Problem, n: usize) -> u64 {
    problem.groups().member(n).gang.unwrap_or(1)
}

//! Queues are the groups, and the users outside of groups. This file computes the usage of queues, and
//! whether a waiting task would still be within the fair share of its queue.

use evenhand_problem::{Problem, Rational};

use crate::task_rules::TaskRules;

/// An amount of each resource, indexed by resource.
pub type Vector = Vec<Rational>;

/// The kind of a queue: a group, or a user outside of groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The group with this index, including all users below it.
    Group(usize),
    /// The user with this index, which is in no group.
    User(usize),
}

/// A queue: a group, or a user outside of groups.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Queue {
    /// The name of the group or the user.
    pub name: String,
    /// The group or the user.
    pub kind: Kind,
    /// The queue that contains this queue, if there is one.
    pub parent: Option<usize>,
    /// The number of queues that contain this queue.
    pub depth: usize,
}

/// The queues of a problem: first its groups in their order, then the users outside of groups.
#[derive(Debug)]
pub struct Queues<'p> {
    /// The problem.
    pub problem: &'p Problem,
    /// The queues.
    pub list: Vec<Queue>,
    /// The users in each queue and in the queues inside it, in ascending order.
    pub users: Vec<Vec<usize>>,
    /// The queues of each user, from the innermost to the outermost queue.
    pub above: Vec<Vec<usize>>,
    /// The base demand of one start of each user, including the users that start with it. Resources with an
    /// amount of 0 are left out.
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
            let mut path: Vec<usize> = groups.above(groups.member(n).group).collect();
            if path.is_empty() {
                path.push(list.len());
                let name = user.name().to_owned();
                list.push(Queue { name, kind: Kind::User(n), parent: None, depth: 0 });
            }
            above.push(path);
        }
        let mut users = vec![Vec::new(); list.len()];
        for (n, path) in above.iter().enumerate() {
            path.iter().for_each(|v| users[*v].push(n));
        }
        let unit = (0..problem.n_users()).map(|n| rules.amounts(problem, n)).collect();
        Self { problem, list, users, above, unit, rules }
    }

    /// Returns the usage of every queue by resource. `totals` are the numbers of tasks of the users.
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

    /// Returns `true` if a user waits if the users have these numbers of tasks. A user waits if every user of
    /// its start has a gang of tasks left, and a server class on which the gang can run.
    #[must_use]
    pub fn waits(&self, n: usize, totals: &[Rational]) -> bool {
        let left = |n: usize| self.problem.users()[n].tasks().map(|tasks| Rational::from(tasks - &totals[n]));
        let has_gang = |n: &usize| {
            self.problem.is_active(*n) && left(*n).is_none_or(|left| left >= gang(self.problem, *n))
        };
        self.rules.start(n).iter().all(has_gang)
    }

    /// Returns how many more times the start of a user can be made if the users have these numbers of tasks.
    /// `None` means any number of times.
    #[must_use]
    pub fn starts_left(&self, n: usize, totals: &[Rational]) -> Option<Rational> {
        let left = |n: &usize| {
            let left = self.problem.users()[*n].tasks().map(|tasks| Rational::from(tasks - &totals[*n]));
            left.map(|left| (left / gang(self.problem, *n)).floor())
        };
        self.rules.start(n).iter().filter_map(left).min()
    }

    /// Returns the first user of the start of a user: the least index among the user and the users that start
    /// together with it.
    #[must_use]
    pub fn first_of_start(&self, n: usize) -> usize {
        self.rules.start(n)[0]
    }

    /// Returns for each user whether the user waits, if the users have these numbers of tasks.
    #[must_use]
    pub fn waiting(&self, totals: &[Rational]) -> Vec<bool> {
        (0..totals.len()).map(|n| self.waits(n, totals)).collect()
    }

    /// Returns `true` if a queue with the usage `held` would stay within its fair share `due` after one more
    /// start of a user.
    #[must_use]
    pub fn is_within(&self, n: usize, held: &[Rational], due: &[Rational]) -> bool {
        self.unit[n].iter().all(|(r, unit)| Rational::from(&held[*r] + unit) <= due[*r])
    }

    /// Returns the first waiting user with a start that would still be within the fair share of a queue. If
    /// there is such a user, the queue is below its fair share by a whole task. The queue must also lack more
    /// than the tolerance times its fair share of at least one resource that the start demands.
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
        let exceeds_tolerance = |r: usize| {
            let lacking = Rational::from(&due[r] - &held[r]);
            lacking > Rational::from(tolerance * &due[r])
        };
        let could_have_more = |n: &&usize| {
            waiting[**n]
                && self.is_within(**n, held, due)
                && self.unit[**n].iter().any(|(r, _)| exceeds_tolerance(*r))
        };
        self.users[v].iter().find(could_have_more).copied()
    }
}

/// Returns the size of a user's gang: the number of its tasks that start together.
#[must_use]
pub fn gang(problem: &Problem, n: usize) -> u64 {
    problem.groups().member(n).gang.unwrap_or(1)
}

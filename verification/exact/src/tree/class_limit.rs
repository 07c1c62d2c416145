//! Limits of groups on server classes, which are rows of the placement.

use evenhand_problem::{Problem, Rational};

/// What some users together may hold of a resource on some server classes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClassLimit {
    /// By user: whether it is one of them.
    pub users: Vec<bool>,
    /// The classes, ascending.
    pub servers: Vec<usize>,
    /// Index of the resource.
    pub resource: usize,
    /// The most.
    pub most: Rational,
}

impl ClassLimit {
    /// What a task of user `n` on class `i` counts, where it does.
    #[must_use]
    pub fn counts<'p>(&self, problem: &'p Problem, n: usize, i: usize) -> Option<&'p Rational> {
        let is_there = self.users[n] && self.servers.binary_search(&i).is_ok();
        let demand = || &problem.demand(n, i)[self.resource];
        is_there.then(demand).filter(|d| !d.is_zero())
    }

    /// The classes on which a user can run and no such limit of 0 bars it.
    pub fn allowed<'l>(
        limits: &'l [Self],
        problem: &'l Problem,
        n: usize,
    ) -> impl Iterator<Item = usize> + 'l {
        let of_zero: Vec<&Self> =
            limits.iter().filter(|limit| limit.users[n] && limit.most.is_zero()).collect();
        let bars = move |i: usize| of_zero.iter().any(|limit| limit.counts(problem, n, i).is_some());
        problem.classes_of(n).filter(move |i| !bars(*i))
    }
}

//! Limits of groups on server classes, which are rows of the placement.

use evenhand_problem::{Problem, Rational};

/// What some users together may hold of a resource on some server classes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClassLimit {
    /// Whose it is.
    pub group: usize,
    /// The classes, ascending.
    pub servers: Vec<usize>,
    /// Index of the resource.
    pub resource: usize,
    /// The most.
    pub most: Rational,
}

/// Such limits, and the users of each.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ClassLimits {
    /// All of them.
    pub list: Vec<ClassLimit>,
    /// By user: the limits that it is one of.
    pub of_user: Vec<Vec<usize>>,
}

impl ClassLimits {
    /// The limits that a user is one of, each with its position.
    pub fn of(&self, n: usize) -> impl Iterator<Item = (usize, &ClassLimit)> {
        self.of_user.get(n).into_iter().flatten().map(|at| (*at, &self.list[*at]))
    }

    /// What a task of user `n` counts on class `i`: by limit, with its position.
    pub fn counts<'l>(
        &'l self,
        problem: &'l Problem,
        n: usize,
        i: usize,
    ) -> impl Iterator<Item = (usize, &'l Rational)> {
        let here = self.of(n).filter(move |(_, limit)| limit.servers.binary_search(&i).is_ok());
        let counted = here.map(move |(at, limit)| (at, &problem.demand(n, i)[limit.resource]));
        counted.filter(|(_, d)| !d.is_zero())
    }

    /// The classes on which a user can run and no such limit of 0 bars it.
    pub fn allowed<'l>(&'l self, problem: &'l Problem, n: usize) -> impl Iterator<Item = usize> + 'l {
        let bars = move |i: usize| self.counts(problem, n, i).any(|(at, _)| self.list[at].most.is_zero());
        problem.classes_of(n).filter(move |i| !bars(*i))
    }
}

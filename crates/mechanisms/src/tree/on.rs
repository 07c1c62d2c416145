//! Limits of groups on server classes, in a given allocation.

use evenhand_exact::tree::ClassLimit;
use evenhand_problem::{Allocation, Rational};

use evenhand_exact::tree::Forest;

/// A limit on server classes, and what is left of it.
pub struct Kept {
    pub group: usize,
    pub servers: Vec<usize>,
    pub resource: usize,
    pub most: Rational,
    pub left: Rational,
}

/// What an allocation leaves of the limits of groups on server classes.
pub fn on(forest: &Forest<'_>, allocation: &Allocation) -> Vec<Kept> {
    let groups = forest.problem.groups();
    let stated = groups.list().iter().enumerate().flat_map(|(group, of)| {
        let on = of.on.iter().flat_map(|on| on.limit.iter().map(move |limit| (&on.servers, limit)));
        on.map(move |(servers, (resource, most))| (group, servers.clone(), *resource, most.clone()))
    });
    let held = |((group, servers, resource, most), limit): (_, &ClassLimit)| {
        let left = limit.most.clone();
        Kept { group, servers, resource, most, left }
    };
    let mut all: Vec<Kept> = stated.zip(&forest.class_limits.list).map(held).collect();
    for (n, tasks) in allocation.tasks.iter().enumerate() {
        for (i, x) in tasks {
            for (at, d) in forest.class_limits.counts(forest.problem, n, *i) {
                all[at].left -= Rational::from(d * x);
            }
        }
    }
    all
}

impl Kept {
    /// Whether it is about a class.
    pub fn is_on(&self, i: usize) -> bool {
        self.servers.binary_search(&i).is_ok()
    }

    /// How many tasks of so much each it leaves, or would leave with one more unit.
    pub fn room(&self, demand: &Rational, raised: bool) -> Rational {
        let left = Rational::from(&self.left + u32::from(raised));
        (left / demand).max(Rational::new())
    }
}

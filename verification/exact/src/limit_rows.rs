//! Limits of groups as additional rows (docs/theory.md, section 7, within limits).
//!
//! A row bounds the usage of a resource by the users below a group, on some server classes or on all. The bound is the
//! limit, or the usage in the judged allocation if that is more. In lists of prices by row, the prices of limits follow
//! those of the [`Constraints`](evenhand_problem::Constraints).

use std::ops::Range;

use evenhand_problem::{Problem, Rational};

use crate::instance::Tasks;
use crate::refusal::Refusal;

/// A limit of a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LimitRow {
    /// The group.
    pub group: usize,
    /// The server classes, ascending; empty for the whole cluster.
    pub on: Vec<usize>,
    /// The resource.
    pub resource: usize,
    /// The maximum usage of an allocation that is compared with the judged one.
    pub most: Rational,
    /// The usage in the judged allocation.
    pub held: Rational,
}

/// All limits of the groups of a problem, in the order of the groups. For each group the limits on the whole cluster
/// come first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LimitRows {
    list: Vec<LimitRow>,
    /// For each group: the positions of its limits in `list`.
    of_group: Vec<Range<usize>>,
}

impl LimitRows {
    /// Computes the rows for an allocation of a problem.
    #[must_use]
    pub fn new(problem: &Problem, tasks: &Tasks) -> Self {
        let (mut list, mut of_group) = (Vec::new(), Vec::new());
        if !problem.groups().have_limits() {
            return Self::default();
        }
        for (group, of) in problem.groups().list().iter().enumerate() {
            let from = list.len();
            let of_all = std::iter::once((&[][..], &of.limit));
            for (on, limit) in of_all.chain(of.on.iter().map(|on| (&on.servers[..], &on.limit))) {
                list.extend(limit.iter().map(|(resource, most)| LimitRow {
                    group,
                    on: on.to_vec(),
                    resource: *resource,
                    most: most.clone(),
                    held: Rational::new(),
                }));
            }
            of_group.push(from..list.len());
        }
        let mut rows = Self { list, of_group };
        for (n, tasks) in tasks.iter().enumerate() {
            for at in rows.of_user(problem, n).collect::<Vec<_>>() {
                let row = &rows.list[at];
                let here = tasks.iter().filter(|(i, _)| row.counts(*i));
                let held = here.map(|(i, x)| Rational::from(row.taken(problem, n, *i) * x));
                let held: Rational = held.sum();
                rows.list[at].held += held;
            }
        }
        for row in rows.list.iter_mut().filter(|row| row.most < row.held) {
            row.most.clone_from(&row.held);
        }
        rows
    }

    /// Returns the rows, by position.
    #[must_use]
    pub fn list(&self) -> &[LimitRow] {
        &self.list
    }

    /// Returns the positions of the rows of a group.
    pub(crate) fn of_group(&self, v: usize) -> Range<usize> {
        self.of_group.get(v).cloned().unwrap_or_default()
    }

    /// Returns the positions of the rows of all groups above a user.
    pub fn of_user<'l>(&'l self, problem: &'l Problem, n: usize) -> impl Iterator<Item = usize> + 'l {
        let groups = problem.groups();
        let above = groups.above(groups.member(n).group).filter(|_| !self.list.is_empty());
        above.flat_map(|v| self.of_group[v].clone())
    }

    /// Returns the rows that count a task of user `n` on class `i`, each with the amount of the resource that the
    /// task takes.
    pub fn counting<'l>(
        &'l self,
        problem: &'l Problem,
        n: usize,
        i: usize,
    ) -> impl Iterator<Item = (usize, &'l Rational)> {
        let here = self.of_user(problem, n).filter(move |at| self.list[*at].counts(i));
        let taken = here.map(move |at| (at, self.list[at].taken(problem, n, i)));
        taken.filter(|(_, d)| !d.is_zero())
    }

    /// Returns whether some class where a user can run has no limit of 0 for the user.
    #[must_use]
    pub fn leave(&self, problem: &Problem, n: usize) -> bool {
        let bars = |i: usize| self.counting(problem, n, i).any(|(at, _)| self.list[at].most.is_zero());
        problem.classes_of(n).any(|i| !bars(i))
    }

    /// Checks that another allocation, with its own rows, uses no more than these rows allow.
    pub(crate) fn keep(&self, other: &Self) -> Result<(), Refusal> {
        match self.list.iter().zip(&other.list).all(|(row, other)| other.held <= row.most) {
            true => Ok(()),
            false => Err(Refusal::new("the allocation of the evidence breaks the limit of a group")),
        }
    }
}

impl LimitRow {
    /// Returns whether the row counts tasks on a class.
    #[must_use]
    pub fn counts(&self, i: usize) -> bool {
        self.on.is_empty() || self.on.binary_search(&i).is_ok()
    }

    /// Returns the amount of the row that a task of user `n` uses on a class that the row counts. A row of the whole
    /// cluster counts the base demand, a row of some classes the demand there.
    pub(crate) fn taken<'p>(&self, problem: &'p Problem, n: usize, i: usize) -> &'p Rational {
        let of_all = self.on.is_empty();
        let demand = if of_all { problem.users()[n].base_demand() } else { problem.demand(n, i) };
        &demand[self.resource]
    }
}

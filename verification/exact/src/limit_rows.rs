//! Limits of groups (docs/theory.md, section 7, within limits) and of the accelerators of single users (section 12), as
//! additional rows.
//!
//! A row of a group bounds the usage of a resource by the users below the group, on some server classes or on all. The
//! bound is the limit, or the usage in the judged allocation if this usage is larger. A row of a user bounds the
//! accelerators that the user uses at once, `sum_i x_ni / rate_ni <= at_most`. This row is part of feasibility. A
//! problem has rows of one kind, because rates and groups exclude each other. In lists of prices by row, the prices of
//! limits follow those of the [`Constraints`](evenhand_problem::Constraints).

use std::ops::Range;

use evenhand_problem::{Problem, Rational};

use crate::instance::Tasks;
use crate::refusal::Refusal;

/// The quantity that a limit bounds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LimitOf {
    /// The usage of a resource by a group.
    Group {
        /// The group.
        group: usize,
        /// The server classes, ascending. Empty for the whole cluster.
        on: Vec<usize>,
        /// The resource.
        resource: usize,
    },
    /// The accelerators that a user uses at once.
    User(usize),
}

/// A limit of a group or of a user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LimitRow {
    /// The quantity that is limited.
    pub of: LimitOf,
    /// The maximum usage of an allocation that is compared with the judged allocation.
    pub most: Rational,
    /// The usage in the judged allocation.
    pub held: Rational,
}

/// All limits of a problem, in the order of the groups or of the users. For each group the limits on the whole cluster
/// come first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LimitRows {
    list: Vec<LimitRow>,
    /// For each group, the positions of its limits in `list`.
    of_group: Vec<Range<usize>>,
    /// For each user, the position of the limit of its accelerators in `list`. Empty if no user has such a limit.
    of_accelerators: Vec<Option<usize>>,
}

impl LimitRows {
    /// Computes the rows for an allocation of a problem.
    #[must_use]
    pub fn new(problem: &Problem, tasks: &Tasks) -> Self {
        if problem.has_at_most() {
            return Self::of_users(problem, tasks);
        }
        let (mut list, mut of_group) = (Vec::new(), Vec::new());
        if !problem.groups().have_limits() {
            return Self::default();
        }
        for (group, of) in problem.groups().list().iter().enumerate() {
            let from = list.len();
            let of_all = std::iter::once((&[][..], &of.limit));
            for (on, limit) in of_all.chain(of.on.iter().map(|on| (&on.servers[..], &on.limit))) {
                list.extend(limit.iter().map(|(resource, most)| LimitRow {
                    of: LimitOf::Group { group, on: on.to_vec(), resource: *resource },
                    most: most.clone(),
                    held: Rational::new(),
                }));
            }
            of_group.push(from..list.len());
        }
        let mut rows = Self { list, of_group, of_accelerators: Vec::new() };
        for (n, tasks) in tasks.iter().enumerate() {
            for at in rows.of_user(problem, n).collect::<Vec<_>>() {
                let row = &rows.list[at];
                let here = tasks.iter().filter(|(i, _)| row.counts(*i));
                let held = here.filter_map(|(i, x)| Some(Rational::from(row.taken(problem, n, *i)? * x)));
                let held: Rational = held.sum();
                rows.list[at].held += held;
            }
        }
        for row in rows.list.iter_mut().filter(|row| row.most < row.held) {
            row.most.clone_from(&row.held);
        }
        rows
    }

    /// Computes the rows of users that limit their accelerators.
    fn of_users(problem: &Problem, tasks: &Tasks) -> Self {
        let (mut list, mut of_accelerators) = (Vec::new(), Vec::with_capacity(problem.n_users()));
        for (n, user) in problem.users().iter().enumerate() {
            of_accelerators.push(user.at_most().map(|_| list.len()));
            let takes = |(i, x): &(usize, Rational)| Some(Rational::from(user.time_on(*i)? * x));
            list.extend(user.at_most().map(|most| LimitRow {
                of: LimitOf::User(n),
                most: most.clone(),
                held: tasks.get(n).map_or_else(Rational::new, |tasks| tasks.iter().filter_map(takes).sum()),
            }));
        }
        Self { list, of_group: Vec::new(), of_accelerators }
    }

    /// Returns the position of the limit of a user's accelerators, if it has one.
    #[must_use]
    pub fn of_accelerators(&self, n: usize) -> Option<usize> {
        self.of_accelerators.get(n).copied().flatten()
    }

    /// Returns all rows. The positions of other methods are positions in this list.
    #[must_use]
    pub fn list(&self) -> &[LimitRow] {
        &self.list
    }

    /// Returns the positions of the rows of a group.
    pub(crate) fn of_group(&self, v: usize) -> Range<usize> {
        self.of_group.get(v).cloned().unwrap_or_default()
    }

    /// Returns the positions of the rows of all groups above a user, and of the row of the user itself.
    pub fn of_user<'l>(&'l self, problem: &'l Problem, n: usize) -> impl Iterator<Item = usize> + 'l {
        let groups = problem.groups();
        let above = groups.above(groups.member(n).group).filter(|_| !self.of_group.is_empty());
        above.flat_map(|v| self.of_group[v].clone()).chain(self.of_accelerators(n))
    }

    /// Returns the rows that count a task of user `n` on class `i`, each with the amount that the task takes of the
    /// resource, or of the accelerators.
    pub fn counting<'l>(
        &'l self,
        problem: &'l Problem,
        n: usize,
        i: usize,
    ) -> impl Iterator<Item = (usize, &'l Rational)> {
        let here = self.of_user(problem, n).filter(move |at| self.list[*at].counts(i));
        let taken = here.filter_map(move |at| Some((at, self.list[at].taken(problem, n, i)?)));
        taken.filter(|(_, d)| !d.is_zero())
    }

    /// Returns true if user `n` can run on some class on which it has no limit of 0.
    #[must_use]
    pub fn leave(&self, problem: &Problem, n: usize) -> bool {
        let bars = |i: usize| self.counting(problem, n, i).any(|(at, _)| self.list[at].most.is_zero());
        problem.classes_of(n).any(|i| !bars(i))
    }

    /// Returns an error if another allocation, with the rows `other`, uses more than these rows allow.
    pub(crate) fn keep(&self, other: &Self) -> Result<(), Refusal> {
        match self.list.iter().zip(&other.list).all(|(row, other)| other.held <= row.most) {
            true => Ok(()),
            false => Err(Refusal::new("the allocation of the evidence breaks the limit of a group or user")),
        }
    }
}

impl LimitRow {
    /// Returns true if the row counts tasks on class `i`.
    #[must_use]
    pub fn counts(&self, i: usize) -> bool {
        match &self.of {
            LimitOf::Group { on, .. } => on.is_empty() || on.binary_search(&i).is_ok(),
            LimitOf::User(_) => true,
        }
    }

    /// Returns the amount of the limited quantity that a task of user `n` uses on a class that the row counts. A row of
    /// the whole cluster counts the base demand, a row of some classes counts the demand on the class, and a row of a
    /// user counts the accelerators of a task. Returns `None` if the user states no rate on the class.
    pub(crate) fn taken<'p>(&self, problem: &'p Problem, n: usize, i: usize) -> Option<&'p Rational> {
        match &self.of {
            LimitOf::Group { on, resource, .. } => {
                let user = &problem.users()[n];
                let demand = if on.is_empty() { user.base_demand() } else { problem.demand(n, i) };
                Some(&demand[*resource])
            }
            LimitOf::User(_) => problem.users()[n].time_on(i),
        }
    }
}

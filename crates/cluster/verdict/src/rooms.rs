//! The bounds of groups on the tasks of a user: limits, capacity that is kept back, and weights of 0. A group
//! with the weight 0 gets nothing beyond its guarantee (docs/groups.md, section 9). This file also computes
//! the lack of a user: the number of further tasks to which the guarantees above the user entitle it.

use std::sync::OnceLock;

use evenhand_exact::{Lacks, Tasks};
use evenhand_problem::groups::ZeroWeight;
use evenhand_problem::{Allocation, Problem, Promises, Rational};

use crate::queues::Vector;
use crate::verdict::Excess;

/// The usage of all groups, and the bounds on their usage.
#[derive(Debug, Clone)]
pub struct Rooms<'p> {
    problem: &'p Problem,
    promises: Promises,
    /// True if some group keeps back capacity of a resource, indexed by resource.
    is_kept: Vec<bool>,
    /// The usage `U_v` of each group by resource, including capacity that is kept back. The root is the last entry.
    used: Vec<Vector>,
    /// The usage `X_v` of the users of each group by resource. The root is the last entry.
    held: Vec<Vector>,
    /// The number of tasks of each user, including admitted tasks.
    totals: Vector,
    /// The tasks of each user on each class. Empty if no group limits server classes.
    tasks: Tasks,
    /// The lacks of users, which are computed when they are first needed.
    lacks: OnceLock<Lacks<'p>>,
    /// The free amounts under limits on server classes. The indices are the group, the entry of its `on`, and
    /// the limit in that entry.
    on: Vec<Vec<Vec<Rational>>>,
    /// True if limits on server classes count.
    counts_classes: bool,
}

/// A limit of a group on server classes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct OnLimit {
    /// The group that has the limit.
    pub group: usize,
    /// The position of the entry in the group's `on`.
    pub on: usize,
    /// The position of the limit in that entry.
    pub at: usize,
}

/// A bound of a group, or of all servers together, that a start would exceed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Bound {
    /// The limit of a group on a resource. The first index is the group, the second the resource.
    Limit(usize, usize),
    /// The limit of a group on some server classes.
    OnClasses(OnLimit),
    /// The capacity of a resource. A part of it is kept back for other groups.
    KeptBack(usize),
    /// The guarantee of a group of weight 0, which gets nothing beyond this guarantee.
    Weight(usize),
}

/// A bound that a start would exceed, with its numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Broken {
    /// The bound.
    pub bound: Bound,
    /// The amount of the start that exceeds the bound.
    pub excess: Rational,
    /// The usage now, including capacity that is kept back.
    pub used: Rational,
    /// The usage of tasks alone now, without capacity that is kept back.
    pub by_tasks: Rational,
    /// The limit, the capacity, or the guarantee of a group of weight 0.
    pub most: Rational,
    /// The least limit or capacity that the start would not exceed. `None` for a group of weight 0.
    pub least: Option<Rational>,
}

impl Broken {
    /// Returns the amount by which usage would exceed the bound after the start. This amount is larger than
    /// [`Broken::excess`] if the usage already exceeds a limit.
    pub(crate) fn beyond(&self) -> Rational {
        match (&self.bound, &self.least) {
            (Bound::Limit(..), Some(least)) => Rational::from(least - &self.most),
            _ => self.excess.clone(),
        }
    }
}

/// Returns `a - b`, or 0 if that is negative.
fn excess(a: &Rational, b: &Rational) -> Rational {
    Rational::from(a - b).max(Rational::new())
}

impl<'p> Rooms<'p> {
    /// Returns the usage of an allocation. `admitted` returns the number of admitted tasks of a user without
    /// a server.
    #[must_use]
    pub fn new(problem: &'p Problem, allocation: &Allocation, admitted: impl Fn(usize) -> u64) -> Self {
        let groups = problem.groups();
        let (list, m) = (groups.list(), problem.n_resources());
        let promises = Promises::new(groups);
        let nothing = || vec![vec![Rational::new(); m]; list.len() + 1];
        let mut is_kept = vec![false; m];
        promises.kept.iter().flatten().filter(|(_, kept)| *kept > 0).for_each(|(r, _)| is_kept[*r] = true);
        let stated = |on: &evenhand_problem::On| on.limit.iter().map(|(_, most)| most.clone()).collect();
        let on = list.iter().map(|group| group.on.iter().map(stated).collect()).collect();
        let totals = vec![Rational::new(); problem.n_users()];
        let counts_classes = groups.limit_classes();
        let tasks = if counts_classes { vec![Vec::new(); problem.n_users()] } else { Tasks::new() };
        let lacks = OnceLock::new();
        let (used, held) = (nothing(), nothing());
        let mut rooms =
            Self { problem, promises, is_kept, used, held, totals, tasks, lacks, on, counts_classes };
        // Capacity that is kept back counts as used, even if no task runs.
        for v in groups.from_the_leaves() {
            let above = list[v].parent.unwrap_or(list.len());
            let mut counted = rooms.used[v].clone();
            for (r, kept) in &rooms.promises.kept[v] {
                if counted[*r] < *kept {
                    counted[*r].clone_from(kept);
                }
            }
            rooms.used[above].iter_mut().zip(counted).for_each(|(sum, own)| *sum += own);
        }
        for (n, tasks) in allocation.tasks.iter().enumerate() {
            for (i, x) in tasks {
                rooms.add(n, x);
                rooms.add_on_class(n, *i, x);
            }
            let admitted = admitted(n);
            if admitted > 0 {
                rooms.admit(n, &Rational::from(admitted));
            }
        }
        rooms
    }

    /// Adds admitted tasks of a user. A negative number removes tasks. Admitted tasks count for the groups of
    /// the user. They count under a limit on classes only if the limit covers all classes of the user.
    pub(crate) fn admit(&mut self, n: usize, x: &Rational) {
        self.add(n, x);
        if !self.counts_classes {
            return;
        }
        let classes: Vec<usize> = self.problem.classes_of(n).collect();
        let groups = self.problem.groups();
        for v in groups.above(groups.member(n).group) {
            for (on, left) in groups.list()[v].on.iter().zip(&mut self.on[v]) {
                if classes.is_empty() || !classes.iter().all(|i| on.servers.binary_search(i).is_ok()) {
                    continue;
                }
                for ((r, _), left) in on.limit.iter().zip(left.iter_mut()) {
                    let least = classes.iter().map(|i| self.problem.demand(n, *i)[*r].clone()).min();
                    *left -= least.unwrap_or_default() * x;
                }
            }
        }
    }

    /// Adds tasks of a user to the usage of the groups above it. A negative `x` removes tasks.
    pub fn add(&mut self, n: usize, x: &Rational) {
        let groups = self.problem.groups();
        let root = groups.list().len();
        self.totals[n] += x;
        self.lacks = OnceLock::new();
        for (r, d) in self.problem.users()[n].base_demand().entries() {
            let amount = Rational::from(d * x);
            let mut change = amount.clone();
            for v in groups.above(groups.member(n).group) {
                self.held[v][*r] += &amount;
                let kept = self.promises.kept[v].iter().find(|(known, _)| known == r).map(|(_, kept)| kept);
                let counted =
                    |used: &Rational| kept.map_or(used.clone(), |kept| used.clone().max(kept.clone()));
                let before = counted(&self.used[v][*r]);
                self.used[v][*r] += &change;
                change = counted(&self.used[v][*r]) - before;
            }
            self.held[root][*r] += amount;
            self.used[root][*r] += change;
        }
    }

    /// Adds tasks of a user on a class to the usage under limits on classes.
    pub fn add_on_class(&mut self, n: usize, i: usize, x: &Rational) {
        if !self.counts_classes {
            return;
        }
        match self.tasks[n].iter_mut().find(|(class, _)| *class == i) {
            Some((_, sum)) => *sum += x,
            None => self.tasks[n].push((i, x.clone())),
        }
        for at in self.on_limits(n, i) {
            let taken = self.takes_of(at, n, i) * x;
            self.on[at.group][at.on][at.at] -= taken;
        }
    }

    /// Returns the limits on classes that apply to a task of a user on a class. Only limits on resources that
    /// the task demands on the class are returned.
    #[must_use]
    pub fn on_limits(&self, n: usize, i: usize) -> Vec<OnLimit> {
        let groups = self.problem.groups();
        if !self.counts_classes {
            return Vec::new();
        }
        let mut limits = Vec::new();
        for group in groups.above(groups.member(n).group) {
            for (on, entry) in groups.list()[group].on.iter().enumerate() {
                if entry.servers.binary_search(&i).is_err() {
                    continue;
                }
                let takes = |at: &usize| !self.problem.demand(n, i)[entry.limit[*at].0].is_zero();
                limits.extend((0..entry.limit.len()).filter(takes).map(|at| OnLimit { group, on, at }));
            }
        }
        limits
    }

    /// Returns the same usage without limits on classes. The result is used for admitted tasks, which these
    /// limits already count.
    #[must_use]
    pub fn without_limits_on_classes(&self) -> Self {
        Self { counts_classes: false, ..self.clone() }
    }

    /// Returns the amount that a task of a user on a class takes under a limit on classes.
    #[must_use]
    pub fn takes_of(&self, at: OnLimit, n: usize, i: usize) -> Rational {
        let (r, _) = &self.problem.groups().list()[at.group].on[at.on].limit[at.at];
        self.problem.demand(n, i)[*r].clone()
    }

    /// Returns the free amount under a limit on classes. It is negative if the limit is exceeded.
    #[must_use]
    pub fn left_of(&self, at: OnLimit) -> &Rational {
        &self.on[at.group][at.on][at.at]
    }

    /// Returns the bounds that additional amounts below a group would exceed, each with the excess. These
    /// bounds are the points 4, 6 and 7 of `may_start` (docs/verdict.md).
    #[must_use]
    pub fn broken_bounds(
        &self,
        group: Option<usize>,
        amounts: &[(usize, Rational)],
    ) -> Vec<(Bound, Rational)> {
        self.broken(group, amounts).into_iter().map(|of| (of.bound, of.excess)).collect()
    }

    /// Returns the same bounds as [`Rooms::broken_bounds`], each with the usage, and with the least bound
    /// that would not be exceeded.
    #[must_use]
    pub(crate) fn broken(&self, group: Option<usize>, amounts: &[(usize, Rational)]) -> Vec<Broken> {
        let groups = self.problem.groups();
        let capacity = self.problem.total_capacity();
        let asked: Vec<&(usize, Rational)> =
            amounts.iter().filter(|(r, _)| !capacity[*r].is_zero()).collect();
        // The amounts first fill unused capacity that is kept back inside a group. This part does not raise
        // the usage of the group.
        let mut spare = vec![Rational::new(); asked.len()];
        let never = groups.share().zero_weight == ZeroWeight::Never;
        let mut broken = Vec::new();
        for v in groups.above(group) {
            let is_shut = never && groups.list()[v].weight.is_zero();
            let mut is_named = false;
            for ((r, amount), spare) in asked.iter().zip(&mut spare) {
                let (used, held) = (&self.used[v][*r], &self.held[v][*r]);
                let rest = Rational::from(amount - &*spare);
                let beyond = |mark: &Rational| &rest - excess(mark, used);
                let of =
                    |bound: Bound, too_much: Rational, most: &Rational, least: Option<Rational>| Broken {
                        bound,
                        excess: too_much,
                        used: used.clone(),
                        by_tasks: held.clone(),
                        most: most.clone(),
                        least,
                    };
                if let Some((_, most)) = groups.list()[v].limit.iter().find(|(known, _)| known == r) {
                    // The capacity that is kept back may exceed the limit. The limit then still applies to the usage of
                    // the tasks alone.
                    let too_much = beyond(most).max(amount - excess(most, held));
                    if too_much > 0 {
                        let least = Rational::from(held + amount);
                        let least = if rest > 0 { least.max(Rational::from(used + &rest)) } else { least };
                        broken.push(of(Bound::Limit(v, *r), too_much, most, Some(least)));
                    }
                }
                if let Some(promised) = self.promises.promised(v, *r).filter(|_| is_shut) {
                    is_named = true;
                    let too_much = if promised.is_zero() { amount.clone() } else { beyond(promised) };
                    if too_much > 0 {
                        broken.push(of(Bound::Weight(v), too_much, promised, None));
                    }
                }
                let kept = self.promises.kept[v].iter().find(|(known, _)| known == r);
                *spare += kept.map(|(_, kept)| excess(kept, used)).unwrap_or_default();
            }
            if is_shut && !is_named {
                // The guarantee names none of the demanded resources, so the group gets nothing.
                broken.push(Broken {
                    bound: Bound::Weight(v),
                    excess: asked.first().map_or_else(Rational::new, |(_, a)| a.clone()),
                    used: Rational::new(),
                    by_tasks: Rational::new(),
                    most: Rational::new(),
                    least: None,
                });
            }
        }
        let root = groups.list().len();
        for ((r, amount), spare) in asked.iter().zip(spare).filter(|((r, _), _)| self.is_kept[*r]) {
            let rest = Rational::from(amount - &spare);
            let used = &self.used[root][*r];
            let too_much = &rest - excess(&capacity[*r], used);
            if too_much > 0 {
                broken.push(Broken {
                    bound: Bound::KeptBack(*r),
                    excess: too_much,
                    used: used.clone(),
                    by_tasks: self.held[root][*r].clone(),
                    most: capacity[*r].clone(),
                    least: Some(used + rest),
                });
            }
        }
        broken
    }

    /// Sets the free amount under a limit on classes.
    pub(crate) fn set_left(&mut self, at: OnLimit, left: Rational) {
        self.on[at.group][at.on][at.at] = left;
    }

    /// Returns the groups with capacity of a resource that is kept back and not used, each with this amount.
    #[must_use]
    pub fn unused_kept_back(&self, r: usize) -> Vec<(usize, Rational)> {
        let unused = |v: usize| (v, excess(&self.kept_back(v, r), &self.used[v][r]));
        (0..self.promises.kept.len()).map(unused).filter(|(_, amount)| *amount > 0).collect()
    }

    /// Returns the base demands of a user for resources with a capacity above 0.
    fn asked(&self, n: usize) -> Vec<&'p (usize, Rational)> {
        let capacity = self.problem.total_capacity();
        let demand = self.problem.users()[n].base_demand().entries().iter();
        demand.filter(|(r, _)| !capacity[*r].is_zero()).collect()
    }

    /// Returns all exceeded bounds: limits of groups on all servers, limits on classes, and the capacity of
    /// resources if tasks and kept-back capacity together exceed it.
    #[must_use]
    pub fn excesses(&self) -> Vec<Excess> {
        let groups = self.problem.groups();
        let capacity = self.problem.total_capacity();
        let mut exceeded = Vec::new();
        let mut add = |bound: Bound, used: Rational, by_tasks: &Rational, most: &Rational| {
            if used > *most {
                exceeded.push(Excess::Bound { bound, used, by_tasks: by_tasks.clone(), most: most.clone() });
            }
        };
        for (v, group) in groups.list().iter().enumerate() {
            for (r, most) in group.limit.iter().filter(|(r, _)| !capacity[*r].is_zero()) {
                add(Bound::Limit(v, *r), self.used[v][*r].clone(), &self.held[v][*r], most);
            }
            for (on, entry) in group.on.iter().enumerate() {
                for (at, (_, most)) in entry.limit.iter().enumerate() {
                    let limit = OnLimit { group: v, on, at };
                    let used = Rational::from(most - self.left_of(limit));
                    add(Bound::OnClasses(limit), used.clone(), &used, most);
                }
            }
        }
        let root = groups.list().len();
        for r in (0..capacity.len()).filter(|r| self.is_kept[*r]) {
            add(Bound::KeptBack(r), self.used[root][r].clone(), &self.held[root][r], &capacity[r]);
        }
        exceeded
    }

    /// Returns the capacity of a resource that is kept back for a group.
    #[must_use]
    pub fn kept_back(&self, v: usize, r: usize) -> Rational {
        let kept = self.promises.kept[v].iter().find(|(known, _)| *known == r);
        kept.map(|(_, kept)| kept.clone()).unwrap_or_default()
    }

    /// Returns the number of tasks of every user, including admitted tasks.
    #[must_use]
    pub fn totals(&self) -> &[Rational] {
        &self.totals
    }

    /// Returns the lack of a user: the number of further tasks to which the guarantees above the user entitle
    /// it (docs/axioms.md).
    #[must_use]
    pub fn lack(&self, n: usize) -> Rational {
        self.lacks.get_or_init(|| Lacks::new(self.problem, &self.totals, &self.tasks)).of(n)
    }

    /// Returns the lacks of some users if only running tasks count. Admitted tasks do not count.
    #[must_use]
    pub fn lacks_of_running(&self, users: &[usize], admitted: &dyn Fn(usize) -> u64) -> Vec<Rational> {
        let running = self.totals.iter().enumerate().map(|(m, total)| Rational::from(total - admitted(m)));
        let lacks = Lacks::new(self.problem, &running.collect::<Vec<_>>(), &self.tasks);
        users.iter().map(|n| lacks.of(*n)).collect()
    }

    /// Returns the guarantee of a group as pairs of a resource and an amount. Returns `None` if the group has
    /// no guarantee.
    #[must_use]
    pub fn promised(&self, v: usize) -> Option<&[(usize, Rational)]> {
        self.promises.guarantee[v].as_deref()
    }

    /// Returns the limits that stop a user from starting one more task, as pairs of a group and a resource.
    #[must_use]
    pub fn limits_reached(&self, n: usize) -> Vec<(usize, usize)> {
        let groups = self.problem.groups();
        let mut reached = Vec::new();
        for v in groups.above(groups.member(n).group) {
            for (r, d) in self.asked(n) {
                let limit = groups.list()[v].limit.iter().find(|(known, _)| known == r);
                let is_reached = |most: &Rational| Rational::from(most - &self.used[v][*r]) < *d;
                if limit.is_some_and(|(_, most)| is_reached(most)) {
                    reached.push((v, *r));
                }
            }
        }
        reached
    }
}

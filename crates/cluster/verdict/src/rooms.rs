//! What groups leave to a user: limits, what is kept back, weights of 0 that get nothing more (theory, section 9), and how
//! far a user is from what the groups above it are promised.

use std::sync::OnceLock;

use evenhand_exact::{Lacks, Tasks};
use evenhand_problem::groups::ZeroWeight;
use evenhand_problem::{Allocation, Problem, Promises, Rational};

use crate::queues::Vector;
use crate::verdict::Excess;

/// The use of all groups, and the bounds on it.
#[derive(Debug, Clone)]
pub struct Rooms<'p> {
    problem: &'p Problem,
    promises: Promises,
    /// By resource: whether some group keeps capacity of it back.
    is_kept: Vec<bool>,
    /// `U_v` by group, the root last.
    used: Vec<Vector>,
    /// `X_v`: what the users of each take, without capacity that is kept back.
    held: Vec<Vector>,
    /// By user, with admitted tasks.
    totals: Vector,
    /// Tasks by user and class, where a group limits server classes.
    tasks: Tasks,
    /// Computed when the first lack is asked for.
    lacks: OnceLock<Lacks<'p>>,
    /// Amounts left under limits on server classes: by group, in the order of its `on` and of the limits there.
    on: Vec<Vec<Vec<Rational>>>,
    /// Whether limits on server classes count.
    counts_classes: bool,
}

/// A limit on server classes: the group, which of its `on`, and which limit there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct OnLimit {
    /// The group.
    pub group: usize,
    /// Position in the group's `on`.
    pub on: usize,
    /// Position in the limits of that.
    pub at: usize,
}

/// A bound of a group (or of all servers) that a start would break.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Bound {
    /// The limit of a group on a resource.
    Limit(usize, usize),
    /// The limit of a group on a resource on some classes.
    OnClasses(OnLimit),
    /// Capacity of a resource that is kept back for other groups.
    KeptBack(usize),
    /// A group of weight 0 that gets nothing beyond its guarantee.
    Weight(usize),
}

/// `a - b`, at least 0.
fn over(a: &Rational, b: &Rational) -> Rational {
    Rational::from(a - b).max(Rational::new())
}

impl<'p> Rooms<'p> {
    /// Returns the use of these tasks by class, and of tasks that are admitted and have no server, by user.
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
        // Capacity that is kept back is used from the start.
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

    /// Tasks of a user that are admitted count for its groups, and for limits on classes that it cannot avoid.
    fn admit(&mut self, n: usize, x: &Rational) {
        self.add(n, x);
        if !self.counts_classes {
            return;
        }
        let classes: Vec<usize> = self.problem.classes_of(n).collect();
        let groups = self.problem.groups();
        for v in groups.above(groups.member(n).group) {
            for (of, left) in groups.list()[v].on.iter().zip(&mut self.on[v]) {
                if classes.is_empty() || !classes.iter().all(|i| of.servers.binary_search(i).is_ok()) {
                    continue;
                }
                for ((r, _), left) in of.limit.iter().zip(left.iter_mut()) {
                    let least = classes.iter().map(|i| self.problem.demand(n, *i)[*r].clone()).min();
                    *left -= least.unwrap_or_default() * x;
                }
            }
        }
    }

    /// Adds tasks of a user (fewer than 0: takes them away) to what the groups above it use.
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
                let kept = self.promises.kept[v].iter().find(|(of, _)| of == r).map(|(_, kept)| kept);
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

    /// Adds tasks of a user on a class to what counts for limits on classes.
    pub fn add_on_class(&mut self, n: usize, i: usize, x: &Rational) {
        if !self.counts_classes {
            return;
        }
        match self.tasks[n].iter_mut().find(|(of, _)| *of == i) {
            Some((_, sum)) => *sum += x,
            None => self.tasks[n].push((i, x.clone())),
        }
        for at in self.on_limits(n, i) {
            let taken = self.takes_of(at, n, i) * x;
            self.on[at.group][at.on][at.at] -= taken;
        }
    }

    /// The limits on classes that count a task of a user on a class, and of which it takes something.
    #[must_use]
    pub fn on_limits(&self, n: usize, i: usize) -> Vec<OnLimit> {
        let groups = self.problem.groups();
        if !self.counts_classes {
            return Vec::new();
        }
        let mut found = Vec::new();
        for group in groups.above(groups.member(n).group) {
            for (on, of) in groups.list()[group].on.iter().enumerate() {
                if of.servers.binary_search(&i).is_err() {
                    continue;
                }
                let takes = |at: &usize| !self.problem.demand(n, i)[of.limit[*at].0].is_zero();
                found.extend((0..of.limit.len()).filter(takes).map(|at| OnLimit { group, on, at }));
            }
        }
        found
    }

    /// The same without limits on classes: they count already for tasks that are admitted.
    #[must_use]
    pub fn without_limits_on_classes(&self) -> Self {
        Self { counts_classes: false, ..self.clone() }
    }

    /// Returns the amount of a limit on classes that a task of a user on a class takes.
    #[must_use]
    pub fn takes_of(&self, at: OnLimit, n: usize, i: usize) -> Rational {
        let (r, _) = &self.problem.groups().list()[at.group].on[at.on].limit[at.at];
        self.problem.demand(n, i)[*r].clone()
    }

    /// Returns the amount left under a limit on classes; below 0 if the limit is exceeded.
    #[must_use]
    pub fn left_of(&self, at: OnLimit) -> &Rational {
        &self.on[at.group][at.on][at.at]
    }

    /// The bounds that amounts used below a group would break, and by how much; points 4, 6 and 7 of `may_start`
    /// (docs/verdict.md).
    #[must_use]
    pub fn broken_bounds(
        &self,
        group: Option<usize>,
        amounts: &[(usize, Rational)],
    ) -> Vec<(Bound, Rational)> {
        let groups = self.problem.groups();
        let capacity = self.problem.total_capacity();
        let asked: Vec<&(usize, Rational)> =
            amounts.iter().filter(|(r, _)| !capacity[*r].is_zero()).collect();
        // Capacity kept back inside the group is filled first, and raises no use of the group.
        let mut spare = vec![Rational::new(); asked.len()];
        let never = groups.share().zero_weight == ZeroWeight::Never;
        let mut broken = Vec::new();
        for v in groups.above(group) {
            let is_shut = never && groups.list()[v].weight.is_zero();
            let mut is_named = false;
            for ((r, amount), spare) in asked.iter().zip(&mut spare) {
                let used = &self.used[v][*r];
                let beyond = |mark: &Rational| Rational::from(amount - &*spare) - over(mark, used);
                if let Some((_, most)) = groups.list()[v].limit.iter().find(|(of, _)| of == r) {
                    // Capacity that is kept back beyond the limit lets no user have more than the limit.
                    let excess = beyond(most).max(amount - over(most, &self.held[v][*r]));
                    if excess > 0 {
                        broken.push((Bound::Limit(v, *r), excess));
                    }
                }
                if let Some(promised) = self.promises.promised(v, *r).filter(|_| is_shut) {
                    is_named = true;
                    let excess = if promised.is_zero() { amount.clone() } else { beyond(promised) };
                    if excess > 0 {
                        broken.push((Bound::Weight(v), excess));
                    }
                }
                let kept = self.promises.kept[v].iter().find(|(of, _)| of == r);
                *spare += kept.map(|(_, kept)| over(kept, used)).unwrap_or_default();
            }
            if is_shut && !is_named {
                // No amount is small enough.
                broken.push((Bound::Weight(v), asked.first().map_or_else(Rational::new, |(_, a)| a.clone())));
            }
        }
        let root = &self.used[groups.list().len()];
        for ((r, amount), spare) in asked.iter().zip(spare).filter(|((r, _), _)| self.is_kept[*r]) {
            let excess = amount - spare - over(&capacity[*r], &root[*r]);
            if excess > 0 {
                broken.push((Bound::KeptBack(*r), excess));
            }
        }
        broken
    }

    /// Returns the base demands of a user for resources with a capacity above 0.
    fn asked(&self, n: usize) -> Vec<&'p (usize, Rational)> {
        let capacity = self.problem.total_capacity();
        let demand = self.problem.users()[n].base_demand().entries().iter();
        demand.filter(|(r, _)| !capacity[*r].is_zero()).collect()
    }

    /// Limits that are exceeded: of groups on all servers and on classes, and of all servers beside capacity that is kept back.
    #[must_use]
    pub fn excesses(&self) -> Vec<Excess> {
        let groups = self.problem.groups();
        let capacity = self.problem.total_capacity();
        let mut found = Vec::new();
        let mut add = |bound: Bound, used: Rational, by_tasks: &Rational, most: &Rational| {
            if used > *most {
                found.push(Excess::Bound { bound, used, by_tasks: by_tasks.clone(), most: most.clone() });
            }
        };
        for (v, group) in groups.list().iter().enumerate() {
            for (r, most) in group.limit.iter().filter(|(r, _)| !capacity[*r].is_zero()) {
                add(Bound::Limit(v, *r), self.used[v][*r].clone(), &self.held[v][*r], most);
            }
            for (on, of) in group.on.iter().enumerate() {
                for (at, (_, most)) in of.limit.iter().enumerate() {
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
        found
    }

    /// Capacity of a resource that is kept back for a group.
    #[must_use]
    pub fn kept_back(&self, v: usize, r: usize) -> Rational {
        let kept = self.promises.kept[v].iter().find(|(of, _)| *of == r);
        kept.map(|(_, kept)| kept.clone()).unwrap_or_default()
    }

    /// Tasks of every user, with admitted ones.
    #[must_use]
    pub fn totals(&self) -> &[Rational] {
        &self.totals
    }

    /// Returns how many further tasks the guarantees above a user still entitle it to (docs/axioms.md: the lack).
    #[must_use]
    pub fn lack(&self, n: usize) -> Rational {
        self.lacks.get_or_init(|| Lacks::new(self.problem, &self.totals, &self.tasks)).of(n)
    }

    /// The same of some users, for running tasks alone, without those that are admitted.
    #[must_use]
    pub fn lacks_of_running(&self, users: &[usize], admitted: &dyn Fn(usize) -> u64) -> Vec<Rational> {
        let running = self.totals.iter().enumerate().map(|(m, total)| Rational::from(total - admitted(m)));
        let lacks = Lacks::new(self.problem, &running.collect::<Vec<_>>(), &self.tasks);
        users.iter().map(|n| lacks.of(*n)).collect()
    }

    /// Returns the guarantee of a group, by resource that it names.
    #[must_use]
    pub fn promised(&self, v: usize) -> Option<&[(usize, Rational)]> {
        self.promises.guarantee[v].as_deref()
    }

    /// Groups of which a limit is reached that stops a user of these, and the resource.
    #[must_use]
    pub fn limits_reached(&self, n: usize) -> Vec<(usize, usize)> {
        let groups = self.problem.groups();
        let mut reached = Vec::new();
        for v in groups.above(groups.member(n).group) {
            for (r, d) in self.asked(n) {
                let limit = groups.list()[v].limit.iter().find(|(of, _)| of == r);
                let is_reached = |most: &Rational| Rational::from(most - &self.used[v][*r]) < *d;
                if limit.is_some_and(|(_, most)| is_reached(most)) {
                    reached.push((v, *r));
                }
            }
        }
        reached
    }
}

//! What groups leave to a user: limits, what is kept back, weights of 0 that get nothing more (theory, section 9), and how
//! far a user is from what the groups above it are promised.

use std::sync::OnceLock;

use evenhand_exact::{Lacks, Tasks};
use evenhand_problem::groups::ZeroWeight;
use evenhand_problem::{Allocation, Problem, Promises, Rational};

use crate::queues::Vector;

/// What groups use in an allocation, and what bounds that.
#[derive(Debug)]
pub struct Rooms<'p> {
    problem: &'p Problem,
    promises: Promises,
    /// `U_v` by group, the root last.
    used: Vec<Vector>,
    /// What the users of each hold, without what is kept back.
    held: Vec<Vector>,
    totals: Vector,
    /// Tasks by user and class, where a group limits server classes.
    tasks: Tasks,
    /// Computed when the first lack is asked for.
    lacks: OnceLock<Lacks<'p>>,
    /// What is left of limits on server classes: by group, in the order of its `on` and of the limits there.
    on: Vec<Vec<Vec<Rational>>>,
}

/// `a - b`, at least 0.
fn over(a: &Rational, b: &Rational) -> Rational {
    Rational::from(a - b).max(Rational::new())
}

impl<'p> Rooms<'p> {
    /// Of an allocation.
    #[must_use]
    pub fn new(problem: &'p Problem, allocation: &Allocation) -> Self {
        let groups = problem.groups();
        let (list, m) = (groups.list(), problem.n_resources());
        let totals = allocation.totals();
        let mut used = vec![vec![Rational::new(); m]; list.len() + 1];
        for (n, total) in totals.iter().enumerate().filter(|(_, total)| !total.is_zero()) {
            let v = groups.member(n).group.unwrap_or(list.len());
            for (r, d) in problem.users()[n].base_demand().entries() {
                used[v][*r] += Rational::from(d * total);
            }
        }
        let promises = Promises::new(groups);
        let mut held = used.clone();
        for v in groups.from_the_leaves() {
            let (own, above) = (held[v].clone(), list[v].parent.unwrap_or(list.len()));
            held[above].iter_mut().zip(own).for_each(|(sum, own)| *sum += own);
            let mut counted = used[v].clone();
            for (r, kept) in promises.kept[v].iter().filter(|(r, kept)| used[v][*r] < *kept) {
                counted[*r].clone_from(kept);
            }
            used[above].iter_mut().zip(counted).for_each(|(sum, own)| *sum += own);
        }
        let stated = |on: &evenhand_problem::On| on.limit.iter().map(|(_, most)| most.clone()).collect();
        let mut on: Vec<Vec<Vec<Rational>>> =
            list.iter().map(|group| group.on.iter().map(stated).collect()).collect();
        for (n, tasks) in allocation.tasks.iter().enumerate().filter(|_| groups.limit_classes()) {
            for v in groups.above(groups.member(n).group) {
                for (of, left) in list[v].on.iter().zip(&mut on[v]) {
                    for (i, x) in tasks.iter().filter(|(i, _)| of.servers.binary_search(i).is_ok()) {
                        for ((r, _), left) in of.limit.iter().zip(left.iter_mut()) {
                            *left -= Rational::from(&problem.demand(n, *i)[*r] * x);
                        }
                    }
                }
            }
        }
        let tasks = if groups.limit_classes() { allocation.tasks.clone() } else { Tasks::new() };
        Self { problem, promises, used, held, totals, tasks, lacks: OnceLock::new(), on }
    }

    /// What a user demands of resources that there are.
    fn asked(&self, n: usize) -> Vec<&'p (usize, Rational)> {
        let capacity = self.problem.total_capacity();
        let demand = self.problem.users()[n].base_demand().entries().iter();
        demand.filter(|(r, _)| !capacity[*r].is_zero()).collect()
    }

    /// How many tasks more the groups above a user leave it, and the sum of all servers beside what is kept back; `None`
    /// where nothing bounds it.
    #[must_use]
    pub fn of_groups(&self, n: usize) -> Option<Rational> {
        let groups = self.problem.groups();
        let asked = self.asked(n);
        let mut spare = vec![Rational::new(); asked.len()];
        let never = groups.share().zero_weight == ZeroWeight::Never;
        let mut rooms = Vec::new();
        for v in groups.above(groups.member(n).group) {
            let is_shut = never && groups.list()[v].weight.is_zero();
            let mut is_named = false;
            for ((r, d), spare) in asked.iter().zip(&mut spare) {
                let used = &self.used[v][*r];
                let left = |mark: &Rational| (over(mark, used) + &*spare) / d;
                let limit = groups.list()[v].limit.iter().find(|(of, _)| of == r);
                // Nor does what is kept back, and more than the limit, let anybody hold more than that.
                let room = |most: &Rational| left(most).min(over(most, &self.held[v][*r]) / d);
                rooms.extend(limit.map(|(_, most)| room(most)));
                if let Some(promised) = self.promises.promised(v, *r).filter(|_| is_shut) {
                    is_named = true;
                    rooms.push(if promised.is_zero() { Rational::new() } else { left(promised) });
                }
                let kept = self.promises.kept[v].iter().find(|(of, _)| of == r);
                *spare += kept.map(|(_, kept)| over(kept, used)).unwrap_or_default();
            }
            if is_shut && !is_named {
                return Some(Rational::new());
            }
        }
        let root = &self.used[groups.list().len()];
        let capacity = self.problem.total_capacity();
        // All servers together bound what is held only for the sake of what is kept back.
        let is_kept = |r: usize| self.promises.kept.iter().flatten().any(|(of, _)| *of == r);
        let of_root = asked.iter().zip(spare).filter(|((r, _), _)| is_kept(*r));
        rooms.extend(of_root.map(|((r, d), spare)| (over(&capacity[*r], &root[*r]) + spare) / d));
        rooms.into_iter().min()
    }

    /// How many tasks more limits on server classes leave a user on a class; `None` where none counts there.
    #[must_use]
    pub fn on_class(&self, n: usize, i: usize) -> Option<Rational> {
        let groups = self.problem.groups();
        if !groups.limit_classes() {
            return None;
        }
        let demand = self.problem.demand(n, i);
        let mut least: Option<Rational> = None;
        for v in groups.above(groups.member(n).group) {
            let here = groups.list()[v].on.iter().zip(&self.on[v]);
            for (of, left) in here.filter(|(of, _)| of.servers.binary_search(&i).is_ok()) {
                for ((r, _), left) in of.limit.iter().zip(left).filter(|((r, _), _)| !demand[*r].is_zero()) {
                    let room = Rational::from(left / &demand[*r]).max(Rational::new());
                    least = Some(least.map_or(room.clone(), |least| least.min(room)));
                }
            }
        }
        least
    }

    /// Returns how many further tasks the guarantees above a user still entitle it to (docs/axioms.md: the lack).
    #[must_use]
    pub fn lack(&self, n: usize) -> Rational {
        self.lacks.get_or_init(|| Lacks::new(self.problem, &self.totals, &self.tasks)).of(n)
    }

    /// What a group is promised, by resource that is named.
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

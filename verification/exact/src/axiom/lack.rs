//! The lack of a user: the number of further tasks to which the guarantees above it entitle it (docs/axioms.md,
//! "Guarantees: the lack").
//!
//! Only stated guarantees count. Let `w` be the lowest group above user `n` that states a guarantee. The whole usage of
//! `w` counts. For groups next to the path from `w` to the root only usage that is covered by a guarantee counts,
//! because any other usage has to give way first:
//!
//! $$P_{cr} = \min(U_{cr}, G_{cr}) \text{ if } c \text{ states a guarantee, else } \sum_{k \text{ in } c} \max(P_{kr},
//! K_{kr}).$$
//!
//! The counted usage of a group above `n` is $V_{vr} = U_{vr}$ up to `w`. Above `w`, with the child `k` towards `n`, it
//! is $V_{vr} = \max(V_{kr}, K_{kr}) + \sum_{c \ne k} \max(P_{cr}, K_{cr})$. Every limit and guarantee `B` above `n`
//! allows $(B - V_{vr} + s_{vr}) / d_{nr}$ tasks, where $s_{vr}$ are the amounts between `n` and `v` that are kept back
//! and not used.

use std::collections::BTreeMap;
use std::ops::Range;

use evenhand_problem::groups::ZeroWeight;
use evenhand_problem::{Problem, Promises, Rational};

use crate::instance::Tasks;
use crate::sparse::at;

/// The lacks of all users in an allocation, prepared once for many users.
///
/// # Examples
/// Two queues are guaranteed 5 GPUs each, and one of them uses all 10.
/// ```
/// use evenhand_exact::Lacks;
/// use evenhand_problem::{Rational, format::Source};
///
/// let problem = Source { name: "two queues", text: r#"{"kind": "allocation-problem", "resources": ["gpu"],
///     "servers": [{"name": "s", "capacity": {"gpu": 10}}],
///     "groups": [{"name": "org", "limit": {"gpu": 10}},
///                {"name": "a", "parent": "org", "guarantee": {"gpu": 5}},
///                {"name": "b", "parent": "org", "guarantee": {"gpu": 5}}],
///     "users": [{"name": "x", "group": "a", "demand": {"gpu": 1}},
///               {"name": "y", "group": "b", "demand": {"gpu": 1}}]}"# }.problem().unwrap();
/// let lacks = Lacks::new(&problem, &[Rational::from(10), Rational::new()], &[]);
/// assert_eq!((lacks.of(0), lacks.of(1)), (Rational::new(), Rational::from(5)));
/// ```
#[derive(Debug, Clone)]
pub struct Lacks<'p> {
    problem: &'p Problem,
    promises: Promises,
    totals: Vec<Rational>,
    /// The usage `U_v` of each group, by resource.
    used: Vec<Vec<Rational>>,
    /// For each group and resource, the sum of `max(P, K)` over the child groups.
    below: Vec<Vec<Rational>>,
    /// The limits on server classes, ascending by group.
    on: Vec<ClassUse<'p>>,
    /// For each group, the positions of its own limits in `on`.
    on_of_group: Vec<Range<usize>>,
}

/// A limit on server classes, and how much of it each group uses.
#[derive(Debug, Clone)]
struct ClassUse<'p> {
    group: usize,
    resource: usize,
    /// The classes, ascending.
    servers: &'p [usize],
    most: &'p Rational,
    /// The usage by each group that is `group` or below it, if its users run tasks on these classes.
    of: BTreeMap<usize, Held>,
}

/// How much of a limit on classes the users of a group use.
#[derive(Debug, Clone, Default)]
struct Held {
    /// The whole usage of all users below the group.
    all: Rational,
    /// The sum over the child groups of the usage that guarantees cover.
    below: Rational,
}

/// Returns the usage `U_v` of each group, by resource. `totals` are the total tasks of each user.
pub(super) fn uses(problem: &Problem, promises: &Promises, totals: &[Rational]) -> Vec<Vec<Rational>> {
    let groups = problem.groups();
    let mut used = vec![vec![Rational::new(); problem.n_resources()]; groups.list().len()];
    for (n, (user, x)) in problem.users().iter().zip(totals).enumerate().filter(|(_, (_, x))| !x.is_zero()) {
        let Some(v) = groups.member(n).group else { continue };
        for (r, d) in user.base_demand().entries() {
            used[v][*r] += Rational::from(d * x);
        }
    }
    for v in groups.from_the_leaves() {
        let Some(parent) = groups.list()[v].parent else { continue };
        let mut held = used[v].clone();
        for (r, kept) in promises.kept[v].iter().filter(|(r, kept)| used[v][*r] < *kept) {
            held[*r].clone_from(kept);
        }
        used[parent].iter_mut().zip(held).for_each(|(sum, held)| *sum += held);
    }
    used
}

impl<'p> Lacks<'p> {
    /// Prepares the lacks of an allocation. `totals` are the total tasks of each user. `tasks` lists `(class, tasks)`
    /// for each user. It is read only if a group limits server classes, and may be empty otherwise.
    #[must_use]
    pub fn new(problem: &'p Problem, totals: &[Rational], tasks: &[Vec<(usize, Rational)>]) -> Self {
        let groups = problem.groups();
        let promises = Promises::new(groups);
        let used = uses(problem, &promises, totals);
        let below = vec![vec![Rational::new(); problem.n_resources()]; groups.list().len()];
        let mut lacks = Self {
            problem,
            promises,
            totals: totals.to_vec(),
            used,
            below,
            on: Vec::new(),
            on_of_group: Vec::new(),
        };
        for v in groups.from_the_leaves() {
            let Some(parent) = groups.list()[v].parent else { continue };
            for r in 0..problem.n_resources() {
                let counted = lacks.promised_use(v, r).max(lacks.kept(v, r));
                lacks.below[parent][r] += counted;
            }
        }
        if groups.limit_classes() {
            lacks.limit_classes(tasks);
        }
        lacks
    }

    /// Returns `K_v`, the amount of resource `r` that is kept back for group `v`.
    fn kept(&self, v: usize, r: usize) -> Rational {
        at(&self.promises.kept[v], r).cloned().unwrap_or_default()
    }

    /// Returns `P_v`, the usage of resource `r` by group `v` that guarantees cover.
    fn promised_use(&self, v: usize, r: usize) -> Rational {
        match &self.problem.groups().list()[v].guarantee {
            Some(stated) => {
                at(stated, r).map(|promised| promised.min(&self.used[v][r]).clone()).unwrap_or_default()
            }
            None => self.below[v][r].clone(),
        }
    }

    /// Computes how much of every limit on classes each group uses.
    fn limit_classes(&mut self, tasks: &[Vec<(usize, Rational)>]) {
        let groups = self.problem.groups();
        for (group, of) in groups.list().iter().enumerate() {
            let from = self.on.len();
            for on in &of.on {
                self.on.extend(on.limit.iter().map(|(resource, most)| ClassUse {
                    group,
                    resource: *resource,
                    servers: &on.servers,
                    most,
                    of: BTreeMap::new(),
                }));
            }
            self.on_of_group.push(from..self.on.len());
        }
        for (n, tasks) in tasks.iter().enumerate() {
            let path: Vec<usize> = groups.above(groups.member(n).group).collect();
            for (end, v) in path.iter().enumerate() {
                for at in self.on_of_group[*v].clone() {
                    let ClassUse { resource, servers, of, .. } = &mut self.on[at];
                    let here = tasks.iter().filter(|(i, _)| servers.binary_search(i).is_ok());
                    let held: Rational =
                        here.map(|(i, x)| Rational::from(&self.problem.demand(n, *i)[*resource] * x)).sum();
                    for group in path[..=end].iter().filter(|_| !held.is_zero()) {
                        of.entry(*group).or_default().all += &held;
                    }
                }
            }
        }
        for v in groups.from_the_leaves() {
            let above: Vec<usize> = groups.above(groups.list()[v].parent).collect();
            for at in above.iter().flat_map(|limited| self.on_of_group[*limited].clone()) {
                let promised = self.promised_on(&self.on[at], v);
                if let Some(parent) = self.on[at].of.get_mut(&above[0]) {
                    parent.below += promised;
                }
            }
        }
    }

    /// Returns the part of a group's usage of a limit on classes that guarantees cover. The group has to be below the
    /// group of the limit.
    fn promised_on(&self, limit: &ClassUse<'_>, v: usize) -> Rational {
        let Some(held) = limit.of.get(&v) else { return Rational::new() };
        let Some(stated) = &self.problem.groups().list()[v].guarantee else { return held.below.clone() };
        match (at(stated, limit.resource), &self.used[v][limit.resource]) {
            (None, _) => Rational::new(),
            (Some(promised), used) if promised < used => Rational::from(promised / used) * &held.all,
            (Some(_), _) => held.all.clone(),
        }
    }

    /// Returns the counted usage of a limit on classes for a user with this path. The group at position `lowest` of the
    /// path is the lowest group that states a guarantee.
    fn counted_on(&self, limit: &ClassUse<'_>, path: &[usize], lowest: usize) -> Rational {
        let all = |v: usize| limit.of.get(&v).map(|held| held.all.clone()).unwrap_or_default();
        let end = path.iter().position(|v| *v == limit.group).unwrap_or_default();
        if end <= lowest {
            return all(limit.group);
        }
        let mut counted = all(path[lowest]);
        for pair in path[lowest..=end].windows(2) {
            if let Some(parent) = limit.of.get(&pair[1]) {
                counted += &parent.below;
            }
            counted -= self.promised_on(limit, pair[0]);
        }
        counted
    }

    /// Adds to `rooms` the numbers of tasks that limits on classes allow a user. There is one number for all its
    /// classes together if each class has such a limit, and one number for every limit that counts the user's tasks on
    /// all its classes.
    fn rooms_on_classes(&self, n: usize, path: &[usize], lowest: usize, rooms: &mut Vec<Rational>) {
        let own = path.iter().flat_map(|v| self.on_of_group.get(*v).cloned().unwrap_or_default());
        let mut left: Vec<(&ClassUse<'_>, Rational, Option<Rational>)> = own
            .map(|at| &self.on[at])
            .map(|limit| (limit, limit.most - self.counted_on(limit, path, lowest)))
            .map(|(limit, left)| (limit, left.max(Rational::new()), Some(Rational::new())))
            .collect();
        if left.is_empty() {
            return;
        }
        let mut sum = Some(Rational::new());
        for i in self.problem.classes_of(n) {
            let mut least: Option<Rational> = None;
            for (limit, left, most) in &mut left {
                let demand = &self.problem.demand(n, i)[limit.resource];
                if demand.is_zero() || limit.servers.binary_search(&i).is_err() {
                    *most = None;
                    continue;
                }
                let room = Rational::from(&*left / demand);
                *most = most.take().map(|most| most.max(room.clone()));
                least = Some(least.map_or(room.clone(), |least| least.min(room)));
            }
            sum = sum.zip(least).map(|(sum, least)| sum + least);
        }
        rooms.extend(left.into_iter().filter_map(|(.., most)| most).chain(sum));
    }

    /// Returns the lack of a user, in tasks.
    #[must_use]
    pub fn of(&self, n: usize) -> Rational {
        let groups = self.problem.groups();
        let capacity = self.problem.total_capacity();
        let path: Vec<usize> = groups.above(groups.member(n).group).collect();
        let states = |v: &usize| groups.list()[*v].guarantee.is_some();
        let Some(lowest) = path.iter().position(states) else { return Rational::new() };
        let user = &self.problem.users()[n];
        let demanded: Vec<&(usize, Rational)> =
            user.base_demand().entries().iter().filter(|(r, _)| !capacity[*r].is_zero()).collect();
        let mut rooms: Vec<Rational> = Vec::new();
        rooms.extend(user.tasks().map(|tasks| Rational::from(tasks - &self.totals[n])));
        self.rooms_on_classes(n, &path, lowest, &mut rooms);
        let mut counted: Vec<Rational> = vec![Rational::new(); demanded.len()];
        let mut spare = counted.clone();
        let never = groups.share().zero_weight == ZeroWeight::Never;
        for (position, v) in path.iter().copied().enumerate() {
            let group = &groups.list()[v];
            let binds = group.guarantee.is_some() || (never && group.weight.is_zero());
            let mut names_any = !binds;
            for (((r, d), counted), spare) in demanded.iter().zip(&mut counted).zip(&mut spare) {
                if position <= lowest {
                    counted.clone_from(&self.used[v][*r]);
                } else {
                    let child = path[position - 1];
                    let kept = self.kept(child, *r);
                    let own = counted.clone().max(kept.clone());
                    *counted = own + &self.below[v][*r] - self.promised_use(child, *r).max(kept);
                }
                let promised = self.promises.promised(v, *r).filter(|_| binds);
                names_any |= promised.is_some();
                for bound in promised.into_iter().chain(at(&group.limit, *r)) {
                    rooms.push((Rational::from(bound - &*counted) + &*spare) / d);
                }
                let kept = self.kept(v, *r);
                if *counted < kept {
                    *spare += kept - &*counted;
                }
            }
            if !names_any {
                return Rational::new();
            }
        }
        rooms.into_iter().min().map(|least| least.max(Rational::new())).unwrap_or_default()
    }

    /// Returns the number of elementary steps for limits on classes that [`Lacks::new`] takes together with one
    /// [`Lacks::of`] for each user.
    pub(super) fn steps_on_classes(problem: &Problem, tasks: &Tasks) -> u64 {
        let groups = problem.groups();
        if !groups.limit_classes() {
            return 0;
        }
        let of_user = |(n, tasks): (usize, &Vec<(usize, Rational)>)| {
            let path: Vec<usize> = groups.above(groups.member(n).group).collect();
            let limits: usize = path
                .iter()
                .map(|v| groups.list()[*v].on.iter().map(|on| on.limit.len()).sum::<usize>())
                .sum();
            (limits as u64).saturating_mul((tasks.len() + 2 * path.len() + problem.n_servers()) as u64)
        };
        tasks.iter().enumerate().map(of_user).fold(0, u64::saturating_add)
    }
}

//! Hierarchical filling, written from the definition (docs/groups.md, section 9). Every amount is computed
//! from the tasks each time it is needed. Every step searches all nodes for the next event.

use evenhand_problem::groups::{Guarantees, ShareOf, ShareOver, ZeroWeight};
use evenhand_problem::{Problem, Rational};

use super::reach::reach;

/// The number of segments after which the filling gives up.
const SEGMENTS: usize = 5_000;

/// A node of the tree: the root, a group or a user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Node {
    Root,
    Group(usize),
    User(usize),
}

pub(super) struct Tree<'p> {
    pub(super) problem: &'p Problem,
    /// Bounds that replace the placement of tasks. Each bound has the worth of a task of each user, and the
    /// largest worth that all tasks together may have.
    pub(super) bounds: Option<Vec<(Vec<Rational>, Rational)>>,
    /// True if guarantees come before shares.
    pub(super) guarantees_first: bool,
    /// The capacity of every resource, if it differs from the capacity that shares are fractions of.
    pub(super) there: Option<Vec<Rational>>,
}

/// The settings for serving whole tasks.
#[derive(Debug, Clone, Copy)]
pub struct Whole {
    /// True if the last of equal nodes in the file is preferred, and not the first.
    pub last: bool,
    /// True if a task goes to the server with the best fit, and not to the first server on which it fits.
    pub best_fit: bool,
    /// True if guarantees come before shares.
    pub guarantees_first: bool,
}

type Tasks = [Rational];

/// The key by which siblings are compared, from left to right: `(0, 0, false, used fraction of the guarantee)` or
/// `(1, -priority, weight is 0, level)`.
pub(super) type Key = (u8, i64, bool, Rational);

/// Returns `true` if guarantees come before shares.
pub(super) fn puts_first(problem: &Problem) -> bool {
    problem.groups().share().guarantees == Guarantees::First
}

/// Returns the tasks of every user.
pub fn fill(problem: &Problem) -> Vec<Rational> {
    let tree = Tree { problem, guarantees_first: puts_first(problem), bounds: None, there: None };
    tree.filled().expect("the classes end")
}

/// Serves whole tasks by the tree. A gang starts completely or not at all, and each task goes to the first single
/// server on which it fits, or to the best one. Returns the tasks by single server and user.
pub fn fill_whole(problem: &Problem, whole: Whole) -> Vec<Vec<u64>> {
    let guarantees_first = whole.guarantees_first && puts_first(problem);
    let tree = Tree { problem, guarantees_first, bounds: None, there: None };
    let n_users = problem.n_users();
    let mut servers: Vec<(usize, Vec<u64>)> = Vec::new();
    for (i, class) in problem.servers().iter().enumerate() {
        servers.extend((0..class.count()).map(|_| (i, vec![0; n_users])));
    }
    let mut x = vec![Rational::new(); n_users];
    loop {
        let active: Vec<usize> = (0..n_users)
            .filter(|n| tree.may_run_a_gang(&x, *n) && tree.placed(&servers, *n, whole).is_some())
            .collect();
        if active.is_empty() {
            return servers.into_iter().map(|(_, tasks)| tasks).collect();
        }
        let n = tree.turn(&x, Node::Root, &active, whole.last);
        servers = tree.placed(&servers, n, whole).expect("it fits");
        x[n] += tree.gang(n);
    }
}

impl Tree<'_> {
    /// Returns the tasks of every user after the filling. Returns `None` if the bounds do not end the
    /// filling.
    pub(super) fn filled(&self) -> Option<Vec<Rational>> {
        let mut x = vec![Rational::new(); self.problem.n_users()];
        for _ in 0..SEGMENTS {
            let active: Vec<usize> = (0..x.len()).filter(|n| self.is_active(&x, *n)).collect();
            if active.is_empty() {
                return Some(x);
            }
            let rates = self.direction(&x, Node::Root, &active);
            let step = self.step(&x, &rates)?;
            x.iter_mut().zip(&rates).for_each(|(x, rate)| *x += Rational::from(rate * &step));
        }
        panic!("no end after {SEGMENTS} segments");
    }

    /// Returns the largest `t` for which `x + t rates` can be placed, or satisfies the bounds. `None` means
    /// that `t` is unbounded.
    fn room(&self, x: &Tasks, rates: &Tasks) -> Option<Rational> {
        let sum = |worth: &[Rational], of: &Tasks| {
            worth.iter().zip(of).map(|(worth, of)| Rational::from(worth * of)).sum::<Rational>()
        };
        match &self.bounds {
            None => self.has_places().then(|| reach(self.problem, x, rates)),
            Some(bounds) => {
                let paces = bounds.iter().map(|(worth, most)| (most - sum(worth, x), sum(worth, rates)));
                paces.filter(|(_, pace)| *pace > 0).map(|(left, pace)| left / pace).min()
            }
        }
    }

    pub(super) fn gang(&self, n: usize) -> u64 {
        self.problem.groups().member(n).gang.unwrap_or(1)
    }

    pub(super) fn may_run_a_gang(&self, x: &Tasks, n: usize) -> bool {
        let mut after = x.to_vec();
        after[n] += self.gang(n);
        if self.problem.users()[n].tasks().is_some_and(|tasks| after[n] > *tasks) {
            return false;
        }
        let never = self.problem.groups().share().zero_weight == ZeroWeight::Never;
        std::iter::successors(self.parent(Node::User(n)), |v| self.parent(*v)).all(|v| {
            let asked = || self.resources().filter(|r| self.demand(n, *r) > 0);
            let within = |r: usize, most: Option<Rational>| {
                let now = self.used(&after, v, r);
                now == self.used(x, v, r) || most.is_none_or(|most| now <= most)
            };
            let is_shut = never && v != Node::Root && self.weight(v).is_zero();
            let named = || asked().filter_map(|r| Some((r, self.guarantee(v, r)?)));
            asked().all(|r| within(r, self.limit(v, r)))
                && (!is_shut
                    || named().next().is_some()
                        && named().all(|(r, promised)| promised > 0 && within(r, Some(promised))))
        })
    }

    /// Returns the servers with one more gang of a user. Returns `None` if the gang does not fit as a whole.
    fn placed(
        &self,
        servers: &[(usize, Vec<u64>)],
        n: usize,
        whole: Whole,
    ) -> Option<Vec<(usize, Vec<u64>)>> {
        let mut servers = servers.to_vec();
        for _ in 0..self.gang(n) {
            let fits = |(i, tasks): &(usize, Vec<u64>)| {
                self.problem.classes_of(n).any(|of| of == *i)
                    && (0..self.problem.n_resources())
                        .all(|r| self.problem.demand(n, *i)[r] <= self.left(*i, tasks, r))
                    && self.is_allowed_on(&servers, n, *i)
            };
            let mut fitting = (0..servers.len()).filter(|j| fits(&servers[*j]));
            let j = if whole.best_fit {
                let mismatch = |j: &usize| self.mismatch(n, servers[*j].0, &servers[*j].1);
                let fitting: Vec<usize> = fitting.collect();
                let least = fitting.iter().filter_map(mismatch).min()?;
                let mut best = fitting.into_iter().filter(|j| mismatch(j).as_ref() == Some(&least));
                if whole.last { best.next_back() } else { best.next() }
            } else {
                fitting.next()
            };
            servers[j?].1[n] += 1;
        }
        Some(servers)
    }

    fn left(&self, i: usize, tasks: &[u64], r: usize) -> Rational {
        let held =
            (0..tasks.len()).map(|m| self.problem.demand(m, i)[r].clone() * tasks[m]).sum::<Rational>();
        &self.problem.servers()[i].capacity()[r] - held
    }

    /// Returns `true` if limits on this class, and on sets with this class, allow one more task of the user.
    fn is_allowed_on(&self, servers: &[(usize, Vec<u64>)], n: usize, i: usize) -> bool {
        let groups = self.problem.groups().list().iter().enumerate();
        groups.filter(|(v, _)| self.is_under(n, Node::Group(*v))).all(|(v, group)| {
            group.on.iter().filter(|on| on.servers.contains(&i)).all(|on| {
                let demand = |m: usize, i: usize, r: usize| self.problem.demand(m, i)[r].clone();
                on.limit.iter().filter(|(r, _)| demand(n, i, *r) > 0).all(|(r, most)| {
                    let there = servers.iter().filter(|(i, _)| on.servers.contains(i));
                    let of = |(i, tasks): &(usize, Vec<u64>)| {
                        let below = (0..tasks.len()).filter(|m| self.is_under(*m, Node::Group(v)));
                        below.map(|m| demand(m, *i, *r) * tasks[m]).sum::<Rational>()
                    };
                    there.map(of).sum::<Rational>() + demand(n, i, *r) <= *most
                })
            })
        })
    }

    /// Returns the mismatch `H` (DRFH, equation 9), computed from fractions of the total capacity.
    fn mismatch(&self, n: usize, i: usize, tasks: &[u64]) -> Option<Rational> {
        let demand = self.problem.demand(n, i);
        let first = (0..self.problem.n_resources()).find(|r| demand[*r] > 0)?;
        let share = |amount: Rational, r: usize| amount / &self.problem.total_capacity()[r];
        let left = |r: usize| share(self.left(i, tasks, r), r);
        let asked = |r: usize| share(demand[r].clone(), r);
        if self.problem.total_capacity()[first].is_zero() || left(first).is_zero() {
            return None;
        }
        if self.problem.total_capacity().iter().filter(|total| **total > 0).count() == 1 {
            return Some(self.left(i, tasks, first));
        }
        let term = |r: usize| (asked(r) / asked(first) - left(r) / left(first)).abs();
        Some(self.resources().map(term).sum())
    }

    /// Returns the user that is served next, among users that can be served.
    pub(super) fn turn(&self, x: &Tasks, v: Node, users: &[usize], last: bool) -> usize {
        if let Node::User(n) = v {
            return n;
        }
        let mut least: Option<(Key, Node, Vec<usize>)> = None;
        for k in self.children(v) {
            let under: Vec<usize> = users.iter().copied().filter(|n| self.is_under(*n, k)).collect();
            if under.is_empty() {
                continue;
            }
            let (key, users) = self.key(x, k, &under);
            let comes_first = least.as_ref().is_none_or(|(of, ..)| if last { key <= *of } else { key < *of });
            if comes_first {
                least = Some((key, k, users));
            }
        }
        let (_, k, users) = least.expect("somebody can be served");
        self.turn(x, k, &users, last)
    }

    fn resources(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.problem.n_resources()).filter(|r| self.problem.total_capacity()[*r] > 0)
    }

    fn nodes(&self) -> Vec<Node> {
        let groups = (0..self.problem.groups().list().len()).map(Node::Group);
        [Node::Root].into_iter().chain(groups).chain((0..self.problem.n_users()).map(Node::User)).collect()
    }

    pub(super) fn parent(&self, v: Node) -> Option<Node> {
        let above = match v {
            Node::Root => return None,
            Node::Group(g) => self.problem.groups().list()[g].parent,
            Node::User(n) => self.problem.groups().member(n).group,
        };
        Some(above.map_or(Node::Root, Node::Group))
    }

    fn children(&self, v: Node) -> Vec<Node> {
        self.nodes().into_iter().filter(|k| self.parent(*k) == Some(v)).collect()
    }

    fn is_under(&self, n: usize, v: Node) -> bool {
        std::iter::successors(Some(Node::User(n)), |v| self.parent(*v)).any(|above| above == v)
    }

    fn weight(&self, v: Node) -> Rational {
        match v {
            Node::Root => Rational::from(1),
            Node::Group(g) => self.problem.groups().list()[g].weight.clone(),
            Node::User(n) => self.problem.users()[n].weight().clone(),
        }
    }

    /// Returns the guarantee of node `v` for resource `r`, if the guarantee names the resource.
    fn guarantee(&self, v: Node, r: usize) -> Option<Rational> {
        let Node::Group(g) = v else { return None };
        match &self.problem.groups().list()[g].guarantee {
            Some(stated) => stated.iter().find(|(of, _)| *of == r).map(|(_, amount)| amount.clone()),
            None => {
                let of_children = self.children(v).into_iter().filter_map(|k| self.guarantee(k, r));
                of_children.reduce(|a, b| a + b)
            }
        }
    }

    fn limit(&self, v: Node, r: usize) -> Option<Rational> {
        match v {
            // If no capacity is kept back, the classes alone bound the running tasks.
            Node::Root => {
                let mut lending = self
                    .problem
                    .groups()
                    .list()
                    .iter()
                    .enumerate()
                    .filter(|(_, group)| group.lend.iter().any(|(of, _)| *of == r));
                lending.any(|(g, _)| self.kept(Node::Group(g), r) > 0).then(|| self.capacity(r))
            }
            Node::User(_) => None,
            Node::Group(g) => {
                let limit = &self.problem.groups().list()[g].limit;
                limit.iter().find(|(of, _)| *of == r).map(|(_, most)| most.clone())
            }
        }
    }

    /// Returns the capacity of a resource.
    fn capacity(&self, r: usize) -> Rational {
        self.there.as_deref().unwrap_or_else(|| self.problem.total_capacity())[r].clone()
    }

    /// Returns `true` if all tasks use their base demands on every class.
    fn is_plain(&self) -> bool {
        self.problem.users().iter().all(|user| user.demand_overrides().is_empty())
    }

    fn kept(&self, v: Node, r: usize) -> Rational {
        let Node::Group(g) = v else { return Rational::new() };
        let lend = self.problem.groups().list()[g].lend.iter().find(|(of, _)| *of == r);
        let own = lend.map(|(_, lend)| self.guarantee(v, r).unwrap_or_default() - lend).unwrap_or_default();
        let below: Rational = self.children(v).into_iter().map(|k| self.kept(k, r)).sum();
        own.max(below)
    }

    pub(super) fn demand(&self, n: usize, r: usize) -> Rational {
        self.problem.users()[n].base_demand()[r].clone()
    }

    fn running(&self, x: &Tasks, v: Node, r: usize) -> Rational {
        (0..x.len()).filter(|n| self.is_under(*n, v)).map(|n| self.demand(n, r) * &x[n]).sum()
    }

    fn used(&self, x: &Tasks, v: Node, r: usize) -> Rational {
        match v {
            Node::User(n) => self.demand(n, r) * &x[n],
            _ => self.children(v).into_iter().map(|k| self.used(x, k, r).max(self.kept(k, r))).sum(),
        }
    }

    /// Returns the rate at which [`used`](Self::used) grows if the tasks grow at these rates.
    fn growth(&self, x: &Tasks, rates: &Tasks, v: Node, r: usize) -> Rational {
        match v {
            Node::User(n) => self.demand(n, r) * &rates[n],
            _ => {
                let free = |k: &Node| self.used(x, *k, r) >= self.kept(*k, r);
                self.children(v).into_iter().filter(free).map(|k| self.growth(x, rates, k, r)).sum()
            }
        }
    }

    fn alone(&self, n: usize) -> Vec<Rational> {
        (0..self.problem.n_users()).map(|m| Rational::from(u32::from(m == n))).collect()
    }

    fn is_active(&self, x: &Tasks, n: usize) -> bool {
        let has_all = self.problem.users()[n].tasks().is_some_and(|tasks| x[n] >= *tasks);
        let rates = self.alone(n);
        let above = std::iter::successors(self.parent(Node::User(n)), |v| self.parent(*v));
        let stops = |v: Node| {
            let full = |r: usize| {
                let is_full = self.limit(v, r).is_some_and(|most| self.used(x, v, r) >= most);
                self.demand(n, r) > 0 && is_full && self.growth(x, &rates, v, r) > 0
            };
            let never = self.problem.groups().share().zero_weight == ZeroWeight::Never;
            self.resources().any(full) || (never && self.weight(v).is_zero() && !self.is_below(x, v, n))
        };
        let is_filled = |r: usize| {
            self.is_plain() && self.demand(n, r) > 0 && self.running(x, Node::Root, r) >= self.capacity(r)
        };
        !has_all
            && self.problem.is_active(n)
            && !above.into_iter().any(stops)
            && !self.resources().any(is_filled)
            && self.room(x, &rates).is_none_or(|room| room > 0)
    }

    /// Returns `true` if it matters on which class tasks run.
    fn has_places(&self) -> bool {
        self.problem.n_servers() > 1 || self.problem.groups().limit_classes() || !self.is_plain()
    }

    pub(super) fn is_below(&self, x: &Tasks, v: Node, n: usize) -> bool {
        let rates = self.alone(n);
        let asked: Vec<usize> = self.resources().filter(|r| self.demand(n, *r) > 0).collect();
        let named: Vec<(usize, Rational)> =
            asked.into_iter().filter_map(|r| Some((r, self.guarantee(v, r)?))).collect();
        let is_there = |(r, promised): &(usize, Rational)| {
            self.used(x, v, *r) < *promised || (*promised > 0 && self.growth(x, &rates, v, *r).is_zero())
        };
        !named.is_empty() && named.iter().all(is_there)
    }

    /// Returns the amount of a resource that is lendable among the children of a node.
    fn lendable(&self, parent: Node, r: usize) -> Rational {
        let kept: Rational = self.children(parent).into_iter().map(|k| self.kept(k, r)).sum();
        let pot = match self.parent(parent) {
            None => self.problem.total_capacity()[r].clone(),
            Some(above) => {
                let most = self.lendable(above, r) + self.kept(parent, r);
                self.limit(parent, r).into_iter().fold(most, Rational::min)
            }
        };
        pot - kept
    }

    /// Returns the terms of the share, one for each resource that counts. A term has a slope: the amount by
    /// which one more unit of the resource increases it.
    fn terms(&self, x: &Tasks, v: Node) -> Vec<(usize, Rational, Rational)> {
        let share = self.problem.groups().share();
        let term = |r: usize| {
            let promised = self.guarantee(v, r).unwrap_or_default();
            let cluster = self.problem.total_capacity()[r].clone();
            let whole = match (share.over, share.of) {
                (ShareOver::Cluster, _) => cluster,
                (ShareOver::Lendable, _) => self.lendable(self.parent(v).unwrap_or(Node::Root), r),
                (ShareOver::Guarantee, ShareOf::Usage) if promised.is_zero() => cluster,
                (ShareOver::Guarantee, _) => promised.clone(),
            };
            let stated = share.multipliers.iter().find(|(of, _)| *of == r);
            let each = stated.map_or_else(|| Rational::from(1), |(_, m)| m.clone());
            let used = self.used(x, v, r);
            let counted = if share.of == ShareOf::Surplus { used - promised } else { used };
            let slope = if counted >= 0 { each } else { Rational::new() };
            (whole > 0).then(|| (r, counted.max(Rational::new()) * &slope / &whole, slope / &whole))
        };
        self.resources().filter_map(term).collect()
    }

    /// Returns, for each promised resource that these users demand, the used fraction of the guarantee and its
    /// slope.
    pub(super) fn parts(&self, x: &Tasks, v: Node, users: &[usize]) -> Vec<(usize, Rational, Rational)> {
        let asked = |r: &usize| users.iter().any(|n| self.demand(*n, *r) > 0);
        let promised = |r: usize| Some((r, self.guarantee(v, r).filter(|amount| *amount > 0)?));
        let named = self.resources().filter(asked).filter_map(promised);
        named.map(|(r, amount)| (r, self.used(x, v, r) / &amount, amount.recip())).collect()
    }

    pub(super) fn key(&self, x: &Tasks, v: Node, users: &[usize]) -> (Key, Vec<usize>) {
        let is_below = |n: &usize| self.guarantees_first && self.is_below(x, v, *n);
        let below: Vec<usize> = users.iter().copied().filter(is_below).collect();
        let top = |terms: Vec<(usize, Rational, Rational)>| {
            terms.into_iter().map(|(_, value, _)| value).max().unwrap_or_default()
        };
        if !below.is_empty() {
            return ((0, 0, false, top(self.parts(x, v, &below))), below);
        }
        let (weight, share) = (self.weight(v), top(self.terms(x, v)));
        let priority = match v {
            Node::Group(g) => self.problem.groups().list()[g].priority,
            _ => 0,
        };
        let level = if weight.is_zero() { share } else { share / &weight };
        ((1, -priority, weight.is_zero(), level), users.to_vec())
    }

    /// Returns the largest rate among the terms that attain the maximum.
    fn rise(&self, terms: &[(usize, Rational, Rational)], growth: impl Fn(usize) -> Rational) -> Rational {
        let top = terms.iter().map(|(_, value, _)| value).max().cloned().unwrap_or_default();
        let at_top = terms.iter().filter(|(_, value, _)| *value == top);
        at_top.map(|(r, _, slope)| growth(*r) * slope).max().unwrap_or_default()
    }

    fn level_terms(
        &self,
        x: &Tasks,
        v: Node,
        phase: u8,
        users: &[usize],
    ) -> Vec<(usize, Rational, Rational)> {
        let weight = self.weight(v);
        if phase == 0 {
            return self.parts(x, v, users);
        }
        let by = if weight.is_zero() { Rational::from(1) } else { weight };
        self.terms(x, v).into_iter().map(|(r, value, slope)| (r, value / &by, slope / &by)).collect()
    }

    fn direction(&self, x: &Tasks, v: Node, users: &[usize]) -> Vec<Rational> {
        if let Node::User(n) = v {
            return self.alone(n);
        }
        let mut candidates = Vec::new();
        for k in self.children(v) {
            let under: Vec<usize> = users.iter().copied().filter(|n| self.is_under(*n, k)).collect();
            if !under.is_empty() {
                let (key, users) = self.key(x, k, &under);
                candidates.push((key, k, users));
            }
        }
        let least = candidates.iter().map(|(key, ..)| key.clone()).min().expect("somebody may grow");
        let phase = least.0;
        // The children that grow, each with the rates of its users and the rate of its level.
        let mut chosen = Vec::new();
        for (key, k, users) in candidates {
            if key == least {
                let rates = self.direction(x, k, &users);
                let level = self.level_terms(x, k, phase, &users);
                let pace = self.rise(&level, |r| self.growth(x, &rates, k, r));
                chosen.push((k, rates, pace));
            }
        }
        let mut sum = vec![Rational::new(); x.len()];
        let mut add = |rates: &[Rational], pace: &Rational| {
            sum.iter_mut().zip(rates).for_each(|(sum, rate)| *sum += Rational::from(rate / pace));
        };
        if chosen.iter().all(|(.., pace)| *pace > 0) {
            chosen.iter().for_each(|(_, rates, pace)| add(rates, pace));
            return sum;
        }
        let flat = chosen.into_iter().filter(|(.., pace)| pace.is_zero());
        let flat: Vec<_> = flat
            .map(|(k, rates, _)| {
                let held = self.held_parts(x, k, phase, &rates);
                let part = held.iter().map(|(_, value, _)| value).max().cloned().unwrap_or_default();
                let pace = self.rise(&held, |r| self.running(&rates, k, r));
                (part, rates, pace)
            })
            .collect();
        let least = flat.iter().map(|(part, ..)| part).min().cloned().unwrap_or_default();
        flat.iter().filter(|(part, ..)| *part == least).for_each(|(_, rates, pace)| add(rates, pace));
        sum
    }

    /// Returns the usage below a node of the resources that growing users demand, as fractions of the capacity
    /// times the weight, or of the guarantee.
    fn held_parts(&self, x: &Tasks, v: Node, phase: u8, rates: &Tasks) -> Vec<(usize, Rational, Rational)> {
        let asked = |r: &usize| (0..x.len()).any(|n| rates[n] > 0 && self.demand(n, *r) > 0);
        let weight = self.weight(v);
        let part = |r: usize| {
            let whole = match phase {
                0 => self.guarantee(v, r)?,
                _ if weight.is_zero() => self.problem.total_capacity()[r].clone(),
                _ => self.problem.total_capacity()[r].clone() * &weight,
            };
            (whole > 0).then(|| (r, self.running(x, v, r) / &whole, whole.recip()))
        };
        self.resources().filter(asked).filter_map(part).collect()
    }

    /// Returns the step to the first event of any kind. A superfluous event does no harm, since the direction
    /// is computed again.
    fn step(&self, x: &Tasks, rates: &Tasks) -> Option<Rational> {
        let mut events: Vec<Rational> = Vec::new();
        events.extend(self.room(x, rates));
        for (n, user) in self.problem.users().iter().enumerate().filter(|(n, _)| rates[*n] > 0) {
            events.extend(user.tasks().map(|tasks| Rational::from(tasks - &x[n]) / &rates[n]));
        }
        for r in self.resources() {
            let growth = self.running(rates, Node::Root, r);
            if growth > 0 && self.is_plain() {
                let left = self.problem.total_capacity()[r].clone() - self.running(x, Node::Root, r);
                events.push(left / growth);
            }
        }
        let nodes = self.nodes();
        let mut lines: Vec<(Rational, Rational)> = Vec::new();
        for v in nodes.iter().copied() {
            for r in self.resources() {
                let (used, growth) = (self.used(x, v, r), self.growth(x, rates, v, r));
                let marks = self.limit(v, r).into_iter().chain(self.guarantee(v, r)).chain([self.kept(v, r)]);
                if growth > 0 {
                    events.extend(marks.map(|mark| (mark - &used) / &growth));
                }
            }
            if v == Node::Root {
                continue;
            }
            let by_weight = self.level_terms(x, v, 1, &[]);
            let everybody: Vec<usize> = (0..x.len()).collect();
            let promised = self.parts(x, v, &everybody);
            for (r, value, slope) in by_weight.into_iter().chain(promised) {
                lines.push((value, self.growth(x, rates, v, r) * slope));
            }
            for phase in [0, 1] {
                let ones = vec![Rational::from(1); x.len()];
                for (r, value, slope) in self.held_parts(x, v, phase, &ones) {
                    lines.push((value, self.running(rates, v, r) * slope));
                }
            }
        }
        for (low, slow) in &lines {
            for (high, fast) in &lines {
                if low < high && slow > fast {
                    events.push(Rational::from(high - low) / Rational::from(slow - fast));
                }
            }
        }
        events.into_iter().filter(|event| *event > 0).min()
    }
}

//! The axiom `tree` (theory, section 9): everybody has the tasks that hierarchical filling gives it.
//!
//! The evidence states a placement of what the filling ends with, and prices, which bound the totals that have a place
//! ([`Bounds`]). Here the filling is run once more, segment by segment, from the definitions. Where a bound is reached,
//! who is worth something in it has no place for more, and is stopped. Who is not stopped grows, and had a place for
//! it: holdings only grow, and what the filling ends with has the place that is stated.
//! The margin is minus the largest difference of tasks, over `g_n`.

use rug::Rational;

use super::bounds::{Bounds, Stated};
use super::holdings::{CELLS, Holdings};
use crate::allocation::tasks;
use crate::axioms::feasible;
use crate::case::{Case, Claim, Shown, total_of};
use crate::names::at;
use crate::work::{self, Checked, ensure, ensure_small, refuse};

/// Amounts by resource.
type Vector = Vec<Rational>;
/// What siblings are compared by: whether above the guarantee, minus the priority, whether without weight, level.
type Key = (bool, Rational, bool, Rational);

pub fn tree(case: &Case<'_>, claim: &Claim<'_>) -> Checked<Shown> {
    let [filling, prices, limit_prices] = claim.some()?.fields("filling prices limit_prices?")?;
    let stated = tasks(filling, case.problem)?;
    let on = Holdings::on(case, &stated)?;
    // All of it is read before any of it is judged.
    let prices = Stated::read(case, prices, limit_prices, &on)?;
    let has_place = feasible::is_feasible(case, &stated, None)? && on.iter().all(|of| of.left >= 0);
    ensure(has_place, "what the filling ends with has no place")?;
    let tree = Tree::new(case)?;
    let bounds = Bounds::new(case, prices, &on)?;
    let ended = Filling::new(&tree, bounds).run()?;
    let is_stated = stated.iter().map(total_of).eq(ended.iter().cloned());
    ensure(is_stated, "the filling ends with other tasks than the evidence states")?;
    let differs = |n: usize| Rational::from(&case.total[n] - &ended[n]).abs() / &case.g[n];
    Ok((case.active().map(differs).max().map(|most| -most), None))
}

/// The root (0), the groups (`1 + v`) and the users after them: what does not change.
struct Tree<'c> {
    case: &'c Case<'c>,
    /// `C_r`; a resource of which there is 0 counts nowhere.
    capacity: Vector,
    nodes: Vec<Node>,
    /// All nodes, each after what stands below it.
    upwards: Vec<usize>,
    /// What a share takes the largest of: resources that are added up, each with its multiplier.
    families: Vec<Vec<(usize, Rational)>>,
    /// Whether a share is of what exceeds the guarantee.
    of_surplus: bool,
    /// Whether a weight of 0 gets nothing beyond its guarantee.
    never: bool,
}

struct Node {
    above: Option<usize>,
    user: Option<usize>,
    weight: Rational,
    priority: Rational,
    /// `G_v`, by resource where it is named.
    guarantee: Option<Vec<Option<Rational>>>,
    limit: Vec<Option<Rational>>,
    /// `K_v`
    kept: Vector,
    /// By family, what a share is divided by; 0: it is ignored.
    divisor: Vector,
}

impl<'c> Tree<'c> {
    fn new(case: &'c Case<'c>) -> Checked<Self> {
        let (problem, groups) = (case.problem, &case.problem.groups);
        let (m, first) = (problem.resources.list.len(), 1 + groups.list.len());
        let cells = (first + problem.users.len()).saturating_mul(m);
        ensure_small(cells <= CELLS, "groups and users, times resources")?;
        work::spend(8 * cells)?;
        let Holdings { capacity, guarantee, kept, .. } = Holdings::new(case)?;
        let capacity: Vector = (0..m).map(|r| at(&capacity, r).cloned().unwrap_or_default()).collect();
        let there = |r: usize| !capacity[r].is_zero();
        let only = |amounts: Vec<Option<Rational>>| {
            amounts.into_iter().enumerate().map(|(r, amount)| amount.filter(|_| there(r))).collect()
        };
        let plain = |above: Option<usize>, user: Option<usize>, weight: &Rational| Node {
            above,
            user,
            weight: weight.clone(),
            priority: Rational::new(),
            guarantee: None,
            limit: vec![None; m],
            kept: vec![Rational::new(); m],
            divisor: Vec::new(),
        };
        let mut nodes = vec![plain(None, None, &Rational::from(1))];
        for ((group, guarantee), kept) in groups.list.iter().zip(guarantee).zip(kept) {
            nodes.push(Node {
                priority: group.priority.clone(),
                guarantee: guarantee.map(only),
                limit: only((0..m).map(|r| at(&group.limit, r).cloned()).collect()),
                kept,
                ..plain(Some(group.parent.map_or(0, |v| 1 + v)), None, &group.weight)
            });
        }
        for (n, user) in problem.users.iter().enumerate() {
            let above = groups.members[n].group.map_or(0, |v| 1 + v);
            nodes.push(plain(Some(above), Some(n), &user.weight));
        }
        let depth = |v: usize| std::iter::successors(Some(v), |v| nodes[*v].above).count();
        let mut upwards: Vec<usize> = (0..nodes.len()).collect();
        upwards.sort_by_cached_key(|v| std::cmp::Reverse(depth(*v)));
        let mut families: Vec<(&str, Vec<(usize, Rational)>)> = Vec::new();
        for r in (0..m).filter(|r| there(*r)) {
            let name = problem.resources.list[r].as_str();
            let name = if groups.share.families { name.rsplit('/').next().unwrap_or(name) } else { name };
            let multiplier = at(&groups.share.multipliers, r).cloned().unwrap_or(Rational::from(1));
            match families.iter_mut().find(|(of, _)| *of == name) {
                Some((_, family)) => family.push((r, multiplier)),
                None => families.push((name, vec![(r, multiplier)])),
            }
        }
        let families = families.into_iter().map(|(_, family)| family).collect();
        let [of, _, zero_weight] = &groups.share.words;
        let (of_surplus, never) = (of.is_some(), zero_weight.is_some());
        let mut tree = Self { case, capacity, nodes, upwards, families, of_surplus, never };
        tree.divide(groups.share.words[1].as_deref());
        Ok(tree)
    }

    /// What shares are divided by: the cluster, what can be lent where a node stands, or its guarantee.
    fn divide(&mut self, over: Option<&str>) {
        let m = self.capacity.len();
        let mut kept_below = vec![vec![Rational::new(); m]; self.nodes.len()];
        for node in &self.nodes {
            let Some(above) = node.above else { continue };
            kept_below[above].iter_mut().zip(&node.kept).for_each(|(sum, kept)| *sum += kept);
        }
        let mut pot = vec![self.capacity.clone(); self.nodes.len()];
        for &v in self.upwards.iter().rev() {
            let there: Vector = match self.nodes[v].above {
                None => self.capacity.clone(),
                Some(above) => {
                    (0..m).map(|r| Rational::from(&pot[above][r] - &kept_below[above][r])).collect()
                }
            };
            let node = &self.nodes[v];
            if v != 0 {
                for r in 0..m {
                    let most = Rational::from(&there[r] + &node.kept[r]);
                    pot[v][r] = node.limit[r].iter().fold(most, |most, limit| most.min(limit.clone()));
                }
            }
            let promised =
                |r: usize| node.guarantee.as_ref().and_then(|all| all[r].clone()).unwrap_or_default();
            let divisor = |family: &Vec<(usize, Rational)>| {
                let sum =
                    |of: &dyn Fn(usize) -> Rational| family.iter().map(|(r, _)| of(*r)).sum::<Rational>();
                let cluster = sum(&|r| self.capacity[r].clone());
                match over {
                    None => cluster,
                    Some("lendable") => sum(&|r| there[r].clone()),
                    Some(_) => {
                        Some(sum(&promised)).filter(|all| self.of_surplus || *all > 0).unwrap_or(cluster)
                    }
                }
            };
            self.nodes[v].divisor = self.families.iter().map(divisor).collect();
        }
    }

    fn leaf(&self, n: usize) -> usize {
        self.nodes.len() - self.case.problem.users.len() + n
    }

    fn above(&self, v: usize) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(self.nodes[v].above, |v| self.nodes[*v].above)
    }

    /// What a task of user `n` asks for of the resources that there are.
    fn asked(&self, n: usize) -> impl Iterator<Item = &(usize, Rational)> {
        self.case.problem.users[n].demand.iter().filter(|(r, _)| !self.capacity[*r].is_zero())
    }
}

/// A line of which a level is the largest: its value, and how much of it one more unit of each resource is.
struct Term {
    value: Rational,
    slope: Vec<(usize, Rational)>,
}

impl Term {
    /// A part of a whole above 0.
    fn part(r: usize, amount: &Rational, whole: &Rational) -> Self {
        Self { value: Rational::from(amount / whole), slope: vec![(r, whole.clone().recip())] }
    }

    fn rate(&self, growth: &[Rational]) -> Rational {
        self.slope.iter().map(|(r, each)| Rational::from(each * &growth[*r])).sum()
    }
}

/// The largest value, and the largest rate among those that attain it.
fn rising(terms: &[Term], growth: &[Rational]) -> (Rational, Rational) {
    let top = terms.iter().map(|term| &term.value).max().cloned().unwrap_or_default();
    let at_top = terms.iter().filter(|term| term.value == top);
    let rate = at_top.map(|term| term.rate(growth)).max().unwrap_or_default();
    (top, rate)
}

/// How a node grows: tasks by user, what its users hold and what it uses, and how long it grows so.
struct Growth {
    tasks: Vec<(usize, Rational)>,
    running: Vector,
    used: Vector,
    next: Option<Rational>,
}

/// What everybody holds on the way, who may still grow, and what stands above each of these: nodes from its parent
/// to the root, and whether it is below their guarantees.
struct Filling<'t> {
    tree: &'t Tree<'t>,
    /// What tasks are worth by user, and what all together may be worth.
    bounds: Vec<(Vector, Rational)>,
    tasks: Vector,
    /// Words of the widest of them.
    words: u64,
    /// `X_v` and `U_v`
    running: Vec<Vector>,
    used: Vec<Vector>,
    ways: Vec<Option<Vec<(usize, bool)>>>,
}

impl<'t> Filling<'t> {
    fn new(tree: &'t Tree<'t>, bounds: Bounds) -> Self {
        let users = tree.case.problem.users.len();
        let nothing = vec![vec![Rational::new(); tree.capacity.len()]; tree.nodes.len()];
        let able = |n: usize| (tree.case.is_active(n) && bounds.open[n]).then(Vec::new);
        let ways = (0..users).map(able).collect();
        let tasks = vec![Rational::new(); users];
        Self { tree, bounds: bounds.list, tasks, words: 1, running: nothing.clone(), used: nothing, ways }
    }

    /// Charges operations on fractions as wide as those that were read, and as those on the way.
    fn spend(&self, operations: usize) -> Checked<()> {
        work::spend(operations)?;
        work::steps(work::cost(self.words).saturating_mul(operations as u64))
    }

    /// The tasks with which it ends.
    fn run(mut self) -> Checked<Vector> {
        loop {
            self.hold()?;
            self.stop()?;
            let growing: Vec<usize> = (0..self.ways.len()).filter(|n| self.ways[*n].is_some()).collect();
            if growing.is_empty() {
                return Ok(self.tasks);
            }
            let Growth { tasks, next, .. } = self.direct(0, &growing)?;
            let reached = |(worth, most): &(Vector, Rational)| {
                let pace: Rational = tasks.iter().map(|(n, rate)| Rational::from(rate * &worth[*n])).sum();
                (pace > 0).then(|| (most - self.worth(worth)) / pace)
            };
            let step = self.bounds.iter().filter_map(reached).chain(next).min();
            let Some(step) = step else { return refuse("nothing ends the filling") };
            for (n, rate) in tasks {
                self.tasks[n] += rate * &step;
                self.words = self.words.max(work::words(&self.tasks[n]));
            }
        }
    }

    fn worth(&self, worth: &[Rational]) -> Rational {
        worth.iter().zip(&self.tasks).map(|(worth, tasks)| Rational::from(worth * tasks)).sum()
    }

    /// `X_v` and `U_v` of the tasks.
    fn hold(&mut self) -> Checked<()> {
        let (tree, m) = (self.tree, self.tree.capacity.len());
        self.spend(tree.nodes.len().saturating_mul(2 * m + 1))?;
        self.running.iter_mut().chain(&mut self.used).flatten().for_each(|amount| *amount = Rational::new());
        for &v in &tree.upwards {
            if let Some(n) = tree.nodes[v].user {
                for (r, d) in tree.asked(n) {
                    self.running[v][*r] = Rational::from(d * &self.tasks[n]);
                    self.used[v][*r].clone_from(&self.running[v][*r]);
                }
            }
            let Some(above) = tree.nodes[v].above else { continue };
            for r in 0..m {
                let (runs, held) = (self.running[v][r].clone(), self.used[v][r].clone());
                self.running[above][r] += runs;
                self.used[above][r] += held.max(tree.nodes[v].kept[r].clone());
            }
        }
        Ok(())
    }

    /// Stops who can grow no more. What is stopped stays so.
    fn stop(&mut self) -> Checked<()> {
        for n in 0..self.ways.len() {
            if self.ways[n].is_some() {
                self.ways[n] = self.way(n)?;
            }
        }
        self.spend(self.bounds.len().saturating_mul(2 * self.tasks.len()))?;
        for (worth, most) in &self.bounds {
            let held = self.worth(worth);
            ensure(held <= *most, "the filling goes on beyond what has a place")?;
            let stops = worth.iter().enumerate().filter(|(_, worth)| held == *most && **worth > 0);
            stops.for_each(|(n, _)| self.ways[n] = None);
        }
        Ok(())
    }

    /// What stands above user `n`; `None` where it has all its tasks, or a limit, the capacity or a weight of 0
    /// stops it.
    fn way(&self, n: usize) -> Checked<Option<Vec<(usize, bool)>>> {
        let tree = self.tree;
        let left = Rational::from(&self.tasks[n] + 1);
        if tree.case.problem.users[n].at_most_tasks(left) <= self.tasks[n] {
            return Ok(None);
        }
        // By resource that it asks for: whether more of it is more use of the node that is looked at.
        let mut grows: Vec<(usize, bool)> = tree.asked(n).map(|(r, _)| (*r, true)).collect();
        let mut way = Vec::new();
        for v in tree.above(tree.leaf(n)) {
            self.spend(4 * grows.len() + 1)?;
            let (node, used) = (&tree.nodes[v], &self.used[v]);
            let most = |r: usize| if v == 0 { Some(&tree.capacity[r]) } else { node.limit[r].as_ref() };
            let is_full = |&(r, grows): &(usize, bool)| grows && most(r).is_some_and(|most| used[r] >= *most);
            let no_room = |(r, _): &(usize, bool)| v == 0 && self.running[0][*r] >= tree.capacity[*r];
            let is_below = node.guarantee.as_ref().is_some_and(|guarantee| {
                let named =
                    || grows.iter().filter_map(|(r, grows)| Some((r, grows, guarantee[*r].as_ref()?)));
                let has = |(r, grows, promised): (&usize, &bool, &Rational)| {
                    used[*r] < *promised || (!grows && !promised.is_zero())
                };
                named().next().is_some() && named().all(has)
            });
            let is_shut = tree.never && v != 0 && node.weight.is_zero() && !is_below;
            if is_shut || grows.iter().any(is_full) || grows.iter().any(no_room) {
                return Ok(None);
            }
            way.push((v, is_below));
            grows.iter_mut().for_each(|(r, grows)| *grows &= self.passes(v, *r));
        }
        Ok(Some(way))
    }

    /// Whether more use of a node is more use of its parent.
    fn passes(&self, v: usize, r: usize) -> bool {
        self.used[v][r] >= self.tree.nodes[v].kept[r]
    }

    /// How a node grows when these users below it may: as long as it takes its own level to rise by one, or a user to
    /// have one more task.
    fn direct(&self, v: usize, users: &[usize]) -> Checked<Growth> {
        let m = self.tree.capacity.len();
        self.spend((m + 8).saturating_mul(m) + 4 * users.len())?;
        let zeros = || vec![Rational::new(); m];
        let mut growth = Growth { tasks: Vec::new(), running: zeros(), used: zeros(), next: None };
        let mut gaps = Vec::new();
        if let Some(n) = self.tree.nodes[v].user {
            growth.tasks.push((n, Rational::from(1)));
            self.tree.asked(n).for_each(|(r, d)| growth.running[*r].clone_from(d));
            growth.used.clone_from(&growth.running);
            gaps.extend(self.tree.case.problem.users[n].tasks.iter().map(|all| all - self.tasks[n].clone()));
        } else {
            for (k, pace, part) in self.paced(v, users, &mut gaps)? {
                ensure(pace > 0, "a level does not rise")?;
                growth.tasks.extend(part.tasks.into_iter().map(|(n, rate)| (n, rate / &pace)));
                for r in 0..m {
                    growth.running[r] += Rational::from(&part.running[r] / &pace);
                    if self.passes(k, r) {
                        growth.used[r] += Rational::from(&part.used[r] / &pace);
                    }
                }
                gaps.extend(part.next.map(|gap| gap * pace));
            }
        }
        self.events(v, &growth, &mut gaps);
        growth.next = gaps.into_iter().filter(|gap| *gap > 0).min();
        Ok(growth)
    }

    /// The children that grow, each with how fast its level rises and how it grows; and by how much the common
    /// level may rise before a sibling's is reached.
    fn paced(
        &self,
        v: usize,
        users: &[usize],
        gaps: &mut Vec<Rational>,
    ) -> Checked<Vec<(usize, Rational, Growth)>> {
        // Users by child: all, and those below its guarantee.
        let mut by_child = std::collections::BTreeMap::<usize, [Vec<usize>; 2]>::new();
        for &n in users {
            let way = self.ways[n].as_deref().unwrap_or_default();
            let below = way.iter().position(|(above, _)| *above == v).and_then(|at| at.checked_sub(1));
            let (child, is_below) = below.map_or((self.tree.leaf(n), false), |at| way[at]);
            let [all, first] = by_child.entry(child).or_default();
            all.push(n);
            first.extend(is_below.then_some(n));
        }
        let candidate = |(k, [all, first]): (usize, [Vec<usize>; 2])| {
            let is_above = first.is_empty();
            let terms = if is_above { self.share(k) } else { self.guaranteed(k, &first) };
            let node = &self.tree.nodes[k];
            let weight = if is_above && node.weight > 0 { node.weight.clone() } else { Rational::from(1) };
            let level = terms.iter().map(|term| &term.value).max().cloned().unwrap_or_default() / &weight;
            let rank = if is_above { -node.priority.clone() } else { Rational::new() };
            let key: Key = (is_above, rank, is_above && node.weight.is_zero(), level);
            (k, if is_above { all } else { first }, key, terms, weight)
        };
        let candidates: Vec<_> = by_child.into_iter().map(candidate).collect();
        let Some(least) = candidates.iter().map(|(_, _, key, ..)| key).min().cloned() else {
            return Ok(Vec::new());
        };
        let (mut grows, mut flat) = (Vec::new(), Vec::new());
        for (k, users, key, terms, weight) in candidates {
            if key == least {
                let growth = self.direct(k, &users)?;
                let pace = rising(&terms, &growth.used).1 / &weight;
                if pace.is_zero() { flat.push((k, weight, growth)) } else { grows.push((k, pace, growth)) }
            } else if (key.0, &key.1, key.2) == (least.0, &least.1, least.2) {
                gaps.push(key.3 - &least.3);
            }
        }
        if flat.is_empty() {
            return Ok(grows);
        }
        // Levels that do not rise: of these children the one grows that holds least of what its users ask for.
        gaps.clear();
        let line = |(k, weight, growth): (usize, Rational, Growth)| {
            let asked =
                |r: usize| growth.tasks.iter().any(|(n, _)| self.tree.asked(*n).any(|(of, _)| *of == r));
            let whole = |r: usize| self.whole(k, least.0, r).filter(|_| asked(r));
            let (top, rate) = rising(&self.parts(&self.running[k], whole), &growth.running);
            (k, top / &weight, rate / weight, growth)
        };
        let lines: Vec<_> = flat.into_iter().map(line).collect();
        let lowest = lines.iter().map(|(_, top, ..)| top).min().cloned().unwrap_or_default();
        gaps.extend(lines.iter().map(|(_, top, ..)| Rational::from(top - &lowest)));
        let lines = lines.into_iter().filter(|(_, top, ..)| *top == lowest);
        Ok(lines.map(|(k, _, pace, growth)| (k, pace, growth)).collect())
    }

    /// The terms of the share of a node, before the weight.
    fn share(&self, v: usize) -> Vec<Term> {
        let node = &self.tree.nodes[v];
        let guarantee = node.guarantee.as_ref().filter(|_| self.tree.of_surplus);
        let promised = |r: usize| guarantee.and_then(|all| all[r].clone()).unwrap_or_default();
        let families = self.tree.families.iter().zip(&node.divisor).filter(|(_, divisor)| **divisor > 0);
        let term = |(family, divisor): (&Vec<(usize, Rational)>, &Rational)| {
            let mut term = Term { value: Rational::new(), slope: Vec::new() };
            for (r, multiplier) in family {
                let above = &self.used[v][*r] - promised(*r);
                if above >= 0 {
                    let each = Rational::from(multiplier / divisor);
                    term.value += above * &each;
                    term.slope.push((*r, each));
                }
            }
            term
        };
        families.map(term).collect()
    }

    /// The terms of the level below a guarantee: what is used of what is promised of what these users ask for.
    fn guaranteed(&self, v: usize, users: &[usize]) -> Vec<Term> {
        let asked = |r: usize| users.iter().any(|n| self.tree.asked(*n).any(|(of, _)| *of == r));
        self.parts(&self.used[v], |r| self.whole(v, false, r).filter(|_| asked(r)))
    }

    /// The capacity, or what a node is promised.
    fn whole(&self, v: usize, of_cluster: bool, r: usize) -> Option<&Rational> {
        let promised = || self.tree.nodes[v].guarantee.as_ref()?[r].as_ref();
        if of_cluster { Some(&self.tree.capacity[r]) } else { promised() }
    }

    /// Amounts as parts of wholes, where these are above 0.
    fn parts<'w>(&self, of: &[Rational], whole: impl Fn(usize) -> Option<&'w Rational>) -> Vec<Term> {
        let part = |r: usize| Some(Term::part(r, &of[r], whole(r).filter(|whole| **whole > 0)?));
        (0..of.len()).filter_map(part).collect()
    }

    /// When something happens at a node that grows so: capacity, a limit, a guarantee or what is kept back is
    /// reached, or another resource becomes the largest.
    fn events(&self, v: usize, growth: &Growth, gaps: &mut Vec<Rational>) {
        let (tree, node) = (self.tree, &self.tree.nodes[v]);
        for r in (0..tree.capacity.len()).filter(|r| growth.used[*r] > 0) {
            let most = if v == 0 { Some(&tree.capacity[r]) } else { node.limit[r].as_ref() };
            let marks = most.into_iter().chain(self.whole(v, false, r)).chain([&node.kept[r]]);
            gaps.extend(marks.map(|mark| Rational::from(mark - &self.used[v][r]) / &growth.used[r]));
        }
        if v == 0 {
            for r in (0..tree.capacity.len()).filter(|r| growth.running[*r] > 0) {
                gaps.push(Rational::from(&tree.capacity[r] - &self.running[0][r]) / &growth.running[r]);
            }
            return;
        }
        crossings(&self.share(v), &growth.used, gaps);
        crossings(&self.parts(&self.used[v], |r| self.whole(v, false, r)), &growth.used, gaps);
        crossings(&self.parts(&self.running[v], |r| self.whole(v, false, r)), &growth.running, gaps);
        crossings(&self.parts(&self.running[v], |r| self.whole(v, true, r)), &growth.running, gaps);
    }
}

/// When a term becomes as large as another that is larger now.
fn crossings(terms: &[Term], growth: &[Rational], gaps: &mut Vec<Rational>) {
    let lines: Vec<(&Rational, Rational)> =
        terms.iter().map(|term| (&term.value, term.rate(growth))).collect();
    for (low, fast) in &lines {
        let slower = lines.iter().filter(|(high, slow)| low < high && fast > slow);
        gaps.extend(slower.map(|(high, slow)| Rational::from(*high - *low) / Rational::from(fast - slow)));
    }
}

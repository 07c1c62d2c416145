//! The axiom `tree` (theory, section 9): everybody has the tasks that hierarchical filling gives it.
//!
//! The evidence states a placement of what the filling ends with, and prices, which bound the totals that have a place
//! ([`Bounds`]). What groups hold is counted by base demands, what has a place by those on the classes. Here the filling is run once more, segment by segment, from the definitions. Where a bound is reached,
//! who is worth something in it has no place for more, and is stopped. Who is not stopped grows, and had a place for
//! it: holdings only grow, and what the filling ends with has the place that is stated.
//! The margin is minus the largest difference of tasks, over `g_n`.

use rug::Rational;

use super::bounds::Bounds;
use super::holdings::{CELLS, Holdings, named};
use super::within::Within;
use crate::allocation::{entries, tasks};
use crate::axioms::feasible;
use crate::axioms::prices::Prices;
use crate::case::{Case, Claim, Shown, total_of};
use crate::json::{ABSENT, Json};
use crate::names::at;
use crate::work::{self, Checked, ensure, ensure_small, refuse};

/// Amounts by resource.
type Vector = Vec<Rational>;
/// What siblings are compared by: whether above the guarantee, minus the priority, whether without weight, level.
type Key = (bool, Rational, bool, Rational);
/// Children that grow, each with how much faster than its own clock that of its parent runs.
type Paced = Vec<(usize, Rational)>;

pub fn tree(case: &Case<'_>, claim: &Claim<'_>) -> Checked<Shown> {
    let [filling, rows, limits] = claim.some()?.fields("filling prices limit_prices?")?;
    let stated = tasks(filling, case.problem)?;
    let on = Within(Holdings::limits(case, &stated, false)?);
    let prices = rows.list()?.iter().map(|raw| Prices::read(case, raw, &ABSENT));
    let mut prices = prices.collect::<Checked<Vec<_>>>()?;
    let lists = limits.given().map(Json::list).transpose()?;
    if lists.is_some_and(|lists| lists.len() != prices.len()) {
        return limits.wrong("expected prices of limits for every vector of prices");
    }
    let lists = lists.unwrap_or_default().iter().map(|raw| named(case, &on.0, raw));
    // All of it is read before any of it is judged.
    for (prices, limits) in prices.iter_mut().zip(lists.collect::<Checked<Vec<_>>>()?) {
        prices.limits = on.known(limits).or_else(refuse)?;
    }
    let has_place = feasible::is_feasible(case, &stated, None)? && on.0.iter().all(|of| of.left >= 0);
    ensure(has_place, "what the filling ends with has no place")?;
    let ended = ended(case, prices, &on)?;
    work::spend(entries(&stated).count())?;
    let is_stated = stated.iter().map(total_of).eq(ended.iter().cloned());
    ensure(is_stated, "the filling ends with other tasks than the evidence states")?;
    let differs = |n: usize| Rational::from(&case.total[n] - &ended[n]).abs() / &case.g[n];
    Ok((case.active().map(differs).max().map(|most| -most), None))
}

/// The tasks with which the filling ends.
pub fn ended(case: &Case<'_>, prices: Vec<Prices<'_>>, on: &Within<'_>) -> Checked<Vector> {
    Filling::new(&Tree::new(case)?, Bounds::new(case, prices, on)?).run()
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
    /// What all children of a node keep back: what it uses before anybody has tasks.
    kept_below: Vec<Vector>,
    /// Words of the widest number of the nodes.
    words: u64,
}

#[derive(Default)]
struct Node {
    above: Option<usize>,
    user: Option<usize>,
    weight: Rational,
    priority: Rational,
    /// `G_v`, by resource where it is named.
    guarantee: Option<Vec<Option<Rational>>>,
    /// Of the root the capacity of what is kept back: what runs ends at the bounds.
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
            limit: vec![None; m],
            kept: vec![Rational::new(); m],
            ..Node::default()
        };
        let mut nodes = vec![plain(None, None, &Rational::from(1))];
        let is_kept = |r: &usize| there(*r) && !kept[groups.list.len()][*r].is_zero();
        nodes[0].limit = (0..m).map(|r| Some(r).filter(is_kept).map(|r| capacity[r].clone())).collect();
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
        let mut kept_below = vec![vec![Rational::new(); m]; nodes.len()];
        for node in &nodes {
            let Some(above) = node.above else { continue };
            kept_below[above].iter_mut().zip(&node.kept).for_each(|(sum, kept)| *sum += kept);
        }
        let mut tree = Self { case, capacity, nodes, upwards, families, kept_below, words: 0 };
        tree.divide(groups.share.words[1]);
        let of_node = |node: &'_ Node| {
            let stated = node.limit.iter().chain(node.guarantee.iter().flatten()).flatten();
            stated.chain(&node.kept).chain(&node.divisor).chain([&node.weight]).map(work::words).max()
        };
        tree.words = tree.nodes.iter().filter_map(of_node).max().unwrap_or(0);
        Ok(tree)
    }

    /// What shares are divided by: the cluster, what can be lent where a node stands, or its guarantee.
    fn divide(&mut self, over: Option<&str>) {
        let m = self.capacity.len();
        // By node: what can be lent to what stands in it.
        let mut lendable = vec![Vector::new(); self.nodes.len()];
        for &v in self.upwards.iter().rev() {
            let node = &self.nodes[v];
            let there = |r: usize| node.above.map_or(&self.capacity[r], |above| &lendable[above][r]).clone();
            let most = |r: usize| node.limit[r].iter().cloned().fold(there(r) + &node.kept[r], Rational::min);
            let divisor = |family: &Vec<(usize, Rational)>| {
                let whole = |r: usize| match over {
                    None => self.capacity[r].clone(),
                    Some("lendable") => there(r),
                    Some(_) => self.promised(v, r).cloned().unwrap_or_default(),
                };
                let sum: Rational = family.iter().map(|(r, _)| whole(*r)).sum();
                let is_cluster = over == Some("guarantee") && !self.says("surplus") && sum.is_zero();
                if is_cluster { family.iter().map(|(r, _)| &self.capacity[*r]).sum() } else { sum }
            };
            let divisors = self.families.iter().map(divisor).collect();
            lendable[v] = (0..m).map(|r| most(r) - &self.kept_below[v][r]).collect();
            self.nodes[v].divisor = divisors;
        }
    }

    /// Whether this is a word of the share.
    fn says(&self, word: &str) -> bool {
        self.case.problem.groups.share.words.contains(&Some(word))
    }

    /// What is promised to a node, where that is named.
    fn promised(&self, v: usize, r: usize) -> Option<&Rational> {
        self.nodes[v].guarantee.as_ref()?[r].as_ref()
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
    fn rate(&self, growth: &[Rational]) -> Checked<Rational> {
        work::sum(self.slope.iter().map(|(r, each)| work::times(each, &growth[*r])).collect::<Checked<_>>()?)
    }
}

/// The largest value, and the largest rate among those that attain it.
fn rising(terms: &[Term], growth: &[Rational]) -> Checked<(Rational, Rational)> {
    let top = terms.iter().map(|term| &term.value).max().cloned().unwrap_or_default();
    let at_top = terms.iter().filter(|term| term.value == top);
    let rates = at_top.map(|term| term.rate(growth)).collect::<Checked<Vec<_>>>()?;
    Ok((top, rates.into_iter().max().unwrap_or_default()))
}

/// Adds some amounts so many times.
fn add(sums: &mut [Rational], amounts: &[Rational], times: &Rational) -> Checked<()> {
    work::steps(amounts.len() as u64)?;
    for (sum, amount) in sums.iter_mut().zip(amounts).filter(|(_, amount)| !amount.is_zero()) {
        *sum = work::plus(sum, &work::times(amount, times)?)?;
    }
    Ok(())
}

/// How a node grows while its clock advances by one. Nothing changes that but an event at it or below it, or that others of
/// its users may grow.
#[derive(Default)]
struct Growth {
    /// The users below it that may grow, and what its clock says since all this was found for them.
    users: Vec<usize>,
    clock: Rational,
    children: Paced,
    /// What its users hold, what it uses, and what its users' tasks are worth in every bound.
    running: Vector,
    used: Vector,
    worth: Vector,
    /// When something happens at it, and at it or below it.
    own: Option<Rational>,
    next: Option<Rational>,
}

/// What everybody holds on the way, who may still grow, and what stands above each of these: nodes from its parent
/// to the root, and whether it is below their guarantees.
///
/// Every node has a clock, by which its children grow at constant rates until something happens: the common level of those
/// that grow. That of its parent runs at a constant pace beside it. What happens changes the rates of the nodes at which it
/// does and of those above them. What all others hold is brought up to date when their parent grows in another way; until
/// then it is as old as that growth.
struct Filling<'t> {
    tree: &'t Tree<'t>,
    /// What a task of each user is worth, and how much more all tasks may be worth; of no matter once that is reached.
    bounds: Vec<(Vector, Option<Rational>)>,
    tasks: Vector,
    /// `X_v` and `U_v`
    running: Vec<Vector>,
    used: Vec<Vector>,
    /// By node, where it is known.
    growth: Vec<Option<Growth>>,
    ways: Vec<Option<Vec<(usize, bool)>>>,
}

impl<'t> Filling<'t> {
    fn new(tree: &'t Tree<'t>, bounds: Bounds) -> Self {
        let users = tree.case.problem.users.len();
        let nothing = vec![vec![Rational::new(); tree.capacity.len()]; tree.nodes.len()];
        let able = |n: usize| (tree.case.is_active(n) && bounds.open[n]).then(Vec::new);
        let ways = (0..users).map(able).collect();
        let tasks = vec![Rational::new(); users];
        let bounds = bounds.list.into_iter().map(|(worth, most)| (worth, Some(most))).collect();
        let growth = tree.nodes.iter().map(|_| None).collect();
        Self { tree, bounds, tasks, running: nothing, used: tree.kept_below.clone(), growth, ways }
    }

    /// Charges operations on what a node holds and on how it grows.
    fn spend(&self, v: usize, growth: &[Rational], operations: usize) -> Checked<()> {
        let widest = |amounts: &[Rational]| amounts.iter().map(work::words).max().unwrap_or(0);
        let words = self.tree.words + widest(&self.running[v]).max(widest(&self.used[v])) + widest(growth);
        work::steps(work::cost(words).saturating_mul(operations as u64))
    }

    /// The tasks with which it ends.
    fn run(mut self) -> Checked<Vector> {
        let mut happens = vec![true; self.tree.nodes.len()];
        loop {
            // A mark that a node reaches is an event there. So of a node below one it is known on which side of its marks it
            // is, though what it holds may be older.
            for n in 0..self.ways.len() {
                let way = self.ways[n].as_deref().unwrap_or_default();
                work::steps(way.len() as u64 + 1)?;
                let is_new = happens[self.tree.leaf(n)] || way.iter().any(|(v, _)| happens[*v]);
                if is_new && self.ways[n].is_some() {
                    self.ways[n] = self.way(n)?;
                }
            }
            work::steps((self.bounds.len() + self.ways.len() + self.tree.nodes.len()) as u64)?;
            for (worth, left) in self.bounds.iter_mut().filter(|(_, left)| *left == Some(Rational::new())) {
                let stopped = worth.iter().enumerate().filter(|(_, worth)| **worth > 0);
                stopped.for_each(|(n, _)| self.ways[n] = None);
                *left = None;
            }
            let growing: Vec<usize> = (0..self.ways.len()).filter(|n| self.ways[*n].is_some()).collect();
            if growing.is_empty() {
                self.tree.upwards.iter().rev().try_for_each(|v| self.settle(*v).map(drop))?;
                return Ok(self.tasks);
            }
            self.direct(0, &growing)?;
            let step = self.step()?;
            self.advance(0, &step)?;
            happens.fill(false);
            self.happen(0, &mut happens)?;
        }
    }

    /// How long the root grows as it does: until something happens in the tree, or a bound is reached. So much is taken from
    /// what is left of the bounds.
    fn step(&mut self) -> Checked<Rational> {
        let Some(Growth { worth, clock, next, .. }) = &self.growth[0] else { return refuse("nothing grows") };
        let mut steps: Vec<Rational> = next.iter().map(|next| Rational::from(next - clock)).collect();
        let lefts = self.bounds.iter_mut().zip(worth).filter(|(_, pace)| **pace > 0);
        let mut lefts: Vec<_> = lefts.filter_map(|((_, left), pace)| Some((left.as_mut()?, pace))).collect();
        for (left, pace) in &lefts {
            steps.push(work::times(left, &Rational::from(pace.recip_ref()))?);
        }
        let Some(step) = steps.into_iter().min() else { return refuse("nothing ends the filling") };
        for (left, pace) in &mut lefts {
            **left = work::plus(left, &-work::times(pace, &step)?)?;
        }
        Ok(step)
    }

    /// Advances a node, of which it is known how it grows.
    fn advance(&mut self, v: usize, step: &Rational) -> Checked<()> {
        let Some(growth) = &mut self.growth[v] else { return Ok(()) };
        growth.clock = work::plus(&growth.clock, step)?;
        if let Some(n) = self.tree.nodes[v].user {
            self.tasks[n] = work::plus(&self.tasks[n], step)?;
        }
        add(&mut self.running[v], &growth.running, step)?;
        add(&mut self.used[v], &growth.used, step)
    }

    /// Brings the children of a node that grew with it up to date, and forgets how it grows.
    fn settle(&mut self, v: usize) -> Checked<Vec<usize>> {
        let Growth { clock, children, .. } = self.growth[v].take().unwrap_or_default();
        let advance = |(k, pace): (usize, Rational)| {
            let step = work::times(&clock, &pace.recip())?;
            self.advance(k, &step).map(|()| k)
        };
        children.into_iter().map(advance).collect()
    }

    /// Notes at which nodes, this one and those below it, something happens now, and settles them and those above them.
    fn happen(&mut self, v: usize, happens: &mut [bool]) -> Checked<()> {
        let is_now = |growth: &&Growth| growth.next.as_ref() == Some(&growth.clock);
        let Some(growth) = self.growth[v].as_ref().filter(is_now) else { return Ok(()) };
        happens[v] = growth.own == growth.next;
        self.settle(v)?.into_iter().try_for_each(|k| self.happen(k, happens))
    }

    /// What stands above user `n`; `None` where it has all its tasks, or a limit, the capacity or a weight of 0
    /// stops it.
    fn way(&self, n: usize) -> Checked<Option<Vec<(usize, bool)>>> {
        let tree = self.tree;
        if tree.case.problem.users[n].tasks.as_ref().is_some_and(|all| self.tasks[n] >= *all) {
            return Ok(None);
        }
        // By resource that it asks for: whether more of it is more use of the node that is looked at.
        let mut grows: Vec<(usize, bool)> = tree.asked(n).map(|(r, _)| (*r, true)).collect();
        let mut way = Vec::new();
        for v in tree.above(tree.leaf(n)) {
            let (node, used) = (&tree.nodes[v], &self.used[v]);
            let compared = grows.iter().map(|(r, _)| tree.words + work::words(&used[*r]));
            work::steps(compared.map(|words| 4 * work::cost(words)).sum())?;
            let is_full = |&(r, grows): &(usize, bool)| {
                grows && node.limit[r].as_ref().is_some_and(|most| used[r] >= *most)
            };
            let has_more = |(r, grows): &(usize, bool)| {
                let promised = tree.promised(v, *r)?;
                Some(used[*r] < *promised || (!grows && !promised.is_zero()))
            };
            let named: Vec<bool> = grows.iter().filter_map(has_more).collect();
            let is_below = named.contains(&true) && !named.contains(&false);
            let is_shut = tree.says("never") && node.weight.is_zero() && !is_below;
            if is_shut || grows.iter().any(is_full) {
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

    /// Finds how a node, which is up to date, grows when these users below it may, unless that is known. Its clock runs as
    /// the common level of its children rises, that of a user as its tasks do.
    fn direct(&mut self, v: usize, users: &[usize]) -> Checked<()> {
        if self.growth[v].as_ref().is_some_and(|growth| growth.users == users) {
            return Ok(());
        }
        self.settle(v)?;
        let zeros = |count: usize| vec![Rational::new(); count];
        let (m, mut gaps) = (self.tree.capacity.len(), Vec::new());
        let mut growth = Growth {
            users: users.to_vec(),
            running: zeros(m),
            used: zeros(m),
            worth: zeros(self.bounds.len()),
            ..Growth::default()
        };
        if let Some(n) = self.tree.nodes[v].user {
            self.tree.asked(n).for_each(|(r, d)| growth.running[*r].clone_from(d));
            growth.used.clone_from(&growth.running);
            growth.worth = self.bounds.iter().map(|(worth, _)| worth[n].clone()).collect();
            gaps.extend(self.tree.case.problem.users[n].tasks.iter().map(|all| all - self.tasks[n].clone()));
        } else {
            growth.children = self.paced(v, users, &mut gaps)?;
        }
        let mut dues = Vec::new();
        for (k, pace) in &growth.children {
            ensure(*pace > 0, "a level does not rise")?;
            let (rate, Some(of)) = (Rational::from(pace.recip_ref()), &self.growth[*k]) else { continue };
            add(&mut growth.running, &of.running, &rate)?;
            for r in (0..m).filter(|r| self.passes(*k, *r)) {
                add(&mut growth.used[r..=r], &of.used[r..=r], &rate)?;
            }
            add(&mut growth.worth, &of.worth, &rate)?;
            let due = |next: &Rational| work::times(&Rational::from(next - &of.clock), pace);
            dues.extend(of.next.as_ref().map(due).transpose()?);
        }
        self.events(v, &growth, &mut gaps)?;
        growth.own = gaps.into_iter().filter(|gap| *gap > 0).min();
        growth.next = dues.into_iter().chain(growth.own.clone()).min();
        self.growth[v] = Some(growth);
        Ok(())
    }

    /// The children that grow, each with how fast its level rises; and by how much the common level may rise before a
    /// sibling's is reached.
    fn paced(&mut self, v: usize, users: &[usize], gaps: &mut Vec<Rational>) -> Checked<Paced> {
        // Users by child: all, and those below its guarantee.
        let mut by_child = std::collections::BTreeMap::<usize, [Vec<usize>; 2]>::new();
        for &n in users {
            let way = self.ways[n].as_deref().unwrap_or_default();
            work::steps((16 + way.len() + self.tree.case.problem.users[n].demand.len()) as u64)?;
            let below = way.iter().position(|(above, _)| *above == v).and_then(|at| at.checked_sub(1));
            let (child, is_below) = below.map_or((self.tree.leaf(n), false), |at| way[at]);
            let [all, first] = by_child.entry(child).or_default();
            all.push(n);
            first.extend((is_below && !self.tree.says("compared")).then_some(n));
        }
        let m = self.tree.capacity.len();
        let candidate = |(k, [all, first]): (usize, [Vec<usize>; 2])| {
            self.spend(k, &[], m + 4)?;
            let is_above = first.is_empty();
            let terms = if is_above { self.share(k)? } else { self.guaranteed(k, &first) };
            let node = &self.tree.nodes[k];
            let weight = if is_above && node.weight > 0 { node.weight.clone() } else { Rational::from(1) };
            let level = terms.iter().map(|term| &term.value).max().cloned().unwrap_or_default() / &weight;
            let rank = if is_above { -node.priority.clone() } else { Rational::new() };
            let key: Key = (is_above, rank, is_above && node.weight.is_zero(), level);
            Ok((k, if is_above { all } else { first }, key, terms, weight))
        };
        let candidates = by_child.into_iter().map(candidate).collect::<Checked<Vec<_>>>()?;
        let least = candidates.iter().map(|(_, _, key, ..)| key).min().cloned().unwrap_or_default();
        let (mut grows, mut flat) = (Vec::new(), Vec::new());
        for (k, users, key, terms, weight) in candidates {
            if key == least {
                self.direct(k, &users)?;
                let Some(growth) = &self.growth[k] else { continue };
                let pace = rising(&terms, &growth.used)?.1 / &weight;
                if pace.is_zero() { flat.push((k, weight)) } else { grows.push((k, pace)) }
            } else if (key.0, &key.1, key.2) == (least.0, &least.1, least.2) {
                gaps.push(key.3 - &least.3);
            }
        }
        if flat.is_empty() {
            return Ok(grows);
        }
        // Levels that do not rise: of these children the one grows that holds least of what its users ask for.
        gaps.clear();
        let mut lines = Vec::new();
        for (k, weight) in flat {
            let Some(growth) = &self.growth[k] else { continue };
            self.spend(k, &growth.running, 3 * m)?;
            let whole = |r: usize| self.whole(k, least.0, r).filter(|_| growth.running[r] > 0);
            let (top, rate) = rising(&self.parts(&self.running[k], whole), &growth.running)?;
            lines.push((k, top / &weight, rate / weight));
        }
        let lowest = lines.iter().map(|(_, top, _)| top).min().cloned().unwrap_or_default();
        gaps.extend(lines.iter().map(|(_, top, _)| Rational::from(top - &lowest)));
        let lines = lines.into_iter().filter(|(_, top, _)| *top == lowest);
        Ok(lines.map(|(k, _, pace)| (k, pace)).collect())
    }

    /// The terms of the share of a node, before the weight.
    fn share(&self, v: usize) -> Checked<Vec<Term>> {
        let node = &self.tree.nodes[v];
        let families = self.tree.families.iter().zip(&node.divisor).filter(|(_, divisor)| **divisor > 0);
        let term = |(family, divisor): (&Vec<(usize, Rational)>, &Rational)| {
            let mut term = Term { value: Rational::new(), slope: Vec::new() };
            for (r, multiplier) in family {
                let promised = self.tree.promised(v, *r).filter(|_| self.tree.says("surplus"));
                let above = &self.used[v][*r] - promised.cloned().unwrap_or_default();
                if above >= 0 {
                    let each = Rational::from(multiplier / divisor);
                    term.value = work::plus(&term.value, &work::times(&above, &each)?)?;
                    term.slope.push((*r, each));
                }
            }
            Ok(term)
        };
        families.map(term).collect()
    }

    /// The terms of the level below a guarantee: what is used of what is promised of what these users ask for.
    fn guaranteed(&self, v: usize, users: &[usize]) -> Vec<Term> {
        let mut is_asked = vec![false; self.tree.capacity.len()];
        users.iter().flat_map(|n| self.tree.asked(*n)).for_each(|(r, _)| is_asked[*r] = true);
        self.parts(&self.used[v], |r| self.whole(v, false, r).filter(|_| is_asked[r]))
    }

    /// The capacity, or what a node is promised.
    fn whole(&self, v: usize, of_cluster: bool, r: usize) -> Option<&Rational> {
        if of_cluster { Some(&self.tree.capacity[r]) } else { self.tree.promised(v, r) }
    }

    /// Amounts as parts of wholes, where these are above 0.
    fn parts<'w>(&self, of: &[Rational], whole: impl Fn(usize) -> Option<&'w Rational>) -> Vec<Term> {
        let part = |r: usize| {
            let whole = whole(r).filter(|whole| **whole > 0)?;
            Some(Term { value: Rational::from(&of[r] / whole), slope: vec![(r, whole.clone().recip())] })
        };
        (0..of.len()).filter_map(part).collect()
    }

    /// When something happens at a node that grows so: a limit, a guarantee or what is kept back is
    /// reached, or another resource becomes the largest.
    fn events(&self, v: usize, growth: &Growth, gaps: &mut Vec<Rational>) -> Checked<()> {
        let Growth { running, used, .. } = growth;
        let (node, m) = (&self.tree.nodes[v], self.tree.capacity.len());
        self.spend(v, running, (m + 2).saturating_mul(m))?;
        for r in (0..m).filter(|r| used[*r] > 0) {
            let marks = node.limit[r].iter().chain(self.whole(v, false, r)).chain([&node.kept[r]]);
            gaps.extend(marks.map(|mark| Rational::from(mark - &self.used[v][r]) / &used[r]));
        }
        if v == 0 {
            return Ok(());
        }
        let whole = |of_cluster: bool| move |r: usize| self.whole(v, of_cluster, r);
        crossings(&self.share(v)?, used, gaps)?;
        crossings(&self.parts(&self.used[v], whole(false)), used, gaps)?;
        crossings(&self.parts(&self.running[v], whole(false)), running, gaps)?;
        crossings(&self.parts(&self.running[v], whole(true)), running, gaps)
    }
}

/// When a term becomes as large as another that is larger now.
fn crossings<'t>(terms: &'t [Term], growth: &[Rational], gaps: &mut Vec<Rational>) -> Checked<()> {
    let line = |term: &'t Term| Ok((&term.value, term.rate(growth)?));
    let lines = terms.iter().map(line).collect::<Checked<Vec<_>>>()?;
    for (low, fast) in &lines {
        let slower = lines.iter().filter(|(high, slow)| low < high && fast > slow);
        gaps.extend(slower.map(|(high, slow)| Rational::from(*high - *low) / Rational::from(fast - slow)));
    }
    Ok(())
}

//! Judges the axiom `tree` (docs/theory.md, section 9): every user has the tasks that hierarchical filling gives it.
//!
//! The evidence states a placement of the final allocation of the filling, and prices that bound the totals that can be
//! placed ([`Bounds`]). The usage of groups is counted by base demands, and the placement by the demands on the
//! classes. This module repeats the filling from the definitions, one segment after another. When a bound is reached,
//! the users whose tasks have a positive worth in the bound cannot have more tasks and are stopped. Users that are not
//! stopped grow. Their tasks can be placed, because usage only grows and the evidence states a placement of the final
//! allocation. The margin is minus the largest difference of tasks divided by `g_n`.

use rug::Rational;

use super::bounds::Bounds;
use super::holdings::{Holdings, named};
use super::stated::DEPTH;
use super::tree::{Tree, Vector};
use super::within::Within;
use crate::allocation::{entries, tasks};
use crate::axioms::feasible;
use crate::axioms::prices::Prices;
use crate::case::{Case, Claim, Shown, total_of};
use crate::json::{ABSENT, Json};
use crate::names::at;
use crate::work::{self, Checked, ensure, refuse, require};

/// The rank of a node among its siblings. The components are whether the node is above its guarantee, minus its
/// priority, and whether its weight is 0. Siblings are compared by rank, then by level.
type Rank = (bool, Rational, bool);
/// A current amount, and the rate at which the amount rises.
type Line = (Rational, Rational);

/// The numbers by which a child is compared with its siblings.
struct Standing {
    /// The rank of the child, and its level.
    key: (Rank, Rational),
    /// For a child below its guarantee: for each resource, whether some growing users of the child demand it. The list
    /// is empty for a child above its guarantee.
    asked: Vec<bool>,
    /// The nodes above the growing users of the child that use less than their guarantees.
    within: Vec<usize>,
}

/// Judges the axiom `tree`.
pub fn tree(case: &Case<'_>, claim: &Claim<'_>) -> Checked<Shown> {
    let [filling, rows, limits] = claim.required_evidence()?.fields("filling prices limit_prices?")?;
    let stated = tasks(filling, case.problem)?;
    let on = Within(Holdings::limits(case, &stated, false)?);
    let prices = rows.list()?.iter().map(|raw| Prices::read(case, raw, &ABSENT));
    let mut prices = prices.collect::<Checked<Vec<_>>>()?;
    let lists = limits.given().map(Json::list).transpose()?;
    if lists.is_some_and(|lists| lists.len() != prices.len()) {
        return limits.wrong("expected one list in `limit_prices` for each entry of `prices`");
    }
    let lists = lists.unwrap_or_default().iter().map(|raw| named(case, &on.0, raw));
    // All evidence is read before any of it is judged.
    for (prices, limits) in prices.iter_mut().zip(lists.collect::<Checked<Vec<_>>>()?) {
        prices.limits = on.known(limits).or_else(refuse)?;
    }
    let has_place = feasible::is_feasible(case, &stated, None)? && on.0.iter().all(|of| of.left >= 0);
    ensure(has_place, "the tasks at the end of the filling do not fit on the servers or exceed a limit")?;
    let ended = ended(case, prices, &on)?;
    entries(&stated).try_for_each(|(_, _, x)| work::steps(work::cost(work::words(x))))?;
    let is_stated = stated.iter().map(total_of).eq(ended.iter().cloned());
    ensure(is_stated, "the filling ends with other tasks than the evidence states")?;
    let differs = |n: usize| Rational::from(&case.total[n] - &ended[n]).abs() / &case.g[n];
    Ok((case.active().map(differs).max().map(|most| -most), None))
}

/// Returns the tasks of every user at the end of the filling.
pub fn ended(case: &Case<'_>, prices: Vec<Prices<'_>>, on: &Within<'_>) -> Checked<Vector> {
    Filling::new(&Tree::new(case)?, Bounds::new(case, prices, on)?)?.run()
}

/// Returns the largest amount of some lines, and the largest rate among the lines with this amount.
fn rising(lines: Vec<Line>) -> Line {
    let top = lines.iter().map(|line| &line.0).max().cloned().unwrap_or_default();
    let rate = lines.into_iter().filter(|line| line.0 == top).map(|line| line.1).max();
    (top, rate.unwrap_or_default())
}

/// Adds amounts to sums, each amount multiplied by `times`.
fn add(sums: &mut [Rational], amounts: &[Rational], times: &Rational) -> Checked<()> {
    work::steps(amounts.len() as u64)?;
    for (sum, amount) in sums.iter_mut().zip(amounts).filter(|(_, amount)| !amount.is_zero()) {
        *sum = work::plus(sum, &work::times(amount, times)?)?;
    }
    Ok(())
}

/// The state of a node during the filling. Its amounts consist of three parts: the running usage of its users, its own
/// usage including amounts kept back, and the worth of the tasks of its users in each bound.
#[derive(Default)]
struct Moving {
    /// The time on the clock of the node at which its amounts were last updated.
    clock: Rational,
    /// The amounts at the time `clock`.
    held: Vector,
    /// The growth of the amounts while the clock of the node advances by one.
    rates: Vector,
    /// The rates of the node as they count for its parent. Growth that fills capacity kept back for this node does not
    /// count.
    rates_above: Vector,
    /// The ratio of the speed of the parent's clock to the speed of the node's clock. `None` if the node does not grow.
    pace: Option<Rational>,
    /// The time on the parent's clock at which the node was last updated.
    since: Rational,
    /// The time of the next event at the node itself, on its own clock.
    own: Option<Rational>,
    /// The time of the next event at the node or below it, on its own clock.
    next: Option<Rational>,
    /// The time of the next event at the node or below it, on the clock of its parent. `None` if the node does not
    /// grow.
    due: Option<Rational>,
    /// Nodes with guarantees. A user below this node grows only if it is below the guarantees of all these nodes.
    within: Vec<usize>,
    /// The rank of the children that grow, and their level minus the clock. `None` if the levels of these children do
    /// not rise.
    common: Option<(Rank, Rational)>,
    /// The numbers with which the parent last compared the node. `None` if no user below the node may grow.
    standing: Option<Standing>,
    /// True if the growth of the node is known: no event happened at the node or below it since its growth was
    /// computed.
    is_known: bool,
    /// True if the parent has processed the node since the last event at the node or below it.
    is_seen: bool,
    /// Two caches. Each cache belongs to a list of nodes, and has for each resource the users below this node that
    /// demand the resource. If any such user is below the guarantees of all nodes of the list, then the last such user
    /// is. The nodes of the first cache include this node itself. The nodes of the second cache are only above this
    /// node.
    demanders: [(Vec<usize>, Vec<Vec<usize>>); 2],
}

/// The state of the filling: the amounts of all nodes, and the users that may still grow.
///
/// Every node has a clock. Between two events the children of the node grow at constant rates by this clock. The clock
/// shows the common level of the children that grow, or the tasks of a user. The clock of the parent runs at a constant
/// pace relative to this clock. An event changes the rates of the nodes where it happens and of the nodes above them.
/// All other nodes keep their rates, and are updated when they are next examined.
struct Filling<'t> {
    tree: &'t Tree<'t>,
    /// The number of resources.
    m: usize,
    /// The bounds. Each has the worth of a task of each user, and the largest total worth of all tasks.
    bounds: Vec<(Vector, Rational)>,
    nodes: Vec<Moving>,
    /// For each user that may grow: the nodes from its parent to the root, and for each of these nodes whether the user
    /// is below the guarantee of the node. `None` for users that are stopped.
    paths: Vec<Option<Vec<(usize, bool)>>>,
}

impl<'t> Filling<'t> {
    fn new(tree: &'t Tree<'t>, bounds: Bounds) -> Checked<Self> {
        let (m, users) = (tree.case.problem.resources.list.len(), tree.case.problem.users.len());
        let (n, zeros) = (bounds.list.len(), |count: usize| vec![Rational::new(); count]);
        let node = |v: usize| Moving {
            held: [zeros(m), (0..m).map(|r| tree.kept_below(v, r)).collect(), zeros(n)].concat(),
            rates: zeros(2 * m + n),
            ..Moving::default()
        };
        let nodes = (0..tree.children.len()).map(node).collect();
        let mut filling = Self { tree, m, bounds: bounds.list, nodes, paths: vec![None; users] };
        for n in (0..users).filter(|n| tree.case.is_active(*n) && bounds.open[*n]) {
            filling.paths[n] = filling.path(n)?;
        }
        Ok(filling)
    }

    /// Charges this number of operations on the amounts and rates of a node.
    fn spend(&self, v: usize, operations: usize) -> Checked<()> {
        let widest = |amounts: &[Rational]| amounts.iter().map(work::words).max().unwrap_or(0);
        let words = widest(&self.nodes[v].held) + widest(&self.nodes[v].rates);
        work::spend_stated(operations)?;
        work::steps(work::cost(words).saturating_mul(operations as u64))
    }

    /// Runs the filling. Returns the tasks of every user at its end.
    fn run(mut self) -> Checked<Vector> {
        let root = self.tree.root;
        loop {
            if !self.asked(root, &[], 0)?.contains(&true) {
                self.finish(root)?;
                return Ok(self.nodes.into_iter().skip(root + 1).map(|leaf| leaf.clock).collect());
            }
            self.update_growth(root, &[])?;
            let Moving { clock, next, .. } = &self.nodes[root];
            let step = work::plus(
                require(next.as_ref(), "the prices of the evidence do not bound the filling")?,
                &-clock.clone(),
            )?;
            self.advance(root, &step)?;
            let mut events = Vec::new();
            self.collect_events(root, false, &mut events)?;
            // A node that reaches a mark has an event. So the marks that a node below an event has reached are known,
            // although its amounts may not be updated.
            for n in events.into_iter().flat_map(|v| self.tree.users_below(v)) {
                work::steps(DEPTH as u64)?;
                if self.paths[n].is_some() {
                    let path = self.path(n)?;
                    self.set_path(n, path);
                }
            }
        }
    }

    /// Updates all nodes below a node.
    fn finish(&mut self, v: usize) -> Checked<()> {
        self.tree.children[v].iter().try_for_each(|k| self.update(v, *k).and_then(|()| self.finish(*k)))
    }

    /// Advances a node by a step on its own clock. The worth of tasks is updated only at the root, where it is needed.
    fn advance(&mut self, v: usize, step: &Rational) -> Checked<()> {
        let Moving { clock, held, rates, .. } = &mut self.nodes[v];
        *clock = work::plus(clock, step)?;
        let amounts = if v == self.tree.root { held.len() } else { 2 * self.m };
        add(&mut held[..amounts], rates, step)
    }

    /// Updates a child if it grows.
    fn update(&mut self, v: usize, k: usize) -> Checked<()> {
        let (now, child) = (self.nodes[v].clock.clone(), &mut self.nodes[k]);
        let Some(pace) = child.pace.as_ref().filter(|_| child.since != now) else { return Ok(()) };
        let passed = work::plus(&now, &-child.since.clone())?;
        let step = work::times(&passed, &Rational::from(pace.recip_ref()))?;
        child.since = now;
        self.advance(k, &step)
    }

    /// Adds to `events` the nodes, at this node or below it, at which an event happens now. No node that is below
    /// another such node is added. Updates the nodes with an event, and the nodes above them.
    fn collect_events(&mut self, v: usize, is_below: bool, events: &mut Vec<usize>) -> Checked<()> {
        let Moving { clock, own, next, is_known, is_seen, .. } = &mut self.nodes[v];
        if next.as_ref() != Some(clock) {
            return Ok(());
        }
        let happens = own == next;
        events.extend((happens && !is_below).then_some(v));
        (*is_known, *is_seen) = (false, false);
        let now = clock.clone();
        for &k in &self.tree.children[v] {
            if self.nodes[k].due.as_ref() == Some(&now) {
                self.update(v, k)?;
                self.collect_events(k, is_below || happens, events)?;
            }
        }
        Ok(())
    }

    /// Sets the path of user `n`: the nodes above the user while it grows. If the path changes, the known growth of the
    /// nodes above the user is discarded.
    fn set_path(&mut self, n: usize, path: Option<Vec<(usize, bool)>>) {
        if path != self.paths[n] {
            for v in self.tree.above(n).chain([self.tree.root + 1 + n]) {
                (self.nodes[v].is_known, self.nodes[v].is_seen) = (false, false);
            }
            self.paths[n] = path;
        }
    }

    /// Returns the nodes above user `n`, and for each node whether the user is below its guarantee. Returns `None` if
    /// the user is stopped. A user is stopped if it has all its tasks, or by a bound, a limit, the capacity or a weight
    /// of 0.
    fn path(&self, n: usize) -> Checked<Option<Vec<(usize, bool)>>> {
        let tree = self.tree;
        work::steps(self.bounds.len() as u64)?;
        let is_done = |all: &Rational| self.nodes[tree.root + 1 + n].clock >= *all;
        let mut bounds = self.bounds.iter().zip(&self.nodes[tree.root].held[2 * self.m..]);
        let is_bounded = bounds.any(|((worth, most), held)| worth[n] > 0 && held >= most);
        if is_bounded || tree.case.problem.users[n].tasks.as_ref().is_some_and(is_done) {
            return Ok(None);
        }
        // For each resource that a task demands: whether further usage of the resource raises the usage of the node
        // `v`.
        let mut grows: Vec<(usize, bool)> = tree.asked(n).map(|(r, _)| (*r, true)).collect();
        let mut path = Vec::new();
        for v in tree.above(n) {
            let used = &self.nodes[v].held[self.m..];
            work::spend_stated(4 * grows.len())?;
            work::steps(grows.iter().map(|(r, _)| 4 * work::cost(work::words(&used[*r]))).sum())?;
            let is_full = |&(r, grows): &(usize, bool)| {
                grows && tree.of.limit(v, r).is_some_and(|most| used[r] >= *most)
            };
            let has_more = |(r, grows): &(usize, bool)| {
                let promised = tree.of.promised(v, *r)?;
                Some(used[*r] < *promised || (!grows && !promised.is_zero()))
            };
            let named: Vec<bool> = grows.iter().filter_map(has_more).collect();
            let is_below = named.contains(&true) && !named.contains(&false);
            let is_shut = tree.says("never") && tree.weight(v).is_some_and(Rational::is_zero) && !is_below;
            if is_shut || grows.iter().any(is_full) {
                return Ok(None);
            }
            path.push((v, is_below));
            grows.iter_mut().for_each(|(r, grows)| *grows &= used[*r] >= *tree.kept(v, *r));
        }
        Ok(Some(path))
    }

    /// Computes the growth of a node if only users below the guarantees of `within` may grow. The amounts of the node
    /// have to be updated. Does nothing if this growth is known.
    fn update_growth(&mut self, v: usize, within: &[usize]) -> Checked<()> {
        if self.nodes[v].is_known && self.nodes[v].within == within {
            return Ok(());
        }
        let mut gaps = match self.tree.user(v) {
            Some(n) => {
                let (user, node) = (&self.tree.case.problem.users[n], &mut self.nodes[v]);
                for (r, d) in self.tree.asked(n) {
                    (node.rates[*r], node.rates[self.m + r]) = (d.clone(), d.clone());
                }
                let worths = node.rates[2 * self.m..].iter_mut().zip(&self.bounds);
                worths.for_each(|(rate, (worth, _))| rate.clone_from(&worth[n]));
                user.tasks.iter().map(|all| Rational::from(all - &node.clock)).collect()
            }
            None => self.choose(v, within)?,
        };
        self.events(v, &mut gaps)?;
        let due: Vec<_> = self.tree.children[v].iter().filter_map(|k| self.nodes[*k].due.as_ref()).collect();
        work::steps(due.iter().map(|due| work::cost(work::words(due))).sum())?;
        let due = due.into_iter().min().cloned();
        let node = &mut self.nodes[v];
        node.own = gaps.into_iter().filter(|gap| *gap > 0).min().map(|gap| gap + &node.clock);
        node.next = due.into_iter().chain(node.own.clone()).min();
        (node.is_known, node.within) = (true, within.to_vec());
        node.rates_above.clone_from(&node.rates);
        for r in (0..self.m).filter(|r| node.held[self.m + r] < *self.tree.kept(v, *r)) {
            node.rates_above[self.m + r] = Rational::new();
        }
        Ok(())
    }

    /// Returns, for each resource, whether a user below a node demands the resource. Only users that may grow and are
    /// below the guarantees of `within` count. Usage never falls, so no user falls below a guarantee again.
    fn asked(&mut self, k: usize, within: &[usize], which: usize) -> Checked<Vec<bool>> {
        let (before, demanders) = &mut self.nodes[k].demanders[which];
        if before != within || demanders.is_empty() {
            (*before, *demanders) = (within.to_vec(), vec![Vec::new(); self.m]);
            for n in self.tree.users_below(k) {
                for (r, _) in self.tree.asked(n) {
                    // This charge is high enough to keep all lists together below a gibibyte.
                    work::steps(200)?;
                    demanders[*r].push(n);
                }
            }
        }
        work::steps((demanders.len() * DEPTH) as u64)?;
        let is_below = |path: &Vec<(usize, bool)>| within.iter().all(|u| path.contains(&(*u, true)));
        let is_within = |n: &mut usize| self.paths[*n].as_ref().is_some_and(is_below);
        demanders.iter_mut().for_each(|users| while users.pop_if(|n| !is_within(n)).is_some() {});
        Ok(demanders.iter().map(|users| !users.is_empty()).collect())
    }

    /// Returns the numbers with which a child is compared if only users below the guarantees of `within` may grow.
    /// Returns `None` if no user below the child may grow.
    fn standing(&mut self, k: usize, within: &[usize]) -> Checked<Option<Standing>> {
        let mut within = [within, &[k]].concat();
        let mut asked = if self.tree.says("compared") { Vec::new() } else { self.asked(k, &within, 0)? };
        let is_above = !asked.contains(&true);
        if is_above {
            (_, asked) = (within.pop(), Vec::new());
            if !self.asked(k, &within, 1)?.contains(&true) {
                return Ok(None);
            }
        }
        let group = self.tree.case.problem.groups.list.get(k).filter(|_| is_above);
        let rank = group.map_or_else(Rational::new, |group| -group.priority.clone());
        let rank = (is_above, rank, is_above && self.tree.weight(k).is_some_and(Rational::is_zero));
        Ok(Some(Standing { key: (rank, self.level(k, &asked)?.0), asked, within }))
    }

    /// Returns the level of a node. Above its guarantee the level is its share. Below its guarantee the level is the
    /// largest used fraction of the promised resources in `asked`.
    fn level(&self, k: usize, asked: &[bool]) -> Checked<Line> {
        self.spend(k, self.m + 4)?;
        let lines =
            if asked.is_empty() { self.share(k)? } else { self.parts(k, self.m, false, |r| asked[r]) };
        Ok(self.per_weight(k, asked.is_empty(), rising(lines)))
    }

    /// Divides the level of a child by its weight if the child is above its guarantee.
    fn per_weight(&self, k: usize, is_above: bool, of: Line) -> Line {
        let weight = self.tree.weight(k).filter(|weight| is_above && !weight.is_zero());
        weight.map_or(of.clone(), |weight| (of.0 / weight, of.1 / weight))
    }

    /// Determines which children grow, and their paces. The clock of a child runs slower than the clock of this node by
    /// a factor: the rate at which the level of the child rises. Returns the times until the levels of other children
    /// are reached. Only children with an event, at the child or below it, are examined.
    fn choose(&mut self, v: usize, within: &[usize]) -> Checked<Vec<Rational>> {
        let (children, clock) = (&self.tree.children[v], self.nodes[v].clock.clone());
        let is_anew = self.nodes[v].within != within || self.nodes[v].common.is_none();
        work::steps(children.len() as u64)?;
        for &k in children {
            if is_anew || !self.nodes[k].is_seen {
                self.stop(v, k)?;
                (self.nodes[k].standing, self.nodes[k].is_seen) = (self.standing(k, within)?, true);
            }
        }
        let grows = |k: &usize| self.nodes[*k].pace.is_some();
        let waiting: Vec<usize> = children.iter().copied().filter(|k| !grows(k)).collect();
        let common = self.nodes[v].common.clone().filter(|_| waiting.len() < children.len());
        let common = common.map(|(rank, level)| (rank, level + &clock));
        let key = |k: &usize| self.nodes[*k].standing.as_ref().map(|of| &of.key);
        work::steps(waiting.iter().filter_map(key).map(|key| work::cost(work::words(&key.1))).sum())?;
        let least = waiting.iter().filter_map(key).chain(&common).min().cloned();
        let Some(least) = least else { return Ok(Vec::new()) };
        if common.is_some_and(|common| common != least) {
            self.nodes[v].common = None;
            return self.choose(v, within);
        }
        let (mut flat, mut gaps) = (Vec::new(), Vec::new());
        for k in waiting {
            let Some(of) = self.nodes[k].standing.as_ref().filter(|of| of.key.0 == least.0) else { continue };
            if of.key.1 > least.1 {
                gaps.push(Rational::from(&of.key.1 - &least.1));
                continue;
            }
            let (within, asked) = (of.within.clone(), of.asked.clone());
            self.update_growth(k, &within)?;
            let pace = self.level(k, &asked)?.1;
            if pace.is_zero() { flat.push(k) } else { self.start(v, k, pace)? }
        }
        self.nodes[v].common = Some((least.0.clone(), least.1 - clock)).filter(|_| flat.is_empty());
        if !flat.is_empty() {
            // The levels of these children do not rise. Among these children, only some grow: the children that use the
            // least of the resources that their growing users demand.
            children.iter().try_for_each(|k| self.stop(v, *k))?;
            let line = |k: usize| {
                self.spend(k, 3 * self.m)?;
                let held = self.parts(k, 0, least.0.0, |r| self.nodes[k].rates[r] > 0);
                Ok((k, self.per_weight(k, least.0.0, rising(held))))
            };
            let lines = flat.into_iter().map(line).collect::<Checked<Vec<_>>>()?;
            let lowest = lines.iter().map(|(_, line)| &line.0).min().cloned().unwrap_or_default();
            gaps = lines.iter().map(|(_, line)| Rational::from(&line.0 - &lowest)).collect();
            for (k, (_, pace)) in lines.into_iter().filter(|(_, line)| line.0 == lowest) {
                self.start(v, k, pace)?;
            }
        }
        Ok(gaps)
    }

    /// Lets a child grow together with its parent. The clock of the parent runs faster than the clock of the child by
    /// the factor `pace`.
    fn start(&mut self, v: usize, k: usize, pace: Rational) -> Checked<()> {
        ensure(pace > 0, "internal: the level of a group does not rise during the filling")?;
        self.add_growth(v, k, &Rational::from(pace.recip_ref()))?;
        let (now, child) = (self.nodes[v].clock.clone(), &mut self.nodes[k]);
        let left = child.next.as_ref().map(|next| work::plus(next, &-child.clock.clone())).transpose()?;
        child.due = left.map(|left| work::plus(&now, &work::times(&left, &pace)?)).transpose()?;
        (child.pace, child.since) = (Some(pace), now);
        Ok(())
    }

    /// Stops the growth of a child, if it grows.
    fn stop(&mut self, v: usize, k: usize) -> Checked<()> {
        self.update(v, k)?;
        let (pace, _) = (self.nodes[k].pace.take(), self.nodes[k].due.take());
        pace.map_or(Ok(()), |pace| self.add_growth(v, k, &-pace.recip()))
    }

    /// Adds the growth of a child, multiplied by `times`, to the growth of its parent.
    fn add_growth(&mut self, v: usize, k: usize, times: &Rational) -> Checked<()> {
        let rates_above = self.nodes[k].rates_above.clone();
        add(&mut self.nodes[v].rates, &rates_above, times)
    }

    /// Returns the lines whose maximum is the share of a node before the division by its weight.
    fn share(&self, v: usize) -> Checked<Vec<Line>> {
        let families = self.tree.families.iter().zip(&self.tree.divisors[v]).filter(|(_, by)| **by > 0);
        let line = |(family, divisor): (&Vec<(usize, Rational)>, &Rational)| {
            let mut line = Line::default();
            for (r, multiplier) in family {
                let promised = self.tree.of.promised(v, *r).filter(|_| self.tree.says("surplus"));
                let above = &self.nodes[v].held[self.m + r] - promised.cloned().unwrap_or_default();
                if above >= 0 {
                    let each = Rational::from(multiplier / divisor);
                    line.0 = work::plus(&line.0, &work::times(&above, &each)?)?;
                    line.1 = work::plus(&line.1, &work::times(&self.nodes[v].rates[self.m + r], &each)?)?;
                }
            }
            Ok(line)
        };
        families.map(line).collect()
    }

    /// Returns amounts of a node as fractions of the capacity or of the guarantee. The amounts are the running usage of
    /// its users (`from` = 0), or its usage including amounts kept back (`from` = `m`).
    fn parts(&self, v: usize, from: usize, of_cluster: bool, counts: impl Fn(usize) -> bool) -> Vec<Line> {
        let Moving { held, rates, .. } = &self.nodes[v];
        let part = |r: usize| {
            let whole = if of_cluster { at(&self.tree.of.capacity, r) } else { self.tree.of.promised(v, r) };
            let whole = whole.filter(|whole| counts(r) && **whole > 0)?;
            Some((Rational::from(&held[from + r] / whole), Rational::from(&rates[from + r] / whole)))
        };
        (0..self.m).filter_map(part).collect()
    }

    /// Adds the times of the next events at a node with the current rates. In an event, a bound, a limit, a guarantee
    /// or an amount kept back is reached, or another resource becomes the largest.
    fn events(&self, v: usize, gaps: &mut Vec<Rational>) -> Checked<()> {
        let (tree, m, Moving { held, rates, .. }) = (self.tree, self.m, &self.nodes[v]);
        self.spend(v, (m + 2).saturating_mul(m))?;
        let mut to = |at: usize, mark: &Rational| {
            gaps.extend((rates[at] > 0).then(|| Rational::from(mark - &held[at]) / &rates[at]));
        };
        for r in 0..m {
            let marks = tree.of.limit(v, r).into_iter().chain(tree.of.promised(v, r));
            marks.chain([tree.kept(v, r)]).for_each(|mark| to(m + r, mark));
        }
        // The amounts of a single user grow in proportion for all resources. So the largest resource of a user never
        // changes.
        if v >= tree.root {
            let bounds = (2 * m..).zip(&self.bounds).filter(|_| v == tree.root);
            bounds.for_each(|(at, (_, most))| to(at, most));
            return Ok(());
        }
        let parts = |from: usize, of_cluster: bool| self.parts(v, from, of_cluster, |_| true);
        for lines in [self.share(v)?, parts(m, false), parts(0, false), parts(0, true)] {
            // The time at which one line reaches another line that is larger now.
            for (low, fast) in &lines {
                let slower = lines.iter().filter(|(high, slow)| low < high && fast > slow);
                let at = slower.map(|(high, slow)| Rational::from(high - low) / Rational::from(fast - slow));
                gaps.extend(at);
            }
        }
        Ok(())
    }
}

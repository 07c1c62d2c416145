//! The axiom `tree` (docs/theory.md, section 9): every user has the tasks that hierarchical filling gives it.
//!
//! The evidence states a placement of the final allocation of the filling, and prices that bound the totals that can be
//! placed ([`Bounds`]). The usage of groups is counted by base demands, and placement by the demands on the classes.
//! Here the filling is repeated from the definitions, one segment after another. When a bound is reached, the users
//! whose tasks are worth something in it cannot have more tasks and are stopped. Users that are not stopped grow. Their
//! tasks can be placed, because usage only grows and the evidence states a placement of the final allocation. The
//! margin is minus the largest difference of tasks, over `g_n`.

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

/// Whether the node is above its guarantee, minus its priority, and whether it has weight 0. Siblings are compared by
/// rank, then by level.
type Rank = (bool, Rational, bool);
/// A current amount, and the rate at which it rises.
type Line = (Rational, Rational);

/// The numbers by which a child is compared with its siblings.
struct Standing {
    /// The rank and the level.
    key: (Rank, Rational),
    /// For a child below its guarantee: by resource, whether some of its growing users demand it. Empty for a child
    /// above its guarantee.
    asked: Vec<bool>,
    /// The nodes above its growing users that use less than their guarantees.
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
        return limits.wrong("expected prices of limits for every vector of prices");
    }
    let lists = lists.unwrap_or_default().iter().map(|raw| named(case, &on.0, raw));
    // All evidence is read before any of it is judged.
    for (prices, limits) in prices.iter_mut().zip(lists.collect::<Checked<Vec<_>>>()?) {
        prices.limits = on.known(limits).or_else(refuse)?;
    }
    let has_place = feasible::is_feasible(case, &stated, None)? && on.0.iter().all(|of| of.left >= 0);
    ensure(has_place, "what the filling ends with has no place")?;
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

/// Returns the largest value of some lines, and the largest rate among the lines that attain it.
fn rising(lines: Vec<Line>) -> Line {
    let top = lines.iter().map(|line| &line.0).max().cloned().unwrap_or_default();
    let rate = lines.into_iter().filter(|line| line.0 == top).map(|line| line.1).max();
    (top, rate.unwrap_or_default())
}

/// Adds `times` multiples of some amounts to sums.
fn add(sums: &mut [Rational], amounts: &[Rational], times: &Rational) -> Checked<()> {
    work::steps(amounts.len() as u64)?;
    for (sum, amount) in sums.iter_mut().zip(amounts).filter(|(_, amount)| !amount.is_zero()) {
        *sum = work::plus(sum, &work::times(amount, times)?)?;
    }
    Ok(())
}

/// The state of a node during the filling. Its amounts are in three parts: the running usage of its users, its own
/// usage with amounts kept back, and the worth of its users' tasks in each bound.
#[derive(Default)]
struct Moving {
    /// The time on the node's own clock at which its amounts were last brought up to date.
    clock: Rational,
    /// The amounts at that time.
    held: Vector,
    /// The growth of the amounts while the own clock advances by one.
    rates: Vector,
    /// The rates as the parent counts them: without growth that fills capacity kept back for this node.
    rates_above: Vector,
    /// If the node grows: how much faster the clock of its parent runs than its own.
    pace: Option<Rational>,
    /// The time on the parent's clock at which the node was last brought up to date.
    since: Rational,
    /// The time on its own clock of the next event at the node itself.
    own: Option<Rational>,
    /// The time of the next event at or below the node, on its own clock.
    next: Option<Rational>,
    /// The time of the next event at or below the node, on the clock of its parent, if the node grows.
    due: Option<Rational>,
    /// Nodes with guarantees. A user below this node grows only if it is below the guarantees of all these nodes.
    within: Vec<usize>,
    /// The rank of the children that grow, and their level minus the clock; absent if their levels do not rise.
    common: Option<(Rank, Rational)>,
    /// The numbers that the parent last compared; `None` if no user below the node may grow.
    standing: Option<Standing>,
    /// Whether the growth of the node is known, which means that no event happened at or below the node since its
    /// growth was computed.
    is_known: bool,
    /// Whether the parent has processed the node since the last event at or below it.
    is_seen: bool,
    /// Two caches. Each belongs to a list of nodes and has, by resource, the users below this node that demand the
    /// resource. If any such user is below the guarantees of all nodes of the list, the last one is. The nodes of the
    /// first cache include this node itself, those of the second are only above it.
    demanders: [(Vec<usize>, Vec<Vec<usize>>); 2],
}

/// The state of the filling: the amounts of all nodes, and the users that may still grow.
///
/// Every node has a clock. Between two events its children grow at constant rates by this clock, which shows the
/// common level of the children that grow, or the tasks of a user. The clock of the parent runs at a constant pace
/// relative to it. An event changes the rates of the nodes where it happens and of the nodes above them. All other
/// nodes keep their rates, and are brought up to date when they are next examined.
struct Filling<'t> {
    tree: &'t Tree<'t>,
    /// The number of resources.
    m: usize,
    /// For each bound: the worth of a task of each user, and the largest worth of all tasks.
    bounds: Vec<(Vector, Rational)>,
    nodes: Vec<Moving>,
    /// For each user that may grow: the nodes from its parent to the root, and whether the user is below the
    /// guarantee of each.
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

    /// Charges operations on the amounts and rates of a node.
    fn spend(&self, v: usize, operations: usize) -> Checked<()> {
        let widest = |amounts: &[Rational]| amounts.iter().map(work::words).max().unwrap_or(0);
        let words = widest(&self.nodes[v].held) + widest(&self.nodes[v].rates);
        work::spend_stated(operations)?;
        work::steps(work::cost(words).saturating_mul(operations as u64))
    }

    /// Runs the filling, and returns the tasks of every user at its end.
    fn run(mut self) -> Checked<Vector> {
        let root = self.tree.root;
        loop {
            if !self.asked(root, &[], 0)?.contains(&true) {
                self.finish(root)?;
                return Ok(self.nodes.into_iter().skip(root + 1).map(|leaf| leaf.clock).collect());
            }
            self.update_growth(root, &[])?;
            let Moving { clock, next, .. } = &self.nodes[root];
            let step = work::plus(require(next.as_ref(), "nothing ends the filling")?, &-clock.clone())?;
            self.advance(root, &step)?;
            let mut events = Vec::new();
            self.collect_events(root, false, &mut events)?;
            // When a node reaches a mark, this is an event at the node. So for a node below an event it is known which
            // marks it has reached, although its amounts may not be up to date.
            for n in events.into_iter().flat_map(|v| self.tree.users_below(v)) {
                work::steps(DEPTH as u64)?;
                if self.paths[n].is_some() {
                    let path = self.path(n)?;
                    self.set_path(n, path);
                }
            }
        }
    }

    /// Brings all nodes below a node up to date.
    fn finish(&mut self, v: usize) -> Checked<()> {
        self.tree.children[v].iter().try_for_each(|k| self.update(v, *k).and_then(|()| self.finish(*k)))
    }

    /// Advances a node by its own clock. The worth of tasks is needed only at the root.
    fn advance(&mut self, v: usize, step: &Rational) -> Checked<()> {
        let Moving { clock, held, rates, .. } = &mut self.nodes[v];
        *clock = work::plus(clock, step)?;
        let amounts = if v == self.tree.root { held.len() } else { 2 * self.m };
        add(&mut held[..amounts], rates, step)
    }

    /// Brings a child up to date, if it grows.
    fn update(&mut self, v: usize, k: usize) -> Checked<()> {
        let (now, child) = (self.nodes[v].clock.clone(), &mut self.nodes[k]);
        let Some(pace) = child.pace.as_ref().filter(|_| child.since != now) else { return Ok(()) };
        let passed = work::plus(&now, &-child.since.clone())?;
        let step = work::times(&passed, &Rational::from(pace.recip_ref()))?;
        child.since = now;
        self.advance(k, &step)
    }

    /// Adds to `events` the nodes at or below this one at which an event happens now, and no node below another.
    /// Brings the nodes with an event, and the nodes above them, up to date.
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

    /// Sets the path of user `n`, which are the nodes above it while it grows. If they change, the known growth of the
    /// nodes above the user is discarded.
    fn set_path(&mut self, n: usize, path: Option<Vec<(usize, bool)>>) {
        if path != self.paths[n] {
            for v in self.tree.above(n).chain([self.tree.root + 1 + n]) {
                (self.nodes[v].is_known, self.nodes[v].is_seen) = (false, false);
            }
            self.paths[n] = path;
        }
    }

    /// Returns the nodes above user `n`, each with whether the user is below its guarantee. Returns `None` if the
    /// user is stopped: it has all its tasks, or a bound, a limit, the capacity or a weight of 0 stops it.
    fn path(&self, n: usize) -> Checked<Option<Vec<(usize, bool)>>> {
        let tree = self.tree;
        work::steps(self.bounds.len() as u64)?;
        let is_done = |all: &Rational| self.nodes[tree.root + 1 + n].clock >= *all;
        let mut bounds = self.bounds.iter().zip(&self.nodes[tree.root].held[2 * self.m..]);
        let is_bounded = bounds.any(|((worth, most), held)| worth[n] > 0 && held >= most);
        if is_bounded || tree.case.problem.users[n].tasks.as_ref().is_some_and(is_done) {
            return Ok(None);
        }
        // For each resource that a task demands: whether more of it raises the usage of the node `v`.
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

    /// Computes how a node, which is up to date, grows if only users below the guarantees of `within` may grow. Does
    /// nothing if this is known.
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

    /// Returns for each resource whether some user below a node demands it, among the users that may grow and are below
    /// the guarantees of `within`. Usage only grows, so no user falls below a guarantee again.
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

    /// Returns the numbers by which a child is compared if only users below the guarantees of `within` may grow;
    /// `None` if no user below it may.
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

    /// Returns the level of a node: its share; or, below its guarantee, the largest used fraction of the promised
    /// resources in `asked`.
    fn level(&self, k: usize, asked: &[bool]) -> Checked<Line> {
        self.spend(k, self.m + 4)?;
        let lines =
            if asked.is_empty() { self.share(k)? } else { self.parts(k, self.m, false, |r| asked[r]) };
        Ok(self.per_weight(k, asked.is_empty(), rising(lines)))
    }

    /// Divides the level of a child above its guarantee by its weight.
    fn per_weight(&self, k: usize, is_above: bool, of: Line) -> Line {
        let weight = self.tree.weight(k).filter(|weight| is_above && !weight.is_zero());
        weight.map_or(of.clone(), |weight| (of.0 / weight, of.1 / weight))
    }

    /// Determines which children grow, and at which pace: a child's clock runs slower than the clock of this node by
    /// the rate at which the child's level rises. Returns the times until the levels of other children are reached.
    /// Examines only children with an event at or below them.
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
            // These levels do not rise. Among these children, the ones that use the least of the resources that their
            // growing users demand grow.
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

    /// Lets a child grow with its parent, whose clock runs faster by `pace`.
    fn start(&mut self, v: usize, k: usize, pace: Rational) -> Checked<()> {
        ensure(pace > 0, "a level does not rise")?;
        self.add_growth(v, k, &Rational::from(pace.recip_ref()))?;
        let (now, child) = (self.nodes[v].clock.clone(), &mut self.nodes[k]);
        let left = child.next.as_ref().map(|next| work::plus(next, &-child.clock.clone())).transpose()?;
        child.due = left.map(|left| work::plus(&now, &work::times(&left, &pace)?)).transpose()?;
        (child.pace, child.since) = (Some(pace), now);
        Ok(())
    }

    /// Stops a child, if it grows.
    fn stop(&mut self, v: usize, k: usize) -> Checked<()> {
        self.update(v, k)?;
        let (pace, _) = (self.nodes[k].pace.take(), self.nodes[k].due.take());
        pace.map_or(Ok(()), |pace| self.add_growth(v, k, &-pace.recip()))
    }

    /// Adds `times` multiples of the growth of a child to the growth of its parent.
    fn add_growth(&mut self, v: usize, k: usize, times: &Rational) -> Checked<()> {
        let rates_above = self.nodes[k].rates_above.clone();
        add(&mut self.nodes[v].rates, &rates_above, times)
    }

    /// Returns the lines whose maximum is the share of a node, before division by the weight.
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

    /// Returns the running usage of the node's users (`from` = 0) or the usage with amounts kept back (`from` = `m`),
    /// as fractions of the capacity or of the guarantee.
    fn parts(&self, v: usize, from: usize, of_cluster: bool, counts: impl Fn(usize) -> bool) -> Vec<Line> {
        let Moving { held, rates, .. } = &self.nodes[v];
        let part = |r: usize| {
            let whole = if of_cluster { at(&self.tree.of.capacity, r) } else { self.tree.of.promised(v, r) };
            let whole = whole.filter(|whole| counts(r) && **whole > 0)?;
            Some((Rational::from(&held[from + r] / whole), Rational::from(&rates[from + r] / whole)))
        };
        (0..self.m).filter_map(part).collect()
    }

    /// Adds the times of the next events at a node with the current rates. An event is that a bound, a limit, a
    /// guarantee or an amount kept back is reached, or that another resource becomes the largest.
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
        // For a single user, the amounts of all resources grow in proportion, so the largest one never changes.
        if v >= tree.root {
            let bounds = (2 * m..).zip(&self.bounds).filter(|_| v == tree.root);
            bounds.for_each(|(at, (_, most))| to(at, most));
            return Ok(());
        }
        let parts = |from: usize, of_cluster: bool| self.parts(v, from, of_cluster, |_| true);
        for lines in [self.share(v)?, parts(m, false), parts(0, false), parts(0, true)] {
            // The time at which one line becomes as large as another line that is larger now.
            for (low, fast) in &lines {
                let slower = lines.iter().filter(|(high, slow)| low < high && fast > slow);
                let at = slower.map(|(high, slow)| Rational::from(high - low) / Rational::from(fast - slow));
                gaps.extend(at);
            }
        }
        Ok(())
    }
}

//! The fair shares under a rule that divides each resource separately (docs/groups.md, "Each resource alone"). They are
//! computed from the definitions, one resource after another. The computation goes from the root down and raises the
//! lowest levels among siblings.
//!
//! A rule has a certificate only if its shares are possible. First, the sum of the shares of siblings may not exceed
//! the share of their parent. With KAI it exceeds this share if guarantees exceed the capacity. Second, a group with
//! subqueues may not have a larger share than its subqueues together. The share can be larger if some subqueues have
//! the weight 0.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use rug::Rational;

use super::stated::DEPTH;
use super::tree::Vector;
use crate::json::Json;
use crate::names::{Amounts, at};
use crate::problem::Problem;
use crate::work::{self, Checked, ensure};

/// The names of the rules.
pub const RULES: [&str; 3] = ["kai", "volcano", "volcano-capacity"];

/// A rule that divides each resource separately.
#[derive(Clone, Copy, PartialEq)]
enum Rule {
    /// KAI: guarantees are given in full. The remaining capacity is divided by priority, then by weight.
    Kai,
    /// Volcano's plugin `proportion`: guarantees come first, then weights.
    Volcano,
    /// Volcano's plugin `capacity`: guarantees that are not lent come first, then guarantees that are lent, in equal
    /// fractions.
    Capacity,
}

/// The request of a node (a group, the root or a user) for one resource.
#[derive(Clone, Default)]
struct Ask {
    /// The amount that is kept for the node even if the node does not use it. The amount is the guarantee minus `lend`
    /// if `lend` names the resource, and 0 otherwise.
    kept: Rational,
    /// The amount that the node gets before the remaining capacity is divided.
    first: Rational,
    /// The largest usage that is allowed. This is the limit. For Volcano it is also at most the capacity minus the
    /// amounts that are kept for the siblings of the node.
    most: Rational,
    /// The requested amount. With `capacity`, at most the amount that the node deserves.
    request: Rational,
    /// With `capacity`: the amount that the node deserves. Otherwise the field has no effect.
    deserved: Rational,
    /// With `capacity`: the amount requested by users in queues that deserve none of this resource. These queues
    /// deserve another resource that the tasks demand.
    beyond: Rational,
}

/// An amount to raise, the weight by which it is divided to get its level, and its upper bound.
struct Claim {
    amount: Rational,
    weight: Rational,
    most: Rational,
}

/// The nodes of a problem: its groups, then the root, then its users.
struct Nodes<'p> {
    problem: &'p Problem,
    rule: Rule,
    root: usize,
    /// The nodes among which each group, or the root, divides its share. Users of a group without subgroups share one
    /// queue, and do not count as nodes.
    children: Vec<Vec<usize>>,
    /// The root, then the groups. Each group comes before its subgroups.
    order: Vec<usize>,
}

/// Returns the share of every queue by resource. The groups come first, then the users that belong to no group.
pub fn shares(problem: &Problem, rule: &Json<'_>) -> Checked<Vec<Vector>> {
    let nodes = Nodes::new(problem, [Rule::Kai, Rule::Volcano, Rule::Capacity][rule.word(&RULES)?])?;
    let (root, m) = (nodes.root, problem.resources.list.len());
    let total = problem.total_capacity();
    let capacity: Vector = (0..m).map(|r| at(&total, r).cloned().unwrap_or_default()).collect();
    let mut shares = vec![vec![Rational::new(); m]; root + 1 + problem.users.len()];
    shares[root].clone_from(&capacity);
    for (r, capacity) in capacity.iter().enumerate() {
        let asks = nodes.asks(r, capacity)?;
        for v in &nodes.order {
            let parts = nodes.divide(*v, &shares[*v][r], &asks)?;
            let left = &shares[*v][r] - work::sum(parts.clone())?;
            ensure(
                left >= 0,
                "the guarantees exceed the capacity, and the rule gives every queue its whole guarantee",
            )?;
            let is_divided = *v == root || nodes.children[*v].is_empty() || left.is_zero();
            ensure(
                is_divided,
                "the fair share of a queue is larger than the sum of its subqueues, some of which have the weight 0",
            )?;
            for (k, part) in nodes.children[*v].iter().zip(parts) {
                shares[*k][r] = part;
            }
        }
    }
    let is_queue = |k: &usize| *k < root || (*k > root && nodes.parent(*k) == root);
    let queues = shares.into_iter().enumerate().filter(|(k, _)| is_queue(k));
    Ok(queues.map(|(_, share)| share).collect())
}

impl<'p> Nodes<'p> {
    fn new(problem: &'p Problem, rule: Rule) -> Checked<Self> {
        let groups = &problem.groups;
        let root = groups.list.len();
        work::spend((root + problem.users.len()).saturating_mul(DEPTH))?;
        let mut order: Vec<usize> = (0..root).collect();
        order.sort_by_cached_key(|v| groups.above(Some(*v)).count());
        order.insert(0, root);
        let mut nodes = Self { problem, rule, root, children: vec![Vec::new(); root + 1], order };
        for v in 0..root {
            let parent = nodes.parent(v);
            nodes.children[parent].push(v);
        }
        let has_subgroups: Vec<bool> = nodes.children.iter().map(|below| !below.is_empty()).collect();
        for k in root + 1..root + 1 + problem.users.len() {
            let parent = nodes.parent(k);
            if parent == root || has_subgroups[parent] {
                nodes.children[parent].push(k);
            }
        }
        Ok(nodes)
    }

    /// Returns the node directly above a group or a user.
    fn parent(&self, k: usize) -> usize {
        let groups = &self.problem.groups;
        let group = groups.list.get(k).map(|group| group.parent);
        group.unwrap_or_else(|| groups.members[k - self.root - 1].group).unwrap_or(self.root)
    }

    /// Returns the weight of a group or a user.
    fn weight(&self, k: usize) -> &Rational {
        let group = self.problem.groups.list.get(k).map(|group| &group.weight);
        group.unwrap_or_else(|| &self.problem.users[k - self.root - 1].weight)
    }

    /// Returns the request of every node for a resource with this capacity.
    fn asks(&self, r: usize, capacity: &Rational) -> Checked<Vec<Ask>> {
        let (groups, users) = (&self.problem.groups, &self.problem.users);
        work::spend(40 * (self.root + users.len()))?;
        let stated = |v: usize| at(groups.list[v].guarantee.as_deref().unwrap_or_default(), r);
        let promised: Rational = (0..self.root).filter_map(stated).sum();
        // No node gets more than this amount. So this amount represents an unlimited request.
        let all = promised + capacity;
        let mut asks = vec![Ask { most: all.clone(), ..Ask::default() }; self.root + 1 + users.len()];
        for (v, group) in groups.list.iter().enumerate() {
            let promised = stated(v).cloned().unwrap_or_default();
            let lent = at(&group.lend, r);
            let kept = lent.map(|lent| Rational::from(&promised - lent).max(Rational::new()));
            asks[v].kept = kept.clone().unwrap_or_default();
            asks[v].first = match self.rule {
                Rule::Kai => promised.clone(),
                // For Volcano, a lent amount is deserved but not guaranteed.
                Rule::Volcano => kept.unwrap_or_else(|| promised.clone()),
                Rule::Capacity => kept.unwrap_or_default(),
            };
            asks[v].deserved = promised;
            asks[v].most = at(&group.limit, r).cloned().unwrap_or_else(|| all.clone());
        }
        if self.rule != Rule::Kai {
            self.keep(capacity, &mut asks)?;
        }
        for (n, user) in users.iter().enumerate() {
            let (k, own) = (self.root + 1 + n, at(&user.demand, r));
            let tasks =
                |d: &Rational| user.tasks.as_ref().map_or(Ok(all.clone()), |tasks| work::times(tasks, d));
            asks[k].request = own.map_or(Ok(Rational::new()), tasks)?;
            if self.rule == Rule::Capacity && !self.is_deserving(self.parent(k), r, &user.demand) {
                asks[k].request = Rational::new();
            }
            let parent = self.parent(k);
            asks[parent].request = work::plus(&asks[parent].request, &asks[k].request)?;
        }
        for v in self.order[1..].iter().rev() {
            self.sum_up(*v, r, &mut asks)?;
        }
        Ok(asks)
    }

    /// Lowers the largest usage of each group by the amounts that are kept for its siblings.
    fn keep(&self, capacity: &Rational, asks: &mut [Ask]) -> Checked<()> {
        asks[self.root].most.clone_from(capacity);
        for v in &self.order {
            let groups = || self.children[*v].iter().filter(|k| **k < self.root);
            let kept = work::sum(groups().map(|k| asks[*k].kept.clone()).collect())?;
            let left = (&asks[*v].most - kept).max(Rational::new());
            for k in groups() {
                let most = work::plus(&left, &asks[*k].kept)?;
                asks[*k].most = most.min(asks[*k].most.clone());
            }
        }
        Ok(())
    }

    /// Returns true if a queue deserves this resource, or some resource that a task with this demand needs.
    fn is_deserving(&self, v: usize, r: usize, demand: &Amounts) -> bool {
        let is_deserved = |r: usize| self.deserves(v, r);
        is_deserved(r) || demand.iter().any(|(other, _)| is_deserved(*other))
    }

    /// Returns true if a group without subgroups deserves a resource: its guarantee names a positive amount of the
    /// resource. It does not matter whether the group lends this amount.
    fn deserves(&self, v: usize, r: usize) -> bool {
        let group = self.problem.groups.list.get(v);
        let stated = group.and_then(|group| at(group.guarantee.as_deref().unwrap_or_default(), r));
        stated.is_some_and(|stated| !stated.is_zero()) && self.children[v].is_empty()
    }

    /// Limits the request of a group to its largest usage, and adds the request to that of its parent.
    fn sum_up(&self, v: usize, r: usize, asks: &mut [Ask]) -> Checked<()> {
        let parent = self.parent(v);
        let ask = &mut asks[v];
        if self.rule == Rule::Capacity {
            if self.children[v].is_empty() {
                let request = std::mem::take(&mut ask.request).min(ask.most.clone());
                ask.deserved = std::mem::take(&mut ask.deserved).min(ask.most.clone());
                if self.deserves(v, r) {
                    ask.request = request.min(ask.deserved.clone());
                } else {
                    ask.beyond = request;
                }
            } else {
                let both = work::plus(&ask.request, &ask.beyond)?.min(ask.most.clone());
                ask.request = std::mem::take(&mut ask.request).min(ask.most.clone());
                ask.beyond = both - &ask.request;
            }
        } else {
            ask.request = std::mem::take(&mut ask.request).min(ask.most.clone());
        }
        let Ask { request, deserved, beyond, .. } = ask.clone();
        let above = &mut asks[parent];
        above.request = work::plus(&above.request, &request)?;
        above.beyond = work::plus(&above.beyond, &beyond)?;
        above.deserved = work::plus(&above.deserved, &deserved)?;
        Ok(())
    }

    /// Returns the share of each child of a node.
    fn divide(&self, v: usize, share: &Rational, asks: &[Ask]) -> Checked<Vec<Rational>> {
        let children = &self.children[v];
        work::spend(20 * children.len())?;
        let ask = |at: usize| &asks[children[at]];
        let promised = |at: usize| ask(at).first.clone().min(ask(at).request.clone());
        let mut parts: Vec<Rational> = (0..children.len()).map(promised).collect();
        let mut left = share - work::sum(parts.clone())?;
        let zero = Rational::new;
        if self.rule == Rule::Kai {
            let mut tiers = BTreeMap::<Reverse<Rational>, Vec<(usize, Claim)>>::new();
            for (at, k) in children.iter().enumerate().filter(|(_, k)| !self.weight(**k).is_zero()) {
                let priority = self.problem.groups.list.get(*k).map(|group| group.priority.clone());
                let most = Rational::from(&ask(at).request - &parts[at]);
                let claim = Claim { amount: zero(), weight: self.weight(*k).clone(), most };
                tiers.entry(Reverse(priority.unwrap_or_default())).or_default().push((at, claim));
            }
            for tier in tiers.into_values().take(if left > 0 { usize::MAX } else { 0 }) {
                raise(tier, &mut left, &mut parts)?;
            }
            return Ok(parts);
        }
        if left < 0 {
            // The guarantees exceed the share. So each child gets the same fraction of its guarantee, but at most its
            // request.
            let claim = |at: usize| {
                (at, Claim { amount: zero(), weight: ask(at).first.clone(), most: parts[at].clone() })
            };
            let claims = (0..children.len()).filter(|at| !parts[*at].is_zero()).map(claim).collect();
            let mut fractions = vec![zero(); children.len()];
            raise(claims, &mut share.clone(), &mut fractions)?;
            return Ok(fractions);
        }
        let weight = |weight: &Rational| if weight.is_zero() { Rational::from(1) } else { weight.clone() };
        if self.rule == Rule::Capacity {
            let claim = |at: usize| {
                let (weight, most) = (weight(&ask(at).deserved), ask(at).request.clone());
                (at, Claim { amount: parts[at].clone(), weight, most })
            };
            let claims = (0..children.len()).map(claim).collect();
            raise(claims, &mut left, &mut parts)?;
        }
        let claim = |at: usize| {
            let (amount, most) = match self.rule {
                Rule::Capacity => (zero(), ask(at).beyond.clone()),
                _ => (parts[at].clone(), ask(at).request.clone()),
            };
            (at, Claim { amount, weight: weight(self.weight(children[at])), most })
        };
        let claims = (0..children.len()).map(claim);
        let (last, first) = claims.partition(|(at, _)| self.weight(children[*at]).is_zero());
        raise(first, &mut left, &mut parts)?;
        raise(last, &mut left, &mut parts)?;
        Ok(parts)
    }
}

/// Raises the lowest levels (amounts over weights) together, until nothing is left or every amount is at its upper
/// bound. Adds the gain of each claim to its entry in `parts`.
fn raise(mut claims: Vec<(usize, Claim)>, left: &mut Rational, parts: &mut [Rational]) -> Checked<()> {
    claims.retain(|(_, claim)| claim.most > claim.amount);
    work::spend(100 * claims.len())?;
    // Between two successive levels of this list, the same claims gain.
    let ends = |(_, claim): &(usize, Claim)| {
        [&claim.amount, &claim.most].map(|amount| Rational::from(amount / &claim.weight))
    };
    let mut levels: Vec<Rational> = claims.iter().flat_map(ends).collect();
    levels.sort();
    let gain = |claim: &Claim, level: &Rational| -> Checked<Rational> {
        let amount = work::times(level, &claim.weight)?.max(claim.amount.clone());
        Ok(amount.min(claim.most.clone()) - &claim.amount)
    };
    let gains = |level: &Rational| {
        work::sum(claims.iter().map(|(_, claim)| gain(claim, level)).collect::<Checked<_>>()?)
    };
    // At the lowest level no claim has gained anything yet.
    let (mut low, mut high) = (0, levels.len());
    while high - low > 1 {
        let middle = low.midpoint(high);
        if gains(&levels[middle])? <= *left { low = middle } else { high = middle }
    }
    let Some(mut level) = levels.get(low).cloned() else { return Ok(()) };
    let grows = |claim: &(usize, Claim)| {
        let [from, to] = ends(claim);
        from <= level && level < to
    };
    let pace: Rational = claims.iter().filter(|claim| grows(claim)).map(|(_, claim)| &claim.weight).sum();
    if !pace.is_zero() {
        level += (&*left - gains(&level)?) / pace;
    }
    for (at, claim) in &claims {
        let gain = gain(claim, &level)?;
        *left -= &gain;
        parts[*at] += gain;
    }
    Ok(())
}

//! Where every node of the tree stands in a given allocation, which need not be feasible: its share, its level, and
//! whom the rule would serve next.

use std::collections::HashMap;

use evenhand_problem::{Allocation, Problem, Quantities, Rational};

use super::allocate::{self, Settings};
use super::entitlements::Entitlements;
use super::reported::{Reported, reported};
use super::why::left;
use crate::error::MechanismError;
use evenhand_exact::tree::{ClassLimit, Forest, Holdings, Key, key, rising, share, weight};

/// A node in the order in which the rule would serve.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standing {
    /// The group or the user; the root has no name.
    pub name: String,
    /// What it is.
    pub kind: NodeKind,
    /// Groups above it.
    pub depth: usize,
    /// Its share, before the weight is divided out.
    pub share: Rational,
    /// Its share over its weight; over 1 where the weight is 0.
    pub level: Rational,
    /// What the scheduler of the rule itself reports, where that is another number.
    pub reported: Option<Reported>,
    /// What it is compared with its siblings by; `None` where no user below it wants more.
    pub next: Option<Next>,
}

/// A kind of node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NodeKind {
    /// The root, which holds everything.
    Root,
    /// A group.
    Group,
    /// A user.
    User,
}

/// What siblings are compared by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Next {
    /// Whether somebody below it is below its guarantee, which comes first.
    pub is_below_guarantee: bool,
    /// The part of the guarantee that is used, or the level.
    pub level: Rational,
    /// Its place among its siblings, from 1; equal ones have the same.
    pub rank: usize,
    /// Whether a sibling has the same key: the rule leaves open which of them comes first.
    pub is_tied: bool,
    /// Whether no user below it may grow as things stand: all who want more are stopped by a limit, by a weight of 0, or
    /// by a resource that is used up.
    pub is_stopped: bool,
}

/// The root, then every group and user, depth first in the order of the keys.
///
/// # Errors
/// [`MechanismError`], as [`allocate`](super::allocate()) has them.
pub fn levels(
    problem: &Problem,
    allocation: &Allocation,
    settings: &Settings,
) -> Result<Vec<Standing>, MechanismError> {
    let forest = allocate::forest_of(problem, settings)?;
    let holdings = Holdings::new(&forest, allocation.totals());
    let mut wants = Vec::new();
    let mut below = vec![Vec::new(); forest.nodes.len()];
    let mut may_grow = vec![false; forest.nodes.len()];
    // Of limits on server classes those count that are reached on every class on which a user can run.
    let on = on(&forest, allocation);
    let limits = &forest.class_limits;
    let is_closed = |n: usize, i: usize| limits.counts(problem, n, i).any(|(at, _)| on[at].left <= 0);
    for n in 0..problem.n_users() {
        let leaf = forest.leaf(n);
        let Some(mut way) = forest.nodes[leaf].leaf.as_ref().and_then(|leaf| holdings.way(&forest, leaf))
        else {
            continue;
        };
        way.is_stopped |= problem.classes_of(n).all(|i| is_closed(n, i));
        wants.push(n);
        may_grow[leaf] |= !way.is_stopped;
        for (v, is_below) in way.nodes {
            may_grow[v] |= !way.is_stopped;
            if is_below && forest.guarantees_first {
                below[v].push(n);
            }
        }
    }
    let left = || left(problem, allocation);
    let reported = settings.rule.map_or_else(Vec::new, |rule| reported(&forest, &holdings, rule, left));
    let mut order =
        Order { forest: &forest, holdings: &holdings, below, may_grow, reported, standings: Vec::new() };
    order.root(!wants.is_empty());
    order.inside(0, 0, &wants, &wants);
    Ok(order.standings)
}

struct Order<'o> {
    forest: &'o Forest<'o>,
    holdings: &'o Holdings,
    /// By node: the users below it that want more and are below its guarantee, ascending.
    below: Vec<Vec<usize>>,
    /// By node.
    may_grow: Vec<bool>,
    /// By node, where the scheduler reports something else.
    reported: Vec<Option<Reported>>,
    standings: Vec<Standing>,
}

/// A child with what it is compared by.
struct Candidate {
    node: usize,
    /// Whether somebody below it may grow before others: what the nodes above it leave waiting comes later.
    waits: bool,
    key: Option<Key>,
    /// Users below it that want more.
    wants: Vec<usize>,
    /// Those of them that grow first.
    first: Vec<usize>,
}

impl Order<'_> {
    /// The root, which has no siblings.
    fn root(&mut self, wants_more: bool) {
        let mut root = self.standing(0, 0, None);
        root.next = wants_more.then(|| Next {
            is_below_guarantee: false,
            level: root.level.clone(),
            rank: 1,
            is_tied: false,
            is_stopped: !self.may_grow[0],
        });
        self.standings.push(root);
    }

    fn standing(&self, v: usize, depth: usize, next: Option<Next>) -> Standing {
        let used = &self.holdings.used[v];
        let share = rising(&share(self.forest, v, used), used).0;
        Standing {
            name: self.forest.name(v).to_owned(),
            kind: match (v, &self.forest.nodes[v].leaf) {
                (0, _) => NodeKind::Root,
                (_, None) => NodeKind::Group,
                (_, Some(_)) => NodeKind::User,
            },
            depth,
            level: &share / weight(self.forest, v, true),
            share,
            reported: self.reported.get(v).cloned().flatten(),
            next,
        }
    }

    /// The children of a node below which these want more, and these of them are let grow first by the nodes above.
    fn inside(&mut self, v: usize, depth: usize, wants: &[usize], first: &[usize]) {
        let mut children = self.candidates(v, wants, first);
        // Whoever wants nothing comes last; equal keys stay in the order of the file.
        children.sort_by(|a, b| (a.key.is_none(), a.waits, &a.key).cmp(&(b.key.is_none(), b.waits, &b.key)));
        let places: Vec<(bool, Option<Key>)> = children.iter().map(|of| (of.waits, of.key.clone())).collect();
        let mut rank = 1;
        for (at, Candidate { node: k, key, wants, first, .. }) in children.into_iter().enumerate() {
            let is_as = |other: usize| places.get(other).is_some_and(|other| *other == places[at]);
            let after_equal = at > 0 && is_as(at - 1);
            rank = if after_equal { rank } else { at + 1 };
            let tied = after_equal || is_as(at + 1);
            let next = key.map(|key| Next {
                is_below_guarantee: !key.is_above_guarantee,
                level: key.level,
                rank,
                is_tied: tied,
                is_stopped: !self.may_grow[k],
            });
            self.standings.push(self.standing(k, depth, next));
            self.inside(k, depth + 1, &wants, &first);
        }
    }

    fn candidates(&self, v: usize, wants: &[usize], first: &[usize]) -> Vec<Candidate> {
        let children = &self.forest.nodes[v].children;
        let place: HashMap<usize, usize> = children.iter().enumerate().map(|(at, k)| (*k, at)).collect();
        let of_child = |n: usize| {
            let leaf = self.forest.leaf(n);
            let mut way = std::iter::once(leaf).chain(self.forest.above(leaf));
            way.find_map(|node| place.get(&node).copied())
        };
        let mut by_child = vec![(Vec::new(), Vec::new()); children.len()];
        for n in wants {
            of_child(*n).into_iter().for_each(|at| by_child[at].0.push(*n));
        }
        for n in first {
            of_child(*n).into_iter().for_each(|at| by_child[at].1.push(*n));
        }
        let candidate = |(k, (wants, first)): (&usize, (Vec<usize>, Vec<usize>))| {
            let waits = first.is_empty();
            // As those see it who grow first, or else as those who wait.
            let counted = if waits { &wants } else { &first };
            let is_below = |n: &usize| self.below[*k].binary_search(n).is_ok();
            let below: Vec<usize> = counted.iter().copied().filter(is_below).collect();
            let key = (!wants.is_empty()).then(|| key(self.forest, self.holdings, *k, &below).0);
            let first = if below.is_empty() { counted.clone() } else { below };
            Candidate { node: *k, waits, key, wants, first }
        };
        children.iter().zip(by_child).map(candidate).collect()
    }
}

/// What everybody holds beside what it is entitled to resource by resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Held {
    /// By group and resource.
    pub groups: Vec<Vec<Rational>>,
    /// By user: whether one more task fits into what its groups are entitled to.
    pub may_start: Vec<bool>,
}

/// What groups are entitled to under a rule that divides every resource alone, and what they hold in an allocation;
/// `None` under another rule.
///
/// # Errors
/// [`MechanismError`], as [`allocate`](super::allocate()) has them.
pub fn held(
    problem: &Problem,
    allocation: &Allocation,
    settings: &Settings,
) -> Result<Option<(Entitlements, Held)>, MechanismError> {
    let Some(entitlements) = allocate::entitlements(problem, settings)? else { return Ok(None) };
    let totals = allocation.totals();
    let mut groups = vec![vec![Rational::new(); problem.n_resources()]; problem.groups().list().len()];
    let mut own = vec![vec![Rational::new(); problem.n_resources()]; problem.n_users()];
    for (n, user) in problem.users().iter().enumerate() {
        for (r, d) in user.base_demand().entries() {
            let amount = Rational::from(d * &totals[n]);
            let mut above = problem.groups().member(n).group;
            while let Some(v) = above {
                groups[v][*r] += &amount;
                above = problem.groups().list()[v].parent;
            }
            own[n][*r] = amount;
        }
    }
    let may_start = |n: usize| {
        let user = &problem.users()[n];
        let wants = user.tasks().is_none_or(|tasks| totals[n] < *tasks);
        wants && entitlements.has_room(problem, n, &groups, &own[n])
    };
    let may_start = (0..problem.n_users()).map(may_start).collect();
    Ok(Some((entitlements, Held { groups, may_start })))
}

/// A limit on server classes, and what is left of it.
pub(super) struct Kept {
    pub group: usize,
    pub servers: Vec<usize>,
    pub resource: usize,
    pub most: Rational,
    pub left: Rational,
}

/// What an allocation leaves of the limits of groups on server classes.
pub(super) fn on(forest: &Forest<'_>, allocation: &Allocation) -> Vec<Kept> {
    let groups = forest.problem.groups();
    let stated = groups.list().iter().enumerate().flat_map(|(group, of)| {
        let on = of.on.iter().flat_map(|on| on.limit.iter().map(move |limit| (&on.servers, limit)));
        on.map(move |(servers, (resource, most))| (group, servers.clone(), *resource, most.clone()))
    });
    let held = |((group, servers, resource, most), limit): (_, &ClassLimit)| {
        let left = limit.most.clone();
        Kept { group, servers, resource, most, left }
    };
    let mut all: Vec<Kept> = stated.zip(&forest.class_limits.list).map(held).collect();
    for (n, tasks) in allocation.tasks.iter().enumerate() {
        for (i, x) in tasks {
            for (at, d) in forest.class_limits.counts(forest.problem, n, *i) {
                all[at].left -= Rational::from(d * x);
            }
        }
    }
    all
}

impl Kept {
    /// Whether it is about a class.
    pub fn is_on(&self, i: usize) -> bool {
        self.servers.binary_search(&i).is_ok()
    }

    /// How many tasks of this demand on a class it leaves, or would leave with one more unit; `None` where it does not
    /// count them.
    pub fn room(&self, demand: &Quantities, i: usize, raised: bool) -> Option<Rational> {
        let demand = Some(&demand[self.resource]).filter(|demand| self.is_on(i) && !demand.is_zero())?;
        let left = Rational::from(&self.left + u32::from(raised));
        Some((left / demand).max(Rational::new()))
    }
}

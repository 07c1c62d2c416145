//! The position of every node of the tree in a given allocation, which need not be feasible: its share, its level,
//! and the order in which the rule would serve nodes next.

use std::collections::HashMap;

use evenhand_problem::{Allocation, Problem, Quantities, Rational};

use super::allocate::{self, Settings};
use super::entitlements::Entitlements;
use super::reported::{Reported, reported};
use super::why::free_amounts;
use crate::error::MechanismError;
use evenhand_exact::tree::{ClassLimit, Forest, Holdings, Key, key, rising, share, weight};

/// A node in the order in which the rule would serve nodes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standing {
    /// The name of the group or the user, empty for the root.
    pub name: String,
    /// The kind of node.
    pub kind: NodeKind,
    /// The number of groups above the node.
    pub depth: usize,
    /// The share of the node, before it is divided by the weight.
    pub share: Rational,
    /// The share of the node divided by its weight, or by 1 if the weight is 0.
    pub level: Rational,
    /// The number that the scheduler of the rule itself reports for the node, if it differs from the share.
    pub reported: Option<Reported>,
    /// The key by which the node is compared with its siblings, or `None` if no user below it wants more
    /// tasks.
    pub next: Option<Next>,
}

/// A kind of node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NodeKind {
    /// The root, which contains everything.
    Root,
    /// A group.
    Group,
    /// A user.
    User,
}

/// The key by which siblings are compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Next {
    /// `true` if a user below the node is below the node's guarantee. Such nodes come first.
    pub is_below_guarantee: bool,
    /// The used fraction of the guarantee if a user is below the guarantee, or else the level.
    pub level: Rational,
    /// The rank of the node among its siblings, from 1. Equal keys have equal ranks.
    pub rank: usize,
    /// `true` if a sibling has the same key. The rule does not define which of the two comes first.
    pub is_tied: bool,
    /// `true` if no user below the node may grow now. All users that want more tasks are then stopped by a
    /// limit, by a weight of 0, or by a resource that is used up.
    pub is_stopped: bool,
}

/// Returns the root and then every group and user, depth first in the order of the keys.
///
/// # Errors
/// Returns a [`MechanismError`] in the same cases as [`allocate`](super::allocate()).
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
    // Limits on server classes stop a user if they are reached on every class on which it can run.
    let on = limits_on_classes(&forest, allocation);
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
    let left = || free_amounts(problem, allocation);
    let reported = settings.rule.map_or_else(Vec::new, |rule| reported(&forest, &holdings, rule, left));
    let mut order =
        Order { forest: &forest, holdings: &holdings, below, may_grow, reported, standings: Vec::new() };
    order.root(!wants.is_empty());
    order.inside(0, 0, &wants, &wants);
    Ok(order.standings)
}

/// The traversal of the tree in the order of the keys.
struct Order<'o> {
    forest: &'o Forest<'o>,
    holdings: &'o Holdings,
    /// The users below each node that want more tasks and are below the node's guarantee, in ascending order.
    below: Vec<Vec<usize>>,
    /// One entry for each node: `true` if a user below the node may grow.
    may_grow: Vec<bool>,
    /// The number that the scheduler reports for each node, if it differs from the share.
    reported: Vec<Option<Reported>>,
    standings: Vec<Standing>,
}

/// A child with its key.
struct Candidate {
    node: usize,
    /// `true` if the node comes after its siblings because the nodes above serve users of other nodes first.
    waits: bool,
    key: Option<Key>,
    /// The users below the node that want more tasks.
    wants: Vec<usize>,
    /// The users of `wants` that the nodes above serve first.
    first: Vec<usize>,
}

impl Order<'_> {
    /// Adds the root, which has no siblings.
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

    /// Adds the children of a node and everything below them. `wants` are the users below the node that want
    /// more tasks. `first` are the users in `wants` that the nodes above serve first.
    fn inside(&mut self, v: usize, depth: usize, wants: &[usize], first: &[usize]) {
        let mut children = self.candidates(v, wants, first);
        // Children whose users want no more tasks come last. Equal keys stay in the order of the file.
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
            // The key counts only the users that are served first, or all users if there are no such users.
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

/// The usage of groups, for comparison with entitlements.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Held {
    /// The usage of each group, indexed by group and then by resource.
    pub groups: Vec<Vec<Rational>>,
    /// One entry for each user: `true` if one more task of the user fits into the entitlements of its groups.
    pub may_start: Vec<bool>,
}

/// Returns the entitlements of groups under a rule that divides every resource separately, and their usage in an
/// allocation. Returns `None` for all other rules.
///
/// # Errors
/// Returns a [`MechanismError`] in the same cases as [`allocate`](super::allocate()).
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

/// A limit of a group on server classes, and the unused amount of the limit.
pub(super) struct LimitOnClasses {
    pub group: usize,
    pub servers: Vec<usize>,
    pub resource: usize,
    pub most: Rational,
    pub left: Rational,
}

/// Returns the limits of groups on server classes, with the amounts that an allocation leaves.
pub(super) fn limits_on_classes(forest: &Forest<'_>, allocation: &Allocation) -> Vec<LimitOnClasses> {
    let groups = forest.problem.groups();
    let stated = groups.list().iter().enumerate().flat_map(|(group, of)| {
        let on = of.on.iter().flat_map(|on| on.limit.iter().map(move |limit| (&on.servers, limit)));
        on.map(move |(servers, (resource, most))| (group, servers.clone(), *resource, most.clone()))
    });
    let held = |((group, servers, resource, most), limit): (_, &ClassLimit)| {
        let left = limit.most.clone();
        LimitOnClasses { group, servers, resource, most, left }
    };
    let mut all: Vec<LimitOnClasses> = stated.zip(&forest.class_limits.list).map(held).collect();
    for (n, tasks) in allocation.tasks.iter().enumerate() {
        for (i, x) in tasks {
            for (at, d) in forest.class_limits.counts(forest.problem, n, *i) {
                all[at].left -= Rational::from(d * x);
            }
        }
    }
    all
}

impl LimitOnClasses {
    /// Returns whether the limit applies to a class.
    pub fn is_on(&self, i: usize) -> bool {
        self.servers.binary_search(&i).is_ok()
    }

    /// Returns how many tasks with this demand fit on a class into the unused amount of the limit. With `raised`, the
    /// limit is one unit higher. Returns `None` if the limit does not count these tasks.
    pub fn room(&self, demand: &Quantities, i: usize, raised: bool) -> Option<Rational> {
        let demand = Some(&demand[self.resource]).filter(|demand| self.is_on(i) && !demand.is_zero())?;
        let left = Rational::from(&self.left + u32::from(raised));
        Some((left / demand).max(Rational::new()))
    }
}

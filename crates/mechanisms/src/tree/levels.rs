//! Where every node of the tree stands in a given allocation, which need not be feasible: its share, its level, and
//! whom the rule would serve next.

use std::cmp::Ordering;

use evenhand_problem::{Allocation, Problem, Rational};

use super::Settings;
use super::forest::Forest;
use super::holdings::Holdings;
use super::key::{Key, key, rising, share, weight};
use crate::mechanism::MechanismError;

/// A node in the order in which the rule would serve.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standing {
    /// The group or the user.
    pub name: String,
    /// Whether it is a user.
    pub is_user: bool,
    /// Groups above it.
    pub depth: usize,
    /// Its share, before the weight is divided out.
    pub share: Rational,
    /// Its share over its weight; over 1 where the weight is 0.
    pub level: Rational,
    /// What it is compared with its siblings by; `None` where nobody below it wants more.
    pub next: Option<Next>,
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
}

/// Every group and user, depth first in the order of the keys.
///
/// # Errors
/// [`MechanismError`], as [`allocate`](super::allocate) has them.
pub fn levels(
    problem: &Problem,
    allocation: &Allocation,
    settings: &Settings,
) -> Result<Vec<Standing>, MechanismError> {
    let forest = super::forest_of(problem, settings)?;
    let holdings = Holdings::new(&forest, allocation.totals());
    let way = |n: usize| {
        let leaf = forest.nodes[forest.leaf(n)].leaf.as_ref();
        leaf.and_then(|leaf| holdings.way(&forest, leaf, false))
    };
    let ways: Vec<_> = (0..problem.n_users()).map(way).collect();
    let mut wanting = vec![(Vec::new(), Vec::new()); forest.nodes.len()];
    for (n, way) in ways.iter().enumerate() {
        let Some(way) = way else { continue };
        wanting[forest.leaf(n)].0.push(n);
        for (v, is_below) in way {
            wanting[*v].0.push(n);
            if *is_below && forest.guarantees_first {
                wanting[*v].1.push(n);
            }
        }
    }
    let mut order = Order { forest: &forest, holdings: &holdings, wanting, standings: Vec::new() };
    order.below(0, 0);
    Ok(order.standings)
}

struct Order<'o> {
    forest: &'o Forest<'o>,
    holdings: &'o Holdings,
    /// By node: the users below it that want more, and those of them that are below its guarantee.
    wanting: Vec<(Vec<usize>, Vec<usize>)>,
    standings: Vec<Standing>,
}

impl Order<'_> {
    fn below(&mut self, v: usize, depth: usize) {
        let mut children: Vec<(Option<Key>, usize)> =
            self.forest.nodes[v].children.iter().map(|k| (self.key(*k), *k)).collect();
        // Whoever wants nothing comes last; equal keys stay in the order of the file.
        children.sort_by(|(a, _), (b, _)| match (a, b) {
            (Some(a), Some(b)) => a.cmp(b),
            (a, b) => b.is_some().cmp(&a.is_some()).then(Ordering::Equal),
        });
        let mut rank = 1;
        for (at, (key, k)) in children.iter().enumerate() {
            let is_as = |other: usize| children.get(other).is_some_and(|(other, _)| other == key);
            let after_equal = at > 0 && is_as(at - 1);
            rank = if after_equal { rank } else { at + 1 };
            let tied = after_equal || is_as(at + 1);
            let next = key.as_ref().map(|key| Next {
                is_below_guarantee: !key.is_above_guarantee,
                level: key.level.clone(),
                rank,
                is_tied: tied,
            });
            let used = &self.holdings.used[*k];
            let share = rising(&share(self.forest, *k, used), used).0;
            self.standings.push(Standing {
                name: self.forest.name(*k).to_owned(),
                is_user: self.forest.nodes[*k].leaf.is_some(),
                depth,
                level: &share / weight(self.forest, *k, true),
                share,
                next,
            });
            self.below(*k, depth + 1);
        }
    }

    /// The key of a node for the users below it that want more.
    fn key(&self, v: usize) -> Option<Key> {
        let (users, below) = &self.wanting[v];
        (!users.is_empty()).then(|| key(self.forest, self.holdings, v, below).0)
    }
}

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
    let wanting = |n: usize| {
        let leaf = forest.nodes[forest.leaf(n)].leaf.as_ref();
        leaf.and_then(|leaf| holdings.way(&forest, leaf, false))
    };
    let ways: Vec<_> = (0..problem.n_users()).map(wanting).collect();
    let mut order = Order { forest: &forest, holdings: &holdings, ways: &ways, standings: Vec::new() };
    order.below(0, 0);
    Ok(order.standings)
}

struct Order<'o> {
    forest: &'o Forest<'o>,
    holdings: &'o Holdings,
    /// By user that wants more: the nodes above it, each with whether it is below its guarantee.
    ways: &'o [Option<Vec<(usize, bool)>>],
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
        for (key, k) in &children {
            let rank = 1 + children.iter().take_while(|(other, _)| other != key).count();
            let tied = children.iter().filter(|(other, _)| other == key).count() > 1;
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
        let wants = |n: &usize| {
            let way = self.ways[*n].as_ref();
            way.is_some_and(|way| self.forest.leaf(*n) == v || way.iter().any(|(above, _)| *above == v))
        };
        let users: Vec<usize> = (0..self.ways.len()).filter(wants).collect();
        let is_below = |n: &usize| {
            self.forest.guarantees_first
                && self.ways[*n].iter().flatten().any(|(above, is)| *above == v && *is)
        };
        let below: Vec<usize> = users.iter().copied().filter(is_below).collect();
        (!users.is_empty()).then(|| key(self.forest, self.holdings, v, &below).0)
    }
}

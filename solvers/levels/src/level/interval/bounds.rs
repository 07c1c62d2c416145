//! Proven bounds of all levels, from a feasible allocation and prices in doubles.
//!
//! Blocks are in order of their levels. `F` are the users whose level has a price in an earlier block, and `C` the
//! classes on which users of `F` may run.
//!
//! *From below.* Let `z` be the given allocation, but with no tasks on `C` of users outside `F`. Let `a` be the least
//! level in `z` of any user outside `F` that lacks tasks. In the lexicographic maximum, every user outside `F` has at
//! least the level `a`, or all its tasks. For a proof, assume that some users outside `F` have less, and take the one
//! with the lowest level. On the classes outside `C`, a small step from the maximum towards `z` raises this user,
//! lowers no user of its level or below, and does not touch `F`.
//!
//! *From above.* Let `p` be prices of the rows, and `l_n` the cost of one unit of level of `n` on its cheapest class.
//! Then `sum_n l_n level_n <= p c` in every allocation. If all other users are at their lower bounds `lo_m`, then
//! `level_n <= lo_n + (p c - sum_m l_m lo_m) / l_n`. The inequality remains true with any `l_m` below this cost. The
//! prices of a block say nothing about classes that its users left to earlier blocks, until large enough multiples of
//! the prices of these earlier blocks are added.

use std::collections::BTreeSet;

use evenhand_problem::Rational;

use super::{KnownLevels, entries, level, level_alone};
use crate::groups::Group;
use crate::level::data::LevelData;
use crate::level::duals::below;
use crate::level::float::BlockPrices;
use crate::settings::LEVELS;

/// The bounds, and the data for the passes over the blocks.
pub(super) struct Bounds<'d, 'a> {
    data: &'d LevelData<'a>,
    placed: &'d [Vec<(usize, Rational)>],
    /// The blocks, in the order in which they were solved.
    blocks: Vec<BlockPrices>,
    /// For each group, its level, if exact rounds have determined it.
    known: Vec<Option<Rational>>,
    /// For each group, the lower bound of its level so far.
    low: Vec<Rational>,
    /// For each group, true if it has exactly all its tasks.
    full: Vec<bool>,
}

impl<'d, 'a> Bounds<'d, 'a> {
    pub(super) fn new(
        data: &'d LevelData<'a>,
        placed: &'d [Vec<(usize, Rational)>],
        blocks: Vec<BlockPrices>,
        known: KnownLevels,
    ) -> Self {
        let has_all = |(group, list): (&Group, &Vec<(usize, Rational)>)| {
            group.tasks.as_ref().is_some_and(|limit| list.iter().map(|(_, x)| x).sum::<Rational>() == *limit)
        };
        let full = data.groups.iter().zip(placed).map(has_all).collect();
        Self { data, placed, blocks, known: known.levels, low: known.low, full }
    }

    /// Returns the lower and the upper bound of the level of each group.
    pub(super) fn all(mut self) -> Vec<(Rational, Rational)> {
        let is_open = self.known.iter().any(Option::is_none);
        if is_open {
            self.bound_below();
        }
        let most = |(g, known): (usize, &Option<Rational>)| {
            known.clone().unwrap_or_else(|| level_alone(self.data, g, 1))
        };
        let mut high: Vec<Rational> = self.known.iter().enumerate().map(most).collect();
        if is_open {
            self.bound_above(&mut high);
        }
        let rounded = |(low, high): (Rational, Rational)| (below(&low), -below(&-high));
        self.low.into_iter().zip(high).map(rounded).collect()
    }

    /// Raises the lower bounds, block by block.
    fn bound_below(&mut self) {
        let data = self.data;
        let mut order: Vec<usize> = (0..self.blocks.len()).collect();
        order.sort_by(|&a, &b| self.blocks[a].level.total_cmp(&self.blocks[b].level).then(a.cmp(&b)));
        let mut level: Vec<Rational> =
            (0..data.groups.len()).map(|g| level(data, g, &self.placed[g])).collect();
        let mut before = vec![false; data.groups.len()];
        let mut closed = vec![false; data.constraints.problem().n_servers()];
        let mut dropped = vec![false; data.groups.len()];
        // The lower bounds are raised before every block, and once more for the groups that are in no block.
        for k in 0..=order.len() {
            let lacks = |g: &usize| !before[*g] && (!self.full[*g] || dropped[*g]);
            let least = (0..data.groups.len()).filter(lacks).map(|g| &level[g]).min().cloned();
            for g in (0..data.groups.len()).filter(|g| !before[*g]) {
                let bound = least.as_ref().filter(|least| **least < level[g]).unwrap_or(&level[g]);
                // Bounds are short numbers, so that sums of them are short too.
                let bound = below(bound);
                if self.known[g].is_none() && bound > self.low[g] {
                    self.low[g] = bound;
                }
            }
            let Some(&block) = order.get(k) else { break };
            for &g in &self.blocks[block].priced {
                before[g] = true;
            }
            for &g in &self.blocks[block].priced {
                for &i in &data.groups[g].classes {
                    if std::mem::replace(&mut closed[i], true) {
                        continue;
                    }
                    for (m, list) in self.placed.iter().enumerate().filter(|(m, _)| !before[*m]) {
                        for (_, x) in list.iter().filter(|(on, x)| *on == i && !x.is_zero()) {
                            level[m] -= x / data.tasks_per_level_on(m, i);
                            dropped[m] = true;
                        }
                    }
                }
            }
        }
    }

    /// Lowers the upper bounds by the prices of every block, completed with those of earlier
    /// blocks.
    fn bound_above(&mut self, high: &mut [Rational]) {
        let data = self.data;
        let n_rows = data.constraints.rows().len();
        // For each group, `(class, block)` for each class that the group left, with the index of the block to which it
        // left the class.
        let mut left: Vec<Vec<(usize, usize)>> = vec![Vec::new(); data.groups.len()];
        let mut sums: Vec<Vec<(usize, Rational)>> = Vec::with_capacity(self.blocks.len());
        let mut counted: Vec<Vec<usize>> = Vec::with_capacity(self.blocks.len());
        for k in 0..self.blocks.len() {
            let mut prices = vec![Rational::new(); n_rows];
            for &(row, price) in &self.blocks[k].rows {
                prices[row] = Rational::from_f64(price).unwrap_or_default();
            }
            let mut groups: Vec<usize> = self.blocks[k].priced.clone();
            // The blocks to which these groups left classes, the latest first.
            let left_to = |g: &usize| left[*g].iter().map(|(_, block)| *block);
            let mut pending: BTreeSet<usize> = groups.iter().flat_map(left_to).collect();
            while let Some(earlier) = pending.pop_last() {
                let lacking = |g: usize| {
                    let worth = data.groups[g].classes.iter().filter(|&&i| !left[g].iter().any(|l| l.0 == i));
                    let worth = worth.map(|&i| price(data, g, i, &prices)).min().unwrap_or_default();
                    let classes = left[g].iter().filter(|(_, block)| *block == earlier);
                    classes
                        .map(|(i, _)| (worth.to_f64() - price(data, g, *i, &prices).to_f64(), *i))
                        .collect::<Vec<_>>()
                };
                let mut factor = 0.0_f64;
                let mut added: Vec<Rational> = Vec::new();
                for &g in &groups {
                    for (lacks, i) in lacking(g).into_iter().filter(|(lacks, _)| *lacks > 0.0) {
                        if added.is_empty() {
                            added = vec![Rational::new(); n_rows];
                            sums[earlier].iter().for_each(|(row, price)| added[*row].clone_from(price));
                        }
                        let offered = price(data, g, i, &added).to_f64();
                        if offered > 0.0 {
                            factor = factor.max(lacks / offered);
                        }
                    }
                }
                if let Some(factor) =
                    Rational::from_f64(factor * LEVELS.more_of_prices).filter(|factor| !factor.is_zero())
                {
                    for (row, price) in &sums[earlier] {
                        prices[*row] += Rational::from(&factor * price);
                    }
                    pending
                        .extend(counted[earlier].iter().flat_map(left_to).filter(|block| *block < earlier));
                    groups.extend(&counted[earlier]);
                    groups.sort_unstable();
                    groups.dedup();
                }
            }
            self.bound(&prices, &groups, high);
            for &(g, i) in &self.blocks[k].left {
                left[g].push((i, k));
            }
            sums.push(prices.into_iter().enumerate().filter(|(_, price)| !price.is_zero()).collect());
            counted.push(groups);
        }
    }

    /// Lowers the upper bounds `high` of these groups to the bounds that the prices prove.
    fn bound(&self, prices: &[Rational], groups: &[usize], high: &mut [Rational]) {
        let data = self.data;
        let rows = prices.iter().zip(data.constraints.rows()).filter(|(price, _)| !price.is_zero());
        let mut rest: Rational = rows.map(|(price, row)| Rational::from(price * &row.capacity)).sum();
        let cheapest = |&g: &usize| {
            let each = data.groups[g].classes.iter().map(|&i| price(data, g, i, prices));
            // Rounding down proves a weaker bound, but keeps the number short, and also the sum.
            (g, below(&each.min().unwrap_or_default()))
        };
        let worth: Vec<(usize, Rational)> =
            groups.iter().map(cheapest).filter(|(_, l)| !l.is_zero()).collect();
        for (g, l) in &worth {
            rest -= Rational::from(l * &self.low[*g]);
        }
        for (g, l) in worth {
            let bound: Rational = &rest / l + &self.low[g];
            if bound < high[g] {
                high[g] = bound;
            }
        }
    }
}

/// Returns the cost of one unit of level of group `g` on class `i`.
fn price(data: &LevelData<'_>, g: usize, i: usize, prices: &[Rational]) -> Rational {
    let mut task = Rational::new();
    for (row, usage) in entries(data, g, i) {
        if !prices[row].is_zero() {
            task += usage * &prices[row];
        }
    }
    if task.is_zero() { task } else { task * data.tasks_per_level_on(g, i) }
}

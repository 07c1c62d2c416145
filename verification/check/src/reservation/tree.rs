//! Verifies branch trees in a single pass.
//!
//! A node is a box `l_j <= k_j <= u_j` of configurations. At a leaf each `u_j` is lowered to the number of jobs that
//! fit together with the lower bounds. Let `m >= 0` be the multipliers of the leaf, and
//! `v_j = profit_j - sum_r m_r d_jr`. Then every configuration of the box is worth at most
//! `sum_j max(v_j l_j, v_j u_j) + sum_r m_r c_r`.

use rug::Rational;

use super::packing::{Packing, worth};
use super::problem::{Configuration, count};
use super::stated::Tree;
use crate::names::{Amounts, MOST, at};
use crate::number::floor;
use crate::work::{self, Checked, ensure, ensure_small, require};

/// A statement about all configurations of a pool: each configuration is worth less than the limit. The profits have to
/// be at least 0.
pub struct Bound<'a> {
    pub pool: usize,
    pub profits: &'a Amounts,
    pub limit: Rational,
    /// If present, configurations that are worth the limit or more are also allowed, unless they have more jobs than
    /// this configuration of the first type in which they differ. The second component lists the open types.
    pub order: Option<(&'a Configuration, &'a [usize])>,
}

/// The smallest and the largest number of jobs of a type.
type Range = (u64, u64);
/// The largest number of ranges in all boxes that are still to be verified.
const RANGES: usize = 10_000_000;

/// Checks that a tree proves a bound.
pub fn verify(packing: &Packing<'_>, bound: &Bound<'_>, (sets, nodes): &Tree) -> Checked<()> {
    let is_open = |j: &usize| bound.order.is_none_or(|(_, open)| open.binary_search(j).is_ok());
    let types = packing.problem.jobs.len();
    // The boxes that are still to be verified. The last box is verified next.
    let mut boxes: Vec<Vec<Range>> =
        vec![(0..types).map(|j| (0, if is_open(&j) { MOST } else { 0 })).collect()];
    for node in nodes {
        let mut ranges = require(boxes.pop(), "a tree has more nodes than branches")?;
        match *node {
            (None, which) => {
                let set = require(
                    sets.get(which as usize),
                    "a node of a tree names multipliers that do not exist",
                )?;
                ensure(set.iter().all(|(_, m)| *m >= 0), "a multiplier is negative")?;
                ensure(holds(packing, bound, &ranges, set)?, "the bound at a leaf of a tree is too weak")?;
            }
            (Some(job), at) => {
                work::steps(types as u64)?;
                ensure_small(
                    (boxes.len() + 2).saturating_mul(types) <= RANGES,
                    "a tree has too many open boxes",
                )?;
                let mut first = ranges.clone();
                first[job].0 = first[job].0.max(at);
                ranges[job].1 = ranges[job].1.min(at - 1);
                boxes.extend([ranges, first]);
            }
        }
    }
    ensure(boxes.is_empty(), "a tree ends while branches are open")
}

/// Returns true if the multipliers prove the bound for this box.
fn holds(packing: &Packing<'_>, bound: &Bound<'_>, ranges: &[Range], multipliers: &Amounts) -> Checked<bool> {
    work::spend(2 * (packing.problem.size() + packing.unit.len()))?;
    let jobs = &packing.problem.jobs;
    let lower = ranges.iter().map(|(lower, _)| *lower).enumerate().filter(|(_, lower)| *lower > 0);
    let left = packing.left(bound.pool, lower);
    if left.iter().any(|left| *left < 0) || ranges.iter().any(|(lower, upper)| upper < lower) {
        return Ok(true);
    }
    // Returns the largest number of jobs of a type in this box that fit together with the lower bounds of all types.
    let corner = |j: usize| {
        let more = jobs[j].demand.iter().map(|(r, d)| Rational::from(&left[*r] / d)).min();
        let more = floor(more.unwrap_or_default()).to_u64().unwrap_or(MOST);
        ranges[j].1.min(ranges[j].0.saturating_add(more))
    };
    let mut value = worth(multipliers, &packing.capacity[bound.pool]);
    for (j, job) in jobs.iter().enumerate() {
        let v = at(bound.profits, j).cloned().unwrap_or_default() - worth(multipliers, &job.demand);
        let k = if v <= 0 { ranges[j].0 } else { corner(j) };
        value += v * k;
    }
    let types = 0..jobs.len();
    let is_behind = |first| types.clone().map(corner).le(types.clone().map(|j| count(first, j)));
    Ok(value < bound.limit || bound.order.is_some_and(|(first, _)| is_behind(first)))
}

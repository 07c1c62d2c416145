//! Bases to start from: of an interior point, or of the round before.
//!
//! Where a block has left, what is left of its basis is a basis of the rest: the block's rows and columns
//! were a square part of it, with the level. At the level that the block has reached the rest is feasible
//! there, and the level has only to enter.

use super::master::{GroupOnClass, MasterBasis};
use super::part::Part;

/// A basis in which most groups run on one class alone.
pub struct FirstBasis {
    /// Whether the level is basic; else it starts at [`Part::floor`].
    pub level: bool,
    /// By group: the class on which it runs for the most part, basic.
    pub favourite: Vec<usize>,
    /// Other placements, and whether they are basic.
    pub others: Vec<(GroupOnClass, bool)>,
    /// Groups that may have more than they need: their slack is basic.
    pub slacks: Vec<usize>,
    /// By row: whether it is full.
    pub tight: Vec<bool>,
}

impl FirstBasis {
    /// What a basis of `part` is in another part that is left of it, whose groups are these, in order;
    /// `None` where it is no basis there.
    pub fn carried(part: &Part<'_>, basis: &MasterBasis, groups: &[usize], rest: &Part<'_>) -> Option<Self> {
        let mut place = vec![None; part.groups.len()];
        for (k, &g) in groups.iter().enumerate() {
            place[g] = Some(k);
        }
        let mut favourite = vec![None; groups.len()];
        let mut others = Vec::new();
        for (placement, _) in basis.placements.iter().filter(|(_, basic)| *basic) {
            let Some(g) = place[placement.g] else { continue };
            let c = rest.class_here(part.class_id(placement.c))?;
            rest.classes[g].binary_search(&c).ok()?;
            match favourite[g] {
                None => favourite[g] = Some(c),
                Some(_) => others.push((GroupOnClass { g, c }, true)),
            }
        }
        let favourite: Vec<usize> = favourite.into_iter().collect::<Option<_>>()?;
        let slacks: Vec<usize> = (0..groups.len()).filter(|&k| basis.group_slacks[groups[k]]).collect();
        let is_tight = |row: &usize| Some(!basis.capacity_slacks[part.rows.binary_search(row).ok()?]);
        let tight: Vec<bool> = rest.rows.iter().map(is_tight).collect::<Option<_>>()?;
        let n_tight = tight.iter().filter(|tight| **tight).count();
        let level = others.len() + slacks.len() + 1 == n_tight;
        let is_square = level || others.len() + slacks.len() == n_tight;
        is_square.then_some(Self { level, favourite, others, slacks, tight })
    }
}

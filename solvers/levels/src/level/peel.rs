//! Groups that no other group blocks, solved before the programme of all users.
//!
//! No common level exceeds the level that some groups reach if they have all of their classes to themselves. If groups
//! can use few classes, the first blocking level is often the level of one, two or three groups. These groups then fill
//! rows of each of their classes, and the other users of those rows run elsewhere. The next round shows whether the
//! other groups reach that level on other classes. If they do, the maximum consists of the maximum of these few groups
//! (a *block*) and the maximum of the rest. The prices that prove the level of the block alone then also prove it in
//! the whole problem. A programme of all users would compute this slowly, since nearly all of its rows have a price of
//! 0 at the optimum.

use std::collections::BTreeSet;

use super::part::{Part, Target};
use super::start::{guess, rough_level};
use crate::settings::LEVELS;

/// A level that all users are likely to reach, unless a few users block each other. It is computed
/// on first use.
#[derive(Default)]
pub struct LikelyLevel(Option<f64>);

impl LikelyLevel {
    /// Returns the part of the groups that would have little more than the likely level if each were alone, and the
    /// likely level.
    ///
    /// Returns `None` if there are no such groups, or too many.
    pub fn few<'a>(&mut self, part: &Part<'a>) -> Option<(Part<'a>, f64)> {
        if part.targets.iter().any(|target| *target != Target::Active) {
            return None;
        }
        let alone: Vec<f64> = (0..part.groups.len()).map(|g| alone(part, g)).collect();
        let least = alone.iter().copied().fold(f64::INFINITY, f64::min);
        if self.0.is_none() && least > LEVELS.little_alone * rough_level(part) {
            return None;
        }
        let level = *self.0.get_or_insert_with(|| guess(part).level * LEVELS.likely);
        let few: Vec<usize> = (0..alone.len()).filter(|&g| alone[g] <= LEVELS.little_alone * level).collect();
        let is_few = !few.is_empty() && few.len() * LEVELS.all_to_few <= alone.len();
        is_few.then(|| (part.of(&few), level))
    }
}

/// Solves blocks one after the other, with ascending levels. Returns the round of each block, and the part that remains
/// after each block.
///
/// `peel` computes the next block of a part, and the part without this block.
pub fn blocks<'a, S, L: PartialOrd>(
    part: &Part<'a>,
    peel: impl Fn(&Part<'a>, &mut LikelyLevel) -> Option<(S, Part<'a>)>,
    level: impl Fn(&S) -> L,
) -> (Vec<S>, Vec<Part<'a>>) {
    let (mut blocks, mut rests): (Vec<S>, Vec<Part<'a>>) = (Vec::new(), Vec::new());
    let mut likely = LikelyLevel::default();
    while let Some((next, rest)) = peel(rests.last().unwrap_or(part), &mut likely) {
        // A block is valid only if the groups after it reach at least the level of the block.
        let n_valid = blocks.partition_point(|before| level(before) <= level(&next));
        if n_valid < blocks.len() {
            blocks.truncate(n_valid);
            rests.truncate(n_valid);
            break;
        }
        rest.charge_round();
        blocks.push(next);
        rests.push(rest);
    }
    (blocks, rests)
}

/// Returns the part without a block. A block consists of some groups of the problem and of the rows that have a price.
///
/// The second value is the list of placements `(group, class of the problem)` that the other groups lose. Returns
/// `None` if one of the other groups has no class left, or would run on a class of the block without using a priced
/// row.
pub fn without<'a>(
    part: &Part<'a>,
    block: &[usize],
    is_priced: impl Fn(usize) -> bool,
) -> Option<(Part<'a>, Vec<(usize, usize)>)> {
    let block: BTreeSet<usize> = block.iter().filter_map(|g| part.groups.binary_search(g).ok()).collect();
    let taken: BTreeSet<usize> = block.iter().flat_map(|&g| part.classes[g].iter().copied()).collect();
    let (mut seats, mut left) = (Vec::with_capacity(part.groups.len()), Vec::new());
    for g in (0..part.groups.len()).filter(|g| !block.contains(g)) {
        let mut seat = part.seat(g);
        seat.classes.clear();
        for &c in &part.classes[g] {
            let is_priced = |(row, usage): (usize, f64)| usage > 0.0 && is_priced(part.rows[row]);
            if !taken.contains(&c) {
                seat.classes.push(part.class_id(c));
            } else if part.usage(g, c).any(is_priced) {
                left.push((part.groups[g], part.class_id(c)));
            } else {
                return None;
            }
        }
        if seat.classes.is_empty() {
            return None;
        }
        seats.push(seat);
    }
    Some((Part::new(part.data, seats, None, Vec::new()), left))
}

/// Returns the level of a group that is alone in the part, in doubles.
///
/// The level is infinite if the group has all its tasks below it, or if the worth of a task depends
/// on the class.
fn alone(part: &Part<'_>, g: usize) -> f64 {
    if part.tasks_per_level(g).is_none() {
        return f64::INFINITY;
    }
    let most = |&c: &usize| {
        let rooms = part.usage(g, c).filter(|(_, usage)| *usage > 0.0);
        let most = rooms.map(|(row, usage)| part.capacity[row] / usage).fold(f64::INFINITY, f64::min);
        most / part.tasks_per_level_f64(g, c)
    };
    let level = part.classes[g].iter().map(most).sum();
    if level < part.satisfied_at[g] { level } else { f64::INFINITY }
}

//! The rounds of lexicographic max-min. A round computes the next blocking level of every part, settles the users that
//! it blocks, and splits the remaining users into parts.

use std::time::{Duration, Instant};

use evenhand_budget::{for_a_thread, handle};
use evenhand_exact::PriceVector;
use evenhand_problem::Rational;
use rayon::prelude::*;

use super::data::LevelData;
use super::part::{Part, Seat};
use super::split::components;
use crate::error::LevelsError;

/// The limits of the rounds.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    /// The largest number of exact pivots that one round may use to repair a basis.
    pub max_pivots: usize,
    /// The largest number of steps of Newton's method on the satisfied users in one round.
    pub max_steps: usize,
    /// The deadline after which exact rounds end with [`LevelsError::OutOfTime`]. A running round
    /// checks it from time to time. Rounds in doubles ignore it.
    pub until: Option<Instant>,
    /// The number of placements of a part up to which
    /// [`lexicographic_within`](super::lexicographic_within) continues with exact rounds after the
    /// deadline.
    pub small: usize,
}

/// The default of [`Settings::small`]. Up to this many placements, exact rounds take no longer than
/// rounds in doubles, unless the numbers are long.
const SMALL: usize = 200_000;

impl Settings {
    /// Returns an error if the deadline has passed.
    pub(super) fn time(&self) -> Result<(), LevelsError> {
        match self.until {
            Some(until) if Instant::now() >= until => Err(LevelsError::OutOfTime),
            _ => Ok(()),
        }
    }

    /// Returns an error if the time or memory does not suffice to compute and write `count` numbers of `words` words of
    /// 64 bits.
    ///
    /// Each word costs some nanoseconds, and more in long numbers. It also takes eight bytes in each of several copies.
    /// Without a deadline there is no check.
    pub(super) fn room_for(&self, count: u64, words: u64) -> Result<(), LevelsError> {
        const COPIES: u64 = 8;
        let Some(until) = self.until else { return Ok(()) };
        let (all, depth) = (count.saturating_mul(words), u64::from(words.max(1).ilog2()));
        let time = Duration::from_nanos(all.saturating_mul(8 + 2 * depth * depth));
        let (_, memory) = handle().limits();
        let is_room = memory.is_none_or(|most| all.saturating_mul(8 * COPIES) <= most);
        if is_room && Instant::now() + time < until { Ok(()) } else { Err(LevelsError::OutOfTime) }
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self { max_pivots: 10_000, max_steps: 10_000, until: None, small: SMALL }
    }
}

/// The proof that the users of one level cannot rise: a dual of the programme of the round that computed the level.
#[derive(Debug, Clone, PartialEq)]
pub struct LevelDual {
    /// The level `t`, in units of `u_n x_n / w_n`.
    pub level: Rational,
    /// The weights `l_n`, and the prices of capacity rows and of task limits, without zeros.
    ///
    /// `l_n` is positive for users blocked at this level, and absent for users above it. Zeros are
    /// left out because there may be as many levels as users, so full vectors would take quadratic
    /// memory.
    pub prices: PriceVector,
}

/// A lexicographic maximum.
#[derive(Debug, Clone)]
pub struct LexicographicOptimum<T> {
    /// Tasks of each user, indexed by user: `(class, tasks)`, ascending by class.
    pub tasks: Vec<Vec<(usize, T)>>,
    /// The blocking levels with their proofs, ascending, one for each set of users that are blocked together. Empty in
    /// floating point.
    pub duals: Vec<LevelDual>,
    /// The number of rounds. Each round raises the level of competing users until some user is
    /// blocked or all users have all their tasks.
    pub rounds: usize,
    /// The number of linear programmes solved. Solving again after columns were added does not count.
    pub solves: usize,
    /// The number of exact pivots that were needed to repair bases from floating point.
    pub pivots: usize,
}

/// Solves parts in parallel. Returns the answers in the order of the parts.
pub fn in_parallel<'a, S: Send>(
    parts: Vec<Part<'a>>,
    solve: impl Fn(&Part<'a>) -> Result<S, LevelsError> + Sync,
) -> Vec<(Part<'a>, Result<S, LevelsError>)> {
    let limits = handle();
    let solved = |part: Part<'a>| {
        let solved = limits.enter(|| solve(&part));
        (part, solved)
    };
    // A single small part is solved on this thread. A single large part uses parallelism within
    // itself.
    if matches!(&parts[..], [part] if part.groups.len() < for_a_thread(part.classes.len())) {
        return parts.into_iter().map(solved).collect();
    }
    parts.into_par_iter().map(solved).collect()
}

/// Splits the problem into parts that share no row.
pub fn first_parts<'a>(data: &'a LevelData<'a>) -> Vec<Part<'a>> {
    let whole = Part::whole(data);
    let parts = components(&whole, &whole.classes);
    if parts.len() == 1 {
        return vec![whole];
    }
    let seats = |groups: Vec<usize>| groups.into_iter().map(|group| Seat::first(data, group)).collect();
    parts.into_iter().map(|groups| Part::new(data, seats(groups), None, Vec::new())).collect()
}

/// Returns the tasks of each user, computed from `(group, tasks)` of every group. `divided(x, k)` divides `x` among the
/// `k` members of a group.
pub fn by_user<T>(
    data: &LevelData<'_>,
    groups: impl IntoIterator<Item = (usize, Vec<(usize, T)>)>,
    divided: impl Fn(&T, usize) -> T,
) -> Vec<Vec<(usize, T)>> {
    let mut users: Vec<Vec<(usize, T)>> = Vec::new();
    users.resize_with(data.constraints.problem().n_users(), Vec::new);
    for (group, list) in groups {
        let members = &data.groups[group].members;
        if let [n] = **members {
            users[n] = list;
            continue;
        }
        for &n in members {
            users[n] = list.iter().map(|(i, x)| (*i, divided(x, members.len()))).collect();
        }
    }
    users
}

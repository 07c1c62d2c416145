//! The rounds: find the next blocking level of every part, settle whom it blocks, split what is left.

use std::time::{Duration, Instant};

use evenhand_budget::{for_a_thread, handle};
use evenhand_exact::PriceVector;
use evenhand_problem::Rational;
use rayon::prelude::*;

use super::data::LevelData;
use super::part::{Part, Seat};
use super::split::components;
use crate::error::LevelsError;

/// Limits of the rounds.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    /// Exact pivots that one round may take to repair a basis.
    pub max_pivots: usize,
    /// Steps of Newton's method on the satisfied users in one round.
    pub max_steps: usize,
    /// When exact rounds are given up with [`LevelsError::OutOfTime`]; a round that has begun is looked at now
    /// and then. In doubles none is looked for.
    pub until: Option<Instant>,
    /// Placements of a part up to which [`lexicographic_within`](super::lexicographic_within) goes on with exact
    /// rounds when the time is up.
    pub small: usize,
}

/// Exact rounds on so many placements take no longer than rounds in doubles, unless the numbers are long.
const SMALL: usize = 200_000;

impl Settings {
    /// Whether there is time left.
    pub(super) fn time(&self) -> Result<(), LevelsError> {
        match self.until {
            Some(until) if Instant::now() >= until => Err(LevelsError::OutOfTime),
            _ => Ok(()),
        }
    }

    /// Whether there is time left, if it ends, and memory, to find so many numbers of so many words of 64 bits, and to write
    /// them: some nanoseconds each word, more where a number has many, and eight bytes each in some places at once.
    pub(super) fn room_for(&self, count: u64, words: u64) -> Result<(), LevelsError> {
        const PLACES: u64 = 8;
        let Some(until) = self.until else { return Ok(()) };
        let (all, depth) = (count.saturating_mul(words), u64::from(words.max(1).ilog2()));
        let time = Duration::from_nanos(all.saturating_mul(8 + 2 * depth * depth));
        let (_, memory) = handle().limits();
        let is_room = memory.is_none_or(|most| all.saturating_mul(8 * PLACES) <= most);
        if is_room && Instant::now() + time < until { Ok(()) } else { Err(LevelsError::OutOfTime) }
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self { max_pivots: 10_000, max_steps: 10_000, until: None, small: SMALL }
    }
}

/// What proves that one level cannot rise: a dual of that round's programme.
#[derive(Debug, Clone, PartialEq)]
pub struct LevelDual {
    /// The level `t`, in units of `u_n x_n / w_n`.
    pub level: Rational,
    /// `l_n`, positive for those blocked at this level and absent for those above it; the prices of capacity rows
    /// and of task limits. What is 0 takes no room: there may be as many levels as users.
    pub prices: PriceVector,
}

/// A lexicographic maximum.
#[derive(Debug, Clone)]
pub struct LexicographicOptimum<T> {
    /// By user: `(class, tasks)`, ascending by class.
    pub tasks: Vec<Vec<(usize, T)>>,
    /// Blocking levels with their proofs, ascending, one for each block of users; empty in floating
    /// point.
    pub duals: Vec<LevelDual>,
    /// Rounds: how often the level of some users that compete was raised until somebody was blocked,
    /// or everybody had all its tasks.
    pub rounds: usize,
    /// Linear programmes solved, columns added in between not counted.
    pub solves: usize,
    /// Exact pivots that bases from floating point needed.
    pub pivots: usize,
}

/// Solves parts, whatever threads do it; the answers are in their order.
pub fn in_parallel<'a, S: Send>(
    parts: Vec<Part<'a>>,
    solve: impl Fn(&Part<'a>) -> Result<S, LevelsError> + Sync,
) -> Vec<(Part<'a>, Result<S, LevelsError>)> {
    let limits = handle();
    let solved = |part: Part<'a>| {
        let solved = limits.enter(|| solve(&part));
        (part, solved)
    };
    // A small one alone is left to this thread; a large one shares what is inside it.
    if matches!(&parts[..], [part] if part.groups.len() < for_a_thread(part.classes.len())) {
        return parts.into_iter().map(solved).collect();
    }
    parts.into_par_iter().map(solved).collect()
}

/// The problem as parts that share no row.
pub fn first_parts<'a>(data: &'a LevelData<'a>) -> Vec<Part<'a>> {
    let whole = Part::whole(data);
    let parts = components(&whole, &whole.classes);
    if parts.len() == 1 {
        return vec![whole];
    }
    let seats = |groups: Vec<usize>| groups.into_iter().map(|group| Seat::first(data, group)).collect();
    parts.into_iter().map(|groups| Part::new(data, seats(groups), None, Vec::new())).collect()
}

/// Tasks by user, from `(group, tasks)` of every group.
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

//! Levels between proven bounds, where exact work is not wanted, or its time is up.
//!
//! Exact rounds that are done keep their levels, and small parts get theirs, which takes no longer than doubles.
//! What is left is solved in doubles as well as they can. That allocation is rounded to numbers that are short, and
//! feasible exactly (the file `feasible`); the prices of all blocks bound the other levels (the file `bounds`).

mod bounds;
mod feasible;

use std::time::Instant;

use evenhand_exact::ShareCoefficients;
use evenhand_problem::{Constraints, Rational};

use self::bounds::Bounds;
use self::feasible::feasible;
use super::data::LevelData;
use super::part::{Part, Target};
use super::rounds::{LexicographicOptimum, Settings, by_user};
use super::{exact, float};
use crate::groups::capacity_entries;
use crate::settings::LEVELS;

/// A feasible allocation near the lexicographic maximum, with bounds of all levels in the latter.
#[derive(Debug, Clone)]
pub struct LevelIntervals {
    /// By user: `(class, tasks)`, ascending by class.
    pub tasks: Vec<Vec<(usize, Rational)>>,
    /// By user: the least and the largest that its level `u_n x_n / w_n` can be in the lexicographic maximum.
    pub levels: Vec<(Rational, Rational)>,
    /// By user: what it would have with everything to itself, as a level; 0 for those that can have nothing.
    pub alone: Vec<Rational>,
    /// Rounds, as in [`super::LexicographicOptimum`].
    pub rounds: usize,
    /// Linear programmes solved.
    pub solves: usize,
}

impl LevelIntervals {
    /// The widest interval, as a part of what the user would have with everything to itself.
    #[must_use]
    pub fn width(&self) -> Rational {
        let each = self.levels.iter().zip(&self.alone).filter(|(_, alone)| !alone.is_zero());
        each.map(|((lo, hi), alone)| Rational::from(hi - lo) / alone).max().unwrap_or_default()
    }
}

/// What is known of the lexicographic maximum when the time is up.
#[derive(Debug, Clone)]
pub enum Within {
    /// All of it.
    Exact(LexicographicOptimum<Rational>),
    /// Bounds of its levels.
    Between(LevelIntervals),
}

/// The lexicographic maximum where it is found in the time that the settings give, else proven bounds of its
/// levels. There is always an answer: where all else fails a level is between 0 and what the user would have alone.
#[must_use]
pub fn lexicographic_within(
    constraints: &Constraints<'_>,
    coefficients: &ShareCoefficients,
    settings: &Settings,
) -> Within {
    let data = LevelData::new(constraints, coefficients);
    let mut rounds = exact::Rounds::new(&data);
    match rounds.go_on(*settings, |_| true) {
        None => Within::Exact(rounds.optimum(&data)),
        Some(_) => Within::Between(between(&data, rounds, *settings)),
    }
}

/// Bounds of the levels that the rounds so far leave open, parts of at most `small` placements exactly.
fn between<'a>(data: &'a LevelData<'a>, mut rounds: exact::Rounds<'a>, settings: Settings) -> LevelIntervals {
    let constraints = data.constraints;
    let late = Settings { until: Some(Instant::now() + LEVELS.grace), ..settings };
    // What fails here is done in doubles.
    let _ = rounds.go_on(late, |part| part.n_placements() <= settings.small);
    let mut blocks = rounds.blocks();
    let waiting = std::mem::take(&mut rounds.waiting);
    let known = Known::new(data, &rounds.known, &waiting);
    let found = float::guess(waiting, settings);
    blocks.extend(found.blocks);
    let placed = feasible(data, rounds.settled, found.settled);
    let bounds = Bounds::new(data, &placed, blocks, known).all();
    let n_users = constraints.problem().n_users();
    let mut levels = vec![(Rational::new(), Rational::new()); n_users];
    let mut alone = vec![Rational::new(); n_users];
    for (g, bound) in bounds.into_iter().enumerate() {
        let most = level_alone(data, g, data.groups[g].members.len());
        for &n in &data.groups[g].members {
            levels[n].clone_from(&bound);
            alone[n].clone_from(&most);
        }
    }
    let tasks = by_user(data, placed.into_iter().enumerate(), |x, share| Rational::from(x / share as u64));
    let (n_rounds, solves) = (rounds.count + found.rounds, rounds.solves + found.solves);
    LevelIntervals { tasks, levels, alone, rounds: n_rounds, solves }
}

/// What exact rounds say of levels.
struct Known {
    /// By group: its level in the lexicographic maximum, where a round has found it.
    levels: Vec<Option<Rational>>,
    /// By group: a level that it has at least.
    low: Vec<Rational>,
}

impl Known {
    fn new(data: &LevelData<'_>, found: &[(Rational, Vec<usize>)], waiting: &[Part<'_>]) -> Self {
        let mut levels = vec![None; data.groups.len()];
        let mut low = vec![Rational::new(); data.groups.len()];
        for (level, groups) in found {
            for g in groups {
                levels[*g] = Some(level.clone());
                low[*g].clone_from(level);
            }
        }
        for part in waiting {
            let Some(reached) = &part.reached else { continue };
            let open = part.groups.iter().zip(&part.targets).filter(|(_, target)| **target == Target::Active);
            open.for_each(|(g, _)| low[*g].clone_from(reached));
        }
        Self { levels, low }
    }
}

fn entries(data: &LevelData<'_>, g: usize, i: usize) -> Vec<(usize, Rational)> {
    capacity_entries(data.constraints, data.groups[g].representative(), i)
}

fn level(data: &LevelData<'_>, g: usize, list: &[(usize, Rational)]) -> Rational {
    let placed = list.iter().filter(|(_, x)| !x.is_zero());
    placed.map(|(i, x)| x / data.tasks_per_level_on(g, *i)).sum()
}

/// The level of one of so many alike, the members of a group or all together as one, that has everything to
/// itself.
fn level_alone(data: &LevelData<'_>, g: usize, alike: usize) -> Rational {
    let group = &data.groups[g];
    let problem = data.constraints.problem();
    let mut classes: Vec<(Rational, usize)> =
        group.classes.iter().map(|&i| (data.tasks_per_level_on(g, i) / alike as u64, i)).collect();
    classes.sort();
    let mut left = group.tasks.as_ref().map(|tasks| Rational::from(tasks / alike as u64));
    let mut level = Rational::new();
    for (per_level, i) in classes {
        let mut x = problem.gamma(group.representative(), i);
        if let Some(left) = &mut left {
            if *left < x {
                x.clone_from(left);
            }
            *left -= &x;
        }
        level += x / per_level;
    }
    level
}

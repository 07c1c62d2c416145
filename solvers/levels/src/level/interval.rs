//! Proven bounds of levels, for callers without time for exact work.
//!
//! Exact rounds that have ended keep their levels. Small parts are also solved exactly, which takes no longer than
//! doubles. All other parts are solved in doubles. Their allocation is rounded to short numbers that are exactly
//! feasible (the file `feasible`). The prices of all blocks bound the remaining levels (the file `bounds`).

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

/// A feasible allocation near the lexicographic maximum, with bounds of all levels of the maximum.
#[derive(Debug, Clone)]
pub struct LevelIntervals {
    /// Tasks of each user, indexed by user: `(class, tasks)`, ascending by class.
    pub tasks: Vec<Vec<(usize, Rational)>>,
    /// For each user, the least and the largest possible level `u_n x_n / w_n` in the lexicographic maximum.
    pub levels: Vec<(Rational, Rational)>,
    /// For each user, the level that it would have with the whole cluster to itself. 0 if the user cannot have any
    /// tasks.
    pub alone: Vec<Rational>,
    /// The number of rounds, as in [`super::LexicographicOptimum`].
    pub rounds: usize,
    /// The number of linear programmes solved.
    pub solves: usize,
}

impl LevelIntervals {
    /// Returns the widest interval, as a fraction of the level that the user would have alone.
    #[must_use]
    pub fn width(&self) -> Rational {
        let each = self.levels.iter().zip(&self.alone).filter(|(_, alone)| !alone.is_zero());
        each.map(|((lo, hi), alone)| Rational::from(hi - lo) / alone).max().unwrap_or_default()
    }
}

/// The lexicographic maximum, or bounds of it if the time did not suffice.
#[derive(Debug, Clone)]
pub enum Within {
    /// The exact maximum.
    Exact(LexicographicOptimum<Rational>),
    /// Proven bounds of the levels of the maximum.
    Between(LevelIntervals),
}

/// Computes the lexicographic maximum, or proven bounds of its levels if the time of the settings does not suffice.
///
/// There is always an answer. In the worst case, a level is only known to be between 0 and the level that the user
/// would have alone.
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
        Some(_) => Within::Between(bound_levels(&data, rounds, *settings)),
    }
}

/// Computes bounds of the levels that the rounds so far have not determined. Parts of at most
/// `small` placements are solved exactly.
fn bound_levels<'a>(
    data: &'a LevelData<'a>,
    mut rounds: exact::Rounds<'a>,
    settings: Settings,
) -> LevelIntervals {
    let constraints = data.constraints;
    let late = Settings { until: Some(Instant::now() + LEVELS.grace), ..settings };
    // Parts that fail here are solved in doubles below.
    let _ = rounds.go_on(late, |part| part.n_placements() <= settings.small);
    let mut blocks = rounds.blocks();
    let waiting = std::mem::take(&mut rounds.waiting);
    let known = KnownLevels::new(data, &rounds.known, &waiting);
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

/// Levels, and lower bounds of levels, that exact rounds have determined.
struct KnownLevels {
    /// For each group, its level in the lexicographic maximum, if a round has determined it.
    levels: Vec<Option<Rational>>,
    /// For each group, a lower bound of its level.
    low: Vec<Rational>,
}

impl KnownLevels {
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

/// Returns the level of one of `n_members` identical users that has the whole cluster to itself.
///
/// `n_members` is 1 if the group counts as a single user.
fn level_alone(data: &LevelData<'_>, g: usize, n_members: usize) -> Rational {
    let group = &data.groups[g];
    let problem = data.constraints.problem();
    let mut classes: Vec<(Rational, usize)> =
        group.classes.iter().map(|&i| (data.tasks_per_level_on(g, i) / n_members as u64, i)).collect();
    classes.sort();
    let mut left = group.tasks.as_ref().map(|tasks| Rational::from(tasks / n_members as u64));
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

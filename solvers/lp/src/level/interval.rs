//! Levels between proven bounds, from a solution in doubles: where exact work is not wanted, or its time is up.
//!
//! The allocation is rounded to numbers that are short, and feasible exactly (the file `feasible`); the prices of
//! its blocks bound all levels (the file `bounds`).

mod bounds;
mod feasible;

use evenhand_exact::ShareCoefficients;
use evenhand_problem::{Constraints, Rational};

use self::bounds::Bounds;
use self::feasible::feasible;
use super::data::LevelData;
use super::float;
use super::rounds::{Settings, by_user};
use crate::error::LpError;
use crate::groups::capacity_entries;

/// Bits of a bound.
const BITS: i64 = 80;

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

/// Proven bounds of the levels of the lexicographic maximum, by floating point and one exact pass.
///
/// # Errors
/// [`LpError`] when HiGHS fails, or doubles do not hold the numbers.
pub fn lexicographic_intervals(
    constraints: &Constraints<'_>,
    coefficients: &ShareCoefficients,
    settings: &Settings,
) -> Result<LevelIntervals, LpError> {
    let data = LevelData::new(constraints, coefficients);
    let found = float::rounds(&data, *settings, true)?;
    let placed = feasible(&data, found.settled)?;
    let bounds = Bounds::new(&data, &placed, found.blocks).all();
    let n_users = constraints.problem().n_users();
    let mut levels = vec![(Rational::new(), Rational::new()); n_users];
    let mut alone = vec![Rational::new(); n_users];
    for (g, bound) in bounds.into_iter().enumerate() {
        let most = level_alone(&data, g, data.groups[g].members.len());
        for &n in &data.groups[g].members {
            levels[n].clone_from(&bound);
            alone[n].clone_from(&most);
        }
    }
    let tasks = by_user(&data, placed.into_iter().enumerate(), |x, share| Rational::from(x / share as u64));
    Ok(LevelIntervals { tasks, levels, alone, rounds: found.rounds, solves: found.solves })
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

/// A number of [`BITS`] bits that is not above `value`.
fn below(value: &Rational) -> Rational {
    if value.is_zero() {
        return Rational::new();
    }
    let bits = |n: &evenhand_problem::Integer| i64::from(n.significant_bits());
    let shift = i32::try_from(BITS - bits(value.numer()) + bits(value.denom())).unwrap_or(0);
    Rational::from(value << shift).floor() >> shift
}

//! The rounds in double precision.

use evenhand_problem::Rational;

use super::data::LevelData;
use super::lift::Target;
use super::master::MasterSolution;
use super::rounds::{LexicographicOptimum, Rounds};
use crate::error::LpError;

/// Duals below this part of the largest count as 0.
const DUAL_TOLERANCE: f64 = 1e-9;
/// Part of a capacity by which a solution may exceed it.
const SOUND: f64 = 1e-7;

pub fn run(rounds: &mut Rounds<'_>) -> Result<LexicographicOptimum<f64>, LpError> {
    let mut number = 0;
    let mut last = None;
    while !rounds.is_done() {
        number += 1;
        let solution = newton(rounds, number)?;
        let most = solution.group_prices.iter().copied().fold(0.0, f64::max);
        let mut blocked = 0;
        for g in 0..rounds.targets.len() {
            if rounds.targets[g] != Target::Active {
                continue;
            }
            if rounds.data.satisfied_at_f64[g] <= solution.level {
                rounds.targets[g] = Target::Tasks;
            } else if solution.group_prices[g] > DUAL_TOLERANCE * most {
                rounds.targets[g] = Target::Frozen(number - 1);
                rounds.frozen_at[g] = solution.level;
            } else {
                continue;
            }
            blocked += 1;
        }
        if blocked == 0 && !rounds.is_done() {
            return Err(LpError::NoProgress { round: number });
        }
        last = Some(solution);
    }
    let tasks = match &last {
        Some(solution) => tasks(rounds, solution),
        None => vec![Vec::new(); rounds.data.constraints.problem().n_users()],
    };
    Ok(LexicographicOptimum { tasks, duals: Vec::new(), rounds: number, solves: rounds.solves, pivots: 0 })
}

/// Newton's method on the satisfied users.
fn newton(rounds: &mut Rounds<'_>, round: usize) -> Result<MasterSolution, LpError> {
    if round == 1 {
        rounds.descend()?;
    }
    let data = rounds.data;
    let mut reached = 0.0;
    for step in 0..rounds.settings.max_steps {
        let solution = rounds.solve_or_restart(round == 1 && step == 0)?;
        // The level rises with every step; rounding may make a tie go back and forth.
        let level = if solution.level > reached { solution.level } else { reached };
        let stalled = step > 0 && level <= reached * (1.0 + 1e-12);
        reached = level;
        if !rounds.update_satisfied(|g| data.satisfied_at_f64[g] <= level) || stalled {
            return Ok(solution);
        }
    }
    Err(LpError::NoProgress { round })
}

fn tasks(rounds: &Rounds<'_>, solution: &MasterSolution) -> Vec<Vec<(usize, f64)>> {
    let mut groups: Vec<Vec<(usize, f64)>> = vec![Vec::new(); rounds.data.groups.len()];
    for (placement, level) in &solution.placed {
        if *level > 0.0 {
            let tasks = level * rounds.data.tasks_per_level_f64(placement.g, placement.i);
            groups[placement.g].push((placement.i, tasks));
        }
    }
    let mut users = vec![Vec::new(); rounds.data.constraints.problem().n_users()];
    for (g, mut list) in groups.into_iter().enumerate() {
        list.sort_by_key(|(i, _)| *i);
        let group = &rounds.data.groups[g];
        if rounds.data.tasks_per_level[g].is_some() {
            let level = match rounds.targets[g] {
                Target::Frozen(_) => rounds.frozen_at[g],
                _ => rounds.data.satisfied_at_f64[g],
            };
            let target =
                group.classes.first().map_or(0.0, |&i| level * rounds.data.tasks_per_level_f64(g, i));
            let mut surplus = list.iter().map(|(_, x)| x).sum::<f64>() - target;
            for (_, tasks) in list.iter_mut().rev() {
                let cut = tasks.min(surplus.max(0.0));
                *tasks -= cut;
                surplus -= cut;
            }
            list.retain(|(_, tasks)| *tasks > 0.0);
        }
        let share = group.members.len() as f64;
        for &n in &group.members {
            users[n] = list.iter().map(|&(i, x)| (i, x / share)).collect();
        }
    }
    users
}

/// Whether the allocation exceeds no capacity, in doubles, by more than [`SOUND`] of it.
pub fn is_sound(data: &LevelData<'_>, optimum: &LexicographicOptimum<f64>) -> bool {
    let mut load = vec![0.0; data.capacity.len()];
    for (g, group) in data.groups.iter().enumerate() {
        for &n in &group.members {
            for &(i, tasks) in &optimum.tasks[n] {
                for (row, usage) in data.usage(g, i) {
                    load[row] += tasks * usage;
                }
            }
        }
    }
    load.iter().zip(&data.capacity).all(|(load, capacity)| *load <= capacity * (1.0 + SOUND))
}

/// An exact optimum in doubles.
pub fn rounded(optimum: LexicographicOptimum<Rational>) -> LexicographicOptimum<f64> {
    let round = |(i, x): (usize, Rational)| (i, evenhand_problem::number::to_f64(&x));
    LexicographicOptimum {
        tasks: optimum.tasks.into_iter().map(|list| list.into_iter().map(round).collect()).collect(),
        duals: Vec::new(),
        rounds: optimum.rounds,
        solves: optimum.solves,
        pivots: optimum.pivots,
    }
}

//! The rounds in rationals: HiGHS guesses the basis of each round, and the round counts when its
//! optimum is proven.

use evenhand_problem::Rational;

use super::integers::Integers;
use super::lift::{Lift, LiftFailure, Lifted, Target, target_tasks, trim};
use super::master::MasterBasis;
use super::repair;
use super::rounds::{LevelDual, LexicographicOptimum, Round, Rounds};
use crate::error::LpError;

pub fn run(rounds: &mut Rounds<'_>) -> Result<LexicographicOptimum<Rational>, LpError> {
    let integers = Integers::new(rounds.data);
    let mut levels: Vec<Rational> = Vec::new();
    let mut duals = Vec::new();
    while !rounds.is_done() {
        let number = levels.len();
        let round = newton(rounds, &integers, &levels)?;
        let mut anybody_blocked = false;
        let mut done = 0;
        for g in 0..rounds.targets.len() {
            if rounds.targets[g] != Target::Active {
                continue;
            }
            if rounds.data.satisfied_at[g].as_ref().is_some_and(|at| *at <= round.level) {
                rounds.targets[g] = Target::Tasks;
            } else if round.level_prices[g] > 0 {
                rounds.targets[g] = Target::Frozen(number);
                rounds.frozen_at[g] = round.level.to_f64();
                anybody_blocked = true;
            } else {
                continue;
            }
            done += 1;
        }
        if done == 0 && !rounds.is_done() {
            return Err(LpError::NoProgress { round: number + 1 });
        }
        levels.push(round.level.clone());
        if anybody_blocked {
            duals.push(dual(rounds, &round));
        }
        rounds.last = Some(round);
    }
    Ok(LexicographicOptimum {
        tasks: tasks(rounds, &levels),
        duals,
        rounds: levels.len(),
        solves: rounds.solves,
        pivots: rounds.pivots,
    })
}

/// One round: the optimum of the programme whose satisfied users are exactly those that its level
/// satisfies.
fn newton(rounds: &mut Rounds<'_>, integers: &Integers, levels: &[Rational]) -> Result<Round, LpError> {
    let number = levels.len() + 1;
    // Newton's method in doubles first: a step there costs no lift.
    let mut solved = rounds.master.is_some();
    if solved && let Err(error) = newton_in_doubles(rounds, number) {
        solved = false;
        give_up_highs(rounds, levels, error)?;
    }
    for _ in 0..rounds.settings.max_steps {
        let round = match optimum(rounds, integers, levels, solved) {
            // Rounding took somebody for satisfied that cannot be.
            Err(LpError::ExactlyInfeasible | LpError::Infeasible) if release(rounds, levels) => {
                solved = false;
                continue;
            }
            Err(error) if rounds.master.is_some() => {
                solved = false;
                give_up_highs(rounds, levels, error)?;
                continue;
            }
            other => other?,
        };
        solved = false;
        let (data, level) = (rounds.data, &round.level);
        if !rounds.update_satisfied(|g| data.satisfied_at[g].as_ref().is_some_and(|at| at <= level)) {
            return Ok(round);
        }
    }
    Err(LpError::NoProgress { round: number })
}

/// Leaves the programme of few rows and columns, in which rounding misled HiGHS, for the whole one
/// around the exact point of the round before.
fn give_up_highs(rounds: &mut Rounds<'_>, levels: &[Rational], error: LpError) -> Result<(), LpError> {
    if !error.is_of_highs() && !matches!(error, LpError::PivotLimit { .. } | LpError::ExactlyInfeasible) {
        return Err(error);
    }
    rounds.master = None;
    release(rounds, levels);
    Ok(())
}

/// Makes everybody active that no exact level has satisfied; returns whether anybody was not.
fn release(rounds: &mut Rounds<'_>, levels: &[Rational]) -> bool {
    let mut released = false;
    for (target, at) in rounds.targets.iter_mut().zip(&rounds.data.satisfied_at) {
        let is_proven = matches!((levels.last(), at), (Some(level), Some(at)) if at <= level);
        if *target == Target::Tasks && !is_proven {
            *target = Target::Active;
            released = true;
        }
    }
    released
}

/// Newton's method in doubles, which leaves the targets of its last programme in place.
fn newton_in_doubles(rounds: &mut Rounds<'_>, number: usize) -> Result<(), LpError> {
    if number == 1 {
        rounds.descend()?;
    }
    let data = rounds.data;
    let mut reached = 0.0;
    for step in 0..rounds.settings.max_steps {
        let first = number == 1 && step == 0;
        let before = rounds.targets.clone();
        let level = rounds.solve_or_restart(first)?.level;
        let solved = if first { rounds.targets.clone() } else { before };
        let again = rounds.update_satisfied(|g| data.satisfied_at_f64[g] <= level);
        if !again || (step > 0 && level <= reached * (1.0 + 1e-12)) {
            rounds.targets = solved;
            return Ok(());
        }
        reached = level;
    }
    Err(LpError::NoProgress { round: number })
}

/// The exact optimum for the current targets, whose basis HiGHS holds already when `solved`.
fn optimum(
    rounds: &mut Rounds<'_>,
    integers: &Integers,
    levels: &[Rational],
    mut solved: bool,
) -> Result<Round, LpError> {
    let max_pivots = rounds.settings.max_pivots;
    if rounds.master.is_none() {
        return whole(rounds, levels);
    }
    loop {
        if !solved {
            rounds.solve()?;
        }
        solved = false;
        let master = rounds.master.as_mut().ok_or(LpError::Empty)?;
        let basis = master.basis()?;
        let lift = Lift::new(rounds.data, integers, &rounds.targets, levels);
        let missing = match lift.lift(&basis) {
            Ok(lifted) => return Ok(lifted_round(rounds, lifted, levels)),
            Err(LiftFailure::Improvable(found)) => found,
            Err(LiftFailure::Structure | LiftFailure::PrimalInfeasible) => Vec::new(),
        };
        if master.add(missing)? > 0 {
            continue;
        }
        let repaired = repair::solve(rounds.data, basis, None, &rounds.targets, levels, max_pivots)?;
        rounds.pivots += repaired.pivots;
        let missing = repair::improving(rounds.data, &repaired.round);
        if missing.is_empty() {
            return Ok(repaired.round);
        }
        master.add(missing)?;
    }
}

/// The exact optimum for the current targets over all placements, from where the last one ended.
fn whole(rounds: &mut Rounds<'_>, levels: &[Rational]) -> Result<Round, LpError> {
    let basis = rounds.basis.take().unwrap_or_else(|| MasterBasis::of_slacks(rounds.data));
    let (last, targets) = (rounds.last.as_ref(), &rounds.targets);
    let repaired = repair::solve(rounds.data, basis, last, targets, levels, rounds.settings.max_pivots)?;
    rounds.solves += 1;
    rounds.pivots += repaired.pivots;
    rounds.basis = Some(repaired.basis);
    rounds.last = Some(repaired.round.clone());
    Ok(repaired.round)
}

fn lifted_round(rounds: &Rounds<'_>, lifted: Lifted, levels: &[Rational]) -> Round {
    let level_prices = lifted
        .group_prices
        .iter()
        .zip(&rounds.data.tasks_per_level)
        .map(|(price, per_level)| {
            per_level.as_ref().map_or_else(Rational::new, |t| Rational::from(price * t))
        })
        .collect();
    let tasks = lifted
        .split
        .into_iter()
        .enumerate()
        .map(|(g, split)| {
            split.unwrap_or_else(|| {
                let tasks = target_tasks(rounds.data, g, rounds.targets[g], levels, &lifted.level);
                lifted.key[g].map(|i| (i, tasks)).into_iter().collect()
            })
        })
        .collect();
    Round {
        level: lifted.level,
        prices: lifted.prices,
        level_prices,
        task_prices: vec![Rational::new(); rounds.data.groups.len()],
        tasks,
    }
}

fn dual(rounds: &Rounds<'_>, round: &Round) -> LevelDual {
    let n_users = rounds.data.constraints.problem().n_users();
    let mut user_weights = vec![Rational::new(); n_users];
    let mut user_prices = vec![Rational::new(); n_users];
    for (g, group) in rounds.data.groups.iter().enumerate() {
        for &n in &group.members {
            user_weights[n] = Rational::from(&round.level_prices[g] / group.members.len() as u64);
            user_prices[n].clone_from(&round.task_prices[g]);
        }
    }
    LevelDual { level: round.level.clone(), user_weights, prices: round.prices.clone(), user_prices }
}

/// The tasks of the last round by user, cut down to what each group was to reach.
fn tasks(rounds: &mut Rounds<'_>, levels: &[Rational]) -> Vec<Vec<(usize, Rational)>> {
    let mut users = vec![Vec::new(); rounds.data.constraints.problem().n_users()];
    let Some(round) = rounds.last.take() else { return users };
    for (g, mut list) in round.tasks.into_iter().enumerate() {
        let group = &rounds.data.groups[g];
        if rounds.data.tasks_per_level[g].is_some() {
            let target = target_tasks(rounds.data, g, rounds.targets[g], levels, &round.level);
            let placed: Rational = list.iter().map(|(_, x)| x).sum();
            trim(&mut list, placed - target);
        }
        list.retain(|(_, x)| !x.is_zero());
        if let [n] = *group.members {
            users[n] = list;
            continue;
        }
        let share = group.members.len() as u64;
        for &n in &group.members {
            users[n] = list.iter().map(|(i, x)| (*i, Rational::from(x / share))).collect();
        }
    }
    users
}

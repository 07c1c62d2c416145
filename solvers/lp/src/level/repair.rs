//! The exact optimum of one round without relying on the structure: the programme as a general
//! linear programme in rationals, from the basis that HiGHS found.
//!
//! Slower than the lift by a wide margin, and needed only where the basis is not optimal in exact
//! arithmetic, has an unusual form (the level nonbasic), or where one task is worth more on one
//! class than on another.

use evenhand_problem::Rational;

use super::data::LevelData;
use super::lift::Target;
use super::master::{MasterBasis, Placement};
use super::rounds::Round;
use crate::error::LpError;
use crate::exact_lp::{ExactColumn, ExactLp, Sense, Variable};
use crate::groups::capacity_entries;

/// The exact optimum over the placements of the basis, and the pivots it took.
pub fn solve(
    data: &LevelData<'_>,
    basis: &MasterBasis,
    targets: &[Target],
    levels: &[Rational],
    max_pivots: usize,
) -> Result<(Round, usize), LpError> {
    let n_rows = data.capacity.len();
    let n_groups = data.groups.len();
    let mut lp = ExactLp::default();
    lp.rows.extend(data.constraints.rows().iter().map(|row| (Sense::AtMost, row.capacity.clone())));
    for (g, target) in targets.iter().enumerate() {
        let level = match target {
            Target::Active => Rational::new(),
            Target::Frozen(round) => levels[*round].clone(),
            Target::Tasks => data.satisfied_at[g].clone().unwrap_or_default(),
        };
        lp.rows.push((Sense::AtLeast, level));
    }
    let mut task_rows = vec![None; n_groups];
    for (g, slot) in task_rows.iter_mut().enumerate() {
        if let (true, Some(tasks)) = (data.has_task_row(g), &data.groups[g].tasks) {
            *slot = Some(lp.rows.len());
            lp.rows.push((Sense::AtMost, tasks.clone()));
        }
    }
    let active = (0..n_groups).filter(|&g| targets[g] == Target::Active);
    lp.columns.push(ExactColumn {
        cost: Rational::from(1),
        entries: active.map(|g| (n_rows + g, Rational::from(-1))).collect(),
    });
    for &(Placement { g, i }, _) in &basis.placements {
        let mut entries = capacity_entries(data.constraints, data.groups[g].representative(), i);
        entries.push((n_rows + g, data.tasks_per_level_on(g, i).recip()));
        entries.extend(task_rows[g].map(|row| (row, Rational::from(1))));
        lp.columns.push(ExactColumn { cost: Rational::new(), entries });
    }
    let optimum = lp.optimise(&guess(basis, n_rows, &task_rows), max_pivots)?;

    let mut tasks = vec![Vec::new(); n_groups];
    for ((placement, _), x) in basis.placements.iter().zip(&optimum.x[1..]) {
        if !x.is_zero() {
            tasks[placement.g].push((placement.i, x.clone()));
        }
    }
    for list in &mut tasks {
        list.sort_by_key(|(i, _)| *i);
    }
    let y = optimum.y;
    let round = Round {
        level: optimum.x[0].clone(),
        prices: y[..n_rows].to_vec(),
        level_prices: y[n_rows..n_rows + n_groups].iter().map(|p| Rational::from(-p)).collect(),
        task_prices: task_rows
            .iter()
            .map(|row| row.map_or_else(Rational::new, |row| y[row].clone()))
            .collect(),
        tasks,
    };
    Ok((round, optimum.pivots))
}

/// Placements of each group that would still raise the level at the prices of `round`.
pub fn improving(data: &LevelData<'_>, round: &Round) -> Vec<Placement> {
    let mut found = Vec::new();
    for (g, group) in data.groups.iter().enumerate() {
        if round.level_prices[g].is_zero() {
            continue;
        }
        for &i in &group.classes {
            let usage = data.constraints.usage(group.representative(), i).unwrap_or_default();
            let start = data.constraints.class_rows(i).start;
            let mut price = round.task_prices[g].clone();
            for (at, usage) in usage.entries() {
                price += Rational::from(&round.prices[start + at] * usage);
            }
            if price * data.tasks_per_level_on(g, i) < round.level_prices[g] {
                found.push(Placement { g, i });
            }
        }
    }
    found
}

fn guess(basis: &MasterBasis, n_rows: usize, task_rows: &[Option<usize>]) -> Vec<Variable> {
    let basic = |flags: &[bool], variable: &dyn Fn(usize) -> Variable| -> Vec<Variable> {
        flags.iter().enumerate().filter(|(_, basic)| **basic).map(|(k, _)| variable(k)).collect()
    };
    let mut guess = Vec::new();
    if basis.level {
        guess.push(Variable::Column(0));
    }
    let placements = basis.placements.iter().enumerate().filter(|(_, (_, basic))| *basic);
    guess.extend(placements.map(|(k, _)| Variable::Column(1 + k)));
    guess.extend(basic(&basis.group_slacks, &|g| Variable::Slack(n_rows + g)));
    guess.extend(basic(&basis.capacity_slacks, &Variable::Slack));
    for (row, basic) in task_rows.iter().zip(&basis.task_slacks) {
        if let (Some(row), true) = (row, basic) {
            guess.push(Variable::Slack(*row));
        }
    }
    guess
}

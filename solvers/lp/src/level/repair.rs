//! The exact optimum of one round without relying on the structure: the programme as a general
//! linear programme in rationals, from the basis that HiGHS found.
//!
//! Slower than the lift by a wide margin, and needed only where the basis is not optimal in exact
//! arithmetic, has an unusual form (the level nonbasic), or where one task is worth more on one
//! class than on another.

use std::collections::HashSet;

use evenhand_problem::Rational;

use super::data::LevelData;
use super::lift::Target;
use super::master::{GroupOnClass, MasterBasis};
use super::rounds::Round;
use crate::error::LpError;
use crate::exact_lp::{ExactColumn, ExactLp, ExactOptimum, Sense, Variable};
use crate::groups::capacity_entries;
use crate::refine::{self, StartingPoint};

/// An exact optimum, and where it was found.
pub struct Repaired {
    pub round: Round,
    /// The optimal basis, over the same placements.
    pub basis: MasterBasis,
    /// Exact pivots that it took.
    pub pivots: usize,
}

/// The exact optimum over the placements of the basis. `last` is the round before, a feasible point of
/// this one, where it ran on no other placements.
pub fn solve(
    data: &LevelData<'_>,
    basis: MasterBasis,
    last: Option<&Round>,
    targets: &[Target],
    levels: &[Rational],
    max_pivots: usize,
) -> Result<Repaired, LpError> {
    let programme = Programme::new(data, &basis, targets, levels);
    let point = last.map(|round| programme.point(&basis, round));
    let guess = programme.guess(&basis);
    let start = StartingPoint { point: point.as_deref(), basis: &guess };
    let optimum = refine::optimise(&programme.lp, &programme.units(&basis, targets), start, max_pivots)?;
    let (round, pivots) = (programme.read(&basis, &optimum), optimum.pivots);
    Ok(Repaired { round, basis: programme.basis(basis, &optimum.basis), pivots })
}

/// The programme of a round as a general one. Column 0 is the level, the others are the placements of
/// the basis; rows are the capacities, the groups' levels, and the task limits that those do not express.
struct Programme<'a> {
    data: &'a LevelData<'a>,
    lp: ExactLp,
    /// By group.
    task_rows: Vec<Option<usize>>,
}

impl<'a> Programme<'a> {
    fn new(data: &'a LevelData<'a>, basis: &MasterBasis, targets: &[Target], levels: &[Rational]) -> Self {
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
        for &(GroupOnClass { g, i }, _) in &basis.placements {
            let mut entries = capacity_entries(data.constraints, data.groups[g].representative(), i);
            entries.push((n_rows + g, data.tasks_per_level_on(g, i).recip()));
            entries.extend(task_rows[g].map(|row| (row, Rational::from(1))));
            lp.columns.push(ExactColumn { cost: Rational::new(), entries });
        }
        Self { data, lp, task_rows }
    }

    /// By column: what it can be at the most, alone; for the level what the least of the active groups
    /// could reach.
    fn units(&self, basis: &MasterBasis, targets: &[Target]) -> Vec<f64> {
        let mut units = vec![1.0];
        let mut alone = vec![0.0; self.data.groups.len()];
        for &(GroupOnClass { g, i }, _) in &basis.placements {
            let usage = self.data.usage(g, i).filter(|(_, usage)| *usage > 0.0);
            let most =
                usage.map(|(row, usage)| self.data.capacity[row] / usage).fold(f64::INFINITY, f64::min);
            let unit = if most > 0.0 && most.is_finite() { most } else { 1.0 };
            alone[g] += unit / self.data.tasks_per_level_f64(g, i);
            units.push(unit);
        }
        let active = alone.iter().zip(targets).filter(|(_, target)| **target == Target::Active);
        let least = active.map(|(alone, _)| *alone).fold(f64::INFINITY, f64::min);
        if least > 0.0 && least.is_finite() {
            units[0] = least;
        }
        units
    }

    /// By column: what the round before found.
    fn point(&self, basis: &MasterBasis, round: &Round) -> Vec<Rational> {
        let on = |&(GroupOnClass { g, i }, _): &(GroupOnClass, bool)| {
            let found = round.tasks[g].iter().find(|(class, _)| *class == i);
            found.map_or_else(Rational::new, |(_, x)| x.clone())
        };
        std::iter::once(round.level.clone()).chain(basis.placements.iter().map(on)).collect()
    }

    fn read(&self, basis: &MasterBasis, optimum: &ExactOptimum) -> Round {
        let (n_rows, n_groups) = (self.data.capacity.len(), self.data.groups.len());
        let mut tasks = vec![Vec::new(); n_groups];
        for ((placement, _), x) in basis.placements.iter().zip(&optimum.x[1..]) {
            if !x.is_zero() {
                tasks[placement.g].push((placement.i, x.clone()));
            }
        }
        for list in &mut tasks {
            list.sort_by_key(|(i, _)| *i);
        }
        let y = &optimum.y;
        let task_price = |row: &Option<usize>| row.map_or_else(Rational::new, |row| y[row].clone());
        Round {
            level: optimum.x[0].clone(),
            prices: y[..n_rows].to_vec(),
            level_prices: y[n_rows..n_rows + n_groups].iter().map(|p| Rational::from(-p)).collect(),
            task_prices: self.task_rows.iter().map(task_price).collect(),
            tasks,
        }
    }

    fn guess(&self, basis: &MasterBasis) -> Vec<Variable> {
        let n_rows = self.data.capacity.len();
        let basic = |flags: &[bool]| -> Vec<usize> {
            flags.iter().enumerate().filter(|(_, basic)| **basic).map(|(k, _)| k).collect()
        };
        let mut guess = Vec::new();
        if basis.level {
            guess.push(Variable::Column(0));
        }
        let placements = basis.placements.iter().enumerate().filter(|(_, (_, basic))| *basic);
        guess.extend(placements.map(|(k, _)| Variable::Column(1 + k)));
        guess.extend(basic(&basis.group_slacks).into_iter().map(|g| Variable::Slack(n_rows + g)));
        guess.extend(basic(&basis.capacity_slacks).into_iter().map(Variable::Slack));
        for (row, basic) in self.task_rows.iter().zip(&basis.task_slacks) {
            if let (Some(row), true) = (row, basic) {
                guess.push(Variable::Slack(*row));
            }
        }
        guess
    }

    /// The basis with these variables.
    fn basis(&self, mut basis: MasterBasis, variables: &[Variable]) -> MasterBasis {
        let basic: HashSet<Variable> = variables.iter().copied().collect();
        let n_rows = self.data.capacity.len();
        basis.level = basic.contains(&Variable::Column(0));
        for (k, (_, flag)) in basis.placements.iter_mut().enumerate() {
            *flag = basic.contains(&Variable::Column(1 + k));
        }
        for (row, flag) in basis.capacity_slacks.iter_mut().enumerate() {
            *flag = basic.contains(&Variable::Slack(row));
        }
        for (g, flag) in basis.group_slacks.iter_mut().enumerate() {
            *flag = basic.contains(&Variable::Slack(n_rows + g));
        }
        for (row, flag) in self.task_rows.iter().zip(&mut basis.task_slacks) {
            *flag = row.is_none_or(|row| basic.contains(&Variable::Slack(row)));
        }
        basis
    }
}

/// Placements of each group that would still raise the level at the prices of `round`.
pub fn improving(data: &LevelData<'_>, round: &Round) -> Vec<GroupOnClass> {
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
                found.push(GroupOnClass { g, i });
            }
        }
    }
    found
}

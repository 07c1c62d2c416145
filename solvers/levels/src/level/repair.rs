//! The exact optimum of one round as a general linear programme in rationals. The search starts from the basis of
//! HiGHS, and uses no structure of the programme.
//!
//! This is much slower than the lift. It is needed only in three cases: the basis is not optimal in exact arithmetic,
//! it has an unusual form (the level is nonbasic), or one task is worth more on one class than on another.

use std::collections::HashSet;

use evenhand_problem::Rational;

use super::master::MasterBasis;
use super::part::{GroupOnClass, Part, Target};
use super::search::Round;
use crate::error::LevelsError;
use evenhand_lp::exact_lp::{ExactColumn, ExactLp, ExactOptimum, Sense, Variable};
use evenhand_lp::refine::{self, StartingPoint};

/// A feasible point of a round.
#[derive(Clone, Copy)]
pub struct LastPoint<'a> {
    pub level: &'a Rational,
    /// For each group, `(class, tasks)`.
    pub tasks: &'a [Vec<(usize, Rational)>],
}

/// An exact optimum, with its basis.
pub struct Repaired {
    pub round: Round,
    /// The optimal basis, over the same placements as the first basis.
    pub basis: MasterBasis,
    /// The number of exact pivots.
    pub pivots: usize,
}

/// Computes the exact optimum over the placements of the basis.
///
/// `last` is the result of the previous round. `last` is a feasible point of this round if it uses
/// only placements of the basis.
pub fn solve(
    part: &Part<'_>,
    basis: MasterBasis,
    last: Option<LastPoint<'_>>,
    targets: &[Target],
    max_pivots: usize,
) -> Result<Repaired, LevelsError> {
    let programme = Programme::new(part, &basis, targets);
    let point = last.map(|last| programme.point(&basis, &last));
    let guess = programme.guess(&basis);
    let start = StartingPoint { point: point.as_deref(), basis: &guess };
    let optimum =
        refine::solve(&programme.lp, &programme.units(&basis, targets), start, max_pivots)?.optimum()?;
    let (round, pivots) = (programme.read(&basis, &optimum), optimum.pivots);
    Ok(Repaired { round, basis: programme.basis(basis, &optimum.basis), pivots })
}

/// The programme of a round as a general linear programme.
///
/// Column 0 is the level, and the other columns are the placements of the basis. The rows are the capacities, the
/// groups' levels, and the task limits that the levels do not express.
struct Programme<'a> {
    part: &'a Part<'a>,
    lp: ExactLp,
    /// For each group, the row of its task limit.
    task_rows: Vec<Option<usize>>,
}

impl<'a> Programme<'a> {
    /// Builds the programme over the placements of a basis.
    fn new(part: &'a Part<'a>, basis: &MasterBasis, targets: &[Target]) -> Self {
        let n_rows = part.capacity.len();
        let n_groups = part.groups.len();
        let mut lp = ExactLp::default();
        lp.rows.extend((0..n_rows).map(|row| (Sense::AtMost, part.row_capacity(row).clone())));
        for (g, target) in targets.iter().enumerate() {
            let level = match target {
                Target::Active => Rational::new(),
                Target::Frozen(round) => part.levels[*round].clone(),
                Target::Tasks => part.exactly_satisfied_at(g).cloned().unwrap_or_default(),
            };
            lp.rows.push((Sense::AtLeast, level));
        }
        let mut task_rows = vec![None; n_groups];
        for (g, slot) in task_rows.iter_mut().enumerate() {
            if let (true, Some(tasks)) = (part.has_task_row(g), &part.group(g).tasks) {
                *slot = Some(lp.rows.len());
                lp.rows.push((Sense::AtMost, tasks.clone()));
            }
        }
        let active = (0..n_groups).filter(|&g| targets[g] == Target::Active);
        lp.columns.push(ExactColumn {
            cost: Rational::from(1),
            entries: active.map(|g| (n_rows + g, Rational::from(-1))).collect(),
        });
        for &(GroupOnClass { g, c }, _) in &basis.placements {
            let mut entries = part.exact_usage(g, c);
            entries.push((n_rows + g, part.tasks_per_level_on(g, c).recip()));
            entries.extend(task_rows[g].map(|row| (row, Rational::from(1))));
            lp.columns.push(ExactColumn { cost: Rational::new(), entries });
        }
        Self { part, lp, task_rows }
    }

    /// Returns, for each column, the largest value that the column could have alone. For the level, this value is the
    /// least level that an active group could reach alone.
    fn units(&self, basis: &MasterBasis, targets: &[Target]) -> Vec<f64> {
        let mut units = vec![1.0];
        let mut alone = vec![0.0; self.part.groups.len()];
        for &(GroupOnClass { g, c }, _) in &basis.placements {
            let usage = self.part.usage(g, c).filter(|(_, usage)| *usage > 0.0);
            let most =
                usage.map(|(row, usage)| self.part.capacity[row] / usage).fold(f64::INFINITY, f64::min);
            let unit = if most > 0.0 && most.is_finite() { most } else { 1.0 };
            alone[g] += unit / self.part.tasks_per_level_f64(g, c);
            units.push(unit);
        }
        let active = alone.iter().zip(targets).filter(|(_, target)| **target == Target::Active);
        let least = active.map(|(alone, _)| *alone).fold(f64::INFINITY, f64::min);
        if least > 0.0 && least.is_finite() {
            units[0] = least;
        }
        units
    }

    /// Returns the result of the previous round, indexed by column.
    fn point(&self, basis: &MasterBasis, last: &LastPoint<'_>) -> Vec<Rational> {
        let on = |&(GroupOnClass { g, c }, _): &(GroupOnClass, bool)| {
            let found = last.tasks[g].iter().find(|(class, _)| *class == c);
            found.map_or_else(Rational::new, |(_, x)| x.clone())
        };
        std::iter::once(last.level.clone()).chain(basis.placements.iter().map(on)).collect()
    }

    /// Converts an optimum to a round.
    fn read(&self, basis: &MasterBasis, optimum: &ExactOptimum) -> Round {
        let (n_rows, n_groups) = (self.part.capacity.len(), self.part.groups.len());
        let mut tasks = vec![Vec::new(); n_groups];
        for ((placement, _), x) in basis.placements.iter().zip(&optimum.x[1..]) {
            if !x.is_zero() {
                tasks[placement.g].push((placement.c, x.clone()));
            }
        }
        for list in &mut tasks {
            list.sort_by_key(|(c, _)| *c);
        }
        let y = &optimum.y;
        let task_price = |row: &Option<usize>| row.map_or_else(Rational::new, |row| y[row].clone());
        Round {
            level: optimum.x[0].clone(),
            prices: y[..n_rows].to_vec(),
            level_prices: y[n_rows..n_rows + n_groups].iter().map(|p| Rational::from(-p)).collect(),
            task_prices: self.task_rows.iter().map(task_price).collect(),
            tasks,
            stays: None,
        }
    }

    /// Converts a basis of the round to variables of the programme.
    fn guess(&self, basis: &MasterBasis) -> Vec<Variable> {
        let n_rows = self.part.capacity.len();
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

    /// Returns `basis` with exactly these variables marked as basic.
    fn basis(&self, mut basis: MasterBasis, variables: &[Variable]) -> MasterBasis {
        let basic: HashSet<Variable> = variables.iter().copied().collect();
        let n_rows = self.part.capacity.len();
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

/// Returns the placements of each group that would still raise the level at the prices of `round`.
pub fn improving(part: &Part<'_>, round: &Round) -> Vec<GroupOnClass> {
    let mut found = Vec::new();
    for (g, classes) in part.classes.iter().enumerate() {
        if round.level_prices[g].is_zero() {
            continue;
        }
        for &c in classes {
            if round.price(part, g, c) < round.level_prices[g] {
                found.push(GroupOnClass { g, c });
            }
        }
    }
    found
}

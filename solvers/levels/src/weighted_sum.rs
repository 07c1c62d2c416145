//! The most valuable allocation: it maximises `sum_n v_n x_n`, optionally with a floor (a least number of tasks) for
//! every user.
//!
//! With `v_n = w_n` and no floors this is the utilitarian optimum (Kesidis, equations 2 and 18). With the users'
//! current tasks as floors it decides Pareto optimality: the current allocation is Pareto optimal exactly if the
//! optimum equals its value. The dual then contains weights `l_n = v_n + (price of the floor)` and prices that prove
//! Pareto optimality. Limits of groups are rows like the capacity rows of the classes.

use evenhand_exact::{LimitRows, ShareCoefficients};
use evenhand_problem::{Constraints, Rational};

use crate::error::LevelsError;
use crate::groups::{Group, capacity_entries, limit_entries, merge};
use evenhand_lp::LpError;
use evenhand_lp::exact_lp::{ExactColumn, ExactLp, Sense, Variable};
use evenhand_lp::refine::{self, StartingPoint};
use evenhand_lp::settings::EXACT;

/// The used fraction of a capacity above which the row counts as full when a basis is guessed. It allows for rounding
/// of doubles.
const FULL: f64 = 1.0 - 1e-9;

/// An exact optimum with the prices of its dual, for each user and each capacity row.
#[derive(Debug, Clone)]
pub struct SumOptimum {
    /// Tasks of each user: `(class, tasks)`, ascending by class.
    pub tasks: Vec<Vec<(usize, Rational)>>,
    /// Price per unit of each capacity row, followed by the prices of the limits of groups. At least 0.
    pub prices: Vec<Rational>,
    /// For each user, the price per task of its task limit, at least 0.
    pub user_prices: Vec<Rational>,
    /// For each user, the price per task of its floor, at least 0.
    pub floor_prices: Vec<Rational>,
    /// The number of exact pivots that were needed to repair the basis from floating point.
    pub pivots: usize,
}

/// The objective and its constraints.
#[derive(Debug, Clone, Copy)]
pub struct SumGoal<'a> {
    /// For each user, the worth `v_n` of one task, positive.
    pub worth: &'a [Rational],
    /// The factors `u_ni` of the worth of a task on a class. `None` if all are 1.
    pub share: Option<&'a ShareCoefficients>,
    /// For each user, the least number of tasks that it must have. `None` for no floors.
    pub floors: Option<&'a [Rational]>,
    /// The limits of groups. `None` to ignore them.
    pub limits: Option<&'a LimitRows>,
    /// A feasible allocation that reaches the floors, from which the search starts: for each user `(class, tasks)`.
    ///
    /// With such an allocation, rounding cannot hide that the programme is feasible, however little free capacity there
    /// is.
    pub from: Option<&'a [Vec<(usize, Rational)>]>,
}

impl<'a> SumGoal<'a> {
    /// Returns the goal of the largest sum of worths, where `worth[n]` is the worth of a task of user `n`.
    #[must_use]
    pub fn of(worth: &'a [Rational]) -> Self {
        Self { worth, share: None, floors: None, limits: None, from: None }
    }
}

/// Computes the exact optimum: a vertex with its dual. An unverified answer is never returned.
///
/// # Errors
/// [`LevelsError`] when HiGHS fails, no feasible allocation reaches the floors, or no exactly optimal
/// basis is found within the limit of pivots.
pub fn maximise_sum<'a>(
    constraints: &'a Constraints<'a>,
    goal: SumGoal<'a>,
) -> Result<SumOptimum, LevelsError> {
    check_floors(constraints, goal)?;
    let programme = Programme::new(constraints, goal);
    if programme.placements.is_empty() {
        return Ok(programme.nothing());
    }
    let point = goal.from.map(|tasks| programme.point(tasks));
    let basis = point.as_deref().map(|point| programme.basis(point)).unwrap_or_default();
    let start = StartingPoint { point: point.as_deref(), basis: &basis };
    let optimum = refine::solve(&programme.lp, &programme.scales, start, EXACT.max_pivots)?.optimum()?;
    Ok(programme.read(&optimum.x, &optimum.y, optimum.pivots))
}

/// Computes [`maximise_sum`] in double precision, without a proof. Returns the tasks of each user.
pub fn maximise_sum_float<'a>(
    constraints: &'a Constraints<'a>,
    goal: SumGoal<'a>,
) -> Result<Vec<Vec<(usize, f64)>>, LevelsError> {
    check_floors(constraints, goal)?;
    let programme = Programme::new(constraints, goal);
    let mut users = vec![Vec::new(); constraints.problem().n_users()];
    if programme.placements.is_empty() {
        return Ok(users);
    }
    let optimum = refine::in_doubles(&programme.lp, &programme.scales, StartingPoint::default())?;
    for (&(g, i), tasks) in programme.placements.iter().zip(&optimum.differences) {
        let members = &programme.groups[g].members;
        if *tasks > 0.0 {
            for &n in members {
                users[n].push((i, tasks / members.len() as f64));
            }
        }
    }
    Ok(users)
}

/// Returns an error if a user that cannot have any tasks has a floor above 0.
fn check_floors(constraints: &Constraints<'_>, goal: SumGoal<'_>) -> Result<(), LevelsError> {
    let problem = constraints.problem();
    let unreachable = |(n, floor): (usize, &Rational)| *floor > 0 && !problem.is_active(n);
    match goal.floors {
        Some(floors) if floors.iter().enumerate().any(unreachable) => {
            Err(LevelsError::Lp(LpError::ExactlyInfeasible))
        }
        _ => Ok(()),
    }
}

/// The programme in rationals, with the scales for HiGHS.
struct Programme<'a> {
    constraints: &'a Constraints<'a>,
    goal: SumGoal<'a>,
    groups: Vec<Group>,
    /// `(group, class)` of each column.
    placements: Vec<(usize, usize)>,
    /// For each column, roughly its largest number of tasks: the unit of the column in HiGHS.
    scales: Vec<f64>,
    lp: ExactLp,
    /// For each group, the row of its task limit.
    task_rows: Vec<Option<usize>>,
    /// For each group, the row of its floor.
    floor_rows: Vec<Option<usize>>,
}

impl<'a> Programme<'a> {
    fn new(constraints: &'a Constraints<'a>, goal: SumGoal<'a>) -> Self {
        let problem = constraints.problem();
        let takes_part = |n: usize| problem.is_active(n);
        let limits = goal.limits.map_or(&[][..], LimitRows::list);
        let groups: Vec<Group> = if goal.floors.is_some() || !limits.is_empty() {
            // Floors and limits may differ between users that are otherwise identical.
            (0..problem.n_users()).filter(|&n| takes_part(n)).map(|n| Group::alone(problem, n)).collect()
        } else {
            merge(constraints, takes_part, |n| Some(&goal.worth[n]))
        };
        let mut lp = ExactLp::default();
        lp.rows.extend(constraints.rows().iter().map(|row| (Sense::AtMost, row.capacity.clone())));
        lp.rows.extend(limits.iter().map(|limit| (Sense::AtMost, limit.most.clone())));
        let mut add_row = |sense: Sense, rhs: &Rational| {
            lp.rows.push((sense, rhs.clone()));
            lp.rows.len() - 1
        };
        let task_rows: Vec<Option<usize>> =
            groups.iter().map(|g| g.tasks.as_ref().map(|t| add_row(Sense::AtMost, t))).collect();
        let floor_rows: Vec<Option<usize>> = groups
            .iter()
            .map(|g| goal.floors.map(|floors| add_row(Sense::AtLeast, &floors[g.representative()])))
            .collect();
        let mut programme = Self {
            constraints,
            goal,
            groups,
            placements: Vec::new(),
            scales: Vec::new(),
            lp,
            task_rows,
            floor_rows,
        };
        for g in 0..programme.groups.len() {
            for position in 0..programme.groups[g].classes.len() {
                programme.add_column(g, programme.groups[g].classes[position]);
            }
        }
        programme
    }

    fn add_column(&mut self, g: usize, i: usize) {
        let n = self.groups[g].representative();
        let mut entries = capacity_entries(self.constraints, n, i);
        if let Some(limits) = self.goal.limits {
            entries.extend(limit_entries(self.constraints, limits, n, i));
        }
        let extra = self.task_rows[g].into_iter().chain(self.floor_rows[g]);
        entries.extend(extra.map(|row| (row, Rational::from(1))));
        let gamma = self.constraints.problem().gamma(n, i).to_f64();
        let tasks = self.groups[g].tasks.as_ref().map_or(f64::INFINITY, Rational::to_f64);
        self.scales.push(gamma.min(tasks));
        self.placements.push((g, i));
        let worth = &self.goal.worth[n];
        let cost = self.goal.share.map_or_else(|| worth.clone(), |u| Rational::from(worth * u.of(n, i)));
        self.lp.columns.push(ExactColumn { cost, entries });
    }

    /// Converts an allocation to values of the columns.
    fn point(&self, tasks: &[Vec<(usize, Rational)>]) -> Vec<Rational> {
        let on = |n: usize, i: usize| tasks.get(n)?.iter().find(|(class, _)| *class == i).map(|(_, x)| x);
        let placements = self.placements.iter();
        placements.map(|&(g, i)| self.groups[g].members.iter().filter_map(|&n| on(n, i)).sum()).collect()
    }

    /// Returns the basis that a point suggests.
    ///
    /// The largest placement of every group replaces the slack of its floor. Each other placement
    /// replaces the slack of a full row of its class.
    fn basis(&self, point: &[Rational]) -> Vec<Variable> {
        let mut basis: Vec<Variable> = (0..self.lp.rows.len()).map(Variable::Slack).collect();
        let n_rows = self.constraints.rows().len();
        let mut used = vec![0.0; n_rows];
        for (column, x) in self.lp.columns.iter().zip(point).filter(|(_, x)| !x.is_zero()) {
            let capacities = column.entries.iter().filter(|(row, _)| *row < n_rows);
            capacities.for_each(|(row, usage)| used[*row] += usage.to_f64() * x.to_f64());
        }
        let is_full = |row: usize| {
            let capacity = self.lp.rows[row].1.to_f64();
            used.get(row).is_some_and(|used| *used >= capacity * FULL)
        };
        let mut columns: Vec<usize> = (0..point.len()).filter(|j| !point[*j].is_zero()).collect();
        columns.sort_by(|a, b| point[*b].cmp(&point[*a]));
        for j in columns {
            let rows = self.lp.columns[j].entries.iter().map(|(row, _)| *row);
            let candidate_rows =
                self.floor_rows[self.placements[j].0].into_iter().chain(rows.filter(|row| is_full(*row)));
            if let Some(row) = candidate_rows.into_iter().find(|row| basis[*row] == Variable::Slack(*row)) {
                basis[row] = Variable::Column(j);
            }
        }
        basis
    }

    /// Returns the optimum of a programme without placements.
    fn nothing(&self) -> SumOptimum {
        let n_users = self.constraints.problem().n_users();
        let limits = self.goal.limits.map_or(0, |limits| limits.list().len());
        SumOptimum {
            tasks: vec![Vec::new(); n_users],
            prices: vec![Rational::new(); self.constraints.rows().len() + limits],
            user_prices: vec![Rational::new(); n_users],
            floor_prices: vec![Rational::new(); n_users],
            pivots: 0,
        }
    }

    /// Converts values and duals of the programme to an optimum of the users.
    fn read(&self, x: &[Rational], y: &[Rational], pivots: usize) -> SumOptimum {
        let mut optimum = SumOptimum { pivots, ..self.nothing() };
        for (&(g, i), x) in self.placements.iter().zip(x) {
            let members = &self.groups[g].members;
            if !x.is_zero() {
                for &n in members {
                    optimum.tasks[n].push((i, Rational::from(x / members.len() as u64)));
                }
            }
        }
        let n_rows = optimum.prices.len();
        optimum.prices.clone_from_slice(&y[..n_rows]);
        for (g, group) in self.groups.iter().enumerate() {
            for &n in &group.members {
                if let Some(row) = self.task_rows[g] {
                    optimum.user_prices[n].clone_from(&y[row]);
                }
                if let Some(row) = self.floor_rows[g] {
                    // Rows `>=` of a maximisation have duals of at most 0.
                    optimum.floor_prices[n] = Rational::from(-&y[row]);
                }
            }
        }
        optimum
    }
}

//! The gain that some users could have from given amounts of the cluster's capacity.
//!
//! The gain is the largest `z` such that an allocation within given amounts of every row gives each of these users
//! `min(T_n, x_n + z g_n)` tasks.
//!
//! A user that has all its tasks at some `z` needs no more at a larger `z`, so the problem is a chain of linear
//! programmes. The users that have all their tasks at the end of one programme keep them in the next. The dual of the
//! last programme bounds `z`: with weights `l` of the users, prices `p` of the rows, amounts `R` of the rows and prices
//! `q` of the users' task limits, $\sum_n l_n \min(T_n, x_n + z g_n) = \sum p R + \sum_n q_n T_n$.

use evenhand_problem::{Constraints, Rational};

use crate::error::LevelsError;
use crate::groups::capacity_entries;
use evenhand_lp::exact_lp::{ExactColumn, ExactLp, ExactOptimum, Sense};
use evenhand_lp::refine::{self, StartingPoint};
use evenhand_lp::settings::EXACT;

/// A user that wants more tasks.
#[derive(Debug, Clone)]
pub struct Wanting {
    /// The index of the user.
    pub user: usize,
    /// The number of tasks `x_n` that the user already has.
    pub has: Rational,
    /// The unit `g_n > 0` in which the user's gain is measured. It is at least `x_n`.
    pub unit: Rational,
}

/// The largest gain, with an allocation that reaches it and prices that prove that no larger gain is possible.
#[derive(Debug, Clone)]
pub struct Gain {
    /// The gain `z`. It is at most the largest number of missing tasks of any user, divided by its
    /// `g_n`.
    pub gain: Rational,
    /// Tasks of each user of the problem: `(class, tasks)`, ascending by class.
    pub tasks: Vec<Vec<(usize, Rational)>>,
    /// The positive weights `(user, l_n)`, in the order of the given users. Empty if all users have all their tasks.
    pub weights: Vec<(usize, Rational)>,
    /// The positive prices of rows `(row, p)`, ascending.
    pub prices: Vec<(usize, Rational)>,
    /// The positive prices of task limits `(user, q_n)`, in the order of the weights.
    pub user_prices: Vec<(usize, Rational)>,
}

/// Computes the largest gain of at least one active user within the given amounts of the rows.
///
/// # Errors
/// [`LevelsError`] when HiGHS fails, or no exactly optimal basis is found within the limit of pivots.
pub fn largest_gain(
    constraints: &Constraints<'_>,
    amounts: &[Rational],
    users: &[Wanting],
) -> Result<Gain, LevelsError> {
    let problem = constraints.problem();
    let tasks = |user: &Wanting| problem.users()[user.user].tasks();
    // For each user, its missing tasks divided by its unit. From this gain on, the user needs no more tasks.
    let left = |user: &Wanting| Some(Rational::from(tasks(user)? - &user.has) / &user.unit);
    let left: Vec<Option<Rational>> = users.iter().map(left).collect();
    let mut full = vec![false; users.len()];
    let mut point = Vec::new();
    loop {
        let programme = Programme::new(constraints, amounts, users, &full);
        point.resize(programme.lp.columns.len(), Rational::new());
        let start = StartingPoint { point: Some(&point), basis: &[] };
        let optimum = refine::solve(&programme.lp, &programme.scales, start, EXACT.max_pivots)?.optimum()?;
        let gain = Rational::from(&optimum.x[0] - 1u32);
        let is_full = |left: &Option<Rational>| left.as_ref().is_some_and(|left| *left <= gain);
        let next: Vec<bool> = left.iter().map(is_full).collect();
        let is_over = next.iter().all(|full| *full);
        if is_over || next == full {
            return Ok(programme.read(&optimum, gain, is_over));
        }
        full = next;
        point = optimum.x;
    }
}

struct Programme<'a> {
    users: &'a [Wanting],
    full: &'a [bool],
    /// The first column is `z + 1`, and the other columns are tasks. The rows are the rows of the cluster, the floors
    /// of the users, and the task limits of users.
    lp: ExactLp,
    scales: Vec<f64>,
    /// `(position of the user, class)` of each column from the second on.
    placements: Vec<(usize, usize)>,
    n_rows: usize,
    n_users: usize,
    /// For each user by position, the row of its task limit.
    task_rows: Vec<Option<usize>>,
}

impl<'a> Programme<'a> {
    fn new(
        constraints: &Constraints<'_>,
        amounts: &[Rational],
        users: &'a [Wanting],
        full: &'a [bool],
    ) -> Self {
        let problem = constraints.problem();
        let mut lp = ExactLp::default();
        lp.rows.extend(amounts.iter().map(|amount| (Sense::AtMost, amount.clone())));
        let n_rows = lp.rows.len();
        let mut level = ExactColumn { cost: Rational::from(1), entries: Vec::new() };
        for (k, Wanting { user, has, unit }) in users.iter().enumerate() {
            lp.rows.push(match (full[k], problem.users()[*user].tasks()) {
                (true, Some(tasks)) => (Sense::AtLeast, tasks.clone()),
                _ => {
                    level.entries.push((n_rows + k, unit.clone()));
                    (Sense::AtMost, Rational::from(unit - has))
                }
            });
        }
        let mut task_rows = Vec::new();
        for user in users {
            let tasks = problem.users()[user.user].tasks();
            task_rows.push(tasks.map(|_| lp.rows.len()));
            lp.rows.extend(tasks.map(|tasks| (Sense::AtMost, tasks.clone())));
        }
        lp.columns.push(level);
        let (mut scales, mut placements) = (vec![1.0], Vec::new());
        for (k, user) in users.iter().enumerate() {
            for i in problem.classes_of(user.user) {
                let mut entries = capacity_entries(constraints, user.user, i);
                entries.push((n_rows + k, Rational::from(if full[k] { 1 } else { -1 })));
                entries.extend(task_rows[k].map(|row| (row, Rational::from(1))));
                lp.columns.push(ExactColumn { cost: Rational::new(), entries });
                scales.push(user.unit.to_f64());
                placements.push((k, i));
            }
        }
        Self { users, full, lp, scales, placements, n_rows, n_users: problem.n_users(), task_rows }
    }

    /// Converts an optimum to a gain. The gain has no prices if all users have all their tasks.
    fn read(&self, optimum: &ExactOptimum, gain: Rational, is_over: bool) -> Gain {
        let mut tasks = vec![Vec::new(); self.n_users];
        for ((k, i), x) in self.placements.iter().zip(&optimum.x[1..]).filter(|(_, x)| !x.is_zero()) {
            tasks[self.users[*k].user].push((*i, x.clone()));
        }
        let mut found =
            Gain { gain, tasks, weights: Vec::new(), prices: Vec::new(), user_prices: Vec::new() };
        if is_over {
            return found;
        }
        let priced = |row: usize| Some(optimum.y[row].clone()).filter(|price| !price.is_zero());
        found.prices = (0..self.n_rows).filter_map(|row| Some((row, priced(row)?))).collect();
        for (k, user) in self.users.iter().enumerate() {
            // Rows with a lower bound have prices of at most 0.
            let weight = priced(self.n_rows + k).map(|l| if self.full[k] { -l } else { l });
            found.weights.extend(weight.map(|l| (user.user, l)));
            let price = self.task_rows[k].and_then(priced);
            found.user_prices.extend(price.map(|q| (user.user, q)));
        }
        found
    }
}

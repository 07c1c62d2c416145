//! The largest level to which a user of a given allocation can rise. It decides max-min fairness of an allocation from
//! any source (docs/theory.md, section 7).
//!
//! With `U_n(y) = sum_i u_ni y_ni` and the levels `U_n(x) / w_n` of the given `x`, the rise of `n` is
//!
//! ```text
//! max L   such that   y is feasible,   U_n(y) >= w_n L,
//!                     U_m(y) >= w_m min(level of m, L)   for every other user m.
//! ```
//!
//! Users with a higher level may fall to the new level of `n`, and no other user loses. The requirements grow with `L`,
//! so the feasible values of `L` form an interval, and `x` itself is feasible at the level of `n`. The programme is
//! linear once it is known which users stay above `L`. If the programme treats too many users as above `L`, it requires
//! more than necessary, so `n` can reach its optimum. Users whose level is below this optimum then only have to keep
//! their own level. Repeating this step is Newton's method on a concave function, from below. The dual of the last
//! programme proves the level, with the floors (required levels) of that programme.
//!
//! A user whose tasks are all worth 0 takes no part: it has no floor. Limits of groups are rows like the capacity rows
//! of the classes.

mod bound;

pub use bound::RiseBound;

use std::collections::HashMap;

use evenhand_exact::{LimitRows, Prices, ShareCoefficients};
use evenhand_problem::{Constraints, Rational};

use super::lift::trim;
use crate::error::LevelsError;
use crate::groups::{capacity_entries, limit_entries};
use evenhand_lp::LpError;
use evenhand_lp::exact_lp::{ExactColumn, ExactLp, ExactOptimum, Sense, Variable};
use evenhand_lp::refine::{self, StartingPoint};
use evenhand_lp::settings::EXACT;

/// The column of the level `L`.
const LEVEL: usize = 0;

/// The largest level of a user, with the allocation that shows it and the prices that prove it.
#[derive(Debug, Clone)]
pub struct Rise {
    /// The largest level `L = U_n / w_n` that the user can reach.
    pub level: Rational,
    /// A feasible allocation in which the user has this level: for each user `(class, tasks)`, ascending by class.
    pub tasks: Vec<Vec<(usize, Rational)>>,
    /// The prices that prove that no higher level is feasible: [`Rises::bound`] computes this level from them.
    pub prices: Prices,
}

/// The rises of the users of one allocation.
///
/// All users share one programme, and each search starts from the previous basis. It is therefore faster to ask for
/// users of similar levels one after the other.
pub struct Rises<'a> {
    constraints: &'a Constraints<'a>,
    coefficients: &'a ShareCoefficients,
    limits: &'a LimitRows,
    /// Level and row of each user, indexed by user. `None` if all tasks of the user are worth 0.
    seats: Vec<Option<Seat>>,
    /// `(user, class)` of each column from column 1 on.
    placements: Vec<(usize, usize)>,
    lp: ExactLp,
    /// `units[j]`: roughly the largest possible number of tasks in column `j`.
    units: Vec<f64>,
    /// The given allocation, indexed by column. The entry of the level is set for each user.
    point: Vec<Rational>,
    basis: Vec<Variable>,
}

/// The rows of a user in the programme, and its level.
struct Seat {
    /// The level `U_n(x) / w_n`.
    level: Rational,
    /// The number `sum_i u_ni gamma_ni / w_n` in doubles, an upper bound of the user's level.
    most: f64,
    /// The row of the user's level.
    row: usize,
    /// The worth `u_n / w_n` of a task, if it is the same on all classes of the user.
    uniform: Option<Rational>,
    /// The row of the user's task limit, if its level does not express the limit.
    task_row: Option<usize>,
}

impl<'a> Rises<'a> {
    /// Builds the programme for the allocation `tasks`, which lists `(class, tasks)` for each user. `tasks` must be
    /// feasible and within `limits`.
    #[must_use]
    pub fn new(
        constraints: &'a Constraints<'a>,
        coefficients: &'a ShareCoefficients,
        limits: &'a LimitRows,
        tasks: &[Vec<(usize, Rational)>],
    ) -> Self {
        let n_users = constraints.problem().n_users();
        let mut lp = ExactLp::default();
        lp.rows.extend(constraints.rows().iter().map(|row| (Sense::AtMost, row.capacity.clone())));
        lp.rows.extend(limits.list().iter().map(|limit| (Sense::AtMost, limit.most.clone())));
        lp.columns.push(ExactColumn { cost: Rational::from(1), entries: Vec::new() });
        let mut rises = Self {
            constraints,
            coefficients,
            limits,
            seats: Vec::with_capacity(n_users),
            placements: Vec::new(),
            lp,
            units: vec![1.0],
            point: vec![Rational::new()],
            basis: Vec::new(),
        };
        for n in 0..n_users {
            let placed: HashMap<usize, &Rational> =
                tasks.get(n).into_iter().flatten().map(|(i, x)| (*i, x)).collect();
            let seat = rises.seat(n, &placed);
            rises.seats.push(seat);
        }
        rises
    }

    /// Adds the rows and columns of a user.
    fn seat(&mut self, n: usize, placed: &HashMap<usize, &Rational>) -> Option<Seat> {
        let problem = self.constraints.problem();
        let has_worth = |i: &usize| problem.can_run(n, *i) && !self.coefficients.of(n, *i).is_zero();
        let classes: Vec<usize> = (0..problem.n_servers()).filter(has_worth).collect();
        if !problem.is_active(n) || classes.is_empty() {
            return None;
        }
        let user = &problem.users()[n];
        let row = self.lp.rows.len();
        self.lp.rows.push((Sense::AtLeast, Rational::new()));
        let uniform = uniform(self.coefficients, n, &classes).map(|u| Rational::from(u / user.weight()));
        let limit = user.tasks().filter(|_| uniform.is_none());
        let task_row = limit.map(|limit| {
            self.lp.rows.push((Sense::AtMost, limit.clone()));
            row + 1
        });
        let mut seat = Seat { level: Rational::new(), most: 0.0, row, uniform, task_row };
        for &i in &classes {
            let worth = Rational::from(self.coefficients.of(n, i) / user.weight());
            let gamma = problem.gamma(n, i).to_f64();
            seat.most += gamma * worth.to_f64();
            let x = placed.get(&i).map_or_else(Rational::new, |&x| x.clone());
            seat.level += Rational::from(&worth * &x);
            let mut entries = capacity_entries(self.constraints, n, i);
            entries.extend(limit_entries(self.constraints, self.limits, n, i));
            entries.push((row, worth));
            entries.extend(task_row.map(|row| (row, Rational::from(1))));
            self.lp.columns.push(ExactColumn { cost: Rational::new(), entries });
            self.placements.push((n, i));
            self.units.push(gamma.min(user.tasks().map_or(f64::INFINITY, Rational::to_f64)));
            self.point.push(x);
        }
        Some(seat)
    }

    /// Returns the level `U_n(x) / w_n` of user `n`. `None` if the user takes no part.
    #[must_use]
    pub fn level(&self, n: usize) -> Option<&Rational> {
        self.seats.get(n)?.as_ref().map(|seat| &seat.level)
    }

    /// Computes the largest level of user `n`; `None` if the user takes no part.
    ///
    /// # Errors
    /// [`LpError::ExactlyInfeasible`](evenhand_lp::LpError::ExactlyInfeasible) when the given allocation is not
    /// feasible, or [`LpError::PivotLimit`](evenhand_lp::LpError::PivotLimit).
    pub fn greatest(&mut self, n: usize) -> Result<Option<Rise>, LevelsError> {
        let Some(Some(seat)) = self.seats.get(n) else { return Ok(None) };
        let start = seat.level.clone();
        // The given allocation is feasible whichever users count as above the new level, so doubles may guess these
        // users.
        let mut reached = match self.nearly(n) {
            Ok(Some(bound)) if bound.level > start => bound.level,
            _ => start.clone(),
        };
        let mut point = self.point.clone();
        loop {
            self.set_floors(n, &reached);
            let from = StartingPoint { point: Some(&point), basis: &self.basis };
            let optimum = refine::solve(&self.lp, &self.units, from, EXACT.max_pivots)?.optimum()?;
            self.basis.clone_from(&optimum.basis);
            let level = &optimum.x[LEVEL];
            if *level < start {
                return Err(LevelsError::Lp(LpError::ExactlyInfeasible));
            }
            let others =
                self.seats.iter().enumerate().filter(|(m, _)| *m != n).filter_map(|(_, s)| s.as_ref());
            if others.into_iter().all(|s| (s.level > reached) == (s.level > *level)) {
                return Ok(self.read(n, optimum));
            }
            reached.clone_from(level);
            point = optimum.x;
        }
    }

    /// Sets the rows for user `n`. Users above `reached` may fall.
    fn set_floors(&mut self, n: usize, reached: &Rational) {
        self.lp.columns[LEVEL].entries.clear();
        for (m, seat) in self.seats.iter().enumerate() {
            let Some(seat) = seat else { continue };
            if m == n || seat.level > *reached {
                self.lp.rows[seat.row].1 = Rational::new();
                self.lp.columns[LEVEL].entries.push((seat.row, Rational::from(-1)));
            } else {
                self.lp.rows[seat.row].1.clone_from(&seat.level);
            }
        }
    }

    /// Converts an optimum to the rise of user `n`. The rise ends at the level at which the user has all its tasks.
    fn read(&self, n: usize, optimum: ExactOptimum) -> Option<Rise> {
        let seat = self.seats[n].as_ref()?;
        let problem = self.constraints.problem();
        let mut level = optimum.x[LEVEL].clone();
        let mut x = optimum.x;
        let mut prices = self.prices(&optimum.y);
        if let Some(limit) = self.level_of_all_tasks(n).filter(|limit| *limit < level) {
            // Stop between the given allocation and the optimum, at the point where the user has exactly all its tasks.
            let part = Rational::from(&limit - &seat.level) / Rational::from(&level - &seat.level);
            for (x, start) in x.iter_mut().zip(&self.point) {
                let step = Rational::from(&*x - start) * &part;
                *x = step + start;
            }
            level = limit;
            prices = self.prices_of_the_limit(n);
        }
        let mut tasks = vec![Vec::new(); problem.n_users()];
        for (&(m, i), x) in self.placements.iter().zip(&x[1..]).filter(|(_, x)| !x.is_zero()) {
            tasks[m].push((i, x.clone()));
        }
        for (m, list) in tasks.iter_mut().enumerate() {
            let Some(seat) = &self.seats[m] else { continue };
            let Some(u) = &seat.uniform else { continue };
            let floor = if m == n || seat.level > level { &level } else { &seat.level };
            let placed: Rational = list.iter().map(|(_, x)| x).sum();
            trim(list, placed - Rational::from(floor / u));
            list.retain(|(_, x)| !x.is_zero());
        }
        Some(Rise { level, tasks, prices })
    }

    /// Returns `u_n / w_n`, if it is the same on all classes of the user.
    fn uniform_worth(&self, n: usize) -> Option<Rational> {
        self.seats[n].as_ref()?.uniform.clone()
    }

    /// Returns the level at which the user has all its tasks, if the level expresses it.
    fn level_of_all_tasks(&self, n: usize) -> Option<Rational> {
        let tasks = self.constraints.problem().users()[n].tasks()?;
        Some(self.uniform_worth(n)? * tasks)
    }

    /// Converts the dual `y`, indexed by row of the programme, to prices of users and rows.
    fn prices(&self, y: &[Rational]) -> Prices {
        let mut prices = self.no_prices();
        let n_rows = prices.rows.len();
        prices.rows.clone_from_slice(&y[..n_rows]);
        for (m, seat) in self.seats.iter().enumerate() {
            let Some(seat) = seat else { continue };
            // Rows `>=` of a maximisation have duals of at most 0.
            prices.user_weights[m] = Rational::from(-&y[seat.row]);
            if let Some(row) = seat.task_row {
                prices.users[m].clone_from(&y[row]);
            }
        }
        prices
    }

    /// Returns prices that prove that the user has at most all its tasks: `l_n u_n / w_n = q_n`, and all other prices
    /// are 0.
    fn prices_of_the_limit(&self, n: usize) -> Prices {
        let mut prices = self.no_prices();
        prices.user_weights[n] = self.uniform_worth(n).map_or_else(Rational::new, Rational::recip);
        prices.users[n] = Rational::from(1);
        prices
    }

    fn no_prices(&self) -> Prices {
        Prices {
            user_weights: vec![Rational::new(); self.seats.len()],
            rows: vec![Rational::new(); self.constraints.rows().len() + self.limits.list().len()],
            users: vec![Rational::new(); self.seats.len()],
        }
    }
}

/// Returns `u_n`, if it is the same on all of these classes.
fn uniform<'c>(coefficients: &'c ShareCoefficients, n: usize, classes: &[usize]) -> Option<&'c Rational> {
    let (first, rest) = classes.split_first()?;
    let u = coefficients.of(n, *first);
    rest.iter().all(|&i| coefficients.of(n, i) == u).then_some(u)
}

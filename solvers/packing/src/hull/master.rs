//! The linear programme of a round, over the packings that were generated so far.
//!
//! The variables are the level `t` and the fractions `lambda` of the time that servers have each packing. With `s_n`,
//! the share of one task of user `n` divided by its weight, the rows are
//!
//! - `sum count_i lambda k_n s_n - t >= 0` for an active user, and `>= s_n x_n` instead for a user that keeps its
//!   tasks,
//! - `sum count_i lambda k_n / T_n <= 1` for a user with finite tasks,
//! - `sum lambda <= 1` for a class.

use std::collections::HashSet;

use evenhand_exact::{Packing, PackingLevel};
use evenhand_lp::exact_lp::{ExactColumn, ExactLp, ExactOptimum, Sense, Variable};
use evenhand_lp::highs::{ColumnBlock, FloatLp};
use evenhand_problem::Problem;
use rug::Rational;

use super::classes::{Classes, Tasks};
use crate::limits::{PackingError, SearchLimits};
use crate::settings::PACKING;

/// The rows of a user.
struct User {
    /// The index of the user.
    n: usize,
    /// The share of one task divided by the user's weight, scaled.
    share: Rational,
    float_share: f64,
    /// The level that the user keeps, once it is decided.
    level: Option<Rational>,
    /// For a user with finite tasks, the number of tasks and the row that bounds them.
    tasks: Option<(Rational, usize)>,
}

/// The linear programme.
pub struct Master<'a> {
    classes: &'a Classes,
    limits: &'a SearchLimits,
    /// The users with packings. The level rows of these users come first in the programme, in this order.
    users: Vec<User>,
    /// For each user of the problem, its position in `users`.
    at: Vec<Option<usize>>,
    /// The first row of the classes. Their rows come last.
    first_class: usize,
    float: FloatLp,
    columns: Vec<(usize, Tasks)>,
    known: HashSet<(usize, Tasks)>,
    /// The number of times that HiGHS solved the programme.
    pub programmes: usize,
    /// The number of exact pivots after HiGHS.
    pub pivots: usize,
}

/// The entries of a column, each with its row.
type Entries<V> = Vec<(usize, V)>;

impl<'a> Master<'a> {
    pub fn new(
        problem: &Problem,
        classes: &'a Classes,
        shares: &[Rational],
        limits: &'a SearchLimits,
    ) -> Result<Self, PackingError> {
        let movable: Vec<usize> = (0..problem.n_users()).filter(|n| classes.has_packing(*n)).collect();
        let mut at = vec![None; problem.n_users()];
        let mut users = Vec::new();
        let mut next = movable.len();
        for n in movable {
            at[n] = Some(users.len());
            let tasks = problem.users()[n].tasks().map(|tasks| {
                next += 1;
                (tasks.clone(), next - 1)
            });
            let (share, float_share) = (shares[n].clone(), shares[n].to_f64());
            users.push(User { n, share, float_share, level: None, tasks });
        }
        let mut rows = vec![(0.0, f64::INFINITY); users.len()];
        rows.resize(next + classes.list.len(), (f64::NEG_INFINITY, 1.0));
        let mut float = FloatLp::new(&rows)?;
        let mut level = ColumnBlock::default();
        level.push(1.0, (0..users.len()).map(|row| (row, -1.0)))?;
        float.add_columns(&level)?;
        let mut master = Self {
            classes,
            limits,
            users,
            at,
            first_class: next,
            float,
            columns: Vec::new(),
            known: HashSet::new(),
            programmes: 0,
            pivots: 0,
        };
        let alone = classes.list.iter().enumerate().flat_map(|(i, class)| class.alone().map(move |k| (i, k)));
        master.add(alone.collect())?;
        Ok(master)
    }

    /// Returns true if the level of some user may still rise.
    pub fn has_active(&self) -> bool {
        self.users.iter().any(|user| user.level.is_none())
    }

    /// Returns the number of packings that were generated.
    pub fn n_columns(&self) -> usize {
        self.columns.len()
    }

    /// Returns true if `totals` give every user the level that it keeps.
    pub fn has_reached(&self, totals: &[Rational]) -> bool {
        self.users
            .iter()
            .all(|user| user.level.as_ref() == Some(&Rational::from(&totals[user.n] * &user.share)))
    }

    /// Adds the packings that are not in the programme yet. Returns true if there were any.
    fn add(&mut self, packings: Vec<(usize, Tasks)>) -> Result<bool, PackingError> {
        let mut block = ColumnBlock::default();
        for packing in packings {
            if !self.known.insert(packing.clone()) {
                continue;
            }
            let (i, tasks) = &packing;
            let count = self.classes.list[*i].count as f64;
            let mut entries: Entries<f64> = Vec::new();
            for (n, k) in tasks {
                let Some(at) = self.at[*n] else { continue };
                let (user, k) = (&self.users[at], *k as f64 * count);
                entries.push((at, k * user.float_share));
                entries.extend(user.tasks.as_ref().map(|(tasks, row)| (*row, k / tasks.to_f64())));
            }
            entries.push((self.first_class + i, 1.0));
            block.push(0.0, entries)?;
            self.columns.push(packing);
        }
        if block.is_empty() {
            return Ok(false);
        }
        self.float.add_columns(&block)?;
        Ok(true)
    }

    /// Raises the level of the active users as far as possible. Users that cannot have more then keep their level.
    /// Returns the proof of the level and the exact solution.
    pub fn round(&mut self) -> Result<(PackingLevel, ExactOptimum), PackingError> {
        for _ in 0..PACKING.most_rounds {
            self.limits.turns(PACKING.round_turns + self.columns.len())?;
            self.programmes += 1;
            // If HiGHS fails, exact pivots solve the programme without a starting basis.
            let found = self.float.solve().ok().map(|solution| self.price(&solution.row_duals));
            if let Some(better) = found.filter(|better| !better.is_empty())
                && self.add(better)?
            {
                continue;
            }
            let optimum = self.exact()?;
            let (level, better) = self.proven(&optimum)?;
            if better.is_empty() {
                self.keep(&optimum)?;
                return Ok((level, optimum));
            }
            if !self.add(better)? {
                return Err(PackingError::Inexact);
            }
        }
        Err(PackingError::Budget { what: "rounds of pricing", limit: PACKING.most_rounds })
    }

    /// Returns packings that improve the programme at the dual prices from HiGHS.
    fn price(&self, duals: &[f64]) -> Vec<(usize, Tasks)> {
        let mut better = Vec::new();
        for (i, class) in self.classes.list.iter().enumerate() {
            let count = class.count as f64;
            let value = |n: usize| {
                let Some(at) = self.at[n] else { return 0.0 };
                let user = &self.users[at];
                let of_tasks = user.tasks.as_ref().map_or(0.0, |(tasks, row)| duals[*row] / tasks.to_f64());
                count * (-duals[at] * user.float_share - of_tasks)
            };
            let price = duals[self.first_class + i].max(0.0) + PACKING.improvement;
            better.extend(class.better(value, price, PACKING.precision).into_iter().map(|k| (i, k)));
        }
        better
    }

    /// Solves the programme in rationals, starting from the basis of HiGHS.
    fn exact(&mut self) -> Result<ExactOptimum, PackingError> {
        let mut lp = ExactLp::default();
        let one = || Rational::from(1);
        let level = |user: &User| (Sense::AtLeast, user.level.clone().unwrap_or_default());
        lp.rows.extend(self.users.iter().map(level));
        lp.rows.resize(self.first_class + self.classes.list.len(), (Sense::AtMost, one()));
        let active = self.users.iter().enumerate().filter(|(_, user)| user.level.is_none());
        let entries = active.map(|(row, _)| (row, Rational::from(-1))).collect();
        lp.columns.push(ExactColumn { cost: one(), entries });
        for (i, tasks) in &self.columns {
            let count = self.classes.list[*i].count;
            let mut entries = Entries::new();
            let mut bounds = Entries::new();
            for (n, k) in tasks {
                let Some(at) = self.at[*n] else { continue };
                let (user, k) = (&self.users[at], Rational::from(*k) * count);
                bounds.extend(user.tasks.as_ref().map(|(tasks, row)| (*row, Rational::from(&k / tasks))));
                entries.push((at, k * &user.share));
            }
            entries.extend(bounds);
            entries.push((self.first_class + i, one()));
            entries.sort_unstable_by_key(|(row, _)| *row);
            lp.columns.push(ExactColumn { cost: Rational::new(), entries });
        }
        let basis: Vec<Variable> =
            self.float.basis().map_or_else(|_| Vec::new(), |basis| basis.variables().collect());
        let optimum = lp.optimise(&basis, PACKING.most_pivots)?;
        self.pivots += optimum.pivots;
        Ok(optimum)
    }

    /// Proves that no packing improves an exact optimum. Returns the prices with the proofs, and the packings that
    /// refute the optimality.
    fn proven(&self, optimum: &ExactOptimum) -> Result<(PackingLevel, Vec<(usize, Tasks)>), PackingError> {
        let mut level = PackingLevel::default();
        for (at, user) in self.users.iter().enumerate() {
            let price = Rational::from(-&optimum.y[at]) * &user.share;
            let of_tasks = user.tasks.as_ref().map(|(tasks, row)| Rational::from(&optimum.y[*row] / tasks));
            if !price.is_zero() {
                let has_all =
                    |(tasks, _): &(Rational, usize)| Rational::from(tasks * &user.share) == optimum.x[0];
                if user.level.is_none() && !user.tasks.as_ref().is_some_and(has_all) {
                    level.covers.push(user.n);
                }
                level.user_weights.push((user.n, price));
            }
            level.user_prices.extend(of_tasks.filter(|q| !q.is_zero()).map(|q| (user.n, q)));
        }
        let of = |list: &[(usize, Rational)], n: usize| {
            let place = list.binary_search_by_key(&n, |(of, _)| *of);
            place.map_or_else(|_| Rational::new(), |place| list[place].1.clone())
        };
        let mut better = Vec::new();
        for (i, class) in self.classes.list.iter().enumerate() {
            let price = Rational::from(&optimum.y[self.first_class + i] / class.count);
            let value = |n: usize| of(&level.user_weights, n) - of(&level.user_prices, n);
            match class.verify(value, &price)? {
                Ok(tree) => level.pricing.extend(tree.map(|tree| (class.server, tree))),
                Err(packing) => better.push((i, packing)),
            }
            if !price.is_zero() {
                level.class_prices.push((class.server, price));
            }
        }
        Ok((level, better))
    }

    /// Marks active users that cannot have more, or that have all their tasks, as users that keep their level.
    fn keep(&mut self, optimum: &ExactOptimum) -> Result<(), PackingError> {
        let level = &optimum.x[0];
        let mut is_kept = false;
        for (row, user) in self.users.iter_mut().enumerate().filter(|(_, user)| user.level.is_none()) {
            let has_all = |(tasks, _): &(Rational, usize)| Rational::from(tasks * &user.share) <= *level;
            if optimum.y[row].is_zero() && !user.tasks.as_ref().is_some_and(has_all) {
                continue;
            }
            is_kept = true;
            user.level = Some(level.clone());
            self.float.set_coefficient(row, 0, 0.0)?;
            self.float.set_row_bounds(row, level.to_f64(), f64::INFINITY)?;
        }
        if is_kept { Ok(()) } else { Err(PackingError::Inexact) }
    }

    /// Returns the packings that are used for a positive fraction of the time.
    pub fn schedule(&self, optimum: &ExactOptimum) -> Vec<Packing> {
        let used = self.columns.iter().zip(&optimum.x[1..]).filter(|(_, part)| !part.is_zero());
        let mut schedule: Vec<Packing> = used
            .map(|((i, tasks), part)| Packing {
                server: self.classes.list[*i].server,
                part: part.clone(),
                tasks: tasks.clone(),
            })
            .collect();
        schedule.sort_by(|a, b| a.server.cmp(&b.server).then_with(|| a.tasks.cmp(&b.tasks)));
        schedule
    }
}

//! The linear regime of a point: who has all its tasks, who runs where, and what blocks it there.
//!
//! Within a regime everything is linear. A user that lacks tasks has `x_n = w_n gamma_ni l_r`
//! wherever it runs, with the level `l_r` of its bottleneck `r` there, and the rows that serve as
//! bottlenecks are full. All tasks of a user but those on its main class (where it has most) are
//! unknowns, and so are the levels: about as many as there are bottlenecks, whatever the number of
//! users.

use evenhand_problem::Rational;

use super::market::{Market, Point};
use super::scalar::Scalar;

/// A regime.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Regime {
    /// By user: whether it has all its tasks.
    pub satisfied: Vec<bool>,
    /// By user: places where it runs, the main one first.
    pub support: Vec<Vec<usize>>,
    /// By place: what blocks the user there; only where it runs and lacks tasks.
    pub bottleneck: Vec<Option<usize>>,
    /// Rows that must be full, ascending.
    pub rows: Vec<usize>,
    /// Rows whose levels are the same though they block different places.
    pub ties: Vec<(usize, usize)>,
}

/// How a regime is read off a point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reading {
    /// Relative size of what counts as nothing: tasks, free parts of rows, differences of levels.
    pub nothing: f64,
    /// Whether rows that block one place at one level count all, or the first alone.
    pub all_ties: bool,
}

/// Unknown of a regime's system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unknown {
    /// Level of a row.
    Level(usize),
    /// Tasks at a place that is not the main one of its user.
    Tasks(usize),
}

/// The equations of a regime.
#[derive(Debug, Clone)]
pub struct System<T> {
    /// The unknowns, by column.
    pub unknowns: Vec<Unknown>,
    /// Coefficients, sparse, and right-hand sides.
    pub rows: Vec<(Vec<(usize, T)>, T)>,
}

impl Regime {
    /// The regime at `point`.
    ///
    /// # Errors
    /// The place of a user that lacks tasks and runs where nothing is full.
    pub fn read(market: &Market<f64>, point: &Point<f64>, reading: Reading) -> Result<Self, usize> {
        let nothing = reading.nothing;
        let used = market.used(point);
        let is_full: Vec<bool> = used.iter().zip(&market.capacity).map(|(u, c)| c - u <= nothing * c).collect();
        let satisfied: Vec<bool> = (market.limits.iter().zip(&point.totals))
            .map(|(limit, total)| limit.is_some_and(|limit| limit - total <= nothing * limit))
            .collect();
        let mut support = vec![Vec::new(); market.n_users()];
        let mut levels = vec![0.0_f64; used.len()];
        for (user, places) in market.of_user.iter().enumerate() {
            let runs = |p: &&usize| point.tasks[**p] > nothing * point.totals[user];
            let mut list: Vec<usize> = places.iter().filter(runs).copied().collect();
            list.sort_by(|a, b| point.tasks[*b].total_cmp(&point.tasks[*a]).then(a.cmp(b)));
            for p in &list {
                for (row, _) in market.places[*p].usage.iter().filter(|(row, _)| is_full[*row]) {
                    levels[*row] = levels[*row].max(market.level(point, *p));
                }
            }
            support[user] = list;
        }
        let mut regime = Self {
            satisfied,
            support,
            bottleneck: vec![None; market.places.len()],
            rows: Vec::new(),
            ties: Vec::new(),
        };
        let mut needed = vec![false; used.len()];
        for (user, places) in regime.support.iter().enumerate() {
            for &p in places.iter().filter(|_| !regime.satisfied[user]) {
                let full = market.places[p].usage.iter().map(|(row, _)| *row).filter(|row| is_full[*row]);
                let lowest = full.clone().min_by(|a, b| levels[*a].total_cmp(&levels[*b])).ok_or(p)?;
                regime.bottleneck[p] = Some(lowest);
                needed[lowest] = true;
                if reading.all_ties {
                    let bound = levels[lowest] * (1.0 + nothing);
                    for other in full.filter(|row| *row != lowest && levels[*row] <= bound) {
                        needed[other] = true;
                        regime.ties.push((lowest.min(other), lowest.max(other)));
                    }
                }
            }
        }
        // Who does not run on a class needs a bottleneck there as well; those that are there anyway
        // cost no equation.
        for (p, place) in market.places.iter().enumerate() {
            if regime.satisfied[place.user] || regime.bottleneck[p].is_some() {
                continue;
            }
            let bound = market.level(point, p) * (1.0 + nothing);
            let blocks = |row: &usize| is_full[*row] && levels[*row] <= bound;
            let mut blocking = place.usage.iter().map(|(row, _)| *row).filter(blocks);
            if !blocking.clone().any(|row| needed[row])
                && let Some(row) = blocking.next()
            {
                needed[row] = true;
            }
        }
        regime.rows = (0..needed.len()).filter(|row| needed[*row]).collect();
        regime.ties.sort_unstable();
        regime.ties.dedup();
        Ok(regime)
    }

    /// The equations of the regime.
    pub fn system<T: Scalar>(&self, market: &Market<T>) -> System<T> {
        let mut column_of_row = vec![usize::MAX; market.capacity.len()];
        let mut column_of_place = vec![usize::MAX; market.places.len()];
        let mut unknowns = Vec::new();
        let tied = self.ties.iter().flat_map(|(a, b)| [*a, *b]);
        for row in self.bottleneck.iter().flatten().copied().chain(tied) {
            if column_of_row[row] == usize::MAX {
                column_of_row[row] = unknowns.len();
                unknowns.push(Unknown::Level(row));
            }
        }
        for places in &self.support {
            for &p in places.iter().skip(1) {
                column_of_place[p] = unknowns.len();
                unknowns.push(Unknown::Tasks(p));
            }
        }
        let mut equation_of_row = vec![usize::MAX; market.capacity.len()];
        let mut rows: Vec<(Vec<(usize, T)>, T)> = Vec::new();
        for &row in &self.rows {
            equation_of_row[row] = rows.len();
            rows.push((Vec::new(), market.capacity[row].clone()));
        }
        for (user, places) in self.support.iter().enumerate() {
            let Some((&main, others)) = places.split_first() else { continue };
            for (row, d) in &market.places[main].usage {
                let Some((entries, rhs)) = rows.get_mut(equation_of_row[*row]) else { continue };
                match (self.bottleneck[main], &market.limits[user]) {
                    (Some(level), _) => {
                        entries.push((column_of_row[level], d.times(&market.places[main].pace)));
                    }
                    (None, Some(limit)) => *rhs = rhs.minus(&d.times(limit)),
                    (None, None) => {}
                }
                entries.extend(others.iter().map(|q| (column_of_place[*q], T::zero().minus(d))));
            }
            for &q in others {
                for (row, d) in &market.places[q].usage {
                    if let Some((entries, _)) = rows.get_mut(equation_of_row[*row]) {
                        entries.push((column_of_place[q], d.clone()));
                    }
                }
                if let (Some(here), Some(there)) = (self.bottleneck[main], self.bottleneck[q]) {
                    let there = (column_of_row[there], T::zero().minus(&market.places[q].pace));
                    let here = (column_of_row[here], market.places[main].pace.clone());
                    rows.push((vec![here, there], T::zero()));
                }
            }
        }
        for (a, b) in &self.ties {
            let one = T::of(&Rational::from(1));
            let other = T::zero().minus(&one);
            rows.push((vec![(column_of_row[*a], one), (column_of_row[*b], other)], T::zero()));
        }
        for (entries, _) in &mut rows {
            merge(entries);
        }
        System { unknowns, rows }
    }

    /// The point with the given values of the unknowns.
    pub fn point<T: Scalar>(&self, market: &Market<T>, unknowns: &[Unknown], values: &[T]) -> Point<T> {
        let mut tasks = vec![T::zero(); market.places.len()];
        let mut levels = vec![T::zero(); market.capacity.len()];
        for (unknown, value) in unknowns.iter().zip(values) {
            match unknown {
                Unknown::Level(row) => levels[*row] = value.clone(),
                Unknown::Tasks(p) => tasks[*p] = value.clone(),
            }
        }
        for (user, places) in self.support.iter().enumerate() {
            let Some((&main, others)) = places.split_first() else { continue };
            let total = match (self.bottleneck[main], &market.limits[user]) {
                (Some(row), _) => market.places[main].pace.times(&levels[row]),
                (None, Some(limit)) => limit.clone(),
                (None, None) => T::zero(),
            };
            tasks[main] = others.iter().fold(total, |rest, q| rest.minus(&tasks[*q]));
        }
        market.point(tasks)
    }
}

impl Unknown {
    /// Its value at `point`: for a level the highest one among those whom the row blocks.
    pub fn value(self, market: &Market<f64>, regime: &Regime, point: &Point<f64>) -> f64 {
        match self {
            Self::Tasks(p) => point.tasks[p],
            Self::Level(row) => {
                let class = market.rows_of_class.iter().position(|rows| rows.contains(&row)).unwrap_or(0);
                let blocked = market.of_class[class].clone().filter(|p| regime.bottleneck[*p] == Some(row));
                blocked.map(|p| market.level(point, p)).fold(0.0, f64::max)
            }
        }
    }
}

/// Entries of one column added up.
fn merge<T: Scalar>(entries: &mut Vec<(usize, T)>) {
    entries.sort_by_key(|(column, _)| *column);
    let mut merged: Vec<(usize, T)> = Vec::with_capacity(entries.len());
    for (column, value) in entries.drain(..) {
        match merged.last_mut() {
            Some((last, sum)) if *last == column => *sum = sum.plus(&value),
            _ => merged.push((column, value)),
        }
    }
    *entries = merged;
}

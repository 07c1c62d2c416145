//! The linear regime of a point: who has all its tasks, who runs where, and what blocks it there.
//!
//! Within a regime everything is linear. A user that lacks tasks has `x_n = w_n gamma_ni l_r`
//! wherever it runs, with the level `l_r` of its bottleneck `r` there, and the rows that serve as
//! bottlenecks are full. All tasks of a user but those on its main class (where it has most) are
//! unknowns, and so are the levels: about as many as there are bottlenecks, whatever the number of
//! users.

use super::market::{Market, Point};
use super::scalar::Scalar;
use super::system::Unknown;

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
    /// `(place, row)`: places whose level is that of a full row which does not block them there.
    pub touching: Vec<(usize, usize)>,
}

/// How a regime is read off a point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reading {
    /// Relative size of what counts as nothing: tasks, free parts of rows, differences of levels.
    pub nothing: f64,
    /// Which full rows become equations.
    pub rows: Rows,
    /// Whether tasks that are nothing to their user, and something to a row of their class, count.
    pub small_classes: bool,
}

/// Which of the full rows a regime keeps full.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rows {
    /// One for every place that needs a bottleneck.
    Needed,
    /// All that are full, needed or not.
    Full,
    /// The same, and all levels that are equal stay so.
    Touching,
}

impl Regime {
    /// The regime at `point`.
    ///
    /// # Errors
    /// The place of a user that lacks tasks and runs where nothing is full.
    pub fn read(market: &Market<f64>, point: &Point<f64>, reading: Reading) -> Result<Self, usize> {
        let nothing = reading.nothing;
        let used = market.used(point);
        let is_full: Vec<bool> =
            used.iter().zip(&market.capacity).map(|(u, c)| c - u <= nothing * c).collect();
        let satisfied: Vec<bool> = (market.limits.iter().zip(&point.totals))
            .map(|(limit, total)| limit.is_some_and(|limit| limit - total <= nothing * limit))
            .collect();
        let mut support = vec![Vec::new(); market.n_users()];
        let mut levels = vec![0.0_f64; used.len()];
        for (user, places) in market.of_user.iter().enumerate() {
            let runs = |p: &&usize| {
                let tasks = point.tasks[**p];
                let is_some = |(row, d): &(usize, f64)| tasks * d > nothing * market.capacity[*row];
                tasks > nothing * point.totals[user]
                    || (reading.small_classes && market.places[**p].usage.iter().any(is_some))
            };
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
            touching: Vec::new(),
        };
        let mut needed = vec![false; used.len()];
        for (user, places) in regime.support.iter().enumerate() {
            for &p in places.iter().filter(|_| !regime.satisfied[user]) {
                let full = market.places[p].usage.iter().map(|(row, _)| *row).filter(|row| is_full[*row]);
                let lowest = full.clone().min_by(|a, b| levels[*a].total_cmp(&levels[*b])).ok_or(p)?;
                regime.bottleneck[p] = Some(lowest);
                needed[lowest] = true;
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
        regime.rows = (0..needed.len())
            .filter(|row| {
                needed[*row] || (reading.rows != Rows::Needed && is_full[*row] && levels[*row] > 0.0)
            })
            .collect();
        if reading.rows == Rows::Touching {
            for (p, place) in market.places.iter().enumerate() {
                let level = market.level(point, p);
                let full = place.usage.iter().map(|(row, _)| *row).filter(|row| is_full[*row]);
                let touches = |row: &usize| {
                    levels[*row] > 0.0
                        && (levels[*row] - level).abs() <= nothing * level
                        && regime.bottleneck[p] != Some(*row)
                };
                regime.touching.extend(full.filter(touches).map(|row| (p, row)));
            }
        }
        Ok(regime)
    }

    /// By unknown: whether it is worth solving for. Levels are; of the places beside the main ones
    /// those that tie rows together which are not tied yet, those with most tasks first, so that no
    /// more than the rows remain; and one of a satisfied user for every full row that has no level.
    /// The tasks elsewhere are as good as any where users are split for no need.
    pub fn forest(&self, market: &Market<f64>, point: &Point<f64>, unknowns: &[Unknown]) -> Vec<bool> {
        let mut parent: Vec<usize> = (0..market.capacity.len()).collect();
        let mut main = vec![None; market.n_users()];
        self.support.iter().enumerate().for_each(|(n, places)| main[n] = places.first().copied());
        let mut has_level = vec![false; market.capacity.len()];
        self.bottleneck.iter().flatten().for_each(|row| has_level[*row] = true);
        let mut keep = vec![false; unknowns.len()];
        let mut order: Vec<usize> = (0..unknowns.len()).collect();
        let size = |k: usize| match unknowns[k] {
            Unknown::Level(_) => f64::INFINITY,
            Unknown::Tasks(p) => point.tasks[p] / point.totals[market.places[p].user],
        };
        order.sort_by(|a, b| size(*b).total_cmp(&size(*a)).then(a.cmp(b)));
        let needs: Vec<bool> =
            (0..has_level.len()).map(|row| self.rows.binary_search(&row).is_ok()).collect();
        for k in order {
            let Unknown::Tasks(p) = unknowns[k] else {
                keep[k] = true;
                continue;
            };
            let Some(main) = main[market.places[p].user] else { continue };
            if let (Some(here), Some(there)) = (self.bottleneck[main], self.bottleneck[p]) {
                let (a, b) = (root(&mut parent, here), root(&mut parent, there));
                keep[k] = a != b;
                parent[a] = b;
            } else {
                for (row, _) in market.places[p].usage.iter().chain(&market.places[main].usage) {
                    if needs[*row] && !has_level[*row] {
                        has_level[*row] = true;
                        keep[k] = true;
                    }
                }
            }
        }
        keep
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

fn root(parent: &mut [usize], mut node: usize) -> usize {
    while parent[node] != node {
        parent[node] = parent[parent[node]];
        node = parent[node];
    }
    node
}

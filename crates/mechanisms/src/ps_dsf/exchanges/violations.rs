//! What the solution of a regime violates, and the regime without it.

use super::market::{Market, Point};
use super::regime::Regime;

/// Relative size of violated inequalities that is rounding.
pub const ROUNDING: f64 = 1e-11;
/// Satisfied users of whom less than this part of the worst lack is missing may wait.
const SOME: f64 = 0.3;

/// The solution of a regime, and what is wrong with it.
pub struct Here<'a> {
    market: &'a Market<f64>,
    landed: &'a Point<f64>,
    pinned: Vec<bool>,
    /// By row: its level, infinite where it is nobody's bottleneck.
    level: Vec<f64>,
    /// By row: part in use.
    fill: Vec<f64>,
}

impl<'a> Here<'a> {
    /// The solution `landed` of `regime`, with the places that stayed as they were.
    pub fn new(market: &'a Market<f64>, landed: &'a Point<f64>, regime: &Regime, pinned: Vec<bool>) -> Self {
        let mut level = vec![f64::INFINITY; market.capacity.len()];
        for (p, row) in regime.bottleneck.iter().enumerate().filter(|(p, _)| !pinned[*p]) {
            row.iter().for_each(|row| level[*row] = market.level(landed, p));
        }
        let fill = market.used(landed).iter().zip(&market.capacity).map(|(used, c)| used / c).collect();
        Self { market, landed, pinned, level, fill }
    }

    /// The row of least level that a place uses.
    fn lowest(&self, p: usize) -> Option<usize> {
        let rows = self.market.places[p].usage.iter().map(|(row, _)| *row);
        rows.min_by(|a, b| self.level[*a].total_cmp(&self.level[*b]))
    }

    /// The tasks that a user could have at a place.
    fn offer(&self, p: usize) -> f64 {
        self.lowest(p).map_or(f64::INFINITY, |row| self.level[row] * self.market.places[p].pace)
    }

    /// Users with more than all tasks are satisfied.
    pub fn satisfied(&self, regime: &mut Regime) -> bool {
        let mut changed = false;
        for (user, limit) in self.market.limits.iter().enumerate() {
            if limit.is_some_and(|limit| self.landed.totals[user] > limit * (1.0 + ROUNDING))
                && !regime.satisfied[user]
            {
                regime.satisfied[user] = true;
                regime.support[user].iter().for_each(|p| regime.bottleneck[*p] = None);
                changed = true;
            }
        }
        changed
    }

    /// Pinned places leave that are above the level of a row; others take the lowest row that blocks
    /// them.
    pub fn other_bottlenecks(&self, regime: &mut Regime) -> bool {
        let mut changed = false;
        for p in 0..self.market.places.len() {
            let (Some(row), Some(lowest)) = (regime.bottleneck[p], self.lowest(p)) else { continue };
            let level = self.level[lowest];
            if self.pinned[p] && self.market.level(self.landed, p) > level * (1.0 + ROUNDING) {
                regime.support[self.market.places[p].user].retain(|q| *q != p);
                regime.bottleneck[p] = None;
                changed = true;
            } else if lowest != row && level < self.level[row] * (1.0 - ROUNDING) {
                regime.bottleneck[p] = Some(lowest);
                changed = true;
            }
        }
        changed
    }

    /// Satisfied users leave places that do not offer all their tasks, for the best one; where that
    /// does not offer them either, they are not satisfied.
    pub fn unsatisfied(&self, regime: &mut Regime) -> bool {
        let mut changed = false;
        let lack = |user: usize, limit: f64| {
            let places = regime.support[user].iter().filter(|p| self.landed.tasks[**p] > 0.0);
            places.map(|p| limit / self.offer(*p) - 1.0).fold(0.0, f64::max)
        };
        let of = |(user, limit): (usize, &Option<f64>)| {
            limit.filter(|_| regime.satisfied[user]).map_or(0.0, |limit| lack(user, limit))
        };
        let lacks: Vec<f64> = self.market.limits.iter().enumerate().map(of).collect();
        let most = lacks.iter().copied().fold(0.0, f64::max);
        for (user, limit) in self.market.limits.iter().enumerate() {
            let Some(limit) = limit.filter(|limit| {
                regime.satisfied[user] && self.landed.totals[user] >= limit * (1.0 - ROUNDING)
            }) else {
                continue;
            };
            let bad = |p: &usize| self.landed.tasks[*p] > 0.0 && limit > self.offer(*p) * (1.0 + ROUNDING);
            if lacks[user] < SOME * most || !regime.support[user].iter().any(bad) {
                continue;
            }
            let places = self.market.of_user[user].iter().copied();
            let best = places.max_by(|a, b| self.offer(*a).total_cmp(&self.offer(*b)).then(b.cmp(a)));
            let Some(best) = best else { continue };
            changed = true;
            if self.offer(best) >= limit {
                regime.support[user].retain(|p| !bad(p));
                if regime.support[user].is_empty() {
                    regime.support[user].push(best);
                }
            } else {
                regime.satisfied[user] = false;
                regime.support[user] = vec![best];
                regime.bottleneck[best] = self.lowest(best);
            }
        }
        changed
    }

    /// On every class the row that is overfilled most becomes the bottleneck of all who use it.
    pub fn overfilled(&self, regime: &mut Regime) -> bool {
        let mut changed = false;
        for (rows, places) in self.market.rows_of_class.iter().zip(&self.market.of_class) {
            let free = rows.clone().filter(|row| self.level[*row].is_infinite());
            let worst = free.max_by(|a, b| self.fill[*a].total_cmp(&self.fill[*b]));
            let Some(row) = worst.filter(|row| self.fill[*row] > 1.0 + ROUNDING) else { continue };
            for p in places.clone() {
                let uses = self.market.places[p].usage.iter().any(|(used, _)| *used == row);
                if uses && regime.bottleneck[p].is_some() {
                    regime.bottleneck[p] = Some(row);
                }
            }
            changed = true;
        }
        changed
    }

    /// The place where a user could have most more than it has, and the row that would block it.
    pub fn wanted(&self, regime: &Regime) -> Option<(usize, usize)> {
        let mut best = (ROUNDING, None);
        for (p, place) in self.market.places.iter().enumerate() {
            if regime.satisfied[place.user] || (regime.bottleneck[p].is_some() && !self.pinned[p]) {
                continue;
            }
            let Some(mut row) = self.lowest(p) else { continue };
            let mut gain =
                self.market.places[p].pace * self.level[row] / self.landed.totals[place.user] - 1.0;
            if self.level[row].is_infinite() {
                let rows = place.usage.iter().map(|(row, _)| *row);
                row = rows.max_by(|a, b| self.fill[*a].total_cmp(&self.fill[*b])).unwrap_or(row);
                gain = 1.0 - self.fill[row];
            }
            if gain > best.0 {
                best = (gain, Some((p, row)));
            }
        }
        best.1
    }
}

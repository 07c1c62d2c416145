//! From the regime of a point to one that solves the problem, by exchanging what it violates.
//!
//! The solution of a regime tells what is wrong with it: negative tasks (their places leave), users
//! with more than all their tasks, rows that are overfilled, places where a user is above the level
//! of the row (they leave), and places where it could have more (the worst one enters). Levels that
//! users tie together are a forest; a place that would close a cycle pushes out the one whose tasks
//! first become 0, as in the simplex method for networks.

use super::jump::{clamped, solve_signed};
use super::market::{Market, Point};
use super::regime::Regime;
use super::residual::residual;
use super::system::Unknown;

/// Relative size of negative tasks and of violated inequalities that are rounding.
const ROUNDING: f64 = 1e-11;
/// Part of its tasks by which a user moves to a new place to see what that pushes out.
const PROBE: f64 = 1e-3;
/// Growth of the residual that counts as going astray, and how often that may be.
const ASTRAY: (f64, usize) = (4.0, 5);

/// The best point that was found.
#[derive(Debug, Clone)]
pub struct Reached {
    /// The point.
    pub point: Point<f64>,
    /// Its residual.
    pub residual: f64,
}

/// Exchanges from `regime`, read at `start` with residual `first`, at most `most` times or until the
/// residual is within `tolerance`; `solves` counts the regimes that were solved.
pub fn exchange(
    market: &Market<f64>,
    (start, first): (&Point<f64>, f64),
    mut regime: Regime,
    (tolerance, most): (f64, usize),
    solves: &mut usize,
) -> Option<Reached> {
    let mut point = start.clone();
    let mut best: Option<Reached> = None;
    let mut astray = 0;
    for _ in 0..most {
        regime.rows = regime.bottleneck.iter().flatten().copied().collect();
        regime.rows.sort_unstable();
        regime.rows.dedup();
        let pinned = pinned(market, &point, &regime);
        *solves += 1;
        let Some(landed) = solve_signed(market, &point, &regime, true) else { break };
        if negative_leave(&mut regime, &landed, &point) {
            continue;
        }
        let landed = clamped(market, landed);
        let reached = residual(market, &landed);
        point.clone_from(&landed);
        if best.as_ref().is_none_or(|best| reached < best.residual) {
            best = Some(Reached { point: landed.clone(), residual: reached });
        }
        astray += usize::from(reached > ASTRAY.0 * first);
        if reached <= tolerance || astray >= ASTRAY.1 {
            break;
        }
        let mut here = Here::new(market, &landed, &regime, pinned);
        let changed = here.satisfied(&mut regime);
        let changed = here.other_bottlenecks(&mut regime) | changed;
        let changed = here.unsatisfied(&mut regime) | changed;
        if here.overfilled(&mut regime) | changed {
            continue;
        }
        let Some((p, row)) = here.wanted(&regime) else { break };
        if !here.enter(&mut regime, &mut point, p, row, solves) {
            break;
        }
    }
    best
}

/// By place: whether [`Regime::forest`] leaves its tasks where they are, of users that lack tasks.
fn pinned(market: &Market<f64>, point: &Point<f64>, regime: &Regime) -> Vec<bool> {
    let unknowns = regime.unknowns();
    let keep = regime.forest(market, point, &unknowns);
    let mut pinned = vec![false; market.places.len()];
    for (unknown, keep) in unknowns.iter().zip(keep) {
        if let Unknown::Tasks(p) = unknown {
            pinned[*p] = !keep && !regime.satisfied[market.places[*p].user];
        }
    }
    pinned
}

/// The worst negative place of every user leaves, if there is one.
fn negative_leave(regime: &mut Regime, landed: &Point<f64>, point: &Point<f64>) -> bool {
    let mut left = false;
    for (user, places) in regime.support.iter_mut().enumerate().filter(|(_, places)| places.len() > 1) {
        let scale = landed.totals[user].abs().max(point.totals[user]);
        let worst = places.iter().copied().min_by(|a, b| landed.tasks[*a].total_cmp(&landed.tasks[*b]));
        let Some(worst) = worst.filter(|p| landed.tasks[*p] < -ROUNDING * scale) else { continue };
        places.retain(|p| *p != worst);
        regime.bottleneck[worst] = None;
        left = true;
    }
    left
}

/// The solution of a regime, and what is wrong with it.
struct Here<'a> {
    market: &'a Market<f64>,
    landed: &'a Point<f64>,
    pinned: Vec<bool>,
    /// By row: its level, infinite where it is nobody's bottleneck.
    level: Vec<f64>,
    /// By row: part in use.
    fill: Vec<f64>,
}

impl<'a> Here<'a> {
    fn new(market: &'a Market<f64>, landed: &'a Point<f64>, regime: &Regime, pinned: Vec<bool>) -> Self {
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
    fn satisfied(&self, regime: &mut Regime) -> bool {
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
    fn other_bottlenecks(&self, regime: &mut Regime) -> bool {
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
    fn unsatisfied(&self, regime: &mut Regime) -> bool {
        let mut changed = false;
        for (user, limit) in self.market.limits.iter().enumerate() {
            let Some(limit) = limit.filter(|limit| {
                regime.satisfied[user] && self.landed.totals[user] >= limit * (1.0 - ROUNDING)
            }) else {
                continue;
            };
            let bad = |p: &usize| self.landed.tasks[*p] > 0.0 && limit > self.offer(*p) * (1.0 + ROUNDING);
            if !regime.support[user].iter().any(bad) {
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
    fn overfilled(&self, regime: &mut Regime) -> bool {
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
    fn wanted(&self, regime: &Regime) -> Option<(usize, usize)> {
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

    /// The user of place `p` runs there as well, blocked by `row`; what closes a cycle pushes another
    /// place out, and `point` goes there. False when nothing can be pushed out.
    fn enter(
        &mut self,
        regime: &mut Regime,
        point: &mut Point<f64>,
        p: usize,
        row: usize,
        solves: &mut usize,
    ) -> bool {
        let (market, landed) = (self.market, self.landed);
        let user = market.places[p].user;
        if !self.pinned[p] {
            regime.support[user].push(p);
        }
        regime.bottleneck[p] = Some(row);
        if regime.rows.binary_search(&row).is_err() {
            regime.rows.push(row);
            regime.rows.sort_unstable();
        }
        if !pinned(market, landed, regime)[p] {
            return true;
        }
        let mut moved = landed.clone();
        moved.tasks[p] += PROBE * landed.totals[user];
        *solves += 1;
        let Some(probe) = solve_signed(market, &moved, regime, true) else { return false };
        let mut first = (f64::INFINITY, None);
        for (user, places) in regime.support.iter().enumerate() {
            if regime.satisfied[user] || places.len() < 2 {
                continue;
            }
            for &q in places.iter().filter(|q| **q != p) {
                let fall = landed.tasks[q] - probe.tasks[q];
                if fall > 1e-13 * landed.totals[user] && landed.tasks[q] / fall < first.0 {
                    first = (landed.tasks[q] / fall, Some(q));
                }
            }
        }
        let (part, Some(out)) = first else { return false };
        for (tasks, there) in point.tasks.iter_mut().zip(&probe.tasks) {
            *tasks += part * (there - *tasks);
        }
        point.tasks[out] = 0.0;
        *point = clamped(market, point.clone());
        regime.support[market.places[out].user].retain(|q| *q != out);
        regime.bottleneck[out] = None;
        true
    }
}

//! Linear Fisher markets in floating point, by the prices of the goods alone.
//!
//! Buyer `n` spends its weight `w_n` on goods of which one unit of money buys `gamma_ni / p_i` tasks, or less where
//! all its tasks `T_n` cost less. With `q = ln p` the prices minimise
//!
//! ```text
//! sum_i p_i + sum_n max over x <= T_n of (w_n ln x - kappa_n x),   kappa_n = min_i p_i / gamma_ni
//! ```
//!
//! (docs/theory.md, section 4, fact 5). The minimum over the goods is smoothed to `-tau ln sum_i (gamma_ni / p_i)^(1/tau)`
//! in logarithms, which keeps the function convex in `p` and makes it as smooth as `tau` allows; `tau -> 0`. Only as
//! many unknowns as goods are left: one pass over the buyers gives slopes and curvatures.
//!
//! Everything is stated relative to a [`Market`]'s centre, some prices near the optimum: what buyers gain elsewhere, what
//! is left of their limits and what goods have to spare are differences that the caller computes exactly. Ties that
//! doubles cannot tell at one centre are told at a better one.

mod newton;

use rayon::prelude::*;

pub use self::newton::{Ended, minimise};
use crate::settings::MARKET;

/// Goods and buyers at the centre.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Market {
    /// By good: price of what those leave of it that take a fixed amount.
    pub worth: Vec<f64>,
    /// By good: money of those that buy nothing else.
    pub money: Vec<f64>,
    /// By good: `worth - money`, to its own last digit.
    pub spare: Vec<f64>,
    /// The goods of buyer `b` stand at `start[b]..start[b + 1]`; one more number than buyers.
    pub start: Vec<usize>,
    /// Goods, by place.
    pub good: Vec<u32>,
    /// By place: `ln` of what money buys there of tasks, relative to the best place of the buyer; at most 0.
    pub advantage: Vec<f64>,
    /// By buyer: `w_n`.
    pub weight: Vec<f64>,
    /// By buyer: `ln` of the cost of all its tasks as a part of its weight; infinite without a limit.
    pub log_limit: Vec<f64>,
}

/// What a buyer pays where.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Purchases {
    /// By place: money.
    pub spent: Vec<f64>,
    /// By place: `ln` of what a task costs there more than at the best place.
    pub behind: Vec<f64>,
    /// By buyer: `ln` of the cost of all tasks as a part of the weight; below 0 it has them all.
    pub limit: Vec<f64>,
}

/// Sums over buyers at some prices.
#[derive(Debug, Clone)]
pub(crate) struct Totals {
    /// By good: money of those that spend all of theirs.
    pub spent: Vec<f64>,
    /// By good: money of those that have all their tasks.
    pub satisfied: Vec<f64>,
    /// Goods x goods, the upper triangle: how much a difference of two prices moves money between them.
    pub coupling: Vec<f64>,
}

/// Buyers in one part of a sum, at least, and parts, at most: the order of additions is the same with any number of threads.
const LEAST_CHUNK: usize = 4096;
const MOST_CHUNKS: usize = 16;

impl Market {
    /// Charges one Newton step before it is taken: all places, and the elimination of the goods.
    fn charge_step(&self) {
        let goods = self.worth.len() as u64;
        let steps = 20 * self.good.len() as u64 + goods.saturating_pow(3) / 12;
        evenhand_budget::charge(steps, "a path to prices");
    }

    /// Number of buyers.
    #[must_use]
    pub fn n_buyers(&self) -> usize {
        self.weight.len()
    }

    /// Number of goods.
    #[must_use]
    pub fn n_goods(&self) -> usize {
        self.worth.len()
    }

    pub(crate) fn totals(&self, shift: &[f64], tau: f64) -> Totals {
        let n_goods = self.n_goods();
        let n_buyers = self.n_buyers();
        let chunk = n_buyers.div_ceil(MOST_CHUNKS).max(LEAST_CHUNK);
        let zero = || Totals {
            spent: vec![0.0; n_goods],
            satisfied: vec![0.0; n_goods],
            coupling: vec![0.0; n_goods * n_goods],
        };
        let part = |first: usize| {
            let mut totals = zero();
            let mut near = Vec::new();
            for b in first..(first + chunk).min(n_buyers) {
                self.buyer(b, shift, tau, &mut near, &mut totals);
            }
            totals
        };
        if n_buyers <= chunk {
            return part(0);
        }
        let firsts: Vec<usize> = (0..n_buyers).step_by(chunk).collect();
        let parts: Vec<Totals> = firsts.into_par_iter().map(part).collect();
        parts.into_iter().fold(zero(), |mut sum, part| {
            add(&mut sum.spent, &part.spent);
            add(&mut sum.satisfied, &part.satisfied);
            add(&mut sum.coupling, &part.coupling);
            sum
        })
    }

    fn buyer(&self, b: usize, shift: &[f64], tau: f64, near: &mut Vec<(usize, f64)>, totals: &mut Totals) {
        let log_cost = self.parts(b, shift, tau, near);
        let limit = self.log_limit[b] + log_cost;
        let is_satisfied = limit < 0.0;
        let money = if is_satisfied { self.weight[b] * libm::exp(limit) } else { self.weight[b] };
        let sums = if is_satisfied { &mut totals.satisfied } else { &mut totals.spent };
        for (i, part) in near.iter() {
            sums[*i] += money * part;
        }
        if near.len() > 1 {
            let n_goods = shift.len();
            let firm = money * (tau.recip() + if is_satisfied { 1.0 } else { 0.0 });
            for (k, &(i, a)) in near.iter().enumerate() {
                for &(j, c) in &near[k + 1..] {
                    totals.coupling[i.min(j) * n_goods + i.max(j)] += firm * a * c;
                }
            }
        }
    }

    /// The parts of its money that buyer `b` spends on the goods near its best one; `ln` of what a task costs it, relative
    /// to the centre.
    fn parts(&self, b: usize, shift: &[f64], tau: f64, near: &mut Vec<(usize, f64)>) -> f64 {
        let places = self.start[b]..self.start[b + 1];
        let at = |k: usize| self.advantage[k] - shift[self.good[k] as usize];
        let best = places.clone().map(at).fold(f64::NEG_INFINITY, f64::max);
        near.clear();
        let floor = best - MARKET.far * tau;
        let mut sum = 0.0;
        for k in places {
            let advantage = at(k);
            if advantage >= floor {
                let part = if advantage == best { 1.0 } else { libm::exp((advantage - best) / tau) };
                sum += part;
                near.push((self.good[k] as usize, part));
            }
        }
        if near.len() == 1 {
            return -best;
        }
        near.iter_mut().for_each(|(_, part)| *part /= sum);
        -(best + tau * libm::log(sum))
    }

    /// Who buys what at prices `exp(shift)` times those of the centre.
    #[must_use]
    pub fn purchases(&self, shift: &[f64], tau: f64) -> Purchases {
        let mut purchases = Purchases {
            spent: vec![0.0; self.good.len()],
            behind: vec![0.0; self.good.len()],
            limit: Vec::with_capacity(self.n_buyers()),
        };
        let mut near = Vec::new();
        for b in 0..self.n_buyers() {
            let limit = self.log_limit[b] + self.parts(b, shift, tau, &mut near);
            let money = self.weight[b] * libm::exp(limit.min(0.0));
            let places = self.start[b]..self.start[b + 1];
            let at = |k: usize| self.advantage[k] - shift[self.good[k] as usize];
            let best = places.clone().map(at).fold(f64::NEG_INFINITY, f64::max);
            let mut next = near.iter();
            let mut waiting = next.next();
            for k in places {
                purchases.behind[k] = best - at(k);
                if let Some((good, part)) = waiting
                    && *good == self.good[k] as usize
                {
                    purchases.spent[k] = money * part;
                    waiting = next.next();
                }
            }
            purchases.limit.push(limit);
        }
        purchases
    }
}

fn add(to: &mut [f64], from: &[f64]) {
    to.iter_mut().zip(from).for_each(|(a, b)| *a += b);
}

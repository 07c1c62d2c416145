//! Linear Fisher markets in floating point, solved through the prices of the goods alone.
//!
//! Buyer `n` spends its weight `w_n` on goods. One unit of money buys `gamma_ni / p_i` tasks on good `i`. The buyer
//! spends less if all its tasks `T_n` cost less. With `q = ln p` the prices minimise
//!
//! ```text
//! sum_i p_i + sum_n max over x <= T_n of (w_n ln x - kappa_n x),   kappa_n = min_i p_i / gamma_ni
//! ```
//!
//! (docs/theory.md, section 4, fact 5). The minimum over the goods is smoothed to
//! `-tau ln sum_i (gamma_ni / p_i)^(1/tau)` in logarithms. Smoothing keeps the function convex in `p` and makes it as
//! smooth as `tau` allows. `tau` tends to 0. Only one unknown per good remains, and one pass over the buyers gives
//! slopes and curvatures.
//!
//! All numbers are relative to the centre of a [`Market`]: fixed prices near the optimum. The caller computes three
//! kinds of differences exactly: the loss of buyers on goods other than their best good, the remainders of their
//! limits, and the spare supply of goods. Ties that doubles cannot resolve at one centre are resolved at a better one.

mod newton;

use rayon::prelude::*;

pub use self::newton::{Ended, minimise};
use crate::settings::MARKET;

/// The goods and buyers of a market, relative to its centre.
///
/// An entry is a pair of a buyer and a good that it can use. The entries of a buyer are
/// consecutive.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Market {
    /// For each good, the price of the supply that remains after buyers that take a fixed amount.
    pub worth: Vec<f64>,
    /// For each good, the money of the buyers that buy only this good.
    pub money: Vec<f64>,
    /// For each good, `worth - money`, accurate to the last digit of the difference.
    pub spare: Vec<f64>,
    /// The entries of buyer `b` are `start[b]..start[b + 1]`. The list has one number more than there are buyers.
    pub start: Vec<usize>,
    /// Good of each entry.
    pub good: Vec<u32>,
    /// For each entry, `ln` of the tasks that one unit of money buys on its good, relative to the best good of the
    /// buyer. At most 0.
    pub advantage: Vec<f64>,
    /// Weight `w_n` of each buyer.
    pub weight: Vec<f64>,
    /// For each buyer, `ln` of the cost of all its tasks as a fraction of its weight. Infinite without a limit.
    pub log_limit: Vec<f64>,
}

/// The payments of all buyers at some prices.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Purchases {
    /// For each entry, the money that the buyer spends on the good.
    pub spent: Vec<f64>,
    /// For each entry, `ln` of the cost of a task on its good, relative to the buyer's best good.
    pub behind: Vec<f64>,
    /// For each buyer, `ln` of the cost of all its tasks as a fraction of its weight. Below 0, the buyer has all its
    /// tasks.
    pub limit: Vec<f64>,
}

/// The sums over buyers at some prices.
#[derive(Debug, Clone)]
pub(crate) struct Totals {
    /// For each good, the money of the buyers that spend all their money.
    pub spent: Vec<f64>,
    /// For each good, the money of the buyers that have all their tasks.
    pub satisfied: Vec<f64>,
    /// The upper triangle of a matrix goods x goods. An entry says how much money a difference of two prices moves
    /// between the two goods.
    pub coupling: Vec<f64>,
}

/// The least number of buyers in one chunk of a sum. Chunks fix the order of additions for any number of threads.
const LEAST_CHUNK: usize = 4096;
/// The largest number of chunks of a sum.
const MOST_CHUNKS: usize = 16;

impl Market {
    /// Charges one Newton step before it is taken: all entries, and the elimination of the goods.
    fn charge_step(&self) {
        let goods = self.worth.len() as u64;
        let steps = 20 * self.good.len() as u64 + goods.saturating_pow(3) / 12;
        evenhand_budget::charge(steps, "a path to prices");
    }

    /// Returns the number of buyers.
    #[must_use]
    pub fn n_buyers(&self) -> usize {
        self.weight.len()
    }

    /// Returns the number of goods.
    #[must_use]
    pub fn n_goods(&self) -> usize {
        self.worth.len()
    }

    /// Computes the sums over buyers at prices that are `exp(shift)` times the prices of the centre.
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
                self.add_buyer(b, shift, tau, &mut near, &mut totals);
            }
            totals
        };
        if n_buyers <= chunk {
            return part(0);
        }
        let firsts: Vec<usize> = (0..n_buyers).step_by(chunk).collect();
        let partial_sums: Vec<Totals> = firsts.into_par_iter().map(part).collect();
        partial_sums.into_iter().fold(zero(), |mut sum, part| {
            add(&mut sum.spent, &part.spent);
            add(&mut sum.satisfied, &part.satisfied);
            add(&mut sum.coupling, &part.coupling);
            sum
        })
    }

    /// Adds the payments of buyer `b` to the sums.
    fn add_buyer(
        &self,
        b: usize,
        shift: &[f64],
        tau: f64,
        near: &mut Vec<(usize, f64)>,
        totals: &mut Totals,
    ) {
        let log_cost = self.spending_fractions(b, shift, tau, near);
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

    /// Computes the fractions of its money that buyer `b` spends on the goods whose price is near that of its best
    /// good.
    ///
    /// Returns `ln` of the cost of a task to the buyer, relative to the centre.
    fn spending_fractions(&self, b: usize, shift: &[f64], tau: f64, near: &mut Vec<(usize, f64)>) -> f64 {
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

    /// Computes the payments of all buyers at prices that are `exp(shift)` times the prices of the centre.
    #[must_use]
    pub fn purchases(&self, shift: &[f64], tau: f64) -> Purchases {
        let mut purchases = Purchases {
            spent: vec![0.0; self.good.len()],
            behind: vec![0.0; self.good.len()],
            limit: Vec::with_capacity(self.n_buyers()),
        };
        let mut near = Vec::new();
        for b in 0..self.n_buyers() {
            let limit = self.log_limit[b] + self.spending_fractions(b, shift, tau, &mut near);
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

//! The exact test whether every buyer buys where a task is cheapest. Two numbers are compared in floating
//! point if their difference is larger than any rounding error, and in rationals otherwise.

use evenhand_budget::for_a_thread;
use evenhand_problem::Rational;
use rayon::prelude::*;

use super::basis::Basis;
use super::goods::{Goods, log};

/// A generous bound on the error of a sum of three logarithms, in units in the last place of the largest
/// logarithm.
const ULPS: f64 = 64.0;

/// Returns whether every buyer satisfies the conditions of an equilibrium at these prices.
pub fn is_equilibrium(goods: &Goods<'_>, basis: &Basis, prices: &[Rational]) -> bool {
    let log_prices: Vec<f64> =
        prices.iter().map(|p| if *p > 0 { log(p) } else { f64::NEG_INFINITY }).collect();
    (0..goods.n_buyers())
        .into_par_iter()
        .with_min_len(for_a_thread(prices.len()))
        .all(|b| is_content(goods, basis, prices, &log_prices, b))
}

fn is_content(goods: &Goods<'_>, basis: &Basis, prices: &[Rational], log_prices: &[f64], b: usize) -> bool {
    let at = basis.class[b] as usize;
    if prices[at].is_zero() {
        return basis.satisfied[b];
    }
    let log_cost = log_prices[at] - goods.log_rate_of(b, at);
    let error = |others: f64| {
        let size = 1.0 + log_cost.abs() + log_prices[at].abs() + others;
        ULPS * f64::EPSILON * size
    };
    let is_no_dearer = |i: usize, log_rate: f64| {
        let difference = log_prices[i] - log_rate - log_cost;
        if difference.abs() > error(log_prices[i].abs() + log_rate.abs()) {
            return difference > 0.0;
        }
        &prices[at] * goods.rate(b, i) <= &prices[i] * goods.rate(b, at)
    };
    let buys_well = goods.places(b).all(|(i, log_rate)| i == at || is_no_dearer(i, log_rate));
    let Some(tasks) = goods.tasks(b) else { return buys_well && !basis.satisfied[b] };
    if !buys_well {
        return false;
    }
    // A buyer has all its tasks only if its weight is enough to pay for them.
    let limit = goods.log_tasks[b] + log_cost - goods.log_weight[b];
    if limit.abs() > error(goods.log_tasks[b].abs() + goods.log_weight[b].abs()) {
        return (limit < 0.0) == basis.satisfied[b];
    }
    let cost = Rational::from(&prices[at] * tasks);
    let weight = goods.exact_weight(b) * goods.rate(b, at);
    if basis.satisfied[b] { cost <= weight } else { cost >= weight }
}

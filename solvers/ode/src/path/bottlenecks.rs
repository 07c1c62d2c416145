//! The end of the path: Newton's method at `mu = 0` on the bottlenecks.
//!
//! A resource is treated as a bottleneck when its price exceeds its slack (the semismooth Newton
//! method for `min(p_j, s_j) = 0`); bottlenecks must be used up, the others have price 0.

use super::blocks::Blocks;
use super::linear;
use super::sweep::{Sums, Sweeper};

/// A residual that no step will improve.
const ROUNDING: f64 = 1e-15;
/// Below this residual, the next step of a quadratically converging method is the last one.
const LAST_STEP: f64 = 1e-8;
/// Steps after which the method is given up.
const MOST_STEPS: usize = 12;

/// Prices at `mu = 0`, and how well they fit.
#[derive(Debug, Clone)]
pub(super) struct Limit {
    /// Prices, one per row.
    pub prices: Vec<f64>,
    /// The largest violation of a capacity or of complementarity.
    pub residual: f64,
    /// Newton steps taken.
    pub steps: usize,
}

/// Newton's method from the given prices. Ends when the residual is at the level of
/// rounding or does not fall any more; returns the best point seen.
pub(super) fn newton(blocks: &Blocks, sweeper: &mut Sweeper, prices: &[f64]) -> Limit {
    let n_kept = blocks.kept.len();
    let mut prices = prices.to_vec();
    let mut best = Limit { prices: prices.clone(), residual: f64::INFINITY, steps: 0 };
    let mut steps = 0;
    let mut expect_end = false;
    loop {
        let mut sums = sweeper.sweep(blocks, &prices, 0.0, !expect_end);
        let residual = residual(&prices[..n_kept], &sums);
        let improved = residual <= 0.5 * best.residual;
        if residual < best.residual {
            best = Limit { prices: prices.clone(), residual, steps };
        }
        if residual <= ROUNDING || !improved || steps == MOST_STEPS {
            best.steps = steps;
            return best;
        }
        if expect_end {
            sums = sweeper.sweep(blocks, &prices, 0.0, true);
        }
        expect_end = residual < LAST_STEP;
        if !step(blocks, &mut prices, &sums) {
            best.steps = steps;
            return best;
        }
        steps += 1;
    }
}

/// The largest violation of a capacity, or product of price and slack. Infinite, never NaN.
fn residual(prices: &[f64], sums: &Sums) -> f64 {
    let mut worst = 0.0_f64;
    for (&price, &usage) in prices.iter().zip(&sums.usage) {
        let slack = 1.0 - usage;
        let term = (-slack).max((price * slack).abs());
        if term.is_nan() {
            return f64::INFINITY;
        }
        worst = worst.max(term);
    }
    worst
}

fn step(blocks: &Blocks, prices: &mut [f64], sums: &Sums) -> bool {
    let rows = blocks.rows;
    let hessian = |j: usize, k: usize| sums.hessian[j.max(k) * rows + j.min(k)];
    let (active, idle): (Vec<usize>, Vec<usize>) =
        (0..blocks.kept.len()).partition(|&j| prices[j] > 1.0 - sums.usage[j]);
    let mut change: Vec<f64> = active
        .iter()
        .map(|&j| sums.usage[j] - 1.0 + idle.iter().map(|&k| hessian(j, k) * prices[k]).sum::<f64>())
        .collect();
    let Some(factored) = linear::factor(active.len(), |j, k| hessian(active[j], active[k])) else {
        return false;
    };
    factored.solve(&mut change);
    if change.iter().any(|value| !value.is_finite()) {
        return false;
    }
    for &j in &idle {
        prices[j] = 0.0;
    }
    for (&j, &change) in active.iter().zip(&change) {
        prices[j] = (prices[j] + change).max(0.0);
    }
    true
}

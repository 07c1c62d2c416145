//! The end of the path: Newton's method at `mu = 0` on the bottlenecks.
//!
//! This is the semismooth Newton method for `min(h_j p_j, s_j) = 0` with `h_j = -d usage_j / d
//! p_j`, which puts both sides in units of usage. A resource counts as a bottleneck if `h_j p_j >
//! s_j`, that is, if lowering its price to 0 would add more usage than its slack. Bottlenecks must
//! be fully used, and all other resources have price 0.

use nalgebra::{DMatrix, DVector};

use super::blocks::Blocks;
use super::sweep::{Sums, Sweeper};
use crate::dense;
use crate::settings::PATH;

/// The prices at `mu = 0`, and their error.
#[derive(Debug, Clone)]
pub(super) struct Limit {
    /// The price of each row.
    pub prices: Vec<f64>,
    /// The slack of each priced resource.
    pub slacks: Vec<f64>,
    /// The largest violation of a capacity or of complementarity.
    pub residual: f64,
    /// The number of Newton steps.
    pub steps: usize,
}

impl Limit {
    /// Returns prices with an unknown error.
    pub fn unknown(prices: &[f64]) -> Self {
        Self { prices: prices.to_vec(), slacks: Vec::new(), residual: f64::INFINITY, steps: 0 }
    }
}

/// Runs Newton's method from the given prices.
///
/// The method ends when the residual is at the level of rounding or no longer falls. Returns the point with the least
/// residual.
pub(super) fn newton(blocks: &Blocks, sweeper: &mut Sweeper, prices: &[f64]) -> Limit {
    let n_priced = blocks.priced.len();
    let mut prices = prices.to_vec();
    let mut best = Limit::unknown(&prices);
    let mut least = f64::INFINITY;
    let mut slopes = vec![0.0; n_priced];
    let mut steps = 0;
    let mut expect_end = false;
    loop {
        let mut sums = sweeper.sweep(blocks, &prices, 0.0, !expect_end);
        if !expect_end {
            slopes = (0..n_priced).map(|j| sums.hessian[j * (blocks.rows + 1)]).collect();
        }
        let residual = largest(&prices[..n_priced], &sums, |_, price, slack| price * slack);
        let error =
            largest(&prices[..n_priced], &sums, |j, price, slack| slack.min(slopes[j] * price)).max(residual);
        let improved = error <= 0.5 * least;
        if error < least {
            least = error;
            let slacks = sums.usage[..n_priced].iter().map(|usage| 1.0 - usage).collect();
            best = Limit { prices: prices.clone(), slacks, residual, steps };
        }
        if error <= PATH.rounding || !improved || steps == PATH.most_steps {
            best.steps = steps;
            return best;
        }
        // The last sweep computed no Hessian because it was expected to be the last. Another step
        // needs the Hessian.
        if expect_end {
            sums = sweeper.sweep(blocks, &prices, 0.0, true);
        }
        expect_end = error < PATH.last_step;
        if !step(blocks, &mut prices, &sums) {
            best.steps = steps;
            return best;
        }
        steps += 1;
    }
}

/// Returns the largest violation of a capacity or of complementarity. The result may be infinite, but is never NaN.
///
/// `complementarity` computes the violation from the index, the price and the slack of a resource that is not fully
/// used.
fn largest(prices: &[f64], sums: &Sums, complementarity: impl Fn(usize, f64, f64) -> f64) -> f64 {
    let mut worst = 0.0_f64;
    for (j, (&price, &usage)) in prices.iter().zip(&sums.usage).enumerate() {
        let slack = 1.0 - usage;
        let term = if slack > 0.0 { complementarity(j, price, slack) } else { -slack };
        if term.is_nan() {
            return f64::INFINITY;
        }
        worst = worst.max(term);
    }
    worst
}

/// Takes one Newton step. Returns `false` if the matrix cannot be factored.
fn step(blocks: &Blocks, prices: &mut [f64], sums: &Sums) -> bool {
    let rows = blocks.rows;
    let hessian = |j: usize, k: usize| sums.hessian[j.max(k) * rows + j.min(k)];
    let (active, idle): (Vec<usize>, Vec<usize>) =
        (0..blocks.priced.len()).partition(|&j| hessian(j, j) * prices[j] > 1.0 - sums.usage[j]);
    let missing = active
        .iter()
        .map(|&j| sums.usage[j] - 1.0 + idle.iter().map(|&k| hessian(j, k) * prices[k]).sum::<f64>());
    let missing = DVector::from_iterator(active.len(), missing);
    let matrix = DMatrix::from_fn(active.len(), active.len(), |j, k| hessian(active[j], active[k]));
    let Some(factored) = dense::factor(matrix, &PATH.ridges) else { return false };
    let change = factored.solve(&missing);
    if change.iter().any(|value| !value.is_finite()) {
        return false;
    }
    for &j in &idle {
        prices[j] = 0.0;
    }
    for (&j, &change) in active.iter().zip(change.iter()) {
        prices[j] = (prices[j] + change).max(0.0);
    }
    true
}

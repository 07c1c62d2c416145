//! Steps along the central path: Mehrotra's predictor and corrector in the space of prices.
//!
//! The unknowns are the prices `p` and the slacks `s` of the resources, with
//! `s_j = 1 - usage_j(p, mu)` and `p_j s_j = b_j mu`. Users are eliminated, so a step costs one
//! sweep over them.

use nalgebra::{DMatrix, DVector};

use super::blocks::Blocks;
use super::sweep::{Sums, Sweeper};
use crate::dense::{self, Factored};
use crate::settings::PATH;

/// A point near the path.
#[derive(Debug)]
pub(super) struct Barrier {
    /// The price of each row, for entitlements of sum 1.
    pub prices: Vec<f64>,
    /// The slack variable of each row. It approaches `1 - usage` only in the limit.
    pub slacks: Vec<f64>,
    /// The weighted mean of `p_j s_j / b_j`.
    pub mu: f64,
    /// The barrier weight of each row.
    weights: Vec<f64>,
    /// The barrier weight of the caps.
    cap_weight: f64,
    sums: Sums,
}

impl Barrier {
    /// Returns the starting point. An empty row (without a resource) has price 0.
    pub fn start(blocks: &Blocks, sweeper: &mut Sweeper, resource_weights: &[f64], cap_weight: f64) -> Self {
        let n_priced = blocks.priced.len();
        let mut prices = vec![0.0; blocks.rows];
        prices[..n_priced].fill(1.0 / n_priced as f64);
        let weights: Vec<f64> = blocks.priced.iter().map(|&resource| resource_weights[resource]).collect();
        let sums = sweeper.sweep(blocks, &prices, cap_weight / n_priced as f64, true);
        let slacks = sums.usage[..n_priced].iter().map(|&usage| (1.0 - usage).max(0.1)).collect();
        let mut barrier = Self { prices, slacks, mu: 0.0, weights, cap_weight, sums };
        barrier.mu = barrier.mean_product();
        barrier
    }

    /// Returns the weighted mean of `p_j s_j / b_j` at the current prices and slacks.
    fn mean_product(&self) -> f64 {
        dot(&self.prices, &self.slacks) / self.weights.iter().sum::<f64>()
    }

    /// Returns the largest difference between a slack and `1 - usage`.
    pub fn infeasibility(&self) -> f64 {
        (0..self.slacks.len()).map(|j| self.slack_error(j).abs()).fold(0.0, f64::max)
    }

    /// Returns the largest ratio, over all rows, of the smaller to the greater of price and slack.
    ///
    /// The ratio is small once it is clear which resources are bottlenecks.
    pub fn ambiguity(&self) -> f64 {
        self.prices.iter().zip(&self.slacks).map(|(&p, &s)| p.min(s) / p.max(s)).fold(0.0, f64::max)
    }

    fn slack_error(&self, j: usize) -> f64 {
        self.slacks[j] + self.sums.usage[j] - 1.0
    }

    /// Takes one step of the predictor and corrector. Returns `false` if rounding leaves no direction.
    pub fn step(&mut self, blocks: &Blocks, sweeper: &mut Sweeper) -> bool {
        let size = self.slacks.len();
        let Some(factored) = self.factor(|j| self.slacks[j] / self.prices[j]) else { return false };
        let (price_step, slack_step) = self.direction(&factored, |_| 0.0);
        let price_reach = largest_step(&self.prices, &price_step).min(1.0);
        let slack_reach = largest_step(&self.slacks, &slack_step).min(1.0);
        let reach = price_reach.min(slack_reach);
        // The predictor's estimate of `mu` after its step.
        let predicted = (0..size)
            .map(|j| (self.prices[j] + reach * price_step[j]) * (self.slacks[j] + reach * slack_step[j]))
            .sum::<f64>()
            / self.weights.iter().sum::<f64>();
        let centering = (predicted / self.mu).powi(3).clamp(PATH.least_centering, 1.0);
        let target = centering * self.mu;
        let fraction = price_reach * slack_reach;
        let (price_step, slack_step) = self.direction(&factored, |j| {
            // Mehrotra's second-order term, limited to what one step can correct.
            let bound = 10.0 * target * self.weights[j];
            self.weights[j] * target - (price_step[j] * slack_step[j] * fraction).max(-bound).min(bound)
        });
        let reach = largest_step(&self.prices, &price_step).min(largest_step(&self.slacks, &slack_step));
        let length = (PATH.step_fraction * reach).min(1.0);
        if !length.is_finite() || length <= 0.0 {
            return false;
        }
        for j in 0..size {
            self.prices[j] += length * price_step[j];
            self.slacks[j] += length * slack_step[j];
        }
        self.mu = self.mean_product();
        self.sums = sweeper.sweep(blocks, &self.prices, self.cap_weight * self.mu, true);
        self.mu.is_finite() && self.mu > 0.0
    }

    /// Takes one step of the safe method, which is used when the predictor and corrector make no progress.
    ///
    /// The safe method is Newton's method with a line search on the convex function with the derivative
    /// `1 - usage_j - b_j mu / p_j`. Near the minimum of this function, `mu` is reduced.
    pub fn safe_step(&mut self, blocks: &Blocks, sweeper: &mut Sweeper) -> bool {
        let size = self.weights.len();
        let slope = self.safe_slope();
        let curvature = |j: usize| self.weights[j] * self.mu / (self.prices[j] * self.prices[j]);
        let Some(factored) = self.factor(curvature) else { return false };
        let direction = factored.solve(&-&slope);
        let descent = slope.dot(&direction);
        let start = self.prices.clone();
        let mut length = (PATH.step_fraction * largest_step(&start, direction.as_slice())).min(1.0);
        for _ in 0..PATH.most_halvings {
            for j in 0..size {
                self.prices[j] = start[j] + length * direction[j];
            }
            self.sums = sweeper.sweep(blocks, &self.prices, self.cap_weight * self.mu, true);
            let end = self.safe_slope().dot(&direction);
            if end.is_nan() || end <= PATH.overshoot * -descent {
                break;
            }
            length *= (-descent / (end - descent)).clamp(0.1, 0.7);
        }
        if -descent < PATH.centred * self.mu {
            self.mu *= PATH.safe_reduction;
            self.sums = sweeper.sweep(blocks, &self.prices, self.cap_weight * self.mu, true);
        }
        for j in 0..size {
            self.slacks[j] = self.weights[j] * self.mu / self.prices[j];
        }
        descent.is_finite() && self.prices[..size].iter().all(|&price| price > 0.0 && price.is_finite())
    }

    /// Computes the derivative of the barrier function.
    fn safe_slope(&self) -> DVector<f64> {
        DVector::from_fn(self.weights.len(), |j, _| {
            1.0 - self.sums.usage[j] - self.weights[j] * self.mu / self.prices[j]
        })
    }

    /// Factors the Hessian plus a diagonal: `barrier(j)` is the entry that the barrier adds for row `j`.
    fn factor(&self, barrier: impl Fn(usize) -> f64) -> Option<Factored> {
        let (size, rows) = (self.slacks.len(), self.prices.len());
        let entry = |j, k| self.sums.hessian[j * rows + k] + if j == k { barrier(j) } else { 0.0 };
        dense::factor(DMatrix::from_fn(size, size, entry), &PATH.ridges)
    }

    /// Computes Newton's direction towards the products `p_j s_j` that `product` returns.
    fn direction(&self, factored: &Factored, product: impl Fn(usize) -> f64) -> (Vec<f64>, Vec<f64>) {
        let (size, rows) = (self.slacks.len(), self.prices.len());
        let goal = |j: usize, _| product(j) / self.prices[j] + self.sums.usage[j] - 1.0;
        let price_step: Vec<f64> = factored.solve(&DVector::from_fn(size, goal)).data.into();
        let slack_step = (0..size)
            .map(|j| {
                let change: f64 =
                    (0..size).map(|k| self.sums.hessian[j.max(k) * rows + j.min(k)] * price_step[k]).sum();
                change - self.slack_error(j)
            })
            .collect();
        (price_step, slack_step)
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Returns the length of the step at which the first component becomes 0.
fn largest_step(values: &[f64], step: &[f64]) -> f64 {
    values.iter().zip(step).filter(|&(_, &d)| d < 0.0).map(|(&v, &d)| -v / d).fold(f64::INFINITY, f64::min)
}

//! The limit of the trajectory, computed by following a central path in the space of prices.
//!
//! The trajectory of the paper ("No Justified Complaints", equation (12), with the dummy resources `x_i <= 1`) is the
//! central path, with `c = 1 / mu`, of `max sum_i e_i log x_i` under the capacities. Every path
//!
//! ```text
//! x_i (sum_j b_j r_ij mu / s_j + b_0i mu / (cap_i - x_i)) = e_i,   s_j = 1 - sum_i x_i r_ij
//! ```
//!
//! with positive weights `b` of the barrier is also such a central path. All of these paths end in the same point. Here
//! `b_j` is 1 by default, and `b_0i = b_0 e_i` for entitlements of sum 1, so all caps together have the weight of one
//! resource. (With the paper's weight of 1 for every cap, the caps of many users keep every user below its share until
//! `mu` is far below the least entitlement.)
//!
//! With prices `p_j = b_j mu / s_j`, every `x_i` is a closed function of the payment of user `i`. Only the `m` prices
//! are unknown, so a step takes `O(N m^2)` time and `O(N m)` memory. Three methods are used:
//!
//! - Mehrotra's predictor and corrector for prices and slacks, for about five steps.
//! - Newton's method at `mu = 0` on the bottlenecks, as soon as it is clear which resources are bottlenecks. It takes
//!   about three steps, and the last step reaches rounding error. If it does not converge, the path continues.
//! - A damped Newton method in which every step reduces the function. It starts again from the beginning if the first
//!   method fails, which is rare (about 1 in 8,000 random pools tried).
//!
//! The result is the same, bit by bit, for any number of threads and any vector instructions.

mod barrier;
mod blocks;
mod bottlenecks;
mod outcome;
mod sweep;

use crate::pool::{Pool, PoolError, in_range};
use crate::settings::PATH;
use barrier::Barrier;
use blocks::Blocks;
use bottlenecks::Limit;
use sweep::Sweeper;

pub use outcome::{PathResult, PathStatus};

/// The positive weights of the barrier terms, `b_j` and `b_0` of the [module's](self) equation.
///
/// They shape the path, but not its limit.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct BarrierWeights {
    resources: Vec<f64>,
    caps: Option<f64>,
}

impl BarrierWeights {
    /// Builds weights: one for each resource (missing weights are 1), and one for the caps.
    ///
    /// # Errors
    /// [`PoolError`] when a weight is not positive, or outside the range of `LARGEST_MAGNITUDE`.
    pub fn new(resources: Vec<f64>, caps: f64) -> Result<Self, PoolError> {
        for (index, &value) in resources.iter().chain([&caps]).enumerate() {
            if !(value > 0.0 && in_range(value)) {
                return Err(PoolError::BarrierWeight { index, value });
            }
        }
        Ok(Self { resources, caps: Some(caps) })
    }
}

/// The settings of the path.
#[derive(Debug, Clone, PartialEq)]
pub struct PathSettings {
    /// The result is [`PathStatus::Solved`] if its residual is at most this. It is relative, like
    /// [`PathResult::residual`]. The method always continues to the level of rounding.
    pub tolerance: f64,
    /// The largest number of steps along the path.
    pub max_iterations: usize,
    /// The weights of the barrier. All are 1 by default.
    pub barrier: BarrierWeights,
}

impl Default for PathSettings {
    fn default() -> Self {
        Self { tolerance: 1e-14, max_iterations: 200, barrier: BarrierWeights::default() }
    }
}

/// Follows the path to its limit, the Eisenberg-Gale point of the pool.
///
/// The method takes about ten passes over the requests, each in `O(N m^2)` time.
#[must_use]
pub fn follow(pool: &Pool, settings: &PathSettings) -> PathResult {
    let blocks = Blocks::new(pool);
    let mut sweeper = Sweeper::new(&blocks);
    if blocks.priced.is_empty() {
        let limit = Limit { residual: 0.0, ..Limit::unknown(&[]) };
        return outcome::assemble(pool, &blocks, &limit, settings.tolerance);
    }
    let mut resource_weights = settings.barrier.resources.clone();
    resource_weights.resize(pool.n_resources().max(resource_weights.len()), 1.0);
    let cap_weight = settings.barrier.caps.unwrap_or(1.0);
    let start = |sweeper: &mut Sweeper| Barrier::start(&blocks, sweeper, &resource_weights, cap_weight);
    let mut barrier = start(&mut sweeper);
    let mut best: Option<PathResult> = None;
    let mut attempt_below = PATH.first_attempt;
    let mut newton_steps = 0;
    let mut iterations = 0;
    let mut safe = false;
    let mut moving = true;
    loop {
        charge_step(pool);
        // Try to finish with Newton's method on the bottlenecks at the end, or when the bottlenecks
        // are clear.
        let at_end = barrier.mu < PATH.smallest_mu || !moving;
        let promising = barrier.mu < attempt_below
            && barrier.ambiguity() < PATH.clear
            && (safe || barrier.infeasibility() < PATH.near);
        let exhausted = iterations >= settings.max_iterations;
        if at_end || promising || exhausted {
            let limit = bottlenecks::newton(&blocks, &mut sweeper, &barrier.prices);
            newton_steps += limit.steps;
            let result = outcome::assemble(pool, &blocks, &limit, settings.tolerance);
            if best.as_ref().is_none_or(|best| result.residual < best.residual) {
                best = Some(result);
            }
            attempt_below = barrier.mu * PATH.next_attempt;
        }
        let solved = best.as_ref().is_some_and(|best| best.status == PathStatus::Solved);
        match best {
            Some(mut best) if solved || exhausted || (at_end && safe) => {
                best.iterations = iterations + newton_steps;
                best.mu = barrier.mu;
                if exhausted && !solved {
                    best.status = PathStatus::Limit;
                }
                return best;
            }
            _ => {}
        }
        // The fast method did not reach the limit, so the safe method starts again.
        if !safe && (at_end || iterations >= PATH.fast_iterations) {
            safe = true;
            barrier = start(&mut sweeper);
            attempt_below = PATH.first_attempt;
        }
        moving =
            if safe { barrier.safe_step(&blocks, &mut sweeper) } else { barrier.step(&blocks, &mut sweeper) };
        iterations += 1;
    }
}

/// Charges one step before it is taken: the sums over users and pairs of resources, and a
/// factorisation.
fn charge_step(pool: &Pool) {
    let (users, resources) = (pool.n_users() as u64, pool.n_resources() as u64);
    let steps = users * (20 + resources.saturating_pow(2)) + resources.saturating_pow(3) / 8;
    evenhand_budget::charge(steps, "a path to an optimum");
}

//! The result of following the path.

use rayon::prelude::*;

use super::blocks::{Blocks, user_scale};
use super::bottlenecks::Limit;
use crate::pool::Pool;

/// The reason why the method ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum PathStatus {
    /// The residual is within the tolerance.
    Solved,
    /// The residual is above the tolerance, and rounding prevents it from falling further. The
    /// vectors are the best that were computed.
    Stalled,
    /// The limit on the number of iterations was reached before the tolerance. The vectors are the best that were
    /// computed.
    Limit,
}

/// The result of following the path. All numbers are finite, except that the residual may be infinite unless the status
/// is [`PathStatus::Solved`].
#[derive(Debug, Clone, PartialEq)]
pub struct PathResult {
    /// The fraction of its request that each user gets (tasks per unit of request).
    pub x: Vec<f64>,
    /// The price of each resource, in units of entitlement per capacity. It is 0 if the resource is not a bottleneck.
    ///
    /// The prices, and `user_prices` times caps, add up to the sum of entitlements.
    pub prices: Vec<f64>,
    /// The price of each user's cap, in units of entitlement. It is 0 below the cap.
    pub user_prices: Vec<f64>,
    /// The largest violation of the optimality conditions, for entitlements of sum 1:
    ///
    /// - feasibility: the excess over a capacity, `(usage_j - 1)+`.
    /// - complementarity: the price times the slack of a resource, or of a user's cap. Another term is the mean slack
    ///   of the resources on which a user spends its entitlement, weighted by its spending. Because of this term, users
    ///   of small entitlements count too.
    /// - stationarity: `|x_i (sum_j p_j r_ij + q_i) / e_i - 1|` over users with `e_i > 0`.
    pub residual: f64,
    /// The number of steps along the path and of Newton steps at its end.
    pub iterations: usize,
    /// The least barrier parameter that was reached.
    pub mu: f64,
    /// The reason why the method ended.
    pub status: PathStatus,
}

/// Computes the allocation and the prices of the users' caps from the prices of resources. Also computes the residual
/// of the whole point.
pub(super) fn assemble(pool: &Pool, blocks: &Blocks, limit: &Limit, tolerance: f64) -> PathResult {
    let total = pool.total_entitlement();
    let mut prices = vec![0.0; pool.n_resources()];
    for (&resource, &price) in blocks.priced.iter().zip(&limit.prices) {
        prices[resource] = price;
    }
    let mut priced_slacks = vec![0.0; pool.n_resources()];
    for ((&resource, &price), &slack) in blocks.priced.iter().zip(&limit.prices).zip(&limit.slacks) {
        priced_slacks[resource] = price * slack.abs();
    }
    let answer = |user| {
        let entitlement = pool.entitlements()[user] / total;
        let mut answer = answer_of_user(pool, user, entitlement, &prices);
        if entitlement > 0.0 {
            let row = pool.request_row(user).iter().zip(&priced_slacks);
            let idle: f64 = row.map(|(&r, &slack)| r * slack).sum();
            answer.error = answer.error.max(answer.x * idle / entitlement);
        }
        answer
    };
    let answers: Vec<UserAnswer> = if blocks.parallel {
        (0..pool.n_users()).into_par_iter().map(answer).collect()
    } else {
        (0..pool.n_users()).map(answer).collect()
    };
    let residual = answers.iter().map(|answer| answer.error).fold(limit.residual, f64::max);
    let x = answers.iter().map(|answer| answer.x).collect();
    let user_prices = answers.iter().map(|answer| answer.price * total).collect();
    for price in &mut prices {
        *price *= total;
    }
    let status = if residual <= tolerance { PathStatus::Solved } else { PathStatus::Stalled };
    PathResult { x, prices, user_prices, residual, iterations: limit.steps, mu: 0.0, status }
}

struct UserAnswer {
    x: f64,
    price: f64,
    error: f64,
}

/// Computes the allocation of a user, the price of its cap, and its stationarity error.
fn answer_of_user(pool: &Pool, user: usize, entitlement: f64, prices: &[f64]) -> UserAnswer {
    let row = pool.request_row(user);
    let cap = pool.caps()[user];
    let paid: f64 = row.iter().zip(prices).map(|(&r, &p)| r * p).sum();
    if entitlement == 0.0 {
        return UserAnswer { x: 0.0, price: 0.0, error: 0.0 };
    }
    let wanted = if paid > 0.0 { entitlement / paid } else { f64::INFINITY };
    if wanted < cap {
        return UserAnswer { x: wanted, price: 0.0, error: (wanted * paid / entitlement - 1.0).abs() };
    }
    if cap == f64::INFINITY {
        // This case occurs only if nothing was solved. No user can have more than the whole pool.
        return UserAnswer { x: 1.0 / user_scale(row), price: 0.0, error: 1.0 };
    }
    let price = (entitlement / cap - paid).max(0.0);
    UserAnswer { x: cap, price, error: (cap * (paid + price) / entitlement - 1.0).abs() }
}

//! The distance of users from a justified complaint, in floating point.

use crate::pool::Pool;

/// Computes the slack `1 - sum_i x_i r_ij` of every resource.
#[must_use]
pub fn slacks(pool: &Pool, x: &[f64]) -> Vec<f64> {
    let mut slacks = vec![1.0; pool.n_resources()];
    for (user, &x) in x.iter().enumerate().take(pool.n_users()) {
        for (slack, &request) in slacks.iter_mut().zip(pool.request_row(user)) {
            *slack -= x * request;
        }
    }
    slacks
}

/// Computes the relative margin of every user.
///
/// The margin is the larger of two excesses: over the user's cap (`x_i / cap_i - 1`), and over its
/// entitlement of some bottleneck (`x_i r_ij / e_i - 1`). A resource is a bottleneck if its slack
/// is at most `tolerance`. Entitlements are taken relative to their sum. A user with entitlement 0
/// has an infinite margin.
///
/// A user with a negative margin has a justified complaint.
#[must_use]
pub fn margins(pool: &Pool, x: &[f64], tolerance: f64) -> Vec<f64> {
    let slacks = slacks(pool, x);
    let total = pool.total_entitlement();
    x.iter()
        .enumerate()
        .take(pool.n_users())
        .map(|(user, &x)| user_margin(pool, user, x, total, &slacks, tolerance))
        .collect()
}

/// Computes the margin of one user, given the slacks and the sum of entitlements.
pub(crate) fn user_margin(
    pool: &Pool,
    user: usize,
    x: f64,
    total: f64,
    slacks: &[f64],
    tolerance: f64,
) -> f64 {
    let entitlement = pool.entitlements()[user] / total;
    if entitlement == 0.0 {
        return f64::INFINITY;
    }
    let shares = pool
        .request_row(user)
        .iter()
        .zip(slacks)
        .filter(|&(&request, &slack)| request > 0.0 && slack <= tolerance)
        .map(|(&request, _)| x * request / entitlement);
    shares.fold(x / pool.caps()[user], f64::max) - 1.0
}

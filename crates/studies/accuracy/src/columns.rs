//! HiGHS on a programme that is not linear: the logarithm between points at which it is known.
//!
//! `x_i = sum_k l_ik g_ik` with weights `l` of sum 1 over points `g`, worth `sum_k l_ik e_i log g_ik`:
//! an approximation from within, so every `x` is feasible to the tolerance of the LP. The prices of
//! one programme tell which point each user would add to the next, `min(cap_i, e_i / sum_j p_j r_ij)`.

use evenhand_lp::highs::{ColumnBlock, FloatLp, FloatSolution};
use evenhand_ode::pool::Pool;

use super::contenders::Answer;

/// Points of every user in the first programme.
const FIRST_POINTS: usize = 6;

pub(super) fn solve(pool: &Pool, rounds: usize) -> Answer {
    match run(pool, rounds) {
        Ok(answer) => answer,
        Err(error) => Answer::none(pool, error.to_string()),
    }
}

fn run(pool: &Pool, rounds: usize) -> Result<Answer, evenhand_lp::LpError> {
    let (n, m) = (pool.n_users(), pool.n_resources());
    let total = pool.total_entitlement();
    let mut bounds = vec![(f64::NEG_INFINITY, 1.0); m];
    bounds.extend(vec![(1.0, 1.0); n]);
    let mut lp = FloatLp::new(&bounds)?;
    let mut points: Vec<(usize, f64)> = Vec::new();
    // Prices add up to at most the sum of entitlements, so everybody can pay for so much.
    for user in 0..n {
        let largest = pool.request_row(user).iter().copied().fold(0.0, f64::max);
        let most = pool.caps()[user].min(1.0 / largest);
        let least = most.min(pool.entitlements()[user] / total / largest);
        for k in 0..FIRST_POINTS {
            let part = k as f64 / (FIRST_POINTS - 1) as f64;
            points.push((user, least * (most / least).powf(part)));
        }
    }
    let mut added = 0;
    let mut solution = FloatSolution::default();
    for round in 0..rounds {
        let mut block = ColumnBlock::default();
        for &(user, point) in &points[added..] {
            let row = pool.request_row(user).iter().enumerate().filter(|(_, r)| **r > 0.0);
            let entries = row.map(|(j, r)| (j, r * point)).chain([(m + user, 1.0)]);
            block.push(pool.entitlements()[user] / total * point.ln(), entries)?;
        }
        lp.add_columns(&block)?;
        added = points.len();
        solution = lp.solve()?;
        if round + 1 < rounds {
            for user in 0..n {
                let paid = paid(pool, user, &solution);
                let wanted = (pool.entitlements()[user] / total / paid).min(pool.caps()[user]);
                if wanted > 0.0 && wanted.is_finite() {
                    points.push((user, wanted));
                }
            }
        }
    }
    let mut x = vec![0.0; n];
    for (&(user, point), weight) in points.iter().zip(&solution.columns) {
        x[user] += weight * point;
    }
    let prices: Vec<f64> = solution.row_duals[..m].iter().map(|p| p.max(0.0) * total).collect();
    let user_prices = (0..n).map(|user| {
        let worth = pool.entitlements()[user] / x[user].max(f64::MIN_POSITIVE);
        (worth - total * paid(pool, user, &solution)).max(0.0)
    });
    let user_prices = user_prices.collect();
    let prices = Some((prices, user_prices));
    Ok(Answer { x, prices, status: "optimal LP".to_owned(), steps: rounds, drift: None })
}

/// What a user pays for all of its request, for entitlements of sum 1.
fn paid(pool: &Pool, user: usize, solution: &FloatSolution) -> f64 {
    pool.request_row(user).iter().zip(&solution.row_duals).map(|(r, p)| r * p.max(0.0)).sum()
}

//! One server: everything is told by the prices of its resources.

use evenhand_ode::cluster::Status;
use evenhand_ode::path::{PathSettings, follow};
use evenhand_ode::pool::Pool;
use evenhand_problem::{Constraints, Rational};
use rayon::prelude::*;

use super::{FairPoint, Place, near};

/// Residual above which the interior point method may do better: bottlenecks without a price cost
/// the prices half their digits.
const GOOD: f64 = 1e-12;

/// The proportionally fair allocation of one server; `None` where the numbers leave the range of
/// the method, its accuracy is poor, or nobody can be given anything.
pub fn maximise(constraints: &Constraints<'_>) -> Option<FairPoint> {
    let problem = constraints.problem();
    let n_rows = constraints.rows().len();
    let capacity: Vec<f64> = constraints.rows().iter().map(|row| near(&row.capacity)).collect();
    let active: Vec<usize> = (0..problem.n_users()).filter(|&n| problem.is_active(n)).collect();
    // Tasks in units of what fits on the server, so that every request is at most 1.
    let scaled = active.par_iter().map(|&n| {
        let usage = constraints.usage(n, 0).unwrap_or_default();
        let part = |(usage, capacity): (&Rational, &f64)| match usage.is_zero() {
            true => 0.0,
            false => near(usage) / capacity,
        };
        let mut parts: Vec<f64> = usage.iter().zip(&capacity).map(part).collect();
        let most = parts.iter().copied().fold(0.0, f64::max);
        parts.iter_mut().for_each(|part| *part /= most);
        (parts, most.recip())
    });
    let (requests, fits): (Vec<Vec<f64>>, Vec<f64>) = scaled.unzip();
    let weights: Vec<f64> = active.iter().map(|&n| near(problem.users()[n].weight())).collect();
    let limit = |(&n, fits): (&usize, &f64)| {
        problem.users()[n].tasks().map_or(f64::INFINITY, |tasks| near(tasks) / fits)
    };
    let limits: Vec<f64> = active.iter().zip(&fits).map(limit).collect();
    let pool = Pool::new(n_rows, requests.into_iter().flatten().collect(), weights, limits.clone()).ok()?;
    let end = follow(&pool, &PathSettings::default());
    if end.residual > GOOD {
        return None;
    }
    let mut point = FairPoint {
        places: vec![Vec::new(); problem.n_users()],
        row_prices: end
            .prices
            .iter()
            .zip(&capacity)
            .map(|(p, c)| if *c > 0.0 { p / c } else { 0.0 })
            .collect(),
        row_slack: vec![1.0; n_rows],
        user_prices: vec![0.0; problem.n_users()],
        user_slack: vec![f64::INFINITY; problem.n_users()],
        status: Status::Solved,
        iterations: end.iterations,
    };
    for (k, &n) in active.iter().enumerate() {
        point.places[n] = vec![Place { server: 0, tasks: end.x[k] * fits[k], excess: 0.0 }];
        point.user_prices[n] = end.user_prices[k] / fits[k];
        point.user_slack[n] = if limits[k].is_finite() { 1.0 - end.x[k] / limits[k] } else { f64::INFINITY };
        for (slack, request) in point.row_slack.iter_mut().zip(pool.request_row(k)) {
            *slack -= request * end.x[k];
        }
    }
    Some(point)
}

//! Clarabel, an independent interior point method for cones.
//!
//! Minimise `-sum_i e_i t_i`, with entitlements of sum 1 and `exp(t_i) <= x_i` as `(t_i, 1, x_i)` in the exponential cone.

use clarabel::algebra::CscMatrix;
use clarabel::solver::{
    DefaultSettings, DefaultSolver, ExponentialConeT, IPSolver, NonnegativeConeT, SolverStatus,
    SupportedConeT,
};
use evenhand_ode::pool::Pool;

use super::contenders::Answer;

/// Rows: the cones, then the resources, then the caps. Columns: `x`, then `t`.
pub(super) fn solve(pool: &Pool, tolerance: f64) -> Answer {
    let (n, m) = (pool.n_users(), pool.n_resources());
    let (mut rows, mut columns, mut values) = (Vec::new(), Vec::new(), Vec::new());
    let mut entry = |row: usize, column: usize, value: f64| {
        rows.push(row);
        columns.push(column);
        values.push(value);
    };
    let mut bounds = vec![0.0; 3 * n];
    for user in 0..n {
        entry(3 * user, n + user, -1.0);
        bounds[3 * user + 1] = 1.0;
        entry(3 * user + 2, user, -1.0);
        for (resource, &request) in pool.request_row(user).iter().enumerate().filter(|(_, r)| **r > 0.0) {
            entry(3 * n + resource, user, request);
        }
    }
    bounds.extend(vec![1.0; m]);
    let capped: Vec<usize> = (0..n).filter(|&user| pool.caps()[user].is_finite()).collect();
    for (k, &user) in capped.iter().enumerate() {
        entry(3 * n + m + k, user, 1.0);
        bounds.push(pool.caps()[user]);
    }
    let matrix = CscMatrix::new_from_triplets(bounds.len(), 2 * n, rows, columns, values);
    let total = pool.total_entitlement();
    let no_squares = CscMatrix::zeros((2 * n, 2 * n));
    let costs: Vec<f64> =
        vec![0.0; n].into_iter().chain(pool.entitlements().iter().map(|e| -e / total)).collect();
    let mut cones: Vec<SupportedConeT<f64>> = vec![ExponentialConeT(); n];
    cones.push(NonnegativeConeT(m + capped.len()));
    let settings = DefaultSettings {
        verbose: false,
        tol_gap_abs: tolerance,
        tol_gap_rel: tolerance,
        tol_feas: tolerance,
        ..DefaultSettings::default()
    };
    let mut solver = match DefaultSolver::new(&no_squares, &costs, &matrix, &bounds, &cones, settings) {
        Ok(solver) => solver,
        Err(error) => return Answer::none(pool, format!("{error:?}")),
    };
    solver.solve();
    let end = &solver.solution;
    let mut user_prices = vec![0.0; n];
    for (k, &user) in capped.iter().enumerate() {
        user_prices[user] = total * end.z[3 * n + m + k];
    }
    Answer {
        x: end.x[..n].to_vec(),
        prices: Some((end.z[3 * n..3 * n + m].iter().map(|z| total * z).collect(), user_prices)),
        status: match end.status {
            SolverStatus::Solved => "solved".to_owned(),
            SolverStatus::AlmostSolved => "almost solved".to_owned(),
            other => format!("{other:?}"),
        },
        steps: end.iterations as usize,
        drift: None,
    }
}

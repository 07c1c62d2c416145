//! An independent method: the same problem as a conic programme, compared within the accuracy of the conic solver.

use clarabel::algebra::CscMatrix;
use clarabel::solver::{
    DefaultSettingsBuilder, DefaultSolver, ExponentialConeT, IPSolver, NonnegativeConeT, SolverStatus,
    SupportedConeT,
};
use evenhand_ode::path::{PathSettings, PathStatus, follow};
use evenhand_ode::pool::Pool;
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

/// Computes `x` with Clarabel: minimise `-sum_i e_i t_i` with `(t_i, 1, y_i)` in the exponential
/// cone and `y = n x` within the capacities and caps.
fn by_cones(pool: &Pool) -> Option<Vec<f64>> {
    let (n, m) = (pool.n_users(), pool.n_resources());
    let scale = n as f64;
    let total = pool.total_entitlement();
    let (mut rows, mut columns, mut values) = (Vec::new(), Vec::new(), Vec::new());
    let mut put = |row: usize, column: usize, value: f64| {
        rows.push(row);
        columns.push(column);
        values.push(value);
    };
    let mut right = vec![scale; m];
    for i in 0..n {
        for (j, &request) in pool.request_row(i).iter().enumerate() {
            if request > 0.0 {
                put(j, i, request);
            }
        }
        put(m + i, i, 1.0);
        right.push(scale * pool.caps()[i]);
    }
    for i in 0..n {
        put(m + n + 3 * i, n + i, -1.0);
        put(m + n + 3 * i + 2, i, -1.0);
        right.extend([0.0, 1.0, 0.0]);
    }
    let a = CscMatrix::new_from_triplets(m + 4 * n, 2 * n, rows, columns, values);
    let mut cost = vec![0.0; n];
    cost.extend(pool.entitlements().iter().map(|e| -scale * e / total));
    let mut cones: Vec<SupportedConeT<f64>> = vec![NonnegativeConeT(m + n)];
    cones.extend((0..n).map(|_| ExponentialConeT()));
    let settings = DefaultSettingsBuilder::default()
        .verbose(false)
        .tol_gap_abs(1e-11)
        .tol_gap_rel(1e-11)
        .tol_feas(1e-11)
        .build()
        .ok()?;
    let zero = CscMatrix::zeros((2 * n, 2 * n));
    let mut solver = DefaultSolver::new(&zero, &cost, &a, &right, &cones, settings).ok()?;
    solver.solve();
    (solver.solution.status == SolverStatus::Solved)
        .then(|| solver.solution.x[..n].iter().map(|y| y / scale).collect())
}

#[test]
fn agrees_with_a_conic_solver() {
    let mut compared = 0;
    for seed in 0..60 {
        let mut rng = Pcg64::seed_from_u64(seed);
        let (n, m) = (rng.random_range(1..40), rng.random_range(1..7));
        let requests = (0..n)
            .flat_map(|_| {
                let certain = rng.random_range(0..m);
                (0..m)
                    .map(|j| {
                        let asks = j == certain || rng.random_bool(0.6);
                        if asks { rng.random_range(0.05..1.0) } else { 0.0 }
                    })
                    .collect::<Vec<f64>>()
            })
            .collect();
        let entitlements = (0..n).map(|_| rng.random_range(0.2..1.0)).collect();
        let caps = (0..n).map(|_| rng.random_range(0.02..1.0)).collect();
        let pool = Pool::new(m, requests, entitlements, caps).unwrap();
        let ours = follow(&pool, &PathSettings::default());
        assert_eq!(ours.status, PathStatus::Solved);
        let Some(theirs) = by_cones(&pool) else { continue };
        compared += 1;
        let difference = ours.x.iter().zip(&theirs).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(difference < 1e-6, "seed {seed}: {difference:e}");
    }
    assert!(compared >= 50, "Clarabel solved only {compared} of 60");
}

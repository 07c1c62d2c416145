//! Benchmarks of proportional fairness in floating point, and of the exact mechanisms that start from it.

use divan::Bencher;
use evenhand_benches::continuous::pools::{Law, WholePool};
use evenhand_benches::instances::{Tasks, general};
use evenhand_mechanisms::registry;
use evenhand_ode::path::{PathSettings, PathStatus, follow};
use evenhand_ode::pool::Pool;
use evenhand_ode::trajectory::{RungeKutta, TrajectorySettings, TrajectoryStatus, integrate};
use evenhand_problem::{Arithmetic, Problem};

fn main() {
    divan::main();
}

fn pool(law: Law, users: usize, resources: usize) -> Pool {
    let (requests, entitlements, caps) = WholePool::random(law, users, resources, 1).in_doubles();
    Pool::new(resources, requests, entitlements, caps).unwrap()
}

#[divan::bench(args = [100, 10_000])]
fn path_mixed(bencher: Bencher, users: usize) {
    let pool = pool(Law::Mixed, users, 16);
    let settings = PathSettings::default();
    bencher.bench(|| assert_eq!(follow(&pool, &settings).status, PathStatus::Solved));
}

#[divan::bench(args = [100, 10_000])]
fn path_scarce(bencher: Bencher, users: usize) {
    let pool = pool(Law::Scarce, users, 16);
    let settings = PathSettings::default();
    bencher.bench(|| assert_eq!(follow(&pool, &settings).status, PathStatus::Solved));
}

/// Measures the trajectory to `c` = 10^6 with 200 users and 4 resources.
#[divan::bench(args = ["dopri5", "dop853"])]
fn trajectory(bencher: Bencher, method: &str) {
    let pool = pool(Law::Scarce, 200, 4);
    let settings = TrajectorySettings {
        method: if method == "dopri5" { RungeKutta::Dopri5 } else { RungeKutta::Dop853 },
        stop_tolerance: 0.0,
        c_max: 1e6,
        ..TrajectorySettings::default()
    };
    bencher.bench(|| {
        let end = integrate(&pool, &settings);
        assert!(end.status == TrajectoryStatus::ReachedC && end.error < 1e-6);
    });
}

/// Measures a cluster of 27 classes and 3 resources with the exact gap: the optimum of
/// `evenhand_ode::cluster`, the rounding and the proof.
#[divan::bench(args = [30, 100])]
fn cluster_proportional(bencher: Bencher, users: usize) {
    let problem = general(27, 3, users, 1, Tasks::Finite).unwrap();
    bencher.bench(|| assert!(allocate(&problem, "proportional", Arithmetic::Float)));
}

#[divan::bench(args = [30, 100])]
fn cluster_njc_exact(bencher: Bencher, users: usize) {
    let problem = general(27, 3, users, 1, Tasks::Finite).unwrap();
    bencher.bench(|| assert!(allocate(&problem, "njc", Arithmetic::Exact)));
}

#[divan::bench(args = [100, 1000])]
fn pool_njc_exact(bencher: Bencher, users: usize) {
    let problem = WholePool::random(Law::Mixed, users, 16, 1).problem().unwrap();
    bencher.bench(|| assert!(allocate(&problem, "njc", Arithmetic::Exact)));
}

/// Measures the exact answer of the linear Fisher market.
#[divan::bench(args = [100, 300])]
fn ps_dsf_tdm_exact(bencher: Bencher, users: usize) {
    let problem = general(27, 3, users, 1, Tasks::Finite).unwrap();
    bencher.bench(|| assert!(allocate(&problem, "ps-dsf-tdm", Arithmetic::Exact)));
}

/// Solves a problem, and returns `true` if at least one user gets tasks.
fn allocate(problem: &Problem, mechanism: &str, arithmetic: Arithmetic) -> bool {
    let found = registry::find(mechanism).unwrap().allocate(problem, arithmetic).unwrap();
    found.allocation.totals().iter().any(|x| *x > 0)
}

//! The distance of two continuous solvers from the exact answer of No Justified Complaints: the path follower, and the trajectory
//! of the paper integrated to ever larger `c`.
//!
//! `cargo run --release -p evenhand-examples --bin accuracy_of_a_solver`

use std::error::Error;

use evenhand::ode::path::{PathSettings, follow};
use evenhand::ode::pool::Pool;
use evenhand::ode::trajectory::{TrajectorySettings, integrate};
use evenhand::prelude::*;

/// Three users of two resources. The allocations `(z, 1-z, 1-z)` with `.5 <= z <= .7` leave no justified complaint, and both
/// solvers tend to `z = 1/2`.
const PROBLEM: &str = r#"{"kind": "allocation-problem", "resources": ["a", "b"],
    "servers": [{"name": "pool", "capacity": {"a": 1, "b": 1}}],
    "users": [{"name": "1", "weight": 5, "tasks": 1, "demand": {"a": 1, "b": 1}},
              {"name": "2", "weight": 3, "tasks": 1, "demand": {"b": 1}},
              {"name": "3", "weight": 2, "tasks": 1, "demand": {"a": 1}}]}"#;

/// Returns the largest distance from the exact answer, computed in rationals and rounded once.
fn error(exact: &[Rational], found: &[f64]) -> f64 {
    let distance = |(x, f): (&Rational, &f64)| Rational::from_f64(*f).map(|f| (x - f).abs());
    let distances: Option<Vec<Rational>> = exact.iter().zip(found).map(distance).collect();
    distances.and_then(|all| all.into_iter().max()).map_or(f64::INFINITY, |largest| largest.to_f64())
}

fn main() -> Result<(), Box<dyn Error>> {
    let problem = Source { name: "pool.json", text: PROBLEM }.problem()?;
    let njc = registry::find("njc").ok_or("no such mechanism")?;
    let exact = njc.allocate(&problem, Arithmetic::Exact)?.allocation.totals();

    let requests = vec![1.0, 1.0, 0.0, 1.0, 1.0, 0.0];
    let pool = Pool::new(2, requests, vec![0.5, 0.3, 0.2], vec![1.0; 3])?;
    let path = error(&exact, &follow(&pool, &PathSettings::default()).x);
    println!("path follower: {path:.0e}");
    assert!(path < 1e-14);

    for c_max in [1e2, 1e4, 1e6] {
        // No point meets this stopping tolerance, so the integration continues to `c_max`.
        let settings = TrajectorySettings { c_max, stop_tolerance: 1e-300, ..TrajectorySettings::default() };
        let trajectory = error(&exact, &integrate(&pool, &settings).x);
        println!("trajectory to c = {c_max:.0e}: {trajectory:.0e}");
        assert!(trajectory < 10.0 / c_max);
    }
    Ok(())
}

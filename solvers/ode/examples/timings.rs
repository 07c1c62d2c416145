//! Measures the path follower on random pools of 100, 10,000 and 1,000,000 users, and the literal
//! trajectory on 200 users.
//!
//! `cargo run --release -p evenhand-ode --example timings [users resources repetitions]`

use std::time::Instant;

use evenhand_ode::path::{self, PathSettings, PathStatus};
use evenhand_ode::pool::{Pool, PoolError};
use evenhand_ode::trajectory::{self, RungeKutta, TrajectorySettings};
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

fn random_pool(n_users: usize, n_resources: usize, cap: f64) -> Result<Pool, PoolError> {
    let mut rng = Pcg64::seed_from_u64((n_users + n_resources) as u64);
    let mut requests = Vec::with_capacity(n_users * n_resources);
    for _ in 0..n_users {
        let certain = rng.random_range(0..n_resources);
        for resource in 0..n_resources {
            let asks = resource == certain || rng.random_bool(0.7);
            requests.push(if asks { f64::from(rng.random_range(1..1000)) / 1000.0 } else { 0.0 });
        }
    }
    let entitlements = (0..n_users).map(|_| f64::from(rng.random_range(1..10))).collect();
    Pool::new(n_resources, requests, entitlements, vec![cap; n_users])
}

fn main() -> Result<(), PoolError> {
    let asked: Vec<usize> = std::env::args().skip(1).filter_map(|word| word.parse().ok()).collect();
    let sizes = match asked[..] {
        [n_users, n_resources, repetitions] => vec![(n_users, n_resources, repetitions)],
        _ => vec![(100, 4, 2001), (100, 16, 1001), (200, 4, 1001), (10_000, 16, 101), (1_000_000, 16, 3)],
    };
    println!("    users   m       cap   least time  median time  steps   residual");
    for (n_users, n_resources, repetitions) in sizes {
        for cap in [f64::INFINITY, 4.0 / n_users as f64] {
            let pool = random_pool(n_users, n_resources, cap)?;
            let mut times = Vec::with_capacity(repetitions);
            let mut answer = path::follow(&pool, &PathSettings::default());
            for _ in 0..repetitions {
                let start = Instant::now();
                answer = path::follow(&pool, &PathSettings::default());
                times.push(start.elapsed());
            }
            times.sort();
            let mark = if answer.status == PathStatus::Solved { "" } else { "  NOT SOLVED" };
            println!(
                "{n_users:>9} {n_resources:>3} {cap:>9.1e} {:>12.3?} {:>12.3?} {:>6} {:>10.1e}{mark}",
                times[0],
                times[repetitions / 2],
                answer.iterations,
                answer.residual
            );
        }
    }
    trajectories()
}

fn trajectories() -> Result<(), PoolError> {
    println!("\n  method      c_max  rtol   least time  median time  steps  evaluations    error  status");
    let pool = random_pool(200, 4, 1.0)?;
    for method in [RungeKutta::Dopri5, RungeKutta::Dop853] {
        for (c_max, relative_tolerance) in [(1e6, 1e-6), (1e6, 1e-8), (1e12, 1e-8)] {
            let settings =
                TrajectorySettings { method, c_max, relative_tolerance, ..TrajectorySettings::default() };
            let mut times = Vec::with_capacity(101);
            let mut result = trajectory::integrate(&pool, &settings);
            for _ in 0..101 {
                let start = Instant::now();
                result = trajectory::integrate(&pool, &settings);
                times.push(start.elapsed());
            }
            times.sort();
            println!(
                "{method:>8?} {c_max:>10.0e} {relative_tolerance:.0e} {:>12.3?} {:>12.3?} {:>6} {:>12} {:>8.0e}  {:?} at {:.1e}",
                times[0], times[50], result.steps, result.evaluations, result.error, result.status, result.c
            );
        }
    }
    Ok(())
}

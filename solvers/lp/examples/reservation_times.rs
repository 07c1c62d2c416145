//! Times of the configuration programme on servers of 80 vCPU and 640 GB, in milliseconds.
#![allow(missing_docs)]

use std::time::Instant;

use evenhand_lp::reservation::{MaxReward, PricingProof, configuration_lp, greedy};
use evenhand_problem::{JobSpec, PoolSpec, Rational, Reservation, ReservationSpec};

const TYPES: [(u64, u64); 20] = [
    (2, 8),
    (4, 16),
    (8, 8),
    (32, 256),
    (64, 64),
    (1, 1),
    (2, 16),
    (4, 4),
    (8, 64),
    (16, 64),
    (1, 4),
    (16, 128),
    (2, 2),
    (4, 32),
    (8, 32),
    (16, 16),
    (32, 32),
    (32, 128),
    (48, 192),
    (1, 8),
];

fn main() {
    for n_types in [6usize, 10, 15, 20, 100] {
        let mut seed = 11u64;
        let mut next = move || {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 33) % 5 + 1
        };
        let jobs = (0..n_types)
            .map(|j| {
                let (cpu, memory) = if n_types == 100 {
                    (1 + (j as u64 * 37) % 61, 1 + (j as u64 * 53 + j as u64 * j as u64 * 7) % 311)
                } else {
                    TYPES[j]
                };
                JobSpec {
                    name: format!("{j}"),
                    demand: vec![("cpu".into(), cpu.into()), ("memory".into(), memory.into())],
                    reward: Some(Rational::from(cpu) + Rational::from((memory, 8))),
                    load: Some(Rational::from((next() * 2, n_types as u64))),
                }
            })
            .collect();
        let problem = Reservation::new(ReservationSpec {
            resources: vec!["cpu".into(), "memory".into()],
            pools: vec![PoolSpec {
                name: "p".into(),
                count: None,
                capacity: vec![("cpu".into(), 80.into()), ("memory".into(), 640.into())],
            }],
            jobs,
            ..Default::default()
        })
        .unwrap();
        let start = Instant::now();
        let mut best = MaxReward::new(&problem);
        let setup = start.elapsed();
        let start = Instant::now();
        let optimum = configuration_lp::solve(&best, &problem.loads(), &problem.fractions()).unwrap();
        let time = start.elapsed();
        let start = Instant::now();
        let greedy = greedy::fluid(&mut best, &problem.loads(), &problem.fractions()).unwrap();
        let greedy_time = start.elapsed();
        let kind = match &optimum.proofs[0] {
            PricingProof::Tree { nodes, .. } => format!("tree {}", nodes.len()),
            other => format!("{other:?}"),
        };
        println!(
            "{n_types}: setup {setup:?} lp {time:?} greedy {greedy_time:?} rounds {} columns {} {kind} ratio {}",
            optimum.rounds,
            optimum.n_columns,
            (greedy.reward / &optimum.value).to_f64()
        );
    }
}

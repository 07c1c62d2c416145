//! The configuration programme on servers with 80 vCPU and 640 GB. Column generation with its exact proof is
//! compared with one programme over all maximal configurations.

use std::time::Instant;

use evenhand_lp::highs::{ColumnBlock, FloatLp};
use evenhand_packing::worst_load::worst_load;
use evenhand_packing::{MaxReward, PackingOptimum, PricingProof, configuration_lp, greedy};
use evenhand_problem::{JobSpec, PoolSpec, Rational, Reservation, ReservationSpec};
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

use crate::table::{markdown, median, seconds};

/// The types of peers/configurations.py.
const TYPES: [(u32, u32); 20] = [
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
const SERVER: (u32, u32) = (80, 640);
/// The number of types of the peer's script. Further types are random.
pub const NAMED_TYPES: usize = TYPES.len();

/// Returns an instance. If it has at most 20 types, they are those of the peer's script. Otherwise all types
/// are random. The loads are random, and their sum is slightly more than the capacity of the servers.
///
/// # Errors
/// If the problem is refused.
pub fn instance(n_types: usize, seed: u64) -> Result<Reservation, String> {
    on_servers(1, n_types, seed)
}

/// Returns the instance with the same types on servers that are `times` as large, with `times` the load.
fn on_servers(times: u32, n_types: usize, seed: u64) -> Result<Reservation, String> {
    let mut random = Pcg64::seed_from_u64(seed);
    let jobs = (0..n_types).map(|j| {
        let drawn = (random.random_range(1..=64), random.random_range(1..=320));
        let (cpu, memory) = if n_types <= TYPES.len() { TYPES[j] } else { drawn };
        JobSpec {
            name: format!("{j}"),
            demand: vec![("cpu".to_owned(), cpu.into()), ("memory".to_owned(), memory.into())],
            reward: Some(Rational::from(cpu) + Rational::from((memory, 8))),
            load: Some(Rational::from((2 * times * random.random_range(1..=5u32), n_types))),
        }
    });
    let (cpu, memory) = (SERVER.0 * times, SERVER.1 * times);
    let capacity = vec![("cpu".to_owned(), cpu.into()), ("memory".to_owned(), memory.into())];
    let spec = ReservationSpec {
        resources: vec!["cpu".to_owned(), "memory".to_owned()],
        jobs: jobs.collect(),
        pools: vec![PoolSpec { name: "pool".to_owned(), count: None, capacity }],
        ..ReservationSpec::default()
    };
    Reservation::new(spec).map_err(|error| error.to_string())
}

/// Returns a table by the number of types. For at most `enumerate` types, all configurations are enumerated.
///
/// # Errors
/// If a solver fails or two answers differ.
pub fn table(sizes: &[usize], enumerate: usize, repetitions: usize, seed: u64) -> Result<String, String> {
    let head = [
        "types",
        "greedy",
        "exact optimum with proof",
        "columns",
        "proof",
        "maximal configurations",
        "enumeration and HiGHS",
        "times",
        "worst load",
    ];
    let mut rows = Vec::new();
    for &n_types in sizes {
        let problem = instance(n_types, seed)?;
        let (greedy_time, time, optimum) = solved(&problem, repetitions)?;
        let mut row = vec![n_types.to_string(), seconds(greedy_time), seconds(time)];
        row.extend([optimum.n_columns.to_string(), describe(&optimum)]);
        if n_types <= enumerate {
            let start = Instant::now();
            let (n_configurations, value) = enumerated(&problem)?;
            let all = start.elapsed().as_secs_f64();
            if (value / optimum.value.to_f64() - 1.0).abs() > 1e-6 {
                return Err(format!(
                    "{n_types} types: {value} by enumeration, {} else",
                    optimum.value.to_f64()
                ));
            }
            row.extend([n_configurations.to_string(), seconds(all), format!("{:.0}", all / time)]);
        } else {
            row.extend(["", "", ""].map(str::to_owned));
        }
        row.push(if n_types <= 10 {
            let start = Instant::now();
            worst_load(&mut MaxReward::new(&problem), &mut |_, _| {}).map_err(|error| error.to_string())?;
            seconds(start.elapsed().as_secs_f64())
        } else {
            String::new()
        });
        rows.push(row);
    }
    Ok(markdown(&head, &rows, 0))
}

/// Returns a table by the capacity of the servers, which is 1 to 16 times that of the server in the paper.
///
/// # Errors
/// If a solver fails.
pub fn capacities(n_types: usize, repetitions: usize, seed: u64) -> Result<String, String> {
    let mut rows = Vec::new();
    for times in [1, 2, 4, 8, 16] {
        let problem = on_servers(times, n_types, seed)?;
        let (greedy_time, time, optimum) = solved(&problem, repetitions)?;
        let server = format!("{} vCPU, {} GB", SERVER.0 * times, SERVER.1 * times);
        let mut row = vec![server, n_types.to_string(), seconds(greedy_time), seconds(time)];
        row.extend([optimum.n_columns.to_string(), describe(&optimum)]);
        rows.push(row);
    }
    Ok(markdown(&["server", "types", "greedy", "exact optimum with proof", "columns", "proof"], &rows, 1))
}

/// Returns the times in seconds of greedy packing and of the optimum, and the optimum.
fn solved(problem: &Reservation, repetitions: usize) -> Result<(f64, f64, PackingOptimum), String> {
    let (loads, sizes) = (problem.loads(), problem.fractions());
    let (greedy_time, _) =
        timed(repetitions, || greedy::fluid(&mut MaxReward::new(problem), &loads, &sizes))?;
    let (time, optimum) =
        timed(repetitions, || configuration_lp::solve(&MaxReward::new(problem), &loads, &sizes))?;
    Ok((greedy_time, time, optimum))
}

fn describe(optimum: &PackingOptimum) -> String {
    match optimum.proofs.first() {
        Some(PricingProof::Tree { nodes, .. }) => format!("{} nodes", nodes.len()),
        Some(PricingProof::DynamicProgramme { cells }) => format!("{cells} cells"),
        Some(PricingProof::Listed) | None => String::new(),
    }
}

/// Returns the median time of up to `repetitions` calls, and the result of the last call.
pub(crate) fn timed<T, E: ToString>(
    repetitions: usize,
    mut run: impl FnMut() -> Result<T, E>,
) -> Result<(f64, T), String> {
    let mut times = Vec::new();
    loop {
        let start = Instant::now();
        let answer = run().map_err(|error| error.to_string())?;
        times.push(start.elapsed().as_secs_f64());
        if times.len() >= repetitions || times.iter().sum::<f64>() > 10.0 {
            return Ok((median(&times).unwrap_or_default(), answer));
        }
    }
}

/// Returns the number of all maximal configurations, and the optimum over these configurations, which HiGHS
/// computes in floating point.
fn enumerated(problem: &Reservation) -> Result<(usize, f64), String> {
    let sizes: Vec<(u32, u32)> = TYPES[..problem.n_types()].to_vec();
    let mut all = Vec::new();
    maximal(&sizes, 0, SERVER, &mut vec![0; sizes.len()], &mut all);
    let mut rows: Vec<(f64, f64)> =
        problem.loads().iter().map(|load| (load.to_f64(), f64::INFINITY)).collect();
    rows.push((f64::NEG_INFINITY, 1.0));
    let solve = || {
        let mut lp = FloatLp::new(&rows)?;
        let mut block = ColumnBlock::default();
        for (j, job) in problem.jobs().iter().enumerate() {
            block.push(-job.reward().to_f64(), [(j, 1.0)])?;
        }
        for k in &all {
            let jobs = k.iter().enumerate().filter(|(_, k)| **k > 0).map(|(j, k)| (j, f64::from(*k)));
            block.push(0.0, jobs.chain([(sizes.len(), 1.0)]))?;
        }
        lp.add_columns(&block)?;
        lp.solve()
    };
    let solution = solve().map_err(|error| error.to_string())?;
    let served = problem.jobs().iter().zip(&solution.columns);
    Ok((all.len(), served.map(|(job, left)| job.reward().to_f64() * (job.load().to_f64() - left)).sum()))
}

fn maximal(sizes: &[(u32, u32)], at: usize, left: (u32, u32), k: &mut Vec<u32>, all: &mut Vec<Vec<u32>>) {
    let Some(&(cpu, memory)) = sizes.get(at) else {
        if sizes.iter().all(|size| size.0 > left.0 || size.1 > left.1) {
            all.push(k.clone());
        }
        return;
    };
    for number in 0..=(left.0 / cpu).min(left.1 / memory) {
        k[at] = number;
        maximal(sizes, at + 1, (left.0 - number * cpu, left.1 - number * memory), k, all);
    }
    k[at] = 0;
}

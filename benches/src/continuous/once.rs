//! Measures one program of this repository on one pool, in this process.

use std::hint::black_box;
use std::path::PathBuf;
use std::time::Instant;

use clap::ValueEnum;
use evenhand_ode::path::{PathSettings, PathStatus, follow};
use evenhand_ode::pool::Pool;
use evenhand_ode::trajectory::{RungeKutta, TrajectorySettings, TrajectoryStatus, integrate};
use rayon::prelude::*;
use serde_json::{Value, json};

use super::pools::{PoolFile, write_answer};
use crate::machine::{self, Clock};
use crate::measure::significant;
use crate::table::median;

/// The program to time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Program {
    /// From vectors of numbers to the optimum: the checks of the pool, and the path.
    Path,
    /// Only the path.
    PathAlone,
    /// The trajectory by the method of order 5.
    Dopri5,
    /// The trajectory by the method of order 8.
    Dop853,
    /// A sum of all requests, which shows the speed of memory.
    Read,
}

/// The wall times of all runs in seconds, the mean CPU time in seconds, and the peak memory in MiB before the
/// runs.
type Times = (Vec<f64>, Option<f64>, Option<f64>);

/// The settings of a measurement.
#[derive(Debug, Clone)]
pub struct Once {
    /// The program that is measured.
    pub program: Program,
    /// The file of the pool.
    pub file: PathBuf,
    /// The file for the answer. `None` if the answer is not written.
    pub answer: Option<PathBuf>,
    /// The largest number of runs.
    pub repetitions: usize,
    /// The time in seconds after which no further run starts.
    pub seconds: f64,
    /// The relative tolerance of the trajectory.
    pub tolerance: f64,
    /// The end of the trajectory.
    pub c_max: f64,
}

impl Once {
    /// Measures the program. A final run that is not timed gives the answer.
    ///
    /// # Errors
    /// If the file does not contain a pool, or the answer cannot be written.
    pub fn run(&self) -> Result<Value, String> {
        let numbers = PoolFile::read(&self.file)?;
        let pool = numbers.clone().pool()?;
        let mut prices = Vec::new();
        let (x, wall, cpu, peak, rest) = match self.program {
            Program::Path | Program::PathAlone => {
                let settings = PathSettings::default();
                let answer = follow(&pool, &settings);
                let (wall, cpu, peak) = if self.program == Program::Path {
                    self.timed(|| numbers.clone(), |numbers| numbers.pool().map(|p| follow(&p, &settings)))
                } else {
                    self.timed(|| (), |()| follow(&pool, &settings))
                };
                let total = pool.total_entitlement();
                prices.extend(answer.prices.iter().map(|price| price / total));
                let solved = answer.status == PathStatus::Solved;
                let rest =
                    json!({"solved": solved, "steps": answer.iterations, "own_residual": answer.residual});
                (answer.x, wall, cpu, peak, rest)
            }
            Program::Dopri5 | Program::Dop853 => {
                let settings = TrajectorySettings {
                    method: if self.program == Program::Dopri5 {
                        RungeKutta::Dopri5
                    } else {
                        RungeKutta::Dop853
                    },
                    relative_tolerance: self.tolerance,
                    stop_tolerance: 0.0,
                    c_max: self.c_max,
                    ..TrajectorySettings::default()
                };
                let end = integrate(&pool, &settings);
                let (wall, cpu, peak) = self.timed(|| (), |()| integrate(&pool, &settings));
                let solved = matches!(end.status, TrajectoryStatus::ReachedC | TrajectoryStatus::Converged);
                let rest = json!({"solved": solved, "steps": end.steps, "evaluations": end.evaluations,
                                  "c": end.c});
                (end.x, wall, cpu, peak, rest)
            }
            Program::Read => {
                let (wall, cpu, peak) = self.timed(|| (), |()| sum(&pool));
                let fastest = wall.iter().copied().fold(f64::INFINITY, f64::min);
                let bytes = size_of_val(pool.requests());
                let rest = json!({"bytes": bytes, "bytes_per_second": bytes as f64 / fastest});
                (Vec::new(), wall, cpu, peak, rest)
            }
        };
        if let Some(path) = &self.answer {
            write_answer(path, &x, &prices)?;
        }
        let name = self.program.to_possible_value();
        let mut line = json!({
            "peer": format!("evenhand-{}", name.as_ref().map_or("", |name| name.get_name())),
            "users": pool.n_users(),
            "resources": pool.n_resources(),
            "seconds": wall.iter().map(|&s| significant(s)).collect::<Vec<_>>(),
            "median": median(&wall).map(significant),
            "cpu_mean": cpu.map(significant),
            "peak_mib": peak,
            "load": machine::load(),
        });
        if let (Value::Object(line), Value::Object(rest)) = (&mut line, rest) {
            line.extend(rest);
        }
        Ok(line)
    }

    /// Returns the wall time of every run, the peak memory before the runs, and the mean CPU time. The
    /// system's clock of CPU time is too coarse for a single run.
    fn timed<I, T>(&self, input: impl Fn() -> I, run: impl Fn(I) -> T) -> Times {
        let peak = machine::peak_mib();
        let inputs: Vec<I> = (0..self.repetitions).map(|_| input()).collect();
        let (mut wall, start) = (Vec::new(), Clock::now());
        for input in inputs {
            let clock = Instant::now();
            black_box(run(input));
            wall.push(clock.elapsed().as_secs_f64());
            if start.wall() > self.seconds {
                break;
            }
        }
        let cpu = start.elapsed().1.map(|cpu| cpu / wall.len() as f64).filter(|cpu| *cpu > 0.0);
        (wall, cpu, peak)
    }
}

/// Returns the sum of all requests, which all threads compute together.
fn sum(pool: &Pool) -> f64 {
    let lanes = |part: &[f64]| {
        let mut lanes = [0.0; 32];
        for chunk in part.as_chunks::<32>().0 {
            for (lane, value) in lanes.iter_mut().zip(chunk) {
                *lane += value;
            }
        }
        lanes.iter().sum::<f64>()
    };
    pool.requests().par_chunks(1 << 16).map(lanes).sum()
}

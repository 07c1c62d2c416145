//! Work and precision: how long a solver takes, and how far from the exact answer it ends.

use evenhand_ode::trajectory::{self, RungeKutta, TrajectoryPoint};
use evenhand_problem::Rational;
use evenhand_problem::number::to_f64;

use super::contenders::{self, Answer, Contender, trajectory_settings};
use super::instances::{self, PoolInstance};
use super::judge::{Judgement, judge};
use super::reference::{self, Reference, exact};
use super::timing::{Effort, timed};
use super::{BenchError, instances::three_users};

/// What was measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Accuracy {
    /// By instance.
    pub instances: Vec<Measured>,
    /// Recorded trajectories, for the picture.
    pub recordings: Vec<Recording>,
}

/// One instance, with all that ran on it.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// The instance.
    pub instance: PoolInstance,
    /// The answer to compare with.
    pub reference: Reference,
    /// By contender, in the order of [`contenders::all`].
    pub results: Vec<Run>,
}

/// One contender on one instance.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// The method and its settings.
    pub contender: Contender,
    /// Median time, in seconds.
    pub seconds: f64,
    /// Runs behind the median.
    pub runs: usize,
    /// How the method says that it ended.
    pub status: String,
    /// Its steps.
    pub steps: usize,
    /// Of a trajectory: how far its end is off it ([`Answer::drift`](contenders::Answer::drift)).
    pub drift: Option<f64>,
    /// What the answer is worth.
    pub judgement: Judgement,
}

/// A trajectory with the distance of its points from the limit.
#[derive(Debug, Clone, PartialEq)]
pub struct Recording {
    /// Name of the instance.
    pub instance: String,
    /// Error allowed in a step.
    pub tolerance: f64,
    /// Every step.
    pub points: Vec<TrajectoryPoint>,
    /// By step: `max_i |x_i - x*_i| / x*_i`.
    pub errors: Vec<f64>,
    /// By step: how far it is off the trajectory, `max_i |x_i (sum_j r_ij / s_j + 1 / (1 - x_i)) / (c e_i)
    /// - 1|` with entitlements of sum 1, in rational arithmetic; infinite outside of the domain.
    pub drifts: Vec<f64>,
}

/// End of the recorded trajectories.
const RECORDED_TO: f64 = 1e14;

/// Number of measurements that [`run`] makes.
#[must_use]
pub fn n_measurements(seed: u64) -> usize {
    instances::all(seed).len() * contenders::all().len()
}

/// Measures every contender on every instance; `progress` is told the name of the instance before
/// each measurement.
///
/// # Errors
/// [`BenchError`] when an instance has no reference. A contender that fails is no error: its outcome
/// says so.
pub fn run(seed: u64, effort: Effort, mut progress: impl FnMut(&str)) -> Result<Accuracy, BenchError> {
    let mut measured = Vec::new();
    let mut recordings = Vec::new();
    for instance in instances::all(seed) {
        let (pool, problem) = (instance.pool()?, instance.problem()?);
        let reference = reference::of(&instance, &problem)?;
        let results = contenders::all().into_iter().map(|contender| {
            progress(&instance.name);
            let timed = timed(effort, || contender.run(&pool));
            let judgement = judge(&problem, &reference, &timed.result);
            let (seconds, runs) = (timed.seconds, timed.runs);
            let Answer { status, steps, drift, .. } = timed.result;
            Run { contender, seconds, runs, status, steps, drift, judgement }
        });
        let results = results.collect();
        if instance.name == three_users().name || instance.name.starts_with("free") {
            for tolerance in contenders::TRAJECTORY_TOLERANCES {
                recordings.push(record(&instance, &reference, tolerance)?);
            }
        }
        measured.push(Measured { instance, reference, results });
    }
    Ok(Accuracy { instances: measured, recordings })
}

fn record(instance: &PoolInstance, reference: &Reference, tolerance: f64) -> Result<Recording, BenchError> {
    let mut settings = trajectory_settings(RungeKutta::Dop853, tolerance, RECORDED_TO);
    settings.record = true;
    let points = trajectory::integrate(&instance.pool()?, &settings).points;
    let limit: Vec<f64> = reference.x.iter().map(to_f64).collect();
    let error = |point: &TrajectoryPoint| {
        point.x.iter().zip(&limit).map(|(x, limit)| (x / limit - 1.0).abs()).fold(0.0, f64::max)
    };
    let errors = points.iter().map(error).collect();
    let drifts = points.iter().map(|point| drift(instance, point)).collect();
    Ok(Recording { instance: instance.name.clone(), tolerance, points, errors, drifts })
}

fn drift(instance: &PoolInstance, point: &TrajectoryPoint) -> f64 {
    let x: Vec<Rational> = point.x.iter().map(|&x| exact(x)).collect();
    let slacks: Vec<Rational> = reference::excess(instance, &x).into_iter().map(|excess| -excess).collect();
    let total: Rational = instance.entitlements.iter().sum();
    let mut worst = Rational::new();
    for ((request, e), x) in instance.requests.iter().zip(&instance.entitlements).zip(&x) {
        let distance = 1u32 - x.clone();
        let requested = request.iter().zip(&slacks).filter(|(r, _)| !r.is_zero());
        if distance <= 0 || requested.clone().any(|(_, slack)| *slack <= 0) {
            return f64::INFINITY;
        }
        let pull: Rational = requested.map(|(r, slack)| Rational::from(r / slack)).sum();
        let pull = x * (pull + distance.recip());
        let push = exact(point.c) * e / &total;
        if !push.is_zero() {
            worst = worst.max((pull / push - 1u32).abs());
        }
    }
    to_f64(&worst)
}

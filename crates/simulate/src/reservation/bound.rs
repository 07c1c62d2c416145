//! What greedy packing and the best packing would earn, were no job rejected (Reservation, section 7.2): along given
//! jobs, and along a run.

use std::time::Instant;

use evenhand_packing::{MaxReward, PackingError, configuration_lp, greedy};
use evenhand_problem::{Integer, Rational, Reservation};

use super::jobs::{Job, check};
use super::policy::AdmissionError;
use crate::cost::is_over;

/// Points at which a run is compared, about: each is a linear programme.
const POINTS: usize = 50;

/// What there would be at one time with all jobs that came and would not be done yet.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Beside {
    /// Time.
    pub time: f64,
    /// Reward of the greedy placement per server.
    pub greedy: f64,
    /// Optimum of the configuration programme per server: no policy earns more at this time.
    pub bound: f64,
}

/// The optimum of the configuration programme per server where so many jobs of each type are there.
fn optimum(best: &MaxReward<'_>, servers: usize, jobs: &[u64]) -> Result<f64, PackingError> {
    if jobs.iter().all(|jobs| *jobs == 0) {
        return Ok(0.0);
    }
    let loads: Vec<Rational> = jobs.iter().map(|jobs| Rational::from(*jobs)).collect();
    let value = configuration_lp::solve(best, &loads, &[Rational::from(servers)])?.value;
    Ok(value.to_f64() / servers as f64)
}

/// Along a run, at about 50 points of its series, as far as there is time; and whether that was up before. `all`: by
/// point and type the jobs that would be there.
pub(super) fn beside(
    problem: &Reservation,
    servers: usize,
    (series, all): (&[(f64, f64)], &[Vec<u64>]),
    until: Option<Instant>,
) -> Result<(Vec<Beside>, bool), AdmissionError> {
    let mut best = MaxReward::new(problem);
    let step = series.len().div_ceil(POINTS).max(1);
    let mut found = Vec::new();
    for ((time, _), jobs) in series.iter().zip(all).step_by(step) {
        if is_over(until) {
            return Ok((found, true));
        }
        let mut greedy = 0.0;
        if jobs.iter().any(|jobs| *jobs > 0) {
            let whole: Vec<Integer> = jobs.iter().map(|jobs| Integer::from(*jobs)).collect();
            let placed = greedy::whole(&mut best, &whole, &[Integer::from(servers)])?;
            greedy = placed.reward.to_f64() / servers as f64;
        }
        found.push(Beside { time: *time, greedy, bound: optimum(&best, servers, jobs)? });
    }
    Ok((found, false))
}

/// At each of `times`, ascending, the optimum of the configuration programme per server, where everybody who
/// has come and would not be done yet is there: as in a system with so many servers that no job is rejected.
///
/// # Errors
/// [`AdmissionError::Job`] where jobs are out of order, [`AdmissionError::Packing`].
pub fn upper_bound(
    problem: &Reservation,
    servers: usize,
    jobs: &[Job],
    times: &[f64],
) -> Result<Vec<(f64, f64)>, AdmissionError> {
    check(jobs, problem.n_types())?;
    let mut changes: Vec<(f64, usize, bool)> = Vec::with_capacity(2 * jobs.len());
    for job in jobs {
        changes.push((job.at, job.of_type, true));
        changes.push((job.at + job.lasts, job.of_type, false));
    }
    changes.sort_by(|a, b| a.0.total_cmp(&b.0));
    let best = MaxReward::new(problem);
    let (mut there, mut next) = (vec![0_u64; problem.n_types()], 0);
    let mut bounds = Vec::with_capacity(times.len());
    for &time in times {
        while let Some(&(_, j, comes)) = changes.get(next).filter(|change| change.0 <= time) {
            there[j] = if comes { there[j] + 1 } else { there[j] - 1 };
            next += 1;
        }
        bounds.push((time, optimum(&best, servers, &there)?));
    }
    Ok(bounds)
}

//! What no policy can earn more than along given jobs (Reservation, section 7.2).

use evenhand_packing::{MaxReward, configuration_lp};
use evenhand_problem::{Rational, Reservation};

use super::{AdmissionError, Job, check};

/// At each of `times`, ascending, the optimum of the configuration programme per server, where everybody who
/// has come and would not be done yet is there: as in a system with so many servers that nobody is rejected.
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
    let (mut there, mut next) = (vec![0_i64; problem.n_types()], 0);
    let mut bounds = Vec::with_capacity(times.len());
    for &time in times {
        while let Some(&(_, j, comes)) = changes.get(next).filter(|change| change.0 <= time) {
            there[j] += if comes { 1 } else { -1 };
            next += 1;
        }
        let loads: Vec<Rational> = there.iter().map(|jobs| Rational::from(*jobs)).collect();
        let value = if there.iter().all(|jobs| *jobs == 0) {
            0.0
        } else {
            configuration_lp::solve(&best, &loads, &[Rational::from(servers)])?.value.to_f64()
        };
        bounds.push((time, value / servers as f64));
    }
    Ok(bounds)
}

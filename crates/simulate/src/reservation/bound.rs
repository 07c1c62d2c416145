//! The reward that the jobs of a run could earn if no job were rejected (Reservation, section 7.2), with
//! greedy packing and with the best packing. The reward is computed for given jobs, and along a run.

use std::collections::HashMap;
use std::time::Instant;

use evenhand_packing::{MaxReward, PackingError, configuration_lp, greedy};
use evenhand_problem::{Integer, Rational, Reservation};

use super::jobs::{Job, check};
use super::policy::AdmissionError;
use crate::cost::is_over;

/// The approximate number of times at which a run is compared. A comparison solves a linear programme.
const POINTS: usize = 50;

/// The rewards at one time of all jobs that have arrived and would still run if no job were rejected.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Beside {
    /// The time of the comparison.
    pub time: f64,
    /// The reward per server of the greedy placement.
    pub greedy: f64,
    /// The optimum of the configuration programme per server. No policy earns more at this time.
    pub bound: f64,
}

/// Returns the optimum of the configuration programme per server for the given numbers of jobs of each type.
fn optimum(best: &MaxReward<'_>, servers: usize, jobs: &[Rational]) -> Result<f64, PackingError> {
    if jobs.iter().all(|jobs| *jobs == 0) {
        return Ok(0.0);
    }
    let value = configuration_lp::solve(best, jobs, &[Rational::from(servers)])?.value;
    Ok(value.to_f64() / servers as f64)
}

/// Returns the reward per server of the greedy placement for the given numbers of jobs of each type. The
/// placement is fluid if the numbers are fractions.
fn greedy(best: &mut MaxReward<'_>, servers: usize, jobs: &[Rational]) -> Result<f64, PackingError> {
    if jobs.iter().all(|jobs| *jobs == 0) {
        return Ok(0.0);
    }
    let reward = if jobs.iter().all(Rational::is_integer) {
        let whole: Vec<Integer> = jobs.iter().map(|jobs| jobs.numer().clone()).collect();
        greedy::whole(best, &whole, &[Integer::from(servers)])?.reward.to_f64()
    } else {
        greedy::fluid(best, jobs, &[Rational::from(servers)])?.reward.to_f64()
    };
    Ok(reward / servers as f64)
}

fn whole(jobs: &[u64]) -> Vec<Rational> {
    jobs.iter().map(|jobs| Rational::from(*jobs)).collect()
}

/// Computes the rewards without rejections at about 50 times of a run's series, until the time is up. Also
/// returns whether the time was up before the end. `all` has the number of jobs of each type at each time.
pub(super) fn compare(
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
        let jobs = whole(jobs);
        let greedy = greedy(&mut best, servers, &jobs)?;
        found.push(Beside { time: *time, greedy, bound: optimum(&best, servers, &jobs)? });
    }
    Ok((found, false))
}

/// The rewards that the jobs of a run could have earned, per server and unit of time, averaged over the time in which
/// rewards count.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Unrejected {
    /// The reward of the greedy placement of all jobs that have arrived and would not have finished yet. For
    /// a piece of time with several events, this is the reward of the fluid placement of the mean numbers of
    /// jobs.
    pub greedy: f64,
    /// The largest reward that any policy could have earned.
    pub bound: f64,
}

/// The least number of pieces of time. Pairs of pieces are joined when there are twice as many pieces. A
/// piece costs a linear programme.
const LEAST_PIECES: usize = 1024;
/// Mean numbers of jobs are rounded up to a multiple of 1 / `UNIT`. This keeps the programmes small and the bound valid.
const UNIT: u32 = 1 << 20;

/// The numbers of jobs over time if no job were rejected. The time is divided into pieces.
///
/// While there are few events, the numbers of jobs are constant within a piece. Later a piece spans several
/// events.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Pieces {
    /// The length of each piece, and its mean number of jobs of each type.
    pieces: Vec<(f64, Vec<f64>)>,
    /// The largest number of intervals between events in a piece.
    width: usize,
    /// The number of intervals between events in the last piece.
    in_last: usize,
}

impl Pieces {
    /// Returns whether no time has passed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// Adds an interval in which the numbers of jobs are constant.
    pub(super) fn add(&mut self, lasts: f64, jobs: &[u64]) {
        let jobs: Vec<f64> = jobs.iter().map(|jobs| *jobs as f64).collect();
        match self.pieces.last_mut() {
            Some((time, means)) if *means == jobs => *time += lasts,
            Some(last) if self.in_last < self.width => {
                self.in_last += 1;
                join(last, &(lasts, jobs));
            }
            _ => {
                self.halve();
                self.pieces.push((lasts, jobs));
                self.in_last = 1;
            }
        }
    }

    /// Joins pairs of pieces if there are too many pieces.
    fn halve(&mut self) {
        self.width = self.width.max(1);
        if self.pieces.len() < 2 * LEAST_PIECES {
            return;
        }
        self.width *= 2;
        let mut joined = Vec::with_capacity(2 * LEAST_PIECES);
        for pair in self.pieces.chunks(2) {
            let mut first = pair[0].clone();
            pair[1..].iter().for_each(|second| join(&mut first, second));
            joined.push(first);
        }
        self.pieces = joined;
    }

    /// Returns the rewards that the jobs could earn. Returns `None` if no time has passed, or if the moment
    /// `until` comes first.
    ///
    /// At each time a policy earns at most the optimum of the configuration programme for the jobs of that
    /// time. This optimum is a concave function of the numbers of jobs. Its mean over a piece is therefore at
    /// most its value at the mean numbers of jobs.
    pub(super) fn earn(
        &self,
        problem: &Reservation,
        servers: usize,
        until: Option<Instant>,
    ) -> Result<Option<Unrejected>, AdmissionError> {
        let mut best = MaxReward::new(problem);
        let (mut by_greedy, mut bound, mut lasted) = (0.0, 0.0, 0.0);
        let mut known: HashMap<Vec<Rational>, (f64, f64)> = HashMap::new();
        for (time, means) in &self.pieces {
            if is_over(until) {
                return Ok(None);
            }
            let jobs: Vec<Rational> = means.iter().map(|mean| rounded_up(*mean)).collect();
            let values = match known.get(&jobs) {
                Some(values) => *values,
                None => {
                    let values = (greedy(&mut best, servers, &jobs)?, optimum(&best, servers, &jobs)?);
                    known.insert(jobs, values);
                    values
                }
            };
            by_greedy += time * values.0;
            bound += time * values.1;
            lasted += time;
        }
        Ok((lasted > 0.0).then(|| Unrejected { greedy: by_greedy / lasted, bound: bound / lasted }))
    }
}

/// Joins the second piece to the first piece.
fn join((time, means): &mut (f64, Vec<f64>), (lasts, jobs): &(f64, Vec<f64>)) {
    *time += lasts;
    let part = lasts / *time;
    for (mean, jobs) in means.iter_mut().zip(jobs) {
        *mean += (jobs - *mean) * part;
    }
}

/// Returns the smallest multiple of 1 / [`UNIT`] that is at least `mean`.
fn rounded_up(mean: f64) -> Rational {
    let scaled = Rational::from_f64(mean * f64::from(UNIT)).unwrap_or_default();
    Rational::from((scaled.ceil().into_numer_denom().0, UNIT))
}

/// Returns the optimum of the configuration programme per server at each of the ascending `times`.
///
/// The programme has all jobs that have arrived and would not have finished yet, as if there were enough
/// servers to admit every job.
///
/// # Errors
/// Returns [`AdmissionError::Job`] if jobs are out of order, and [`AdmissionError::Packing`] if the programme
/// cannot be solved.
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
        bounds.push((time, optimum(&best, servers, &whole(&there))?));
    }
    Ok(bounds)
}

//! What greedy packing and the best packing would earn, were no job rejected (Reservation, section 7.2): along given
//! jobs, and along a run.

use std::collections::HashMap;
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

/// Returns the optimum of the configuration programme per server where so many jobs of each type are there.
fn optimum(best: &MaxReward<'_>, servers: usize, jobs: &[Rational]) -> Result<f64, PackingError> {
    if jobs.iter().all(|jobs| *jobs == 0) {
        return Ok(0.0);
    }
    let value = configuration_lp::solve(best, jobs, &[Rational::from(servers)])?.value;
    Ok(value.to_f64() / servers as f64)
}

/// Returns the reward of the greedy placement per server where so many jobs of each type are there. It is fluid where jobs
/// are fractions.
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

/// Along a run, at about 50 points of its series, as far as there is time; and whether that was up before. `all`: by
/// point and type the jobs that would be there.
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

/// What the jobs of a run could have earned, per server and unit of time, averaged over the time in which rewards count.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Unrejected {
    /// Reward of the greedy placement of all jobs that came and would not be done yet. For a piece of time with several
    /// events it is the fluid one of the mean number of jobs.
    pub greedy: f64,
    /// The most that any policy could have earned.
    pub bound: f64,
}

/// Pieces of time of a run, at least as many before two become one. With each comes a linear programme.
const LEAST_PIECES: usize = 1024;
/// Mean numbers of jobs are rounded up to a multiple of 1 over this, which keeps the programmes short and the bound valid.
const UNIT: u32 = 1 << 20;

/// The jobs that would be there if no job was rejected, over a span of time that is cut into pieces.
///
/// A piece lasts while the jobs stay the same as long as there are few events, and over several events otherwise.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Pieces {
    /// How long each piece lasts, and by type the mean number of jobs in it.
    pieces: Vec<(f64, Vec<f64>)>,
    /// Times with the same jobs that a piece is made of, at most.
    width: usize,
    /// Times with the same jobs in the last piece.
    in_last: usize,
}

impl Pieces {
    /// Whether no time has passed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// Adds a time with the same jobs.
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

    /// Joins pieces in pairs where there are too many.
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

    /// Returns what can be earned with these jobs. `None` where no time has passed, or `until` comes first.
    ///
    /// At each moment a policy earns at most the optimum of the configuration programme for the jobs that are there. That
    /// optimum is a concave function of the jobs. So over a piece its mean is at most its value at the mean number of jobs.
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

/// Makes one piece of two: the first is changed.
fn join((time, means): &mut (f64, Vec<f64>), (lasts, jobs): &(f64, Vec<f64>)) {
    *time += lasts;
    let part = lasts / *time;
    for (mean, jobs) in means.iter_mut().zip(jobs) {
        *mean += (jobs - *mean) * part;
    }
}

/// The least multiple of 1 / [`UNIT`] that is no smaller.
fn rounded_up(mean: f64) -> Rational {
    let scaled = Rational::from_f64(mean * f64::from(UNIT)).unwrap_or_default();
    Rational::from((scaled.ceil().into_numer_denom().0, UNIT))
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
        bounds.push((time, optimum(&best, servers, &whole(&there))?));
    }
    Ok(bounds)
}

//! Jobs that request admission, in the order of their times.

use evenhand_mechanisms::filling::Draw;

use super::policy::AdmissionError;
use crate::duration::Duration;

/// A job that requests admission.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Job {
    /// The time of arrival, in the time unit of the scenario.
    pub at: f64,
    /// The index of the job's type.
    pub of_type: usize,
    /// The running time. It is infinite for a job that never ends.
    pub lasts: f64,
}

/// A source of jobs, in the order of their times.
pub(super) trait Jobs {
    fn next(&mut self) -> Option<Job>;
}

/// A source of jobs of every type with Poisson arrivals and exponential running times.
pub(super) struct Poisson {
    /// The arrival rate of each type, with the time from which on these rates hold. Times are in ascending
    /// order.
    pieces: Vec<(f64, Vec<f64>)>,
    /// The mean running time of jobs of each type.
    means: Vec<f64>,
    /// The index of the current rates in `pieces`.
    piece: usize,
    now: f64,
    draw: Draw,
}

impl Poisson {
    /// Creates the jobs from arrival rates and mean running times of each type. The first rates must hold
    /// from time 0 on.
    pub fn new(pieces: Vec<(f64, Vec<f64>)>, means: Vec<f64>, draw: Draw) -> Self {
        Self { pieces, means, piece: 0, now: 0.0, draw }
    }

    /// Draws the type of the next job. The odds are the arrival rates.
    fn of_type(&mut self, all: f64) -> usize {
        let rates = &self.pieces[self.piece].1;
        let mut at = Duration::Uniform(0.0, all).draw(&mut self.draw);
        for (j, rate) in rates.iter().enumerate() {
            at -= rate;
            if at < 0.0 {
                return j;
            }
        }
        // This line is only reached if the sum of the rates was rounded up.
        rates.iter().rposition(|rate| *rate > 0.0).unwrap_or(0)
    }
}

impl Jobs for Poisson {
    fn next(&mut self) -> Option<Job> {
        loop {
            let all: f64 = self.pieces[self.piece].1.iter().sum();
            let wait = if all > 0.0 { self.draw.exponential(all.recip()) } else { f64::INFINITY };
            match self.pieces.get(self.piece + 1) {
                // The process is memoryless, so it starts again when the rates change.
                Some((end, _)) if self.now + wait >= *end => {
                    self.now = *end;
                    self.piece += 1;
                }
                None if wait == f64::INFINITY => return None,
                _ => {
                    self.now += wait;
                    let of_type = self.of_type(all);
                    let lasts = self.draw.exponential(self.means[of_type]);
                    return Some(Job { at: self.now, of_type, lasts });
                }
            }
        }
    }
}

impl Jobs for std::iter::Copied<std::slice::Iter<'_, Job>> {
    fn next(&mut self) -> Option<Job> {
        Iterator::next(self)
    }
}

/// Checks that jobs are in order and that their types exist.
pub(super) fn check(jobs: &[Job], types: usize) -> Result<(), AdmissionError> {
    let mut before = 0.0;
    for (index, job) in jobs.iter().enumerate() {
        let why = if !job.at.is_finite() || job.at < before {
            "it arrives before the previous job or before time 0"
        } else if job.of_type >= types {
            "its job type does not exist"
        } else if job.lasts.is_nan() || job.lasts < 0.0 {
            "its running time is negative or not a number"
        } else {
            before = job.at;
            continue;
        };
        return Err(AdmissionError::Job { index, why });
    }
    Ok(())
}

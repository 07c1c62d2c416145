//! The jobs that ask for admission, in the order of their times.

use evenhand_mechanisms::filling::Draw;

use super::policy::AdmissionError;
use crate::duration::{Duration, exponential};

/// A job that asks for admission.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Job {
    /// When it comes.
    pub at: f64,
    /// Its type.
    pub of_type: usize,
    /// How long it runs; infinite where it does not end.
    pub lasts: f64,
}

/// Where jobs come from.
pub(super) trait Jobs {
    fn next(&mut self) -> Option<Job>;
}

/// Poisson arrivals of every type, and exponential running times.
pub(super) struct Poisson {
    /// From when on so many jobs of each type come in a unit of time, ascending.
    pieces: Vec<(f64, Vec<f64>)>,
    /// By type: the mean running time.
    means: Vec<f64>,
    /// The piece that is gone through.
    piece: usize,
    now: f64,
    draw: Draw,
}

impl Poisson {
    /// Rates by type from some times on, the first of them 0, and mean running times.
    pub fn new(pieces: Vec<(f64, Vec<f64>)>, means: Vec<f64>, draw: Draw) -> Self {
        Self { pieces, means, piece: 0, now: 0.0, draw }
    }

    /// The type of the next job, drawn by the rates.
    fn of_type(&mut self, all: f64) -> usize {
        let rates = &self.pieces[self.piece].1;
        let mut at = Duration::Uniform(0.0, all).draw(&mut self.draw);
        for (j, rate) in rates.iter().enumerate() {
            at -= rate;
            if at < 0.0 {
                return j;
            }
        }
        // The sum of the rates was rounded.
        rates.iter().rposition(|rate| *rate > 0.0).unwrap_or(0)
    }
}

impl Jobs for Poisson {
    fn next(&mut self) -> Option<Job> {
        loop {
            let all: f64 = self.pieces[self.piece].1.iter().sum();
            let wait = if all > 0.0 { exponential(all.recip(), &mut self.draw) } else { f64::INFINITY };
            match self.pieces.get(self.piece + 1) {
                // The process has no memory: with other rates it begins anew.
                Some((end, _)) if self.now + wait >= *end => {
                    self.now = *end;
                    self.piece += 1;
                }
                None if wait == f64::INFINITY => return None,
                _ => {
                    self.now += wait;
                    let of_type = self.of_type(all);
                    let lasts = exponential(self.means[of_type], &mut self.draw);
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

/// Whether jobs are in order, and of types that there are.
pub(super) fn check(jobs: &[Job], types: usize) -> Result<(), AdmissionError> {
    let mut before = 0.0;
    for (index, job) in jobs.iter().enumerate() {
        let why = if !job.at.is_finite() || job.at < before {
            "it comes before the one before it, or before time 0"
        } else if job.of_type >= types {
            "there is no such type"
        } else if job.lasts.is_nan() || job.lasts < 0.0 {
            "its running time is negative or no number"
        } else {
            before = job.at;
            continue;
        };
        return Err(AdmissionError::Job { index, why });
    }
    Ok(())
}

//! The jobs that ask for admission, in the order of their times.

use evenhand_mechanisms::filling::Draw;
use evenhand_problem::Reservation;

use super::AdmissionError;
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

/// Poisson arrivals of every type at its load times the number of servers; running times of mean 1.
pub(super) struct Poisson {
    /// By type: jobs that come in a unit of time.
    rates: Vec<f64>,
    all: f64,
    now: f64,
    draw: Draw,
}

impl Poisson {
    pub fn new(problem: &Reservation, servers: usize, draw: Draw) -> Self {
        let rates: Vec<f64> = problem.loads().iter().map(|load| load.to_f64() * servers as f64).collect();
        Self { all: rates.iter().sum(), rates, now: 0.0, draw }
    }

    /// The type of the next job, drawn by the rates.
    fn of_type(&mut self) -> usize {
        let mut at = Duration::Uniform(0.0, self.all).draw(&mut self.draw);
        for (j, rate) in self.rates.iter().enumerate() {
            at -= rate;
            if at < 0.0 {
                return j;
            }
        }
        // The sum of the rates was rounded.
        self.rates.iter().rposition(|rate| *rate > 0.0).unwrap_or(0)
    }
}

impl Jobs for Poisson {
    fn next(&mut self) -> Option<Job> {
        if self.all <= 0.0 {
            return None;
        }
        self.now += exponential(self.all.recip(), &mut self.draw);
        let of_type = self.of_type();
        Some(Job { at: self.now, of_type, lasts: exponential(1.0, &mut self.draw) })
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

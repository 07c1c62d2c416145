//! How the jobs of a scenario come.

use evenhand_budget::charge;
use evenhand_mechanisms::filling::Draw;

use super::jobs::{Jobs, Poisson};
use super::{ARRIVALS, Job};
use crate::cost::DRAW;
use crate::duration::{Duration, exponential, is_too_dense};

/// Stream of the running times of the jobs that are there first.
const INITIAL: u64 = 2;

/// Stream of the errors of estimates.
const ERRORS: u64 = 3;

/// Loads that a policy takes for the true ones.
#[derive(Debug, Clone, PartialEq)]
pub struct Estimates {
    /// By type.
    pub loads: Vec<f64>,
    /// The largest part by which each is too small or too large; the seed decides.
    pub error: f64,
}

impl Estimates {
    /// With their errors, by the seed.
    pub(super) fn drawn(&self, seed: u64) -> Vec<f64> {
        let mut draw = Draw::new(seed, ERRORS);
        let mut factor = || 1.0 + Duration::Uniform(-self.error, self.error).draw(&mut draw);
        self.loads.iter().map(|load| load * factor()).collect()
    }
}

/// How jobs come.
#[derive(Debug, Clone, PartialEq)]
pub struct Coming {
    /// By type: the mean running time.
    pub mean_times: Vec<f64>,
    /// Loads by type, in jobs of each on one server, from some times on, the first of them 0.
    pub loads: Vec<(f64, Vec<f64>)>,
    /// By type: jobs that are there at time 0, each on the first server on which it fits.
    pub initial: Vec<u64>,
    /// Jobs of a trace, in place of random ones.
    pub trace: Option<Vec<Job>>,
}

impl Coming {
    /// Jobs per unit of time by type: a load is the rate on one server times the mean running time.
    fn rates(&self, servers: usize) -> Vec<(f64, Vec<f64>)> {
        let rate = |(load, mean): (&f64, &f64)| load * servers as f64 / mean;
        let piece =
            |(from, loads): &(f64, Vec<f64>)| (*from, loads.iter().zip(&self.mean_times).map(rate).collect());
        self.loads.iter().map(piece).collect()
    }

    /// Jobs that are expected up to the horizon.
    pub(super) fn expected(&self, servers: usize, horizon: f64) -> f64 {
        let first = self.initial.iter().sum::<u64>() as f64;
        if let Some(trace) = &self.trace {
            return first + trace.len() as f64;
        }
        let rates = self.rates(servers);
        let of = |(k, (from, rates)): (usize, &(f64, Vec<f64>))| {
            let end = self.loads.get(k + 1).map_or(horizon, |(next, _)| next.min(horizon));
            (end - from).max(0.0) * rates.iter().sum::<f64>()
        };
        first + rates.iter().enumerate().map(of).sum::<f64>()
    }

    /// The rate and the last time of random jobs that come closer to each other than times can be told apart, and the
    /// place of their loads.
    pub(super) fn too_dense(&self, servers: usize, horizon: f64) -> Option<(usize, f64, f64)> {
        if self.trace.is_some() {
            return None;
        }
        let rates = self.rates(servers).into_iter().enumerate();
        rates.filter(|(_, (from, _))| *from <= horizon).find_map(|(k, (_, rates))| {
            let end = self.loads.get(k + 1).map_or(horizon, |(next, _)| next.min(horizon));
            let rate = rates.iter().sum();
            is_too_dense(rate, end).then_some((k, rate, end))
        })
    }

    /// By type: how much longer the jobs run that are there at time 0, by the seed. What is left of an exponential time
    /// has the same distribution.
    pub(super) fn first(&self, seed: u64) -> Vec<Vec<f64>> {
        let first = self.initial.iter().sum::<u64>();
        charge(DRAW.saturating_mul(first), "the jobs that are there at time 0");
        let mut draw = Draw::new(seed, INITIAL);
        let of_type =
            |(count, mean): (&u64, &f64)| (0..*count).map(|_| exponential(*mean, &mut draw)).collect();
        self.initial.iter().zip(&self.mean_times).map(of_type).collect()
    }

    /// The jobs that come, by the seed.
    pub(super) fn jobs(&self, servers: usize, seed: u64) -> Box<dyn Jobs + '_> {
        match &self.trace {
            Some(trace) => Box::new(trace.iter().copied()),
            None => {
                let draw = Draw::new(seed, ARRIVALS);
                Box::new(Poisson::of(self.rates(servers), self.mean_times.clone(), draw))
            }
        }
    }
}

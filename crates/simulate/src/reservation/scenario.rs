//! Scenarios of admission: a reservation problem, a policy, and the arrivals and running times of jobs.

use evenhand_budget::{charge, room, table};
use evenhand_mechanisms::filling::Draw;
use evenhand_problem::Reservation;

use super::jobs::{Job, Jobs, Poisson};
use super::policy::{AdmissionError, Policy};
use crate::cost::DRAW;
use crate::duration::{Duration, is_too_dense};

/// Numbers of the random streams: arrivals, choices of the policy, remaining running times of the jobs at
/// time 0, and errors of estimates.
const ARRIVALS: u64 = 0;
pub(super) const CHOICES: u64 = 1;
const INITIAL: u64 = 2;
const ERRORS: u64 = 3;

/// The largest number of servers of a run.
pub(super) const MOST_SERVERS: usize = 100_000;
/// The largest product of the numbers of servers and types. A pair of a server and a type takes some 30
/// bytes.
const MOST_PAIRS: f64 = 1e7;
/// The largest expected number of random jobs. A job takes up to a few microseconds.
const MOST_JOBS: f64 = 5e7;
/// The largest product of rows of the series and the squared number of types. The product counts the numbers
/// that rows store for configurations, which take some 10 bytes each.
const MOST_CELLS: f64 = 1e7;

/// A scenario of admission.
#[derive(Debug, Clone, PartialEq)]
pub struct AdmissionScenario {
    /// The title, which may be empty.
    pub name: String,
    /// The types of jobs with their rewards and loads, and the servers on which they fit.
    pub problem: Reservation,
    /// The number of identical servers.
    pub servers: usize,
    /// The policy that admits jobs.
    pub policy: Policy,
    /// The time between two classifications of DRA, or `None` if servers are classified after every admission
    /// and departure.
    pub cra_every: Option<f64>,
    /// The loads that the policy uses instead of the true loads, or `None` to use the true loads.
    pub estimates: Option<Estimates>,
    /// The arrivals of jobs.
    pub coming: Coming,
    /// The time at which a run stops, in the time unit of the scenario.
    pub horizon: f64,
    /// The time from which on rewards are averaged.
    pub from: f64,
    /// The time between two rows of the series, in the time unit of the scenario.
    pub every: f64,
}

impl AdmissionScenario {
    /// Creates a scenario in which jobs arrive with the loads of the problem and have running times of
    /// mean 1. `servers` is the number of servers. `from` is the time from which on rewards are averaged, and
    /// `every` is the time between two rows.
    #[must_use]
    pub fn new(
        problem: Reservation,
        servers: usize,
        policy: Policy,
        (horizon, from, every): (f64, f64, f64),
    ) -> Self {
        let coming = Coming::of(&problem);
        let (name, cra_every, estimates) = (String::new(), None, None);
        Self { name, problem, servers, policy, cra_every, estimates, coming, horizon, from, every }
    }

    /// Checks that the numbers are valid.
    pub(super) fn check_numbers(&self) -> Result<(), AdmissionError> {
        if self.servers == 0 || self.servers > MOST_SERVERS {
            return Err(AdmissionError::Setting(
                "expected 1 to 100,000 servers, into which jobs are admitted",
            ));
        }
        let times = [self.horizon, self.from, self.every];
        if !times.iter().all(|time| time.is_finite() && *time >= 0.0) || self.every == 0.0 {
            return Err(AdmissionError::Setting(
                "expected finite times of at least 0, and a distance of points above 0",
            ));
        }
        if self.from >= self.horizon {
            return Err(AdmissionError::Setting(
                "expected a time before the horizon, from which rewards are averaged",
            ));
        }
        Ok(())
    }

    /// Checks that the scenario is not too large.
    pub(super) fn check_size(&self) -> Result<(), AdmissionError> {
        // Invalid numbers are reported as invalid, not as too large.
        self.check_numbers()?;
        let types = self.problem.n_types() as f64;
        let rows = self.horizon / self.every;
        let pairs = self.servers.saturating_mul(self.problem.n_types());
        for (what, found, most) in [
            ("servers times types of jobs", self.servers as f64 * types, MOST_PAIRS),
            ("jobs that are expected", self.coming.expected(self.servers, self.horizon), MOST_JOBS),
            ("rows of the series, times types of jobs twice,", rows * types * types, MOST_CELLS),
        ] {
            if found.is_nan() || found > most {
                return Err(AdmissionError::TooLarge { what, found, most });
            }
        }
        /// Bytes of a type on a server.
        const OF_PAIR: usize = 40;
        /// Bytes that a row stores for a type.
        const OF_CELL: f64 = 24.0;
        /// Bytes that a row stores for a type in a configuration.
        const OF_CONFIGURATION: f64 = 8.0;
        table(pairs, 1, OF_PAIR, "servers and types of jobs");
        room((rows * types * (OF_CELL + OF_CONFIGURATION * types)) as u64, "the series");
        Ok(())
    }
}

/// The loads that a policy uses instead of the true loads.
#[derive(Debug, Clone, PartialEq)]
pub struct Estimates {
    /// The estimated load of each type.
    pub loads: Vec<f64>,
    /// The largest relative error of an estimate. The seed decides the errors.
    pub error: f64,
}

impl Estimates {
    /// Returns the loads with random errors, which the seed decides.
    pub(super) fn drawn(&self, seed: u64) -> Vec<f64> {
        let mut draw = Draw::new(seed, ERRORS);
        let mut factor = || 1.0 + Duration::Uniform(-self.error, self.error).draw(&mut draw);
        self.loads.iter().map(|load| load * factor()).collect()
    }
}

/// The arrivals of jobs.
#[derive(Debug, Clone, PartialEq)]
pub struct Coming {
    /// The mean running time of jobs of each type.
    pub mean_times: Vec<f64>,
    /// The load of each type, with the time from which on these loads hold. The first time is 0. A load is
    /// the mean number of jobs on one server.
    pub loads: Vec<(f64, Vec<f64>)>,
    /// The number of jobs of each type at time 0. Each job is placed on the first server on which it fits.
    pub initial: Vec<u64>,
    /// The jobs of a trace, which replace random jobs, or `None` if jobs are random.
    pub trace: Option<Vec<Job>>,
}

impl Coming {
    /// Returns the reason why jobs up to the horizon do not always arrive at the loads of the problem, or
    /// `None` if they do.
    #[must_use]
    pub fn other_loads(&self, horizon: f64) -> Option<&'static str> {
        if self.trace.is_some() {
            return Some("the jobs come from a trace");
        }
        /// The relative amount by which numbers of a file may differ by rounding.
        const ROUNDING: f64 = 1e-12;
        let (_, stated) = self.loads.first()?;
        let is_other = |(load, stated): (&f64, &f64)| (load - stated).abs() > ROUNDING * stated;
        if self.loads.iter().any(|(from, loads)| *from < horizon && loads.iter().zip(stated).any(is_other)) {
            return Some("the loads change");
        }
        self.initial.iter().any(|jobs| *jobs > 0).then_some("other jobs are there at time 0")
    }

    /// Creates arrivals of every type at its load, with running times of mean 1.
    pub(super) fn of(problem: &Reservation) -> Self {
        let loads = problem.loads().iter().map(|load| load.to_f64()).collect();
        let types = problem.n_types();
        Self { mean_times: vec![1.0; types], loads: vec![(0.0, loads)], initial: vec![0; types], trace: None }
    }

    /// Returns the arrival rate of each type over time. A load is the rate on one server times the mean
    /// running time.
    fn rates(&self, servers: usize) -> Vec<(f64, Vec<f64>)> {
        let rate = |(load, mean): (&f64, &f64)| load * servers as f64 / mean;
        let piece =
            |(from, loads): &(f64, Vec<f64>)| (*from, loads.iter().zip(&self.mean_times).map(rate).collect());
        self.loads.iter().map(piece).collect()
    }

    /// Returns the expected number of jobs up to the horizon.
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

    /// Returns the first loads at which random jobs arrive closer to each other than neighbouring doubles:
    /// the index of the loads, the arrival rate, and the last time of these loads. Returns `None` if there
    /// are no such loads.
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

    /// Returns the remaining running times of the jobs of each type at time 0, which the seed decides. The
    /// remainder of an exponential time has the same distribution as the time.
    pub(super) fn initial_times(&self, seed: u64) -> Vec<Vec<f64>> {
        let first = self.initial.iter().sum::<u64>();
        charge(DRAW.saturating_mul(first), "the processing of the jobs that are present at time 0");
        let mut draw = Draw::new(seed, INITIAL);
        let of_type = |(count, mean): (&u64, &f64)| (0..*count).map(|_| draw.exponential(*mean)).collect();
        self.initial.iter().zip(&self.mean_times).map(of_type).collect()
    }

    /// Returns the jobs that arrive. If they are random, the seed decides them.
    pub(super) fn jobs(&self, servers: usize, seed: u64) -> Box<dyn Jobs + '_> {
        match &self.trace {
            Some(trace) => Box::new(trace.iter().copied()),
            None => {
                let draw = Draw::new(seed, ARRIVALS);
                Box::new(Poisson::new(self.rates(servers), self.mean_times.clone(), draw))
            }
        }
    }
}

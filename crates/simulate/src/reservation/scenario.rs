//! What is simulated: a reservation problem, a policy, how jobs come, and how long.

use evenhand_budget::{charge, room, table};
use evenhand_mechanisms::filling::Draw;
use evenhand_problem::Reservation;

use super::jobs::{Job, Jobs, Poisson};
use super::policy::{AdmissionError, Policy};
use crate::cost::DRAW;
use crate::duration::{Duration, exponential, is_too_dense};

/// Streams of random choices: arrivals, the policy, running times of the jobs that are there first, and errors of
/// estimates.
const ARRIVALS: u64 = 0;
pub(super) const CHOICES: u64 = 1;
const INITIAL: u64 = 2;
const ERRORS: u64 = 3;

/// Servers of a run, at most.
pub(super) const MOST_SERVERS: usize = 100_000;
/// Servers times types of jobs: each is held some 30 bytes of memory for.
const MOST_PAIRS: f64 = 1e7;
/// Jobs that are expected at random times: each takes up to some microseconds.
const MOST_JOBS: f64 = 5e7;
/// Rows of the series times types twice: what is told of every configuration, some 10 bytes each.
const MOST_CELLS: f64 = 1e7;

/// What is simulated.
#[derive(Debug, Clone, PartialEq)]
pub struct AdmissionScenario {
    /// Title; may be empty.
    pub name: String,
    /// Types of jobs with their rewards and loads, and the servers that they fit on.
    pub problem: Reservation,
    /// Identical servers.
    pub servers: usize,
    /// How jobs are admitted.
    pub policy: Policy,
    /// Time between two classifications of DRA; `None`: after every admission and departure.
    pub cra_every: Option<f64>,
    /// Loads that the policy takes for the true ones, if it does.
    pub estimates: Option<Estimates>,
    /// How jobs come.
    pub coming: Coming,
    /// Time at which a run stops.
    pub horizon: f64,
    /// Rewards are averaged from this time on.
    pub from: f64,
    /// Time between two rows of the series.
    pub every: f64,
}

impl AdmissionScenario {
    /// Jobs that come as the problem says, with running times of mean 1, into so many servers of its pool: up to the
    /// horizon, with rewards averaged `from` a time on, and a row of the series `every` so often.
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

    /// Whether a run can be made of these numbers.
    pub(super) fn possible(&self) -> Result<(), AdmissionError> {
        if self.servers == 0 || self.servers > MOST_SERVERS {
            return Err(AdmissionError::Setting("jobs are admitted into 1 to 100,000 servers"));
        }
        let times = [self.horizon, self.from, self.every];
        if !times.iter().all(|time| time.is_finite() && *time >= 0.0) || self.every == 0.0 {
            return Err(AdmissionError::Setting(
                "times are finite and at least 0, the distance of points above 0",
            ));
        }
        if self.from >= self.horizon {
            return Err(AdmissionError::Setting("rewards are averaged from a time before the horizon"));
        }
        Ok(())
    }

    /// Whether it is not too much.
    pub(super) fn bounded(&self) -> Result<(), AdmissionError> {
        // Numbers of which nothing can be made are no large ones.
        self.possible()?;
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
        /// Bytes of a type on a server, of what a row tells of a type, and of what it tells of a configuration.
        const OF_PAIR: usize = 40;
        const OF_CELL: f64 = 24.0;
        const OF_CONFIGURATION: f64 = 8.0;
        table(pairs, 1, OF_PAIR, "servers and types of jobs");
        room((rows * types * (OF_CELL + OF_CONFIGURATION * types)) as u64, "the series");
        Ok(())
    }
}

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
    /// Returns why the jobs up to the horizon do not all come at the loads of the problem, where they do not.
    #[must_use]
    pub fn other_loads(&self, horizon: f64) -> Option<&'static str> {
        if self.trace.is_some() {
            return Some("the jobs come from a trace");
        }
        /// By what part numbers of a file may differ by rounding.
        const ROUNDING: f64 = 1e-12;
        let (_, stated) = self.loads.first()?;
        let is_other = |(load, stated): (&f64, &f64)| (load - stated).abs() > ROUNDING * stated;
        if self.loads.iter().any(|(from, loads)| *from < horizon && loads.iter().zip(stated).any(is_other)) {
            return Some("the loads change");
        }
        self.initial.iter().any(|jobs| *jobs > 0).then_some("other jobs are there at time 0")
    }

    /// Every type at its load, with running times of mean 1.
    pub(super) fn of(problem: &Reservation) -> Self {
        let loads = problem.loads().iter().map(|load| load.to_f64()).collect();
        let types = problem.n_types();
        Self { mean_times: vec![1.0; types], loads: vec![(0.0, loads)], initial: vec![0; types], trace: None }
    }

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
                Box::new(Poisson::new(self.rates(servers), self.mean_times.clone(), draw))
            }
        }
    }
}

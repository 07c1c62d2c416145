//! Admission of jobs into reserved slots (Reservation, sections 4 and 7): jobs come at random times, are
//! admitted or rejected at once, and earn their reward while they run.
//!
//! | policy | admits |
//! |---|---|
//! | [`Policy::Dra`] | into an empty slot of its type in the Accept Group of the Dynamic Reservation Algorithm |
//! | [`Policy::Preempting`] | the same, and where a job of higher priority finds none, jobs of priority 0 make room |
//! | [`Policy::PowerOfD`] | on the least loaded of `d` random servers, if it fits there |
//! | [`Policy::Static`] | into an empty slot of its type, slots by the configuration programme for the stated loads |
//!
//! [`scenario`] reads what `evenhand simulate` runs. [`upper_bound`] is what no policy can earn more than along given jobs.

mod beginning;
mod beside;
mod bound;
mod coming;
mod dra;
mod fixed;
mod jobs;
mod output;
mod power_of_d;
mod read;
mod run;
mod scenario;

use std::time::Instant;

use evenhand_budget::{room, table};
use evenhand_mechanisms::filling::Draw;
use evenhand_packing::PackingError;
use evenhand_problem::Reservation;
use thiserror::Error;

use self::run::Run;
use crate::duration::is_too_dense;
pub use beside::Beside;
pub use bound::upper_bound;
pub use coming::{Coming, Estimates};
use dra::Dra;
use fixed::Fixed;
pub use jobs::Job;
use jobs::{Jobs, Poisson, check};
pub use output::{beside_csv, document, series_csv};
use power_of_d::PowerOfD;
pub use read::{is_admission, scenario};
pub use scenario::{AdmissionScenario, Admitted, run, run_until};

/// How jobs are admitted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Policy {
    /// The Dynamic Reservation Algorithm, with so many slots in reserve for every type (`g` in the paper).
    Dra {
        /// Slots.
        reserve: u64,
    },
    /// The Dynamic Reservation Algorithm that preempts jobs of priority 0 when one of higher priority is
    /// rejected, the smallest first, until what they took together is the reserve times what that job takes
    /// (Reservation, section 7.2). What they earned stays, what they would have earned is lost.
    Preempting {
        /// Slots.
        reserve: u64,
        /// By type.
        priorities: Vec<u32>,
    },
    /// Slots that do not change, by the optimum for the loads of the problem.
    Static,
    /// The least loaded of so many random servers.
    PowerOfD {
        /// Servers that are asked.
        d: usize,
    },
}

/// What is simulated.
#[derive(Debug, Clone, PartialEq)]
pub struct Setting {
    /// Identical servers.
    pub servers: usize,
    /// How jobs are admitted.
    pub policy: Policy,
    /// Time at which the run stops.
    pub horizon: f64,
    /// Rewards are averaged from this time on.
    pub from: f64,
    /// Time between two points of the series.
    pub every: f64,
    /// Decides everything random.
    pub seed: u64,
}

/// What a run gives.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Admission {
    /// Reward per server and unit of time, averaged.
    pub reward: f64,
    /// Where it stopped before the horizon, since its time was up.
    pub stopped_at: Option<f64>,
    /// The same at equal distances of time.
    pub series: Vec<(f64, f64)>,
    /// By point of the series, by type: jobs that run.
    pub jobs: Vec<Vec<u64>>,
    /// By point of the series, by type: slots, filled or not; nothing for policies without configurations.
    pub slots: Vec<Vec<u64>>,
    /// By point of the series, by type: jobs that came and would not be done yet, were nobody rejected.
    pub all: Vec<Vec<u64>>,
    /// By type: jobs that were admitted.
    pub admitted: Vec<u64>,
    /// By type: jobs that were rejected.
    pub rejected: Vec<u64>,
    /// By type: jobs that had to make room.
    pub preempted: Vec<u64>,
    /// Jobs that were moved to another server.
    pub migrations: u64,
    /// By point of the series: configurations with the servers that are effectively assigned to them
    /// (Definition 5.1), in the order of the greedy placement; nothing for policies without configurations.
    pub effective: Vec<Vec<(Vec<u64>, usize)>>,
    /// The servers of every configuration at the end, in the order of the greedy placement and then those that it
    /// does not want; nothing for policies without configurations.
    pub classified: Vec<Classified>,
}

/// The servers of a configuration, as the Dynamic Reservation Algorithm has classified them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Classified {
    /// Slots by type.
    pub configuration: Vec<u64>,
    /// Servers that the greedy placement gives it.
    pub wanted: usize,
    /// Servers of the Accept Group.
    pub accepting: usize,
    /// Servers of the Reject Group.
    pub rejecting: usize,
}

/// Why there is no run.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum AdmissionError {
    /// The greedy placement failed.
    #[error(transparent)]
    Packing(#[from] PackingError),
    /// Times or numbers that nothing can be made of.
    #[error("{0}")]
    Setting(&'static str),
    /// Jobs that come closer to each other than the numbers of double precision.
    #[error(
        "{rate:.1e} jobs come in a unit of time: times at {at:e} are {:.1e} apart, are kept in double precision, and \
         would not go on",
        at.next_up() - at
    )]
    TooDense {
        /// Jobs in a unit of time.
        rate: f64,
        /// The last time at which they come.
        at: f64,
    },
    /// Jobs that are there at time 0 and have no room.
    #[error("the servers have room for {fit} of the jobs of type `{name}` that are there at time 0")]
    Initial {
        /// The type.
        name: String,
        /// Jobs for which there is room.
        fit: u64,
    },
    /// More than is run.
    #[error("too large: {what} would be {found:.1e}, at most {most:.0e} are run")]
    TooLarge {
        /// What there would be too many of.
        what: &'static str,
        /// How many there would be.
        found: f64,
        /// How many there may be.
        most: f64,
    },
    /// A job that cannot be.
    #[error("job {index}: {why}")]
    Job {
        /// Its place, from 0.
        index: usize,
        /// What is wrong.
        why: &'static str,
    },
}

/// The reserve that the paper's conditions allow, for this number of servers: `ceil(ln(L)^1.5)`.
#[must_use]
pub fn reserve(servers: usize) -> u64 {
    let log = libm::log(servers.max(1) as f64);
    (log * log.sqrt()).ceil() as u64
}

/// Where a job goes and where others move.
trait Admit {
    /// A job of type `j` is there at time 0, before all others: the server that has it; `None` where there is no room.
    fn begin(&mut self, j: usize) -> Option<usize>;

    /// All jobs are there that are there at time 0.
    fn begun(&mut self) -> Result<(), AdmissionError> {
        Ok(())
    }

    /// A job of type `j` comes: the server that takes it.
    fn admit(&mut self, j: usize, draw: &mut Draw) -> Result<Option<usize>, AdmissionError>;

    /// A job of type `j` leaves `server`: the server from which one of the same type moves there.
    fn leave(&mut self, j: usize, server: usize) -> Result<Option<usize>, AdmissionError>;

    /// A job of type `j` was rejected: types and servers of the jobs that are preempted for it.
    fn make_room(&mut self, _j: usize) -> Result<Vec<(usize, usize)>, AdmissionError> {
        Ok(Vec::new())
    }

    /// Time for an algorithm that acts from time to time.
    fn tick(&mut self) -> Result<(), AdmissionError> {
        Ok(())
    }

    /// By type: slots of all servers, filled or not.
    fn slots(&self) -> Vec<u64> {
        Vec::new()
    }

    /// Configurations and the servers that are effectively assigned to them.
    fn effective(&self) -> Vec<(Vec<u64>, usize)> {
        Vec::new()
    }

    /// The servers of every configuration.
    fn classified(&self) -> Vec<Classified> {
        Vec::new()
    }
}

/// Runs one pool of `problem`, of as many servers as `setting` says, with Poisson arrivals of every type at its
/// load times the number of servers, and running times of mean 1.
///
/// # Errors
/// [`AdmissionError`].
pub fn admit(problem: &Reservation, setting: &Setting) -> Result<Admission, AdmissionError> {
    let load: f64 = problem.loads().iter().map(|load| load.to_f64()).sum();
    let rate = load * setting.servers as f64;
    bounded(problem, setting, rate * setting.horizon)?;
    if is_too_dense(rate, setting.horizon) {
        return Err(AdmissionError::TooDense { rate, at: setting.horizon });
    }
    let draw = Draw::new(setting.seed, ARRIVALS);
    admitted(problem, setting, &mut Poisson::new(problem, setting.servers, draw), &Options::default())
}

/// The same with given jobs, in the order of their times.
///
/// # Errors
/// [`AdmissionError`].
pub fn admit_jobs(
    problem: &Reservation,
    setting: &Setting,
    jobs: &[Job],
) -> Result<Admission, AdmissionError> {
    check(jobs, problem.n_types())?;
    bounded(problem, setting, jobs.len() as f64)?;
    admitted(problem, setting, &mut jobs.iter().copied(), &Options::default())
}

/// What a policy is told besides.
#[derive(Debug, Clone, Default)]
struct Options {
    /// Time between two classifications of DRA; `None`: after every admission and departure.
    cra_every: Option<f64>,
    /// Loads by type as they are estimated.
    estimates: Option<Vec<f64>>,
    /// By type: running times of jobs that are there at time 0.
    initial: Vec<Vec<f64>>,
    /// When the run stops with what it has.
    until: Option<Instant>,
}

fn admitted(
    problem: &Reservation,
    setting: &Setting,
    jobs: &mut dyn Jobs,
    options: &Options,
) -> Result<Admission, AdmissionError> {
    if problem.n_pools() != 1 {
        return Err(AdmissionError::Setting("jobs are admitted into one pool of servers"));
    }
    let needs_capacity = matches!(setting.policy, Policy::PowerOfD { .. } | Policy::Preempting { .. });
    if problem.configurations().is_some() && needs_capacity {
        return Err(AdmissionError::Setting(NEEDS_CAPACITY));
    }
    possible(setting)?;
    let servers = setting.servers;
    let mut policy: Box<dyn Admit + '_> = match &setting.policy {
        Policy::Dra { reserve } => Box::new(Dra::new(problem, servers, *reserve, Vec::new(), options)?),
        Policy::Preempting { priorities, .. } if priorities.len() != problem.n_types() => {
            return Err(AdmissionError::Setting("every type has a priority"));
        }
        Policy::Preempting { reserve, priorities } => {
            Box::new(Dra::new(problem, servers, *reserve, priorities.clone(), options)?)
        }
        Policy::PowerOfD { d } => Box::new(PowerOfD::new(problem, servers, *d)),
        Policy::Static => Box::new(Fixed::new(problem, servers, options.estimates.as_deref())?),
    };
    let mut run = Run::new(problem, setting);
    run.begin(problem, &options.initial, policy.as_mut())?;
    run.simulate(jobs, policy.as_mut(), options)?;
    Ok(run.result)
}

/// Why a policy does not take configurations.
const NEEDS_CAPACITY: &str =
    "`power_of_d` and `priorities` compare demands with capacities, of which `configurations` say nothing";
/// Servers of a run, at most.
const MOST_SERVERS: usize = 100_000;
/// Servers times types of jobs: each is held some 30 bytes of memory for.
const MOST_PAIRS: f64 = 1e7;
/// Jobs that are expected at random times: each takes up to some microseconds.
const MOST_JOBS: f64 = 5e7;
/// Rows of the series times types twice: what is told of every configuration, some 10 bytes each.
const MOST_CELLS: f64 = 1e7;

/// Whether a run can be made of these numbers.
fn possible(setting: &Setting) -> Result<(), AdmissionError> {
    if setting.servers == 0 || setting.servers > MOST_SERVERS {
        return Err(AdmissionError::Setting("jobs are admitted into 1 to 100,000 servers"));
    }
    let times = [setting.horizon, setting.from, setting.every];
    if !times.iter().all(|time| time.is_finite() && *time >= 0.0) || setting.every == 0.0 {
        return Err(AdmissionError::Setting(
            "times are finite and at least 0, the distance of points above 0",
        ));
    }
    if setting.from >= setting.horizon {
        return Err(AdmissionError::Setting("rewards are averaged from a time before the horizon"));
    }
    Ok(())
}

/// What a run would take.
fn bounded(problem: &Reservation, setting: &Setting, jobs: f64) -> Result<(), AdmissionError> {
    // Numbers of which nothing can be made are no large ones.
    possible(setting)?;
    let types = problem.n_types() as f64;
    let rows = setting.horizon / setting.every;
    let pairs = setting.servers.saturating_mul(problem.n_types());
    for (what, found, most) in [
        ("servers times types of jobs", setting.servers as f64 * types, MOST_PAIRS),
        ("jobs that are expected", jobs, MOST_JOBS),
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

/// Streams of random choices: arrivals, and the policy.
const ARRIVALS: u64 = 0;
const CHOICES: u64 = 1;

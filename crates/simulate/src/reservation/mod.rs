//! Admission of jobs into reserved slots (Reservation, sections 4 and 7): jobs come at random times, are
//! admitted or rejected at once, and earn their reward while they run.
//!
//! | policy | admits |
//! |---|---|
//! | [`Policy::Dra`] | into an empty slot of its type in the Accept Group of the Dynamic Reservation Algorithm |
//! | [`Policy::PowerOfD`] | on the least loaded of `d` random servers, if it fits there |

mod dra;
mod power_of_d;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use evenhand_mechanisms::filling::Draw;
use evenhand_packing::PackingError;
use evenhand_problem::Reservation;
use thiserror::Error;

use crate::duration::exponential;
use dra::Dra;
use power_of_d::PowerOfD;

/// How jobs are admitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Policy {
    /// The Dynamic Reservation Algorithm, with so many slots in reserve for every type (`g` in the paper).
    Dra {
        /// Slots.
        reserve: u64,
    },
    /// The least loaded of so many random servers.
    PowerOfD {
        /// Servers that are asked.
        d: usize,
    },
}

/// What is simulated: Poisson arrivals of every type at its load times the number of servers, and running
/// times of mean 1.
#[derive(Debug, Clone, Copy, PartialEq)]
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
    /// The same at equal distances of time.
    pub series: Vec<(f64, f64)>,
    /// By type: jobs that were admitted.
    pub admitted: Vec<u64>,
    /// By type: jobs that were rejected.
    pub rejected: Vec<u64>,
    /// Jobs that were moved to another server.
    pub migrations: u64,
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
}

/// The reserve that the paper's conditions allow, for this number of servers: `ceil(ln(L)^1.5)`.
#[must_use]
pub fn reserve(servers: usize) -> u64 {
    let log = libm::log(servers.max(1) as f64);
    (log * log.sqrt()).ceil() as u64
}

/// Where a job goes and where others move.
trait Admit {
    /// A job of type `j` comes: the server that takes it.
    fn admit(&mut self, j: usize, draw: &mut Draw) -> Result<Option<usize>, AdmissionError>;

    /// A job of type `j` leaves `server`: the server from which one of the same type moves there.
    fn leave(&mut self, j: usize, server: usize) -> Result<Option<usize>, AdmissionError>;
}

/// Runs one pool of `problem`, of as many servers as `setting` says.
///
/// # Errors
/// [`AdmissionError`].
pub fn admit(problem: &Reservation, setting: &Setting) -> Result<Admission, AdmissionError> {
    if problem.n_pools() != 1 || problem.configurations().is_some() {
        return Err(AdmissionError::Setting("jobs are admitted into one pool of servers with capacities"));
    }
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
    let mut run = Run::new(problem, setting);
    match setting.policy {
        Policy::Dra { reserve } => run.simulate(&mut Dra::new(problem, setting.servers, reserve)?)?,
        Policy::PowerOfD { d } => run.simulate(&mut PowerOfD::new(problem, setting.servers, d))?,
    }
    Ok(run.result)
}

/// Servers of a run, at most.
const MOST_SERVERS: usize = 100_000;

/// Streams of random choices: arrivals, and the policy.
const ARRIVALS: u64 = 0;
const CHOICES: u64 = 1;

struct Run<'a> {
    setting: &'a Setting,
    rewards: Vec<f64>,
    /// By type: jobs that come in a unit of time.
    rates: Vec<f64>,
    /// By job: its type and server.
    jobs: Vec<(usize, usize)>,
    free: Vec<usize>,
    /// By server, by type: its jobs.
    on: Vec<Vec<Vec<usize>>>,
    /// Ends of jobs, as bits: times are not negative, so that bits compare as they do.
    ends: BinaryHeap<Reverse<(u64, usize)>>,
    /// Reward of all jobs in a unit of time.
    rate: f64,
    result: Admission,
}

impl<'a> Run<'a> {
    fn new(problem: &Reservation, setting: &'a Setting) -> Self {
        let types = problem.n_types();
        let servers = setting.servers as f64;
        Self {
            setting,
            rewards: problem.rewards().iter().map(|reward| reward.to_f64()).collect(),
            rates: problem.loads().iter().map(|load| load.to_f64() * servers).collect(),
            jobs: Vec::new(),
            free: Vec::new(),
            on: vec![vec![Vec::new(); types]; setting.servers],
            ends: BinaryHeap::new(),
            rate: 0.0,
            result: Admission { admitted: vec![0; types], rejected: vec![0; types], ..Admission::default() },
        }
    }

    fn simulate(&mut self, policy: &mut dyn Admit) -> Result<(), AdmissionError> {
        let Setting { horizon, seed, .. } = *self.setting;
        let (mut arrivals, mut choices) = (Draw::new(seed, ARRIVALS), Draw::new(seed, CHOICES));
        let all: f64 = self.rates.iter().sum();
        if all <= 0.0 {
            self.advance(0.0, horizon);
            return Ok(());
        }
        let (mut now, mut next) = (0.0, exponential(all.recip(), &mut arrivals));
        loop {
            let ends = self.ends.peek().map_or(f64::INFINITY, |Reverse((bits, _))| f64::from_bits(*bits));
            let time = next.min(ends);
            self.advance(now, time.min(horizon));
            if time > horizon {
                break;
            }
            now = time;
            if ends <= next {
                self.end(policy)?;
                continue;
            }
            let j = self.type_of(all, &mut arrivals);
            let end = now + exponential(1.0, &mut arrivals);
            match policy.admit(j, &mut choices)? {
                Some(server) => self.place(j, server, end),
                None => self.result.rejected[j] += 1,
            }
            next = now + exponential(all.recip(), &mut arrivals);
        }
        self.result.reward /= (horizon - self.setting.from) * self.setting.servers as f64;
        Ok(())
    }

    /// Time goes on from one moment to another while nothing changes.
    fn advance(&mut self, from: f64, to: f64) {
        let counted = (to - from.max(self.setting.from)).max(0.0);
        self.result.reward += self.rate * counted;
        let servers = self.setting.servers as f64;
        while self.result.series.len() as f64 * self.setting.every <= to {
            let time = self.result.series.len() as f64 * self.setting.every;
            self.result.series.push((time, self.rate / servers));
        }
    }

    /// The type of the next job, drawn by the rates.
    fn type_of(&self, all: f64, draw: &mut Draw) -> usize {
        let mut at = crate::Duration::Uniform(0.0, all).draw(draw);
        for (j, rate) in self.rates.iter().enumerate() {
            at -= rate;
            if at < 0.0 {
                return j;
            }
        }
        // The sum of the rates was rounded.
        self.rates.iter().rposition(|rate| *rate > 0.0).unwrap_or(0)
    }

    fn place(&mut self, j: usize, server: usize, end: f64) {
        let job = match self.free.pop() {
            Some(job) => {
                self.jobs[job] = (j, server);
                job
            }
            None => {
                self.jobs.push((j, server));
                self.jobs.len() - 1
            }
        };
        self.on[server][j].push(job);
        self.ends.push(Reverse((end.to_bits(), job)));
        self.rate += self.rewards[j];
        self.result.admitted[j] += 1;
    }

    fn end(&mut self, policy: &mut dyn Admit) -> Result<(), AdmissionError> {
        let Some(Reverse((_, job))) = self.ends.pop() else { return Ok(()) };
        let (j, server) = self.jobs[job];
        self.on[server][j].retain(|other| *other != job);
        self.free.push(job);
        self.rate -= self.rewards[j];
        if let Some(source) = policy.leave(j, server)?
            && let Some(moved) = self.on[source][j].pop()
        {
            self.jobs[moved].1 = server;
            self.on[server][j].push(moved);
            self.result.migrations += 1;
        }
        Ok(())
    }
}

//! Runs of jobs in rounds.

use std::cmp::Ordering;
use std::time::Instant;

use evenhand_budget::charge;
use evenhand_mechanisms::{Flags, Mechanism};
use evenhand_problem::{Arithmetic, Problem, ProblemSpec, Rational};

use crate::cost::{Growing, TO_BEGIN, in_time, is_over};
use crate::course::is_answer;
use crate::error::SimulateError;
use crate::summary::CompletionTimes;

/// The largest number of pairs of a round and a job that runs in it. A run stores all pairs.
const MOST_PLACEMENTS: u64 = 10_000_000;
/// Bytes of a round that is stored, without its jobs.
const OF_ROUND: u64 = 160;
/// Bytes of a job in a stored round.
const OF_PLACED: u64 = 16;
/// Steps to compare a job and a class with the other candidates of a round.
const CANDIDATE: u64 = 20;

/// A scenario of jobs in rounds.
#[derive(Debug, Clone)]
pub struct RoundScenario {
    /// The servers, and all jobs as users with rates.
    pub spec: ProblemSpec,
    /// The arrival and the work of each job.
    pub jobs: Vec<RoundJob>,
    /// The mechanism that computes the targets.
    pub mechanism: &'static Mechanism,
    /// The flags of the mechanism with their values as text.
    pub flags: Vec<(&'static str, String)>,
    /// The length of a round, in the time unit of the scenario.
    pub length: Rational,
    /// The time from which on no round begins, or `None` if the run ends with the last job.
    pub horizon: Option<Rational>,
}

/// The arrival and the work of a job.
#[derive(Debug, Clone, PartialEq)]
pub struct RoundJob {
    /// The time of arrival. The job runs from the next beginning of a round on.
    pub arrives: Rational,
    /// The work of the job, for example its number of training steps. The job is finished when this work is
    /// done.
    pub work: Rational,
}

/// The jobs that run in a round.
#[derive(Debug, Clone, PartialEq)]
pub struct Round {
    /// The time at which the round begins.
    pub begins: Rational,
    /// Each running job with its server class, in the order in which they were placed.
    pub placed: Vec<(usize, usize)>,
}

/// The results of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct RoundRun {
    /// The seed of the run.
    pub seed: u64,
    /// The rounds in which jobs were present.
    pub rounds: Vec<Round>,
    /// The time at which each job finished, or `None` if it did not finish.
    pub finished: Vec<Option<Rational>>,
    /// The work of each job that is left at the end.
    pub left: Vec<Rational>,
    /// The number of rounds of each job on each server class.
    pub received: Vec<Vec<u64>>,
    /// The number of targets that were computed.
    pub targets: u64,
    /// The time at which the run was stopped because the time was up, or `None` if it was not stopped.
    pub stopped_at: Option<Rational>,
}

impl RoundRun {
    /// Returns the time from the arrival of a job to its end, or `None` if the job did not finish.
    #[must_use]
    pub fn completion_time(&self, scenario: &RoundScenario, job: usize) -> Option<Rational> {
        self.finished[job].as_ref().map(|finished| Rational::from(finished - &scenario.jobs[job].arrives))
    }

    /// Returns the exact mean of the completion times of finished jobs, or `None` if no job finished.
    #[must_use]
    pub fn mean_completion_time(&self, scenario: &RoundScenario) -> Option<Rational> {
        let times = (0..self.finished.len()).filter_map(|job| self.completion_time(scenario, job));
        let times: Vec<Rational> = times.collect();
        let sum: Rational = times.iter().sum();
        (!times.is_empty()).then(|| sum / times.len() as u64)
    }

    /// Returns the time at which the last job finished, or `None` if some job did not finish.
    #[must_use]
    pub fn makespan(&self) -> Option<Rational> {
        let all: Option<Vec<&Rational>> = self.finished.iter().map(Option::as_ref).collect();
        all?.into_iter().max().cloned()
    }

    /// Returns the statistics of completion times in floating point, or `None` if no job finished.
    #[must_use]
    pub fn completion_times(&self, scenario: &RoundScenario) -> Option<CompletionTimes> {
        let times = (0..self.finished.len()).filter_map(|job| self.completion_time(scenario, job));
        CompletionTimes::of(times.map(|time| time.to_f64()).collect())
    }
}

impl RoundScenario {
    /// Returns the problem of the given jobs.
    ///
    /// # Errors
    /// Returns [`SimulateError::Problem`] if the jobs and the servers do not form a valid problem.
    pub fn problem(&self, jobs: &[usize]) -> Result<Problem, SimulateError> {
        let users = jobs.iter().map(|job| self.spec.users[*job].clone()).collect();
        Ok(Problem::new(ProblemSpec { users, ..self.spec.clone() })?)
    }

    /// Returns the fraction of time that each of the given jobs shall spend on each server class.
    fn target(&self, jobs: &[usize], seed: u64) -> Result<Vec<Vec<Rational>>, SimulateError> {
        let problem = self.problem(jobs)?;
        let mut flags = Flags::new(Arithmetic::Exact);
        flags.seed = seed;
        for (name, text) in &self.flags {
            flags = flags.with(name, text.clone());
        }
        let outcome = self.mechanism.allocate_with(&problem, &flags)?;
        is_answer(self.mechanism.info.id, &outcome.findings)?;
        let fraction = |n: usize, i: usize| {
            let time = problem.users()[n].time_on(i);
            time.map_or_else(Rational::new, |time| outcome.allocation.on(n, i) * time)
        };
        let of_job = |n| (0..problem.n_servers()).map(|i| fraction(n, i)).collect();
        Ok((0..jobs.len()).map(of_job).collect())
    }
}

/// Runs a scenario with a seed. A run that is not finished at the moment `until` stops, and
/// [`RoundRun::stopped_at`] is the simulated time at which it stopped.
///
/// # Errors
/// Returns [`SimulateError::Mechanism`] if the mechanism has no allocation for the present jobs,
/// [`SimulateError::Idle`] if its allocation gives no present job any time, and
/// [`SimulateError::TooManyRounds`] if the run is longer than a run may be. Returns [`SimulateError::Late`] if
/// the first target is not computed at the moment `until`, or within a second.
pub fn run_rounds(
    scenario: &RoundScenario,
    seed: u64,
    until: Option<Instant>,
) -> Result<RoundRun, SimulateError> {
    let all: Vec<usize> = (0..scenario.jobs.len()).collect();
    let problem = scenario.problem(&all)?;
    let mut run = RoundRun {
        seed,
        rounds: Vec::new(),
        finished: vec![None; all.len()],
        left: scenario.jobs.iter().map(|job| job.work.clone()).collect(),
        received: vec![vec![0; problem.n_servers()]; all.len()],
        targets: 0,
        stopped_at: None,
    };
    let mut coming = all;
    coming.sort_by(|a, b| scenario.jobs[*b].arrives.cmp(&scenario.jobs[*a].arrives).then(b.cmp(a)));
    let (mut present, mut target): (Vec<usize>, Vec<Vec<Rational>>) = (Vec::new(), Vec::new());
    let (mut now, mut is_changed, mut placements) = (Rational::new(), false, 0);
    let mut memory = Growing::new("the rounds of the run");
    loop {
        if let (true, Some(next)) = (present.is_empty(), coming.last()) {
            // No job is present, so the run continues with the first round that a job can join.
            let round = Rational::from(&scenario.jobs[*next].arrives / &scenario.length).ceil();
            now = now.max(round * &scenario.length);
        }
        while coming.last().is_some_and(|job| scenario.jobs[*job].arrives <= now) {
            present.extend(coming.pop());
            is_changed = true;
        }
        if present.is_empty() || scenario.horizon.as_ref().is_some_and(|horizon| now >= *horizon) {
            return Ok(run);
        }
        if run.targets > 0 && is_over(until) {
            run.stopped_at = Some(now);
            return Ok(run);
        }
        if is_changed {
            present.sort_unstable();
            target = match in_time(until, TO_BEGIN, || scenario.target(&present, seed)) {
                Ok(target) => target?,
                Err(late) if run.targets == 0 => return Err(late.into()),
                Err(_) => {
                    run.stopped_at = Some(now);
                    return Ok(run);
                }
            };
            run.targets += 1;
            is_changed = false;
        }
        let placed = place(&problem, &present, &target, &run.received);
        placements += placed.len() as u64;
        memory.need(OF_ROUND * (run.rounds.len() as u64 + 1) + OF_PLACED * placements);
        if placements > MOST_PLACEMENTS {
            return Err(SimulateError::TooManyRounds { limit: MOST_PLACEMENTS, time: now.to_f64() });
        }
        if placed.is_empty() {
            let mechanism = scenario.mechanism.info.id;
            return Err(SimulateError::Idle { mechanism, time: now.to_f64() });
        }
        for (job, class) in &placed {
            run.received[*job][*class] += 1;
            let time = problem.users()[*job].time_on(*class).cloned().unwrap_or_default();
            // The time that the job needs for the rest of its work on this class.
            let needs = Rational::from(&run.left[*job] * &time);
            if needs <= scenario.length {
                run.left[*job] = Rational::new();
                run.finished[*job] = Some(needs + &now);
                is_changed = true;
            } else {
                run.left[*job] -= Rational::from(&scenario.length / &time);
            }
        }
        present.retain(|job| run.finished[*job].is_none());
        run.rounds.push(Round { begins: now.clone(), placed });
        now += &scenario.length;
    }
}

/// Chooses the jobs that run in a round, each with its server class.
///
/// `target` has the fractions of time of the `present` jobs. The priority of a job on a class is its fraction
/// divided by the number of its rounds on this class so far. Pairs without a round come first, in the order of
/// their fractions. Of equal pairs, the pair with the first job and then the first class comes first. A pair is
/// placed if the job is not placed yet and its demand is free on the class.
fn place(
    problem: &Problem,
    present: &[usize],
    target: &[Vec<Rational>],
    received: &[Vec<u64>],
) -> Vec<(usize, usize)> {
    charge(CANDIDATE * (present.len() * problem.n_servers()) as u64, "the candidates of a round");
    let mut candidates: Vec<(usize, usize, &Rational, u64)> = Vec::new();
    for (job, fractions) in present.iter().zip(target) {
        let positive = fractions.iter().enumerate().filter(|(_, fraction)| **fraction > 0);
        candidates.extend(positive.map(|(i, fraction)| (*job, i, fraction, received[*job][i])));
    }
    // The sort is stable, and candidates are in the order of jobs and classes.
    candidates.sort_by(|a, b| by_priority((b.2, b.3), (a.2, a.3)));
    let mut free: Vec<Vec<Rational>> = problem.servers().iter().map(capacity).collect();
    let mut is_placed = vec![false; problem.n_users()];
    let mut placed = Vec::new();
    for (job, class, ..) in candidates {
        let demand = problem.users()[job].base_demand().entries();
        if is_placed[job] || demand.iter().any(|(r, amount)| free[class][*r] < *amount) {
            continue;
        }
        for (r, amount) in demand {
            free[class][*r] -= amount;
        }
        is_placed[job] = true;
        placed.push((job, class));
    }
    placed
}

/// Returns the capacity of all servers of a class, indexed by resource.
pub(super) fn capacity(class: &evenhand_problem::ServerClass) -> Vec<Rational> {
    class.capacity().to_vec().into_iter().map(|amount| amount * class.count()).collect()
}

/// Compares two priorities, each a fraction of time with a number of rounds.
fn by_priority(a: (&Rational, u64), b: (&Rational, u64)) -> Ordering {
    match (a.1, b.1) {
        (0, 0) => a.0.cmp(b.0),
        (of_a, of_b) => Rational::from(a.0 * of_b).cmp(&Rational::from(b.0 * of_a)),
    }
}

//! Runs of admission: jobs arrive, run on a server and end. The policy decides where they run.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Instant;

use evenhand_budget::charge;
use evenhand_mechanisms::filling::Draw;
use evenhand_packing::{MaxReward, configuration_lp};
use evenhand_problem::Rational;
use rayon::prelude::*;

use super::bound::{Beside, Pieces, Unrejected, compare};
use super::dra::Dra;
use super::fixed::Fixed;
use super::jobs::{Job, Jobs, check};
use super::policy::{self, AdmissionError, Admit, Classified, Policy};
use super::power_of_d::PowerOfD;
use super::scenario::{AdmissionScenario, CHOICES};
use crate::cost::{self, Growing, is_over, point};

/// The results of a run.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Admission {
    /// The mean reward per server and unit of time.
    pub reward: f64,
    /// The time at which the time limit ended the run, or `None` if the run reached the horizon.
    pub stopped_at: Option<f64>,
    /// The times of the series, at equal intervals, each with the reward per server and unit of time.
    pub series: Vec<(f64, f64)>,
    /// The number of running jobs, indexed by point of the series and then by type.
    pub jobs: Vec<Vec<u64>>,
    /// The number of slots, filled or not, indexed by point of the series and then by type. The lists are
    /// empty for policies without configurations.
    pub slots: Vec<Vec<u64>>,
    /// The number of jobs that would run if no job were rejected, indexed by point of the series and then by
    /// type.
    pub all: Vec<Vec<u64>>,
    /// The number of admitted jobs of each type.
    pub admitted: Vec<u64>,
    /// The number of rejected jobs of each type.
    pub rejected: Vec<u64>,
    /// The number of preempted jobs of each type.
    pub preempted: Vec<u64>,
    /// The numbers of jobs over time if no job were rejected, for the time in which rewards count.
    pub unrejected: Pieces,
    /// The number of times that a job moved to another server.
    pub migrations: u64,
    /// The configurations at each point of the series, each with the number of servers that are effectively
    /// assigned to it (Definition 5.1), in the order of the greedy placement. The lists are empty for
    /// policies without configurations.
    pub effective: Vec<Vec<(Vec<u64>, usize)>>,
    /// The classification of the servers of every configuration at the end. Configurations of the greedy
    /// placement come first, in its order. The list is empty for policies without configurations.
    pub classified: Vec<Classified>,
}

/// The runs of a scenario.
#[derive(Debug, Clone, PartialEq)]
pub struct Admitted {
    /// The scenario that was run.
    pub scenario: AdmissionScenario,
    /// The optimum of the configuration programme with the loads of the problem, per server and unit of time. No policy
    /// earns more in the long run while jobs arrive at these loads. `None` if jobs arrive at other loads
    /// ([`Coming::other_loads`]).
    ///
    /// [`Coming::other_loads`]: super::scenario::Coming::other_loads
    pub optimum: Option<f64>,
    /// The seed and the results of each run.
    pub runs: Vec<(u64, Admission)>,
    /// The rewards without rejections over time, with which the first run is compared.
    pub beside: Vec<Beside>,
    /// The rewards that the jobs of the first run could have earned. It is `None` if no time was left to
    /// compute them, or if the run stopped before rewards counted.
    pub unrejected: Option<Unrejected>,
    /// `true` if the time was up before the comparison of the first run was complete.
    pub is_beside_cut: bool,
}

/// Runs a scenario with each of the seeds, in parallel. The result does not depend on the number of threads.
/// Unfinished runs stop at the moment `until` ([`Admission::stopped_at`]).
///
/// # Errors
/// Returns an [`AdmissionError`]. If several runs fail, the error is the error of the first failed run.
pub fn run(
    scenario: &AdmissionScenario,
    seeds: &[u64],
    until: Option<Instant>,
) -> Result<Admitted, AdmissionError> {
    let budget = evenhand_budget::handle();
    let run = |&seed: &u64| budget.enter(|| Ok((seed, admit(scenario, seed, until)?)));
    let runs: Vec<Result<(u64, Admission), AdmissionError>> = seeds.par_iter().map(run).collect();
    let runs: Vec<(u64, Admission)> = runs.into_iter().collect::<Result<_, _>>()?;
    let problem = &scenario.problem;
    let optimum = match scenario.coming.other_loads(scenario.horizon) {
        Some(_) => None,
        None => {
            let best = MaxReward::new(problem);
            Some(configuration_lp::solve(&best, &problem.loads(), &[Rational::from(1)])?.value.to_f64())
        }
    };
    let (mut beside, mut is_beside_cut, mut unrejected) = (Vec::new(), false, None);
    if let Some((_, run)) = runs.first() {
        (beside, is_beside_cut) = compare(problem, scenario.servers, (&run.series, &run.all), until)?;
        unrejected = run.unrejected.earn(problem, scenario.servers, until)?;
        is_beside_cut |= unrejected.is_none() && !run.unrejected.is_empty();
        // The two sums are rounded in different orders, so a reward that equals the bound may seem to exceed it.
        if let Some(Unrejected { bound, .. }) = &mut unrejected
            && run.reward <= *bound * (1.0 + ROUNDING)
        {
            *bound = bound.max(run.reward);
        }
    }
    Ok(Admitted { scenario: scenario.clone(), optimum, runs, beside, unrejected, is_beside_cut })
}

/// Runs a scenario with one seed. The run stops at the moment `until` if it is not finished.
///
/// # Errors
/// Returns an [`AdmissionError`] if the scenario is invalid or too large, or if the policy fails.
pub fn admit(
    scenario: &AdmissionScenario,
    seed: u64,
    until: Option<Instant>,
) -> Result<Admission, AdmissionError> {
    let AdmissionScenario { problem, servers, policy, coming, horizon, .. } = scenario;
    if let Some((_, rate, at)) = coming.too_dense(*servers, *horizon) {
        return Err(AdmissionError::TooDense { rate, at });
    }
    scenario.check_size()?;
    if let Some(trace) = &coming.trace {
        check(trace, problem.n_types())?;
    }
    if problem.n_pools() != 1 {
        return Err(AdmissionError::Setting("expected one pool of servers, into which jobs are admitted"));
    }
    if problem.configurations().is_some() && policy.needs_capacity() {
        return Err(AdmissionError::Setting(policy::NEEDS_CAPACITY));
    }
    let estimates = scenario.estimates.as_ref().map(|estimates| estimates.drawn(seed));
    let mut policy: Box<dyn Admit + '_> = match policy {
        Policy::Dra { reserve } => Box::new(Dra::new(scenario, *reserve, Vec::new(), estimates)),
        Policy::Preempting { priorities, .. } if priorities.len() != problem.n_types() => {
            return Err(AdmissionError::Setting("expected a priority for every job type"));
        }
        Policy::Preempting { reserve, priorities } => {
            Box::new(Dra::new(scenario, *reserve, priorities.clone(), estimates))
        }
        Policy::PowerOfD { d } => Box::new(PowerOfD::new(problem, *servers, *d)),
        Policy::Static => Box::new(Fixed::new(problem, *servers, estimates.as_deref())?),
    };
    let mut run = Run::new(scenario);
    run.begin(&coming.initial_times(seed), policy.as_mut())?;
    run.simulate(coming.jobs(*servers, seed).as_mut(), policy.as_mut(), seed, until)?;
    Ok(run.result)
}

/// The relative amount by which rounding may make the bound of a run smaller than its reward.
const ROUNDING: f64 = 1e-9;
/// The number of event times between two readings of the clock.
const MOMENTS_BETWEEN_LOOKS: u64 = 8;

/// A running job.
#[derive(Clone, Copy)]
struct Running {
    of_type: usize,
    server: usize,
    /// The number of the job. It differs from the number of the previous job in the same entry of the list.
    turn: u64,
}

struct Run<'a> {
    scenario: &'a AdmissionScenario,
    rewards: Vec<f64>,
    /// The running jobs. The entry of a job that has ended is used again.
    jobs: Vec<Running>,
    free: Vec<usize>,
    /// The indices of the jobs on a server, indexed by server and then by type.
    jobs_on: Vec<Vec<Vec<usize>>>,
    /// The ends of jobs as bits, with the index and turn of each job. Times are not negative, so their bits
    /// compare like the times.
    ends: BinaryHeap<Reverse<(u64, usize, u64)>>,
    turns: u64,
    /// The reward of all running jobs per unit of time.
    rate: f64,
    /// The number of running jobs of each type.
    running: Vec<u64>,
    /// The number of jobs of each type that would run if no job were rejected.
    all: Vec<u64>,
    /// The ends of the jobs in `all`, as bits, with their types.
    ends_of_all: BinaryHeap<Reverse<(u64, usize)>>,
    memory: Growing,
    result: Admission,
}

impl<'a> Run<'a> {
    fn new(scenario: &'a AdmissionScenario) -> Self {
        let problem = &scenario.problem;
        let types = problem.n_types();
        let none = vec![0; types];
        Self {
            scenario,
            rewards: problem.rewards().iter().map(|reward| reward.to_f64()).collect(),
            jobs: Vec::new(),
            free: Vec::new(),
            jobs_on: vec![vec![Vec::new(); types]; scenario.servers],
            ends: BinaryHeap::new(),
            turns: 0,
            rate: 0.0,
            running: vec![0; types],
            all: vec![0; types],
            ends_of_all: BinaryHeap::new(),
            memory: Growing::new("the list of jobs that run"),
            result: Admission {
                admitted: none.clone(),
                rejected: none.clone(),
                preempted: none,
                ..Admission::default()
            },
        }
    }

    fn simulate(
        &mut self,
        jobs: &mut dyn Jobs,
        policy: &mut dyn Admit,
        seed: u64,
        until: Option<Instant>,
    ) -> Result<(), AdmissionError> {
        let AdmissionScenario { horizon, from, cra_every: every, .. } = *self.scenario;
        let mut choices = Draw::new(seed, CHOICES);
        let (mut now, mut next) = (0.0, jobs.next());
        let mut ticks = 0_usize;
        for moment in 0_u64.. {
            if moment.is_multiple_of(MOMENTS_BETWEEN_LOOKS) && is_over(until) {
                self.result.stopped_at = Some(now);
                break;
            }
            charge(cost::MOMENT, "the run");
            let comes = next.map_or(f64::INFINITY, |job| job.at);
            let ends = self.next_end();
            let tick = every.map_or(f64::INFINITY, |every| point(ticks + 1, every));
            let time = comes.min(ends).min(tick);
            self.advance(now, time.min(horizon), policy);
            if time > horizon {
                break;
            }
            now = time;
            // At equal times classifications come before ends, and ends before arrivals.
            if tick <= comes.min(ends) {
                policy.tick()?;
                ticks += 1;
            } else if ends <= comes {
                self.end(policy)?;
            } else if let Some(job) = next {
                self.arrive(&job, policy, &mut choices)?;
                next = jobs.next();
            }
        }
        let lasted = self.result.stopped_at.unwrap_or(horizon) - from;
        // A run that stopped before rewards counted has no reward.
        if lasted > 0.0 {
            self.result.reward /= lasted * self.scenario.servers as f64;
        }
        self.result.classified = policy.classified();
        Ok(())
    }

    /// Advances the time between two events.
    fn advance(&mut self, from: f64, to: f64, policy: &dyn Admit) {
        let counted = (to - from.max(self.scenario.from)).max(0.0);
        self.result.reward += self.rate * counted;
        let servers = self.scenario.servers as f64;
        let mut now = from.max(self.scenario.from);
        loop {
            let row = point(self.result.series.len(), self.scenario.every);
            let end = self.ends_of_all.peek().map_or(f64::INFINITY, |Reverse((end, _))| f64::from_bits(*end));
            let next = row.min(end).min(to);
            if next > now {
                self.result.unrejected.add(next - now, &self.all);
                now = next;
            }
            // A row has the state before the events of its time.
            if row <= end.min(to) {
                self.result.series.push((row, self.rate / servers));
                self.result.jobs.push(self.running.clone());
                self.result.all.push(self.all.clone());
                self.result.slots.push(policy.slots());
                self.result.effective.push(policy.effective());
            } else if end <= to {
                if let Some(Reverse((_, j))) = self.ends_of_all.pop() {
                    self.all[j] -= 1;
                }
            } else {
                break;
            }
        }
    }

    /// Places the jobs that are present at time 0. `initial` has the running times of the jobs of each type.
    fn begin(&mut self, initial: &[Vec<f64>], policy: &mut dyn Admit) -> Result<(), AdmissionError> {
        for (j, all) in initial.iter().enumerate() {
            for (fit, lasts) in all.iter().enumerate() {
                charge(cost::START, "the processing of the jobs that are present at time 0");
                let server = policy.begin(j).ok_or_else(|| AdmissionError::Initial {
                    name: self.scenario.problem.jobs()[j].name().to_owned(),
                    fit: fit as u64,
                })?;
                self.count(j, *lasts);
                self.place(j, server, *lasts);
            }
        }
        policy.begun()
    }

    /// Counts a job as a job that would run until the time `end` if no job were rejected.
    fn count(&mut self, of_type: usize, end: f64) {
        self.all[of_type] += 1;
        self.ends_of_all.push(Reverse((end.to_bits(), of_type)));
        // The memory of both heaps of ends, and for each job its entry, its end and its index in the list of
        // its server.
        let (all, running) = (self.ends_of_all.len() as u64, self.jobs.len() as u64);
        self.memory.need(2 * (16 * all + 64 * running));
    }

    fn arrive(
        &mut self,
        job: &Job,
        policy: &mut dyn Admit,
        choices: &mut Draw,
    ) -> Result<(), AdmissionError> {
        let j = job.of_type;
        charge(cost::ARRIVAL + cost::START, "the processing of the arrivals");
        self.count(j, job.at + job.lasts);
        let mut server = policy.admit(j, choices)?;
        if server.is_none() {
            let preempted = policy.make_room(j)?;
            for &(of_type, server) in &preempted {
                if let Some(place) = self.jobs_on[server][of_type].pop() {
                    self.remove(place);
                    self.result.preempted[of_type] += 1;
                }
            }
            if !preempted.is_empty() {
                server = policy.admit(j, choices)?;
            }
        }
        match server {
            Some(server) => {
                self.place(j, server, job.at + job.lasts);
                self.result.admitted[j] += 1;
            }
            None => self.result.rejected[j] += 1,
        }
        Ok(())
    }

    fn place(&mut self, of_type: usize, server: usize, end: f64) {
        self.turns += 1;
        let job = Running { of_type, server, turn: self.turns };
        let place = match self.free.pop() {
            Some(place) => {
                self.jobs[place] = job;
                place
            }
            None => {
                self.jobs.push(job);
                self.jobs.len() - 1
            }
        };
        self.jobs_on[server][of_type].push(place);
        self.ends.push(Reverse((end.to_bits(), place, self.turns)));
        self.rate += self.rewards[of_type];
        self.running[of_type] += 1;
    }

    /// Removes a job that is no longer on the list of a server.
    fn remove(&mut self, place: usize) {
        let of_type = self.jobs[place].of_type;
        self.rate -= self.rewards[of_type];
        self.running[of_type] -= 1;
        self.jobs[place].turn = 0;
        self.free.push(place);
    }

    /// Returns the end of the next job. Ends of preempted jobs are discarded.
    fn next_end(&mut self) -> f64 {
        while let Some(&Reverse((bits, place, turn))) = self.ends.peek() {
            if self.jobs[place].turn == turn {
                return f64::from_bits(bits);
            }
            self.ends.pop();
        }
        f64::INFINITY
    }

    fn end(&mut self, policy: &mut dyn Admit) -> Result<(), AdmissionError> {
        let Some(Reverse((_, place, _))) = self.ends.pop() else { return Ok(()) };
        let Running { of_type: j, server, .. } = self.jobs[place];
        charge(self.jobs_on[server][j].len() as u64, "the processing of the jobs that end");
        self.jobs_on[server][j].retain(|other| *other != place);
        self.remove(place);
        if let Some(source) = policy.leave(j, server)?
            && let Some(moved) = self.jobs_on[source][j].pop()
        {
            self.jobs[moved].server = server;
            self.jobs_on[server][j].push(moved);
            self.result.migrations += 1;
        }
        Ok(())
    }
}

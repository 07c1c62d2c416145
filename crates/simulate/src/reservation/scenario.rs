//! A scenario of admission: a reservation problem, a policy, and how long; run once for every seed.

use std::time::Instant;

use evenhand_packing::{MaxReward, configuration_lp};
use evenhand_problem::{Rational, Reservation};
use rayon::prelude::*;

use super::beside::{Beside, beside};
use super::coming::{Coming, Estimates};
use super::{Admission, AdmissionError, Options, Policy, Setting, admitted, bounded};

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

/// The runs of a scenario.
#[derive(Debug, Clone, PartialEq)]
pub struct Admitted {
    /// What was simulated.
    pub scenario: AdmissionScenario,
    /// What no policy can earn more than in the long run with the loads of the problem: the optimum of the
    /// configuration programme, per server and unit of time.
    pub optimum: f64,
    /// By seed: the run.
    pub runs: Vec<(u64, Admission)>,
    /// What the first run is compared with, over time.
    pub beside: Vec<Beside>,
    /// Whether the time was up before the first run was compared up to its end.
    pub is_beside_cut: bool,
}

/// Runs a scenario with each of the seeds, in parallel; the result does not depend on the number of threads.
///
/// # Errors
/// [`AdmissionError`]: of several runs the first one that fails.
pub fn run(scenario: &AdmissionScenario, seeds: &[u64]) -> Result<Admitted, AdmissionError> {
    run_until(scenario, seeds, None)
}

/// The same; runs that are not done at that moment stop where they are ([`Admission::stopped_at`]).
///
/// # Errors
/// As [`run`].
pub fn run_until(
    scenario: &AdmissionScenario,
    seeds: &[u64],
    until: Option<Instant>,
) -> Result<Admitted, AdmissionError> {
    if let Some((_, rate, at)) = scenario.coming.too_dense(scenario.servers, scenario.horizon) {
        return Err(AdmissionError::TooDense { rate, at });
    }
    let run = |&seed: &u64| {
        let AdmissionScenario { servers, horizon, from, every, .. } = *scenario;
        let policy = scenario.policy.clone();
        let setting = Setting { servers, policy, horizon, from, every, seed };
        let problem = &scenario.problem;
        bounded(problem, &setting, scenario.coming.expected(servers, horizon))?;
        let mut jobs = scenario.coming.jobs(servers, seed);
        let estimates = scenario.estimates.as_ref().map(|estimates| estimates.drawn(seed));
        let initial = scenario.coming.first(seed);
        let options = Options { cra_every: scenario.cra_every, estimates, initial, until };
        Ok((seed, admitted(problem, &setting, jobs.as_mut(), &options)?))
    };
    let budget = evenhand_budget::handle();
    let runs: Vec<Result<(u64, Admission), AdmissionError>> =
        seeds.par_iter().map(|seed| budget.enter(|| run(seed))).collect();
    let runs: Vec<(u64, Admission)> = runs.into_iter().collect::<Result<_, _>>()?;
    let problem = &scenario.problem;
    let best = MaxReward::new(problem);
    let optimum = configuration_lp::solve(&best, &problem.loads(), &[Rational::from(1)])?;
    let (beside, is_beside_cut) = match runs.first() {
        Some((_, run)) => beside(problem, scenario.servers, run, until)?,
        None => (Vec::new(), false),
    };
    Ok(Admitted { scenario: scenario.clone(), optimum: optimum.value.to_f64(), runs, beside, is_beside_cut })
}

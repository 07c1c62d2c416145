//! Runs a scenario once for every seed.

use std::time::Instant;

use evenhand_import::{Input, Note, Trace, TraceStream, azure_stream, google_stream, openb_stream};
use evenhand_mechanisms::filling::Policy;
use evenhand_problem::{Problem, UserSpec};
use rayon::prelude::*;

use crate::checkpoint::{Checkpoint, Observer, digest};
use crate::cost::{TO_BEGIN, in_time};
use crate::duration::is_too_dense;
use crate::error::SimulateError;
use crate::read::fits_on;
use crate::run::{Changing, Run, Settings, simulate_from};
use crate::scenario::{Scenario, TraceFile};
use crate::trace::{Replay, Table};
use crate::usage::UsageOrder;
use crate::workload::{Source, Stated};

/// The runs of a scenario.
#[derive(Debug, Clone, PartialEq)]
pub struct Simulated {
    /// The title of the scenario.
    pub name: String,
    /// The policy that placed the tasks.
    pub policy: Policy,
    /// The order of users by past usage, or `None` if the scenario states no such order.
    pub usage: Option<UsageOrder>,
    /// The problem and the run of each seed. The problem has the servers that were drawn. If machines come
    /// and go, it has all machines, each with its first capacity.
    pub runs: Vec<(Problem, Run)>,
    /// Notes about the run, such as which tasks of the trace were left out and why.
    pub notes: Vec<String>,
}

/// The largest expected number of random jobs of a user. A run keeps 40 bytes for each finished job.
pub const MAX_EXPECTED: f64 = 5e7;
/// The default number of rows of a series: the horizon is divided into this many equal intervals.
const ROWS: f64 = 1000.0;

/// Runs a scenario with each of the seeds, in parallel.
///
/// The result does not depend on the number of threads. From time to time `progress` is called, from any
/// thread, with the simulated time and the number of events of a run.
///
/// # Errors
/// Returns a [`SimulateError`]. If several runs fail, the error is the error of the first failed run.
pub fn run(
    scenario: &Scenario,
    seeds: &[u64],
    progress: &(dyn Fn(f64, u64) + Sync),
) -> Result<Simulated, SimulateError> {
    run_until(scenario, seeds, None, progress)
}

/// Runs a scenario like [`run`], but stops unfinished runs at the moment `until` ([`Run::is_stopped`]).
///
/// # Errors
/// Returns an error in the same cases as [`run`].
pub fn run_until(
    scenario: &Scenario,
    seeds: &[u64],
    until: Option<Instant>,
    progress: &(dyn Fn(f64, u64) + Sync),
) -> Result<Simulated, SimulateError> {
    let read = in_time(until, TO_BEGIN, || trace(scenario))??;
    let (scenario, tasks, notes) = of_trace(scenario, read.as_ref());
    let observer = ProgressObserver { progress, until };
    let budget = evenhand_budget::handle();
    let runs = seeds.par_iter().map(|&seed| budget.enter(|| run_to_end(&scenario, tasks, seed, observer)));
    finished(&scenario, notes, runs.collect())
}

/// Runs the tasks of a trace with each of the seeds, as [`run`] does. The users and tasks of the trace
/// replace the users and tasks of the scenario.
///
/// # Errors
/// Returns an error in the same cases as [`run`].
pub fn run_on(
    scenario: &Scenario,
    trace: &Trace,
    seeds: &[u64],
    progress: &(dyn Fn(f64, u64) + Sync),
) -> Result<Simulated, SimulateError> {
    let scenario = with_users(scenario, &trace.users);
    let observer = ProgressObserver { progress, until: None };
    let budget = evenhand_budget::handle();
    let one = |&seed: &u64| budget.enter(|| run_to_end(&scenario, Tasks::Whole(trace), seed, observer));
    let runs = seeds.par_iter().map(one);
    finished(&scenario, &trace.notes, runs.collect())
}

/// Runs a scenario with one seed. Returns `None` if `observer` stops the run.
///
/// If `from` is a checkpoint, the run continues there. Its result is the result of an uninterrupted run.
///
/// # Errors
/// Returns a [`SimulateError`], in particular [`SimulateError::Checkpoint`] if the checkpoint is from another
/// scenario, seed or policy.
pub fn run_from(
    scenario: &Scenario,
    seed: u64,
    from: Option<&Checkpoint>,
    observer: &mut dyn Observer,
) -> Result<Option<Simulated>, SimulateError> {
    let read = in_time(observer.until(), TO_BEGIN, || trace(scenario))??;
    let (scenario, tasks, notes) = of_trace(scenario, read.as_ref());
    let run = run_one(&scenario, tasks, seed, from, observer)?;
    run.map(|run| finished(&scenario, notes, vec![Ok(run)])).transpose()
}

/// An observer that reports progress, and stops the run at the moment `until`.
#[derive(Clone, Copy)]
struct ProgressObserver<'a> {
    progress: &'a (dyn Fn(f64, u64) + Sync),
    until: Option<Instant>,
}

impl Observer for ProgressObserver<'_> {
    fn until(&self) -> Option<Instant> {
        self.until
    }

    fn look(
        &mut self,
        time: f64,
        events: u64,
        _: &mut dyn FnMut() -> Checkpoint,
    ) -> Result<bool, SimulateError> {
        (self.progress)(time, events);
        Ok(true)
    }
}

/// The source of the tasks.
#[derive(Clone, Copy)]
enum Tasks<'a> {
    /// The jobs that the scenario states, or a table of jobs of the scenario's users.
    Stated,
    /// A trace in memory.
    Whole(&'a Trace),
    /// A trace that is read task by task.
    Streamed(&'a TraceStream),
}

/// Returns the scenario with its users replaced by the users of a trace.
fn with_users(scenario: &Scenario, users: &[UserSpec]) -> Scenario {
    Scenario { users: users.to_vec(), arrivals: Vec::new(), ..scenario.clone() }
}

/// Returns the scenario to run, the source of its tasks, and notes on its trace. If the trace has users of its own,
/// they replace the users of the scenario.
fn of_trace<'t>(scenario: &Scenario, trace: Option<&'t TraceStream>) -> (Scenario, Tasks<'t>, &'t [Note]) {
    match trace {
        Some(trace) => (with_users(scenario, &trace.users), Tasks::Streamed(trace), &trace.notes),
        None => (scenario.clone(), Tasks::Stated, &[]),
    }
}

fn finished(
    scenario: &Scenario,
    of_trace: &[Note],
    runs: Vec<Result<(Problem, Run), SimulateError>>,
) -> Result<Simulated, SimulateError> {
    let runs: Vec<(Problem, Run)> = runs.into_iter().collect::<Result<_, _>>()?;
    let of_run = runs.first().map_or(&[][..], |(_, run)| &run.notes);
    let stated = scenario.notes.iter().cloned();
    let notes =
        stated.chain(of_trace.iter().map(ToString::to_string)).chain(of_run.iter().cloned()).collect();
    Ok(Simulated {
        name: scenario.name.clone(),
        policy: scenario.policy,
        usage: scenario.usage.clone(),
        runs,
        notes,
    })
}

fn run_to_end(
    scenario: &Scenario,
    tasks: Tasks<'_>,
    seed: u64,
    mut observer: ProgressObserver<'_>,
) -> Result<(Problem, Run), SimulateError> {
    // This observer never abandons a run, so the error cannot occur.
    run_one(scenario, tasks, seed, None, &mut observer)?
        .ok_or_else(|| SimulateError::Checkpoint("stopped the run".to_owned()))
}

fn run_one(
    scenario: &Scenario,
    tasks: Tasks<'_>,
    seed: u64,
    from: Option<&Checkpoint>,
    observer: &mut dyn Observer,
) -> Result<Option<(Problem, Run)>, SimulateError> {
    let problem = scenario.problem(seed)?;
    let fits = |n: usize| (0..problem.n_servers()).any(|i| fits_on(&problem, n, i));
    if matches!(tasks, Tasks::Stated)
        && let Some(n) = (0..problem.n_users()).find(|&n| !fits(n))
    {
        return Err(SimulateError::TaskTooLarge { user: problem.users()[n].name().to_owned() });
    }
    let endless = scenario.arrivals.iter().position(|arrivals| {
        arrivals.leaves.is_none() && arrivals.poisson.is_some_and(|poisson| poisson.until.is_none())
    });
    if let (None, Some(n)) = (scenario.horizon, endless) {
        return Err(SimulateError::Endless { user: scenario.users[n].name.clone() });
    }
    for (user, arrivals) in scenario.users.iter().zip(&scenario.arrivals) {
        let Some(poisson) = arrivals.poisson else { continue };
        let ends = [poisson.until, arrivals.leaves, scenario.horizon].into_iter().flatten();
        let end = ends.fold(f64::INFINITY, f64::min);
        if poisson.from <= end && is_too_dense(poisson.rate, end) {
            return Err(SimulateError::TooDense { user: user.name.clone(), rate: poisson.rate, at: end });
        }
        let expected = poisson.rate * (end - poisson.from);
        if expected > MAX_EXPECTED {
            return Err(SimulateError::TooManyExpected {
                user: user.name.clone(),
                expected,
                limit: MAX_EXPECTED,
            });
        }
    }
    let kept: Vec<bool> = (0..problem.n_users()).map(fits).collect();
    let mut source: Box<dyn Source> = match (tasks, &scenario.trace) {
        (Tasks::Whole(trace), _) => Box::new(Replay::new(trace.tasks.iter().copied().map(Ok), kept)),
        (Tasks::Streamed(trace), _) => Box::new(Replay::new(trace.tasks()?, kept)),
        (Tasks::Stated, Some(TraceFile::Tasks(path))) => Box::new(Table::new(Input::open(path)?, &problem)?),
        (Tasks::Stated, _) => Box::new(Stated::new(&scenario.arrivals, seed)),
    };
    // The stamp below identifies the tasks of a trace by their count and digest. The users of the trace are
    // part of the problem.
    let of_trace = match tasks {
        Tasks::Stated => None,
        Tasks::Whole(trace) => Some((trace.tasks.len() as u64, 0)),
        Tasks::Streamed(trace) => Some((trace.len(), trace.digest)),
    };
    let settings = Settings {
        policy: scenario.policy,
        usage: scenario.usage.clone(),
        has_history: scenario.has_history,
        horizon: scenario.horizon,
        every: scenario.every.or(scenario.horizon.map(|horizon| horizon / ROWS)),
        seed,
        leaves: scenario.arrivals.iter().map(|arrivals| arrivals.leaves).collect(),
        changing: None,
        durations: None,
        stamp: digest(format!("{:?} {:?} {of_trace:?}", scenario.arrivals, scenario.trace).bytes()),
    };
    let settings = match (scenario.whole()?, &scenario.machines) {
        (Some(whole), Some(machines)) => {
            Settings { changing: Some(Changing { whole, machines: machines.clone() }), ..settings }
        }
        _ => settings,
    };
    let run = simulate_from(&problem, source.as_mut(), &settings, from, observer)?;
    let whole = settings.changing.map_or(problem, |changing| changing.whole);
    Ok(run.map(|run| (whole, run)))
}

/// Opens the trace of a scenario, or returns `None` if the scenario has no trace with users of its own.
fn trace(scenario: &Scenario) -> Result<Option<TraceStream>, SimulateError> {
    Ok(match &scenario.trace {
        None | Some(TraceFile::Tasks(_)) => None,
        Some(TraceFile::Google(files, by)) => {
            let inputs = files.iter().map(|path| Input::open(path)).collect::<Result<_, _>>()?;
            Some(google_stream(inputs, *by)?)
        }
        Some(TraceFile::Openb(path)) => Some(openb_stream(Input::open(path)?, &scenario.servers)?),
        Some(TraceFile::Azure(path)) => Some(azure_stream(Input::open(path)?)?),
    })
}

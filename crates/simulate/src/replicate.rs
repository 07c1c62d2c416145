//! A scenario, once for every seed.

use std::collections::HashMap;

use evenhand_import::{Input, TaskTable, Trace, azure_trace, google_trace, openb_trace};
use evenhand_mechanisms::filling::Policy;
use evenhand_problem::Problem;
use rayon::prelude::*;

use crate::checkpoint::{Checkpoint, Observer, digest};
use crate::duration::Duration;
use crate::error::SimulateError;
use crate::read::fits_on;
use crate::run::{Changing, Run, Settings, simulate_from};
use crate::scenario::{Scenario, TraceFile};
use crate::workload::{Arrival, Source, Stated};

/// The runs of a scenario.
#[derive(Debug, Clone, PartialEq)]
pub struct Simulated {
    /// Title of the scenario.
    pub name: String,
    /// How tasks were placed.
    pub policy: Policy,
    /// By seed: the problem with the servers that were drawn, or the whole of all machines, and the run.
    pub runs: Vec<(Problem, Run)>,
    /// What a reader should know: tasks of the trace that are left out, and why.
    pub notes: Vec<String>,
}

/// Random jobs of a user that are expected at most: a run keeps those that are done, 40 bytes of each.
pub const MAX_EXPECTED: f64 = 5e7;
/// Parts of the horizon in a series, where nothing else is said.
const ROWS: f64 = 1000.0;

/// Runs a scenario with each of the seeds, in parallel; the result does not depend on the number of
/// threads. `progress` is told the time and the events of a run, now and then, from any thread.
///
/// # Errors
/// [`SimulateError`]: of several runs the first one that fails.
pub fn run(
    scenario: &Scenario,
    seeds: &[u64],
    progress: &(dyn Fn(f64, u64) + Sync),
) -> Result<Simulated, SimulateError> {
    match trace(scenario)? {
        Some(trace) => run_on(scenario, &trace, seeds, progress),
        None => {
            let runs = seeds.par_iter().map(|&seed| whole(scenario, None, seed, progress));
            finished(scenario, Vec::new(), runs.collect())
        }
    }
}

/// Runs the tasks of a trace, in place of those of the scenario, by its users, with each of the seeds, as
/// [`run`] does.
///
/// # Errors
/// As [`run`].
pub fn run_on(
    scenario: &Scenario,
    trace: &Trace,
    seeds: &[u64],
    progress: &(dyn Fn(f64, u64) + Sync),
) -> Result<Simulated, SimulateError> {
    let scenario = Scenario { users: trace.users.clone(), arrivals: Vec::new(), ..scenario.clone() };
    let runs = seeds.par_iter().map(|&seed| whole(&scenario, Some(trace), seed, progress));
    finished(&scenario, trace.notes.iter().map(ToString::to_string).collect(), runs.collect())
}

/// One run of a scenario that `observer` looks at and may stop, then `None`; from a checkpoint on, if there is
/// one, with the result that it has without.
///
/// # Errors
/// [`SimulateError`]; [`SimulateError::Checkpoint`] for one of another scenario, seed or policy.
pub fn run_from(
    scenario: &Scenario,
    seed: u64,
    from: Option<&Checkpoint>,
    observer: &mut dyn Observer,
) -> Result<Option<Simulated>, SimulateError> {
    let (scenario, trace) = match trace(scenario)? {
        Some(trace) => {
            let users = trace.users.clone();
            (Scenario { users, arrivals: Vec::new(), ..scenario.clone() }, Some(trace))
        }
        None => (scenario.clone(), None),
    };
    let notes = trace.iter().flat_map(|trace| &trace.notes).map(ToString::to_string).collect();
    match one(&scenario, trace.as_ref(), seed, from, observer)? {
        Some(run) => finished(&scenario, notes, vec![Ok(run)]).map(Some),
        None => Ok(None),
    }
}

fn finished(
    scenario: &Scenario,
    mut notes: Vec<String>,
    runs: Vec<Result<(Problem, Run), SimulateError>>,
) -> Result<Simulated, SimulateError> {
    let runs: Vec<(Problem, Run)> = runs.into_iter().collect::<Result<_, _>>()?;
    notes.splice(..0, scenario.notes.iter().cloned());
    if let Some((_, run)) = runs.first() {
        notes.extend(run.notes.iter().cloned());
    }
    Ok(Simulated { name: scenario.name.clone(), policy: scenario.policy, runs, notes })
}

fn whole(
    scenario: &Scenario,
    trace: Option<&Trace>,
    seed: u64,
    progress: &(dyn Fn(f64, u64) + Sync),
) -> Result<(Problem, Run), SimulateError> {
    let mut observer = |time: f64, events: u64| progress(time, events);
    // Who only looks never stops the run.
    one(scenario, trace, seed, None, &mut observer)?
        .ok_or_else(|| SimulateError::Checkpoint("stopped the run".to_owned()))
}

fn one(
    scenario: &Scenario,
    trace: Option<&Trace>,
    seed: u64,
    from: Option<&Checkpoint>,
    observer: &mut dyn Observer,
) -> Result<Option<(Problem, Run)>, SimulateError> {
    let problem = scenario.problem(seed)?;
    let fits = |n: usize| (0..problem.n_servers()).any(|i| fits_on(&problem, n, i));
    if trace.is_none()
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
        let expected = poisson.rate * (ends.fold(f64::INFINITY, f64::min) - poisson.from);
        if expected > MAX_EXPECTED {
            return Err(SimulateError::TooManyExpected {
                user: user.name.clone(),
                expected,
                limit: MAX_EXPECTED,
            });
        }
    }
    let mut source: Box<dyn Source> = match (trace, &scenario.trace) {
        (Some(trace), _) => Box::new(Replay {
            trace,
            fits: (0..problem.n_users()).map(fits).collect(),
            next: 0,
            too_large: 0,
        }),
        (None, Some(TraceFile::Tasks(path))) => Box::new(Table::new(Input::open(path)?, &problem)?),
        _ => Box::new(Stated::new(&scenario.arrivals, seed)),
    };
    let settings = Settings {
        policy: scenario.policy,
        horizon: scenario.horizon,
        every: scenario.every.or(scenario.horizon.map(|horizon| horizon / ROWS)),
        seed,
        leaves: scenario.arrivals.iter().map(|arrivals| arrivals.leaves).collect(),
        changing: None,
        durations: None,
        // The users of a trace are in the problem; its tasks are counted.
        stamp: digest(
            format!(
                "{:?} {:?} {:?}",
                scenario.arrivals,
                scenario.trace,
                trace.map(|trace| trace.tasks.len())
            )
            .bytes(),
        ),
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

/// The trace of a scenario that is read as a whole.
fn trace(scenario: &Scenario) -> Result<Option<Trace>, SimulateError> {
    Ok(match &scenario.trace {
        None | Some(TraceFile::Tasks(_)) => None,
        Some(TraceFile::Google(files, by)) => {
            let inputs = files.iter().map(|path| Input::open(path)).collect::<Result<_, _>>()?;
            Some(google_trace(inputs, *by)?)
        }
        Some(TraceFile::Openb(path)) => Some(openb_trace(Input::open(path)?, &scenario.servers)?),
        Some(TraceFile::Azure(path)) => Some(azure_trace(Input::open(path)?)?),
    })
}

/// The tasks of a trace in memory.
struct Replay<'a> {
    trace: &'a Trace,
    /// By user: whether its tasks fit somewhere.
    fits: Vec<bool>,
    next: usize,
    too_large: u64,
}

impl Source for Replay<'_> {
    fn next(&mut self) -> Result<Option<Arrival>, SimulateError> {
        while let Some(task) = self.trace.tasks.get(self.next) {
            self.next += 1;
            if self.fits[task.user as usize] {
                let duration = Duration::Constant(task.seconds);
                let (user, of) = (task.user, Some(task.job));
                return Ok(Some(Arrival { at: task.at, user, tasks: 1, duration, of }));
            }
            self.too_large += 1;
        }
        Ok(None)
    }

    fn size(&self, of: u32) -> u64 {
        self.trace.jobs.get(of as usize).copied().unwrap_or(1).into()
    }

    fn notes(&self) -> Vec<String> {
        if self.too_large == 0 {
            return Vec::new();
        }
        vec![format!("{} tasks of the trace fit on no server, not even alone: left out", self.too_large)]
    }
}

/// A table of jobs, streamed.
struct Table {
    rows: TaskTable,
    /// By name: the user and its gang.
    users: HashMap<String, (u32, u64)>,
}

impl Table {
    fn new(input: Input, problem: &Problem) -> Result<Self, SimulateError> {
        let of = |n: usize| {
            let gang = problem.groups().member(n).gang.unwrap_or(1);
            (problem.users()[n].name().to_owned(), (n as u32, gang))
        };
        let users = (0..problem.n_users()).map(of);
        Ok(Self { rows: TaskTable::new(input)?, users: users.collect() })
    }
}

impl Source for Table {
    fn next(&mut self) -> Result<Option<Arrival>, SimulateError> {
        let Some(row) = self.rows.next_row()? else { return Ok(None) };
        let Some(&(user, gang)) = self.users.get(&row.user) else {
            return Err(self.rows.unknown_user(&row).into());
        };
        if !row.tasks.is_multiple_of(gang) {
            return Err(self.rows.no_whole_gangs(&row, gang).into());
        }
        let duration = Duration::Constant(row.duration);
        Ok(Some(Arrival { at: row.at, user, tasks: row.tasks, duration, of: None }))
    }
}

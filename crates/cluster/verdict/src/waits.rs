//! Computes how long waiting jobs will wait. The cluster is simulated from its snapshot on: tasks end, and
//! waiting jobs start in the scheduler's own order.
//!
//! A job is one start of a user: one gang of the user, and one gang of each user that starts with it. A job
//! can start if [`Standing::may_start`] holds. No other condition applies. docs/waiting.md defines the order
//! and the times exactly.

mod durations;
mod earliest;
mod jobs;
mod order;
mod run;

use evenhand_mechanisms::tree::{Rule, Turns};
use evenhand_problem::Rational;
use evenhand_problem::snapshot::{Snapshot, System};

use crate::due::{Due, by_rule};
use crate::error::ClusterError;
use crate::queues::Queues;
use crate::starts::{Assignment, Standing};
use crate::task_rules::TaskRules;

pub use durations::{Durations, Entry, Law};
use jobs::Jobs;
use run::Simulation;

/// The nanoseconds of a second.
pub const NANOSECONDS: u64 = 1_000_000_000;
/// The largest number of runs of a simulation.
pub const MOST_RUNS: u64 = 100_000;

/// The order in which a scheduler starts waiting jobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Policy {
    /// The job with the highest priority starts first. If a job could not start, later jobs may pass it.
    Priority,
    /// The job with the highest priority starts first. A later job passes the first blocked job only if this
    /// does not delay the blocked job, according to the time limits.
    Backfill,
    /// Hierarchical filling orders the queues. Queues below their guarantee come first, then queues with the
    /// least share over the weight.
    Tree,
    /// The queue that uses the least fraction of its fair share comes first.
    FairShare,
}

evenhand_problem::names! { Policy:
    Priority = "priority", "the highest priority first";
    Backfill = "backfill", "the highest priority first, and later jobs only if they do not delay the first blocked one";
    Tree = "tree", "the queue with the least share over its weight first";
    FairShare = "fair-share", "the queue that uses the least fraction of its fair share first";
}

impl Policy {
    /// Returns the order of a system. For Kubernetes and Slurm, a rule that the user requests replaces the
    /// order.
    #[must_use]
    pub fn new(system: Option<System>, rule: Option<Rule>, is_rule_asked: bool) -> Self {
        match system {
            Some(System::Slurm) if !is_rule_asked => Self::Backfill,
            Some(System::Kubernetes) if !is_rule_asked => Self::Priority,
            _ if rule.and_then(Rule::per_resource).is_some() => Self::FairShare,
            _ => Self::Tree,
        }
    }
}

/// The jobs whose starts are requested.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Asked {
    /// The first and the last waiting job of every user.
    All,
    /// The first and the last waiting job of one user.
    User(usize),
    /// The job of a user that has the waiting task of this name.
    Task(usize, String),
}

/// The settings of a simulation.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The laws of how long tasks run.
    pub durations: Durations,
    /// The number of runs. If no duration is random, only one run is made.
    pub runs: u64,
    /// The seed of the random durations.
    pub seed: u64,
    /// The time at which each run ends, in nanoseconds after the snapshot. `None` means that a run ends when no further
    /// job can start.
    pub horizon: Option<u64>,
    /// The rule of the fair shares. `None` for the problem's own share.
    pub rule: Option<Rule>,
    /// The order of starts.
    pub policy: Policy,
    /// The jobs whose starts are requested.
    pub asked: Asked,
}

/// The result of a simulation: the starts of waiting jobs.
#[derive(Debug, Clone, PartialEq)]
pub struct Waits {
    /// The order of starts.
    pub policy: Policy,
    /// True if durations are random.
    pub is_random: bool,
    /// The number of runs.
    pub runs: u64,
    /// The rows of the requested jobs.
    pub rows: Vec<Row>,
    /// The number of decisions, over all runs, for which the search for servers had no answer. The job then waited.
    pub not_known: u64,
    /// The number of running tasks that never end according to the stated durations.
    pub endless_running: u64,
    /// The number of waiting jobs that would never end after their start, according to the stated durations.
    pub endless_waiting: u64,
    /// The number of admitted tasks that have no server in the snapshot.
    pub admitted: u64,
    /// True if the capacities of servers are rounded down to the least of their class.
    pub is_rounded: bool,
    /// The starts of the first run in their order.
    pub starts: Vec<Start>,
    /// True if the snapshot states the priorities from which Slurm's order of waiting jobs follows.
    pub has_priorities: bool,
}

/// The start of a job in a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Start {
    /// The time of the start in nanoseconds after the snapshot.
    pub time: u64,
    /// The first user of the users that start together.
    pub user: usize,
    /// The position of the job among the waiting jobs of the user. Jobs with names come first, ordered by descending
    /// priority and then as in the snapshot.
    pub job: u64,
    /// The servers of the tasks of the job.
    pub assignment: Assignment,
}

/// A job among the waiting jobs of a user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Which {
    /// The only waiting job.
    Only,
    /// The waiting job that starts first.
    First,
    /// The waiting job that starts last.
    Last,
    /// The job that has the task of this name.
    Task(String),
}

/// The starts of one job over all runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// The user of the job. Users that start together have one row, under the first of these users.
    pub user: usize,
    /// The job among the waiting jobs of the user.
    pub which: Which,
    /// The number of waiting jobs of the user.
    pub jobs: u64,
    /// The times of the starts in nanoseconds after the snapshot, in ascending order. Runs in which the job
    /// did not start are left out.
    pub starts: Vec<u64>,
    /// The number of runs.
    pub runs: u64,
    /// A lower bound on the start. It is valid for every order of starts if tasks run exactly as long as
    /// stated and no task is stopped or moved. `None` if durations are random.
    pub earliest: Option<Earliest>,
    /// True if the start also depends on conditions that the snapshot does not model.
    pub by_model: bool,
}

/// A lower bound on the time of a start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Earliest {
    /// The job cannot start before this time, in nanoseconds after the snapshot.
    At(u64),
    /// The job cannot start, even after all running tasks with an end have ended.
    Never,
    /// The search ran out of steps.
    NotKnown,
}

impl Row {
    /// Returns the least time, in nanoseconds, by which the job has started in at least the fraction `part /
    /// of` of the runs. Returns `None` if the job started in fewer runs.
    #[must_use]
    pub fn quantile(&self, part: u64, of: u64) -> Option<u64> {
        let rank = (u128::from(part) * u128::from(self.runs)).div_ceil(u128::from(of)).max(1);
        self.starts.get(usize::try_from(rank - 1).ok()?).copied()
    }

    /// Returns the fraction of the runs in which the job started.
    #[must_use]
    pub fn started(&self) -> Rational {
        Rational::from((self.starts.len() as u64, self.runs.max(1)))
    }
}

impl Waits {
    /// Simulates a cluster from its snapshot on.
    ///
    /// # Errors
    /// [`ClusterError::Waits`] if the snapshot does not say on which servers whole tasks run, a user has unlimited
    /// tasks, or a duration is missing. Other errors if the fair shares cannot be computed.
    pub fn new(snapshot: &Snapshot, settings: &Settings) -> Result<Self, ClusterError> {
        let rules = TaskRules::new(snapshot);
        let problem = by_rule(&snapshot.problem, settings.rule)?.unwrap_or_else(|| snapshot.problem.clone());
        let standing = Standing::new(&problem, &rules, &snapshot.allocation);
        let standing = standing.ok_or_else(|| {
            ClusterError::Waits(
                "the snapshot does not say on which servers tasks run, and a simulation needs that: state `allocation.placements`"
                    .to_owned(),
            )
        })?;
        let unrounded = standing.unrounded(&snapshot.allocation, &snapshot.rounded);
        let is_rounded = !snapshot.rounded.is_empty() && unrounded.is_none();
        let standing = unrounded.unwrap_or(standing);
        let jobs = Jobs::new(snapshot, &standing, settings)?;
        let queues = Queues::new(&problem, &rules);
        let turns = match settings.policy {
            Policy::Tree => Some(Turns::new(&problem, None, standing.rooms.totals().to_vec())?),
            _ => None,
        };
        let due = match settings.policy {
            Policy::FairShare => Some(Due::new(&queues, settings.rule)?),
            _ => None,
        };
        let is_random = jobs.is_random();
        let runs = if is_random { settings.runs.clamp(1, MOST_RUNS) } else { 1 };
        let mut rows = jobs.rows(runs);
        if !is_random {
            earliest::bound(&standing, &jobs, &mut rows);
        }
        let admitted = (0..problem.n_users()).map(|n| rules.admitted(n)).sum();
        let (endless_running, endless_waiting) = jobs.endless();
        let mut simulation = Simulation::new(&standing, &queues, &jobs, settings, turns, due.as_ref());
        let mut starts = Vec::new();
        for run in 0..runs {
            for (row, start) in rows.iter_mut().zip(simulation.run(settings.seed.wrapping_add(run))) {
                row.starts.extend(start);
            }
            if run == 0 {
                starts = simulation.starts();
            }
        }
        rows.iter_mut().for_each(|row| row.starts.sort_unstable());
        Ok(Self {
            policy: settings.policy,
            is_random,
            runs,
            rows,
            not_known: simulation.not_known(),
            endless_running,
            endless_waiting,
            admitted,
            is_rounded,
            starts,
            has_priorities: snapshot.times.iter().any(|of| of.priority.is_some()),
        })
    }
}

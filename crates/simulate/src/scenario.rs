//! What is simulated.

use std::collections::HashSet;
use std::path::PathBuf;

use evenhand_budget::charge;
use evenhand_mechanisms::filling::{Draw, MAX_SERVERS, Policy};
use evenhand_problem::groups::{GroupShareSpec, GroupSpec, MemberSpec};
use evenhand_problem::{Problem, ProblemSpec, Rational, ServerSpec, UserSpec};

use crate::cost::DRAW;
use crate::duration::Duration;
use crate::error::SimulateError;
use crate::machines::Machines;

/// A scenario: servers, a policy, and the tasks that come.
#[derive(Debug, Clone, PartialEq)]
pub struct Scenario {
    /// Title; may be empty.
    pub name: String,
    /// Names of the resources.
    pub resources: Vec<String>,
    /// Server classes.
    pub servers: Vec<ServerSpec>,
    /// So many servers are drawn from the classes, whose counts are the odds; `None`: the classes as they are.
    pub draw_servers: Option<u64>,
    /// Machines that come, go and change; `servers` are the places where they stand. `None`: all servers are there all
    /// the time.
    pub machines: Option<Machines>,
    /// What a table of servers leaves out.
    pub notes: Vec<String>,
    /// How tasks are placed.
    pub policy: Policy,
    /// The users, without numbers of tasks.
    pub users: Vec<UserSpec>,
    /// By user: when its tasks come.
    pub arrivals: Vec<Arrivals>,
    /// The groups that users stand in.
    pub queues: Queues,
    /// Tasks that come from a file.
    pub trace: Option<TraceFile>,
    /// Time at which the run stops; `None`: with the last task.
    pub horizon: Option<f64>,
    /// Time between two rows of the series; `None`: a thousandth of the horizon, or no series.
    pub every: Option<f64>,
}

/// Groups, for the policy [`Policy::Tree`].
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Queues {
    /// The groups.
    pub groups: Vec<GroupSpec>,
    /// How siblings are compared.
    pub share: GroupShareSpec,
    /// By user, as far as something is said: its group, its gang, and the tasks that are not stopped.
    pub members: Vec<MemberSpec>,
}

/// When the tasks of a user come.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Arrivals {
    /// Jobs, their times ascending.
    pub jobs: Vec<Job>,
    /// Jobs at random times.
    pub poisson: Option<Poisson>,
    /// Time at which the user leaves: its waiting tasks are withdrawn, later jobs do not come, running
    /// tasks finish.
    pub leaves: Option<f64>,
}

/// A job: tasks that come together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Job {
    /// Time of arrival.
    pub at: f64,
    /// Number of tasks, at least 1.
    pub tasks: u64,
    /// How long each of them runs.
    pub duration: Duration,
}

/// Jobs whose times of arrival are a Poisson process.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Poisson {
    /// Jobs per unit of time.
    pub rate: f64,
    /// Tasks of each.
    pub tasks: u64,
    /// How long a task runs.
    pub duration: Duration,
    /// None comes before.
    pub from: f64,
    /// None comes at this time or later.
    pub until: Option<f64>,
}

/// A file with tasks.
#[derive(Debug, Clone, PartialEq)]
pub enum TraceFile {
    /// `time,user,tasks,duration`, jobs of the users of the scenario.
    Tasks(PathBuf),
    /// Task events of the Google trace of 2011; one user for each user id, or for each request shape.
    Google(Vec<PathBuf>, evenhand_import::GoogleUsers),
    /// A pod list of openb with times; one user for each shape.
    Openb(PathBuf),
    /// Arrivals of virtual machines by flavour; one user for each flavour.
    Azure(PathBuf),
}

/// Stream of the random choices of the servers.
const SERVER_STREAM: u64 = 1;

impl Scenario {
    /// The servers and users as an allocation problem; servers are drawn by `seed` where that is asked for.
    ///
    /// # Errors
    /// [`SimulateError::Problem`], [`SimulateError::TaskTooLarge`] for a user that may run on none of the
    /// drawn classes.
    pub fn problem(&self, seed: u64) -> Result<Problem, SimulateError> {
        let mut spec = ProblemSpec {
            name: self.name.clone(),
            resources: self.resources.clone(),
            servers: self.servers.clone(),
            users: self.users.clone(),
        };
        if let Some(number) = self.draw_servers {
            // Faults of the classes are found before some of them are not drawn.
            self.grouped(spec.clone())?;
            if number > MAX_SERVERS {
                return Err(SimulateError::TooManyServers { number, limit: MAX_SERVERS });
            }
            spec.servers = drawn(&self.servers, number, &mut Draw::new(seed, SERVER_STREAM));
            keep_servers(&mut spec).map_err(|user| SimulateError::TaskTooLarge { user: user.to_owned() })?;
        }
        self.grouped(spec)
    }

    /// Where machines come and go: the problem of them all, each with the capacity that it has first. Shares are parts
    /// of it.
    ///
    /// # Errors
    /// [`SimulateError::Problem`], [`SimulateError::NoShare`] for a user that may run on none of them.
    pub fn whole(&self) -> Result<Option<Problem>, SimulateError> {
        let Some(machines) = &self.machines else { return Ok(None) };
        let counted = self.servers.iter().zip(&machines.first).filter(|(_, first)| **first > 0);
        let servers =
            counted.map(|(class, first)| ServerSpec { count: Some(Rational::from(*first)), ..class.clone() });
        let mut spec = ProblemSpec {
            name: self.name.clone(),
            resources: self.resources.clone(),
            servers: servers.collect(),
            users: self.users.clone(),
        };
        keep_servers(&mut spec).map_err(|user| SimulateError::NoShare { user: user.to_owned() })?;
        self.grouped(spec).map(Some)
    }

    fn grouped(&self, spec: ProblemSpec) -> Result<Problem, SimulateError> {
        let Queues { groups, share, members } = self.queues.clone();
        Ok(Problem::grouped(spec, groups, share, members)?)
    }
}

/// Users name only servers that there are; the name of one that is left with none.
fn keep_servers(spec: &mut ProblemSpec) -> Result<(), &str> {
    let there: HashSet<&str> = spec.servers.iter().map(|server| server.name.as_str()).collect();
    for user in &mut spec.users {
        let Some(names) = &mut user.servers else { continue };
        names.retain(|name| there.contains(name.as_str()));
        if names.is_empty() {
            return Err(&user.name);
        }
    }
    Ok(())
}

/// `number` servers drawn independently, each of a class with odds by its count, as classes.
fn drawn(classes: &[ServerSpec], number: u64, draw: &mut Draw) -> Vec<ServerSpec> {
    let odds =
        |class: &ServerSpec| class.count.as_ref().map_or(1, |count| count.numer().to_u64().unwrap_or(1));
    // By class: the odds of all up to it.
    let sums = classes.iter().map(odds).scan(0, |sum: &mut u64, odds| {
        *sum = sum.saturating_add(odds);
        Some(*sum)
    });
    let sums: Vec<u64> = sums.collect();
    let mut counts = vec![0_u64; classes.len()];
    charge(10 * DRAW * number, "the servers that are drawn");
    for _ in 0..number {
        let at = draw.below(sums.last().copied().unwrap_or(0));
        if let Some(count) = counts.get_mut(sums.partition_point(|sum| *sum <= at)) {
            *count += 1;
        }
    }
    let kept = classes.iter().zip(counts).filter(|(_, count)| *count > 0);
    kept.map(|(class, count)| ServerSpec { count: Some(Rational::from(count)), ..class.clone() }).collect()
}

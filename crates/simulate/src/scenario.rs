//! Scenarios of the simulation.

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
use crate::usage::UsageOrder;

/// A scenario: servers, a policy, and the tasks that arrive.
#[derive(Debug, Clone, PartialEq)]
pub struct Scenario {
    /// The title, which may be empty.
    pub name: String,
    /// The names of the resources.
    pub resources: Vec<String>,
    /// The server classes.
    pub servers: Vec<ServerSpec>,
    /// The number of servers that are drawn from the classes, with their counts as odds. `None` means that
    /// the classes are used with their counts.
    pub draw_servers: Option<u64>,
    /// Machines that come, go and change. The single servers of `servers` are then the places of the
    /// machines. `None` means that all servers are always present.
    pub machines: Option<Machines>,
    /// Notes on rows of a table of servers that were left out.
    pub notes: Vec<String>,
    /// The policy that places tasks.
    pub policy: Policy,
    /// The order of users by past usage. `None` means that the policy alone decides who is served next.
    pub usage: Option<UsageOrder>,
    /// The users, without their numbers of tasks.
    pub users: Vec<UserSpec>,
    /// The arrivals of the tasks of each user.
    pub arrivals: Vec<Arrivals>,
    /// The groups of the users.
    pub queues: Queues,
    /// A file with the tasks that arrive, or `None` if the scenario states all arrivals.
    pub trace: Option<TraceFile>,
    /// The time at which the run stops. `None` means that the run ends with the last task.
    pub horizon: Option<f64>,
    /// The time between two rows of the series. `None` means a thousandth of the horizon, or no series if there is no
    /// horizon.
    pub every: Option<f64>,
    /// `true` if runs return their [`history`](crate::Run::history). A file does not state this.
    pub has_history: bool,
}

/// The groups of users for the policy [`Policy::Tree`].
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Queues {
    /// The groups.
    pub groups: Vec<GroupSpec>,
    /// How the shares of sibling groups are compared.
    pub share: GroupShareSpec,
    /// The group of each user, its gang, and the number of its tasks that are never stopped, as far as the
    /// scenario states them.
    pub members: Vec<MemberSpec>,
}

/// The arrivals of a user's tasks.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Arrivals {
    /// Jobs in ascending order of their times.
    pub jobs: Vec<Job>,
    /// Jobs at random times, or `None` if the user has no random jobs.
    pub poisson: Option<Poisson>,
    /// The time at which the user leaves, or `None` if it does not leave. When it leaves, its waiting tasks
    /// are withdrawn, later jobs do not arrive, and running tasks finish.
    pub leaves: Option<f64>,
}

/// A job: tasks that arrive together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Job {
    /// The time of arrival, in the time unit of the scenario.
    pub at: f64,
    /// The number of tasks, at least 1.
    pub tasks: u64,
    /// The running time of each task.
    pub duration: Duration,
}

/// Jobs that arrive as a Poisson process.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Poisson {
    /// The number of jobs per unit of time.
    pub rate: f64,
    /// The number of tasks of each job.
    pub tasks: u64,
    /// The running time of each task.
    pub duration: Duration,
    /// The time from which on jobs arrive.
    pub from: f64,
    /// The time before which jobs arrive, or `None` for no limit.
    pub until: Option<f64>,
}

/// A file with tasks.
#[derive(Debug, Clone, PartialEq)]
pub enum TraceFile {
    /// A table `time,user,tasks,duration` with jobs of the scenario's users.
    Tasks(PathBuf),
    /// Task events of the Google trace of 2011, with one user for each user id or for each request shape.
    Google(Vec<PathBuf>, evenhand_import::GoogleUsers),
    /// A pod list of openb with times, with one user for each shape.
    Openb(PathBuf),
    /// Arrivals of virtual machines by flavour, with one user for each flavour.
    Azure(PathBuf),
}

/// The number of the random stream that draws servers.
const SERVER_STREAM: u64 = 1;

impl Scenario {
    /// Returns the servers and users as an allocation problem. If servers are drawn, `seed` decides which
    /// servers.
    ///
    /// # Errors
    /// Returns [`SimulateError::Problem`] if the problem is invalid, and [`SimulateError::TaskTooLarge`] for
    /// a user that may run on none of the drawn classes.
    pub fn problem(&self, seed: u64) -> Result<Problem, SimulateError> {
        let mut spec = ProblemSpec {
            name: self.name.clone(),
            resources: self.resources.clone(),
            servers: self.servers.clone(),
            users: self.users.clone(),
        };
        if let Some(number) = self.draw_servers {
            // All classes are checked, also those that are not drawn.
            self.grouped(spec.clone())?;
            if number > MAX_SERVERS {
                return Err(SimulateError::TooManyServers { number, limit: MAX_SERVERS });
            }
            spec.servers = drawn(&self.servers, number, &mut Draw::new(seed, SERVER_STREAM));
            keep_servers(&mut spec).map_err(|user| SimulateError::TaskTooLarge { user: user.to_owned() })?;
        }
        self.grouped(spec)
    }

    /// Returns the problem of all machines, each with its first capacity, or `None` if machines do not come
    /// and go. Shares are fractions of this capacity.
    ///
    /// # Errors
    /// Returns [`SimulateError::Problem`] if the problem is invalid, and [`SimulateError::NoShare`] for a
    /// user that may run on none of these machines.
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

/// Removes missing servers from the lists of users. The error is the name of a user that would have no
/// servers.
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

/// Draws servers independently, with the counts of the classes as odds. Returns them as classes with new counts.
fn drawn(classes: &[ServerSpec], number: u64, draw: &mut Draw) -> Vec<ServerSpec> {
    let odds =
        |class: &ServerSpec| class.count.as_ref().map_or(1, |count| count.numer().to_u64().unwrap_or(1));
    // The sum of the odds of each class and all classes before it.
    let sums = classes.iter().map(odds).scan(0, |sum: &mut u64, odds| {
        *sum = sum.saturating_add(odds);
        Some(*sum)
    });
    let sums: Vec<u64> = sums.collect();
    let mut counts = vec![0_u64; classes.len()];
    charge(10 * DRAW * number, "the processing of the servers that are drawn");
    for _ in 0..number {
        let at = draw.below(sums.last().copied().unwrap_or(0));
        if let Some(count) = counts.get_mut(sums.partition_point(|sum| *sum <= at)) {
            *count += 1;
        }
    }
    let kept = classes.iter().zip(counts).filter(|(_, count)| *count > 0);
    kept.map(|(class, count)| ServerSpec { count: Some(Rational::from(count)), ..class.clone() }).collect()
}

//! Errors of simulations.

use evenhand_budget::Exceeded;
use evenhand_import::ImportError;
use evenhand_mechanisms::MechanismError;
use evenhand_problem::{Place, ProblemError};
use thiserror::Error;

use crate::scenario::Scenario;

/// An error that prevents a simulation from starting, or ends it.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SimulateError {
    /// The servers and users do not form a valid problem.
    #[error("{0}")]
    Problem(#[from] ProblemError),
    /// The policy does not apply to the problem, or a limit was reached.
    #[error(transparent)]
    Mechanism(#[from] MechanismError),
    /// A trace or a table cannot be read.
    #[error(transparent)]
    Import(#[from] ImportError),
    /// A task of the user fits on no server, not even on an empty server.
    #[error("a task of user `{user}` fits on no server that it may use, not even alone")]
    TaskTooLarge {
        /// The name of the user.
        user: String,
    },
    /// A user may run on no machine with its first capacity. Shares are fractions of first capacities, so the
    /// user has no share.
    #[error("user `{user}` may run on none of the machines with their first capacity, so it has no share")]
    NoShare {
        /// The name of the user.
        user: String,
    },
    /// A gang of the user does not fit, not even on empty servers.
    #[error(
        "a gang of {tasks} tasks of user `{user}` does not fit on the servers that it may use, not even alone"
    )]
    GangTooLarge {
        /// The name of the user.
        user: String,
        /// The number of tasks of a gang.
        tasks: u64,
    },
    /// The number of arriving tasks is not a multiple of the user's gang.
    #[error(
        "user `{user}` runs gangs of {gang} tasks, but {tasks} tasks arrive at time {at}: expected a multiple of {gang}"
    )]
    NoWholeGangs {
        /// The name of the user.
        user: String,
        /// The number of tasks of a gang.
        gang: u64,
        /// The number of tasks that arrive.
        tasks: u64,
        /// The time of arrival.
        at: f64,
    },
    /// Random arrivals of a user never end.
    #[error(
        "the jobs of user `{user}` arrive without end: give the scenario a `horizon`, or `poisson` an `until`"
    )]
    Endless {
        /// The name of the user.
        user: String,
    },
    /// More servers are to be drawn than can be filled one by one.
    #[error("{number} servers are to be drawn: single servers are filled one by one, at most {limit}")]
    TooManyServers {
        /// The number of servers to be drawn.
        number: u64,
        /// The largest number of servers, [`MAX_SERVERS`](evenhand_mechanisms::filling::MAX_SERVERS).
        limit: u64,
    },
    /// More random jobs are expected than a run can store.
    #[error("about {expected:.0} jobs of user `{user}` are expected: at most {limit} are simulated")]
    TooManyExpected {
        /// The name of the user.
        user: String,
        /// The expected number of jobs: the rate times the duration.
        expected: f64,
        /// The largest expected number, [`MAX_EXPECTED`](crate::MAX_EXPECTED).
        limit: f64,
    },
    /// Random jobs come closer to each other than neighbouring doubles.
    #[error(
        "jobs of user `{user}` arrive {} apart on average, but near {} the times of double precision are {} apart: \
        use a lower rate or an earlier end",
        plain(rate.recip()), plain(*at), plain(at.next_up() - at)
    )]
    TooDense {
        /// The name of the user.
        user: String,
        /// The number of jobs per unit of time.
        rate: f64,
        /// The last time at which jobs come.
        at: f64,
    },
    /// There are more tasks than can be counted.
    #[error("more than {limit} tasks arrive, the most that are simulated")]
    TooManyTasks {
        /// The largest number of tasks, [`MAX_TASKS`](crate::MAX_TASKS).
        limit: u64,
    },
    /// The series has more rows than a run can store.
    #[error("a row every {} up to time {} makes more than {limit} rows: raise `every`", plain(*every), plain(*horizon))]
    TooManyRows {
        /// The time between two rows.
        every: f64,
        /// The end of the series.
        horizon: f64,
        /// The largest number of rows, [`MAX_ROWS`](crate::MAX_ROWS).
        limit: usize,
    },
    /// An arrival is earlier than the previous arrival.
    #[error("{source_name}: time goes back from {before} to {now}")]
    OutOfOrder {
        /// The name of the source of the arrivals.
        source_name: String,
        /// The time of the previous arrival.
        before: f64,
        /// The time of this arrival.
        now: f64,
    },
    /// A text is not a checkpoint, or a checkpoint is damaged or does not belong to the run.
    #[error("the checkpoint {0}")]
    Checkpoint(String),
    /// The time was up before there was any result.
    #[error(transparent)]
    Late(#[from] Exceeded),
    /// Tasks or shares are too large for doubles.
    #[error(
        "amounts of users exceed the range of double precision (1.8e308): measure resources in other units"
    )]
    Beyond,
    /// A time is beyond the times that a history can state.
    #[error("the run reaches the time {}: a history has times up to {} seconds", plain(*time), plain(*latest))]
    BeyondHistory {
        /// The time that is too late.
        time: f64,
        /// The latest time that a history can state, in seconds.
        latest: f64,
    },
    /// There are more runs on machines that come and go than can be numbered.
    #[error("more than {0} tasks start, the most that are numbered on servers that come and go")]
    TooManyRuns(u32),
    /// The target of a round gives no present job any time.
    #[error("`{mechanism}` gives no present job any accelerator at time {}: choose another mechanism", plain(*time))]
    Idle {
        /// The mechanism that computed the target.
        mechanism: &'static str,
        /// The time at which the round begins.
        time: f64,
    },
    /// A run has more rounds than it can store.
    #[error(
        "the rounds of all jobs are more than {limit} up to time {}: raise `length`, or state a `horizon`",
        plain(*time)
    )]
    TooManyRounds {
        /// The largest number of pairs of a round and a job that runs in it.
        limit: u64,
        /// The time that the run reached.
        time: f64,
    },
    /// There are more jobs than can be numbered.
    #[error("more than {0} jobs arrive, the most that are simulated")]
    TooManyJobs(u32),
}

impl SimulateError {
    /// Returns the place of the error in a scenario. Returns `None` if the error is not in the scenario: errors in
    /// traces have their own places, and checkpoints are other files.
    #[must_use]
    pub fn place(&self, scenario: &Scenario) -> Option<Place> {
        let root = Place::root();
        // The users of a trace are not listed in the scenario.
        let of_user = |name: &str, field: &str| match scenario.users.iter().position(|user| user.name == name)
        {
            Some(n) => root.key("users").index(n).key(field),
            None => root.key("trace"),
        };
        Some(match self {
            Self::Problem(error) => error.place.clone(),
            Self::Mechanism(_) | Self::Idle { .. } | Self::TooManyRounds { .. } => root.key("policy"),
            Self::TaskTooLarge { user } => of_user(user, "demand"),
            Self::NoShare { user } => of_user(user, "servers"),
            Self::GangTooLarge { user, .. } | Self::NoWholeGangs { user, .. } => of_user(user, "gang"),
            Self::Endless { user } => of_user(user, "poisson"),
            Self::TooManyExpected { user, .. } | Self::TooDense { user, .. } => {
                of_user(user, "poisson").key("rate")
            }
            Self::TooManyServers { .. } => root.key("draw_servers"),
            Self::TooManyRows { .. } => root.key("every"),
            Self::Import(_)
            | Self::Late(_)
            | Self::OutOfOrder { .. }
            | Self::Beyond
            | Self::BeyondHistory { .. }
            | Self::Checkpoint(_)
            | Self::TooManyJobs(_)
            | Self::TooManyTasks { .. }
            | Self::TooManyRuns(_) => return None,
        })
    }
}

/// Formats a number for people, with an exponent if it would be long.
fn plain(value: f64) -> String {
    let is_short = value == 0.0 || (1e-4..1e15).contains(&value.abs());
    if is_short { value.to_string() } else { format!("{value:e}") }
}

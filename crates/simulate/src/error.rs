//! Why a simulation does not begin, or stops.

use evenhand_budget::Exceeded;
use evenhand_import::ImportError;
use evenhand_mechanisms::MechanismError;
use evenhand_problem::{Place, ProblemError};
use thiserror::Error;

use crate::scenario::Scenario;

/// Why a simulation does not begin, or stops.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SimulateError {
    /// Servers and users make no problem.
    #[error("{0}")]
    Problem(#[from] ProblemError),
    /// The policy is not defined for them, or a limit was reached.
    #[error(transparent)]
    Mechanism(#[from] MechanismError),
    /// A trace or a table cannot be read.
    #[error(transparent)]
    Import(#[from] ImportError),
    /// A task of the user fits on no server, not even on an empty one.
    #[error("a task of user `{user}` fits on no server that it may use, not even alone")]
    TaskTooLarge {
        /// The user.
        user: String,
    },
    /// A user fits on no machine with the capacity that it has first, of which shares are parts.
    #[error(
        "user `{user}` may run on no machine with the capacity that it has first, so that it has no share"
    )]
    NoShare {
        /// The user.
        user: String,
    },
    /// A gang of the user does not fit, not even on empty servers.
    #[error(
        "a gang of {tasks} tasks of user `{user}` does not fit on the servers that it may use, not even alone"
    )]
    GangTooLarge {
        /// The user.
        user: String,
        /// Tasks of a gang.
        tasks: u64,
    },
    /// Tasks that come and are no whole gangs.
    #[error(
        "user `{user}` runs gangs of {gang} tasks, and {tasks} come at time {at}: expected a multiple of {gang}"
    )]
    NoWholeGangs {
        /// The user.
        user: String,
        /// Tasks of a gang.
        gang: u64,
        /// Tasks that come.
        tasks: u64,
        /// When.
        at: f64,
    },
    /// Random arrivals without an end.
    #[error("the jobs of user `{user}` keep coming: give the scenario a `horizon`, or `poisson` an `until`")]
    Endless {
        /// The user.
        user: String,
    },
    /// More servers are to be drawn than are filled one by one.
    #[error("{number} servers are to be drawn: single servers are filled one by one, at most {limit}")]
    TooManyServers {
        /// How many.
        number: u64,
        /// [`MAX_SERVERS`](evenhand_mechanisms::filling::MAX_SERVERS).
        limit: u64,
    },
    /// More random jobs than are kept.
    #[error("about {expected:.0} jobs of user `{user}` are expected: at most {limit} are simulated")]
    TooManyExpected {
        /// The user.
        user: String,
        /// Rate times duration.
        expected: f64,
        /// [`MAX_EXPECTED`](crate::MAX_EXPECTED).
        limit: f64,
    },
    /// Random jobs that come closer to each other than the numbers of double precision.
    #[error(
        "jobs of user `{user}` come {} apart in the mean, and times at {} are {} apart: times are kept in double \
         precision, and would not go on",
        plain(rate.recip()), plain(*at), plain(at.next_up() - at)
    )]
    TooDense {
        /// The user.
        user: String,
        /// Jobs per unit of time.
        rate: f64,
        /// The last time at which they come.
        at: f64,
    },
    /// More tasks than are counted.
    #[error("more than {limit} tasks come")]
    TooManyTasks {
        /// [`MAX_TASKS`](crate::MAX_TASKS).
        limit: u64,
    },
    /// More rows of the series than are kept.
    #[error("a row every {} up to time {} makes more than {limit} rows: raise `every`", plain(*every), plain(*horizon))]
    TooManyRows {
        /// Time between two rows.
        every: f64,
        /// End of the series.
        horizon: f64,
        /// [`MAX_ROWS`](crate::MAX_ROWS).
        limit: usize,
    },
    /// An arrival before one that has been.
    #[error("{source_name}: time goes back from {before} to {now}")]
    OutOfOrder {
        /// What the arrivals come from.
        source_name: String,
        /// Time of the arrival before.
        before: f64,
        /// Time of this one.
        now: f64,
    },
    /// A checkpoint that is none, is damaged, or is of something else.
    #[error("the checkpoint {0}")]
    Checkpoint(String),
    /// The time was up before there was anything to show.
    #[error(transparent)]
    Late(#[from] Exceeded),
    /// Tasks or shares that are no doubles.
    #[error("what users have is beyond what doubles hold (1.8e308): measure resources in other units")]
    Beyond,
    /// More runs than are numbered, where machines come and go.
    #[error("more than {0} tasks start: on servers that come and go each is numbered")]
    TooManyRuns(u32),
    /// More jobs than are numbered.
    #[error("more than {0} jobs")]
    TooManyJobs(u32),
}

impl SimulateError {
    /// Where in a scenario it is; `None` where it is not the scenario that is wrong, but a trace, which its reader
    /// names, or a checkpoint.
    #[must_use]
    pub fn place(&self, scenario: &Scenario) -> Option<Place> {
        let root = Place::root();
        // Users of a trace do not stand in the scenario.
        let of_user = |name: &str, field: &str| match scenario.users.iter().position(|user| user.name == name)
        {
            Some(n) => root.key("users").index(n).key(field),
            None => root.key("trace"),
        };
        Some(match self {
            Self::Problem(error) => error.place.clone(),
            Self::Mechanism(_) => root.key("policy"),
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
            | Self::Checkpoint(_)
            | Self::TooManyJobs(_)
            | Self::TooManyTasks { .. }
            | Self::TooManyRuns(_) => return None,
        })
    }
}

/// A number as people write it: with an exponent where it would be long.
fn plain(value: f64) -> String {
    let is_short = value == 0.0 || (1e-4..1e15).contains(&value.abs());
    if is_short { value.to_string() } else { format!("{value:e}") }
}

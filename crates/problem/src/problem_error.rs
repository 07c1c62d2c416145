//! What can be wrong with a stated problem, and what is merely worth knowing.

use rug::Rational;
use thiserror::Error;

use crate::names::did_you_mean;
use crate::place::Place;

/// Largest count of identical servers in one class.
pub const MAX_COUNT: u64 = 1_000_000_000_000;
/// Most groups that stand in each other: far more than any organisation has levels, and few enough to walk up from
/// every user.
pub const MOST_DEPTH: usize = 100;

/// Something a reader of the problem should know although it is no error.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Warning {
    /// There are no users.
    #[error("the problem has no users: there is nothing to allocate")]
    NoUsers,
    /// The user can run nowhere and gets no task.
    #[error("user `{0}` fits on no server that it may use and gets 0 tasks")]
    FitsNowhere(String),
    /// What a group may hold on some server classes leaves less than it is promised.
    #[error(
        "group `{group}`: the guarantee of {resource} is {promised}, and what it may hold on {servers} leaves \
         {available}"
    )]
    LimitedPromise {
        /// Name of the group.
        group: String,
        /// Names of the classes.
        servers: String,
        /// Name of the resource.
        resource: String,
        /// What is promised.
        promised: Rational,
        /// The limit on these classes, and all that the others have.
        available: Rational,
    },
    /// Groups are promised more than there is.
    #[error(
        "{}: the guarantees of {resource} add up to {promised}, and there is {available}",
        group.as_ref().map_or_else(|| "all groups".to_owned(), |name| format!("the subgroups of `{name}`"))
    )]
    BrokenPromise {
        /// The group whose subgroups are promised more than it is; `None`: all groups and all servers.
        group: Option<String>,
        /// Name of the resource.
        resource: String,
        /// What is promised.
        promised: Rational,
        /// What there is: the group's own guarantee, or the capacity.
        available: Rational,
    },
}

/// Why a stated problem is not one.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{kind}")]
pub struct ProblemError {
    /// Where in the stated problem.
    pub place: Place,
    /// What is wrong there.
    pub kind: ProblemErrorKind,
}

impl Place {
    pub(crate) fn error(self, kind: ProblemErrorKind) -> ProblemError {
        ProblemError { place: self, kind }
    }
}

impl ProblemError {
    /// The same of what stands at a place.
    pub(crate) fn within(self, at: &Place) -> Self {
        Self { place: at.join(&self.place), ..self }
    }
}

/// What can be wrong with a stated problem.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ProblemErrorKind {
    /// No resource is named.
    #[error("expected at least one resource")]
    NoResources,
    /// No server class is given.
    #[error("expected at least one server class")]
    NoServers,
    /// A name is given twice.
    #[error("the {what} `{name}` is named twice")]
    DuplicateName {
        /// resource, server or user
        what: &'static str,
        /// The name.
        name: String,
    },
    /// A name is empty.
    #[error("a {0} needs a name that is not empty")]
    EmptyName(&'static str),
    /// A reference to something that is not there.
    #[error("there is no {what} `{name}`{hint}", hint = did_you_mean(nearest.as_deref()))]
    Unknown {
        /// resource, server or user
        what: &'static str,
        /// The name.
        name: String,
        /// The name that may be meant.
        nearest: Option<String>,
    },
    /// A quantity below zero.
    #[error("{0} is negative: expected a number of at least 0")]
    Negative(String),
    /// A weight or rate that is not above zero.
    #[error("{0} is not positive: expected a number above 0")]
    NotPositive(String),
    /// A count that is not an integer from 1 to [`MAX_COUNT`].
    #[error("{0} is not a count of servers: expected an integer from 1 to 10^12")]
    BadCount(String),
    /// A demand that asks for nothing.
    #[error("user `{0}` demands nothing: expected at least one resource with a demand above 0")]
    DemandsNothing(String),
    /// The user may run on no server class at all.
    #[error("user `{0}` may use no server class: expected at least one, or no `servers` at all")]
    NoServerAllowed(String),
    /// A job type that demands nothing, so that any number of its jobs would fit.
    #[error("job type `{0}` demands nothing: expected at least one resource with a demand above 0")]
    TypeDemandsNothing(String),
    /// A job type that fits on no server, or stands in no configuration.
    #[error("job type `{0}` fits on no server, not even alone")]
    FitsNoServer(String),
    /// More jobs fit on one server than can be counted: at most [`MAX_COUNT`].
    #[error("more than 10^12 jobs of type `{0}` fit on one server")]
    TooManyFit(String),
    /// A number of jobs that is not an integer from 0 to [`MAX_COUNT`].
    #[error("{0} is not a number of jobs: expected an integer from 0 to 10^12")]
    BadJobs(String),
    /// Some pools with a count and some without.
    #[error("a pool without `count` beside others with one: give it to all pools or to none")]
    CountMissing,
    /// Capacities or demands beside a list of configurations.
    #[error("`{0}` beside `configurations`: give configurations, or capacities and demands")]
    BesideConfigurations(&'static str),
    /// A group whose parents lead back to it.
    #[error("group `{0}` stands in itself, by way of its parents")]
    GroupInItself(String),
    /// A group below too many others.
    #[error("group `{0}` stands in more than {most} others", most = MOST_DEPTH - 1)]
    GroupTooDeep(String),
    /// A gang that is not a whole number of tasks.
    #[error("{0} is not a number of tasks that run together: expected a whole number from 1 to 10^12")]
    BadGang(String),
    /// A priority that is not a whole number.
    #[error("{0} is not a priority: expected a whole number")]
    BadPriority(String),
    /// More is promised than allowed.
    #[error("the guarantee {guarantee} is above the limit {limit}")]
    GuaranteeAboveLimit {
        /// What is promised.
        guarantee: String,
        /// What is allowed.
        limit: String,
    },
    /// A set of server classes without one.
    #[error("expected at least one server class")]
    EmptySet,
    /// Something is said twice of the same server classes.
    #[error("the server classes `{0}` are named together twice")]
    DuplicateSet(String),
    /// A promise on some server classes.
    #[error(
        "a `{0}` on some server classes is not supported, only `limit` is: what a group holds there is not \
         decided while its tasks may run elsewhere; give the `{0}` for all servers"
    )]
    OnlyLimitOn(&'static str),
    /// More tasks may not be taken than the user has.
    #[error("{pinned} tasks are pinned of a user that has {tasks}")]
    PinnedAboveTasks {
        /// Tasks that may not be taken.
        pinned: String,
        /// All its tasks.
        tasks: String,
    },
    /// An empty list of configurations.
    #[error("expected at least one configuration")]
    NoConfigurations,
}

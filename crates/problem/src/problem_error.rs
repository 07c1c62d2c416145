//! Errors of a stated problem, and warnings about a valid one.

use rug::Rational;
use thiserror::Error;

use crate::names::did_you_mean;
use crate::place::Place;

/// Largest number of identical servers in one class.
pub const MAX_COUNT: u64 = 1_000_000_000_000;
/// The maximum depth of groups inside groups. No organisation has nearly as many levels. The limit keeps walks from
/// every user to the root fast.
pub const MOST_DEPTH: usize = 100;

/// A fact about a problem that is not an error but may surprise its author.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Warning {
    /// The problem has no users.
    #[error("the problem has no users: there is nothing to allocate")]
    NoUsers,
    /// The user fits on no server and gets no task.
    #[error("user `{0}` fits on no server that it may use and gets 0 tasks")]
    FitsNowhere(String),
    /// A group's limit on some server classes leaves less than its guarantee.
    #[error(
        "group `{group}`: the guarantee of {resource} is {promised}, but the group can use at most {available}: its \
         limit on {servers} leaves no more"
    )]
    LimitedPromise {
        /// Name of the group.
        group: String,
        /// Names of the classes.
        servers: String,
        /// Name of the resource.
        resource: String,
        /// The guaranteed amount.
        promised: Rational,
        /// The limit on the named classes, plus the capacity of all other classes.
        available: Rational,
    },
    /// Guarantees add up to more than the available amount.
    #[error(
        "{}: the guarantees of {resource} add up to {promised}, but there is only {available}",
        group.as_ref().map_or_else(|| "all groups".to_owned(), |name| format!("the subgroups of `{name}`"))
    )]
    BrokenPromise {
        /// The group whose subgroups are guaranteed more than the group. `None` means all groups and all servers.
        group: Option<String>,
        /// Name of the resource.
        resource: String,
        /// The sum of the guarantees.
        promised: Rational,
        /// The group's own guarantee, or the capacity of all servers.
        available: Rational,
    },
}

/// The reason why a stated problem is invalid.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{kind}")]
pub struct ProblemError {
    /// Place of the fault in the stated problem.
    pub place: Place,
    /// The kind of fault.
    pub kind: ProblemErrorKind,
}

impl Place {
    pub(crate) fn error(self, kind: ProblemErrorKind) -> ProblemError {
        ProblemError { place: self, kind }
    }
}

impl ProblemError {
    /// Returns the same error, with its place relative to the value at `at`.
    pub(crate) fn within(self, at: &Place) -> Self {
        Self { place: at.join(&self.place), ..self }
    }
}

/// The faults of a stated problem.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ProblemErrorKind {
    /// No resource is named.
    #[error("expected at least one resource")]
    NoResources,
    /// No server class is stated.
    #[error("expected at least one server class")]
    NoServers,
    /// A name occurs twice.
    #[error("the {what} `{name}` is named twice")]
    DuplicateName {
        /// The kind of thing that is named, such as `resource`, `server` or `user`.
        what: &'static str,
        /// The name that occurs twice.
        name: String,
    },
    /// A name is empty.
    #[error("a {0} needs a name that is not empty")]
    EmptyName(&'static str),
    /// A name is not defined.
    #[error("there is no {what} `{name}`{hint}", hint = did_you_mean(nearest.as_deref()))]
    Unknown {
        /// The kind of thing that is named, such as `resource`, `server` or `user`.
        what: &'static str,
        /// The name that is not defined.
        name: String,
        /// A similar name that may be meant.
        nearest: Option<String>,
    },
    /// A quantity is below zero.
    #[error("{0} is negative: expected a number of at least 0")]
    Negative(String),
    /// A weight or rate is not above zero.
    #[error("{0} is not positive: expected a number above 0")]
    NotPositive(String),
    /// A count is not an integer from 1 to [`MAX_COUNT`].
    #[error("{0} is not a count of servers: expected an integer from 1 to 10^12")]
    BadCount(String),
    /// A user demands nothing.
    #[error("user `{0}` demands nothing: expected at least one resource with a demand above 0")]
    DemandsNothing(String),
    /// Rates are stated together with a field that they replace.
    #[error(
        "`rates` cannot be combined with `{0}`: state the demand per accelerator in `demand`, and the rates"
    )]
    RatesNextTo(&'static str),
    /// Rates are stated in a problem with groups.
    #[error("`rates` are not supported in a problem with groups: leave the groups out")]
    RatesInGroups,
    /// No class that the user may use has a rate above 0.
    #[error("no server class that user `{0}` may use has a rate above 0: expected at least one")]
    NoRate(String),
    /// The most accelerators at once are stated without rates.
    #[error("`at_most` needs `rates`: state the rates, or state the limit as `tasks`")]
    AtMostWithoutRates,
    /// The user may run on no server class at all.
    #[error("user `{0}` may use no server class: expected at least one, or no `servers` at all")]
    NoServerAllowed(String),
    /// A job type demands nothing, so any number of its jobs would fit.
    #[error("job type `{0}` demands nothing: expected at least one resource with a demand above 0")]
    TypeDemandsNothing(String),
    /// A job type fits on no server, or occurs in no configuration.
    #[error(
        "job type `{0}` fits on no server, not even alone: expected a server with room for at least one of its jobs"
    )]
    FitsNoServer(String),
    /// More than [`MAX_COUNT`] jobs of a type fit on one server.
    #[error("more than 10^12 jobs of type `{0}` fit on one server: expected at most 10^12")]
    TooManyFit(String),
    /// A number of jobs is not an integer from 0 to [`MAX_COUNT`].
    #[error("{0} is not a number of jobs: expected an integer from 0 to 10^12")]
    BadJobs(String),
    /// Some pools have a count and other pools have none.
    #[error("this pool has no `count`, but others do: state it for all pools or for none")]
    CountMissing,
    /// Capacities or demands are stated together with a list of configurations.
    #[error(
        "`{0}` cannot be combined with `configurations`: state either configurations, or capacities and demands"
    )]
    BesideConfigurations(&'static str),
    /// A group is its own ancestor.
    #[error(
        "group `{0}` is its own parent, perhaps through other groups: expected parents that lead to a group without a \
        parent"
    )]
    GroupInItself(String),
    /// A group has too many ancestors.
    #[error("group `{0}` has more than {most} groups above it: expected at most {most}", most = MOST_DEPTH - 1)]
    GroupTooDeep(String),
    /// A gang is not a whole number of tasks from 1 to [`MAX_COUNT`].
    #[error("{0} is not a number of tasks that run together: expected a whole number from 1 to 10^12")]
    BadGang(String),
    /// A priority is not a whole number, or is too large.
    #[error("{0} is not a priority: expected a whole number")]
    BadPriority(String),
    /// The guarantee of a group is above its limit.
    #[error("the guarantee {guarantee} is above the limit {limit}: expected at most {limit}")]
    GuaranteeAboveLimit {
        /// The guaranteed amount.
        guarantee: String,
        /// The amount of the limit.
        limit: String,
    },
    /// A set of server classes is empty.
    #[error("expected at least one server class")]
    EmptySet,
    /// Two entries are about the same set of server classes.
    #[error("there are two entries for the server classes `{0}`: expected one")]
    DuplicateSet(String),
    /// A guarantee, or an amount to lend, is stated for only some server classes.
    #[error(
        "a `{0}` on some server classes is not supported, only `limit` is: state the `{0}` for all servers, since \
         the group's tasks may also run elsewhere"
    )]
    OnlyLimitOn(&'static str),
    /// More tasks are pinned than the user has.
    #[error("{pinned} tasks are pinned, but the user has {tasks}: expected at most {tasks}")]
    PinnedAboveTasks {
        /// Number of pinned tasks.
        pinned: String,
        /// Number of tasks that the user has.
        tasks: String,
    },
    /// A list of configurations is empty.
    #[error("expected at least one configuration")]
    NoConfigurations,
}

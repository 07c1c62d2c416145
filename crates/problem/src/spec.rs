//! Problems as a document states them, with names instead of indices, before they are checked.

use rug::Rational;

/// An allocation problem as stated, with names instead of indices, before it is checked.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ProblemSpec {
    /// A title for people, which may be empty.
    pub name: String,
    /// Names of the resources.
    pub resources: Vec<String>,
    /// The server classes of the problem.
    pub servers: Vec<ServerSpec>,
    /// Users. The list may be empty.
    pub users: Vec<UserSpec>,
}

/// A class of identical servers, as stated.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ServerSpec {
    /// Name of the class.
    pub name: String,
    /// Number of identical servers. The default is 1.
    pub count: Option<Rational>,
    /// Capacity of one server: amounts with the names of their resources. Absent resources are 0.
    pub capacity: Vec<(String, Rational)>,
}

/// A user as stated. A reader borrows the names from its text.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct UserSpec<S = String> {
    /// Name of the user.
    pub name: S,
    /// Weight, positive. The default is 1.
    pub weight: Option<Rational>,
    /// Number of tasks that the user has, possibly fractional, or `None` for unlimited tasks.
    pub tasks: Option<Rational>,
    /// Demand of one task: amounts with the names of their resources. Absent resources are 0.
    pub demand: Vec<(S, Rational)>,
    /// Server classes on which the user may run, or `None` for all classes.
    pub servers: Option<Vec<S>>,
    /// Demand of one task on certain server classes, which replaces `demand` on these classes.
    pub demand_on: Vec<(S, Vec<(S, Rational)>)>,
    /// The stated `gamma_ni` of each named class: the number of tasks of the user when it has all of the
    /// class.
    pub gamma: Vec<(S, Rational)>,
    /// The coefficient `u_ni` of the generic criterion (Kesidis, equation 3) on each named class.
    pub criterion: Vec<(S, Rational)>,
    /// Throughput of one accelerator of each named class. The user may not run on a class that is not named
    /// or has the rate 0.
    pub rates: Option<Vec<(S, Rational)>>,
    /// The most accelerators that the user may use at once, the bound of `sum_i x_ni / rate_ni`, or `None`
    /// for no limit.
    pub at_most: Option<Rational>,
}

/// A reservation problem as stated, with names instead of indices, before it is checked.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ReservationSpec {
    /// A title for people, which may be empty.
    pub name: String,
    /// Names of the resources. The list may be empty if `configurations` is stated.
    pub resources: Vec<String>,
    /// Pools of identical servers. An empty list means one pool if `configurations` is stated.
    pub pools: Vec<PoolSpec>,
    /// Job types. Their order decides ties.
    pub jobs: Vec<JobSpec>,
    /// The maximal feasible configurations, as pairs `(job type, number of jobs)`. They replace capacities
    /// and demands.
    pub configurations: Option<Vec<Vec<(String, Rational)>>>,
}

/// A pool of identical servers, as stated. Without counts, all pools have the same number of servers.
pub type PoolSpec = ServerSpec;

/// A job type, as stated.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct JobSpec {
    /// Name of the job type.
    pub name: String,
    /// Demand of one job: amounts with the names of their resources. Absent resources are 0.
    pub demand: Vec<(String, Rational)>,
    /// Reward of one job per unit of time, `u_j`. The default is 0.
    pub reward: Option<Rational>,
    /// Offered load per server of all pools together, `rho_j`. The default is 0.
    pub load: Option<Rational>,
}

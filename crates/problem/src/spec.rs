//! Problems as somebody states them: names and numbers, not checked yet.

use rug::Rational;

/// An allocation problem as somebody states it, by name, before it is checked.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ProblemSpec {
    /// A title for people; may be empty.
    pub name: String,
    /// Names of the resources.
    pub resources: Vec<String>,
    /// Server classes.
    pub servers: Vec<ServerSpec>,
    /// Users; may be empty.
    pub users: Vec<UserSpec>,
}

/// One class of identical servers, as stated.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ServerSpec {
    /// Name of the class.
    pub name: String,
    /// Number of identical servers; 1 if absent.
    pub count: Option<Rational>,
    /// Capacity of one server by resource; an absent resource is 0.
    pub capacity: Vec<(String, Rational)>,
}

/// One user, as stated. A reader borrows the names from its text.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct UserSpec<S = String> {
    /// Name of the user.
    pub name: S,
    /// Weight, positive; 1 if absent.
    pub weight: Option<Rational>,
    /// Tasks that the user has, possibly fractional; unlimited if absent.
    pub tasks: Option<Rational>,
    /// Demand of one task by resource; an absent resource is 0.
    pub demand: Vec<(S, Rational)>,
    /// Server classes on which the user may run; all if absent.
    pub servers: Option<Vec<S>>,
    /// Demand of one task on certain server classes, in place of `demand`.
    pub demand_on: Vec<(S, Vec<(S, Rational)>)>,
    /// `gamma_ni` given directly: tasks of the user when it has all of the class.
    pub gamma: Vec<(S, Rational)>,
    /// `u_ni` of the generic criterion (Kesidis, equation 3).
    pub criterion: Vec<(S, Rational)>,
}

/// A reservation problem as somebody states it, by name, before it is checked.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ReservationSpec {
    /// A title for people; may be empty.
    pub name: String,
    /// Names of the resources; may be empty beside `configurations`.
    pub resources: Vec<String>,
    /// Pools of identical servers; none beside `configurations` means one pool.
    pub pools: Vec<PoolSpec>,
    /// Job types; their order decides ties.
    pub jobs: Vec<JobSpec>,
    /// The maximal feasible configurations, `(job type, number of jobs)`, in place of capacities and
    /// demands.
    pub configurations: Option<Vec<Vec<(String, Rational)>>>,
}

/// One pool of identical servers, as stated. Without a count only its fraction of all servers is known.
pub type PoolSpec = ServerSpec;

/// One job type, as stated.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct JobSpec {
    /// Name of the type.
    pub name: String,
    /// Demand of one job by resource; an absent resource is 0.
    pub demand: Vec<(String, Rational)>,
    /// Reward of one job per unit of time, `u_j`; 0 if absent.
    pub reward: Option<Rational>,
    /// Offered load per server of all pools together, `rho_j`; 0 if absent.
    pub load: Option<Rational>,
}

//! An allocation problem as somebody states it: names and numbers, not checked yet.

use rug::Rational;

use crate::problem::Problem;
use crate::quantities::Quantities;

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

/// One user, as stated.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct UserSpec {
    /// Name of the user.
    pub name: String,
    /// Weight, positive; 1 if absent.
    pub weight: Option<Rational>,
    /// Tasks that the user has, possibly fractional; unlimited if absent.
    pub tasks: Option<Rational>,
    /// Demand of one task by resource; an absent resource is 0.
    pub demand: Vec<(String, Rational)>,
    /// Server classes on which the user may run; all if absent.
    pub servers: Option<Vec<String>>,
    /// Demand of one task on certain server classes, in place of `demand`.
    pub demand_on: Vec<(String, Vec<(String, Rational)>)>,
    /// `gamma_ni` given directly: tasks of the user when it has all of the class.
    pub gamma: Vec<(String, Rational)>,
    /// `u_ni` of the generic criterion (Kesidis, equation 3).
    pub criterion: Vec<(String, Rational)>,
}

/// A problem as it could have been stated, without its groups.
impl From<&Problem> for ProblemSpec {
    fn from(problem: &Problem) -> Self {
        let class = |i: &usize| problem.servers()[*i].name().to_owned();
        let named = |amounts: &Quantities| -> Vec<(String, Rational)> {
            let name = |r: &usize| problem.resources()[*r].clone();
            amounts.entries().iter().map(|(r, amount)| (name(r), amount.clone())).collect()
        };
        let by_class = |list: &[(usize, Rational)]| list.iter().map(|(i, x)| (class(i), x.clone())).collect();
        let servers = problem.servers().iter().map(|server| ServerSpec {
            name: server.name().to_owned(),
            count: Some(Rational::from(server.count())),
            capacity: named(server.capacity()),
        });
        let users = problem.users().iter().map(|user| UserSpec {
            name: user.name().to_owned(),
            weight: Some(user.weight().clone()),
            tasks: user.tasks().cloned(),
            demand: named(user.base_demand()),
            servers: user.servers().map(|list| list.iter().map(class).collect()),
            demand_on: user.demand_overrides().iter().map(|(i, d)| (class(i), named(d))).collect(),
            gamma: by_class(user.given_gamma()),
            criterion: by_class(user.criterion()),
        });
        Self {
            name: problem.name().to_owned(),
            resources: problem.resources().to_vec(),
            servers: servers.collect(),
            users: users.collect(),
        }
    }
}

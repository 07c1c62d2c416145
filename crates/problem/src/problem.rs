//! The allocation problem: resources, server classes and users, in exact numbers.
//!
//! Users are indexed by `n` in `0..n_users()`, server classes by `i` in `0..n_servers()` and resources by `r` in
//! `0..n_resources()`, in the order of the problem file. Vectors are indexed in that order: `demand(n, i)[r]`,
//! `capacity(i)[r]`.
//!
//! A [`Problem`] is valid once built: [`Problem::new`] checks everything that the rest of the engine relies on, and
//! nothing can change it afterwards.

mod builder;
mod joined;
mod kinds;
mod known;
mod merged;
mod rates;

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use rug::Rational;

use crate::groups::{GroupShareSpec, GroupSpec, Groups, MemberSpec};
pub use crate::problem_error::{MAX_COUNT, ProblemError, ProblemErrorKind, Warning};
use crate::quantities::Quantities;
pub use crate::spec::{ProblemSpec, ServerSpec, UserSpec};
pub(crate) use builder::ProblemBuilder;
pub use joined::Joined;
pub use kinds::Kinds;
pub(crate) use known::Known;
pub use merged::{Merged, Size};
pub use rates::Rates;

/// A checked allocation problem.
#[derive(Debug, Clone, PartialEq)]
pub struct Problem {
    name: String,
    resources: Vec<String>,
    servers: Vec<ServerClass>,
    users: Vec<User>,
    groups: Groups,
    total_capacity: Vec<Rational>,
    hash: Hash,
}

/// The hash of the problem, computed when it is first needed. The hash follows from the other fields, so all
/// hashes compare as equal.
#[derive(Debug, Clone, Default)]
struct Hash(OnceLock<String>);

impl PartialEq for Hash {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// A class of `count` identical servers.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerClass {
    name: String,
    count: u64,
    capacity: Quantities,
    time_shared: bool,
}

/// A user of a checked problem.
#[derive(Debug, Clone, PartialEq)]
pub struct User {
    name: String,
    weight: Rational,
    tasks: Option<Rational>,
    base_demand: Quantities,
    servers: Option<Arc<[usize]>>,
    demand_overrides: Vec<(usize, Quantities)>,
    given_gamma: Vec<(usize, Rational)>,
    criterion: Vec<(usize, Rational)>,
    rates: Option<Arc<Rates>>,
}

crate::names::getters! { Problem:
    /// The title, which may be empty.
    name: str;
    /// Names of the resources, indexed by `r`.
    resources: [String];
    /// The server classes, indexed by `i`.
    servers: [ServerClass];
    /// The users, indexed by `n`.
    users: [User];
    /// The groups of the users, with the group, gang and pinned tasks of each user.
    groups: Groups;
    /// Capacity of all servers together, indexed by resource: the sum over `i` of `k_i c_ir`.
    total_capacity: [Rational];
}

impl Problem {
    /// Checks a stated problem and builds it.
    ///
    /// # Errors
    /// Returns a [`ProblemError`] with the place of the first fault: a duplicate, empty or unknown name, a
    /// negative quantity, a weight or rate that is not positive, an invalid count, or a user that demands
    /// nothing.
    pub fn new(spec: ProblemSpec) -> Result<Self, ProblemError> {
        Self::grouped(spec, Vec::new(), GroupShareSpec::default(), Vec::new())
    }

    /// Builds a problem like [`new`](Self::new), with groups and with the group, gang and pinned tasks of
    /// each user.
    ///
    /// # Errors
    /// Returns an error in the same cases as [`new`](Self::new), and for an unknown parent or group, a group
    /// that is its own ancestor, amounts that are negative or contradict each other, and a gang or a priority
    /// that is not a whole number.
    pub fn grouped(
        spec: ProblemSpec,
        groups: Vec<GroupSpec>,
        share: GroupShareSpec,
        members: Vec<MemberSpec>,
    ) -> Result<Self, ProblemError> {
        let mut spec = spec;
        let members = members.into_iter().chain(std::iter::repeat_with(MemberSpec::default));
        let users = std::mem::take(&mut spec.users).into_iter().zip(members);
        Self::one_by_one(spec, groups, share, users)
    }

    /// Builds a problem like [`grouped`](Self::grouped), with users that an iterator states one by one. All
    /// statements together may take much more memory than the problem.
    ///
    /// # Errors
    /// Returns an error in the same cases as [`grouped`](Self::grouped).
    pub fn one_by_one(
        spec: ProblemSpec,
        groups: Vec<GroupSpec>,
        share: GroupShareSpec,
        users: impl IntoIterator<Item = (UserSpec, MemberSpec)>,
    ) -> Result<Self, ProblemError> {
        let mut builder = ProblemBuilder::new(spec.name, spec.resources, spec.servers)?;
        builder.groups(groups, share)?;
        let stated = spec.users.into_iter().map(|user| (user, MemberSpec::default()));
        stated.chain(users).try_for_each(|(user, member)| builder.user(user, member))?;
        Ok(builder.finish())
    }

    /// Returns a copy that may be changed, without the stored hash.
    fn changed(&self) -> Self {
        Self { hash: Hash::default(), ..self.clone() }
    }

    /// Returns the problem with `more` units of resource `r` added to the whole class `i`. Each server of the
    /// class gets an equal part of the addition.
    ///
    /// # Panics
    /// Panics if there is no such class or resource.
    #[must_use]
    pub fn with_more(&self, i: usize, r: usize, more: &Rational) -> Self {
        let mut problem = self.changed();
        let class = &mut problem.servers[i];
        let mut capacity = class.capacity.to_vec();
        capacity[r] += Rational::from(more / class.count);
        class.capacity = capacity.into_iter().collect();
        problem.total_capacity[r] += more;
        problem
    }

    /// Returns the problem in which every server has this fraction of its capacity.
    #[must_use]
    pub fn with_fraction(&self, fraction: &Rational) -> Self {
        let mut problem = self.changed();
        for class in &mut problem.servers {
            class.capacity = class.capacity.to_vec().into_iter().map(|amount| amount * fraction).collect();
        }
        problem.total_capacity.iter_mut().for_each(|amount| *amount *= fraction);
        problem
    }

    /// Returns the problem with other weights, one for each user. Users beyond the end of the list keep their
    /// weights.
    #[must_use]
    pub fn with_weights(&self, weights: Vec<Rational>) -> Self {
        let mut problem = self.changed();
        for (user, weight) in problem.users.iter_mut().zip(weights) {
            user.weight = weight;
        }
        problem
    }

    /// Returns the problem in which the users in `users` have no tasks.
    #[must_use]
    pub fn without_tasks_of(&self, users: &[usize]) -> Self {
        let mut problem = self.changed();
        for n in users {
            if let Some(user) = problem.users.get_mut(*n) {
                user.tasks = Some(Rational::new());
            }
        }
        problem
    }

    /// Returns the hash. `compute` is called only the first time.
    pub(crate) fn hashed(&self, compute: impl FnOnce(&Self) -> String) -> &str {
        self.hash.0.get_or_init(|| compute(self))
    }

    /// Returns the number of resources, `m`.
    #[must_use]
    pub fn n_resources(&self) -> usize {
        self.resources.len()
    }

    /// Returns the number of server classes.
    #[must_use]
    pub fn n_servers(&self) -> usize {
        self.servers.len()
    }

    /// Returns the number of users, `N`.
    #[must_use]
    pub fn n_users(&self) -> usize {
        self.users.len()
    }

    /// Returns the number of single servers in all classes together.
    #[must_use]
    pub fn n_single_servers(&self) -> u128 {
        self.servers.iter().map(|s| u128::from(s.count)).sum()
    }

    /// Returns the demand `d_nir` of one task of user `n` on a server of class `i`, indexed by resource.
    #[must_use]
    pub fn demand(&self, n: usize, i: usize) -> &Quantities {
        self.users[n].demand_on(i)
    }

    /// Returns `gamma_ni`, the tasks of user `n` if it has all of class `i`. The result is 0 if the user may
    /// not run there.
    #[must_use]
    pub fn gamma(&self, n: usize, i: usize) -> Rational {
        if self.users[n].may_use(i) { self.unconstrained_gamma(n, i) } else { Rational::new() }
    }

    /// Returns `gamma_ni` as if there were no placement constraint.
    #[must_use]
    pub fn unconstrained_gamma(&self, n: usize, i: usize) -> Rational {
        let user = &self.users[n];
        if let Some(gamma) = lookup(&user.given_gamma, i) {
            return gamma.clone();
        }
        if user.rates.is_some() && !user.may_use(i) {
            // On a class without a rate, the user has no demand that could be compared with the capacity of
            // the class.
            return Rational::new();
        }
        let server = &self.servers[i];
        let demand = user.demand_on(i).entries().iter();
        let per_server = demand.map(|(r, demand)| Rational::from(&server.capacity[*r] / demand)).min();
        per_server.map_or_else(Rational::new, |tasks| tasks * server.count)
    }

    /// Returns `gamma_n`, the sum of `gamma_ni` over the classes that user `n` may use.
    #[must_use]
    pub fn total_gamma(&self, n: usize) -> Rational {
        self.users[n].classes(self.n_servers()).map(|i| self.unconstrained_gamma(n, i)).sum()
    }

    /// Returns whether user `n` is active: it has tasks, and they fit on a class that it may use.
    ///
    /// A user that is not active takes part in no share and no sum of weights (docs/theory.md, section 1).
    #[must_use]
    pub fn is_active(&self, n: usize) -> bool {
        let has_tasks = self.users[n].tasks.as_ref().is_none_or(|t| !t.is_zero());
        has_tasks && self.classes_of(n).next().is_some()
    }

    /// Returns the classes that user `n` may use and on which its tasks fit (`gamma_ni > 0`), in ascending
    /// order.
    ///
    /// If the user lists its classes, only these classes are visited.
    pub fn classes_of(&self, n: usize) -> impl Iterator<Item = usize> + '_ {
        let user = &self.users[n];
        user.classes(self.n_servers()).filter(|&i| self.fits(user, i))
    }

    /// Returns whether `gamma_ni > 0`: user `n` may use class `i`, and a fraction of its task fits on the
    /// class.
    #[must_use]
    pub fn can_run(&self, n: usize, i: usize) -> bool {
        let user = &self.users[n];
        user.may_use(i) && self.fits(user, i)
    }

    fn fits(&self, user: &User, i: usize) -> bool {
        let capacity = &self.servers[i].capacity;
        lookup(&user.given_gamma, i).is_some()
            || capacity.has_all()
            || user.demand_on(i).entries().iter().all(|(r, _)| capacity.has(*r))
    }

    /// Returns whether some user may not run on some class.
    #[must_use]
    pub fn has_placement_constraints(&self) -> bool {
        self.users.iter().any(|u| u.servers.as_ref().is_some_and(|s| s.len() < self.n_servers()))
    }

    /// Returns facts about the problem that are not errors but may surprise its author.
    #[must_use]
    pub fn warnings(&self) -> Vec<Warning> {
        let no_users = self.users.is_empty().then_some(Warning::NoUsers);
        let without_class = (0..self.n_users()).filter(|&n| self.classes_of(n).next().is_none());
        let nowhere = without_class.map(|n| Warning::FitsNowhere(self.users[n].name.clone()));
        no_users.into_iter().chain(nowhere).chain(self.promises_not_kept()).collect()
    }

    /// Returns the names of server classes, separated by commas.
    #[must_use]
    pub fn class_names(&self, servers: &[usize]) -> String {
        servers.iter().map(|i| self.servers[*i].name()).collect::<Vec<_>>().join(", ")
    }

    /// Returns the index of every user, by the name of the user.
    #[must_use]
    pub fn user_index(&self) -> HashMap<&str, usize> {
        self.users.iter().enumerate().map(|(n, user)| (user.name.as_str(), n)).collect()
    }

    /// Returns the index of every server class, by the name of the class.
    #[must_use]
    pub fn server_index(&self) -> HashMap<&str, usize> {
        self.servers.iter().enumerate().map(|(i, server)| (server.name.as_str(), i)).collect()
    }

    /// Returns the index of the user with the name `name`. For many names, use [`Problem::user_index`].
    #[must_use]
    pub fn user_named(&self, name: &str) -> Option<usize> {
        self.users.iter().position(|u| u.name == name)
    }
}

crate::names::getters! { ServerClass:
    /// Name of the class.
    name: str;
    /// Capacity `c_ir` of ONE server, indexed by resource.
    capacity: Quantities;
}

impl ServerClass {
    /// Returns the number of identical servers, `k_i`.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns whether some user states its `gamma` on this class directly. The users of such a class share one
    /// unit of time instead of its resources.
    #[must_use]
    pub fn is_time_shared(&self) -> bool {
        self.time_shared
    }
}

crate::names::getters! { User:
    /// Name of the user.
    name: str;
    /// Weight `w_n`, positive.
    weight: Rational;
    /// Demand `d_nr` of one task, indexed by resource, on classes for which the user states no other demand.
    base_demand: Quantities;
    /// Demand on the classes on which it differs from [`User::base_demand`], in ascending order of class.
    demand_overrides: [(usize, Quantities)];
    /// The `gamma_ni` that are stated directly, each with its class, in ascending order of class.
    given_gamma: [(usize, Rational)];
    /// The coefficients `u_ni` of the generic criterion, each with its class, in ascending order of class.
    criterion: [(usize, Rational)];
}

impl User {
    /// Returns the number of tasks `T_n` that the user has, or `None` for unlimited tasks.
    #[must_use]
    pub fn tasks(&self) -> Option<&Rational> {
        self.tasks.as_ref()
    }

    /// Returns the demand `d_nir` of one task on class `i`, indexed by resource.
    #[must_use]
    pub fn demand_on(&self, i: usize) -> &Quantities {
        lookup(&self.demand_overrides, i).unwrap_or(&self.base_demand)
    }

    /// Returns the classes that the user may use, in ascending order, or `None` if it may use all classes.
    #[must_use]
    pub fn servers(&self) -> Option<&[usize]> {
        self.servers.as_deref()
    }

    /// Returns `delta_ni`: whether the user may run on class `i`.
    #[must_use]
    pub fn may_use(&self, i: usize) -> bool {
        self.servers.as_ref().is_none_or(|list| list.binary_search(&i).is_ok())
    }

    /// Returns the classes among `n_servers` classes that the user may use, in ascending order.
    pub(crate) fn classes(&self, n_servers: usize) -> impl Iterator<Item = usize> + '_ {
        let listed = self.servers.as_deref();
        let all = if listed.is_none() { 0..n_servers } else { 0..0 };
        listed.unwrap_or_default().iter().copied().chain(all)
    }
}

fn lookup<T>(entries: &[(usize, T)], i: usize) -> Option<&T> {
    let position = entries.binary_search_by_key(&i, |(server, _)| *server).ok()?;
    Some(&entries[position].1)
}

/// Converts a problem back to its statement, without its groups.
impl From<&Problem> for ProblemSpec {
    fn from(problem: &Problem) -> Self {
        let class = |i: &usize| problem.servers()[*i].name().to_owned();
        let named = |amounts: &Quantities| -> Vec<(String, Rational)> {
            let name = |r: &usize| problem.resources()[*r].clone();
            amounts.entries().iter().map(|(r, amount)| (name(r), amount.clone())).collect()
        };
        // With rates, the servers and the demands on classes follow from the rates.
        let overrides =
            |user: &User| if user.rates().is_none() { user.demand_overrides().to_vec() } else { Vec::new() };
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
            servers: user
                .servers()
                .filter(|_| user.rates().is_none())
                .map(|list| list.iter().map(class).collect()),
            demand_on: overrides(user).iter().map(|(i, d)| (class(i), named(d))).collect(),
            gamma: by_class(user.given_gamma()),
            criterion: by_class(user.criterion()),
            rates: user.rates().map(|rates| by_class(rates.by_class())),
            at_most: user.at_most().cloned(),
        });
        Self {
            name: problem.name().to_owned(),
            resources: problem.resources().to_vec(),
            servers: servers.collect(),
            users: users.collect(),
        }
    }
}

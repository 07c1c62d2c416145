//! The allocation problem: resources, server classes and users, in exact numbers.
//!
//! Users are indexed by `n` in `0..n_users()`, server classes by `i` in `0..n_servers()` and
//! resources by `r` in `0..n_resources()`, in the order of the problem file, and vectors are
//! indexed in that order: `demand(n, i)[r]`, `capacity(i)[r]`.
//!
//! A [`Problem`] is valid once built: [`Problem::new`] checks everything that the rest of the
//! engine relies on, and nothing can change it afterwards.

use std::collections::{HashMap, HashSet};

use rug::Rational;

use crate::groups::{GroupShareSpec, GroupSpec, Groups, MemberSpec};
use crate::nearest::nearest;
use crate::place::Place;
pub use crate::problem_error::{ProblemError, ProblemErrorKind, Warning};
use crate::quantities::Quantities;
pub use crate::spec::{ProblemSpec, ServerSpec, UserSpec};

/// Largest count of identical servers in one class.
pub const MAX_COUNT: u64 = 1_000_000_000_000;

/// A checked allocation problem.
#[derive(Debug, Clone, PartialEq)]
pub struct Problem {
    name: String,
    resources: Vec<String>,
    servers: Vec<ServerClass>,
    users: Vec<User>,
    groups: Groups,
    total_capacity: Vec<Rational>,
}

/// `count` identical servers.
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
    demand: Quantities,
    servers: Option<Vec<usize>>,
    demand_on: Vec<(usize, Quantities)>,
    gamma: Vec<(usize, Rational)>,
    criterion: Vec<(usize, Rational)>,
}

impl Problem {
    /// Checks a stated problem.
    ///
    /// # Errors
    /// [`ProblemError`] with the place of the first fault: a duplicate, empty or unknown name, a
    /// negative quantity, a weight or rate that is not positive, a bad count, a demand for nothing.
    pub fn new(spec: ProblemSpec) -> Result<Self, ProblemError> {
        let mut builder = ProblemBuilder::new(spec.name, spec.resources, spec.servers)?;
        for user in spec.users {
            builder.user(user, MemberSpec::default())?;
        }
        Ok(builder.finish())
    }

    /// [`new`](Self::new) with groups, and with what is said of each user beside its demand.
    ///
    /// # Errors
    /// Besides: an unknown parent or group, a group in itself, amounts that are negative or contradict each
    /// other, a gang or a priority that is not whole.
    pub fn grouped(
        spec: ProblemSpec,
        groups: Vec<GroupSpec>,
        share: GroupShareSpec,
        members: Vec<MemberSpec>,
    ) -> Result<Self, ProblemError> {
        let mut builder = ProblemBuilder::new(spec.name, spec.resources, spec.servers)?;
        builder.groups(groups, share)?;
        let members = members.into_iter().chain(std::iter::repeat_with(MemberSpec::default));
        for (user, member) in spec.users.into_iter().zip(members) {
            builder.user(user, member)?;
        }
        Ok(builder.finish())
    }

    /// The title; may be empty.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Names of the resources, by `r`.
    #[must_use]
    pub fn resources(&self) -> &[String] {
        &self.resources
    }

    /// The server classes, by `i`.
    #[must_use]
    pub fn servers(&self) -> &[ServerClass] {
        &self.servers
    }

    /// The users, by `n`.
    #[must_use]
    pub fn users(&self) -> &[User] {
        &self.users
    }

    /// The groups of the users, and what is said of each user beside its demand.
    #[must_use]
    pub fn groups(&self) -> &Groups {
        &self.groups
    }

    /// Number of resources, `m`.
    #[must_use]
    pub fn n_resources(&self) -> usize {
        self.resources.len()
    }

    /// Number of server classes.
    #[must_use]
    pub fn n_servers(&self) -> usize {
        self.servers.len()
    }

    /// Number of users, `N`.
    #[must_use]
    pub fn n_users(&self) -> usize {
        self.users.len()
    }

    /// Number of single servers in all classes together.
    #[must_use]
    pub fn n_single_servers(&self) -> u128 {
        self.servers.iter().map(|s| u128::from(s.count)).sum()
    }

    /// Capacity of all servers together, by resource: the sum over `i` of `k_i c_ir`.
    #[must_use]
    pub fn total_capacity(&self) -> &[Rational] {
        &self.total_capacity
    }

    /// Demand of one task of user `n` on a server of class `i`, by resource: `d_nir`.
    #[must_use]
    pub fn demand(&self, n: usize, i: usize) -> &Quantities {
        self.users[n].demand_on(i)
    }

    /// `gamma_ni`: tasks of user `n` when it has all of class `i`; 0 where it may not run.
    #[must_use]
    pub fn gamma(&self, n: usize, i: usize) -> Rational {
        if self.users[n].may_use(i) { self.unconstrained_gamma(n, i) } else { Rational::new() }
    }

    /// `gamma_ni` as if there were no placement constraint.
    #[must_use]
    pub fn unconstrained_gamma(&self, n: usize, i: usize) -> Rational {
        let user = &self.users[n];
        if let Some(gamma) = lookup(&user.gamma, i) {
            return gamma.clone();
        }
        let server = &self.servers[i];
        let demand = user.demand_on(i).entries().iter();
        let per_server = demand.map(|(r, demand)| Rational::from(&server.capacity[*r] / demand)).min();
        per_server.map_or_else(Rational::new, |tasks| tasks * server.count)
    }

    /// `gamma_n`: the sum of `gamma_ni` over the classes that user `n` may use.
    #[must_use]
    pub fn total_gamma(&self, n: usize) -> Rational {
        self.users[n].classes(self.n_servers()).map(|i| self.unconstrained_gamma(n, i)).sum()
    }

    /// Whether user `n` can be given anything: it has tasks and fits on a class that it may use.
    ///
    /// A user that is not active takes part in no share and no sum of weights (THEORY, section 1).
    #[must_use]
    pub fn is_active(&self, n: usize) -> bool {
        let has_tasks = self.users[n].tasks.as_ref().is_none_or(|t| !t.is_zero());
        has_tasks && self.classes_of(n).next().is_some()
    }

    /// The classes on which user `n` may run and can (`gamma_ni > 0`), ascending.
    ///
    /// A user that names its classes costs no more than those.
    pub fn classes_of(&self, n: usize) -> impl Iterator<Item = usize> + '_ {
        let user = &self.users[n];
        user.classes(self.n_servers()).filter(|&i| self.fits(user, i))
    }

    /// Whether `gamma_ni > 0`: user `n` may use class `i`, and its task fits there divisibly.
    #[must_use]
    pub fn can_run(&self, n: usize, i: usize) -> bool {
        let user = &self.users[n];
        user.may_use(i) && self.fits(user, i)
    }

    fn fits(&self, user: &User, i: usize) -> bool {
        let capacity = &self.servers[i].capacity;
        lookup(&user.gamma, i).is_some() || user.demand_on(i).entries().iter().all(|(r, _)| capacity.has(*r))
    }

    /// Whether some user is barred from some class.
    #[must_use]
    pub fn has_placement_constraints(&self) -> bool {
        self.users.iter().any(|u| u.servers.as_ref().is_some_and(|s| s.len() < self.n_servers()))
    }

    /// What a reader of the problem should know although it is no error.
    #[must_use]
    pub fn warnings(&self) -> Vec<Warning> {
        let nobody = self.users.is_empty().then_some(Warning::NoUsers);
        let without_class = (0..self.n_users()).filter(|&n| self.classes_of(n).next().is_none());
        let nowhere = without_class.map(|n| Warning::FitsNowhere(self.users[n].name.clone()));
        let promises = self.groups.broken_promises(&self.total_capacity).into_iter();
        let broken = promises.map(|(group, r, promised, available)| Warning::BrokenPromise {
            group: group.map(|v| self.groups.list()[v].name.clone()),
            resource: self.resources[r].clone(),
            promised,
            available,
        });
        nobody.into_iter().chain(nowhere).chain(broken).collect()
    }

    /// The index of every user by name.
    #[must_use]
    pub fn user_index(&self) -> HashMap<&str, usize> {
        self.users.iter().enumerate().map(|(n, user)| (user.name.as_str(), n)).collect()
    }

    /// The index of every server class by name.
    #[must_use]
    pub fn server_index(&self) -> HashMap<&str, usize> {
        self.servers.iter().enumerate().map(|(i, server)| (server.name.as_str(), i)).collect()
    }

    /// The index of a user by name; for many names, [`Problem::user_index`].
    #[must_use]
    pub fn user_named(&self, name: &str) -> Option<usize> {
        self.users.iter().position(|u| u.name == name)
    }
}

/// A problem that is built one user at a time, so that a reader need not hold all statements at once.
pub(crate) struct ProblemBuilder {
    problem: Problem,
    resource_index: Index,
    server_index: Index,
    group_index: Index,
    user_names: HashSet<String>,
}

impl ProblemBuilder {
    pub(crate) fn new(
        name: String,
        resources: Vec<String>,
        specs: Vec<ServerSpec>,
    ) -> Result<Self, ProblemError> {
        let at = Place::root();
        if resources.is_empty() {
            return Err(at.key("resources").error(ProblemErrorKind::NoResources));
        }
        if specs.is_empty() {
            return Err(at.key("servers").error(ProblemErrorKind::NoServers));
        }
        let resource_index =
            index_names("resource", resources.iter().map(String::as_str), |r| at.key("resources").index(r))?;
        let server_index = index_names("server", specs.iter().map(|s| s.name.as_str()), |i| {
            at.key("servers").index(i).key("name")
        })?;
        let mut servers = Vec::with_capacity(specs.len());
        for (i, server) in specs.into_iter().enumerate() {
            servers.push(ServerClass::new(server, &resource_index, &at.key("servers").index(i))?);
        }
        let mut total_capacity = vec![Rational::new(); resources.len()];
        for server in &servers {
            for (r, capacity) in server.capacity.entries() {
                total_capacity[*r] += Rational::from(capacity * server.count);
            }
        }
        let groups = Groups::default();
        let problem = Problem { name, resources, servers, users: Vec::new(), groups, total_capacity };
        let (group_index, user_names) = (Index::new(), HashSet::new());
        Ok(Self { problem, resource_index, server_index, group_index, user_names })
    }

    /// States the groups, before the first user.
    pub(crate) fn groups(
        &mut self,
        specs: Vec<GroupSpec>,
        share: GroupShareSpec,
    ) -> Result<(), ProblemError> {
        (self.problem.groups, self.group_index) = Groups::new(specs, share, &self.resource_index)?;
        Ok(())
    }

    pub(crate) fn user(&mut self, spec: UserSpec, member: MemberSpec) -> Result<(), ProblemError> {
        let at = Place::root().key("users").index(self.problem.users.len());
        if spec.name.is_empty() {
            return Err(at.key("name").error(ProblemErrorKind::EmptyName("user")));
        }
        if !self.user_names.insert(spec.name.clone()) {
            let kind = ProblemErrorKind::DuplicateName { what: "user", name: spec.name };
            return Err(at.key("name").error(kind));
        }
        let names = Names {
            resources: &self.resource_index,
            servers: &self.server_index,
            classes: &self.problem.servers,
        };
        let user = User::new(spec, &names, &at)?;
        for (i, _) in &user.gamma {
            self.problem.servers[*i].time_shared = true;
        }
        if let (Some(pinned), Some(tasks)) = (&member.pinned, &user.tasks)
            && pinned > tasks
        {
            let (pinned, tasks) = (pinned.to_string(), tasks.to_string());
            return Err(at.key("pinned").error(ProblemErrorKind::PinnedAboveTasks { pinned, tasks }));
        }
        self.problem.groups.join(member, &self.group_index, &at)?;
        self.problem.users.push(user);
        Ok(())
    }

    pub(crate) fn finish(self) -> Problem {
        self.problem
    }
}

impl ServerClass {
    fn new(spec: ServerSpec, resources: &Index, at: &Place) -> Result<Self, ProblemError> {
        let count = match spec.count {
            None => 1,
            Some(count) => whole_count(&count)
                .ok_or_else(|| at.key("count").error(ProblemErrorKind::BadCount(count.to_string())))?,
        };
        let capacity = quantities(spec.capacity, resources, &at.key("capacity"))?;
        Ok(Self { name: spec.name, count, capacity, time_shared: false })
    }

    /// Name of the class.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Number of identical servers, `k_i`.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Capacity of ONE server, by resource: `c_ir`.
    #[must_use]
    pub fn capacity(&self) -> &Quantities {
        &self.capacity
    }

    /// Whether some user gives its `gamma` on this class directly. Such a class has one unit of
    /// time, which its users share, in place of its resources.
    #[must_use]
    pub fn is_time_shared(&self) -> bool {
        self.time_shared
    }
}

impl User {
    fn new(spec: UserSpec, names: &Names<'_>, at: &Place) -> Result<Self, ProblemError> {
        let weight = match spec.weight {
            None => Rational::from(1),
            Some(weight) => positive(weight, || at.key("weight"))?,
        };
        let tasks = match spec.tasks {
            None => None,
            Some(tasks) => Some(not_negative(tasks, || at.key("tasks"))?),
        };
        let nothing = || ProblemErrorKind::DemandsNothing(spec.name.clone());
        let demand = quantities(spec.demand, names.resources, &at.key("demand"))?;
        let servers = match spec.servers {
            None => None,
            Some(list) => Some(server_list(&spec.name, &list, names.servers, &at.key("servers"))?)
                .filter(|list| list.len() < names.classes.len()),
        };
        let mut demand_on = Vec::with_capacity(spec.demand_on.len());
        let at_demand_on = at.key("demand_on");
        for (server, entries) in spec.demand_on {
            let place = at_demand_on.key(&server);
            let i = resolve("server", &server, names.servers, || place.clone())?;
            let entry = quantities(entries, names.resources, &place)?;
            if entry.is_zero() {
                return Err(place.error(nothing()));
            }
            demand_on.push((i, entry));
        }
        let gamma = rates(spec.gamma, names, &at.key("gamma"))?;
        let criterion = rates(spec.criterion, names, &at.key("criterion"))?;
        sort_by_server(&mut demand_on, names.classes, &at_demand_on)?;
        let user =
            Self { name: spec.name.clone(), weight, tasks, demand, servers, demand_on, gamma, criterion };
        let needs_demand = |i| lookup(&user.gamma, i).is_none() && lookup(&user.demand_on, i).is_none();
        if user.demand.is_zero() && user.classes(names.classes.len()).any(needs_demand) {
            return Err(at.key("demand").error(nothing()));
        }
        Ok(user)
    }

    /// Name of the user.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Weight `w_n`, positive.
    #[must_use]
    pub fn weight(&self) -> &Rational {
        &self.weight
    }

    /// Tasks `T_n` that the user has; `None`: unlimited.
    #[must_use]
    pub fn tasks(&self) -> Option<&Rational> {
        self.tasks.as_ref()
    }

    /// Demand of one task by resource, where the class states no other: `d_nr`.
    #[must_use]
    pub fn base_demand(&self) -> &Quantities {
        &self.demand
    }

    /// Demand of one task on class `i`, by resource: `d_nir`.
    #[must_use]
    pub fn demand_on(&self, i: usize) -> &Quantities {
        lookup(&self.demand_on, i).unwrap_or(&self.demand)
    }

    /// Classes on which the demand differs from [`User::base_demand`], in ascending order.
    #[must_use]
    pub fn demand_overrides(&self) -> &[(usize, Quantities)] {
        &self.demand_on
    }

    /// The classes that the user may use, in ascending order; `None`: all.
    #[must_use]
    pub fn servers(&self) -> Option<&[usize]> {
        self.servers.as_deref()
    }

    /// `delta_ni`: whether the user may run on class `i`.
    #[must_use]
    pub fn may_use(&self, i: usize) -> bool {
        self.servers.as_ref().is_none_or(|list| list.binary_search(&i).is_ok())
    }

    /// The classes that the user may use, of `n_servers`, ascending.
    pub(crate) fn classes(&self, n_servers: usize) -> impl Iterator<Item = usize> + '_ {
        let listed = self.servers.as_deref();
        let all = if listed.is_none() { 0..n_servers } else { 0..0 };
        listed.unwrap_or_default().iter().copied().chain(all)
    }

    /// The `gamma_ni` that are given directly, by class in ascending order.
    #[must_use]
    pub fn given_gamma(&self) -> &[(usize, Rational)] {
        &self.gamma
    }

    /// The `u_ni` of the generic criterion, by class in ascending order.
    #[must_use]
    pub fn criterion(&self) -> &[(usize, Rational)] {
        &self.criterion
    }
}

pub(crate) type Index = HashMap<String, usize>;

struct Names<'a> {
    resources: &'a Index,
    servers: &'a Index,
    classes: &'a [ServerClass],
}

pub(crate) fn index_names<'a>(
    what: &'static str,
    names: impl ExactSizeIterator<Item = &'a str>,
    place: impl Fn(usize) -> Place,
) -> Result<Index, ProblemError> {
    let mut index = HashMap::with_capacity(names.len());
    for (position, name) in names.enumerate() {
        if name.is_empty() {
            return Err(place(position).error(ProblemErrorKind::EmptyName(what)));
        }
        if index.insert(name.to_owned(), position).is_some() {
            let name = name.to_owned();
            return Err(place(position).error(ProblemErrorKind::DuplicateName { what, name }));
        }
    }
    Ok(index)
}

pub(crate) fn resolve(
    what: &'static str,
    name: &str,
    index: &Index,
    at: impl FnOnce() -> Place,
) -> Result<usize, ProblemError> {
    index.get(name).copied().ok_or_else(|| {
        // The order of a hash table decides nothing: the least name among the nearest.
        let mut known: Vec<&str> = index.keys().map(String::as_str).collect();
        known.sort_unstable();
        let nearest = nearest(name, known).map(str::to_owned);
        at().error(ProblemErrorKind::Unknown { what, name: name.to_owned(), nearest })
    })
}

/// Amounts by resource from named entries.
pub(crate) fn quantities(
    stated: Vec<(String, Rational)>,
    resources: &Index,
    at: &Place,
) -> Result<Quantities, ProblemError> {
    let mut seen = HashSet::with_capacity(stated.len());
    let mut entries = Vec::with_capacity(stated.len());
    for (name, value) in stated {
        let r = resolve("resource", &name, resources, || at.key(&name))?;
        if !seen.insert(r) {
            return Err(at.key(&name).error(ProblemErrorKind::DuplicateName { what: "resource", name }));
        }
        entries.push((r, not_negative(value, || at.key(&name))?));
    }
    Ok(Quantities::new(resources.len(), entries))
}

fn rates(
    entries: Vec<(String, Rational)>,
    names: &Names<'_>,
    at: &Place,
) -> Result<Vec<(usize, Rational)>, ProblemError> {
    let mut values = Vec::with_capacity(entries.len());
    for (name, value) in entries {
        let i = resolve("server", &name, names.servers, || at.key(&name))?;
        values.push((i, positive(value, || at.key(&name))?));
    }
    sort_by_server(&mut values, names.classes, at)?;
    Ok(values)
}

fn sort_by_server<T>(
    entries: &mut [(usize, T)],
    classes: &[ServerClass],
    at: &Place,
) -> Result<(), ProblemError> {
    entries.sort_by_key(|(i, _)| *i);
    match entries.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        None => Ok(()),
        Some(pair) => {
            let name = classes[pair[0].0].name.clone();
            Err(at.key(&name).error(ProblemErrorKind::DuplicateName { what: "server", name }))
        }
    }
}

fn server_list(
    user: &str,
    names: &[String],
    servers: &Index,
    at: &Place,
) -> Result<Vec<usize>, ProblemError> {
    if names.is_empty() {
        return Err(at.clone().error(ProblemErrorKind::NoServerAllowed(user.to_owned())));
    }
    let mut list = Vec::with_capacity(names.len());
    for (position, name) in names.iter().enumerate() {
        list.push((resolve("server", name, servers, || at.index(position))?, position));
    }
    list.sort_unstable();
    if let Some(pair) = list.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        let position = pair[1].1;
        let name = names[position].clone();
        return Err(at.index(position).error(ProblemErrorKind::DuplicateName { what: "server", name }));
    }
    Ok(list.into_iter().map(|(i, _)| i).collect())
}

pub(crate) fn not_negative(value: Rational, at: impl FnOnce() -> Place) -> Result<Rational, ProblemError> {
    if value < 0 {
        return Err(at().error(ProblemErrorKind::Negative(value.to_string())));
    }
    Ok(value)
}

fn positive(value: Rational, at: impl FnOnce() -> Place) -> Result<Rational, ProblemError> {
    if value <= 0 {
        return Err(at().error(ProblemErrorKind::NotPositive(value.to_string())));
    }
    Ok(value)
}

pub(crate) fn whole_count(count: &Rational) -> Option<u64> {
    if !count.is_integer() {
        return None;
    }
    count.numer().to_u64().filter(|k| (1..=MAX_COUNT).contains(k))
}

fn lookup<T>(entries: &[(usize, T)], i: usize) -> Option<&T> {
    let position = entries.binary_search_by_key(&i, |(server, _)| *server).ok()?;
    Some(&entries[position].1)
}

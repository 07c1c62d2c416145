//! Builds a problem from its statement: names become positions, and amounts are checked.

use std::collections::HashSet;
use std::sync::Arc;

use rug::Rational;

use super::{Hash, Known, Problem, Rates, ServerClass, User, lookup};
use crate::groups::{GroupShareSpec, GroupSpec, Groups, MemberSpec};
use crate::place::Place;
use crate::problem_error::{ProblemError, ProblemErrorKind};
use crate::resolve::{Index, by_index, index_names, not_negative, positive, quantities, set, whole};
use crate::spec::{ServerSpec, UserSpec};

/// A problem that is built one user at a time, so that a reader need not store all statements at once.
pub(crate) struct ProblemBuilder {
    problem: Problem,
    resource_index: Index,
    server_index: Index,
    group_index: Index,
    /// The position of each user, by the user's name.
    user_names: Known,
    /// The distinct sets of classes that users may use. Many users share one set.
    sets: HashSet<Arc<[usize]>>,
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
        let hash = Hash::default();
        let problem = Problem { name, resources, servers, users: Vec::new(), groups, total_capacity, hash };
        let (group_index, user_names, sets) = (Index::default(), Known::default(), HashSet::new());
        Ok(Self { problem, resource_index, server_index, group_index, user_names, sets })
    }

    /// Adds the groups. This must be called before the first user is added.
    pub(crate) fn groups(
        &mut self,
        specs: Vec<GroupSpec>,
        share: GroupShareSpec,
    ) -> Result<(), ProblemError> {
        (self.problem.groups, self.group_index) =
            Groups::new(specs, share, &self.resource_index, &self.server_index)?;
        Ok(())
    }

    /// Reserves memory for `users` users.
    pub(crate) fn reserve(&mut self, users: usize) {
        self.problem.users.reserve_exact(users);
        self.problem.groups.reserve(users);
        self.user_names = Known::with_room(users);
    }

    /// Checks the next user and adds it.
    pub(crate) fn user<S: AsRef<str> + Into<String>>(
        &mut self,
        spec: UserSpec<S>,
        member: MemberSpec,
    ) -> Result<(), ProblemError> {
        self.add_name(spec.name.as_ref())?;
        let user = self.stated(spec).map_err(|error| error.within(&self.next_place()))?;
        self.join(user, member)
    }

    /// Checks a user independently of the other users. Places in errors are relative to the user.
    pub(crate) fn stated<S: AsRef<str> + Into<String>>(
        &self,
        spec: UserSpec<S>,
    ) -> Result<User, ProblemError> {
        User::new(spec, &self.resource_index, &self.server_index)
    }

    /// Adds a user that was checked by [`stated`](Self::stated).
    pub(crate) fn add(&mut self, user: User, member: MemberSpec) -> Result<(), ProblemError> {
        self.add_name(&user.name)?;
        self.join(user, member)
    }

    /// Adds a user that is identical to an earlier user except for its name, weight, tasks, group, gang and pinned
    /// tasks.
    pub(crate) fn user_like(
        &mut self,
        other: usize,
        name: &str,
        [weight, tasks]: [Option<Rational>; 2],
        member: MemberSpec,
    ) -> Result<(), ProblemError> {
        self.add_name(name)?;
        let within = |error: ProblemError| error.within(&self.next_place());
        let user = User {
            name: name.to_owned(),
            weight: stated_weight(weight).map_err(within)?,
            tasks: stated_tasks(tasks).map_err(within)?,
            ..self.problem.users[other].clone()
        };
        self.join(user, member)
    }

    /// Returns the number of users so far.
    pub(crate) fn n_users(&self) -> usize {
        self.problem.users.len()
    }

    /// Returns the place of the next user.
    fn next_place(&self) -> Place {
        Place::root().key("users").index(self.problem.users.len())
    }

    /// Checks and records the name of the next user.
    fn add_name(&mut self, name: &str) -> Result<(), ProblemError> {
        let error = |fault| Err(self.next_place().key("name").error(fault));
        if name.is_empty() {
            return error(ProblemErrorKind::EmptyName("user"));
        }
        let users = &self.problem.users;
        let hash = self.user_names.hash(name);
        if self.user_names.find(hash, |n| users.get(n).is_some_and(|user| user.name == name)).is_some() {
            return error(ProblemErrorKind::DuplicateName { what: "user", name: name.to_owned() });
        }
        self.user_names.insert(hash, users.len());
        Ok(())
    }

    fn join(&mut self, mut user: User, member: MemberSpec) -> Result<(), ProblemError> {
        if let Some(set) = &mut user.servers {
            match self.sets.get(set) {
                Some(known) => *set = Arc::clone(known),
                None => drop(self.sets.insert(Arc::clone(set))),
            }
        }
        if user.rates.is_some() && !self.problem.groups.list().is_empty() {
            return Err(self.next_place().key("rates").error(ProblemErrorKind::RatesInGroups));
        }
        for (i, _) in &user.given_gamma {
            self.problem.servers[*i].time_shared = true;
        }
        if let (Some(pinned), Some(tasks)) = (&member.pinned, &user.tasks)
            && pinned > tasks
        {
            let (pinned, tasks) = (pinned.to_string(), tasks.to_string());
            return Err(self
                .next_place()
                .key("pinned")
                .error(ProblemErrorKind::PinnedAboveTasks { pinned, tasks }));
        }
        let joined = self.problem.groups.join(member, &self.group_index);
        joined.map_err(|error| error.within(&self.next_place()))?;
        self.problem.users.push(user);
        Ok(())
    }

    pub(crate) fn finish(self) -> Problem {
        self.problem
    }
}

impl ServerClass {
    fn new(spec: ServerSpec, resources: &Index, at: &Place) -> Result<Self, ProblemError> {
        let count = spec.count.unwrap_or_else(|| Rational::from(1));
        let bad = || at.key("count").error(ProblemErrorKind::BadCount(count.to_string()));
        let count = whole(&count, 1).ok_or_else(bad)?;
        let capacity = quantities(spec.capacity, resources, || at.key("capacity"))?;
        Ok(Self { name: spec.name, count, capacity, time_shared: false })
    }
}

impl User {
    fn new<S: AsRef<str> + Into<String>>(
        spec: UserSpec<S>,
        resources: &Index,
        servers: &Index,
    ) -> Result<Self, ProblemError> {
        let at = Place::root();
        let name = spec.name.into();
        let (weight, tasks) = (stated_weight(spec.weight)?, stated_tasks(spec.tasks)?);
        let nothing = || ProblemErrorKind::DemandsNothing(name.clone());
        let base_demand = quantities(spec.demand, resources, || at.key("demand"))?;
        let named = spec.servers.map(|list| server_list(&name, &list, servers));
        let mut named = named.transpose()?.filter(|list| list.len() < servers.len());
        if spec.rates.is_some() {
            let stated = [("demand_on", !spec.demand_on.is_empty()), ("gamma", !spec.gamma.is_empty())];
            if let Some((field, _)) = stated.iter().find(|(_, stated)| *stated) {
                return Err(at.key("rates").error(ProblemErrorKind::RatesNextTo(field)));
            }
        } else if spec.at_most.is_some() {
            return Err(at.key("at_most").error(ProblemErrorKind::AtMostWithoutRates));
        }
        let at_most = spec.at_most.map(|most| positive(most, &|| at.key("at_most"))).transpose()?;
        let stated_rates =
            spec.rates.map(|stated| by_index("server", stated, servers, || at.key("rates"), not_negative));
        let rates = stated_rates.transpose()?.map(|stated| Rates::new(stated, named.as_deref(), at_most));
        if let Some(rates) = &rates {
            if rates.by_class().is_empty() {
                return Err(at.key("rates").error(ProblemErrorKind::NoRate(name)));
            }
            let allowed: Vec<usize> = rates.by_class().iter().map(|(i, _)| *i).collect();
            named = (allowed.len() < servers.len()).then_some(allowed);
        }
        let on_class = |stated: Vec<(S, Rational)>, at: &dyn Fn() -> Place| {
            let demand = quantities(stated, resources, at)?;
            if demand.is_zero() { Err(at().error(nothing())) } else { Ok(demand) }
        };
        let mut demand_overrides =
            by_index("server", spec.demand_on, servers, || at.key("demand_on"), on_class)?;
        if let Some(rates) = rates.as_ref().filter(|_| !base_demand.is_zero()) {
            demand_overrides.extend(rates.demands(&base_demand));
        }
        // An override that repeats the base demand has no effect.
        demand_overrides.retain(|(_, on_class)| *on_class != base_demand);
        let numbers = |stated: Vec<(S, Rational)>, field| {
            by_index("server", stated, servers, || at.key(field), positive)
        };
        let given_gamma = numbers(spec.gamma, "gamma")?;
        let criterion = numbers(spec.criterion, "criterion")?;
        let uses_base_demand =
            |i| lookup(&given_gamma, i).is_none() && lookup(&demand_overrides, i).is_none();
        let needs_demand = match &named {
            Some(list) => list.iter().any(|i| uses_base_demand(*i)),
            None => (0..servers.len()).any(uses_base_demand),
        };
        if base_demand.is_zero() && needs_demand {
            return Err(at.key("demand").error(nothing()));
        }
        Ok(Self {
            name,
            weight,
            tasks,
            base_demand,
            servers: named.map(Arc::from),
            demand_overrides,
            given_gamma,
            criterion,
            rates: rates.map(Arc::new),
        })
    }
}

fn stated_weight(weight: Option<Rational>) -> Result<Rational, ProblemError> {
    positive(weight.unwrap_or_else(|| Rational::from(1)), &|| Place::root().key("weight"))
}

fn stated_tasks(tasks: Option<Rational>) -> Result<Option<Rational>, ProblemError> {
    tasks.map(|tasks| not_negative(tasks, &|| Place::root().key("tasks"))).transpose()
}

fn server_list(user: &str, names: &[impl AsRef<str>], servers: &Index) -> Result<Vec<usize>, ProblemError> {
    let at = || Place::root().key("servers");
    if names.is_empty() {
        return Err(at().error(ProblemErrorKind::NoServerAllowed(user.to_owned())));
    }
    set("server", names.iter().map(AsRef::as_ref), servers, |position| at().index(position))
}

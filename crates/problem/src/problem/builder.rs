//! A problem from what is stated: names become positions, amounts are examined.

use std::collections::HashSet;

use rug::Rational;

use super::{Problem, ServerClass, User, lookup};
use crate::groups::{GroupShareSpec, GroupSpec, Groups, MemberSpec};
use crate::place::Place;
use crate::problem_error::{ProblemError, ProblemErrorKind};
use crate::resolve::{Index, index_names, not_negative, positive, quantities, resolve, whole_count};
use crate::spec::{ServerSpec, UserSpec};

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
        (self.problem.groups, self.group_index) =
            Groups::new(specs, share, &self.resource_index, &self.server_index)?;
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
        // What is said twice makes no difference.
        demand_on.retain(|(_, on_class)| *on_class != demand);
        let user =
            Self { name: spec.name.clone(), weight, tasks, demand, servers, demand_on, gamma, criterion };
        let needs_demand = |i| lookup(&user.gamma, i).is_none() && lookup(&user.demand_on, i).is_none();
        if user.demand.is_zero() && user.classes(names.classes.len()).any(needs_demand) {
            return Err(at.key("demand").error(nothing()));
        }
        Ok(user)
    }
}

/// What a user may name.
struct Names<'a> {
    resources: &'a Index,
    servers: &'a Index,
    classes: &'a [ServerClass],
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

//! Builds the snapshot of a cluster: its server classes, its users, and the placements of running tasks.

use std::collections::{BTreeMap, HashSet};

use evenhand_budget::{charge, room};
use evenhand_problem::groups::{MemberSpec, Named};
use evenhand_problem::on::{OnSpec, ServersSpec};
use evenhand_problem::problem::{Problem, ProblemSpec, ServerSpec, UserSpec};
use evenhand_problem::snapshot::{
    Closed, Constraint, Preemption, Reported, Rounded, Running, Snapshot, Subject, Waiting,
};
use evenhand_problem::{Allocation, Arithmetic, Placement};
use rug::Rational;

use super::classes::{Allowed, Class, Classes, Part, classes};
use super::cluster::{Cluster, Tasks, Traits};
use evenhand_import::ImportError;
use evenhand_import::Ordered;

/// A user of the problem: the tasks of one shape that may use the same set of classes.
#[derive(Clone, PartialEq, Eq, Hash)]
struct UserKey {
    group: Option<usize>,
    demand: Vec<(usize, Rational)>,
    gang: u64,
    /// The position of the user's set of classes in [`Users::sets`].
    classes: usize,
    traits: Traits,
}

/// The users and the sets of classes that users may use. The users are in the order in which the dump first
/// names their tasks.
struct Users {
    list: Ordered<UserKey, UserTasks>,
    sets: Ordered<Vec<usize>, ()>,
}

#[derive(Default)]
struct UserTasks {
    /// The names of the running tasks, by class and by the index of the server in its class.
    running: BTreeMap<(usize, u64), Vec<String>>,
    waiting: Vec<(String, u64, Vec<String>)>,
    admitted: u64,
}

/// Builds a snapshot. `allowed` states for each rule and each profile of a server whether the rule allows
/// servers of this profile.
pub(super) fn build(mut cluster: Cluster, allowed: &Allowed, part: &Part) -> Result<Snapshot, ImportError> {
    known_places(&mut cluster)?;
    let classes = classes(&mut cluster, allowed, part);
    if classes.list.is_empty() {
        return Err(ImportError::Dumps("the dump has no server that a task may use".to_owned()));
    }
    let users = users(&mut cluster, &classes, allowed);
    let problem = problem(&mut cluster, &classes, allowed, &users)?;
    let constraints = constraints(&cluster, &classes, allowed, &users);
    let closed = closed(&cluster, &classes);
    let users: Vec<UserTasks> = users.list.into_entries().into_iter().map(|(_, tasks)| tasks).collect();
    // A class that stands for a quota has no named servers.
    let are_named = |class: &&Class| class.servers.iter().all(|s| !cluster.quotas.contains(s));
    let names = |class: &Class| {
        let servers = Some(class).filter(are_named).into_iter().flat_map(|class| &class.servers);
        servers.map(|s| cluster.servers.entries()[*s].0.clone()).collect()
    };
    let mut servers: Vec<Vec<String>> = classes.list.iter().map(names).collect();
    if servers.iter().all(Vec::is_empty) {
        servers.clear();
    }
    let rounded = rounded(&cluster, &classes);
    let allocation = allocation(&cluster, &problem, &users);
    let reported = reported(&cluster, &problem);
    let mut snapshot = Snapshot::new(problem, allocation);
    snapshot.system = Some(cluster.system);
    snapshot.servers = servers;
    snapshot.reported = reported;
    snapshot.sources = cluster.sources;
    snapshot.not_modelled = cluster.left_out.into_list();
    snapshot.rounded = rounded;
    snapshot.constraints = constraints;
    snapshot.closed = closed;
    let groups = snapshot.problem.groups().list().len();
    let preemption = cluster.preemption.iter().filter(|(group, _)| *group < groups);
    snapshot.preemption =
        preemption.map(|(group, across)| Preemption { group: *group, across: *across }).collect();
    for (n, user) in users.into_iter().enumerate() {
        let waiting = user.waiting.into_iter();
        snapshot.waiting.extend(waiting.map(|(reason, tasks, names)| Waiting {
            user: n,
            tasks,
            names,
            reason,
        }));
        let running = user.running.into_iter();
        let owned = &cluster.owned;
        let since = |name: &String| owned.get(name).map(|of| of.since.as_str()).unwrap_or_default();
        let running = running.map(|((server, index), mut names)| {
            // The oldest task comes first. The sort is stable, so tasks without a start time stay in the
            // order of the dump.
            names.sort_by(|a, b| since(a).cmp(since(b)));
            let owner = |name: &String| owned.get(name).map(|of| of.owner.clone()).unwrap_or_default();
            let owners: Vec<String> = names.iter().map(owner).collect();
            // These systems state the owner of every pod, so an empty owner means that the pod has no owner.
            let is_known = cluster.system.starts_pods_again() && !owned.is_empty();
            let some = |list: Vec<String>, is_known: bool| {
                if is_known || list.iter().any(|of| !of.is_empty()) { list } else { Vec::new() }
            };
            let gang = |name: &String| owned.get(name).map(|of| of.gang.clone()).unwrap_or_default();
            let gangs = some(names.iter().map(gang).collect(), false);
            Running { user: n, server, index, names, owners: some(owners, is_known), gangs }
        });
        snapshot.running.extend(running);
    }
    snapshot.stopped = std::mem::take(&mut cluster.stopped);
    if !cluster.times.is_empty() {
        let running = snapshot.running.iter().flat_map(|of| &of.names);
        let names: HashSet<&str> =
            snapshot.waiting.iter().flat_map(|of| &of.names).chain(running).map(String::as_str).collect();
        cluster.times.retain(|of| names.contains(of.task.as_str()));
        snapshot.times = std::mem::take(&mut cluster.times);
    }
    Ok(snapshot)
}

/// Returns the constraints of all users that have at least one constraint.
fn constraints(cluster: &Cluster, classes: &Classes, allowed: &Allowed, users: &Users) -> Vec<Constraint> {
    let mut list = Vec::new();
    for (user, (key, tasks)) in users.list.entries().iter().enumerate() {
        let own = &users.sets.entries()[key.classes].0;
        let mut class_sets: Vec<Vec<usize>> = Vec::new();
        for rule in &key.traits.one_of {
            let allows = |i: &&usize| allowed[*rule][classes.list[**i].profile];
            let set: Vec<usize> = own.iter().filter(allows).copied().collect();
            if !set.is_empty() && !class_sets.contains(&set) {
                class_sets.push(set);
            }
        }
        // A set that contains all classes of the user has no effect. Sets for a gang of one task
        // have no effect either.
        if key.gang == 1 || class_sets.iter().any(|set| set.len() == own.len()) {
            class_sets.clear();
        }
        let Traits { priority, is_protected, on_distinct_servers, together, not_modelled, .. } =
            key.traits.clone();
        let of = Constraint {
            user,
            priority,
            protected: is_protected,
            distinct_servers: on_distinct_servers && key.gang > 1,
            class_sets,
            together,
            not_modelled,
            admitted: if cluster.quotas.is_empty() { tasks.admitted } else { 0 },
        };
        if of != (Constraint { user, ..Constraint::default() }) {
            list.push(of);
        }
    }
    drop_lone_words(&mut list);
    list
}

/// Removes the key of each user that starts together with no other user.
fn drop_lone_words(list: &mut Vec<Constraint>) {
    let mut count: BTreeMap<String, usize> = BTreeMap::new();
    list.iter().for_each(|of| *count.entry(of.together.clone()).or_default() += 1);
    for of in list.iter_mut().filter(|of| count[&of.together] < 2) {
        of.together.clear();
    }
    list.retain(|of| *of != (Constraint { user: of.user, ..Constraint::default() }));
}

/// Returns the classes whose servers take no new tasks, with the reasons.
fn closed(cluster: &Cluster, classes: &Classes) -> Vec<Closed> {
    let of = |(server, class): (usize, &Class)| {
        let why = cluster.servers.entries()[*class.servers.first()?].1.closed?;
        class.is_closed.then(|| Closed { server, reason: why.to_owned() })
    };
    classes.list.iter().enumerate().filter_map(of).collect()
}

/// Leaves out the tasks on servers that are not in the dump.
fn known_places(cluster: &mut Cluster) -> Result<(), ImportError> {
    if cluster.servers.entries().is_empty() {
        return Err(ImportError::Dumps("the dump has no servers".to_owned()));
    }
    let places = cluster.places.entries().iter();
    let is_known: Vec<bool> = places.map(|(name, ())| cluster.servers.find(name).is_some()).collect();
    if !is_known.is_empty() && !is_known.contains(&true) {
        let name = &cluster.places.entries()[0].0;
        let message = format!(
            "no task runs on a server of the dump: there is no server `{name}`; the files seem to be of different \
            clusters"
        );
        return Err(ImportError::Dumps(evenhand_problem::printable(&message)));
    }
    let mut gone = Vec::new();
    for t in 0..cluster.tasks.entries().len() {
        cluster.tasks.at(t).running.retain_mut(|(place, name)| {
            if !is_known[*place] {
                gone.push(std::mem::take(name));
            }
            is_known[*place]
        });
    }
    gone.into_iter().for_each(|name| {
        cluster.left_out.add("running tasks on servers that the dump does not have", name);
    });
    Ok(())
}

fn users(cluster: &mut Cluster, classes: &Classes, allowed: &Allowed) -> Users {
    let places = cluster.places.entries().iter();
    let at: Vec<Option<(usize, u64)>> =
        places.map(|(name, ())| cluster.servers.find(name).and_then(|s| classes.of[s])).collect();
    let mut users: Ordered<UserKey, UserTasks> = Ordered::default();
    let mut sets: Ordered<Vec<usize>, ()> = Ordered::default();
    let mut by_ask: Ordered<(usize, Named), usize> = Ordered::default();
    let mut by_rule: Ordered<usize, Vec<usize>> = Ordered::default();
    for (shape, tasks) in std::mem::take(&mut cluster.tasks).into_entries() {
        if shape.demand.is_empty() {
            leave_out(cluster, "tasks that request nothing", tasks);
            continue;
        }
        let open = || {
            let allows = |i: &usize| {
                let class = &classes.list[*i];
                !class.is_closed && allowed[shape.rule][class.profile]
            };
            (0..classes.list.len()).filter(allows).collect::<Vec<_>>()
        };
        let may_use = &*by_rule.value(&shape.rule, open);
        // Many shapes have the same rule and demand, so the fitting classes are computed once for each pair.
        let own = *by_ask.value(&(shape.rule, shape.demand.clone()), || {
            charge(
                ((may_use.len() + 1) * shape.demand.len()) as u64,
                "the processing of the classes of users",
            );
            let fits = |i: &&usize| {
                let capacity = &classes.list[**i].capacity;
                shape.demand.iter().all(|(r, amount)| capacity.get(r).is_some_and(|has| amount <= has))
            };
            sets.place(&may_use.iter().filter(fits).copied().collect::<Vec<_>>(), || ())
        });
        charge(1 + shape.demand.len() as u64, "the processing of the users");
        let key = |classes: usize| UserKey {
            group: shape.group,
            demand: shape.demand.clone(),
            gang: shape.gang,
            classes,
            traits: shape.traits.clone(),
        };
        let Tasks { running, waiting, admitted } = tasks;
        for (place, name) in running {
            // Every server with running tasks belongs to a class unless the server is left out.
            let Some((class, index)) = at[place] else { continue };
            let fitting = &sets.entries()[own].0;
            let of = match fitting.binary_search(&class) {
                Ok(_) => key(own),
                Err(position) => {
                    let mut with = fitting.clone();
                    with.insert(position, class);
                    key(sets.place(&with, || ()))
                }
            };
            let user = users.value(&of, UserTasks::default);
            user.running.entry((class, index)).or_default().push(name);
        }
        if sets.entries()[own].0.is_empty() {
            let rest = Tasks { waiting, admitted, ..Tasks::default() };
            let why = nowhere(may_use);
            leave_out(cluster, why, rest);
            continue;
        }
        if admitted > 0 {
            users.value(&key(own), UserTasks::default).admitted += admitted;
        }
        for (reason, waits) in waiting.into_entries() {
            let user = users.value(&key(own), UserTasks::default);
            match user.waiting.iter_mut().find(|(known, ..)| *known == reason) {
                Some((_, tasks, names)) => {
                    *tasks = tasks.saturating_add(waits.tasks);
                    names.extend(waits.names);
                }
                None => user.waiting.push((reason, waits.tasks, waits.names)),
            }
        }
    }
    Users { list: users, sets }
}

/// Returns the description of waiting tasks that do not fit on any class.
fn nowhere(may_use: &[usize]) -> &'static str {
    if may_use.is_empty() {
        return "waiting tasks that no server is allowed to run";
    }
    "waiting tasks that fit on no server that they may use, not even alone"
}

fn leave_out(cluster: &mut Cluster, what: &str, tasks: Tasks) {
    let names: Vec<String> = tasks.running.into_iter().map(|(_, name)| name).collect();
    if !names.is_empty() {
        cluster.left_out.add_many(what, names.len() as u64, names);
    }
    for (_, waits) in tasks.waiting.into_entries() {
        cluster.left_out.add_many(what, waits.tasks, waits.names);
    }
    if tasks.admitted > 0 {
        cluster.left_out.add_many(what, tasks.admitted, Vec::new());
    }
}

fn problem(
    cluster: &mut Cluster,
    classes: &Classes,
    allowed: &Allowed,
    users: &Users,
) -> Result<Problem, ImportError> {
    let resource = |r: usize| cluster.resources.entries()[r].0.clone();
    let bytes: u64 = classes.kept.iter().map(|r| cluster.resources.entries()[*r].0.len() as u64 + 128).sum();
    room(bytes.saturating_mul(classes.list.len() as u64), "the table of server classes and resources");
    let servers = classes.list.iter().map(|class| ServerSpec {
        name: class.name.clone(),
        count: Some(Rational::from(class.servers.len())),
        capacity: class.capacity.iter().map(|(r, amount)| (resource(*r), amount.clone())).collect(),
    });
    let servers = servers.collect();
    let resources: Vec<String> = classes.kept.iter().map(|r| resource(*r)).collect();
    let groups = groups(cluster, classes, allowed, &resources);
    let cluster = &*cluster;
    let resource = |r: usize| cluster.resources.entries()[r].0.clone();
    let group = |v: usize| cluster.groups.entries()[v].0.clone();
    let mut of_group: Ordered<Option<usize>, u64> = Ordered::default();
    let users = users.list.entries().iter().map(|(key, tasks)| {
        let number = of_group.value(&key.group, || 0);
        *number += 1;
        let name = match key.group {
            Some(v) => format!("{}/{number}", group(v)),
            None => format!("tasks/{number}"),
        };
        let set = &users.sets.entries()[key.classes].0;
        let classes_of = (set.len() < classes.list.len())
            .then(|| set.iter().map(|i| classes.list[*i].name.clone()).collect());
        let user = UserSpec {
            name,
            tasks: Some(Rational::from(tasks.count())),
            demand: key.demand.iter().map(|(r, amount)| (resource(*r), amount.clone())).collect(),
            servers: classes_of,
            ..UserSpec::default()
        };
        let gang = (key.gang > 1).then(|| Rational::from(key.gang));
        (user, MemberSpec { group: key.group.map(group), gang, pinned: None })
    });
    let spec = ProblemSpec { name: String::new(), resources, servers, users: Vec::new() };
    Problem::one_by_one(spec, groups, cluster.share.clone(), users).map_err(|error| {
        ImportError::Dumps(format!("no problem can be made of this: {}: {error}", error.place))
    })
}

/// Returns the groups with their limits on classes. Amounts of resources that are not in the problem are left
/// out.
fn groups(
    cluster: &mut Cluster,
    classes: &Classes,
    allowed: &Allowed,
    resources: &[String],
) -> Vec<evenhand_problem::groups::GroupSpec> {
    let mut groups: Vec<_> = cluster.groups.entries().iter().map(|(_, group)| group.clone()).collect();
    let mut on: BTreeMap<(usize, Vec<usize>), BTreeMap<String, Rational>> = BTreeMap::new();
    for limit in &cluster.limits_on {
        let allows = |i: &usize| allowed[limit.rule][classes.list[*i].profile];
        let set: Vec<usize> = (0..classes.list.len()).filter(allows).collect();
        // A limit on all classes is left out if the limit of the whole group is at least as strict.
        let whole = &groups[limit.group].limit;
        let is_new = |(name, most): &&(String, Rational)| {
            let known = whole.iter().find(|(known, _)| known == name);
            set.len() < classes.list.len() || known.is_none_or(|(_, known)| most < known)
        };
        let stated: Vec<_> = limit.limit.iter().filter(is_new).cloned().collect();
        if !set.is_empty() {
            let limits = on.entry((limit.group, set)).or_default();
            for (name, most) in stated {
                // If several flavours have the same servers, their limits add up.
                *limits.entry(name).or_default() += most;
            }
        }
    }
    let mut unknown: Vec<String> = Vec::new();
    for ((v, set), limit) in on {
        let names = set.iter().map(|i| classes.list[*i].name.clone()).collect();
        let limit: Vec<_> = limit.into_iter().filter(|(name, _)| resources.contains(name)).collect();
        groups[v].on.push(OnSpec { servers: ServersSpec::List(names), limit, ..OnSpec::default() });
    }
    for group in &mut groups {
        let mut drop_others = |amounts: &mut Vec<(String, Rational)>| {
            amounts.retain(|(name, _)| {
                let is_kept = resources.contains(name);
                if !is_kept && !unknown.contains(name) {
                    unknown.push(name.clone());
                }
                is_kept
            });
        };
        group.guarantee.iter_mut().for_each(&mut drop_others);
        drop_others(&mut group.limit);
        drop_others(&mut group.lend);
    }
    if !unknown.is_empty() {
        let what = "resources of quotas that no task asks for or no server has";
        cluster.left_out.add_many(what, unknown.len() as u64, unknown);
    }
    groups
}

fn rounded(cluster: &Cluster, classes: &Classes) -> Vec<Rounded> {
    let mut rounded = Vec::new();
    let open = classes.list.iter().enumerate().filter(|(_, class)| !class.is_closed);
    for (server, class) in open {
        for (resource, r) in classes.kept.iter().enumerate() {
            let capacity = &class.capacity[r];
            let has = |s: &usize| cluster.servers.entries()[*s].1.capacity.get(r).unwrap_or(Rational::ZERO);
            let beyond = class.servers.iter().map(|s| Rational::from(has(s) - capacity));
            let (most, in_all) = beyond.fold((Rational::new(), Rational::new()), |(most, sum), beyond| {
                (most.max(beyond.clone()), sum + beyond)
            });
            if in_all > 0 {
                let by_server = (0..).zip(class.servers.iter().map(|s| Rational::from(has(s) - capacity)));
                let by_server = by_server.filter(|(_, beyond)| *beyond > 0).collect();
                rounded.push(Rounded { server, resource, most, in_all, by_server });
            }
        }
    }
    rounded
}

/// Returns the allocation of the running tasks, with their placements. If the dump has quotas instead of nodes, the
/// allocation has no placements, and admitted tasks use capacity of the classes. In all other cases admitted tasks
/// without a server are only part of the constraints.
fn allocation(cluster: &Cluster, problem: &Problem, users: &[UserTasks]) -> Allocation {
    let mut tasks: Vec<Vec<(usize, Rational)>> = Vec::with_capacity(users.len());
    let mut on_servers: BTreeMap<(usize, u64), Vec<(usize, Rational)>> = BTreeMap::new();
    for (n, user) in users.iter().enumerate() {
        let mut by_class: BTreeMap<usize, Rational> = BTreeMap::new();
        for ((class, index), names) in &user.running {
            let count = Rational::from(names.len());
            *by_class.entry(*class).or_default() += &count;
            on_servers.entry((*class, *index)).or_default().push((n, count));
        }
        tasks.push(by_class.into_iter().collect());
    }
    let mut allocation = Allocation { arithmetic: Arithmetic::Exact, tasks, ..Allocation::default() };
    if cluster.quotas.is_empty() {
        let placed = on_servers.into_iter();
        let placed = placed.map(|((server, index), tasks)| Placement { server, index, tasks });
        allocation.placements = Some(placed.collect());
    } else {
        admit(&mut allocation, problem, users);
    }
    allocation
}

/// Assigns admitted tasks to classes: to each class as many tasks as fit into its free capacity, and all
/// other tasks to the first class.
fn admit(allocation: &mut Allocation, problem: &Problem, users: &[UserTasks]) {
    let mut free: Vec<Vec<Rational>> = problem
        .servers()
        .iter()
        .map(|class| class.capacity().iter().map(|amount| Rational::from(amount * class.count())).collect())
        .collect();
    for (n, row) in allocation.tasks.iter().enumerate() {
        for (i, tasks) in row {
            for (r, demand) in problem.demand(n, *i).entries() {
                free[*i][*r] -= Rational::from(demand * tasks);
            }
        }
    }
    for (n, user) in users.iter().enumerate().filter(|(_, user)| user.admitted > 0) {
        let mut left = Rational::from(user.admitted);
        let demand = problem.users()[n].base_demand().entries();
        let classes: Vec<usize> = problem.classes_of(n).collect();
        let mut given: BTreeMap<usize, Rational> = allocation.tasks[n].iter().cloned().collect();
        for (position, i) in classes.iter().chain(classes.first()).enumerate() {
            let room = demand.iter().map(|(r, amount)| Rational::from(&free[*i][*r] / amount).floor()).min();
            let is_last = position == classes.len();
            let room = room.unwrap_or_default().max(Rational::new());
            let tasks = if is_last { left.clone() } else { room.min(left.clone()) };
            if tasks.is_zero() {
                continue;
            }
            left -= &tasks;
            demand.iter().for_each(|(r, amount)| free[*i][*r] -= Rational::from(amount * &tasks));
            *given.entry(*i).or_default() += tasks;
        }
        allocation.tasks[n] = given.into_iter().collect();
    }
}

fn reported(cluster: &Cluster, problem: &Problem) -> Vec<Reported> {
    let groups = problem.groups().list();
    let index: std::collections::HashMap<&str, usize> =
        groups.iter().enumerate().map(|(v, group)| (group.name.as_str(), v)).collect();
    let said = cluster.reported.iter().filter_map(|said| {
        let of = match &said.group {
            Some(name) => Subject::Group(*index.get(name.as_str())?),
            None => Subject::Cluster,
        };
        let (what, resource) = (said.what.to_owned(), said.resource.clone());
        Some(Reported { of, what, resource, value: said.value.clone() })
    });
    said.collect()
}

impl UserTasks {
    fn count(&self) -> u64 {
        let running: usize = self.running.values().map(Vec::len).sum();
        let waiting: u64 = self.waiting.iter().map(|(_, tasks, _)| tasks).sum();
        running as u64 + waiting + self.admitted
    }
}

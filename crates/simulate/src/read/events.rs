//! Reads servers that come, go and change, at stated times or by the machine events of a trace.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use evenhand_budget::charge;
use evenhand_import::{ImportError, Input, MachineChange, MachineEvents};
use evenhand_mechanisms::filling::MAX_SERVERS;
use evenhand_problem::format::Document;
use evenhand_problem::{Problem, ProblemSpec, Rational, ServerSpec, hint, printable};
use serde_json::value::RawValue;

use crate::cost::Growing;
use crate::fields::{Fields, Read, count, not_before, not_negative, text};
use crate::machines::{Machines, Places};

/// The largest number of servers and capacities that all events together may affect. Visiting a server or
/// capacity takes about a nanosecond.
const MOST_CONCERNED: usize = 2_000_000_000;
/// The largest number of changes of servers. A change takes about 80 bytes.
const MOST_CHANGES: usize = 20_000_000;

/// Bytes of a machine with its places.
const OF_MACHINE: u64 = 200;
/// Bytes of a change, with its entry in the history of a machine.
const OF_CHANGE: u64 = 100;
/// Elementary steps for a server that an event concerns.
const CONCERNED: u64 = 3;

/// The amount of each resource, with the resource's name.
type Capacity = Vec<(String, Rational)>;

/// The servers of one name.
struct Kind {
    name: String,
    /// The machines, in the order in which they first came.
    machines: Vec<usize>,
    /// The capacities so far, each with the index of its class.
    classes: Vec<(Capacity, usize)>,
}

/// The servers after the events so far.
struct Cluster {
    places: Places,
    classes: Vec<ServerSpec>,
    /// The names of the classes.
    names: HashSet<String>,
    kinds: Vec<Kind>,
    by_name: HashMap<String, usize>,
    /// The number of servers and capacities that the events so far concerned.
    concerned: usize,
    memory: Growing,
}

/// Servers that change: their classes, their changes, and for each name the classes that its servers have
/// over time.
pub(super) struct Changing {
    pub servers: Vec<ServerSpec>,
    pub machines: Machines,
    pub classes: HashMap<String, Vec<String>>,
}

impl Cluster {
    fn new() -> Self {
        Self {
            places: Places::default(),
            classes: Vec::new(),
            names: HashSet::new(),
            kinds: Vec::new(),
            by_name: HashMap::new(),
            concerned: 0,
            memory: Growing::new("the list of servers that come and go"),
        }
    }

    fn add_kind(&mut self, name: String) -> usize {
        self.by_name.insert(name.clone(), self.kinds.len());
        self.kinds.push(Kind { name, machines: Vec::new(), classes: Vec::new() });
        self.kinds.len() - 1
    }

    /// Returns the class of a kind of servers with this capacity. Creates the class if it does not exist.
    fn class(&mut self, kind: usize, capacity: Capacity) -> usize {
        let known = self.kinds[kind].classes.iter().find(|(of, _)| *of == capacity);
        if let Some((_, class)) = known {
            return *class;
        }
        let base = &self.kinds[kind].name;
        let is_free = |name: &String| !self.names.contains(name);
        let numbered = (self.kinds[kind].classes.len().max(1) + 1..).map(|n| format!("{base} {n}"));
        let name = std::iter::once(base.clone()).chain(numbered).find(is_free).unwrap_or_default();
        self.names.insert(name.clone());
        let class = self.places.add_class();
        self.classes.push(ServerSpec { name, count: None, capacity: capacity.clone() });
        self.kinds[kind].classes.push((capacity, class));
        class
    }

    /// Returns the machines of a kind that are present if `there` is true, or else the machines that are
    /// away.
    fn machines(&self, kind: usize, there: bool) -> Vec<usize> {
        let is = |machine: &usize| self.places.class(*machine).is_some() == there;
        self.kinds[kind].machines.iter().copied().filter(is).collect()
    }

    fn finish(self) -> Changing {
        let (servers, machines, parts) = self.places.finish(&self.classes);
        let names = |(_, class): &(Capacity, usize)| -> Vec<String> {
            parts[*class].iter().map(|part| servers[*part].name.clone()).collect()
        };
        let of_kind = |kind: &Kind| (kind.name.clone(), kind.classes.iter().flat_map(names).collect());
        let classes = self.kinds.iter().map(of_kind).collect();
        Changing { servers, machines, classes }
    }
}

/// Reads the events of a scenario that change its stated servers.
pub(super) fn events<'t>(
    document: &Document<'t>,
    raw: &'t RawValue,
    servers: &[ServerSpec],
    resources: &[String],
) -> Read<Changing> {
    let stated = ProblemSpec { resources: resources.to_vec(), servers: servers.to_vec(), ..<_>::default() };
    let problem = Problem::new(stated).map_err(|error| document.problem_error(&error))?;
    if problem.n_single_servers() > u128::from(MAX_SERVERS) {
        let message = format!(
            "the events concern {} single servers, more than {MAX_SERVERS}",
            problem.n_single_servers()
        );
        return Err(document.error_on_key(raw, message));
    }
    let mut cluster = Cluster::new();
    cluster.memory.need((OF_MACHINE + OF_CHANGE) * problem.n_single_servers() as u64);
    for (class, spec) in problem.servers().iter().zip(servers) {
        let kind = cluster.add_kind(spec.name.clone());
        let of = cluster.class(kind, spec.capacity.clone());
        for _ in 0..class.count() {
            let machine = cluster.places.add_machine();
            cluster.places.comes(0.0, machine, of);
            cluster.kinds[kind].machines.push(machine);
        }
    }
    let mut before = 0.0;
    for raw in document.list(raw)? {
        let object = document.object(raw)?;
        let fields = Fields { document, object };
        before = not_before(document, raw, before, fields.needed("at", not_negative)?)?;
        event(&fields, before, resources, &mut cluster)?;
    }
    Ok(cluster.finish())
}

fn event(fields: &Fields<'_, '_>, at: f64, resources: &[String], cluster: &mut Cluster) -> Read<()> {
    let document = fields.document;
    fields.object.only(document, &["at", "server", "add", "remove", "capacity", "count"])?;
    let capacity = fields.optional("capacity", |document, raw| capacity(document, raw, resources))?;
    let name = fields.need("server")?;
    let (kind, is_new) = kind_of(document, name, fields.get("add").is_some() && capacity.is_some(), cluster)?;
    let concerned = cluster.kinds[kind].machines.len() + cluster.kinds[kind].classes.len();
    charge(CONCERNED * concerned as u64, "the processing of the events of servers");
    cluster.concerned += concerned;
    let (machines, changes) = (cluster.places.len(), cluster.places.n_changes() as u64);
    let added = fields.optional("add", count).ok().flatten().unwrap_or(0).min(MAX_SERVERS);
    // All servers may change once more.
    let needed = OF_MACHINE * (machines + added) + OF_CHANGE * (changes + machines + added);
    cluster.memory.need(needed);
    if cluster.concerned > MOST_CONCERNED || cluster.places.n_changes() > MOST_CHANGES {
        let message = format!(
            "the events before this one change more than {MOST_CHANGES} servers, one by one, \
             or concern more than {MOST_CONCERNED}"
        );
        return Err(fields.error(message));
    }
    match (fields.get("add"), fields.get("remove"), capacity) {
        (Some(add), None, capacity) => {
            let why = "servers of this name exist already: use `add` without `capacity` to add more of them";
            fields.refuse("capacity", !is_new, why)?;
            let number = count(document, add)?;
            let back = cluster.machines(kind, false);
            let fresh = number.saturating_sub(back.len() as u64);
            if cluster.places.len().saturating_add(fresh) > MAX_SERVERS {
                let message = format!("found {number}: there would be more than {MAX_SERVERS} servers");
                return Err(document.error(add, message));
            }
            // Servers that are away come back with the capacity that they had. New servers have the stated capacity, or
            // the first capacity of their name.
            for machine in back.into_iter().take(usize::try_from(number).unwrap_or(usize::MAX)) {
                if let Some(class) = cluster.places.last_class(machine) {
                    cluster.places.comes(at, machine, class);
                }
            }
            let stated = capacity.or_else(|| Some(cluster.kinds[kind].classes.first()?.0.clone()));
            let class = cluster.class(kind, stated.unwrap_or_default());
            for _ in 0..fresh {
                let machine = cluster.places.add_machine();
                cluster.places.comes(at, machine, class);
                cluster.kinds[kind].machines.push(machine);
            }
        }
        (None, Some(remove), None) => {
            let there = cluster.machines(kind, true);
            let number = at_most(document, remove, there.len(), at)?;
            there.iter().rev().take(number).for_each(|machine| cluster.places.goes(at, *machine));
        }
        (None, None, Some(capacity)) => {
            let there = cluster.machines(kind, true);
            let most = fields.optional("count", |document, raw| at_most(document, raw, there.len(), at))?;
            let class = cluster.class(kind, capacity);
            let changed = there.iter().take(most.unwrap_or(there.len()));
            changed.for_each(|machine| cluster.places.becomes(at, *machine, class));
            return Ok(());
        }
        _ => {
            let why = "expected one of `add`, `remove` and `capacity`";
            return Err(fields.error(why));
        }
    }
    fields.refuse("count", true, "`count` needs `capacity`: it says how many servers get another capacity")
}

/// Returns the index of the servers of a name, and whether the name is new. If `may_be_new` is true, an
/// unknown name gets an entry without servers.
fn kind_of(
    document: &Document<'_>,
    raw: &RawValue,
    may_be_new: bool,
    cluster: &mut Cluster,
) -> Read<(usize, bool)> {
    let name = text(document, raw)?;
    if let Some(kind) = cluster.by_name.get(&name) {
        return Ok((*kind, false));
    }
    if may_be_new {
        return Ok((cluster.add_kind(name), true));
    }
    let near = hint(&name, cluster.kinds.iter().map(|kind| kind.name.as_str()));
    let message = format!(
        "there is no server `{}`{near}: `add` with a `capacity` adds servers of a new name",
        printable(&name)
    );
    Err(document.error(raw, message))
}

/// Reads a number of servers, which must be at most the number of present servers.
fn at_most(document: &Document<'_>, raw: &RawValue, there: usize, at: f64) -> Read<usize> {
    let number = count(document, raw)?;
    usize::try_from(number).ok().filter(|number| *number <= there).ok_or_else(|| {
        let message = format!("found {number}: {there} servers of this name exist at time {at}");
        document.error(raw, message)
    })
}

fn capacity<'t>(document: &Document<'t>, raw: &'t RawValue, resources: &[String]) -> Read<Capacity> {
    let mut capacity = Capacity::new();
    for (name, raw) in document.object(raw)?.fields() {
        capacity.push((name.clone().into_owned(), document.quantity(raw)?));
    }
    let servers = vec![ServerSpec { name: "server".to_owned(), count: None, capacity: capacity.clone() }];
    let spec = ProblemSpec { resources: resources.to_vec(), servers, ..ProblemSpec::default() };
    Problem::new(spec).map_err(|error| document.error(raw, error.kind.to_string()))?;
    Ok(capacity)
}

/// Reads the machines of the Google trace over time, with notes on events that are left out.
pub(super) fn google(path: &Path) -> Result<(Changing, Vec<String>), ImportError> {
    let mut events = MachineEvents::new(Input::open(path)?);
    let mut places = Places::default();
    let (mut n_classes, mut n_machines) = (0, 0);
    while let Some(event) = events.next_event()? {
        while n_classes < events.classes().len() {
            n_classes = places.add_class() + 1;
        }
        while n_machines <= event.machine {
            n_machines = places.add_machine() + 1;
        }
        match event.change {
            MachineChange::Comes(class) => places.comes(event.at, event.machine, class),
            MachineChange::Goes => places.goes(event.at, event.machine),
            MachineChange::Becomes(class) => places.becomes(event.at, event.machine, class),
        }
    }
    let (servers, machines, parts) = places.finish(events.classes());
    let notes = events.notes().iter().map(ToString::to_string).collect();
    let names = |parts: Vec<usize>| parts.into_iter().map(|part| servers[part].name.clone()).collect();
    let stated = events.classes().iter().map(|class| class.name.clone());
    let classes = stated.zip(parts.into_iter().map(names)).collect();
    Ok((Changing { servers, machines, classes }, notes))
}

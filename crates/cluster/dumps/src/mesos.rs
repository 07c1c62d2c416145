//! The importer for Mesos: frameworks of roles, and agents.
//!
//! Follows Mesos 0.19 to 1.11: the master's `/state` (agents as `slaves`, frameworks with their tasks) and
//! `/roles` (weights and quotas), <https://mesos.apache.org/documentation/latest/endpoints>. Scalars are
//! rounded to three decimals, as in Mesos. A megabyte has 2^20 bytes.
//!
//! A role is a group. Its name states its position in the tree of roles (`eng/ml`). Each framework is a group
//! below its role. Mesos offers resources and does not know which tasks frameworks still want to start, so
//! all tasks of a snapshot run.

use std::collections::{HashMap, HashSet};

use evenhand_problem::groups::MOST_DEPTH;
use evenhand_problem::snapshot::{Origin, Snapshot, System};
use rug::Rational;

use super::build::build;
use super::classes::Part;
use super::cluster::{Amounts, Cluster, Server, add, take};
use super::source::Bytes;
use super::tree::{At, Item};
use super::{lacks, values};
use evenhand_import::ImportError;

const LISTS: &[&[&str]] = &[&["slaves"], &["frameworks"], &["roles"]];
const SKIP: &[&str] = &[
    "completed_tasks",
    "completed_executors",
    "completed_frameworks",
    "offers",
    "statuses",
    "flags",
    "labels",
    "container",
    "discovery",
    "unregistered_frameworks",
];
/// The number of bytes of a megabyte of Mesos.
const MEGABYTE: u32 = 1 << 20;
/// The states in which a task uses resources.
const HOLDING: [&str; 4] = ["TASK_STAGING", "TASK_STARTING", "TASK_RUNNING", "TASK_KILLING"];

struct Mesos {
    cluster: Cluster,
    /// The ids of frameworks.
    frameworks: HashSet<String>,
    /// The id of the framework of a group, keyed by the position of the group.
    owners: HashMap<usize, String>,
    has_roles: bool,
}

pub(super) fn read(inputs: Vec<Bytes>, part: &Part) -> Result<Snapshot, ImportError> {
    let cluster = Cluster::new(System::Mesos, &["cpus", "mem"]);
    let mut mesos = Mesos { cluster, frameworks: HashSet::new(), owners: HashMap::new(), has_roles: false };
    let (mut has_agents, mut has_frameworks) = (false, false);
    for mut bytes in inputs {
        let (mut version, mut time) = (String::new(), String::new());
        let mut receive = |item: Item<'_>| {
            let at = item.at();
            match item.place.to_string().split('[').next().unwrap_or_default() {
                "slaves" => mesos.agent(at),
                "frameworks" => mesos.framework(at),
                "roles" => mesos.role(at),
                "" if item.place.steps().is_empty() => {
                    if let Some(of) = at.text_of("version")? {
                        version = format!("Mesos {of}");
                    }
                    if let Some(started) = at.get("elected_time")? {
                        time = format!("leading since {}", started.scalar()?);
                    }
                    has_agents |= at.names("slaves");
                    has_frameworks |= at.names("frameworks");
                    if LISTS.iter().any(|list| at.names(list[0])) {
                        return Ok(());
                    }
                    let message = "found neither `slaves` nor `frameworks` nor `roles`: expected /state or /roles of a master";
                    Err(at.error(message))
                }
                _ => Err(at.error("expected an object with the lists `slaves` and `frameworks`, or `roles`")),
            }
        };
        values(&mut bytes, LISTS, SKIP, &mut receive)?;
        let sha256 = bytes.sha256();
        mesos.cluster.sources.push(Origin { file: bytes.file.clone(), version, time, sha256 });
    }
    let state = "curl http://MASTER:5050/state > state.json";
    lacks(!has_agents, "agents (the list `slaves`)", state)?;
    lacks(!has_frameworks, "frameworks", state)?;
    let left_out = &mut mesos.cluster.left_out;
    left_out.add_many(
        "tasks for which frameworks wait, which Mesos does not know",
        mesos.frameworks.len() as u64,
        Vec::new(),
    );
    if !mesos.has_roles {
        let what = "weights and quotas of roles: no file has /roles, so roles count as equal";
        left_out.add_many(what, 0, Vec::new());
    }
    build(mesos.cluster, &vec![vec![true]], part)
}

/// Reads the name of a role. Slashes separate the levels of the tree.
fn role_name(at: At<'_>) -> Result<&str, ImportError> {
    let role = at.name()?;
    let levels = role.split('/').count();
    match levels > MOST_DEPTH {
        true => Err(at.error(format!("a role of {levels} levels: expected at most {MOST_DEPTH}"))),
        false => Ok(role),
    }
}

impl Mesos {
    /// Reads scalars, keyed by resource. Ranges, such as ports, and sets are ignored.
    fn amounts(&mut self, at: Option<At<'_>>) -> Result<Amounts, ImportError> {
        let mut amounts = Amounts::new();
        let Some(at) = at else { return Ok(amounts) };
        for (name, value) in at.entries()? {
            if value.is_text() {
                continue;
            }
            let thousandths = (value.number()? * 1000u32).round();
            let mut amount = thousandths / 1000u32;
            if matches!(name, "mem" | "disk") {
                amount *= MEGABYTE;
            }
            amounts.insert(self.cluster.resource(name), amount);
        }
        Ok(amounts)
    }

    fn agent(&mut self, at: At<'_>) -> Result<(), ImportError> {
        let id = at.need("id")?.name()?;
        if self.cluster.servers.find(id).is_some() {
            return Err(at.error(format!("the agent `{id}` is given twice")));
        }
        let capacity = self.amounts(Some(at.need("resources")?))?;
        let is_off =
            |name: &str, off: bool| Ok::<_, ImportError>(at.get(name)?.map_or(Ok(!off), At::boolean)? == off);
        let closed = if is_off("active", false)? {
            Some("servers that are not connected")
        } else if is_off("deactivated", true)? {
            Some("servers that are deactivated: they take no new tasks")
        } else {
            None
        };
        if at.entries_of("reserved_resources")?.next().is_some() {
            self.cluster
                .left_out
                .add("servers with resources reserved for a role, which count for all roles", id);
        }
        if at.entries_of("attributes")?.next().is_some() {
            self.cluster.left_out.add("attributes of servers, which frameworks may require", id);
        }
        let server = Server { capacity, closed, hint: "agent".to_owned(), profile: 0 };
        self.cluster.servers.value(id, || server);
        Ok(())
    }

    fn framework(&mut self, at: At<'_>) -> Result<(), ImportError> {
        let id = at.need("id")?.name()?;
        let name = at.need("name")?.text()?;
        if !self.frameworks.insert(id.to_owned()) {
            return Err(at.error(format!("the framework `{id}` is given twice")));
        }
        let own_role = at.get("role")?.map_or(Ok("*"), role_name)?;
        let roles: Vec<&str> = at.list_of("roles")?.map(role_name).collect::<Result<_, _>>()?;
        let mut held = Amounts::new();
        for task in at.list_of("tasks")? {
            let state = task.need("state")?.text()?;
            let task_name = task.need("id")?.name()?;
            if !HOLDING.contains(&state) {
                if matches!(state, "TASK_UNREACHABLE" | "TASK_LOST" | "TASK_UNKNOWN") {
                    self.cluster.left_out.add("tasks on unreachable servers", task_name);
                }
                continue;
            }
            let demand = self.amounts(Some(task.need("resources")?))?;
            add(&mut held, &demand);
            let role = match task.get("role")? {
                Some(role) => role_name(role)?,
                None => roles.first().copied().unwrap_or(own_role),
            };
            let group = self.group(role, name, id);
            let place = self.cluster.place(task.need("slave_id")?.name()?);
            self.cluster.tasks(Some(group), &demand, 0, 1).runs(place, task_name);
        }
        if let Some(used) = at.get("used_resources")? {
            let mut used = self.amounts(Some(used))?;
            take(&mut used, &held);
            if used.values().any(|rest| !rest.is_zero()) {
                self.cluster.left_out.add("usage of frameworks beyond their tasks (executors)", name);
            }
        }
        if at.list_of("unreachable_tasks")?.next().is_some() {
            self.cluster.left_out.add("frameworks with unreachable tasks", name);
        }
        Ok(())
    }

    /// Returns the group of a framework of a role.
    fn group(&mut self, role: &str, framework: &str, id: &str) -> usize {
        self.role_group(role);
        let name = format!("{role}: {framework}");
        // The ids of two frameworks with the same name distinguish their groups.
        let has_other_owner = |group: usize| self.owners.get(&group).is_some_and(|owner| owner != id);
        let name = match self.cluster.groups.find(&name) {
            Some(group) if has_other_owner(group) => format!("{name} ({id})"),
            _ => name,
        };
        let group = self.cluster.group(&name);
        self.cluster.groups.at(group).parent = Some(role.to_owned());
        self.owners.entry(group).or_insert_with(|| id.to_owned());
        group
    }

    /// Returns the group of a role. A new group is added, together with the groups of the roles above it.
    fn role_group(&mut self, role: &str) -> usize {
        if let Some(known) = self.cluster.groups.find(role) {
            return known;
        }
        self.cluster.copies(4, role.len(), "the roles above a role");
        let group = self.cluster.group(role);
        if let Some((above, _)) = role.rsplit_once('/')
            && !above.is_empty()
        {
            self.role_group(above);
            self.cluster.groups.at(group).parent = Some(above.to_owned());
        }
        group
    }

    fn role(&mut self, at: At<'_>) -> Result<(), ImportError> {
        self.has_roles = true;
        let name = role_name(at.need("name")?)?;
        let group = self.role_group(name);
        if let Some(weight) = at.get("weight")? {
            self.cluster.groups.at(group).weight = Some(weight.number()?);
        }
        let Some(quota) = at.get("quota")? else { return Ok(()) };
        let mut named = |of: &str| -> Result<Vec<(String, Rational)>, ImportError> {
            let amounts = self.amounts(quota.get(of)?)?;
            let names = self.cluster.resources.entries();
            Ok(amounts.into_iter().map(|(r, amount)| (names[r].0.clone(), amount)).collect())
        };
        let (guarantee, limit) = (named("guarantee")?, named("limit")?);
        let spec = self.cluster.groups.at(group);
        spec.guarantee = (!guarantee.is_empty()).then_some(guarantee);
        spec.limit = limit;
        Ok(())
    }
}

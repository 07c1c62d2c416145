//! The importer for `YuniKorn`: applications in a tree of queues.
//!
//! Follows `YuniKorn` 1.2 to 1.9: `/ws/v1/fullstatedump` with `queues`, `nodes` and `applications`
//! (`pkg/webservice/dao` of yunikorn-core), <https://yunikorn.apache.org/docs/api/scheduler>. A `vcore` of
//! the dump is a thousandth of a processor. The snapshot counts whole processors.
//!
//! The name of a group is the full name of its queue, such as `root.a.b`. The queue `root` is the root of the
//! tree and not a group. A placeholder reserves resources for a pod that will replace it, so only the
//! placeholder or the pod counts.

use std::collections::{HashMap, HashSet};

use evenhand_problem::groups::{GroupShareSpec, ShareOver};
use evenhand_problem::snapshot::{Origin, Snapshot, System};
use rug::Rational;

use super::build::build;
use super::classes::Part;
use super::cluster::{Amounts, Cluster, MOST_TASK_NAMES, ReportedNumber, Server, take};
use super::source::Bytes;
use super::tree::{At, Item};
use super::{lacks, values};
use evenhand_import::ImportError;
use evenhand_import::Ordered;

const LISTS: &[&[&str]] = &[&["queues"], &["nodes"], &["applications"]];
const SKIP: &[&str] = &[
    "appHistory",
    "containerHistory",
    "stateLog",
    "resourceHistory",
    "allocationLog",
    "eventStreams",
    "placementRules",
    "rmDiagnostics",
    "utilized",
];
/// The number of units of `vcore` for one processor.
const PARTS: u32 = 1000;
/// The largest number of pending copies of one request, in versions that count copies.
const MOST_COPIES: u64 = 1_000_000;
/// The states of applications that have ended.
const ENDED: [&str; 5] = ["Completed", "Rejected", "Failed", "Expired", "Killed"];

struct Yunikorn {
    cluster: Cluster,
    /// The rules of tasks. A rule is the name of the only allowed server, or `None` if all servers are
    /// allowed.
    rules: Ordered<Option<String>, ()>,
    partition: Option<String>,
    queues: HashSet<String>,
    /// The queue of each application, keyed by the id of the application.
    applications: Ordered<String, String>,
    without_guarantee: Vec<String>,
}

/// A task of an application.
struct Ask {
    name: String,
    demand: Amounts,
    copies: u64,
    /// The node on which the task runs. `None` if the task waits.
    node: Option<String>,
    /// The group of tasks that start together. `None` if the task starts alone.
    task_group: Option<String>,
    is_placeholder: bool,
    /// The only node that the task may use. `None` if the task requires no node.
    required: Option<String>,
}

pub(super) fn read(inputs: Vec<Bytes>, part: &Part) -> Result<Snapshot, ImportError> {
    let mut cluster = Cluster::new(System::Yunikorn, &["vcore", "memory"]);
    cluster.share = GroupShareSpec { over: ShareOver::Guarantee, ..GroupShareSpec::default() };
    let mut yunikorn = Yunikorn {
        cluster,
        rules: Ordered::default(),
        partition: None,
        queues: HashSet::new(),
        applications: Ordered::default(),
        without_guarantee: Vec::new(),
    };
    let mut found: Vec<&str> = Vec::new();
    for mut bytes in inputs {
        let mut time = String::new();
        let mut receive = |item: Item<'_>| {
            let at = item.at();
            match item.place.to_string().split('[').next().unwrap_or_default() {
                "queues" => yunikorn.queue(at, None),
                "nodes" => yunikorn.nodes(at),
                "applications" => yunikorn.application(at),
                "" if at.is_document() => {
                    if let Some(stamp) = at.get("timestamp")? {
                        time = format!("{} ns since 1970", stamp.scalar()?);
                    }
                    yunikorn.limits_of_users(at)?;
                    let lists = LISTS.iter().map(|list| list[0]).filter(|list| at.names(list));
                    let known = found.len();
                    found.extend(lists);
                    if found.len() > known {
                        return Ok(());
                    }
                    let message = "found neither `queues` nor `nodes` nor `applications`: expected /ws/v1/fullstatedump";
                    Err(at.error(message))
                }
                _ => Err(at.error("expected an object with the lists `queues`, `nodes` and `applications`")),
            }
        };
        values(&mut bytes, LISTS, SKIP, &mut receive)?;
        let version = "YuniKorn, /ws/v1/fullstatedump".to_owned();
        let sha256 = bytes.sha256();
        yunikorn.cluster.sources.push(Origin { file: bytes.file.clone(), version, time, sha256 });
    }
    for list in LISTS {
        let command = "curl http://SCHEDULER:9080/ws/v1/fullstatedump > dump.json";
        lacks(!found.contains(&list[0]), list[0], command)?;
    }
    yunikorn.finish(part)
}

impl Yunikorn {
    fn amounts(&mut self, at: At<'_>, field: &str) -> Result<Amounts, ImportError> {
        let mut amounts = Amounts::new();
        for (name, value) in at.entries_of(field)? {
            let mut amount = value.number()?;
            if name == "vcore" {
                amount /= PARTS;
            }
            amounts.insert(self.cluster.resource(name), amount);
        }
        Ok(amounts)
    }

    fn named(&mut self, at: At<'_>, field: &str) -> Result<Vec<(String, Rational)>, ImportError> {
        let amounts = self.amounts(at, field)?;
        let names = self.cluster.resources.entries();
        Ok(amounts.into_iter().map(|(r, amount)| (names[r].0.clone(), amount)).collect())
    }

    /// Refuses a second partition, because partitions share no servers and are separate clusters.
    fn of_partition(&mut self, at: At<'_>, field: &str) -> Result<(), ImportError> {
        let Some(of) = at.text_of(field)? else { return Ok(()) };
        // `[cluster]name` and `name` are the same partition.
        let of = of.rsplit(']').next().unwrap_or(of);
        match &self.partition {
            Some(known) if known != of => Err(at.error(format!(
                "found the partitions `{known}` and `{of}`: expected one, since partitions share no servers"
            ))),
            _ => {
                self.partition = Some(of.to_owned());
                Ok(())
            }
        }
    }

    fn queue(&mut self, at: At<'_>, parent: Option<(&str, bool)>) -> Result<(), ImportError> {
        let name = at.need("queuename")?.name()?;
        self.of_partition(at, "partition")?;
        if !self.queues.insert(name.to_owned()) {
            return Err(at.error(format!("the queue `{name}` is given twice")));
        }
        let guarantee = self.named(at, "guaranteedResource")?;
        let limit = self.named(at, "maxResource")?;
        if let Some((above, by_priority)) = parent {
            if !name.strip_prefix(above).is_some_and(|rest| rest.starts_with('.')) {
                return Err(at.error(format!(
                    "the queue `{name}` is below `{above}`: expected a name that begins with `{above}.`"
                )));
            }
            let group = self.cluster.group(name);
            let offset = at.get("priorityOffset")?.map_or(Ok(0), At::integer)?;
            let spec = self.cluster.groups.at(group);
            // The queue `root` is the root of the tree and not a group.
            spec.parent = above.contains('.').then(|| above.to_owned());
            spec.priority = by_priority.then(|| Rational::from(offset));
            if guarantee.is_empty() {
                self.without_guarantee.push(name.to_owned());
            } else {
                spec.guarantee = Some(guarantee);
            }
            spec.limit = limit;
            for (field, what) in [
                ("allocatedResource", "allocatedResource"),
                ("pendingResource", "pendingResource"),
                ("absUsedCapacity", "absUsedCapacity"),
            ] {
                for (resource, value) in self.shown(at, field)? {
                    let (group, resource) = (Some(name.to_owned()), Some(resource));
                    self.cluster.reported.push(ReportedNumber { group, what, resource, value: Some(value) });
                }
            }
        } else if !guarantee.is_empty() {
            self.cluster.left_out.add("a guarantee of the root queue, which has the whole cluster", name);
        }
        if at.get("maxRunningApps")?.map_or(Ok(0), At::whole)? > 0 {
            self.cluster.left_out.add("how many applications a queue may run at once", name);
        }
        if matches!(at.text_of("status")?, Some("Draining" | "Stopped")) {
            self.cluster
                .left_out
                .add("queues that are draining or stopped, which take new tasks in the problem", name);
        }
        if at.get("isLeaf")?.map_or(Ok(true), At::boolean)? && at.text_of("sortingPolicy")? == Some("fifo") {
            self.cluster.left_out.add("queues that serve their applications in the order of arrival", name);
        }
        let by_priority = at.get("prioritySorting")?.map_or(Ok(true), At::boolean)?;
        for child in at.list_of("children")? {
            self.queue(child, Some((name, by_priority)))?;
        }
        Ok(())
    }

    /// Reads amounts that are only reported. Percentages keep their unit.
    fn shown(&mut self, at: At<'_>, field: &str) -> Result<Vec<(String, Rational)>, ImportError> {
        let is_percentage = field == "absUsedCapacity";
        let of = at.entries_of(field)?.map(|(name, value)| {
            let amount = value.number()?;
            let amount = if name == "vcore" && !is_percentage { amount / PARTS } else { amount };
            Ok((name.to_owned(), amount))
        });
        of.collect()
    }

    fn nodes(&mut self, at: At<'_>) -> Result<(), ImportError> {
        if at.names("nodesInfo") {
            self.of_partition(at, "partitionName")?;
            return at.list_of("nodesInfo")?.try_for_each(|node| self.node(node));
        }
        if at.names("nodeID") { self.node(at) } else { Ok(()) }
    }

    fn node(&mut self, at: At<'_>) -> Result<(), ImportError> {
        let id = at.need("nodeID")?.name()?;
        if self.cluster.servers.find(id).is_some() {
            return Err(at.error(format!("the node `{id}` is given twice")));
        }
        at.need("capacity")?;
        let mut capacity = self.amounts(at, "capacity")?;
        let occupied = self.amounts(at, "occupied")?;
        if !take(&mut capacity, &occupied) {
            self.cluster.left_out.add("servers whose foreign pods take more than the servers have", id);
        }
        let is_open = at.get("schedulable")?.map_or(Ok(true), At::boolean)?;
        let closed = (!is_open).then_some("servers that are not schedulable: they take no new tasks");
        if at.is_true("isReserved")? {
            self.cluster
                .left_out
                .add("servers that are reserved for a request, which count for all requests", id);
        }
        let attribute = |name: &str| match at.get("attributes")? {
            Some(of) => of.text_of(name),
            None => Ok(None),
        };
        let hint = attribute("si/instance-type")?.filter(|hint| !hint.is_empty()).unwrap_or("node");
        let server = Server { capacity, closed, hint: hint.to_owned(), profile: 0 };
        self.cluster.servers.value(id, || server);
        Ok(())
    }

    fn application(&mut self, at: At<'_>) -> Result<(), ImportError> {
        let id = at.need("applicationID")?.name()?;
        let queue = at.need("queueName")?.name()?.to_owned();
        let state = at.text_of("applicationState")?.unwrap_or_default();
        let (mut held, mut asked) = (Vec::new(), Vec::new());
        let mut keys = HashSet::new();
        for allocation in at.list_of("allocations")? {
            let ask = self.ask(allocation, &mut keys)?;
            // An allocation runs on a node, so its node must be stated.
            if ask.node.is_none() {
                return Err(allocation.error("the field `nodeId` is missing"));
            }
            held.push(ask);
        }
        for request in at.list_of("requests")? {
            // Newer versions also list requests for which an allocation exists. These allocations have
            // already been read.
            let key = request.need("allocationKey")?.name()?;
            if !keys.contains(key) {
                asked.push(self.ask(request, &mut keys)?);
            }
        }
        if ENDED.contains(&state) && held.is_empty() {
            return Ok(());
        }
        self.of_partition(at, "partition")?;
        let of_group: HashMap<String, u64> = at
            .list_of("placeholderData")?
            .map(|of| {
                let count = of.get("count")?.map_or(Ok(1), At::whole)?;
                Ok((of.text_of("taskGroupName")?.unwrap_or_default().to_owned(), count.max(1)))
            })
            .collect::<Result<_, ImportError>>()?;
        if self.applications.find(id).is_some() {
            return Err(at.error(format!("the application `{id}` is given twice")));
        }
        self.applications.value(id, || queue.clone());
        let group = self.cluster.group(&queue);
        // The number of placeholders that pods of a task group will replace, keyed by the task group.
        let mut places: HashMap<String, u64> = HashMap::new();
        for ask in held.iter().chain(&asked).filter(|ask| ask.is_placeholder) {
            *places.entry(ask.task_group.clone().unwrap_or_default()).or_default() += ask.copies;
        }
        for mut ask in held.into_iter().chain(asked) {
            let task_group = ask.task_group.clone().unwrap_or_default();
            if ask.node.is_none() && !ask.is_placeholder && ask.task_group.is_some() {
                let free = places.entry(task_group.clone()).or_default();
                let replaced = ask.copies.min(*free);
                *free -= replaced;
                ask.copies -= replaced;
                if replaced > 0 {
                    let what = "waiting pods that will replace placeholders, which count instead";
                    self.cluster.left_out.add_many(what, replaced, [ask.name.clone()]);
                }
            }
            let gang = if ask.is_placeholder { of_group.get(&task_group).copied() } else { None };
            self.task(id, group, &ask, gang.unwrap_or(1));
        }
        Ok(())
    }

    /// Reads an allocation or a request.
    fn ask(&mut self, at: At<'_>, keys: &mut HashSet<String>) -> Result<Ask, ImportError> {
        let key = at.need("allocationKey")?.name()?;
        if !keys.insert(key.to_owned()) {
            return Err(at.error(format!("the allocation key `{key}` is given twice")));
        }
        let demand = self.amounts(at, "resource")?;
        let tag = |name: &str| match at.get("allocationTags")? {
            Some(tags) => tags.text_of(name),
            None => Ok(None),
        };
        let pod = tag("kubernetes.io/meta/podName")?;
        let name = match (tag("kubernetes.io/meta/namespace")?, pod) {
            (Some(namespace), Some(pod)) => format!("{namespace}/{pod}"),
            _ => key.to_owned(),
        };
        let copies = at.get("pendingCount")?.map_or(Ok(1), At::whole)?;
        if copies > MOST_COPIES {
            return Err(at.error(format!("{copies} pending: expected at most {MOST_COPIES}")));
        }
        let text = |name: &str| Ok::<_, ImportError>(at.text_of(name)?.filter(|text| !text.is_empty()));
        let node = match text("nodeId")? {
            Some(node) => Some(node),
            None => text("nodeID")?,
        };
        if let Some(priority) = at.get("priority")? {
            // Versions differ: they write the priority as a text or as a number.
            if !matches!(priority.scalar()?, "0" | "" | "<nil>") {
                self.cluster.left_out.add("priorities of tasks, which count before shares of queues", &name);
            }
        }
        Ok(Ask {
            demand,
            copies,
            node: node.map(str::to_owned),
            task_group: text("taskGroupName")?.map(str::to_owned),
            is_placeholder: at.is_true("placeholder")?,
            required: text("requiredNodeId")?.map(str::to_owned),
            name,
        })
    }

    fn task(&mut self, application: &str, group: usize, ask: &Ask, gang: u64) {
        let rule = self.rules.place(&ask.required, || ());
        if let Some(node) = &ask.node {
            let place = self.cluster.place(node);
            self.cluster.tasks(Some(group), &ask.demand, rule, gang).runs(place, &ask.name);
        } else if ask.copies > 0 {
            let names = (0..ask.copies.min(MOST_TASK_NAMES)).map(|k| match ask.copies {
                1 => ask.name.clone(),
                _ => format!("{} {k}", ask.name),
            });
            self.cluster.copies(ask.copies.min(MOST_TASK_NAMES), ask.name.len(), "names of waiting tasks");
            let names: Vec<String> = names.collect();
            self.cluster.tasks(Some(group), &ask.demand, rule, gang).waits("", ask.copies, names);
            let what = "selectors, affinity and tolerations of waiting pods, which the dump does not have: these pods may use every server";
            self.cluster.left_out.add_many(what, ask.copies, [format!("{application}: {}", ask.name)]);
        }
    }

    /// Records the limits of users in the configuration of the dump as left out.
    fn limits_of_users(&mut self, at: At<'_>) -> Result<(), ImportError> {
        let Some(partitions) = at.path(&["config", "partitions"])? else { return Ok(()) };
        let mut open: Vec<At<'_>> = partitions.list()?.collect();
        while let Some(of) = open.pop() {
            if of.list_of("limits")?.next().is_some() {
                let name = of.text_of("name")?.unwrap_or_default();
                self.cluster.left_out.add("limits of users and groups of users in queues", name);
            }
            open.extend(of.list_of("queues")?);
        }
        Ok(())
    }

    fn finish(mut self, part: &Part) -> Result<Snapshot, ImportError> {
        for (_, queue) in self.applications.entries().iter().filter(|(_, of)| !self.queues.contains(of)) {
            let what = "applications whose queue is not in the dump, which counts as a queue of weight 1";
            self.cluster.left_out.add(what, queue);
        }
        for queue in self.without_guarantee {
            let what = "queues without a guarantee, whose share is of the cluster here and of their fair maximum in YuniKorn";
            self.cluster.left_out.add(what, queue);
        }
        // Each node that a task requires has its own profile. All other nodes have profile 0.
        let names: Vec<String> = self.rules.entries().iter().filter_map(|(rule, ())| rule.clone()).collect();
        for s in 0..self.cluster.servers.entries().len() {
            let profile = names.iter().position(|name| *name == self.cluster.servers.entries()[s].0);
            self.cluster.servers.at(s).profile = profile.map_or(0, |at| at + 1);
        }
        let column = |p: usize, rule: &Option<String>| match rule {
            None => true,
            Some(name) => p > 0 && names[p - 1] == *name,
        };
        evenhand_budget::charge(
            ((names.len() + 1) * (names.len() + 1)) as u64,
            "tasks that name their nodes",
        );
        let rules = self.rules.entries().iter();
        let allowed = rules.map(|(rule, ())| (0..=names.len()).map(|p| column(p, rule)).collect()).collect();
        build(self.cluster, &allowed, part)
    }
}

//! The common reader of the systems on Kubernetes: nodes, pods, and the nodes that pods may use.

pub(super) mod pod_groups;
mod request;
mod select;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use evenhand_problem::groups::Named;
use evenhand_problem::snapshot::{Origin, Snapshot, Stopped, System};

use super::build::build;
use super::classes::Part;
use super::cluster::{Amounts, Cluster, Owned, Server, Traits, add, take};
use super::source::Bytes;
use super::tree::{At, Item};
use super::{lacks, values};
use evenhand_import::ImportError;
use evenhand_import::Ordered;
pub(super) use request::Quantities;
pub(super) use select::{
    Flavour, Labels, Profile, Rule, Taint, Toleration, labels, read_taints, read_toleration,
};

/// The paths of lists of objects, in the output of `kubectl` and in the snapshot of KAI's scheduler.
const LISTS: &[&[&str]] = &[
    &["items"],
    &["rawObjects", "pods"],
    &["rawObjects", "nodes"],
    &["rawObjects", "queues"],
    &["rawObjects", "podGroups"],
    &["rawObjects", "bindRequests"],
    &["rawObjects", "resourceClaims"],
    &["rawObjects", "topologies"],
];
/// Fields of objects that are large and that do not describe resources or nodes.
const SKIP: &[&str] = &[
    "managedFields",
    "containerStatuses",
    "initContainerStatuses",
    "images",
    "env",
    "envFrom",
    "args",
    "command",
    "volumeMounts",
    "livenessProbe",
    "readinessProbe",
    "startupProbe",
    "lifecycle",
    "securityContext",
    "imagePullSecrets",
    "volumesInUse",
    "volumesAttached",
    "nodeInfo",
    "addresses",
    "daemonEndpoints",
];

/// The data of a Kubernetes cluster while its dump is read.
pub(super) struct Kube {
    pub cluster: Cluster,
    pub quantities: Quantities,
    pub rules: Ordered<Rule, ()>,
    /// The labels and taints of each node, keyed by the name of the node.
    nodes: HashMap<String, Profile>,
    /// The demand of pods that are not tasks of the snapshot, keyed by the name of the node.
    foreign: HashMap<String, Amounts>,
    /// The objects that have been read, by kind, namespace and name.
    seen: HashSet<String>,
    /// The kinds of objects that have been read. An empty list of a kind counts too.
    kinds: HashSet<String>,
    /// The largest number of pods that a node may run, keyed by the name of the node.
    most_pods: HashMap<String, u64>,
    /// The number of pods that run on a node, keyed by the name of the node.
    pods_on: HashMap<String, u64>,
    /// True if queues have quotas on the number of pods.
    pub quotas_of_pods: bool,
    /// The names of objects for which the scheduler may stop pods, keyed by UID.
    pub uids: HashMap<String, String>,
}

/// A pod that has not finished.
pub(super) struct Pod {
    pub namespace: String,
    pub name: String,
    pub node: Option<String>,
    pub demand: Amounts,
    pub rule: usize,
    /// The reason why the pod waits.
    pub reason: String,
    pub is_gated: bool,
    /// The priority of the pod, and whether it may never be stopped.
    pub traits: Traits,
    /// The owner that would start the pod again, as `KIND NAMESPACE/NAME`. Empty if the pod has no owner.
    pub owner: String,
    /// The start time of the pod.
    pub since: String,
}

/// The resource that counts pods. Each pod demands 1.
const PODS: &str = "pods";
/// The namespace of the system's own pods, which are never stopped.
const SYSTEM: &str = "kube-system";
/// The priority classes of the system's own pods.
const CRITICAL: [&str; 2] = ["system-cluster-critical", "system-node-critical"];
/// The least priority of the priority classes of the system.
const LEAST_CRITICAL: i64 = 2_000_000_000;

/// Returns the name of an object.
pub(super) fn name(at: At<'_>) -> Result<&str, ImportError> {
    at.need("metadata")?.need("name")?.name()
}

/// Returns the name of an object as `namespace/name`.
pub(super) fn full_name(at: At<'_>) -> Result<String, ImportError> {
    let metadata = at.need("metadata")?;
    let namespace = metadata.text_of("namespace")?.unwrap_or("default");
    Ok(format!("{namespace}/{}", metadata.need("name")?.name()?))
}

/// Returns the owner that would start a pod again, as `KIND NAMESPACE/NAME`. This is the controller of the
/// pod, or its first owner if it has no controller.
fn owner(metadata: At<'_>, namespace: &str) -> Result<String, ImportError> {
    let mut found = String::new();
    for owner in metadata.list_of("ownerReferences")? {
        let (kind, name) =
            (owner.text_of("kind")?.unwrap_or_default(), owner.text_of("name")?.unwrap_or_default());
        let is_controller = owner.get("controller")?.map_or(Ok(false), At::boolean)?;
        if (found.is_empty() || is_controller) && !kind.is_empty() {
            found = format!("{kind} {namespace}/{name}");
        }
        if is_controller {
            break;
        }
    }
    Ok(found)
}

/// Returns `true` if a condition of an object is true, and `None` if the object has no condition of this
/// type.
pub(super) fn condition(at: At<'_>, of: &str) -> Result<Option<bool>, ImportError> {
    let Some(status) = at.get("status")? else { return Ok(None) };
    for condition in status.list_of("conditions")? {
        if condition.text_of("type")? == Some(of) {
            return Ok(Some(condition.text_of("status")? == Some("True")));
        }
    }
    Ok(None)
}

impl Kube {
    pub fn new(system: System) -> Self {
        Self {
            cluster: Cluster::new(system, &["cpu", "memory"]),
            quantities: Quantities::default(),
            rules: Ordered::default(),
            nodes: HashMap::new(),
            foreign: HashMap::new(),
            seen: HashSet::new(),
            kinds: HashSet::new(),
            most_pods: HashMap::new(),
            pods_on: HashMap::new(),
            quotas_of_pods: false,
            uids: HashMap::new(),
        }
    }

    /// Passes each object of the dumps, with its kind, to `take`.
    pub fn objects(
        &mut self,
        inputs: Vec<Bytes>,
        take: &mut dyn FnMut(&mut Self, &str, At<'_>) -> Result<(), ImportError>,
    ) -> Result<(), ImportError> {
        for mut bytes in inputs {
            let mut versions: BTreeSet<String> = BTreeSet::new();
            let mut receive = |item: Item<'_>| {
                let at = item.at();
                let is_list = |kind: &str| kind == "List" || (kind.ends_with("List") && kind.len() > 4);
                let is_raw = at.is_document() && at.names("rawObjects");
                if is_raw {
                    self.kinds.extend(pod_groups::KINDS.iter().map(|(_, kind)| (*kind).to_owned()));
                    return Ok(());
                }
                if at.is_document() && is_list(at.document_kind()) {
                    // A list of one kind proves that the command that printed the dump asked for this kind,
                    // even if the list is empty. A `List` contains objects of several kinds, so it does not
                    // prove this for a kind without objects.
                    self.kinds.insert(at.document_kind().trim_end_matches("List").to_owned());
                    return Ok(());
                }
                let kind = match at.text_of("kind")? {
                    Some(kind) if !kind.is_empty() => kind,
                    _ if !at.is_document() && at.document_kind().ends_with("List") => {
                        at.document_kind().trim_end_matches("List")
                    }
                    _ => pod_groups::kind_of_list(&item).unwrap_or_default(),
                };
                if kind.is_empty() {
                    return Err(at.error(
                        "the field `kind` is missing: expected an object of Kubernetes, or a List of them",
                    ));
                }
                if let Some(version) = at.text_of("apiVersion")?.filter(|version| !version.is_empty()) {
                    versions.insert(version.to_owned());
                }
                let name = full_name(at)?;
                if !self.seen.insert(format!("{kind} {name}")) {
                    return Err(at.error(format!("the {kind} `{name}` is given twice")));
                }
                if !self.kinds.contains(kind) {
                    self.kinds.insert(kind.to_owned());
                }
                take(self, kind, at)
            };
            values(&mut bytes, LISTS, SKIP, &mut receive)?;
            let version = versions.into_iter().collect::<Vec<_>>().join(", ");
            let (file, sha256) = (bytes.file.clone(), bytes.sha256());
            let origin = Origin { file, version, sha256, ..Origin::default() };
            self.cluster.sources.push(origin);
        }
        Ok(())
    }

    /// Refuses dumps that have no objects of one of these kinds. The second word of each kind is its name for
    /// `kubectl get`.
    pub fn needs(&self, kinds: &[(&str, &str)], all: &str) -> Result<(), ImportError> {
        kinds.iter().try_for_each(|(kind, plural)| {
            lacks(!self.kinds.contains(*kind), plural, &format!("kubectl get {all} -A -o json > dump.json"))
        })
    }

    /// Returns `true` if at least one node has all these labels.
    pub fn has_node_with(&self, labels: &BTreeMap<String, String>) -> bool {
        evenhand_budget::charge(
            (self.nodes.len() * (labels.len() + 1)) as u64,
            "the processing of the nodes of flavours",
        );
        let has = |node: &Profile| labels.iter().all(|(key, value)| node.labels.get(key) == Some(value));
        self.nodes.values().any(has)
    }

    /// Adds a server whose capacity is the quota of some flavours. It stands for the nodes of these flavours,
    /// which are not in the dump.
    pub fn quota_server(&mut self, flavours: Vec<String>, capacity: Amounts) {
        let mut name = format!("quota of {}", flavours.join(" and "));
        while self.cluster.servers.find(&name).is_some() {
            name.push('\'');
        }
        let server = Server { capacity, closed: None, hint: name.clone(), profile: 0 };
        let s = self.cluster.servers.place(&name, || server);
        self.cluster.quotas.insert(s);
        self.nodes.insert(name, Profile { quota: Some(flavours), ..Profile::default() });
    }

    /// Records an object of a kind that no importer knows as left out.
    pub fn other(&mut self, kind: &str, at: At<'_>) -> Result<(), ImportError> {
        self.cluster.left_out.add(&format!("objects of another kind: {kind}"), full_name(at)?);
        Ok(())
    }

    /// Reads an event. The scheduler reports each pod that it stops for another pod: `Preempted by pod UID on
    /// node NAME` since Kubernetes 1.25, and `Preempted by NAMESPACE/NAME on node NAME` before
    /// (pkg/scheduler/framework/preemption).
    pub fn event(&mut self, at: At<'_>) -> Result<(), ImportError> {
        if at.text_of("reason")? != Some("Preempted") {
            return Ok(());
        }
        let Some(object) = at.first(&["involvedObject", "regarding"])? else { return Ok(()) };
        if object.text_of("kind")? != Some("Pod") {
            return Ok(());
        }
        let namespace = object.text_of("namespace")?.unwrap_or("default");
        let task = format!("{namespace}/{}", object.need("name")?.name()?);
        let message = match at.text_of("message")? {
            Some(message) => message,
            None => at.text_of("note")?.unwrap_or_default(),
        };
        let by = message.strip_prefix("Preempted by ").and_then(|rest| rest.split_once(" on node "));
        let (by, by_uid) = match by.map(|(by, _)| (by, by.strip_prefix("pod "))) {
            Some((_, Some(uid))) => (String::new(), uid.to_owned()),
            Some((name, None)) if name.contains('/') => (name.to_owned(), String::new()),
            _ => Default::default(),
        };
        let mut time = String::new();
        for field in ["lastTimestamp", "deprecatedLastTimestamp", "eventTime"] {
            if time.is_empty() {
                at.text_of(field)?.unwrap_or_default().clone_into(&mut time);
            }
        }
        let rule = "Preempted".to_owned();
        let message = message.to_owned();
        self.cluster.copies(2, task.len() + message.len(), "stopped pods");
        self.cluster.stopped.push(Stopped { task, by, by_uid, rule, time, message });
        Ok(())
    }

    pub fn node(&mut self, at: At<'_>) -> Result<(), ImportError> {
        let name = name(at)?;
        let status = at.need("status")?;
        let field = if status.get("allocatable")?.is_some() { "allocatable" } else { "capacity" };
        let amounts = status.need(field)?;
        let capacity = self.quantities.amounts(&mut self.cluster, status, field)?;
        if let Some(most) = amounts.get("pods")? {
            let most = self.quantities.read(most)?.floor().numer().to_u64().unwrap_or(u64::MAX);
            self.most_pods.insert(name.to_owned(), most);
        }
        let metadata = at.need("metadata")?;
        let labels = labels(metadata, "labels")?;
        let spec = at.get("spec")?;
        let taints = spec.map_or(Ok(Vec::new()), |spec| read_taints(spec, "taints"))?;
        let is_off = |taint: &Taint| {
            matches!(taint.key.as_str(), "node.kubernetes.io/not-ready" | "node.kubernetes.io/unreachable")
        };
        let closed = if condition(at, "Ready")? == Some(false) || taints.iter().any(is_off) {
            Some("servers that are not ready")
        } else if spec.map_or(Ok(false), |spec| spec.is_true("unschedulable"))? {
            Some("servers that are cordoned: they take no new tasks")
        } else {
            None
        };
        let hint = [
            "node.kubernetes.io/instance-type",
            "beta.kubernetes.io/instance-type",
            "nvidia.com/gpu.product",
        ];
        let hint = hint.into_iter().find_map(|key| labels.get(key)).cloned();
        let server = Server { capacity, closed, hint: hint.unwrap_or_else(|| "node".to_owned()), profile: 0 };
        self.cluster.servers.value(name, || server);
        self.nodes.insert(name.to_owned(), Profile { labels, taints, ..Profile::default() });
        Ok(())
    }

    /// Reads a pod. Returns `None` for a finished pod. Also returns `None` for a pod that belongs to its
    /// node, and subtracts the demand of this pod from the node.
    pub fn pod(&mut self, at: At<'_>) -> Result<Option<Pod>, ImportError> {
        let full = full_name(at)?;
        let metadata = at.need("metadata")?;
        if let Some(uid) = metadata.text_of("uid")? {
            self.uids.insert(uid.to_owned(), full.clone());
        }
        let status = at.get("status")?;
        let phase = status.map_or(Ok(None), |status| status.text_of("phase"))?.unwrap_or("Pending");
        if matches!(phase, "Succeeded" | "Failed") {
            return Ok(None);
        }
        let spec = at.need("spec")?;
        let demand = self.quantities.of_pod(&mut self.cluster, spec)?;
        let node = spec.text_of("nodeName")?.filter(|node| !node.is_empty()).map(str::to_owned);
        if let Some(node) = &node {
            *self.pods_on.entry(node.clone()).or_default() += 1;
        }
        if self.is_of_the_node(metadata)? {
            match node {
                Some(node) => add(self.foreign.entry(node).or_default(), &demand),
                None => self.cluster.left_out.add("waiting pods of DaemonSets", &full),
            }
            return Ok(None);
        }
        let rule = Rule::of_pod(spec, &full, &mut self.cluster.left_out)?;
        let rule = self.rules.place(&rule, || ());
        self.stays_out(spec, &full)?;
        let mut reason = String::new();
        for condition in status.map(|status| status.list_of("conditions")).transpose()?.into_iter().flatten()
        {
            if condition.text_of("type")? == Some("PodScheduled")
                && condition.text_of("status")? == Some("False")
            {
                reason = condition.text_of("reason")?.unwrap_or_default().to_owned();
            }
        }
        let is_gated = spec.list_of("schedulingGates")?.next().is_some();
        let namespace = metadata.text_of("namespace")?.unwrap_or("default").to_owned();
        let priority = spec.get("priority")?.map_or(Ok(0), At::integer)?;
        let class = spec.text_of("priorityClassName")?.unwrap_or_default();
        let is_protected = namespace == SYSTEM || CRITICAL.contains(&class) || priority >= LEAST_CRITICAL;
        let traits = Traits { priority, is_protected, ..Traits::default() };
        let owner = owner(metadata, &namespace)?;
        let since = status.map_or(Ok(None), |status| status.text_of("startTime"))?;
        let since = since.or(metadata.text_of("creationTimestamp")?).unwrap_or_default().to_owned();
        Ok(Some(Pod { namespace, name: full, node, demand, rule, reason, is_gated, traits, owner, since }))
    }

    /// Adds a running pod as a task of a queue.
    pub fn runs(&mut self, group: usize, pod: &Pod, gang: u64, of_gang: &str) {
        let Some(node) = &pod.node else { return };
        let place = self.cluster.place(node);
        let tasks = self.cluster.tasks_with(Some(group), &pod.demand, pod.rule, gang, pod.traits.clone());
        tasks.runs(place, &pod.name);
        let (owner, since) = (pod.owner.clone(), pod.since.clone());
        self.cluster.owned_by(&pod.name, Owned { owner, since, gang: of_gang.to_owned() });
    }

    /// Subtracts the demand of a pod that is not a task of the snapshot from the capacity of its node.
    pub fn take_away(&mut self, pod: &Pod) {
        match &pod.node {
            Some(node) => add(self.foreign.entry(node.clone()).or_default(), &pod.demand),
            None => self.cluster.left_out.add("waiting pods that this scheduler does not place", &pod.name),
        }
    }

    /// Returns `true` if a pod belongs to its node. The owner of such a pod is a `DaemonSet` or the node
    /// itself.
    fn is_of_the_node(&self, metadata: At<'_>) -> Result<bool, ImportError> {
        for owner in metadata.list_of("ownerReferences")? {
            if matches!(owner.text_of("kind")?, Some("DaemonSet" | "Node")) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Records further conditions on the nodes of a pod that are not modelled.
    pub fn stays_out(&mut self, spec: At<'_>, name: &str) -> Result<(), ImportError> {
        let left_out = &mut self.cluster.left_out;
        if spec.list_of("topologySpreadConstraints")?.next().is_some() {
            left_out.add("spreading over zones or nodes", name);
        }
        if spec.list_of("resourceClaims")?.next().is_some() {
            left_out.add("claims of devices", name);
        }
        for volume in spec.list_of("volumes")? {
            if volume.get("persistentVolumeClaim")?.is_some() || volume.get("ephemeral")?.is_some() {
                left_out.add("volumes, which may be bound to nodes", name);
                break;
            }
        }
        for container in spec.list_of("containers")? {
            for port in container.list_of("ports")? {
                if port.get("hostPort")?.is_some() {
                    left_out.add("ports of nodes", name);
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Subtracts from each node the demand of its pods that are not tasks of the snapshot.
    pub fn settle(&mut self) {
        let mut foreign: Vec<_> = std::mem::take(&mut self.foreign).into_iter().collect();
        foreign.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
        for (node, amounts) in foreign {
            match self.cluster.servers.find(&node) {
                Some(s) => {
                    let mut capacity = std::mem::take(&mut self.cluster.servers.at(s).capacity);
                    if !take(&mut capacity, &amounts) {
                        self.cluster.left_out.add(
                            "servers whose daemons and other foreign pods take more than the servers have",
                            node,
                        );
                    }
                    self.cluster.servers.at(s).capacity = capacity;
                }
                None => self
                    .cluster
                    .left_out
                    .add("nodes of daemons and other foreign pods that are not in the dump", node),
            }
        }
    }

    /// Adds the number of pods that a node may run as a resource. Each task demands 1 of this resource.
    ///
    /// The resource is added if a quota limits the number of pods. Otherwise it is added only if it excludes
    /// a waiting task from a node that has free capacity for the task, because an additional resource changes
    /// shares. Systems other than Kubernetes do not compare queues by pods. For these systems, the waiting
    /// tasks get a condition that is not modelled instead.
    fn count_pods(&mut self) {
        if !self.quotas_of_pods {
            if self.most_pods.is_empty() || !self.pods_bind() {
                return;
            }
            if self.cluster.system != System::Kubernetes {
                self.note_pods();
                return;
            }
        }
        let r = self.cluster.resource(PODS);
        let mut of_tasks: HashMap<String, u64> = HashMap::new();
        for (shape, tasks) in self.cluster.tasks.entries() {
            if shape.demand.iter().all(|(of, _)| *of != r) {
                for (place, _) in &tasks.running {
                    *of_tasks.entry(self.cluster.places.entries()[*place].0.clone()).or_default() += 1;
                }
            }
        }
        let all = self.cluster.servers.entries().iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
        for (s, name) in all.into_iter().enumerate() {
            let Some(most) = self.most_pods.get(&name) else { continue };
            let on = self.pods_on.get(&name).copied().unwrap_or(0);
            let others = on.saturating_sub(of_tasks.get(&name).copied().unwrap_or(0));
            self.cluster.servers.at(s).capacity.insert(r, most.saturating_sub(others).into());
        }
        for (mut shape, tasks) in std::mem::take(&mut self.cluster.tasks).into_entries() {
            if !shape.demand.is_empty() && shape.demand.iter().all(|(of, _)| *of != r) {
                shape.demand.push((r, rug::Rational::from(1)));
                shape.demand.sort_by_key(|(of, _)| *of);
            }
            *self.cluster.tasks.value(&shape, super::cluster::Tasks::default) = tasks;
        }
        if !self.quotas_of_pods {
            // The resource only bounds the number of tasks and should not decide which queue uses more. Its
            // share therefore counts only a millionth.
            self.cluster.share.multipliers = vec![(PODS.to_owned(), rug::Rational::from((1, 1_000_000)))];
        }
    }

    /// Adds a condition to each waiting task: the limit on the number of pods of a node also decides whether
    /// the task could start.
    fn note_pods(&mut self) {
        for (mut shape, tasks) in std::mem::take(&mut self.cluster.tasks).into_entries() {
            if tasks.waiting.entries().is_empty() {
                *self.cluster.tasks.value(&shape, super::cluster::Tasks::default) = tasks;
                continue;
            }
            let running = super::cluster::Tasks {
                running: tasks.running,
                admitted: tasks.admitted,
                ..Default::default()
            };
            if !running.running.is_empty() || running.admitted > 0 {
                *self.cluster.tasks.value(&shape, super::cluster::Tasks::default) = running;
            }
            shape.traits.not_modelled.push("how many pods a node may run".to_owned());
            let waiting = super::cluster::Tasks { waiting: tasks.waiting, ..Default::default() };
            *self.cluster.tasks.value(&shape, super::cluster::Tasks::default) = waiting;
        }
    }

    /// Returns `true` if the limit on pods can exclude waiting tasks from a node. This is so if the node has
    /// free capacity for tasks of a shape, but may run fewer additional pods than the shape has waiting
    /// tasks.
    fn pods_bind(&self) -> bool {
        let cluster = &self.cluster;
        // Several queues may submit tasks with the same demand. Each demand counts once, with the largest
        // number of waiting tasks of any one shape.
        let mut waits: HashMap<&Named, u64> = HashMap::new();
        for (shape, tasks) in cluster.tasks.entries().iter().filter(|(shape, _)| !shape.demand.is_empty()) {
            let waiting: u64 = tasks.waiting.entries().iter().map(|(_, of)| of.tasks).sum();
            let most = waits.entry(&shape.demand).or_default();
            *most = waiting.max(*most);
        }
        let mut used: HashMap<&str, Amounts> = HashMap::new();
        for (shape, tasks) in cluster.tasks.entries() {
            let demand: Amounts = shape.demand.iter().cloned().collect();
            for (place, _) in &tasks.running {
                add(used.entry(cluster.places.entries()[*place].0.as_str()).or_default(), &demand);
            }
        }
        let open = cluster.servers.entries().iter().filter(|(_, server)| server.closed.is_none());
        open.filter_map(|(name, server)| Some((name, server, self.most_pods.get(name)?))).any(
            |(name, server, most)| {
                let left = most.saturating_sub(self.pods_on.get(name).copied().unwrap_or(0));
                evenhand_budget::charge(
                    20 * waits.len() as u64,
                    "the processing of the numbers of pods on nodes",
                );
                let nothing = Amounts::new();
                let used = used.get(name.as_str()).unwrap_or(&nothing);
                let has_room = |(r, d): &(usize, rug::Rational)| {
                    let more =
                        rug::Rational::from(d * (left + 1)) + used.get(r).unwrap_or(rug::Rational::ZERO);
                    server.capacity.get(r).is_some_and(|has| *has >= more)
                };
                waits.iter().any(|(demand, tasks)| *tasks > left && demand.iter().all(has_room))
            },
        )
    }

    /// Returns the memory of a GPU in MiB, if all nodes with GPUs state the same memory.
    pub fn memory_of_gpus(&self) -> Option<rug::Rational> {
        let r = self.cluster.resources.find("nvidia.com/gpu")?;
        let mut known: Option<rug::Rational> = None;
        for (name, server) in self.cluster.servers.entries() {
            if server.capacity.get(&r).is_none_or(|gpus| gpus.is_zero()) {
                continue;
            }
            let stated: u64 = self.nodes.get(name)?.labels.get("nvidia.com/gpu.memory")?.parse().ok()?;
            let stated = rug::Rational::from(stated);
            if stated <= 0 || known.as_ref().is_some_and(|known| *known != stated) {
                return None;
            }
            known = Some(stated);
        }
        known
    }

    /// Returns the snapshot of all objects that have been read.
    pub fn finish(mut self, part: &Part) -> Result<Snapshot, ImportError> {
        for of in self.cluster.stopped.iter_mut().filter(|of| of.by.is_empty()) {
            if let Some(name) = self.uids.get(&of.by_uid) {
                of.by.clone_from(name);
            }
        }
        self.settle();
        self.count_pods();
        let rules = self.rules.into_entries();
        let mut keys = BTreeSet::new();
        let names_nodes = rules.iter().fold(false, |names, (rule, ())| rule.keys(&mut keys) || names);
        let mut profiles: Ordered<Profile, ()> = Ordered::default();
        for s in 0..self.cluster.servers.entries().len() {
            let name = self.cluster.servers.entries()[s].0.clone();
            let Some(node) = self.nodes.remove(&name) else { continue };
            let labels = node.labels.into_iter().filter(|(key, _)| keys.contains(key.as_str())).collect();
            let name = Some(name).filter(|_| names_nodes);
            let profile = Profile { labels, taints: node.taints, name, quota: node.quota };
            self.cluster.servers.at(s).profile = profiles.place(&profile, || ());
        }
        evenhand_budget::charge(
            (rules.len() * profiles.entries().len() * 4) as u64,
            "the rules of pods times nodes",
        );
        let allowed = rules
            .iter()
            .map(|(rule, ())| profiles.entries().iter().map(|(profile, ())| rule.allows(profile)).collect());
        build(self.cluster, &allowed.collect(), part)
    }
}

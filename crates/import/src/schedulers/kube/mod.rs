//! What the systems on Kubernetes share: nodes, pods, and where pods may run.

pub(super) mod pod_groups;
mod request;
mod select;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use evenhand_problem::snapshot::{Snapshot, System};

use super::build::build;
use super::classes::Part;
use super::cluster::{Amounts, Cluster, Server, add, take};
use super::source::Bytes;
use super::tree::{At, Item};
use super::{lacks, values};
use crate::ImportError;
use crate::ordered::Ordered;
pub(super) use request::Quantities;
pub(super) use select::{
    Flavour, Labels, Profile, Rule, Taint, Toleration, labels, read_taints, read_toleration,
};

/// Lists of objects: of `kubectl`, and of the snapshot that KAI's scheduler writes.
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
/// Parts of objects that are large and say nothing of resources and places.
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

/// A cluster of Kubernetes while it is read.
pub(super) struct Kube {
    pub cluster: Cluster,
    pub quantities: Quantities,
    pub rules: Ordered<Rule, ()>,
    /// By node: labels, taints.
    nodes: HashMap<String, Profile>,
    /// What pods take that are no tasks, by node.
    foreign: HashMap<String, Amounts>,
    /// Objects that have been read: kind, namespace, name.
    seen: HashSet<String>,
    /// Kinds of objects that have been read, and kinds of which a list is there.
    kinds: HashSet<String>,
    /// Nodes by how many pods they may run, and how many do.
    most_pods: HashMap<String, u64>,
    pods_on: HashMap<String, u64>,
}

/// A pod that is not finished.
pub(super) struct Pod {
    pub namespace: String,
    pub name: String,
    pub node: Option<String>,
    pub demand: Amounts,
    pub rule: usize,
    /// Why it waits.
    pub reason: String,
    pub is_gated: bool,
}

/// What an object is called.
pub(super) fn name(at: At<'_>) -> Result<&str, ImportError> {
    at.need("metadata")?.need("name")?.name()
}

/// `namespace/name`.
pub(super) fn full_name(at: At<'_>) -> Result<String, ImportError> {
    let metadata = at.need("metadata")?;
    let namespace = metadata.text_of("namespace")?.unwrap_or("default");
    Ok(format!("{namespace}/{}", metadata.need("name")?.name()?))
}

/// Whether a condition of an object is true; `None` where it has none of this type.
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
        }
    }

    /// Hands on every object of the dumps, with its kind and the version of its API.
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
                    // A list of one kind says how many there are, also where it is empty. A `List` holds any kinds, and an
                    // empty kind looks like one that nobody asked for.
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
            let file = bytes.file.clone();
            self.cluster.sources.push(evenhand_problem::snapshot::Origin {
                file,
                version,
                time: String::new(),
            });
        }
        Ok(())
    }

    /// Refuses dumps without objects of these kinds, each with its name for `kubectl get`.
    pub fn needs(&self, kinds: &[(&str, &str)], all: &str) -> Result<(), ImportError> {
        kinds.iter().try_for_each(|(kind, plural)| {
            lacks(!self.kinds.contains(*kind), plural, &format!("kubectl get {all} -A -o json > dump.json"))
        })
    }

    /// Whether a node has all these labels.
    pub fn has_node_with(&self, labels: &BTreeMap<String, String>) -> bool {
        evenhand_budget::charge((self.nodes.len() * (labels.len() + 1)) as u64, "the nodes of flavours");
        let has = |node: &Profile| labels.iter().all(|(key, value)| node.labels.get(key) == Some(value));
        self.nodes.values().any(has)
    }

    /// Adds the quota of flavours in place of their nodes, which are not known.
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

    /// An object that no reader knows.
    pub fn other(&mut self, kind: &str, at: At<'_>) -> Result<(), ImportError> {
        self.cluster.left_out.add(&format!("objects of another kind: {kind}"), full_name(at)?);
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

    /// A pod that holds or waits for resources; `None` for one that is finished, or is no task and taken from its node.
    pub fn pod(&mut self, at: At<'_>) -> Result<Option<Pod>, ImportError> {
        let full = full_name(at)?;
        let metadata = at.need("metadata")?;
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
                None => self.cluster.left_out.add("pods of DaemonSets that wait", &full),
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
        Ok(Some(Pod { namespace, name: full, node, demand, rule, reason, is_gated }))
    }

    /// Takes a pod that is no task from the capacity of its node.
    pub fn take_away(&mut self, pod: &Pod) {
        match &pod.node {
            Some(node) => add(self.foreign.entry(node.clone()).or_default(), &pod.demand),
            None => self.cluster.left_out.add("waiting pods that are no tasks of the scheduler", &pod.name),
        }
    }

    /// Whether a pod runs on its node whatever is scheduled: one of a DaemonSet, or one that the node itself started.
    fn is_of_the_node(&self, metadata: At<'_>) -> Result<bool, ImportError> {
        for owner in metadata.list_of("ownerReferences")? {
            if matches!(owner.text_of("kind")?, Some("DaemonSet" | "Node")) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Names what else decides where a pod can run.
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

    /// Takes from each node what pods hold there that are no tasks.
    pub fn settle(&mut self) {
        let mut foreign: Vec<_> = std::mem::take(&mut self.foreign).into_iter().collect();
        foreign.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
        for (node, amounts) in foreign {
            match self.cluster.servers.find(&node) {
                Some(s) => {
                    let mut capacity = std::mem::take(&mut self.cluster.servers.at(s).capacity);
                    if !take(&mut capacity, &amounts) {
                        self.cluster
                            .left_out
                            .add("servers of which pods that are no tasks take more than there is", node);
                    }
                    self.cluster.servers.at(s).capacity = capacity;
                }
                None => self
                    .cluster
                    .left_out
                    .add("nodes of pods that are no tasks, which the dump does not have", node),
            }
        }
    }

    /// The snapshot, when all has been read.
    pub fn finish(mut self, part: &Part) -> Result<Snapshot, ImportError> {
        self.settle();
        for (name, _) in self.cluster.servers.entries() {
            let (most, on) = (self.most_pods.get(name), self.pods_on.get(name));
            if most.zip(on).is_some_and(|(most, on)| on >= most) {
                self.cluster
                    .left_out
                    .add("servers that run as many pods as they may, which is no limit here", name);
            }
        }
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

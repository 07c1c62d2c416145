//! The importer for Kueue: cluster queues in cohorts, and their workloads.
//!
//! Follows Kueue 0.6 to 0.15, `kueue.x-k8s.io/v1beta1` and `v1beta2` (`cohort` and `cohortName`, `parent` and
//! `parentName`), and the nodes and pods of Kubernetes: <https://kueue.sigs.k8s.io/docs/reference>.
//!
//! A flavour may have no node in the dump, because its node group is scaled to zero or because the user may
//! not list nodes. Then quotas replace nodes: a server class has the nominal quotas of the flavour (or of one
//! flavour for each resource group of a queue), and the allocation has no placements.
//!
//! A waiting workload is a gang for each of its pod sets. The pods of an admitted workload are running tasks,
//! and its missing pods are admitted tasks without a server. Pods that belong to no workload are subtracted
//! from the capacity of their nodes.

mod quotas;
mod stopped;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use evenhand_problem::Snapshot;
use evenhand_problem::groups::{GroupShareSpec, ShareOf, ShareOver};
use evenhand_problem::snapshot::System;

use super::classes::Part;
use super::cluster::{Amounts, MOST_TASK_NAMES, Owned, Traits};
use super::kube::{
    Flavour, Kube, Labels, Pod, Rule, Taint, Toleration, condition, full_name, labels, name, read_taints,
    read_toleration,
};
use super::source::Bytes;
use super::tree::At;
use evenhand_import::ImportError;
use evenhand_import::Ordered;
use quotas::Quotas;

/// The definition of a flavour.
#[derive(Default)]
struct FlavourOf {
    flavour: Flavour,
    taints: Vec<Taint>,
}

/// A workload that has not finished.
struct Workload {
    /// The name of the workload as `namespace/name`.
    name: String,
    namespace: String,
    /// The local queue of the workload.
    queue: String,
    /// The UIDs and names of the owners of the workload, which are jobs.
    owners: Vec<(String, String)>,
    sets: Vec<PodSet>,
    /// The cluster queue that admitted the workload. `None` if the workload waits.
    admitted: Option<String>,
    is_active: bool,
    priority: i64,
}

struct PodSet {
    name: String,
    count: u64,
    demand: Amounts,
    rule: Rule,
    /// The resources of the pod set, each with its assigned flavour.
    flavours: Vec<(String, String)>,
}

/// A pod, with the data that identify the workload of the pod.
struct Claimed {
    pod: Pod,
    /// The workload that the annotation of the pod names, as `namespace/name`.
    workload: Option<String>,
    /// The UIDs of the pod and of its owners.
    owners: Vec<String>,
    /// The names of jobs in the labels of the pod.
    owner_names: Vec<String>,
    /// The pod set that the label of the pod names.
    set: Option<String>,
    /// The local queue that the label of the pod names.
    queue: Option<String>,
}

#[derive(Default)]
struct Kueue {
    flavours: HashMap<String, FlavourOf>,
    /// The cluster queue of each local queue, keyed by the name of the local queue as `namespace/name`.
    local_queues: HashMap<String, String>,
    quotas: Quotas,
    workloads: Vec<Workload>,
    pods: Vec<Claimed>,
}

pub(super) fn read(inputs: Vec<Bytes>, part: &Part) -> Result<Snapshot, ImportError> {
    let mut kube = Kube::new(System::Kueue);
    let mut kueue = Kueue::default();
    kube.objects(inputs, &mut |kube, kind, at| match kind {
        "Node" => kube.node(at),
        "Pod" => kueue.pod(kube, at),
        "ResourceFlavor" => kueue.flavour(at),
        "LocalQueue" => kueue.local_queue(kube, at),
        "ClusterQueue" => kueue.quotas.cluster_queue(kube, at),
        "Cohort" => kueue.quotas.cohort(kube, at),
        "Workload" => kueue.workload(kube, at),
        kind => kube.other(kind, at),
    })?;
    kube.cluster.share = GroupShareSpec {
        of: ShareOf::Surplus,
        over: ShareOver::Lendable,
        families: true,
        ..GroupShareSpec::default()
    };
    let all = "nodes,pods,clusterqueues,cohorts,localqueues,resourceflavors,workloads";
    kube.needs(&[("ClusterQueue", "clusterqueues")], all)?;
    // A dump without workloads is accepted if all queues report that they have no workloads.
    if !kueue.quotas.report_no_workload() {
        kube.needs(&[("Workload", "workloads")], all)?;
    }
    kube.needs(&[("LocalQueue", "localqueues"), ("ResourceFlavor", "resourceflavors")], all)?;
    kueue.finish(&mut kube)?;
    kube.finish(part)
}

/// A combination of flavours, one flavour of each resource group, keyed by the name of the flavour.
type Combination<'f> = BTreeMap<&'f str, &'f Flavour>;

/// Returns a combination with an additional flavour.
fn with_flavour<'f>(combination: &Combination<'f>, flavour: &'f Flavour) -> Combination<'f> {
    let mut combination = combination.clone();
    combination.insert(&flavour.name, flavour);
    combination
}

/// The labels of a pod that name its job. Some of these labels name a job that contains other jobs.
const JOB_NAMES: [&str; 5] = [
    "jobset.sigs.k8s.io/jobset-name",
    "training.kubeflow.org/job-name",
    "ray.io/cluster",
    "batch.kubernetes.io/job-name",
    "job-name",
];

/// The largest number of choices of flavours of a pod set that get rules of their own.
const MOST_CHOICES: usize = 50;

/// Returns the rules of a pod set, each with one flavour of each resource group. Also returns `true` if these
/// rules are all possible choices.
fn one_of(kube: &mut Kube, rule: &Rule) -> (Vec<usize>, bool) {
    let count = rule.flavours.iter().map(Vec::len).try_fold(1_usize, usize::checked_mul);
    let count = match count {
        None | Some(0 | 1) => return (Vec::new(), true),
        Some(count) if count > MOST_CHOICES => return (Vec::new(), false),
        Some(count) => count,
    };
    let choices = (0..count).map(|choice| {
        let mut rest = choice;
        let flavours = rule.flavours.iter().map(|of| {
            let flavour = of[rest % of.len()].clone();
            rest /= of.len();
            vec![flavour]
        });
        Rule { flavours: flavours.collect(), ..rule.clone() }
    });
    (choices.map(|rule| kube.rules.place(&rule, || ())).collect(), true)
}

/// Returns a key for pod sets that start together. Workloads of one queue with identical pod sets have the
/// same key.
fn word_of(queue: &str, shapes: &[(&PodSet, u64, usize, Traits)]) -> String {
    let shape = |(set, _, rule, traits): &(&PodSet, u64, usize, Traits)| {
        let demand: Vec<String> = set.demand.iter().map(|(r, d)| format!("{r}={d}")).collect();
        format!("{} x ({}; {rule}; {})", set.count, demand.join(","), traits.priority)
    };
    format!("{queue}: {}", shapes.iter().map(shape).collect::<Vec<_>>().join(" with "))
}

impl Kueue {
    fn flavour(&mut self, at: At<'_>) -> Result<(), ImportError> {
        let mut of = FlavourOf::default();
        of.flavour.name = name(at)?.to_owned();
        if let Some(spec) = at.get("spec")? {
            of.flavour.labels = labels(spec, "nodeLabels")?;
            of.taints = read_taints(spec, "nodeTaints")?;
            for toleration in spec.list_of("tolerations")? {
                of.flavour.tolerations.extend(read_toleration(toleration)?);
            }
        }
        self.flavours.insert(name(at)?.to_owned(), of);
        Ok(())
    }

    fn local_queue(&mut self, kube: &mut Kube, at: At<'_>) -> Result<(), ImportError> {
        let spec = at.need("spec")?;
        let full = full_name(at)?;
        if at.path(&["status", "fairSharing", "admissionFairSharingStatus"])?.is_some() {
            kube.cluster.left_out.add("usage over time of local queues (admission fair sharing)", &full);
        }
        self.local_queues.insert(full, spec.need("clusterQueue")?.name()?.to_owned());
        Ok(())
    }

    fn pod(&mut self, kube: &mut Kube, at: At<'_>) -> Result<(), ImportError> {
        let Some(pod) = kube.pod(at)? else { return Ok(()) };
        let metadata = at.need("metadata")?;
        let text = |field: &str, name: &str| -> Result<Option<String>, ImportError> {
            match metadata.get(field)? {
                Some(of) => Ok(of.text_of(name)?.map(str::to_owned)),
                None => Ok(None),
            }
        };
        let workload = text("annotations", "kueue.x-k8s.io/workload")?;
        let mut owners = vec![metadata.text_of("uid")?.unwrap_or_default().to_owned()];
        let mut owner_names = Vec::new();
        for owner in metadata.list_of("ownerReferences")? {
            owners.extend(owner.text_of("uid")?.map(str::to_owned));
        }
        for label in JOB_NAMES {
            owner_names.extend(text("labels", label)?);
        }
        owner_names.extend(text("labels", "kueue.x-k8s.io/pod-group-name")?);
        let set = text("labels", "kueue.x-k8s.io/podset")?;
        let queue = text("labels", "kueue.x-k8s.io/queue-name")?;
        let workload = workload.map(|name| format!("{}/{name}", pod.namespace));
        owners.retain(|uid| !uid.is_empty());
        self.pods.push(Claimed { pod, workload, owners, owner_names, set, queue });
        Ok(())
    }

    fn workload(&mut self, kube: &mut Kube, at: At<'_>) -> Result<(), ImportError> {
        let full = full_name(at)?;
        let (metadata, spec) = (at.need("metadata")?, at.need("spec")?);
        stopped::uids(kube, at, &full)?;
        if condition(at, "Finished")? == Some(true) {
            return Ok(());
        }
        if let Some(stop) = stopped::stop(at, &full)? {
            kube.cluster.copies(2, full.len() + stop.message.len(), "stopped workloads");
            kube.cluster.stopped.push(stop);
        }
        let namespace = metadata.text_of("namespace")?.unwrap_or("default").to_owned();
        let mut owners = Vec::new();
        for owner in metadata.list_of("ownerReferences")? {
            let text =
                |field: &str| Ok::<_, ImportError>(owner.text_of(field)?.unwrap_or_default().to_owned());
            owners.push((text("uid")?, text("name")?));
        }
        let admission = at.path(&["status", "admission"])?;
        let mut sets = Vec::new();
        for set in spec.list_of("podSets")? {
            let pod = set.need("template")?.need("spec")?;
            let set_name = set.text_of("name")?.unwrap_or("main");
            let mut count = set.get("count")?.map_or(Ok(1), At::whole)?;
            if set.get("minCount")?.is_some() {
                kube.cluster.left_out.add("partial admission of workloads", &full);
            }
            if set.get("topologyRequest")?.is_some() {
                kube.cluster.left_out.add("topology requests of workloads", &full);
            }
            let demand = kube.quantities.of_pod(&mut kube.cluster, pod)?;
            let rule = Rule::of_pod(pod, &full, &mut kube.cluster.left_out)?;
            kube.stays_out(pod, &full)?;
            let mut flavours = Vec::new();
            for assigned in
                admission.map(|of| of.list_of("podSetAssignments")).transpose()?.into_iter().flatten()
            {
                if assigned.text_of("name")?.unwrap_or("main") != set_name {
                    continue;
                }
                count = assigned.get("count")?.map_or(Ok(count), At::whole)?;
                for (resource, flavour) in assigned.entries_of("flavors")? {
                    flavours.push((resource.to_owned(), flavour.text()?.to_owned()));
                }
            }
            if count > 1_000_000 {
                return Err(set.error(format!("{count} pods: expected at most 1000000")));
            }
            sets.push(PodSet { name: set_name.to_owned(), count, demand, rule, flavours });
        }
        if at
            .path(&["status", "reclaimablePods"])?
            .is_some_and(|of| of.list().is_ok_and(|mut of| of.next().is_some()))
        {
            kube.cluster.left_out.add("finished pods of workloads, whose quota is free again", &full);
        }
        let admitted = admission.map(|of| of.need("clusterQueue")?.name().map(str::to_owned)).transpose()?;
        let queue = spec.text_of("queueName")?.unwrap_or_default().to_owned();
        let is_active = spec.get("active")?.map_or(Ok(true), At::boolean)?;
        let priority = spec.get("priority")?.map_or(Ok(0), At::integer)?;
        let workload = Workload { name: full, namespace, queue, owners, sets, admitted, is_active, priority };
        self.workloads.push(workload);
        Ok(())
    }

    fn finish(mut self, kube: &mut Kube) -> Result<(), ImportError> {
        kube.quotas_of_pods = self.quotas.cover("pods");
        self.quotas.groups(kube, &self.flavours)?;
        // The annotation of a pod, the UIDs of its owners or the name of its job identify the workload of the
        // pod.
        let mut by_name: HashMap<&str, usize> = HashMap::new();
        let mut by_owner: HashMap<&str, usize> = HashMap::new();
        let mut by_job: HashMap<String, usize> = HashMap::new();
        for (w, workload) in self.workloads.iter().enumerate() {
            by_name.insert(&workload.name, w);
            for (uid, name) in &workload.owners {
                if !uid.is_empty() {
                    by_owner.insert(uid, w);
                }
                by_job.insert(format!("{}/{name}", workload.namespace), w);
            }
        }
        let mut placed: Vec<Vec<u64>> = self.workloads.iter().map(|of| vec![0; of.sets.len()]).collect();
        for claimed in &self.pods {
            let of_job = |name: &String| by_job.get(&format!("{}/{name}", claimed.pod.namespace)).copied();
            let found = claimed.workload.as_ref().and_then(|name| by_name.get(name.as_str()).copied());
            let found =
                found.or_else(|| claimed.owners.iter().find_map(|uid| by_owner.get(uid.as_str()).copied()));
            let found = found.or_else(|| claimed.owner_names.iter().find_map(of_job));
            match found {
                Some(w) => self.placed(kube, claimed, w, &mut placed[w]),
                None => self.unclaimed(kube, claimed),
            }
        }
        let mut asked: Ordered<Vec<Vec<Flavour>>, ()> = Ordered::default();
        for (workload, placed) in self.workloads.iter().zip(&placed) {
            self.rest(kube, workload, placed, &mut asked);
        }
        self.quota_servers(kube, &asked)
    }

    /// Adds servers with quotas for combinations of flavours that workloads may use and of which no node is
    /// in the dump.
    fn quota_servers(
        &self,
        kube: &mut Kube,
        asked: &Ordered<Vec<Vec<Flavour>>, ()>,
    ) -> Result<(), ImportError> {
        /// The largest number of combinations of flavours, with one flavour of each resource group.
        const MOST: usize = 1000;
        let mut wanted: BTreeSet<Vec<&str>> = BTreeSet::new();
        for (lists, ()) in asked.entries() {
            let mut combinations: Vec<Combination<'_>> = vec![Combination::new()];
            for list in lists {
                if combinations.len().saturating_mul(list.len()) > MOST {
                    let message =
                        format!("queues have more than {MOST} combinations of flavours without nodes");
                    return Err(ImportError::Dumps(message));
                }
                let with = |of| list.iter().map(move |flavour| with_flavour(of, flavour));
                combinations = combinations.iter().flat_map(with).collect();
            }
            let labels = |of: &Combination<'_>| -> Labels {
                of.values().flat_map(|flavour| flavour.labels.clone()).collect()
            };
            // If a node of one of the combinations is in the dump, nodes are used instead of quotas.
            if combinations.iter().any(|of| kube.has_node_with(&labels(of))) {
                continue;
            }
            wanted.extend(combinations.iter().map(|of| of.keys().copied().collect::<Vec<_>>()));
        }
        let has_nodes = !kube.cluster.servers.entries().is_empty();
        let names: BTreeSet<&str> = wanted.iter().flatten().copied().collect();
        if !has_nodes {
            let what = "servers: no file has nodes, so quota alone decides, and nothing is claimed about single servers (add the output of kubectl get nodes -o json)";
            kube.cluster.left_out.add_many(what, 0, Vec::new());
        } else if !names.is_empty() {
            let what = "flavours without a node in the dump: quota alone decides, and nothing is claimed about single servers";
            let count = names.len() as u64;
            kube.cluster.left_out.add_many(what, count, names.iter().map(|name| (*name).to_owned()));
        }
        for flavours in &wanted {
            let mut capacity = Amounts::new();
            for flavour in flavours {
                for (resource, quota) in self.quotas.of_flavour(flavour) {
                    *capacity.entry(kube.cluster.resource(resource)).or_default() += quota;
                }
            }
            kube.quota_server(flavours.iter().map(|name| (*name).to_owned()).collect(), capacity);
        }
        let shared = names.iter().filter(|name| wanted.iter().filter(|of| of.contains(name)).count() > 1);
        let shared: Vec<String> = shared.map(|name| (*name).to_owned()).collect();
        if !shared.is_empty() {
            let what = "flavours without nodes in several combinations: each combination has their whole quota, and limits of queues bound the sum";
            kube.cluster.left_out.add_many(what, shared.len() as u64, shared);
        }
        Ok(())
    }

    /// Adds a pod of a workload as a running task. A pod without a node is not added, and counts as missing
    /// in [`Self::rest`].
    fn placed(&self, kube: &mut Kube, claimed: &Claimed, w: usize, placed: &mut [u64]) {
        let (workload, pod) = (&self.workloads[w], &claimed.pod);
        // If the dump has no nodes, the nodes of pods are not known, and the workload counts as admitted.
        if kube.cluster.servers.entries().is_empty() {
            return;
        }
        let (Some(queue), Some(node)) = (&workload.admitted, &pod.node) else {
            if let (None, Some(_)) = (&workload.admitted, &pod.node) {
                kube.cluster
                    .left_out
                    .add("pods of workloads that are not admitted, subtracted from their nodes", &pod.name);
                kube.take_away(pod);
            }
            return;
        };
        let of_name = workload.sets.iter().position(|set| Some(&set.name) == claimed.set.as_ref());
        let of_demand = || workload.sets.iter().position(|set| set.demand == pod.demand);
        let set = of_name.or_else(of_demand).unwrap_or_default();
        let Some(of_set) = workload.sets.get(set) else { return };
        if placed[set] == of_set.count {
            kube.cluster.left_out.add(
                "pods beyond the admitted number of their workload, subtracted from their nodes",
                &pod.name,
            );
            kube.take_away(pod);
            return;
        }
        placed[set] += 1;
        let group = kube.cluster.group(queue);
        let place = kube.cluster.place(node);
        let traits = Traits { priority: workload.priority, ..pod.traits.clone() };
        kube.cluster
            .tasks_with(Some(group), &pod.demand, pod.rule, of_set.count, traits)
            .runs(place, &pod.name);
        let name = format!("Workload {}", workload.name);
        let owned = Owned { owner: name.clone(), since: pod.since.clone(), gang: name };
        kube.cluster.owned_by(&pod.name, owned);
    }

    /// Adds a pod without a workload as a task of the queue that the label of the pod names. A pod without
    /// such a label is not a task.
    fn unclaimed(&self, kube: &mut Kube, claimed: &Claimed) {
        let pod = &claimed.pod;
        let local = claimed.queue.as_ref().map(|queue| format!("{}/{queue}", pod.namespace));
        let queue = local.and_then(|local| self.local_queues.get(&local));
        match (queue, &pod.node) {
            (Some(_), Some(_)) if kube.cluster.servers.entries().is_empty() => {
                let what = "pods of queues without a workload, on nodes that are not in the dump";
                kube.cluster.left_out.add(what, &pod.name);
            }
            (Some(queue), Some(_)) => {
                let group = kube.cluster.group(queue);
                kube.runs(group, pod, 1, "");
            }
            (Some(_), None) => {
                kube.cluster.left_out.add("waiting pods of queues without a workload", &pod.name);
            }
            (None, _) if claimed.set.is_some() => {
                let what = "pods of Kueue whose workload is not in the dump, subtracted from their nodes";
                kube.cluster.left_out.add(what, &pod.name);
                kube.take_away(pod);
            }
            (None, _) => kube.take_away(pod),
        }
    }

    /// Adds the waiting or admitted tasks of a workload for which no pods run.
    fn rest(
        &self,
        kube: &mut Kube,
        workload: &Workload,
        placed: &[u64],
        asked: &mut Ordered<Vec<Vec<Flavour>>, ()>,
    ) {
        let local = format!("{}/{}", workload.namespace, workload.queue);
        let Some(queue) = workload.admitted.as_ref().or_else(|| self.local_queues.get(&local)) else {
            kube.cluster
                .left_out
                .add("waiting workloads whose local queue is not in the dump", &workload.name);
            return;
        };
        if !self.quotas.has(queue) {
            kube.cluster.left_out.add("workloads whose cluster queue is not in the dump", &workload.name);
            return;
        }
        if workload.admitted.is_none() && (!workload.is_active || self.quotas.is_stopped(queue)) {
            let why = if workload.is_active { "of a queue that is stopped" } else { "that are not active" };
            kube.cluster.left_out.add(&format!("waiting workloads {why}"), &workload.name);
            return;
        }
        let waits = workload.admitted.is_none();
        let mut shapes = Vec::new();
        for (set, placed) in workload.sets.iter().zip(placed) {
            let left = set.count.saturating_sub(*placed);
            if left == 0 {
                continue;
            }
            let mut rule = set.rule.clone();
            rule.flavours = if waits { self.possible(kube, queue, set) } else { self.assigned(set) };
            let (one_of, is_complete) = if waits { one_of(kube, &rule) } else { (Vec::new(), true) };
            if !rule.flavours.is_empty() {
                asked.place(&rule.flavours, || ());
            }
            kube.cluster.copies(left.min(MOST_TASK_NAMES), workload.name.len(), "names of waiting pods");
            let rule = kube.rules.place(&rule, || ());
            let mut traits = Traits { priority: workload.priority, one_of, ..Traits::default() };
            if !is_complete {
                traits.not_modelled.push("which flavour of many a pod set would get".to_owned());
            }
            shapes.push((set, left, rule, traits));
        }
        // The pod sets of a workload start together.
        let word = if waits && shapes.len() > 1 { word_of(queue, &shapes) } else { String::new() };
        let group = kube.cluster.group(queue);
        for (part, (set, left, rule, mut traits)) in shapes.into_iter().enumerate() {
            if !word.is_empty() {
                (traits.together, traits.part) = (word.clone(), part);
            }
            let tasks = kube.cluster.tasks_with(Some(group), &set.demand, rule, set.count, traits);
            if waits {
                let first = 0..left.min(MOST_TASK_NAMES);
                let names = first.map(|k| {
                    if set.count == 1 { workload.name.clone() } else { format!("{} {k}", workload.name) }
                });
                tasks.waits("", left, names);
            } else {
                tasks.admitted += left;
            }
        }
    }

    /// Returns the flavours that were assigned to a pod set, without repetitions.
    fn assigned(&self, set: &PodSet) -> Vec<Vec<Flavour>> {
        let names: BTreeSet<&String> = set.flavours.iter().map(|(_, flavour)| flavour).collect();
        let known = names.into_iter().filter_map(|name| self.flavours.get(name));
        known.map(|of| vec![of.flavour.clone()]).collect()
    }

    /// Returns the flavours that a pod set may get, for each resource group of a queue.
    fn possible(&self, kube: &Kube, queue: &str, set: &PodSet) -> Vec<Vec<Flavour>> {
        let asked: Vec<&str> = set
            .demand
            .iter()
            .filter(|(_, amount)| !amount.is_zero())
            .map(|(r, _)| kube.cluster.resources.entries()[*r].0.as_str())
            .collect();
        let may_have = |of: &&FlavourOf| {
            let covers = |taint: &Taint| {
                let all: Vec<&Toleration> =
                    set.rule.tolerations.iter().chain(&of.flavour.tolerations).collect();
                all.iter().any(|toleration| toleration.covers(taint))
            };
            of.taints.iter().all(covers)
        };
        let groups = self.quotas.flavours_for(queue, &asked);
        groups
            .map(|names| {
                let known = names.iter().filter_map(|name| self.flavours.get(*name));
                known.filter(may_have).map(|of| of.flavour.clone()).collect()
            })
            .collect()
    }
}

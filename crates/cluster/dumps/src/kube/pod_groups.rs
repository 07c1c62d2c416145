//! Pod groups of Volcano and KAI: groups of pods with a least number of pods that must start together.

use std::collections::{HashMap, HashSet};
use std::fmt::Write;

use super::super::cluster::{Amounts, MOST_TASK_NAMES, Traits};
use super::super::tree::{At, Item};
use super::{Kube, Pod, full_name};
use evenhand_import::ImportError;
use evenhand_import::Ordered;

/// The largest number of pods of one group that a job may describe.
const MOST_PODS: u64 = 100_000;

/// The groups of pods, and the pods of each group.
#[derive(Default)]
pub(in super::super) struct PodGroups {
    groups: Ordered<String, PodGroup>,
    pods: Vec<(String, Pod)>,
    /// The names of queues whose pods the scheduler may not stop for other queues.
    pub protected: HashSet<String>,
}

/// A group of pods.
struct PodGroup {
    queue: String,
    /// The number of pods that must start together. Finished pods are already subtracted.
    least: u64,
    /// True if the scheduler may not stop the pods of the group for other pods.
    is_protected: bool,
    /// The pods that the job of the group describes. They are used if the group has no pods yet.
    described: Vec<Described>,
}

/// Identical pods that a job will create.
pub(in super::super) struct Described {
    pub count: u64,
    pub demand: Amounts,
    pub rule: usize,
}

/// The reason why the waiting pods of a queue do not count, keyed by the name of the queue. `None` if the
/// pods count.
pub(in super::super) type Queues = HashMap<String, Option<&'static str>>;

impl PodGroups {
    /// Reads a pod group. A finished group is ignored.
    pub fn group(&mut self, at: At<'_>) -> Result<(), ImportError> {
        let spec = at.need("spec")?;
        let status = |field: &str| match at.get("status")? {
            Some(status) => Ok::<_, ImportError>(status.get(field)?),
            None => Ok(None),
        };
        let is_done = match status("phase")? {
            Some(phase) => matches!(phase.text()?, "Completed" | "Succeeded"),
            None => false,
        };
        if is_done {
            return Ok(());
        }
        let queue = spec.text_of("queue")?.filter(|queue| !queue.is_empty()).unwrap_or("default").to_owned();
        let least = spec.get("minMember")?.map_or(Ok(1), At::whole)?;
        let done = status("succeeded")?.map_or(Ok(0), At::whole)?;
        let is_protected = is_protected(spec)?;
        let least = least.saturating_sub(done);
        let group = PodGroup { queue, least, is_protected, described: Vec::new() };
        self.groups.value(&full_name(at)?, || group);
        Ok(())
    }

    /// Records the pods that a job describes for a group.
    pub fn describe(&mut self, group: &str, pods: Vec<Described>) {
        if let Some(at) = self.groups.find(group) {
            self.groups.at(at).described = pods;
        }
    }

    /// Adds a pod to a group. `group` is the name of the group as `namespace/name`.
    pub fn pod(&mut self, group: String, pod: Pod) {
        self.pods.push((group, pod));
    }

    /// Converts all pods to tasks. A running pod that the scheduler does not count is subtracted from the
    /// capacity of its node.
    pub fn finish(self, kube: &mut Kube, queues: &Queues) {
        let mut of_group: Ordered<String, Vec<Pod>> = Ordered::default();
        for (group, pod) in self.pods {
            of_group.value(&group, Vec::new).push(pod);
        }
        for (name, group) in self.groups.entries() {
            if of_group.find(name).is_none() {
                described(kube, queues, name, group);
            }
        }
        for (name, mut pods) in of_group.into_entries() {
            let Some(at) = self.groups.find(&name) else {
                pods.iter().for_each(|pod| foreign(kube, pod, "pods whose pod group is not in the dump"));
                continue;
            };
            let PodGroup { queue, least, is_protected, .. } = &self.groups.entries()[at].1;
            let is_protected = *is_protected || self.protected.contains(queue);
            let Some(held_back) = queues.get(queue) else {
                pods.iter().for_each(|pod| foreign(kube, pod, "pods whose queue is not in the dump"));
                continue;
            };
            pods.sort_by_key(|pod| pod.node.is_none());
            let cannot_start = (pods.len() as u64) < *least && pods.iter().any(|pod| pod.node.is_none());
            let sizes = gangs(pods.iter().map(|pod| (&pod.demand, pod.rule)), *least);
            let runs = pods.iter().any(|pod| pod.node.is_some());
            let word = if runs { String::new() } else { word_of(queue, &sizes, &pods) };
            let group = kube.cluster.group(queue);
            let of_gang = if *least > 1 { format!("PodGroup {name}") } else { String::new() };
            for (pod, (gang, part)) in pods.iter_mut().zip(sizes) {
                pod.traits.is_protected |= is_protected;
                if let Some(part) = part.filter(|_| !word.is_empty()) {
                    (pod.traits.together, pod.traits.part) = (word.clone(), part);
                }
                let pod = &*pod;
                if pod.node.is_some() {
                    let of_gang = if gang > 1 { of_gang.as_str() } else { "" };
                    kube.runs(group, pod, gang, of_gang);
                    continue;
                }
                let why = if pod.is_gated {
                    Some("waiting pods that are held back by scheduling gates")
                } else if cannot_start {
                    Some("waiting pods of groups with fewer pods than must start together")
                } else {
                    *held_back
                };
                match why {
                    Some(why) => kube.cluster.left_out.add(why, &pod.name),
                    None => {
                        let traits = pod.traits.clone();
                        let tasks = kube.cluster.tasks_with(Some(group), &pod.demand, pod.rule, gang, traits);
                        tasks.waits(&pod.reason, 1, [pod.name.clone()]);
                    }
                }
            }
        }
    }
}

/// Records a pod as left out if the scheduler does not place it by its queues. If the pod runs, its demand is
/// subtracted from its node.
fn foreign(kube: &mut Kube, pod: &Pod, what: &str) {
    kube.cluster.left_out.add(what, &pod.name);
    if pod.node.is_some() {
        kube.take_away(pod);
    }
}

/// Adds the waiting pods that the job of a group describes and that have not been created yet.
fn described(kube: &mut Kube, queues: &Queues, name: &str, group: &PodGroup) {
    if group.described.is_empty() {
        kube.cluster.left_out.add("groups without pods, whose demand is not known", name);
        return;
    }
    let why = match queues.get(&group.queue) {
        Some(held_back) => *held_back,
        None => Some("pods whose queue is not in the dump"),
    };
    if let Some(why) = why {
        let pods = group.described.iter().map(|pods| pods.count).sum();
        kube.cluster.left_out.add_many(why, pods, [name.to_owned()]);
        return;
    }
    let mut first = group.least;
    let v = kube.cluster.group(&group.queue);
    let mut word = String::new();
    if group.described.len() > 1 && first > 1 {
        // Groups of one queue with the same description get the same key, so that they become the same users.
        let shape = |of: &Described| {
            let demand: Vec<String> = of.demand.iter().map(|(r, d)| format!("{r}={d}")).collect();
            format!("{} x ({}; {})", of.count, demand.join(","), of.rule)
        };
        let shapes: Vec<String> = group.described.iter().map(shape).collect();
        word = format!("{}: least {first} of {}", group.queue, shapes.join(" "));
    }
    for (s, Described { count, demand, rule }) in group.described.iter().enumerate() {
        let together = first.min(*count);
        first -= together;
        for (tasks, gang, from) in [(together, together, 0), (count - together, 1, together)] {
            if tasks > 0 {
                let names = (from..from + tasks.min(MOST_TASK_NAMES)).map(|k| format!("{name} {s}.{k}"));
                kube.cluster.copies(tasks.min(MOST_TASK_NAMES), name.len(), "names of waiting pods");
                let names: Vec<String> = names.collect();
                let is_of_start = from == 0 && together > 0;
                let together = if is_of_start { word.clone() } else { String::new() };
                let part = if is_of_start { s } else { 0 };
                let traits = Traits { together, part, ..Traits::default() };
                kube.cluster.tasks_with(Some(v), demand, *rule, gang, traits).waits("", tasks, names);
            }
        }
    }
}

/// Returns the gang size and the shape number of each pod. The first `least` pods start together. The gang of
/// such a pod consists of the pods of its shape among the first `least` pods. Later pods start alone and have
/// no shape number.
fn gangs<'p>(pods: impl Iterator<Item = (&'p Amounts, usize)>, least: u64) -> Vec<(u64, Option<usize>)> {
    let least = usize::try_from(least).unwrap_or(usize::MAX);
    let mut shapes: Ordered<(Vec<(usize, rug::Rational)>, usize), u64> = Ordered::default();
    let of: Vec<Option<usize>> = pods
        .enumerate()
        .map(|(k, (demand, rule))| {
            (k < least).then(|| {
                let demand = demand.iter().map(|(r, amount)| (*r, amount.clone())).collect();
                let at = shapes.place(&(demand, rule), || 0);
                *shapes.at(at) += 1;
                at
            })
        })
        .collect();
    of.into_iter().map(|at| at.map_or((1, None), |at| (shapes.entries()[at].1, Some(at)))).collect()
}

/// Returns a key for pods of several shapes that start together. Groups of one queue with identical pods have
/// the same key. The key is empty if the pods have one shape.
fn word_of(queue: &str, sizes: &[(u64, Option<usize>)], pods: &[Pod]) -> String {
    let mut word = format!("{queue}:");
    let mut shapes = 0;
    for (pod, (gang, part)) in pods.iter().zip(sizes) {
        if *part == Some(shapes) {
            shapes += 1;
            let demand: Vec<String> = pod.demand.iter().map(|(r, d)| format!("{r}={d}")).collect();
            let _ = write!(word, " {gang} x ({}; {}; {})", demand.join(","), pod.rule, pod.traits.priority);
        }
    }
    if shapes > 1 { word } else { String::new() }
}

/// Returns `true` if the pods of a group may not be stopped for other pods. KAI's field `preemptibility`
/// decides. If it is missing, the priority class decides: `build` and `inference` are not preemptible (KAI's
/// documentation, "Workload Priority").
fn is_protected(spec: At<'_>) -> Result<bool, ImportError> {
    if let Some(of) = spec.text_of("preemptibility")?.filter(|of| !of.is_empty()) {
        return Ok(of.eq_ignore_ascii_case("non-preemptible"));
    }
    let class = spec.text_of("priorityClassName")?.unwrap_or_default();
    Ok(matches!(class, "build" | "inference"))
}

/// Reads the number of pods of a job's description.
pub(in super::super) fn replicas(at: At<'_>) -> Result<u64, ImportError> {
    let count = at.get("replicas")?.map_or(Ok(1), At::whole)?;
    if count > MOST_PODS {
        return Err(at.error(format!("{count} pods: expected at most {MOST_PODS}")));
    }
    Ok(count)
}

/// Returns the group of a pod as `namespace/name`. The first of these annotations that the pod has names the
/// group.
pub(in super::super) fn group_of(at: At<'_>, annotations: &[&str]) -> Result<Option<String>, ImportError> {
    let metadata = at.need("metadata")?;
    let Some(of) = metadata.get("annotations")? else { return Ok(None) };
    let namespace = metadata.text_of("namespace")?.unwrap_or("default");
    for annotation in annotations {
        if let Some(group) = of.text_of(annotation)? {
            return Ok(Some(format!("{namespace}/{group}")));
        }
    }
    Ok(None)
}

/// Returns the kind of an object in a snapshot of KAI. The name of the list that contains the object
/// determines its kind.
pub(in super::super) fn kind_of_list(item: &Item<'_>) -> Option<&'static str> {
    let place = item.place.to_string();
    let list = place.strip_prefix("rawObjects.")?.split('[').next()?;
    KINDS.iter().find(|(name, _)| *name == list).map(|(_, kind)| *kind)
}

/// The lists of the snapshot of KAI, with the kinds of their objects. A snapshot has all of these lists.
pub(in super::super) const KINDS: [(&str, &str); 7] = [
    ("pods", "Pod"),
    ("nodes", "Node"),
    ("queues", "Queue"),
    ("podGroups", "PodGroup"),
    ("bindRequests", "BindRequest"),
    ("resourceClaims", "ResourceClaim"),
    ("topologies", "Topology"),
];

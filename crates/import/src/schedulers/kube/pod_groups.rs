//! Groups of pods of which a least number starts together: what Volcano and KAI share.

use std::collections::HashMap;

use super::super::cluster::{Amounts, MOST_TASK_NAMES};
use super::super::tree::{At, Item};
use super::{Kube, Pod, full_name};
use crate::ImportError;
use crate::ordered::Ordered;

/// Most pods of one group that are only described.
const MOST_PODS: u64 = 100_000;

/// Groups of pods, and the pods of each.
#[derive(Default)]
pub(in super::super) struct PodGroups {
    groups: Ordered<String, PodGroup>,
    pods: Vec<(String, Pod)>,
}

/// A group of pods.
struct PodGroup {
    queue: String,
    /// How many pods start together, without those that are done.
    least: u64,
    /// What its pods will be where there are none yet.
    described: Vec<Described>,
}

/// Pods that are alike and that a job will make.
pub(in super::super) struct Described {
    pub count: u64,
    pub demand: Amounts,
    pub rule: usize,
}

/// By queue: why its waiting pods do not count, if they do not.
pub(in super::super) type Queues = HashMap<String, Option<&'static str>>;

impl PodGroups {
    /// Reads a pod group; one that is done is none.
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
        let group = PodGroup { queue, least: least.saturating_sub(done), described: Vec::new() };
        self.groups.value(&full_name(at)?, || group);
        Ok(())
    }

    /// Says what the pods of a group will be.
    pub fn describe(&mut self, group: &str, pods: Vec<Described>) {
        if let Some(at) = self.groups.find(group) {
            self.groups.at(at).described = pods;
        }
    }

    /// Takes a pod of a group, `namespace/name`.
    pub fn pod(&mut self, group: String, pod: Pod) {
        self.pods.push((group, pod));
    }

    /// Makes tasks of all pods. What the scheduler does not count takes from its node, and is named where it waits.
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
                pods.iter().for_each(|pod| foreign(kube, pod, "pods of groups that the dump does not have"));
                continue;
            };
            let PodGroup { queue, least, .. } = &self.groups.entries()[at].1;
            let Some(held_back) = queues.get(queue) else {
                pods.iter().for_each(|pod| foreign(kube, pod, "pods of queues that the dump does not have"));
                continue;
            };
            pods.sort_by_key(|pod| pod.node.is_none());
            let cannot_start = (pods.len() as u64) < *least && pods.iter().any(|pod| pod.node.is_none());
            let sizes = gangs(kube, &name, pods.iter().map(|pod| (&pod.demand, pod.rule)), *least);
            let group = kube.cluster.group(queue);
            for (pod, gang) in pods.iter().zip(sizes) {
                if let Some(node) = &pod.node {
                    let place = kube.cluster.place(node);
                    kube.cluster.tasks(Some(group), &pod.demand, pod.rule, gang).runs(place, &pod.name);
                    continue;
                }
                let why = if pod.is_gated {
                    Some("waiting pods that are held back by scheduling gates")
                } else if cannot_start {
                    Some("waiting pods of groups that have fewer pods than start together")
                } else {
                    *held_back
                };
                match why {
                    Some(why) => kube.cluster.left_out.add(why, &pod.name),
                    None => kube.cluster.tasks(Some(group), &pod.demand, pod.rule, gang).waits(
                        &pod.reason,
                        1,
                        [pod.name.clone()],
                    ),
                }
            }
        }
    }
}

/// A pod that the scheduler does not place by its queues.
fn foreign(kube: &mut Kube, pod: &Pod, what: &str) {
    kube.cluster.left_out.add(what, &pod.name);
    if pod.node.is_some() {
        kube.take_away(pod);
    }
}

/// Pods that wait to be made.
fn described(kube: &mut Kube, queues: &Queues, name: &str, group: &PodGroup) {
    if group.described.is_empty() {
        kube.cluster
            .left_out
            .add("groups that have no pods yet, of which what they ask for is not known", name);
        return;
    }
    let why = match queues.get(&group.queue) {
        Some(held_back) => *held_back,
        None => Some("pods of queues that the dump does not have"),
    };
    if let Some(why) = why {
        let pods = group.described.iter().map(|pods| pods.count).sum();
        kube.cluster.left_out.add_many(why, pods, [name.to_owned()]);
        return;
    }
    let mut first = group.least;
    let v = kube.cluster.group(&group.queue);
    if group.described.len() > 1 && first > 1 {
        several_shapes(kube, name);
    }
    for (s, Described { count, demand, rule }) in group.described.iter().enumerate() {
        let together = first.min(*count);
        first -= together;
        for (tasks, gang, from) in [(together, together, 0), (count - together, 1, together)] {
            if tasks > 0 {
                let names = (from..from + tasks.min(MOST_TASK_NAMES)).map(|k| format!("{name} {s}.{k}"));
                kube.cluster.copies(tasks.min(MOST_TASK_NAMES), name.len(), "names of waiting pods");
                let names: Vec<String> = names.collect();
                kube.cluster.tasks(Some(v), demand, *rule, gang).waits("", tasks, names);
            }
        }
    }
}

fn several_shapes(kube: &mut Kube, name: &str) {
    kube.cluster
        .left_out
        .add("groups of pods of several shapes, each of which counts as a gang by itself", name);
}

/// By pod how many start together: of the first that have to, those that are alike; the others start one by one.
fn gangs<'p>(
    kube: &mut Kube,
    name: &str,
    pods: impl Iterator<Item = (&'p Amounts, usize)>,
    least: u64,
) -> Vec<u64> {
    let least = usize::try_from(least).unwrap_or(usize::MAX);
    let mut alike: Ordered<(Vec<(usize, rug::Rational)>, usize), u64> = Ordered::default();
    let of: Vec<Option<usize>> = pods
        .enumerate()
        .map(|(k, (demand, rule))| {
            (k < least).then(|| {
                let demand = demand.iter().map(|(r, amount)| (*r, amount.clone())).collect();
                let at = alike.place(&(demand, rule), || 0);
                *alike.at(at) += 1;
                at
            })
        })
        .collect();
    if alike.entries().len() > 1 {
        several_shapes(kube, name);
    }
    of.into_iter().map(|at| at.map_or(1, |at| alike.entries()[at].1)).collect()
}

/// How many pods a description makes.
pub(in super::super) fn replicas(at: At<'_>) -> Result<u64, ImportError> {
    let count = at.get("replicas")?.map_or(Ok(1), At::whole)?;
    if count > MOST_PODS {
        return Err(at.error(format!("{count} pods: expected at most {MOST_PODS}")));
    }
    Ok(count)
}

/// The group of a pod, `namespace/name`, by the first of some annotations that it has.
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

/// The kind of an object that stands in a list which says it, as in the snapshot of KAI.
pub(in super::super) fn kind_of_list(item: &Item<'_>) -> Option<&'static str> {
    let place = item.place.to_string();
    let list = place.strip_prefix("rawObjects.")?.split('[').next()?;
    KINDS.iter().find(|(name, _)| *name == list).map(|(_, kind)| *kind)
}

/// Lists of the snapshot of KAI, which has all of them, and the kinds of their objects.
pub(in super::super) const KINDS: [(&str, &str); 7] = [
    ("pods", "Pod"),
    ("nodes", "Node"),
    ("queues", "Queue"),
    ("podGroups", "PodGroup"),
    ("bindRequests", "BindRequest"),
    ("resourceClaims", "ResourceClaim"),
    ("topologies", "Topology"),
];

//! The importer for KAI: pod groups in a tree of queues.
//!
//! Follows the KAI scheduler 0.4 to 0.13: its snapshot (`/get-snapshot`, a zip archive of one JSON file), or
//! `scheduling.run.ai/v2` of queues and `v2alpha2` of pod groups (`pkg/apis/scheduling`) with the nodes and pods of
//! Kubernetes: <https://github.com/NVIDIA/KAI-Scheduler/tree/main/docs/queues>.
//!
//! A queue states the quota, the limit and the over-quota weight of processors (in thousandths), memory (in
//! 10^6 bytes) and GPUs. An amount that is not stated is 0, and -1 means no limit. The weight of a group is
//! the weight of its GPUs. Pods request a fraction of a GPU by annotations. Such a request counts as a
//! fraction of all GPUs of a server. The pods that reserve GPUs for such fractions do not count.

use evenhand_problem::snapshot::{Snapshot, System};
use rug::Rational;

use super::classes::Part;
use super::cluster::ReportedNumber;
use super::kube::pod_groups::{PodGroups, Queues, group_of};
use super::kube::{Kube, Pod, full_name, name};
use super::source::Bytes;
use super::tree::At;
use evenhand_import::ImportError;

const GROUP: &[&str] = &["pod-group-name"];
const GPU: &str = "nvidia.com/gpu";
/// The namespace of pods that reserve GPUs. Several other pods share such a GPU.
const RESERVING: &str = "kai-resource-reservation";
/// The resources of a queue: the name in KAI, the name in the snapshot, and the factor from KAI's unit to the
/// unit of the snapshot as numerator and denominator.
const RESOURCES: [(&str, &str, (u32, u32)); 3] =
    [("cpu", "cpu", (1, 1000)), ("memory", "memory", (1_000_000, 1)), ("gpu", GPU, (1, 1))];
/// The priority of a queue that states no priority.
const PRIORITY: i64 = 100;

/// The condition that is not modelled for tasks with a fraction of a GPU.
const ON_ONE_GPU: &str = "whether a single GPU has this fraction free";

#[derive(Default)]
struct Kai {
    groups: PodGroups,
    /// Pods with the names of their groups.
    pods: Vec<(String, Pod)>,
    /// Positions of pods that request GPU memory, with the amounts in MiB.
    of_memory: Vec<(usize, Rational)>,
    queues: Queues,
    /// Queues with an unlimited quota of a resource: the group, the resource and the limit.
    promised_all: Vec<(usize, &'static str, Option<Rational>)>,
}

pub(super) fn read(inputs: Vec<Bytes>, part: &Part) -> Result<Snapshot, ImportError> {
    let mut kube = Kube::new(System::Kai);
    let mut kai = Kai::default();
    kube.objects(inputs, &mut |kube, kind, at| match kind {
        "Node" => kube.node(at),
        "Pod" => kai.pod(kube, at),
        "Queue" => kai.queue(kube, at),
        "PodGroup" => kai.pod_group(kube, at),
        kind => kube.other(kind, at),
    })?;
    let kinds = [("Node", "nodes"), ("Pod", "pods"), ("Queue", "queues"), ("PodGroup", "podgroups")];
    kube.needs(&kinds, "nodes,pods,queues.scheduling.run.ai,podgroups.scheduling.run.ai")?;
    kai.memory_of_gpus(&mut kube);
    let Kai { mut groups, mut pods, queues, promised_all, .. } = kai;
    certain_fractions(&kube, &mut pods);
    pods.into_iter().for_each(|(group, pod)| groups.pod(group, pod));
    groups.finish(&mut kube, &queues);
    kube.settle();
    promise_all(&mut kube, promised_all);
    kube.finish(part)
}

impl Kai {
    fn pod(&mut self, kube: &mut Kube, at: At<'_>) -> Result<(), ImportError> {
        let Some(mut pod) = kube.pod(at)? else { return Ok(()) };
        if pod.namespace == RESERVING {
            kube.cluster.left_out.add("pods that reserve GPUs which other pods share", &pod.name);
            return Ok(());
        }
        let Some(group) = group_of(at, GROUP)? else {
            kube.take_away(&pod);
            return Ok(());
        };
        let annotation = |name: &str| match at.need("metadata")?.get("annotations")? {
            Some(of) => of.get(name),
            None => Ok(None),
        };
        if let Some(fraction) = annotation("gpu-fraction")? {
            let devices = annotation("gpu-fraction-num-devices")?.map_or(Ok(1), At::whole)?;
            let gpus = fraction.number()? * devices;
            *pod.demand.entry(kube.cluster.resource(GPU)).or_default() += gpus;
            pod.traits.not_modelled.push(ON_ONE_GPU.to_owned());
        } else if let Some(memory) = annotation("gpu-memory")? {
            let devices = annotation("gpu-fraction-num-devices")?.map_or(Ok(1), At::whole)?;
            self.of_memory.push((self.pods.len(), memory.number()? * devices));
        }
        self.pods.push((group, pod));
        Ok(())
    }

    /// Converts requests for GPU memory to fractions of a GPU, if all GPUs have the same memory.
    fn memory_of_gpus(&mut self, kube: &mut Kube) {
        let memory = kube.memory_of_gpus();
        for (at, mebibytes) in std::mem::take(&mut self.of_memory) {
            let pod = &mut self.pods[at].1;
            match &memory {
                Some(all) => {
                    *pod.demand.entry(kube.cluster.resource(GPU)).or_default() += mebibytes / all;
                    pod.traits.not_modelled.push(ON_ONE_GPU.to_owned());
                }
                None => {
                    let what = "requests for GPU memory, which count as no GPU: the nodes do not all state the same GPU memory";
                    kube.cluster.left_out.add(what, &pod.name);
                    pod.traits.not_modelled.push("how much memory of a GPU is free".to_owned());
                }
            }
        }
    }

    fn pod_group(&mut self, kube: &mut Kube, at: At<'_>) -> Result<(), ImportError> {
        let (full, spec) = (full_name(at)?, at.need("spec")?);
        let left_out = &mut kube.cluster.left_out;
        if spec.list_of("subGroups")?.next().is_some() {
            left_out.add("subgroups of pod groups", &full);
        }
        if spec.entries_of("topologyConstraint")?.next().is_some() {
            left_out.add("placement constraints of pod groups: topologyConstraint", &full);
        }
        self.groups.group(at)
    }

    fn queue(&mut self, kube: &mut Kube, at: At<'_>) -> Result<(), ImportError> {
        let queue = name(at)?;
        let spec = at.need("spec")?;
        self.queues.insert(queue.to_owned(), None);
        let v = kube.cluster.group(queue);
        let parent = spec.text_of("parentQueue")?.filter(|parent| !parent.is_empty());
        if let Some(parent) = parent {
            kube.cluster.group(parent);
        }
        let resources = spec.get("resources")?;
        let (mut guarantee, mut limit, mut weights) = (Vec::new(), Vec::new(), Vec::new());
        for (word, resource, unit) in RESOURCES {
            let of = resources.map(|of| of.get(word)).transpose()?.flatten();
            let amount = |field: &str| match of {
                Some(of) => stated(of, field, unit),
                None => Ok(Some(Rational::new())),
            };
            let (quota, most) = (amount("quota")?, amount("limit")?);
            match quota {
                // A quota above the limit counts as the limit, because the queue cannot use more.
                Some(quota) => {
                    let quota = most.iter().fold(quota, |quota, most| quota.min(most.clone()));
                    guarantee.push((resource.to_owned(), quota));
                }
                None => self.promised_all.push((v, resource, most.clone())),
            }
            if let Some(most) = most {
                limit.push((resource.to_owned(), most));
            }
            let weight = of.map(|of| of.get("overQuotaWeight")).transpose()?.flatten();
            weights.push(weight.map_or_else(|| Ok(Rational::new()), At::number)?);
        }
        if weights.iter().any(|weight| *weight != weights[2]) {
            let what = "over-quota weights that differ by resource: that of the GPUs counts for all";
            kube.cluster.left_out.add(what, queue);
        }
        for field in ["preemptMinRuntime", "reclaimMinRuntime"] {
            if spec.get(field)?.is_some() {
                kube.cluster.left_out.add(&format!("least run times of jobs: {field}"), queue);
            }
        }
        for field in ["allocated", "requested"] {
            let Some(status) = at.get("status")? else { break };
            for (resource, value) in status.entries_of(field)? {
                kube.cluster.reported.push(ReportedNumber {
                    group: Some(queue.to_owned()),
                    what: if field == "allocated" { "allocated" } else { "requested" },
                    resource: Some(resource.to_owned()),
                    value: Some(kube.quantities.read(value)?),
                });
            }
        }
        let priority = spec.get("priority")?.map_or(Ok(PRIORITY), At::integer)?;
        let of = kube.cluster.groups.at(v);
        of.parent = parent.map(str::to_owned);
        of.weight = weights.pop();
        of.priority = Some(Rational::from(priority));
        of.guarantee = Some(guarantee);
        of.limit = limit;
        Ok(())
    }
}

/// Removes the condition [`ON_ONE_GPU`] if no node has more than one GPU. A fraction that is free on such a
/// node is free on a single GPU.
fn certain_fractions(kube: &Kube, pods: &mut [(String, Pod)]) {
    let has_one = kube.cluster.servers.entries().iter().all(|(_, server)| {
        let gpus = kube.cluster.resources.find(GPU).and_then(|r| server.capacity.get(&r));
        gpus.is_none_or(|gpus| *gpus <= 1)
    });
    if has_one {
        pods.iter_mut().for_each(|(_, pod)| pod.traits.not_modelled.retain(|why| why != ON_ONE_GPU));
    }
}

/// Gives queues with an unlimited quota a guarantee of the capacity of all servers that take tasks, bounded
/// by the limit of the queue.
fn promise_all(kube: &mut Kube, promised: Vec<(usize, &'static str, Option<Rational>)>) {
    for (v, resource, most) in promised {
        let r = kube.cluster.resource(resource);
        let open = kube.cluster.servers.entries().iter().filter(|(_, server)| server.closed.is_none());
        let all: Rational = open.filter_map(|(_, server)| server.capacity.get(&r)).sum();
        let all = most.into_iter().fold(all, Rational::min);
        kube.cluster.groups.at(v).guarantee.get_or_insert_default().push((resource.to_owned(), all));
        let group = kube.cluster.groups.entries()[v].0.clone();
        kube.cluster.left_out.add("unlimited quotas, which promise the capacity of the whole cluster", group);
    }
}

/// Reads an amount and converts its unit. Returns `None` for -1, which means no limit.
fn stated(
    of: At<'_>,
    field: &str,
    (numerator, denominator): (u32, u32),
) -> Result<Option<Rational>, ImportError> {
    match of.get(field)? {
        None => Ok(Some(Rational::new())),
        Some(at) if matches!(at.scalar()?, "-1" | "-1e0") => Ok(None),
        Some(at) => Ok(Some(at.number()? * numerator / denominator)),
    }
}

//! Volcano: pod groups of queues.
//!
//! Follows Volcano 1.7 to 1.15, `scheduling.volcano.sh/v1beta1` of queues and pod groups and `batch.volcano.sh/v1alpha1` of
//! jobs (`staging/src/volcano.sh/apis`), and the nodes and pods of Kubernetes: <https://volcano.sh/en/docs/queue>.
//!
//! The rule is the plugin `proportion`: `spec.weight`, `spec.guarantee.resource` (kept from others, used or not) and
//! `spec.capability`, of which 0 processors or bytes are no limit. Queues stand in a tree by `spec.parent`, or by the
//! annotations `volcano.sh/hierarchy` and `volcano.sh/hierarchy-weights`; the queue `root` is its root. Pods of other
//! schedulers are taken from their nodes. A group without pods waits with what its job describes.

use std::collections::HashMap;

use evenhand_problem::groups::MOST_DEPTH;
use evenhand_problem::snapshot::{Snapshot, System};
use rug::Rational;

use super::classes::Part;
use super::cluster::Said;
use super::kube::pod_groups::{Described, PodGroups, Queues, group_of, replicas};
use super::kube::{Kube, Rule, full_name, name};
use super::source::Bytes;
use super::tree::At;
use crate::ImportError;

const GROUP: &[&str] = &["scheduling.k8s.io/group-name", "scheduling.volcano.sh/group-name"];
const HIERARCHY: &str = "volcano.sh/hierarchy";
const WEIGHTS: &str = "volcano.sh/hierarchy-weights";
/// The queue that holds all others.
const ROOT: &str = "root";

#[derive(Default)]
struct Volcano {
    groups: PodGroups,
    queues: Queues,
    /// By identity of a job: its pods, by what they are.
    jobs: Vec<(String, Vec<Described>)>,
    /// By identity of a job: its group.
    owned: HashMap<String, String>,
}

pub(super) fn read(inputs: Vec<Bytes>, part: &Part) -> Result<Snapshot, ImportError> {
    let mut kube = Kube::new(System::Volcano);
    let mut volcano = Volcano::default();
    kube.objects(inputs, &mut |kube, kind, at| match kind {
        "Node" => kube.node(at),
        "Pod" => volcano.pod(kube, at),
        "Queue" => volcano.queue(kube, at),
        "PodGroup" => volcano.pod_group(kube, at),
        "Job" if at.text_of("apiVersion")?.is_some_and(|of| of.starts_with("batch.volcano.sh/")) => {
            volcano.job(kube, at)
        }
        kind => kube.other(kind, at),
    })?;
    let kinds = [("Node", "nodes"), ("Pod", "pods"), ("Queue", "queues"), ("PodGroup", "podgroups")];
    let all = "nodes,pods,queues.scheduling.volcano.sh,podgroups.scheduling.volcano.sh,jobs.batch.volcano.sh";
    kube.needs(&kinds, all)?;
    for (job, pods) in volcano.jobs {
        if let Some(group) = volcano.owned.get(&job) {
            volcano.groups.describe(group, pods);
        }
    }
    volcano.groups.finish(&mut kube, &volcano.queues);
    kube.finish(part)
}

impl Volcano {
    fn pod(&mut self, kube: &mut Kube, at: At<'_>) -> Result<(), ImportError> {
        let Some(pod) = kube.pod(at)? else { return Ok(()) };
        match group_of(at, GROUP)? {
            Some(group) => self.groups.pod(group, pod),
            None => kube.take_away(&pod),
        }
        Ok(())
    }

    fn pod_group(&mut self, kube: &mut Kube, at: At<'_>) -> Result<(), ImportError> {
        let (full, spec) = (full_name(at)?, at.need("spec")?);
        if spec.entries_of("minTaskMember")?.next().is_some() {
            kube.cluster.left_out.add("least numbers of pods by task of a group", &full);
        }
        for field in ["networkTopology", "subGroupPolicy"] {
            if spec.get(field)?.is_some() {
                kube.cluster.left_out.add(&format!("what groups ask of their places: {field}"), &full);
            }
        }
        for owner in at.need("metadata")?.list_of("ownerReferences")? {
            if let Some(uid) = owner.text_of("uid")? {
                self.owned.insert(uid.to_owned(), full.clone());
            }
        }
        self.groups.group(at)
    }

    fn job(&mut self, kube: &mut Kube, at: At<'_>) -> Result<(), ImportError> {
        let (full, metadata, spec) = (full_name(at)?, at.need("metadata")?, at.need("spec")?);
        let mut pods = Vec::new();
        for task in spec.list_of("tasks")? {
            let of_pod = task.need("template")?.need("spec")?;
            let demand = kube.quantities.of_pod(&mut kube.cluster, of_pod)?;
            let rule = Rule::of_pod(of_pod, &full, &mut kube.cluster.left_out)?;
            let rule = kube.rules.place(&rule, || ());
            pods.push(Described { count: replicas(task)?, demand, rule });
        }
        if let Some(uid) = metadata.text_of("uid")? {
            self.jobs.push((uid.to_owned(), pods));
        }
        Ok(())
    }

    fn queue(&mut self, kube: &mut Kube, at: At<'_>) -> Result<(), ImportError> {
        let queue = name(at)?;
        let (metadata, spec) = (at.need("metadata")?, at.get("spec")?);
        let state = match at.get("status")? {
            Some(status) => status.text_of("state")?.unwrap_or("Open"),
            None => "Open",
        };
        let held_back = (state != "Open").then_some("waiting pods of queues that are not open");
        self.queues.insert(queue.to_owned(), held_back);
        let Some(spec) = spec else {
            kube.cluster.group(queue);
            return Ok(());
        };
        let mut amounts = |at: Option<At<'_>>, field: &str| -> Result<Vec<(String, Rational)>, ImportError> {
            let Some(at) = at else { return Ok(Vec::new()) };
            let amounts = kube.quantities.amounts(&mut kube.cluster, at, field)?;
            let names = kube.cluster.resources.entries();
            Ok(amounts.into_iter().map(|(r, amount)| (names[r].0.clone(), amount)).collect())
        };
        let guarantee = amounts(spec.get("guarantee")?, "resource")?;
        let mut limit = amounts(Some(spec), "capability")?;
        limit.retain(|(name, most)| !(most.is_zero() && matches!(name.as_str(), "cpu" | "memory")));
        let deserved = amounts(Some(spec), "deserved")?;
        let allocated = amounts(at.get("status")?, "allocated")?;
        let left_out = &mut kube.cluster.left_out;
        if !deserved.is_empty() {
            left_out.add(
                "what queues deserve by the plugin `capacity`, which `proportion` does not ask for",
                queue,
            );
        }
        if spec.get("reclaimable")?.is_some_and(|of| of.boolean().is_ok_and(|is| !is)) {
            left_out.add("queues from which nothing may be reclaimed", queue);
        }
        for (field, what) in [
            ("affinity", "groups of nodes that queues ask for"),
            ("extendClusters", "other clusters of queues"),
        ] {
            if spec.get(field)?.is_some() {
                left_out.add(what, queue);
            }
        }
        if queue == ROOT {
            if !guarantee.is_empty() || !limit.is_empty() {
                left_out.add("amounts of the queue that holds all others", queue);
            }
            return Ok(());
        }
        let (mut parent, mut weight) =
            (spec.text_of("parent")?.map(str::to_owned), spec.get("weight")?.map(At::number).transpose()?);
        let annotation = |name: &str| match metadata.get("annotations")? {
            Some(of) => of.get(name),
            None => Ok(None),
        };
        if let (None, Some(path)) = (&parent, annotation(HIERARCHY)?) {
            let weights = annotation(WEIGHTS)?;
            (parent, weight) = above(kube, path, weights)?;
        }
        parent.take_if(|parent| parent.is_empty() || parent == ROOT);
        if parent.is_some() {
            let what = "queues below others: `proportion` divides among all at once, here each divides among those below it";
            kube.cluster.left_out.add(what, queue);
        }
        let priority = spec.get("priority")?.map(At::number).transpose()?;
        for (what, amounts) in [("deserved", deserved), ("allocated", allocated)] {
            kube.cluster.reported.extend(amounts.into_iter().map(|(resource, value)| Said {
                group: Some(queue.to_owned()),
                what,
                resource: Some(resource),
                value: Some(value),
            }));
        }
        if let Some(parent) = &parent {
            kube.cluster.group(parent);
        }
        let v = kube.cluster.group(queue);
        let of = kube.cluster.groups.at(v);
        (of.parent, of.weight, of.priority) = (parent, weight, priority);
        // What is guaranteed is kept from others, used or not.
        of.lend = guarantee.iter().map(|(name, _)| (name.clone(), Rational::new())).collect();
        of.guarantee = (!guarantee.is_empty()).then_some(guarantee);
        of.limit = limit;
        Ok(())
    }
}

/// The group above a queue and the queue's weight, of a path such as `root/eng/dev` and weights such as `1/2/8`. The groups
/// on the way have the names of their paths.
fn above(
    kube: &mut Kube,
    path: At<'_>,
    weights: Option<At<'_>>,
) -> Result<(Option<String>, Option<Rational>), ImportError> {
    let steps: Vec<&str> = path.name()?.split('/').collect();
    if steps.len() > MOST_DEPTH {
        return Err(path.error(format!("a path of {} levels: expected at most {MOST_DEPTH}", steps.len())));
    }
    let stated: Vec<&str> = match weights {
        Some(weights) => weights.text()?.split('/').collect(),
        None => vec!["1"; steps.len()],
    };
    if steps[0] != ROOT || steps.iter().any(|step| step.is_empty()) || stated.len() != steps.len() {
        return Err(path.error("expected a path from `root` on, with as many weights"));
    }
    let weight = |text: &str| {
        let parsed = evenhand_problem::number::parse(text).ok().filter(|weight| *weight >= 0);
        parsed.ok_or_else(|| {
            weights.unwrap_or(path).error(format!(
                "found the weight `{}`: expected a number of at least 0",
                super::tree::shown(text)
            ))
        })
    };
    let last = steps.len() - 1;
    let mut parent: Option<String> = None;
    for k in 1..last {
        let name = steps[..=k].join("/");
        kube.cluster.copies(4, name.len(), "the groups above a queue");
        let v = kube.cluster.group(&name);
        let of = kube.cluster.groups.at(v);
        (of.parent, of.weight) = (parent.take(), Some(weight(stated[k])?));
        parent = Some(name);
    }
    Ok((parent, Some(weight(stated[last])?)))
}

//! The importer for Volcano: pod groups of queues.
//!
//! Follows Volcano 1.7 to 1.15, `scheduling.volcano.sh/v1beta1` of queues and pod groups and `batch.volcano.sh/v1alpha1` of
//! jobs (`staging/src/volcano.sh/apis`), and the nodes and pods of Kubernetes: <https://volcano.sh/en/docs/queue>.
//!
//! A queue states `spec.weight`, `spec.guarantee.resource`, `spec.capability` and `spec.deserved`. Other
//! queues cannot use a guarantee, even if its queue does not use it. A capability of 0 processors or bytes
//! means no limit. The rule of the plugin `capacity` applies if some queue states a deserved amount.
//! Otherwise the rule of the plugin `proportion` applies.
//!
//! A queue that deserves `D` and has the guarantee `G` gets the guarantee `D` in the problem, and lends `D -
//! G`. Other queues may use this amount, and `capacity` takes it back for the queue.
//!
//! Queues form a tree by `spec.parent`, or by the annotations `volcano.sh/hierarchy` and
//! `volcano.sh/hierarchy-weights`. The queue `root` is the root of this tree. Pods of other schedulers are
//! subtracted from their nodes. If a group has no pods yet, the pods that its job describes are waiting
//! tasks.

use std::collections::{HashMap, HashSet};

use evenhand_problem::groups::MOST_DEPTH;
use evenhand_problem::snapshot::{Snapshot, System};
use rug::Rational;

use super::classes::Part;
use super::cluster::ReportedNumber;
use super::kube::pod_groups::{Described, PodGroups, Queues, group_of, replicas};
use super::kube::{Kube, Rule, full_name, name};
use super::source::Bytes;
use super::tree::At;
use evenhand_import::ImportError;

const GROUP: &[&str] = &["scheduling.k8s.io/group-name", "scheduling.volcano.sh/group-name"];
const HIERARCHY: &str = "volcano.sh/hierarchy";
const WEIGHTS: &str = "volcano.sh/hierarchy-weights";
/// The name of the queue that contains all other queues.
const ROOT: &str = "root";

#[derive(Default)]
struct Volcano {
    groups: PodGroups,
    queues: Queues,
    /// The UIDs of jobs, each with the pods that the job will create.
    jobs: Vec<(String, Vec<Described>)>,
    /// The group of each job, keyed by the UID of the job.
    owned: HashMap<String, String>,
    /// The positions of groups, each with the amounts that the group deserves by resource.
    deserved: Vec<(usize, Vec<(String, Rational)>)>,
    /// The names of queues that are below another queue.
    below: Vec<String>,
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
    let (by, below) = if volcano.deserved.is_empty() {
        ("`proportion` divides among all queues at once, the problem divides level by level", volcano.below)
    } else {
        (
            "`capacity` reclaims from every queue that uses more than it deserves (`ancestorReclaimLevel` 0)",
            volcano.below,
        )
    };
    let what = format!("queues below others: {by}");
    below.into_iter().for_each(|queue| kube.cluster.left_out.add(&what, queue));
    deserve(&mut kube, volcano.deserved);
    kube.finish(part)
}

/// Raises the guarantee of each queue to its deserved amount, and lets the queue lend the difference. Queues
/// with subqueues are left out, because `capacity` by default ignores their deserved amounts when it
/// reclaims.
fn deserve(kube: &mut Kube, deserved: Vec<(usize, Vec<(String, Rational)>)>) {
    let parents: HashSet<String> =
        kube.cluster.groups.entries().iter().filter_map(|(_, group)| group.parent.clone()).collect();
    for (v, amounts) in deserved {
        let queue = kube.cluster.groups.entries()[v].0.clone();
        if parents.contains(&*queue) {
            let what =
                "deserved amounts of queues with subqueues, which count only with `ancestorReclaimLevel`";
            kube.cluster.left_out.add(what, queue);
            continue;
        }
        let of = kube.cluster.groups.at(v);
        let limit = of.limit.clone();
        let guarantee = of.guarantee.get_or_insert_default();
        for (resource, amount) in amounts.into_iter().filter(|(_, amount)| *amount > 0) {
            let most = limit.iter().find(|(name, _)| *name == resource).map(|(_, most)| most.clone());
            let amount = most.into_iter().fold(amount, Rational::min);
            let kept = guarantee.iter().position(|(name, _)| *name == resource);
            let at = kept.unwrap_or_else(|| {
                guarantee.push((resource.clone(), Rational::new()));
                of.lend.push((resource, Rational::new()));
                guarantee.len() - 1
            });
            let (kept, lent) = (&mut guarantee[at].1, &mut of.lend[at].1);
            if amount > *kept {
                *lent = Rational::from(&amount - &*kept);
                *kept = amount;
            }
        }
    }
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
            kube.cluster.left_out.add("least numbers of pods by task: minTaskMember", &full);
        }
        for field in ["networkTopology", "subGroupPolicy"] {
            if spec.get(field)?.is_some() {
                kube.cluster.left_out.add(&format!("placement constraints of pod groups: {field}"), &full);
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
        if spec.get("reclaimable")?.is_some_and(|of| of.boolean().is_ok_and(|is| !is)) {
            self.groups.protected.insert(queue.to_owned());
        }
        for (field, what) in [
            ("affinity", "node groups of queues: affinity"),
            ("extendClusters", "other clusters of queues: extendClusters"),
        ] {
            if spec.get(field)?.is_some() {
                left_out.add(what, queue);
            }
        }
        if queue == ROOT {
            if !guarantee.is_empty() || !limit.is_empty() {
                left_out.add("guarantee and capability of the queue `root`", queue);
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
            self.below.push(queue.to_owned());
        }
        let priority = spec.get("priority")?.map(At::number).transpose()?;
        for (what, amounts) in [("deserved", deserved.clone()), ("allocated", allocated)] {
            kube.cluster.reported.extend(amounts.into_iter().map(|(resource, value)| ReportedNumber {
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
        // Other queues cannot use a guarantee, even if it is unused, so the queue lends none of it.
        of.lend = guarantee.iter().map(|(name, _)| (name.clone(), Rational::new())).collect();
        of.guarantee = (!guarantee.is_empty()).then_some(guarantee);
        of.limit = limit;
        if deserved.iter().any(|(_, amount)| *amount > 0) {
            self.deserved.push((v, deserved));
        }
        Ok(())
    }
}

/// Returns the group above a queue and the weight of the queue, from a path such as `root/eng/dev` and
/// weights such as `1/2/8`. Adds a group for each prefix of the path, with this prefix as its name.
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
        return Err(path.error("expected a path that begins with `root`, and as many weights as levels"));
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

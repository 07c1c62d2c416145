//! The importer for Kubernetes without a queueing system. Each namespace is a queue.
//!
//! Follows Kubernetes 1.24 to 1.34, `v1` of nodes and pods: <https://kubernetes.io/docs/reference/kubernetes-api>.

use evenhand_problem::Snapshot;
use evenhand_problem::snapshot::{System, Victims};

use super::classes::Part;
use super::kube::{Kube, Pod};
use super::source::Bytes;
use evenhand_import::ImportError;

pub(super) fn read(inputs: Vec<Bytes>, part: &Part) -> Result<Snapshot, ImportError> {
    let mut kube = Kube::new(System::Kubernetes);
    kube.objects(inputs, &mut |kube, kind, at| match kind {
        "Node" => kube.node(at),
        "Pod" => {
            if let Some(pod) = kube.pod(at)? {
                task(kube, &pod);
            }
            Ok(())
        }
        "Event" => kube.event(at),
        kind => kube.other(kind, at),
    })?;
    kube.needs(&[("Node", "nodes"), ("Pod", "pods")], "nodes,pods")?;
    // Kubernetes itself stops pods only for pods of a higher priority.
    let namespaces = 0..kube.cluster.groups.entries().len();
    kube.cluster.preemption = namespaces.map(|group| (group, Victims::LowerPriority)).collect();
    kube.finish(part)
}

fn task(kube: &mut Kube, pod: &Pod) {
    let cluster = &mut kube.cluster;
    if pod.node.is_none() && pod.is_gated {
        cluster.left_out.add("waiting pods that are held back by scheduling gates", &pod.name);
        return;
    }
    let group = cluster.group(&pod.namespace);
    if pod.node.is_some() {
        kube.runs(group, pod, 1, "");
        return;
    }
    let tasks = cluster.tasks_with(Some(group), &pod.demand, pod.rule, 1, pod.traits.clone());
    tasks.waits(&pod.reason, 1, [pod.name.clone()]);
}

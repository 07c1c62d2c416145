//! The commands that print the dump of each system.

use evenhand_problem::snapshot::System;

use crate::client::CommandLine;
use crate::error::WatchError;

/// Returns the commands that run the client of a system, in the order in which they run. No command changes
/// the cluster.
///
/// # Errors
/// [`WatchError::NoClient`] if no client of the system is known that prints its dump.
pub fn commands(system: System) -> Result<Vec<CommandLine>, WatchError> {
    let lines: &[&[&str]] = match system {
        System::Kubernetes => &[&["kubectl", "get", "nodes,pods", "-A", "-o", "json"]],
        System::Kueue => &[&[
            "kubectl",
            "get",
            "nodes,pods,clusterqueues.kueue.x-k8s.io,cohorts.kueue.x-k8s.io,localqueues.kueue.x-k8s.io,\
             resourceflavors.kueue.x-k8s.io,workloads.kueue.x-k8s.io",
            "-A",
            "-o",
            "json",
        ]],
        // An empty list of one kind proves that the cluster has no pod groups. A `List` of several kinds does
        // not prove this.
        System::Kai => &[
            &["kubectl", "get", "nodes,pods,queues.scheduling.run.ai", "-A", "-o", "json"],
            &["kubectl", "get", "--raw", "/apis/scheduling.run.ai/v2alpha2/podgroups"],
        ],
        System::Volcano => &[
            &["kubectl", "get", "nodes,pods,queues.scheduling.volcano.sh", "-A", "-o", "json"],
            &["kubectl", "get", "--raw", "/apis/scheduling.volcano.sh/v1beta1/podgroups"],
            &["kubectl", "get", "--raw", "/apis/batch.volcano.sh/v1alpha1/jobs"],
        ],
        System::Yunikorn => &[&[
            "kubectl",
            "get",
            "--raw",
            "/api/v1/namespaces/yunikorn/services/yunikorn-service:9080/proxy/ws/v1/fullstatedump",
        ]],
        System::Slurm => &[
            &["scontrol", "show", "nodes", "-o"],
            &["squeue", "--json"],
            &["sshare", "-a", "-l", "-P"],
            &["sacctmgr", "-P", "show", "assoc"],
        ],
        System::Mesos | System::Csv => return Err(WatchError::NoClient(system.name())),
    };
    Ok(lines.iter().map(|words| CommandLine::new(words.iter().map(ToString::to_string))).collect())
}

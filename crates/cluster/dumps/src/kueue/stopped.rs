//! Workloads that Kueue stopped. The conditions of the workloads name them.
//!
//! Follows Kueue 0.6 to 0.15: the conditions `Preempted` and `Evicted`, their reasons in
//! `apis/kueue/*/workload_types.go`, and the message `Preempted to accommodate a workload (UID: ..., JobUID:
//! ...) due to ...` of `pkg/scheduler/preemption/preemption.go`. Versions before 0.10 write no `JobUID`.
//! Later versions add paths of queues. When a workload is admitted again, the condition `Preempted` becomes
//! false, and its message then begins with `Previously: `.

use evenhand_problem::snapshot::Stopped;

use super::super::kube::Kube;
use super::super::tree::At;
use evenhand_import::ImportError;

/// The reasons of the condition `Preempted`, each with the words of its message in lower case. Longer words
/// come before shorter words.
const REASONS: [(&str, &str); 4] = [
    ("InCohortReclaimWhileBorrowing", "reclamation within the cohort while borrowing"),
    ("InCohortReclamation", "reclamation within the cohort"),
    ("InCohortFairSharing", "fair sharing within the cohort"),
    ("InClusterQueue", "prioritization in the clusterqueue"),
];

/// Records the UIDs of a workload and of the jobs that own it.
pub(super) fn uids(kube: &mut Kube, at: At<'_>, full: &str) -> Result<(), ImportError> {
    let metadata = at.need("metadata")?;
    for owner in metadata.list_of("ownerReferences")? {
        if let Some(uid) = owner.text_of("uid")? {
            kube.uids.entry(uid.to_owned()).or_insert_with(|| full.to_owned());
        }
    }
    if let Some(uid) = metadata.text_of("uid")? {
        kube.uids.insert(uid.to_owned(), full.to_owned());
    }
    Ok(())
}

/// A condition: whether it is true, its reason, its message and its time.
type Condition = (bool, String, String, String);

fn condition(at: At<'_>, of: &str) -> Result<Option<Condition>, ImportError> {
    let Some(status) = at.get("status")? else { return Ok(None) };
    for condition in status.list_of("conditions")? {
        if condition.text_of("type")? == Some(of) {
            let text =
                |field: &str| Ok::<_, ImportError>(condition.text_of(field)?.unwrap_or_default().to_owned());
            let is_true = condition.text_of("status")? == Some("True");
            return Ok(Some((is_true, text("reason")?, text("message")?, text("lastTransitionTime")?)));
        }
    }
    Ok(None)
}

/// Returns the latest stop of a workload that its conditions report.
pub(super) fn stop(at: At<'_>, full: &str) -> Result<Option<Stopped>, ImportError> {
    let preempted = condition(at, "Preempted")?;
    let evicted = condition(at, "Evicted")?.filter(|(is_true, ..)| *is_true);
    let (rule, message, time) = match (preempted, evicted) {
        (Some((true, reason, message, time)), _) => (reason, message, time),
        (_, Some((_, reason, message, time))) => (reason, message, time),
        (Some((false, _, message, time)), None) if message.starts_with("Previously: Preempted") => {
            (String::new(), message, time)
        }
        _ => return Ok(None),
    };
    let words = message.to_lowercase();
    let by_words = || REASONS.iter().find(|(_, of)| words.contains(of)).map(|(reason, _)| *reason);
    let rule = match rule.as_str() {
        "" | "Preempted" => by_words().unwrap_or("Preempted").to_owned(),
        _ => rule,
    };
    let by_uid = uid_in(&message, "(UID: ").or_else(|| uid_in(&message, "JobUID: ")).unwrap_or_default();
    Ok(Some(Stopped { task: full.to_owned(), by: String::new(), by_uid, rule, time, message }))
}

/// Returns the UID that follows the words `before` in a message.
fn uid_in(message: &str, before: &str) -> Option<String> {
    let (_, rest) = message.split_once(before)?;
    let uid = rest.split([',', ')', ';']).next()?.trim();
    (!uid.is_empty() && uid != "UNKNOWN").then(|| uid.to_owned())
}

//! The explanation why a task was stopped, as a JSON document.

use evenhand_cluster::FewestStops;
use evenhand_cluster::stopped::Explanation;
use evenhand_problem::snapshot::Snapshot;
use serde_json::{Value, json};

use super::{document, list};
use crate::stopped::{answer, group, meaning, priority, why};

/// Returns the explanation why a task was stopped.
#[must_use]
pub fn stopped_explanation(snapshot: &Snapshot, of: &Explanation) -> Value {
    let text = |text: &str| if text.is_empty() { Value::Null } else { json!(text) };
    let user = |n: usize| snapshot.problem.users()[n].name();
    let replay = of.replay.as_ref().ok();
    let fewest = replay.and_then(|replay| replay.fewest.as_ref());
    let (found, least) = match fewest {
        Some(FewestStops::Found { stops, least }) => (Some(stops.count()), Some(*least)),
        Some(FewestStops::NotKnown { least }) => (None, Some(*least)),
        Some(FewestStops::Impossible) | None => (None, None),
    };
    let tasks = replay.map_or(&[][..], |replay| &replay.tasks);
    document(
        "stopped-explanation",
        json!({
            "answer": answer(snapshot, of),
            "task": of.stop.task,
            "user": of.victim.map(user),
            "queue": of.victim.and_then(|n| group(snapshot, n)),
            "priority": of.victim.map(|n| priority(snapshot, n)),
            "rule": text(&of.stop.rule),
            "meaning": meaning(&of.stop.rule),
            "time": text(&of.stop.time),
            "message": text(&of.stop.message),
            "by": text(&of.stop.by),
            "by_uid": text(&of.stop.by_uid),
            "by_user": of.preemptor.map(user),
            "by_queue": of.preemptor.and_then(|n| group(snapshot, n)),
            "by_priority": of.preemptor.map(|n| priority(snapshot, n)),
            "level": of.level.map(|v| snapshot.problem.groups().list()[v].name.as_str()),
            "others": of.others,
            "replay": {
                "known": replay.is_some(),
                "missing": of.replay.as_ref().err().map(|missing| why(snapshot, of, missing)),
                "stopped": replay.map(|replay| replay.stopped),
                "none_needed": replay.map(|replay| replay.fewest.is_none()),
                "found": found,
                "least": least,
                "tasks": list(tasks, |task| json!({
                    "task": task.name,
                    "user": user(task.user),
                    "server": snapshot.server_name(task.place.class, task.place.index),
                })),
            },
        }),
    )
}

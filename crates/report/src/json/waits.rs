//! The waiting times of jobs as a JSON document.

use evenhand_cluster::waits::{Earliest, NANOSECONDS, Waits, Which};
use evenhand_problem::snapshot::Snapshot;
use serde_json::{Value, json};

use super::{document, list};
use crate::waits::{Asked, answer, modelled, not_modelled};

/// Returns how long jobs will wait.
#[must_use]
pub fn waits(snapshot: &Snapshot, waits: &Waits, asked: &Asked<'_>) -> Value {
    let seconds = |time: u64| time as f64 / NANOSECONDS as f64;
    let jobs = list(&waits.rows, |row| {
        let (which, task) = match &row.which {
            Which::Only => ("only", None),
            Which::First => ("first", None),
            Which::Last => ("last", None),
            Which::Task(task) => ("task", Some(task)),
        };
        let (earliest, at) = match row.earliest {
            Some(Earliest::At(at)) => (Some("at"), Some(at)),
            Some(Earliest::Never) => (Some("never"), None),
            Some(Earliest::NotKnown) => (Some("not-known"), None),
            None => (None, None),
        };
        json!({
            "user": snapshot.problem.users()[row.user].name(),
            "which": which,
            "task": task,
            "jobs": row.jobs,
            "started": row.starts.len(),
            "q10_seconds": row.quantile(1, 10).map(seconds),
            "median_seconds": row.quantile(1, 2).map(seconds),
            "q90_seconds": row.quantile(9, 10).map(seconds),
            "earliest": earliest,
            "earliest_seconds": at.map(seconds),
            "by_model": row.by_model,
        })
    });
    document(
        "waiting-times",
        json!({
            "answer": answer(snapshot, waits, asked),
            "order": waits.policy.name(),
            "rule": asked.rule.map(evenhand_mechanisms::tree::Rule::name),
            "durations": asked.durations,
            "random": waits.is_random,
            "runs": waits.runs,
            "seed": asked.seed,
            "horizon_seconds": asked.horizon.map(seconds),
            "jobs": jobs,
            "modelled": modelled(snapshot, waits, asked),
            "not_modelled": not_modelled(snapshot, waits, asked),
            "not_known": waits.not_known,
            "endless_running": waits.endless_running,
            "endless_waiting": waits.endless_waiting,
            "admitted": waits.admitted,
            "rounded": waits.is_rounded,
        }),
    )
}

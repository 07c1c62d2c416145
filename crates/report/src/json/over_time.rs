//! The history of a cluster as a JSON document: for how long queues were below their fair shares, and how
//! much they lacked.

use serde_json::{Value, json};

use super::{document, list};
use crate::over_time::OverTime;

/// Returns the history of a cluster. Times are in milliseconds since 1970, durations in seconds, and amounts are doubles.
#[must_use]
pub fn over_time(history: &OverTime) -> Value {
    let [with, without] = history.rounds;
    let queues = list(history.in_order(), |line| {
        let [usage, fair_share, lacking] = line.means();
        json!({
            "queue": line.queue,
            "resource": line.resource,
            "observed": line.seconds,
            "usage": usage,
            "fair_share": fair_share,
            "lacking": lacking,
            "lacking_hours": line.lacking_hours(),
            "below": line.below,
            "longest": line.longest,
        })
    });
    let fields = json!({
        "title": history.title,
        "from": history.span[0],
        "to": history.span[1],
        "interval": history.interval,
        "observed": history.observed,
        "verdicts": with,
        "failures": without,
        "queues": queues,
    });
    document("cluster-history", fields)
}

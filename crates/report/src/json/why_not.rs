//! The explanation why a waiting task could not start now, and of the changes that would let it start, as a
//! JSON document.

use evenhand_cluster::why_not::{Amounts, Explanation, Obstacle, Raise, Reason, State, Subject};
use evenhand_cluster::{FewestStops, Lifted};
use evenhand_problem::Problem;
use serde_json::{Value, json};

use super::{document, exact, list};

/// Returns the explanation of a start.
#[must_use]
pub fn task_explanation(of: Subject<'_>, explanation: &Explanation) -> Value {
    let Subject { snapshot, problem, rules, .. } = of;
    let user = |n: usize| problem.users()[n].name();
    let resource = |r: usize| problem.resources()[r].as_str();
    let (servers, beyond) = match &explanation.state {
        State::CouldStart { assignment, is_beyond_rounding } => {
            let mut all = Vec::new();
            for (n, places) in &assignment.parts {
                for place in places {
                    let server = snapshot.server_name(place.class, place.index);
                    all.push(json!({"user": user(*n), "server": server}));
                }
            }
            (json!(all), *is_beyond_rounding)
        }
        _ => (Value::Null, false),
    };
    let not_known = match explanation.state {
        State::TooLarge => Some("the search was too large"),
        State::NoPlacements => Some("the snapshot does not say on which servers tasks run"),
        State::CouldStart { .. } if !explanation.not_modelled.is_empty() => {
            Some("a condition that is not modelled also decides")
        }
        _ => None,
    };
    let shares = explanation.shares.as_ref().map(|shares| {
        list(shares, |share| {
            json!({
                "queue": share.queue, "resource": resource(share.resource), "usage": exact(&share.usage),
                "after": exact(&share.after), "fair_share": exact(&share.fair_share),
                "within": share.after <= share.fair_share,
            })
        })
    });
    let free = list(&explanation.free, |free| {
        let most = free.most.as_ref();
        json!({
            "user": user(free.user), "resource": resource(free.resource), "free": exact(&free.total),
            "most_on_one_server": most.map(|(most, _)| exact(most)),
            "server": most.map(|(_, place)| snapshot.server_name(place.class, place.index)),
            "task": exact(&free.task), "gang": exact(&free.gang), "servers_with_enough": free.servers,
        })
    });
    let stop = match &explanation.stop {
        Some(FewestStops::Found { stops, least }) => {
            let tasks = stops.named(snapshot, rules);
            let count = stops.count();
            json!({
                "possible": true, "count": count, "least": least, "fewest": count == *least,
                "tasks": list(&tasks, |task| json!({
                    "task": task.name, "user": user(task.user),
                    "server": snapshot.server_name(task.place.class, task.place.index),
                })),
            })
        }
        Some(FewestStops::Impossible) => {
            json!({"possible": false, "count": null, "least": null, "fewest": false, "tasks": []})
        }
        Some(FewestStops::NotKnown { least }) => {
            json!({"possible": null, "count": null, "least": least, "fewest": false, "tasks": []})
        }
        None => Value::Null,
    };
    let fields = json!({
        "user": user(explanation.user),
        "start": list(&explanation.start, |(n, gang)| json!({"user": user(*n), "tasks": gang})),
        "waits": explanation.state != State::NothingWaits,
        "admitted": explanation.is_admitted,
        "could_start": explanation.could_start(),
        "not_known": not_known,
        "not_modelled": explanation.not_modelled,
        "servers": servers,
        "beyond_rounding": beyond,
        "reasons": list(&explanation.reasons, |reason| reason_of(problem, reason)),
        "free": free,
        "room": explanation.room.map(|(room, _)| room),
        "room_when_empty": explanation.has_room_when_empty,
        "ahead": explanation.ahead,
        "shares": shares,
        "raise": list(&explanation.raise, |of| list(of, |of| raise(problem, of))),
        "add": list(&explanation.add, |of| json!({
            "class": problem.servers()[of.class].name(), "servers": of.count, "fewest": of.is_fewest,
            "raise": list(&of.raise, |of| raise(problem, of)),
        })),
        "stop": stop,
    });
    document("task-explanation", fields)
}

/// Returns the kind of an obstacle, its group, its resource and its classes.
fn place_of(problem: &Problem, obstacle: Obstacle) -> Value {
    let group = |v: usize| problem.groups().list()[v].name.as_str();
    let resource = |r: usize| problem.resources()[r].as_str();
    let (kind, v, r, on) = match obstacle {
        Obstacle::Limit(v, r) => ("limit", Some(v), Some(r), None),
        Obstacle::Weight(v) => ("weight", Some(v), None, None),
        Obstacle::KeptBack(r) => ("kept-back", None, Some(r), None),
        Obstacle::ClassLimit(at) => {
            let on = &problem.groups().list()[at.group].on[at.on];
            let classes: Vec<&str> = on.servers.iter().map(|i| problem.servers()[*i].name()).collect();
            ("limit", Some(at.group), Some(on.limit[at.at].0), Some(classes))
        }
        Obstacle::Free(r) => ("free", None, Some(r), None),
        Obstacle::Servers(Lifted::Classes) => ("classes", None, None, None),
        Obstacle::Servers(Lifted::Closed) => ("closed", None, None, None),
        Obstacle::Servers(Lifted::ClassSets) => ("class-sets", None, None, None),
        Obstacle::Servers(Lifted::DistinctServers) => ("distinct-servers", None, None, None),
        Obstacle::Gang => ("gang", None, None, None),
    };
    json!({"kind": kind, "group": v.map(group), "resource": r.map(resource), "on": on})
}

fn reason_of(problem: &Problem, reason: &Reason) -> Value {
    let mut value = place_of(problem, reason.obstacle);
    value["alone_enough"] = json!(reason.is_enough);
    let amounts = |of: &Amounts| {
        json!({
            "usage": exact(&of.usage), "usage_by_tasks": exact(&of.by_tasks), "limit": exact(&of.limit),
            "start": exact(&of.start), "least": of.least.as_ref().map(exact),
        })
    };
    value["amounts"] = json!(reason.amounts.as_ref().map(amounts));
    value
}

fn raise(problem: &Problem, of: &Raise) -> Value {
    let mut value = place_of(problem, of.obstacle);
    if let Value::Object(fields) = &mut value {
        fields.remove("kind");
    }
    value["from"] = json!(exact(&of.from));
    value["to"] = json!(exact(&of.to));
    value["least"] = json!(of.is_least);
    value
}

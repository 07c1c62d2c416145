//! Why a group has what it has, as a document.

use evenhand_mechanisms::tree::{Stop, StopKind, Why};
use evenhand_problem::{Problem, Rational, number};
use serde_json::{Value, json};

use super::document;
use super::levels::node;

/// Where a group stands, what it holds and may still have, and what stops its users.
#[must_use]
pub fn why(problem: &Problem, why: &Why) -> Value {
    let amounts = |list: &[(String, Rational)]| -> Vec<Value> {
        list.iter().map(|(name, amount)| json!({"name": name, "amount": number::format(amount)})).collect()
    };
    let optional = |amount: &Option<Rational>| amount.as_ref().map(number::format);
    let resources: serde_json::Map<String, Value> = why
        .amounts
        .iter()
        .map(|of| {
            let fields = json!({
                "held": number::format(&of.held),
                "guarantee": optional(&of.guarantee),
                "limit": optional(&of.limit),
                "own": number::format(&of.own),
                "may_borrow": number::format(&of.may_borrow),
                "lenders": amounts(&of.lenders),
            });
            (problem.resources()[of.resource].clone(), fields)
        })
        .collect();
    let stop = |stop: &Stop| {
        let mut fields = what_stops(problem, &stop.kind);
        fields["brings"] = json!(number::format(&stop.brings));
        fields
    };
    let users: serde_json::Map<String, Value> = why
        .users
        .iter()
        .map(|of| {
            let fields = json!({
                "wants_more": !of.wants_no_more,
                "room": number::format(&of.room),
                "stops": of.stops.iter().map(stop).collect::<Vec<_>>(),
            });
            (problem.users()[of.user].name().to_owned(), fields)
        })
        .collect();
    document(
        "group-explanation",
        json!({"group": node(&why.standing), "resources": resources, "users": users}),
    )
}

/// What stops a user.
pub(super) fn what_stops(problem: &Problem, stop: &StopKind) -> Value {
    let amounts = |list: &[(String, Rational)]| -> Vec<Value> {
        list.iter().map(|(name, amount)| json!({"name": name, "amount": number::format(amount)})).collect()
    };
    let resource = |r: &usize| &problem.resources()[*r];
    match stop {
        StopKind::Limit { group, resource: r, most } => {
            json!({"stop": "limit", "group": group, "resource": resource(r), "most": number::format(most)})
        }
        StopKind::Weight { group } => json!({"stop": "weight", "group": group}),
        StopKind::KeptBack { resource: r } => json!({"stop": "kept-back", "resource": resource(r)}),
        StopKind::ClassLimit { group, servers, resource: r, most } => json!({
            "stop": "limit",
            "group": group,
            "on": servers.iter().map(|i| problem.servers()[*i].name()).collect::<Vec<_>>(),
            "resource": resource(r),
            "most": number::format(most),
        }),
        StopKind::Full { server, resource: r, holders } => json!({
            "stop": "full",
            "server": problem.servers()[*server].name(),
            "resource": resource(r),
            "holders": amounts(holders),
        }),
    }
}

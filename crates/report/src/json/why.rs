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
        let mut fields = match &stop.kind {
            StopKind::Limit { group, resource } => {
                json!({"stop": "limit", "group": group, "resource": problem.resources()[*resource]})
            }
            StopKind::Weight { group } => json!({"stop": "weight", "group": group}),
            StopKind::KeptBack { resource } => {
                json!({"stop": "kept-back", "resource": problem.resources()[*resource]})
            }
            StopKind::Full { server, resource, holders } => json!({
                "stop": "full",
                "server": problem.servers()[*server].name(),
                "resource": problem.resources()[*resource],
                "holders": amounts(holders),
            }),
        };
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

//! Why a group has what it has, as a document.

use evenhand_mechanisms::tree::{Stop, StopKind, Why};
use evenhand_problem::{Problem, Rational};
use serde_json::{Value, json};

use super::levels::node;
use super::{by_name, document, exact, list};

/// Where a group stands, what it holds and may still have, and what stops its users.
#[must_use]
pub fn why(problem: &Problem, why: &Why) -> Value {
    let resources = why.amounts.iter().map(|of| {
        let fields = json!({
            "held": exact(&of.held),
            "guarantee": of.guarantee.as_ref().map(exact),
            "limit": of.limit.as_ref().map(exact),
            "own": exact(&of.own),
            "may_borrow": exact(&of.may_borrow),
            "lenders": amounts(&of.lenders),
        });
        (problem.resources()[of.resource].as_str(), fields)
    });
    let stop = |stop: &Stop| {
        let mut fields = what_stops(problem, &stop.kind);
        fields["brings"] = json!(exact(&stop.brings));
        fields
    };
    let users = why.users.iter().map(|of| {
        let fields = json!({
            "wants_more": !of.wants_no_more,
            "room": exact(&of.room),
            "stops": list(&of.stops, stop),
        });
        (problem.users()[of.user].name(), fields)
    });
    let fields =
        json!({"group": node(&why.standing), "resources": by_name(resources), "users": by_name(users)});
    document("group-explanation", fields)
}

fn amounts(of: &[(String, Rational)]) -> Value {
    list(of, |(name, amount)| json!({"name": name, "amount": exact(amount)}))
}

/// What stops a user.
pub(super) fn what_stops(problem: &Problem, stop: &StopKind) -> Value {
    let resource = |r: &usize| &problem.resources()[*r];
    match stop {
        StopKind::Limit { group, resource: r, most } => {
            json!({"stop": "limit", "group": group, "resource": resource(r), "most": exact(most)})
        }
        StopKind::Weight { group } => json!({"stop": "weight", "group": group}),
        StopKind::KeptBack { resource: r } => json!({"stop": "kept-back", "resource": resource(r)}),
        StopKind::ClassLimit { group, servers, resource: r, most } => json!({
            "stop": "limit",
            "group": group,
            "on": list(servers, |i| problem.servers()[*i].name()),
            "resource": resource(r),
            "most": exact(most),
        }),
        StopKind::Full { server, resource: r, holders } => json!({
            "stop": "full",
            "server": problem.servers()[*server].name(),
            "resource": resource(r),
            "holders": amounts(holders),
        }),
    }
}

//! The levels of groups, the explanation of their usage, and their fair shares, as JSON documents.

use evenhand_mechanisms::tree::{
    Entitlements, Held, NodeKind, Reported, Rule, Settings, Standing, Stop, StopKind, Why,
};
use evenhand_problem::{Problem, Rational};
use serde_json::{Value, json};

use super::{by_name, document, exact, list};

/// Returns the root, followed by every group and user in the order in which they would be served.
#[must_use]
pub fn levels(standings: &[Standing]) -> Value {
    document("levels", json!({"nodes": list(standings, node)}))
}

/// Returns the level of a group or user.
fn node(standing: &Standing) -> Value {
    let next = standing.next.as_ref().map(|next| {
        json!({
            "rank": next.rank,
            "tied": next.is_tied,
            "below_guarantee": next.is_below_guarantee,
            "level": exact(&next.level),
            "stopped": next.is_stopped,
        })
    });
    let mut node = json!({
        "name": standing.name,
        "kind": match standing.kind {
            NodeKind::Root => "root",
            NodeKind::Group => "group",
            NodeKind::User => "user",
        },
        "depth": standing.depth,
        "share": exact(&standing.share),
        "level": exact(&standing.level),
        "next": next,
    });
    if let Some(reported) = &standing.reported {
        node["reported"] = match reported {
            Reported::Share(share) => json!(exact(share)),
            Reported::Infinite => json!("infinite"),
        };
    }
    node
}

/// Returns the level of a group, its usage and free amounts, and the bounds that block its users.
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

/// Returns the bound that blocks a user.
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

/// Returns the fair shares of every group, and of users outside of groups. With an allocation, also returns
/// the usage of groups, and the users that may start one more task.
#[must_use]
pub fn entitlements(
    problem: &Problem,
    settings: &Settings,
    entitlements: &Entitlements,
    held: Option<&Held>,
) -> Value {
    let amounts = |amounts: &[Rational]| {
        by_name(problem.resources().iter().zip(amounts).map(|(r, amount)| (r.as_str(), exact(amount))))
    };
    let groups = || problem.groups().list().iter().map(|group| group.name.as_str());
    let by_group = |all: &[Vec<Rational>]| by_name(groups().zip(all).map(|(name, of)| (name, amounts(of))));
    let users = || problem.users().iter().map(|user| user.name());
    let alone = users().zip(&entitlements.users);
    let mut fields = json!({
        "rule": settings.rule.map(Rule::name),
        "whole": settings.whole,
        "entitlements": by_group(&entitlements.groups),
        "users": by_name(alone.filter_map(|(name, of)| Some((name, amounts(of.as_ref()?))))),
    });
    if let Some(held) = held {
        fields["held"] = by_group(&held.groups);
        fields["may_start"] = by_name(users().zip(&held.may_start));
    }
    let warnings = problem.warnings();
    if !warnings.is_empty() {
        fields["warnings"] = list(&warnings, ToString::to_string);
    }
    document("entitlements", fields)
}

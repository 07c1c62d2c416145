//! Plans as JSON documents.

use evenhand_cluster::plan::removable::{Reason, Relocation, Removable};
use evenhand_cluster::plan::{Goal, Obstacle, Outcome, Plan, Started};
use evenhand_cluster::{Bound, Place};
use evenhand_mechanisms::tree::Rule;
use evenhand_problem::snapshot::Snapshot;
use serde_json::{Value, json};

use super::{document, exact, list};
use crate::plan::{Asked, answer, can_go, obstacle_in_words, server_name};

/// Returns the cheapest servers to add.
#[must_use]
pub fn plan(snapshot: &Snapshot, rule: Option<Rule>, asked: &Asked, plan: &Plan) -> Value {
    let problem = &snapshot.problem;
    let set = if let Outcome::Found(set) = &plan.outcome { Some(set) } else { None };
    let goal = match asked.goal {
        Goal::Fair => "fair",
        Goal::Guarantees => "guarantees",
        Goal::Starts(_) => "starts",
        Goal::All => "starts-all",
    };
    let outcome = match &plan.outcome {
        Outcome::Found(_) => "found",
        Outcome::Impossible(_) => "impossible",
        Outcome::NotFound => "not-found",
    };
    let offers: Vec<Value> = plan
        .offers
        .iter()
        .enumerate()
        .map(|(at, offer)| {
            json!({
                "class": problem.servers()[offer.class].name(),
                "price": exact(&offer.price),
                "add": set.map(|set| set.counts[at]),
            })
        })
        .collect();
    let started = |of: &Started| {
        json!({
            "user": problem.users()[of.user].name(),
            "tasks": of.tasks(),
            "admitted": of.admitted,
            "servers": list(&of.places, |(place, tasks)| json!({
                "server": server_name(snapshot, *place),
                "tasks": tasks,
                "new": is_new(snapshot, *place),
            })),
        })
    };
    let obstacle = match &plan.outcome {
        Outcome::Impossible(obstacle) => Some(obstacle_of(snapshot, plan, obstacle)),
        _ => None,
    };
    document(
        "cluster-plan",
        json!({
            "answer": answer(problem, asked, plan),
            "rule": rule.map(Rule::name),
            "goal": goal,
            "job": asked.job,
            "outcome": outcome,
            "offers": offers,
            "price": set.map(|set| exact(&set.price)),
            "least": exact(&plan.least),
            "cheapest": plan.is_cheapest(),
            "judged": plan.judged,
            "cut": plan.is_cut,
            "starts": set.map(|set| list(&set.starts, started)),
            "below_fair_share": set.map(|set| json!(set.below)),
            "by_model": set.map(|set| list(&set.by_model, |n| problem.users()[*n].name())),
            "obstacle": obstacle,
        }),
    )
}

fn is_new(snapshot: &Snapshot, place: Place) -> bool {
    place.index >= snapshot.problem.servers()[place.class].count()
}

fn obstacle_of(snapshot: &Snapshot, plan: &Plan, obstacle: &Obstacle) -> Value {
    let problem = &snapshot.problem;
    let group = |v: usize| problem.groups().list()[v].name.as_str();
    let resource = |r: usize| problem.resources()[r].as_str();
    let (reason, user, of, r) = match obstacle {
        Obstacle::Bound { user, bound, .. } => match bound {
            Bound::Limit(v, r) => ("limit", Some(*user), Some(group(*v)), Some(resource(*r))),
            Bound::OnClasses(at) => {
                let (r, _) = problem.groups().list()[at.group].on[at.on].limit[at.at];
                ("limit-on-classes", Some(*user), Some(group(at.group)), Some(resource(r)))
            }
            Bound::KeptBack(r) => ("kept-back", Some(*user), None, Some(resource(*r))),
            Bound::Weight(v) => ("weight-0", Some(*user), Some(group(*v)), None),
        },
        Obstacle::NoServer(n) => ("no-server", Some(*n), None, None),
        Obstacle::Unlimited(n) => ("unlimited", Some(*n), None, None),
        Obstacle::NoPlacement => ("no-placement", None, None, None),
        Obstacle::Exceeded(_) => ("exceeded", None, None, None),
        Obstacle::NotFeasible => ("not-feasible", None, None, None),
    };
    json!({
        "reason": reason,
        "user": user.map(|n| problem.users()[n].name()),
        "group": of,
        "resource": r,
        "text": obstacle_in_words(problem, plan, obstacle),
    })
}

/// Returns the servers that can be removed.
#[must_use]
pub fn removable(snapshot: &Snapshot, rule: Option<Rule>, removable: &Removable) -> Value {
    let name = |place: &Place| server_name(snapshot, *place);
    let moved = |of: &Relocation| {
        json!({
            "user": snapshot.problem.users()[of.user].name(),
            "tasks": of.tasks,
            "from": name(&of.from),
            "to": name(&of.to),
        })
    };
    let stays: Vec<Value> = removable
        .stays
        .iter()
        .flat_map(|(reason, places)| {
            let reason = match reason {
                Reason::Kept => "kept",
                Reason::NoRoom => "no-room",
                Reason::Lack => "lack",
            };
            places.iter().map(move |place| json!({"server": name(place), "reason": reason}))
        })
        .collect();
    document(
        "removable-servers",
        json!({
            "answer": can_go(snapshot, removable),
            "rule": rule.map(Rule::name),
            "alone": list(&removable.alone, |of| json!({"server": name(&of.place), "moves": list(&of.moves, moved)})),
            "together": list(&removable.together, name),
            "moves": list(&removable.moves, moved),
            "stays": stays,
            "not_known": list(&removable.not_known, name),
            "cut": removable.is_cut,
            "could_start": removable.could_start.map(|n| snapshot.problem.users()[n].name()),
        }),
    )
}

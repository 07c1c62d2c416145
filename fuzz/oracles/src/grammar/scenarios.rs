//! Random scenarios of all three kinds: tasks that arrive and finish, users that arrive and leave, and jobs
//! that are admitted.

use evenhand_mechanisms::filling::{Score, ServerRule, Ties};
use evenhand_mechanisms::registry;
use evenhand_mechanisms::tree::Rule;
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use serde_json::{Map, Value, json};

use super::queues::{groups, placed};
use super::reservations::reservation;
use super::{amounts, name, names, pick, servers};
use crate::small::quantity;

/// Returns the text of a scenario that ends after a few hundred events. An eighth of the scenarios have
/// extreme numbers, and may never end.
#[must_use]
pub fn random_scenario(seed: u32) -> Vec<u8> {
    let rng = &mut Pcg64::seed_from_u64(seed.into());
    let spread = if rng.random_bool(0.125) { *pick(&[3, 15, 300], rng) } else { 0 };
    let scenario = match rng.random_range(0..6) {
        0 => course(spread, rng),
        1 => admission(spread, rng),
        _ => tasks(spread, rng),
    };
    scenario.to_string().into_bytes()
}

/// Returns a scenario in which tasks arrive, run and finish.
fn tasks(spread: i32, rng: &mut Pcg64) -> Value {
    let (classes, resources) = (names('s', 3, rng), names('r', 3, rng));
    let has_queues = rng.random_bool(0.35);
    let groups = if has_queues { groups(&classes, &resources, 0, rng) } else { Vec::new() };
    let horizon = rng.random_range(5..60);
    let users: Vec<Value> = names('u', 4, rng)
        .iter()
        .map(|name| {
            let mut user = json!({"name": name, "demand": small_demand(&resources, rng)});
            if has_queues {
                placed(&mut user, &groups, rng);
            }
            let gang = user.get("gang").and_then(Value::as_u64).unwrap_or(1);
            if rng.random_bool(0.7) {
                let mut at = 0;
                let job = |_| {
                    at += rng.random_range(0..6);
                    json!({"at": at, "tasks": gang * rng.random_range(1..9), "duration": duration(spread, rng)})
                };
                user["jobs"] = (0..3).map(job).collect();
            } else {
                user["poisson"] = json!({"rate": quantity(spread, rng), "duration": duration(spread, rng),
                    "tasks": gang * rng.random_range(1..3), "until": horizon});
            }
            if rng.random_bool(0.2) {
                user["leaves"] = json!(rng.random_range(0..horizon));
            }
            if rng.random_bool(0.3) {
                user["weight"] = json!(quantity(spread, rng));
            }
            if rng.random_bool(0.2) {
                user["servers"] = json!([pick(&classes, rng)]);
            }
            user
        })
        .collect();
    let mut document = json!({"kind": "scenario", "resources": resources,
        "servers": servers(&classes, &resources, 0, rng), "policy": policy(has_queues, rng), "users": users});
    if has_queues {
        document["groups"] = json!(groups);
    }
    if rng.random_bool(0.8) {
        document["horizon"] = json!(horizon);
    }
    if rng.random_bool(0.5) {
        document["every"] = json!(quantity(spread, rng));
    }
    if rng.random_bool(0.3) {
        document["events"] = changes(&classes, &resources, rng);
    }
    document
}

/// Returns demands that are so small that a task fits on every server.
fn small_demand(resources: &[String], rng: &mut Pcg64) -> Value {
    let each = resources
        .iter()
        .map(|name| (name.clone(), json!(format!("{}/{}", rng.random_range(1..3), rng.random_range(2..6)))));
    Value::Object(each.collect::<Map<_, _>>())
}

fn duration(spread: i32, rng: &mut Pcg64) -> Value {
    match rng.random_range(0..4) {
        0 => json!({"exponential": quantity(spread, rng)}),
        1 => json!({"uniform": [rng.random_range(0..3), rng.random_range(3..9)]}),
        _ => json!(quantity(spread, rng)),
    }
}

fn policy(has_queues: bool, rng: &mut Pcg64) -> Value {
    let ties = name(Ties::NAMES, rng);
    if has_queues {
        let mut tree = json!({"preemption": pick(&["never", "guarantees", "shares"], rng)});
        if rng.random_bool(0.3) {
            tree["rule"] = json!(name(Rule::NAMES, rng));
        }
        return json!({"tree": tree, "ties": pick(&["low", "high"], rng)});
    }
    if rng.random_bool(0.1) {
        return json!({"slots": rng.random_range(1..15)});
    }
    let server = name(ServerRule::NAMES, rng);
    json!({"score": name(Score::NAMES, rng), "server": server, "ties": ties})
}

/// Returns changes of servers: servers are added, removed and changed.
fn changes(classes: &[String], resources: &[String], rng: &mut Pcg64) -> Value {
    let mut at = 0;
    let change = |_| {
        at += rng.random_range(0..12);
        let server = pick(classes, rng);
        match rng.random_range(0..4) {
            0 => json!({"at": at, "server": server, "remove": 1}),
            1 => json!({"at": at, "server": server, "add": rng.random_range(1..3)}),
            2 => json!({"at": at, "server": "new", "add": 1, "capacity": amounts(resources, 0, rng)}),
            _ => json!({"at": at, "server": server, "capacity": amounts(resources, 0, rng)}),
        }
    };
    (0..3).map(change).collect()
}

/// Returns a scenario in which users arrive and leave under a divisible mechanism.
fn course(spread: i32, rng: &mut Pcg64) -> Value {
    let (classes, resources) = (names('s', 3, rng), names('r', 3, rng));
    let users = names('u', 4, rng);
    let n_events = rng.random_range(0..4);
    let (mut at, mut there) = (0, false);
    let event = |_| {
        at += rng.random_range(0..9);
        there = !there;
        json!({"at": at, (if there { "leaves" } else { "comes" }): users[0]})
    };
    let events: Vec<Value> = (0..n_events).map(event).collect();
    let divisible: Vec<_> = registry::ALL.iter().filter(|of| !of.is_of_whole_tasks()).collect();
    let policy = match rng.random_range(0..5) {
        0 => {
            json!({"distributed": {"delay": duration(spread, rng), "loss": 0.2, "step": "1/2", "random_phases": true}})
        }
        1 => json!({"least_gap": {"steps": rng.random_range(1..40)}}),
        _ => json!({"mechanism": pick(&divisible, rng).info.id, "float": rng.random::<bool>()}),
    };
    let each = users.iter().map(|name| json!({"name": name, "demand": amounts(&resources, spread, rng)}));
    let each: Vec<Value> = each.collect();
    json!({"kind": "scenario", "resources": resources, "servers": servers(&classes, &resources, spread, rng),
        "users": each, "events": events, "policy": policy, "horizon": 30, "every": rng.random_range(1..5)})
}

/// Returns a scenario in which jobs are admitted into reserved slots.
fn admission(spread: i32, rng: &mut Pcg64) -> Value {
    let policies = [
        json!({"dra": {}}),
        json!({"dra": {"reserve": 2, "every": "1/4"}}),
        json!({"dra": {"priorities": {"j0": 1}}}),
        json!({"static": {}}),
        json!({"static": {"error": "1/2"}}),
        json!({"power_of_d": 2}),
    ];
    json!({"kind": "reservation-scenario", "reservation": reservation(1, rng), "servers": rng.random_range(1..20),
        "policy": pick(&policies, rng), "horizon": quantity(spread, rng), "every": "1/4"})
}

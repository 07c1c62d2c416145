//! Random problems with groups: random trees with guarantees, limits and shares of every kind.

use evenhand_problem::Problem;
use evenhand_problem::format::Source;
use rand::Rng;
use rand_pcg::Pcg64;
use serde_json::{Map, Value, json};

/// The largest size of a random tree.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    /// The largest number of groups.
    pub groups: usize,
    /// The largest number of users.
    pub users: usize,
    /// The largest number of server classes.
    pub classes: usize,
}

/// Returns a random problem with groups.
pub fn problem(rng: &mut Pcg64, shape: Shape) -> Problem {
    let text = json(rng, shape).to_string();
    Source { name: "tree", text: &text }.problem().unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Returns a random problem with groups, in which demands depend on the server class.
pub fn by_class(rng: &mut Pcg64, shape: Shape) -> Problem {
    let mut document = json(rng, shape);
    demands_by_class(rng, &mut document);
    let text = document.to_string();
    Source { name: "tree", text: &text }.problem().unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn amounts(rng: &mut Pcg64, resources: &[&str], often: f64, most: u32) -> Map<String, Value> {
    let mut amounts = Map::new();
    for r in resources {
        if rng.random_bool(often) {
            amounts.insert((*r).to_owned(), json!(rng.random_range(0..=most)));
        }
    }
    amounts
}

/// Returns a random problem with groups as a JSON document.
pub fn json(rng: &mut Pcg64, shape: Shape) -> Value {
    let resources = &["cpu", "memory", "gpu"][..rng.random_range(1..=3)];
    let mut servers = Vec::new();
    for i in 0..rng.random_range(1..=shape.classes) {
        let capacity: Map<String, Value> =
            resources.iter().map(|r| ((*r).to_owned(), json!(rng.random_range(4..=40)))).collect();
        servers.push(json!({"name": format!("class {i}"), "capacity": capacity}));
    }
    let mut groups: Vec<Value> = Vec::new();
    for v in 0..rng.random_range(1..=shape.groups) {
        let mut group = json!({"name": format!("group {v}")});
        if v > 0 && rng.random_bool(0.5) {
            group["parent"] = json!(format!("group {}", rng.random_range(0..v)));
        }
        if rng.random_bool(0.4) {
            group["weight"] = [json!(0), json!(1), json!(2), json!("1/2")][rng.random_range(0..4)].clone();
        }
        if rng.random_bool(0.3) {
            group["priority"] = json!(rng.random_range(-1..=2));
        }
        if rng.random_bool(0.5) {
            group["guarantee"] = Value::Object(amounts(rng, resources, 0.8, 8));
        }
        if rng.random_bool(0.3) {
            let mut limit = amounts(rng, resources, 0.6, 20);
            for (r, most) in &mut limit {
                let promised = group["guarantee"].get(r).and_then(Value::as_u64).unwrap_or(1);
                *most = json!(most.as_u64().unwrap_or(0).max(promised));
            }
            group["limit"] = Value::Object(limit);
        }
        if rng.random_bool(0.2) {
            group["lend"] = Value::Object(amounts(rng, resources, 0.6, 4));
        }
        groups.push(group);
    }
    let mut users = Vec::new();
    for n in 0..rng.random_range(1..=shape.users) {
        users.push(user(rng, n, resources, groups.len(), servers.len()));
    }
    let of = ["usage", "surplus"][rng.random_range(0..2)];
    let over = ["cluster", "lendable", "guarantee"][rng.random_range(0..3)];
    let zero_weight = ["last", "never"][rng.random_range(0..2)];
    let mut share = json!({"of": of, "over": over, "zero-weight": zero_weight});
    if over == "guarantee" && groups.len().is_multiple_of(2) {
        share["guarantees"] = json!("compared");
    }
    if rng.random_bool(0.3) {
        let multipliers = resources.iter().map(|r| ((*r).to_owned(), json!(rng.random_range(1..=3))));
        share["multipliers"] = Value::Object(multipliers.collect());
    }
    json!({"kind": "allocation-problem", "resources": resources, "servers": servers, "groups": groups,
           "users": users, "share": share})
}

/// Returns a random demand of one task.
fn demand(rng: &mut Pcg64, resources: &[&str]) -> Value {
    let mut demand = Map::new();
    for r in resources {
        if rng.random_bool(0.7) {
            demand.insert((*r).to_owned(), json!(rng.random_range(1..=5)));
        }
    }
    if demand.is_empty() {
        demand.insert(resources[0].to_owned(), json!(1));
    }
    Value::Object(demand)
}

fn user(rng: &mut Pcg64, n: usize, resources: &[&str], groups: usize, classes: usize) -> Value {
    let mut user = json!({"name": format!("user {n}"), "demand": demand(rng, resources)});
    if rng.random_bool(0.85) {
        user["group"] = json!(format!("group {}", rng.random_range(0..groups)));
    }
    if rng.random_bool(0.3) {
        user["weight"] = json!(rng.random_range(1..=3));
    }
    if rng.random_bool(0.4) {
        user["tasks"] = [json!(0), json!(1), json!(3), json!("5/2")][rng.random_range(0..4)].clone();
    }
    if classes > 1 && rng.random_bool(0.4) {
        user["servers"] = json!([format!("class {}", rng.random_range(0..classes))]);
    }
    user
}

/// Gives some users other demands on some server classes. These demands may be of other resources than their
/// base demands.
pub fn demands_by_class(rng: &mut Pcg64, document: &mut Value) {
    let resources: Vec<String> = serde_json::from_value(document["resources"].clone()).unwrap_or_default();
    let resources: Vec<&str> = resources.iter().map(String::as_str).collect();
    let servers = document["servers"].as_array().map_or(0, Vec::len);
    for user in document["users"].as_array_mut().into_iter().flatten() {
        if rng.random_bool(0.6) {
            let there: Vec<usize> = (0..servers).filter(|_| rng.random_bool(0.6)).collect();
            let on = there.into_iter().map(|i| (format!("class {i}"), demand(rng, &resources)));
            user["demand_on"] = Value::Object(on.collect());
        }
    }
}

/// Gives some groups limits on some server classes, in both forms that a file may use.
pub fn limit_classes(rng: &mut Pcg64, document: &mut Value) {
    let resources: Vec<String> = serde_json::from_value(document["resources"].clone()).unwrap_or_default();
    let resources: Vec<&str> = resources.iter().map(String::as_str).collect();
    let servers = document["servers"].as_array().map_or(0, Vec::len);
    for group in document["groups"].as_array_mut().into_iter().flatten() {
        let mut on: Vec<(Vec<String>, Value)> = Vec::new();
        for _ in 0..rng.random_range(0..=2) {
            let set: Vec<usize> = (0..servers).filter(|_| rng.random_bool(0.5)).collect();
            let set = if set.is_empty() { vec![rng.random_range(0..servers)] } else { set };
            let names: Vec<String> = set.into_iter().map(|i| format!("class {i}")).collect();
            if on.iter().all(|(other, _)| *other != names) {
                on.push((names, Value::Object(amounts(rng, &resources, 0.7, 12))));
            }
        }
        group["on"] = if rng.random_bool(0.5) {
            let by_key = on.into_iter().map(|(names, limit)| (names.join(", "), json!({"limit": limit})));
            Value::Object(by_key.collect())
        } else {
            on.into_iter().map(|(names, limit)| json!({"servers": names, "limit": limit})).collect()
        };
    }
}

//! Random problems with groups.

use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use serde_json::{Map, Value, json};

use super::{amounts, names, pick, servers, spread};
use crate::small::{MOST_CLASSES, MOST_RESOURCES, MOST_USERS, quantity};

/// The largest number of groups of a problem that the oracle of `tree` solves.
pub const MOST_GROUPS: usize = 5;

/// The rules that compare sibling groups. The empty rule stands for the problem's own share.
const RULES: [&str; 12] = [
    "",
    "hdrf",
    "mesos",
    "kueue",
    "armada",
    "yunikorn",
    "slurm",
    "kai",
    "volcano",
    "volcano-capacity",
    "kueue no-nominal-first",
    "kai whole",
];

/// Returns the text of a problem with groups. The name of the problem is the rule by which it is solved.
#[must_use]
pub fn random_queues(seed: u32) -> Vec<u8> {
    let rng = &mut Pcg64::seed_from_u64(seed.into());
    let (classes, resources) = (names('s', MOST_CLASSES, rng), names('r', MOST_RESOURCES, rng));
    let spread = spread(rng);
    let groups = groups(&classes, &resources, spread, rng);
    let users: Vec<Value> = names('u', MOST_USERS, rng)
        .iter()
        .map(|name| {
            let mut user = json!({"name": name, "demand": amounts(&resources, spread, rng)});
            placed(&mut user, &groups, rng);
            if rng.random_bool(0.5) {
                user["tasks"] = json!(rng.random_range(0..12));
            }
            if rng.random_bool(0.3) {
                user["weight"] = json!(quantity(spread, rng));
            }
            if rng.random_bool(0.3) {
                user["servers"] = json!([pick(&classes, rng)]);
            }
            user
        })
        .collect();
    let mut document = json!({"kind": "allocation-problem", "name": pick(&RULES, rng), "resources": resources,
        "servers": servers(&classes, &resources, spread, rng), "groups": groups, "users": users});
    if rng.random_bool(0.4) {
        document["share"] = share(&resources, rng);
    }
    document.to_string().into_bytes()
}

/// Returns a tree of groups. The parent of each group is an earlier group or the root.
pub fn groups(classes: &[String], resources: &[String], spread: i32, rng: &mut Pcg64) -> Vec<Value> {
    let names = names('g', MOST_GROUPS, rng);
    let mut groups: Vec<Value> = Vec::new();
    for (at, name) in names.iter().enumerate() {
        let mut group = json!({"name": name});
        if at > 0 && rng.random_bool(0.5) {
            group["parent"] = json!(names[rng.random_range(0..at)]);
        }
        if rng.random_bool(0.4) {
            let zero = rng.random_bool(0.2);
            group["weight"] = json!(if zero { "0".to_owned() } else { quantity(spread, rng) });
        }
        if rng.random_bool(0.2) {
            group["priority"] = json!(rng.random_range(-2..3));
        }
        for (field, odds) in [("guarantee", 0.4), ("limit", 0.3), ("lend", 0.15)] {
            if rng.random_bool(odds) {
                group[field] = Value::Object(amounts(resources, spread, rng));
            }
        }
        if rng.random_bool(0.2) {
            let mut on = Map::new();
            for _ in 0..rng.random_range(1..3) {
                let of = json!({"limit": amounts(resources, spread, rng)});
                on.insert(pick(classes, rng).clone(), of);
            }
            group["on"] = Value::Object(on);
        }
        groups.push(group);
    }
    groups
}

/// Puts a user into a group. In some cases the user has gangs, or tasks that may not be stopped.
pub fn placed(user: &mut Value, groups: &[Value], rng: &mut Pcg64) {
    if rng.random_bool(0.8) {
        user["group"] = pick(groups, rng)["name"].clone();
    }
    if rng.random_bool(0.2) {
        user["gang"] = json!(rng.random_range(1..4));
    }
    if rng.random_bool(0.1) {
        user["pinned"] = json!(rng.random_range(0..3));
    }
}

fn share(resources: &[String], rng: &mut Pcg64) -> Value {
    let mut share = json!({"of": pick(&["usage", "surplus"], rng),
        "over": pick(&["cluster", "lendable", "guarantee"], rng)});
    if rng.random_bool(0.3) {
        share["multipliers"] = Value::Object(amounts(resources, 0, rng));
    }
    if rng.random_bool(0.3) {
        share["zero-weight"] = json!(pick(&["last", "never"], rng));
    }
    if rng.random_bool(0.2) {
        share["families"] = json!(true);
    }
    if rng.random_bool(0.2) {
        share["guarantees"] = json!(pick(&["first", "compared"], rng));
    }
    share
}

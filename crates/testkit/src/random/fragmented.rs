//! Random snapshots of small clusters. Their free capacity is scattered over servers, and a gang waits for
//! it.

use evenhand_problem::Rational;
use evenhand_problem::format::Source;
use evenhand_problem::snapshot::Snapshot;
use rand::Rng;
use rand::SeedableRng;
use rand::seq::IndexedRandom;
use rand_pcg::Pcg64;
use serde_json::{Value, json};

use crate::plain::starts::{Running, Task};

/// Returns a snapshot with at most four servers and eight running tasks. The last user has waiting tasks and
/// no running tasks. The same seed gives the same snapshot.
///
/// # Panics
/// Never: the documents are valid.
#[must_use]
pub fn fragmented(seed: u64) -> Snapshot {
    let mut rng = Pcg64::seed_from_u64(seed);
    let is_plain = rng.random_bool(0.4);
    let classes = if is_plain { 1 } else { rng.random_range(1..=2) };
    let mut servers = Vec::new();
    for i in 0..classes {
        let count = rng.random_range(2..=if classes == 1 { 4 } else { 2 });
        let gpus = rng.random_range(4..=7);
        servers.push(json!({"name": format!("s{i}"), "count": count,
            "capacity": {"gpu": gpus, "cpu": rng.random_range(4..=8)}}));
    }
    let groups = rng.random_range(0..=2);
    let groups: Vec<Value> = (0..groups)
        .map(|v| {
            let mut group = json!({"name": format!("g{v}")});
            if rng.random_bool(0.2) {
                group["limit"] = json!({"gpu": rng.random_range(4..=12)});
            }
            if rng.random_bool(0.15) {
                group["guarantee"] = json!({"gpu": rng.random_range(1..=4)});
            }
            if !is_plain && rng.random_bool(0.15) {
                group["on"] = json!([{"servers": ["s0"], "limit": {"gpu": rng.random_range(2..=8)}}]);
            }
            group
        })
        .collect();
    let count = rng.random_range(2..=4);
    let mut users = Vec::new();
    for n in 0..=count {
        let waits = n == count;
        let gpus = if waits { rng.random_range(2..=5) } else { rng.random_range(1..=3) };
        let mut user = json!({"name": format!("u{n}"), "demand": {"gpu": gpus}, "tasks": 9});
        if rng.random_bool(0.5) {
            user["demand"]["cpu"] = json!(rng.random_range(1..=3));
        }
        if let Some(group) = groups.choose(&mut rng) {
            user["group"] = group["name"].clone();
        }
        if !is_plain && rng.random_bool(0.2) {
            user["servers"] = json!([format!("s{}", rng.random_range(0..classes))]);
        }
        if !is_plain && rng.random_bool(0.2) {
            user["gang"] = json!(2);
        }
        if !is_plain && !waits && rng.random_bool(0.1) {
            user["pinned"] = json!(1);
        }
        users.push(user);
    }
    let mut constraints = Vec::new();
    for user in &users {
        let mut of = json!({"user": user["name"]});
        let none = of.clone();
        if !is_plain && rng.random_bool(0.1) {
            of["protected"] = json!(true);
        }
        if !is_plain && rng.random_bool(0.2) {
            of["distinct_servers"] = json!(true);
        }
        if !is_plain && classes == 2 && rng.random_bool(0.2) {
            of["class_sets"] = json!([["s0"], ["s1"]]);
        }
        if rng.random_bool(0.3) {
            of["priority"] = json!(rng.random_range(0..=3));
        }
        if of != none {
            constraints.push(of);
        }
    }
    let mut document = json!({
        "kind": "snapshot",
        "problem": {"kind": "allocation-problem", "resources": ["gpu", "cpu"], "servers": servers, "users": users},
        "allocation": {"kind": "allocation", "placements": []},
    });
    if !groups.is_empty() {
        document["problem"]["groups"] = json!(groups);
    }
    if !constraints.is_empty() {
        document["constraints"] = json!(constraints);
    }
    if classes == 2 && rng.random_bool(0.1) {
        document["closed"] = json!([{"server": "s1", "reason": "cordoned"}]);
    }
    let read = |document: &Value| {
        let text = document.to_string();
        let read = Source { name: "random", text: &text }.snapshot();
        read.unwrap_or_else(|error| panic!("{error}\n{text}"))
    };
    let of = read(&document);
    let mut running = Running::new(&of);
    let most = rng.random_range(3..=7);
    for _ in 0..40 {
        let n = rng.random_range(0..count);
        if running.tasks.len() + running.gang(n) as usize > most {
            continue;
        }
        let mut trial = running.clone();
        let mut is_placed = true;
        for _ in 0..running.gang(n) {
            let class = rng.random_range(0..classes);
            let index = rng.random_range(0..of.problem.servers()[class].count());
            let task: Task = (n, class, index);
            is_placed &= trial.has_room(task);
            trial.tasks.push(task);
        }
        if is_placed {
            running = trial;
        }
    }
    // The waiting task mostly demands a little more than any server has free.
    let mut gap = 0;
    for (class, of_class) in of.problem.servers().iter().enumerate() {
        for index in 0..of_class.count() {
            let here = running.tasks.iter().filter(|(_, i, j)| (*i, *j) == (class, index));
            let used: Rational = here.map(|(n, ..)| of.problem.demand(*n, class)[0].clone()).sum();
            let free = &of_class.capacity()[0] - used;
            gap = gap.max(free.numer().to_u32().unwrap_or(0));
        }
    }
    if rng.random_bool(0.8) {
        let more = if rng.random_bool(0.7) { 1 } else { 2 };
        document["problem"]["users"][count]["demand"]["gpu"] = json!(gap + more);
    }
    let mut snapshot = read(&document);
    snapshot.allocation = running.allocation();
    snapshot
}

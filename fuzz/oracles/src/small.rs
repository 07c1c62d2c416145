//! Random small problems with numbers of very different magnitudes.

use evenhand_mechanisms::registry;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use serde_json::{Map, Value, json};

/// The largest number of users of a problem that every mechanism solves.
pub const MOST_USERS: usize = 4;
/// The largest number of server classes of such a problem.
pub const MOST_CLASSES: usize = 3;
/// The largest number of resources of such a problem.
pub const MOST_RESOURCES: usize = 3;

/// Returns the text of a problem. The name of the problem determines how the pipeline solves it.
#[must_use]
pub fn random_problem(seed: u32) -> Vec<u8> {
    let mut rng = Pcg64::seed_from_u64(seed.into());
    let rng = &mut rng;
    let (users, classes, resources) = (
        rng.random_range(1..=MOST_USERS),
        rng.random_range(1..=MOST_CLASSES),
        rng.random_range(1..=MOST_RESOURCES),
    );
    let spread = *[0, 0, 3, 15, 300].choose(rng).unwrap_or(&0);
    let names = |letter: char, n: usize| (0..n).map(|k| format!("{letter}{k}")).collect::<Vec<_>>();
    let (classes, resources) = (names('s', classes), names('r', resources));
    let servers: Vec<Value> = classes
        .iter()
        .map(|name| {
            let count = rng.random_range(1..4);
            json!({"name": name, "count": count, "capacity": vector(&resources, spread, false, rng)})
        })
        .collect();
    let users: Vec<Value> =
        names('u', users).iter().map(|name| user(name, &classes, &resources, spread, rng)).collect();
    let document = json!({"kind": "allocation-problem", "name": asked(rng), "resources": resources,
        "servers": servers, "users": users});
    document.to_string().into_bytes()
}

/// Returns a name for a problem: the name of a mechanism, in some cases followed by an exponent or by
/// `float`.
fn asked(rng: &mut Pcg64) -> String {
    let mechanism = registry::ALL.choose(rng).expect("there are mechanisms");
    let exponent = ["2", "1/3", "10"].choose(rng).filter(|_| mechanism.takes("alpha"));
    let doubles = rng.random_bool(0.1).then_some(&"float");
    [Some(&mechanism.info.id), exponent, doubles].into_iter().flatten().copied().collect::<Vec<_>>().join(" ")
}

fn user(name: &str, classes: &[String], resources: &[String], spread: i32, rng: &mut Pcg64) -> Value {
    let mut user = json!({"name": name, "demand": vector(resources, spread, true, rng)});
    if rng.random_bool(0.3) {
        user["weight"] = json!(quantity(spread, rng));
    }
    if rng.random_bool(0.4) {
        user["tasks"] = json!(if rng.random_bool(0.1) { "0".to_owned() } else { quantity(spread, rng) });
    }
    if rng.random_bool(0.3) {
        let mut allowed: Vec<&String> = classes.iter().filter(|_| rng.random()).collect();
        if allowed.is_empty() {
            allowed.push(&classes[0]);
        }
        user["servers"] = json!(allowed);
    }
    for (field, odds) in [("demand_on", 0.1), ("gamma", 0.1), ("criterion", 0.2)] {
        if rng.random_bool(odds) {
            let of = |class: &String, rng: &mut Pcg64| match field {
                "demand_on" => (class.clone(), Value::Object(vector(resources, spread, true, rng))),
                _ => (class.clone(), json!(quantity(spread, rng))),
            };
            let on: Map<String, Value> = classes.iter().map(|class| of(class, rng)).collect();
            user[field] = Value::Object(on);
        }
    }
    user
}

/// Returns a quantity for each resource. Some quantities are 0. If `positive` is set, at least one quantity
/// is positive.
fn vector(resources: &[String], spread: i32, positive: bool, rng: &mut Pcg64) -> Map<String, Value> {
    let sure = rng.random_range(0..resources.len());
    let mut of = |(r, name): (usize, &String)| {
        let zero = rng.random_bool(0.25) && !(positive && r == sure);
        (name.clone(), json!(if zero { "0".to_owned() } else { quantity(spread, rng) }))
    };
    resources.iter().enumerate().map(&mut of).collect()
}

/// Returns a positive number that differs from a small integer by up to `spread` orders of magnitude.
pub fn quantity(spread: i32, rng: &mut Pcg64) -> String {
    let exponent = if rng.random_bool(0.5) { rng.random_range(-spread..=spread) } else { 0 };
    match rng.random_range(0..4) {
        0 if exponent == 0 => format!("{}/{}", rng.random_range(1..9), rng.random_range(1..9)),
        1 => format!("{}e{exponent}", rng.random_range(1.0..10.0f64)),
        _ => format!("{}e{exponent}", rng.random_range(1..9)),
    }
}

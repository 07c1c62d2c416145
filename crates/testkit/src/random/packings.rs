//! Small problems of whole tasks. Few tasks fit on a server, so that all packings can be listed.

use evenhand_problem::Problem;
use evenhand_problem::format::Source;
use rand::Rng;
use rand::seq::IndexedRandom;
use rand_pcg::Pcg64;
use serde_json::{Map, Value, json};

/// Returns a random problem with at most four users, three classes and two resources. It has weights, finite
/// tasks, fractional demands, placement constraints, and demands that depend on the class.
pub fn problem(rng: &mut Pcg64) -> Problem {
    let (users, classes, resources) =
        (rng.random_range(1..5), rng.random_range(1..4), rng.random_range(1..3));
    let amounts = |rng: &mut Pcg64, of: &[&str]| -> Value {
        let one = |r: usize, rng: &mut Pcg64| (format!("r{r}"), json!(of.choose(rng)));
        Value::Object((0..resources).map(|r| one(r, rng)).collect::<Map<_, _>>())
    };
    let servers: Vec<Value> = (0..classes)
        .map(|i| {
            let capacity = amounts(rng, &["0", "3", "4", "5", "7/2", "6"]);
            json!({"name": format!("s{i}"), "count": rng.random_range(1..4), "capacity": capacity})
        })
        .collect();
    let users: Vec<Value> = (0..users)
        .map(|n| {
            // The first amount is positive, since a user must demand something.
            let demand = |rng: &mut Pcg64| {
                let mut demand = amounts(rng, &["0", "1", "3/2", "2", "5/2", "3", "4"]);
                demand["r0"] = json!(["1", "3/2", "2", "3"].choose(rng));
                demand
            };
            let mut user = json!({"name": format!("u{n}"), "demand": demand(rng)});
            if rng.random_bool(0.3) {
                user["weight"] = json!(["1/2", "2", "3"].choose(rng));
            }
            if rng.random_bool(0.4) {
                user["tasks"] = json!(["0", "1/2", "1", "3/2", "2", "5", "9"].choose(rng));
            }
            if rng.random_bool(0.25) {
                user["servers"] = json!([format!("s{}", rng.random_range(0..classes))]);
            }
            if rng.random_bool(0.15) {
                user["demand_on"] = json!({format!("s{}", rng.random_range(0..classes)): demand(rng)});
            }
            user
        })
        .collect();
    let names: Vec<String> = (0..resources).map(|r| format!("r{r}")).collect();
    let document =
        json!({"kind": "allocation-problem", "resources": names, "servers": servers, "users": users});
    let text = document.to_string();
    Source { name: "packings", text: &text }.problem().unwrap_or_else(|error| panic!("{error}\n{text}"))
}

//! Random reservation problems.

use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use serde_json::{Map, Value, json};

use super::{names, spread};
use crate::small::quantity;

/// The largest number of job types of a problem.
const MOST_TYPES: usize = 4;

/// Returns the text of a reservation problem. A quarter of the problems have several pools.
#[must_use]
pub fn random_reservation(seed: u32) -> Vec<u8> {
    let rng = &mut Pcg64::seed_from_u64(seed.into());
    let pools = if rng.random_bool(0.25) { 3 } else { 1 };
    reservation(pools, rng).to_string().into_bytes()
}

pub fn reservation(most_pools: usize, rng: &mut Pcg64) -> Value {
    let resources = names('r', 3, rng);
    let spread = spread(rng);
    let has_counts = rng.random_bool(0.7);
    let listed = rng.random_bool(0.15);
    let pools: Vec<Value> = names('p', most_pools, rng)
        .iter()
        .map(|name| {
            let mut pool = json!({"name": name});
            if !listed {
                pool["capacity"] = whole(&resources, 8, 25, rng);
            }
            if has_counts {
                pool["count"] = json!(rng.random_range(1..30));
            }
            pool
        })
        .collect();
    let types = names('j', MOST_TYPES, rng);
    let jobs: Vec<Value> = types
        .iter()
        .map(|name| {
            let mut job =
                json!({"name": name, "reward": quantity(spread, rng), "load": quantity(spread, rng)});
            if !listed {
                job["demand"] = whole(&resources, 1, 9, rng);
            }
            job
        })
        .collect();
    let mut document =
        json!({"kind": "reservation-problem", "resources": resources, "servers": pools, "jobs": jobs});
    if listed {
        let listed = (0..rng.random_range(1..5)).map(|_| whole(&types, 0, 5, rng));
        document["configurations"] = listed.collect();
    }
    document
}

/// Returns a small whole number for each name.
fn whole(of: &[String], from: u32, to: u32, rng: &mut Pcg64) -> Value {
    let each = of.iter().map(|name| (name.clone(), json!(rng.random_range(from..to))));
    Value::Object(each.collect::<Map<_, _>>())
}

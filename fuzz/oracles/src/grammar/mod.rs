//! Generates documents and command lines from a seed by a grammar. Most of them are valid, and some are
//! extreme.

mod commands;
mod queues;
mod reservations;
mod scenarios;

use rand::Rng;
use rand::seq::IndexedRandom;
use rand_pcg::Pcg64;
use serde_json::{Map, Value, json};

pub use commands::{COMMANDS, CommandLine, GLOBAL, Operand, bounded, random_command};
pub use queues::{MOST_GROUPS, random_queues};
pub use reservations::random_reservation;
pub use scenarios::random_scenario;

use crate::small::quantity;

/// Returns up to `most` names that begin with the letter `letter`.
fn names(letter: char, most: usize, rng: &mut Pcg64) -> Vec<String> {
    (0..rng.random_range(1..=most)).map(|k| format!("{letter}{k}")).collect()
}

fn pick<'a, T>(from: &'a [T], rng: &mut Pcg64) -> &'a T {
    from.choose(rng).expect("a list that is not empty")
}

/// Returns one of several names that are given with their help texts.
fn name(of: &[(&'static str, &'static str)], rng: &mut Pcg64) -> &'static str {
    pick(of, rng).0
}

/// Returns the number of powers of ten by which the numbers of a document may differ. It is 0 in most cases.
fn spread(rng: &mut Pcg64) -> i32 {
    *pick(&[0, 0, 0, 0, 0, 3, 15, 300], rng)
}

/// Returns small amounts, keyed by name. At least one of the names has an amount.
fn amounts(of: &[String], spread: i32, rng: &mut Pcg64) -> Map<String, Value> {
    let sure = rng.random_range(0..of.len());
    let mut named = Map::new();
    for (at, name) in of.iter().enumerate() {
        if at == sure || rng.random_bool(0.6) {
            named.insert(name.clone(), json!(quantity(spread, rng)));
        }
    }
    named
}

/// Returns the server classes of a problem or of a scenario.
fn servers(classes: &[String], resources: &[String], spread: i32, rng: &mut Pcg64) -> Vec<Value> {
    let of = |name: &String| {
        let count = rng.random_range(1..5);
        let mut capacity = Map::new();
        for resource in resources {
            capacity.insert(resource.clone(), json!(rng.random_range(1..20)));
        }
        if spread > 0 {
            capacity = amounts(resources, spread, rng);
        }
        json!({"name": name, "count": count, "capacity": capacity})
    };
    classes.iter().map(of).collect()
}

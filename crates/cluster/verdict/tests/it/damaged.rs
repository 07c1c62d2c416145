//! Tests that a certificate of a verdict or of moves is refused if any number, name or word of its claims is
//! changed.

use crate::common::{random, refused};

use evenhand_cluster::Verdict;
use evenhand_cluster::certificate::{of_moves, of_verdict};
use evenhand_cluster::moves::{Limits, Moves};
use evenhand_problem::Rational;
use evenhand_problem::snapshot::Snapshot;
use evenhand_testkit::random::snapshots;
use proptest::prelude::*;
use serde_json::{Value, json};

/// Collects the JSON pointers to every number in a value, whether the number is a JSON number or a string.
fn numbers(value: &Value, pointer: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            fields.iter().for_each(|(name, value)| {
                numbers(value, &format!("{pointer}/{}", name.replace('~', "~0").replace('/', "~1")), found);
            });
        }
        Value::Array(list) => {
            list.iter().enumerate().for_each(|(at, value)| numbers(value, &format!("{pointer}/{at}"), found));
        }
        Value::Number(_) => found.push(pointer.to_owned()),
        Value::String(text) if text.parse::<Rational>().is_ok() => found.push(pointer.to_owned()),
        _ => {}
    }
}

/// Returns a number plus `change`.
fn moved_by(value: &Value, change: i32) -> Value {
    match value {
        Value::Number(number) => json!(number.as_i64().unwrap_or(0) + i64::from(change)),
        value => {
            let number: Rational = value.as_str().and_then(|text| text.parse().ok()).unwrap_or_default();
            json!((number + change).to_string())
        }
    }
}

/// Returns the JSON pointers to the numbers that a bundle claims: the numbers outside of its ordinary certificates, and
/// the margins of these certificates.
fn claimed(document: &Value) -> Vec<String> {
    let mut pointers = Vec::new();
    for field in ["queues", "fits"] {
        numbers(&document[field], &format!("/{field}"), &mut pointers);
    }
    for field in ["steps", "least"] {
        numbers(&document["moves"][field], &format!("/moves/{field}"), &mut pointers);
    }
    for part in ["/held", "/due", "/moves/after"] {
        let claims = document.pointer(&format!("{part}/claims")).and_then(Value::as_array);
        for (at, claim) in claims.into_iter().flatten().enumerate() {
            numbers(&claim["margin"], &format!("{part}/claims/{at}/margin"), &mut pointers);
        }
    }
    pointers
}

fn certificates(seed: u64) -> [String; 2] {
    let (problem, allocation) = random(seed);
    certified(&Snapshot::new(problem, allocation))
}

/// Returns the certificates of the verdict on a snapshot and of moves.
fn certified(snapshot: &Snapshot) -> [String; 2] {
    let found = Verdict::new(snapshot, None, &Rational::new()).unwrap();
    let moves = Moves::new(&found, &Limits::default()).unwrap();
    [of_verdict(&found, &[]).unwrap(), of_moves(&found, &moves, &[]).unwrap()]
}

#[test]
fn five_thousand_certificates_with_a_changed_number_are_refused() {
    let mut damaged = 0;
    for seed in 0_u64.. {
        let change = [-1, 1, 7][usize::try_from(seed % 3).unwrap()];
        // The snapshots of odd seeds have constraints of a scheduler.
        let texts = if seed % 2 == 0 { certificates(seed) } else { certified(&snapshots::snapshot(seed)) };
        for text in texts {
            assert_eq!(refused(&text), None, "seed {seed}");
            let document: Value = serde_json::from_str(&text).unwrap();
            for pointer in claimed(&document) {
                // Another server may have as much free capacity. A claim that is changed to name this server
                // is still true.
                if pointer.ends_with("/index") && pointer.starts_with("/fits") {
                    continue;
                }
                let mut other = document.clone();
                let number = other.pointer_mut(&pointer).unwrap();
                *number = moved_by(number, change);
                assert!(refused(&other.to_string()).is_some(), "{pointer}, seed {seed}");
                damaged += 1;
            }
        }
        if damaged >= 5_000 {
            println!("{damaged} damaged certificates of {} snapshots are refused", seed + 1);
            return;
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn changed_usage_and_fair_shares_are_refused(seed in 0_u64..100_000, at in 0_usize..1000) {
        let [text, _] = certificates(seed);
        let document: Value = serde_json::from_str(&text).unwrap();
        for part in ["held", "due"] {
            let mut pointers = Vec::new();
            let tasks = if part == "held" { "placements" } else { "tasks" };
            numbers(&document[part]["allocation"][tasks], &format!("/{part}/allocation/{tasks}"), &mut pointers);
            pointers.retain(|pointer| !pointer.ends_with("/index"));
            let Some(pointer) = (!pointers.is_empty()).then(|| &pointers[at % pointers.len()]) else { continue };
            let mut damaged = document.clone();
            let number = damaged.pointer_mut(pointer).unwrap();
            *number = moved_by(number, 1);
            prop_assert!(refused(&damaged.to_string()).is_some(), "{}, seed {}", pointer, seed);
        }
    }
}

/// Returns a certificate of moves in a problem with several groups. The moves have several steps, and one of
/// them stops tasks.
fn rich() -> Value {
    let found = (0..).find_map(|seed| {
        let [_, text] = certificates(seed);
        let document: Value = serde_json::from_str(&text).unwrap();
        let steps = document["moves"]["steps"].as_array().unwrap();
        let stops = steps.iter().any(|step| !step["stop"].as_array().unwrap().is_empty());
        let groups = document["held"]["problem"]["groups"].as_array().is_some_and(|groups| groups.len() > 1);
        (stops && steps.len() > 1 && groups).then_some(document)
    });
    found.unwrap()
}

/// A damage of a certificate: its description, and the function that makes the change.
type Damage = (&'static str, fn(&mut Value));

#[test]
fn changed_structure_is_refused() {
    let document = rich();
    assert_eq!(refused(&document.to_string()), None);
    let damaged: [Damage; 16] = [
        ("a queue is left out", |of| drop(of["queues"].as_array_mut().unwrap().remove(0))),
        ("the queues are in another order", |of| of["queues"].as_array_mut().unwrap().swap(0, 1)),
        ("no queue is below its fair share", |of| {
            let queues = of["queues"].as_array_mut().unwrap();
            queues.iter_mut().for_each(|row| drop(row.as_object_mut().unwrap().remove("by")));
        }),
        ("a step is left out", |of| drop(of["moves"]["steps"].as_array_mut().unwrap().remove(0))),
        ("a step is taken twice", |of| {
            let steps = of["moves"]["steps"].as_array_mut().unwrap();
            steps.push(steps[0].clone());
        }),
        ("no task is stopped", |of| {
            let steps = of["moves"]["steps"].as_array_mut().unwrap();
            steps.iter_mut().for_each(|step| step["stop"] = json!([]));
        }),
        ("the first queue is wrongly below its fair share after the moves, or no queue is", |of| {
            let name = of["queues"][0]["name"].clone();
            let short = of["moves"]["short"].as_array_mut().unwrap();
            if short.contains(&name) { short.clear() } else { short.insert(0, name) }
        }),
        ("the usage after the moves is the one before", |of| of["moves"]["after"] = of["held"].clone()),
        ("the fair shares are the usage", |of| of["due"] = of["held"].clone()),
        ("an axiom is not claimed", |of| {
            of["held"]["claims"].as_array_mut().unwrap().retain(|claim| claim["axiom"] != "work-conserving");
        }),
        ("a claim is reversed", |of| of["held"]["claims"][0]["holds"] = json!(false)),
        ("another kind", |of| of["kind"] = json!("verdict-certificate")),
        ("another version", |of| of["version"] = json!(2)),
        ("a tolerance", |of| of["tolerance"] = json!("1/2")),
        ("the tasks that could start are left out", |of| drop(of.as_object_mut().unwrap().remove("fits"))),
        ("the certificates are about different problems", |of| {
            of["due"]["problem"]["name"] = json!("another");
            drop(of["due"]["allocation"].as_object_mut().unwrap().remove("problem_sha256"));
        }),
    ];
    for (what, damage) in damaged {
        let mut of = document.clone();
        damage(&mut of);
        assert!(refused(&of.to_string()).is_some(), "{what}");
    }
}

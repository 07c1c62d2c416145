//! Tests of `evenhand ratio --monotone`: the answer, its proof and wrong input.

use crate::common;

use common::Folder;
use evenhand::problem::Rational;
use evenhand::problem::number;
use serde_json::{Value, json};

/// Three types for which a larger load can reduce the reward of greedy packing (golden case vm.monotone).
const FALLING: &str = r#"{"kind": "reservation-problem", "resources": ["x", "y"],
    "servers": [{"name": "pool", "count": 7, "capacity": {"x": 16, "y": 10}}],
    "jobs": [{"name": "a", "demand": {"x": 9, "y": 3}, "reward": 18, "load": 3},
             {"name": "b", "demand": {"x": 9, "y": 1}, "reward": 16},
             {"name": "c", "demand": {"x": 1, "y": 3}, "reward": 5}]}"#;
/// The first two types of [`FALLING`]. Two types are always monotone.
const TWO: &str = r#"{"kind": "reservation-problem", "resources": ["x", "y"],
    "servers": [{"name": "pool", "capacity": {"x": 16, "y": 10}}],
    "jobs": [{"name": "a", "demand": {"x": 9, "y": 3}, "reward": 18},
             {"name": "c", "demand": {"x": 1, "y": 3}, "reward": 5}]}"#;

fn exact(value: &Value) -> Rational {
    number::parse(value.as_str().unwrap()).unwrap()
}

/// The proof of a negative answer consists of two loads, with certificates of the rewards of greedy packing
/// that the kernel accepts.
#[test]
fn two_certified_loads_refute_monotonicity() {
    let folder = Folder::with(FALLING);
    let run = folder.run(&["ratio", "problem.json", "--monotone", "-o", "proof", "--format", "json"]);
    let found = run.ends_with(1).json();
    assert_eq!(found, serde_json::from_str::<Value>(&folder.read("proof/monotone.json")).unwrap());
    assert_eq!((&found["monotone"], &found["proof"]), (&json!(false), &Value::Null));
    let [less, more] = ["smaller", "larger"].map(|which| {
        let stated = &found["counterexample"][which];
        let name = format!("proof/{which}.cert.json");
        folder.run(&["check", &name]).ends_with(0);
        let certificate: Value = serde_json::from_str(&folder.read(&name)).unwrap();
        assert_eq!(certificate["greedy"]["reward"], stated["greedy"]);
        for job in certificate["problem"]["jobs"].as_array().unwrap() {
            let load = job
                .get("load")
                .map_or_else(Rational::new, |load| number::parse(load.as_str().unwrap()).unwrap());
            assert_eq!(load, exact(&stated["loads"][job["name"].as_str().unwrap()]));
        }
        stated
    });
    for name in ["a", "b", "c"] {
        assert!(exact(&less["loads"][name]) <= exact(&more["loads"][name]), "{name}");
    }
    assert!(exact(&more["greedy"]) < exact(&less["greedy"]));
    let table = folder.run(&["ratio", "problem.json", "--monotone"]).ends_with(1).stdout;
    assert!(table.contains("more load may earn greedy less"), "{table}");
}

/// The proof of a positive answer lists every order in which types can run out. Its derivatives follow from
/// its configurations.
#[test]
fn derivatives_of_every_order_prove_monotonicity() {
    let folder = Folder::with(TWO);
    let found = folder.run(&["ratio", "problem.json", "--monotone", "--format", "json"]).ends_with(0).json();
    assert_eq!((&found["monotone"], &found["counterexample"]), (&json!(true), &Value::Null));
    let orders = found["proof"].as_array().unwrap();
    assert_eq!(found["orders"], json!(orders.len()));
    for order in orders {
        let run_out: Vec<&str> =
            order["run_out"].as_array().unwrap().iter().map(|n| n.as_str().unwrap()).collect();
        let steps = order["steps"].as_array().unwrap();
        assert_eq!(steps.len(), run_out.len() + 1);
        let last = exact(&steps[steps.len() - 1]["reward"]);
        // If a server of the last step replaces a server of a step, the loads of the exhausted types change
        // by the jobs of these servers.
        for (l, step) in steps[..run_out.len()].iter().enumerate() {
            let earned: Rational = run_out[l..]
                .iter()
                .map(|name| {
                    let jobs = step["configuration"].get(*name).map_or(0, |k| k.as_u64().unwrap());
                    exact(&order["one_more_job_earns"][*name]) * jobs
                })
                .sum();
            assert_eq!(earned, exact(&step["reward"]) - &last, "{order}");
        }
        for name in run_out {
            assert!(exact(&order["one_more_job_earns"][name]) >= 0, "{order}");
        }
    }
    // Either type may run out first if both types fit on a server.
    let first: Vec<&Value> = orders.iter().map(|order| &order["run_out"]).collect();
    assert!(first.contains(&&json!([])) && first.contains(&&json!(["a"])), "{first:?}");
    // In the first iteration the folder does not exist, and in the second iteration it exists.
    for _ in 0..2 {
        folder.run(&["ratio", "problem.json", "--monotone", "-o", "proof"]).ends_with(0);
    }
    assert!(folder.read("proof/monotone.json").contains("one_more_job_earns"));
    let table = folder.run(&["ratio", "problem.json", "--monotone"]).ends_with(0).stdout;
    assert!(table.starts_with("more load never earns greedy less"), "{table}");
}

#[test]
fn refuses_wrong_arguments() {
    let folder = Folder::with(TWO);
    folder.run(&["ratio", "problem.json", "--monotone", "--worst-load"]).fails(2);
    folder.run(&["ratio", "problem.json", "--monotone", "--sweep", "0:1:2"]).fails(2);
    folder.run(&["ratio", "problem.json", "--monotone", "-o", "problem.json"]).fails(2);
    let pool = r#"{"name": "pool", "capacity": {"x": 16, "y": 10}}"#;
    let other = pool.replace("pool", "other");
    folder.write("problem.json", TWO.replace(pool, &format!("{pool}, {other}")));
    folder.run(&["ratio", "problem.json", "--monotone"]).fails_with(2, "one pool of identical servers");
}

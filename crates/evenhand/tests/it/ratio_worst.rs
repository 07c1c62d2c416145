//! Tests of `evenhand ratio --worst-load`: numbers, certificates and wrong input.

use crate::common;

use common::Folder;
use evenhand::problem::number;
use evenhand_testkit::golden;
use serde_json::{Value, json};

const PAIR: &str = r#"{"kind": "reservation-problem", "resources": ["x", "y"],
    "servers": [{"name": "pool", "capacity": {"x": 7, "y": 8}}],
    "jobs": [{"name": "a", "demand": {"x": 2, "y": 3}, "reward": 6, "load": 100},
             {"name": "b", "demand": {"x": 5, "y": 3}, "reward": 11},
             {"name": "c", "demand": {"x": 4}, "reward": 3}]}"#;

/// Returns the problem of a golden case with its types in the order `order`.
fn in_order(items: &Value, order: &[usize]) -> String {
    let items: Vec<&Value> = order.iter().map(|&j| &items[j]).collect();
    let case = json!({"inputs": {"items": items, "cap": [80, 640], "rho": vec![0; items.len()]}});
    golden::reservation(&case, "", None)
}

fn assert_infimum(text: &str, expected: &Value) {
    let folder = Folder::new();
    let run = folder.run_with(&["ratio", "-", "--worst-load", "-o", "c.json", "--format", "json"], text);
    let found = run.ends_with(0).json();
    assert_eq!(found["ratio_lower"], found["ratio_upper"]);
    let ratio = number::to_f64(&golden::exact(&found["ratio_lower"]));
    golden::assert_near("infimum", &[ratio], &[number::to_f64(&golden::exact(expected))], 1e-6);
    let check = folder.run(&["check", "c.json", "--format", "json"]).ends_with(0).json();
    assert_eq!((&check["valid"], &check["claims"]), (&json!(true), &json!(2)));
    // `evenhand ratio` computes the same ratio for these loads.
    let mut problem: Value = serde_json::from_str(text).unwrap();
    for job in problem["jobs"].as_array_mut().unwrap() {
        job["load"] = found["loads"][job["name"].as_str().unwrap()].clone();
    }
    let there = folder.run_with(&["ratio", "-", "--format", "json"], problem.to_string()).ends_with(0).json();
    assert_eq!(there["ratio"], found["ratio_upper"]);
    assert_eq!((&there["greedy"], &there["optimum"]), (&found["greedy"], &found["optimum"]));
}

#[test]
fn four_types_have_the_golden_infimum_in_every_order() {
    let case = golden::case("vm.worst4.infimum");
    let (items, expected) = (&case["inputs"]["items"], &case["expected"]);
    assert_infimum(&in_order(items, &[0, 1, 2, 3]), &expected["inf_ratio"]);
    for order in [[0, 1, 2, 3], [1, 0, 2, 3], [2, 1, 0, 3]] {
        let key = format!("(({}, {}, {}, {}), 1)", order[0], order[1], order[2], order[3]);
        assert_infimum(&in_order(items, &order), &expected["by_tie_order"][&key][0]);
    }
}

#[test]
fn six_types_of_the_paper_have_the_golden_infimum() {
    let case = golden::case("vm.table1.infimum");
    for entry in case["expected"].as_array().unwrap() {
        assert_infimum(&in_order(&entry["items"], &[0, 1, 2, 3, 4, 5]), &entry["inf_ratio"]);
    }
}

#[test]
fn worst_load_writes_table_json_and_files() {
    let folder = Folder::new();
    folder.write("p.json", PAIR);
    let json = folder.run(&["ratio", "p.json", "--worst-load", "--format", "json"]).ends_with(0);
    assert_eq!(json.stderr, "");
    assert_eq!(
        json.json(),
        json!({"kind": "worst-load", "version": 1,
               "ratio_lower": "5/6", "ratio_upper": "5/6", "loads": {"a": "1", "b": "0", "c": "1"},
               "greedy": "15/2", "optimum": "9"})
    );
    let table = folder.run(&["ratio", "p.json", "--worst-load", "-o", "c.json"]).ends_with(0).stdout;
    let says = "for these types greedy packing never earns less than 5/6 = 0.833333 of the optimum, whatever the demand";
    assert!(table.starts_with(says), "{table}");
    let certificate = folder.run(&["ratio", "p.json", "--worst-load", "-o", "-"]).ends_with(0).json();
    assert_eq!(certificate["kind"], json!("worst-load-certificate"));
    assert_eq!(certificate, serde_json::from_str::<Value>(&folder.read("c.json")).unwrap());
    let says = folder.run(&["check", "c.json", "--problem", "p.json"]).ends_with(0).stdout;
    assert!(says.contains("greedy earns at least 5/6 of the optimum, whatever the load"), "{says}");
    // The certificate depends on the rewards of the problem, but not on its loads.
    folder.write("q.json", PAIR.replace("100", "3"));
    folder.run(&["check", "c.json", "--problem", "q.json"]).ends_with(0);
    folder.write("q.json", PAIR.replace("11", "12"));
    folder.run(&["check", "c.json", "--problem", "q.json"]).ends_with(1);
    let text = certificate.to_string();
    folder.write("d.json", text.replacen("\"ratio_lower\":\"5/6\"", "\"ratio_lower\":\"6/7\"", 1));
    folder.run(&["check", "d.json"]).ends_with(1);
    folder.write("e.json", text.replacen("\"claims\"", "\"claim\"", 1));
    folder.run(&["check", "e.json"]).fails(2);
}

#[test]
fn reports_optimal_packing_and_nothing_to_earn() {
    let folder = Folder::new();
    // The example of the paper's introduction: two halves that fit together leave no free capacity.
    let introduction = r#"{"kind": "reservation-problem", "resources": ["x", "y"],
        "servers": [{"name": "pool", "capacity": {"x": 10, "y": 10}}],
        "jobs": [{"name": "a", "demand": {"x": 6, "y": 6}, "reward": 4},
                 {"name": "b", "demand": {"x": 7, "y": 1}, "reward": 3},
                 {"name": "c", "demand": {"x": 1, "y": 7}, "reward": 3}]}"#;
    folder.write("p.json", introduction);
    let json = folder.run(&["ratio", "p.json", "--worst-load", "--format", "json"]).ends_with(0).json();
    assert_eq!(json["ratio_lower"], json!("1"));
    let table = folder.run(&["ratio", "p.json", "--worst-load"]).ends_with(0).stdout;
    assert_eq!(table, "for these types greedy packing earns the optimum, whatever the demand\n");

    let worthless = PAIR.replace("\"reward\": 6", "\"reward\": 0").replace("11", "0").replace("3}]", "0}]");
    folder.write("p.json", worthless);
    let run =
        folder.run(&["ratio", "p.json", "--worst-load", "-o", "c.json", "--format", "json"]).ends_with(0);
    assert!(run.stderr.contains("warning: there is nothing to earn"));
    assert_eq!((&run.json()["ratio_lower"], &run.json()["ratio_upper"]), (&Value::Null, &Value::Null));
    assert_eq!(folder.run(&["ratio", "p.json", "--worst-load", "--quiet"]).ends_with(0).stderr, "");
    let says = folder.run(&["check", "c.json"]).ends_with(0).stdout;
    assert!(says.contains("there is nothing to earn, whatever the load"), "{says}");
}

#[test]
fn worst_load_uses_stated_configurations() {
    let text = r#"{"kind": "reservation-problem", "configurations": [{"a": 1, "b": 1, "c": 2}, {"a": 3, "b": 1, "c": 1}],
        "jobs": [{"name": "a", "reward": "8/3"}, {"name": "b", "reward": "5/3"}, {"name": "c", "reward": "7/3"}]}"#;
    let folder = Folder::new();
    let run = folder.run_with(&["ratio", "-", "--worst-load", "-o", "c.json", "--format", "json"], text);
    assert_eq!(run.ends_with(0).json()["ratio_lower"], json!("59/66"));
    folder.run(&["check", "c.json"]).ends_with(0);
}

#[test]
fn refuses_wrong_problems_and_options() {
    let folder = Folder::new();
    let second = "\"y\": 8}}, {\"name\": \"other\", \"capacity\": {\"x\": 9, \"y\": 9}}]";
    folder.write("p.json", PAIR.replace("\"y\": 8}}]", second));
    folder
        .run(&["ratio", "p.json", "--worst-load", "-o", "c.json"])
        .fails_with(2, "one pool of identical servers");
    assert!(!folder.path().join("c.json").exists());
    folder.write("p.json", PAIR.replace("\"x\": 2", "\"x\": 20"));
    folder.run(&["ratio", "p.json", "--worst-load"]).fails(2);
    folder.write("p.json", PAIR);
    folder.run(&["ratio", "p.json", "--worst-load", "-o", "p.json"]).fails(2);
    folder.run(&["ratio", "p.json", "--worst-load", "--plot", "p.svg"]).fails(2);
    folder.run(&["ratio", "p.json", "--worst-load", "--sweep", "0:1:2"]).fails(2);
    folder.run(&["ratio", "missing.json", "--worst-load"]).fails(2);
}

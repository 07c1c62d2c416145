//! Tests of `evenhand ratio --sweep`: points, critical loads, plots and wrong input.

use crate::common;

use common::Folder;
use evenhand::problem::{Rational, number};
use evenhand_testkit::golden;
use serde_json::{Value, json};

const LINE: &str = r#"{"kind": "reservation-problem", "resources": ["x"],
    "servers": [{"name": "pool", "capacity": {"x": 2}}],
    "jobs": [{"name": "a", "demand": {"x": 2}, "reward": 3, "load": 1},
             {"name": "b", "demand": {"x": 1}, "reward": 1, "load": 1}]}"#;

#[test]
fn sweep_reproduces_figure_2() {
    let cases = golden::cases("vm.loadsweep.");
    assert!(cases.len() > 2);
    for case in cases {
        let folder = Folder::new();
        folder.write("p.json", golden::reservation(&case, "", None));
        let expected = &case["expected"];
        for point in expected["points"].as_array().unwrap() {
            let load = point[0].to_string();
            let call = ["ratio", "p.json", "--format", "json", "--sweep", &format!("{load}:{load}:1")];
            let found = folder.run(&call).ends_with(0).json();
            let critical = golden::floats(&found["critical_loads"]);
            let two = golden::floats(&json!([expected["first_critical"], expected["second_critical"]]));
            golden::assert_near("critical loads", &critical, &two, 1e-6);
            let found = &found["points"][0];
            let ours = json!([found["load"], found["greedy"], found["optimum"], found["ratio"]]);
            golden::assert_near(golden::id(&case), &golden::floats(&ours), &golden::floats(point), 1e-6);
        }
        // From the second critical load on, every server earns the largest possible reward.
        let found =
            folder.run(&["ratio", "p.json", "--format", "json", "--sweep", "0:1:2"]).ends_with(0).json();
        let second = found["critical_loads"][1].as_str().unwrap();
        let at = format!("{second}:1000:3");
        let found = folder.run(&["ratio", "p.json", "--format", "json", "--sweep", &at]).ends_with(0).json();
        for point in found["points"].as_array().unwrap() {
            assert_eq!(golden::exact(&point["greedy"]), golden::exact(&expected["max_reward"]));
            assert_eq!((&point["greedy"], &point["ratio"]), (&point["optimum"], &json!("1")));
        }
    }
}

#[test]
fn sweep_writes_table_json_and_plot() {
    let folder = Folder::new();
    folder.write("p.json", LINE);
    let run = folder.run(&["ratio", "p.json", "--sweep", "0:3/2:4", "--format", "json"]).ends_with(0);
    assert_eq!(run.stderr, "");
    let point = |load: &str, reward: &str, ratio: Value| json!({"load": load, "greedy": reward, "optimum": reward, "ratio": ratio});
    assert_eq!(
        run.json(),
        json!({"kind": "ratio-sweep", "version": 1,
               "points": [point("0", "0", Value::Null), point("1/2", "2", json!("1")),
                          point("1", "3", json!("1")), point("3/2", "3", json!("1"))],
               "critical_loads": ["2/3", "1"]})
    );
    let table = folder.run(&["ratio", "p.json", "--sweep", "0:1.5:4", "--plot", "p.svg"]).ends_with(0).stdout;
    assert!(table.contains("up to 2/3 = 0.666667 times the load everything is served"), "{table}");
    assert!(table.contains("from 1 times the load on, every server holds"), "{table}");
    let svg = folder.read("p.svg");
    assert!(svg.starts_with("<svg") && svg.contains("multiple of the load") && svg.contains("all served"));
    let printed = folder.run(&["ratio", "p.json", "--sweep", "0:1.5:4", "--plot", "-"]).ends_with(0).stdout;
    assert_eq!(printed, svg);
    // A plot with a single point is drawn too.
    folder.run(&["ratio", "p.json", "--sweep", "1:1:1", "--plot", "one.svg"]).ends_with(0);
    assert!(folder.read("one.svg").starts_with("<svg"));
}

#[test]
fn sweep_handles_a_missing_critical_load() {
    let folder = Folder::new();
    // The best configuration contains a type whose load is 0.
    folder.write("p.json", LINE.replacen("\"load\": 1", "\"load\": 0", 1));
    let json = folder.run(&["ratio", "p.json", "--sweep", "1:2:2", "--format", "json"]).ends_with(0).json();
    assert_eq!(json["critical_loads"], json!(["2", null]));
    // The loads of all types are 0.
    let none = LINE.replace("\"load\": 1", "\"load\": 0");
    folder.write("p.json", none);
    let run = folder.run(&["ratio", "p.json", "--sweep", "1:2:2", "--format", "json"]).ends_with(0);
    assert!(run.stderr.contains("warning: there is nothing to earn"));
    assert_eq!(run.json()["critical_loads"], json!([null, null]));
    assert_eq!(folder.run(&["ratio", "p.json", "--sweep", "1:2:2", "--quiet"]).ends_with(0).stderr, "");
    // A problem with several pools has points, but no critical loads.
    let second = "{\"x\": 2}}, {\"name\": \"other\", \"capacity\": {\"x\": 3}}]";
    folder.write("p.json", LINE.replacen("{\"x\": 2}}]", second, 1));
    let run = folder.run(&["ratio", "p.json", "--sweep", "1:2:2", "--format", "json"]).ends_with(0);
    assert!(run.stderr.contains("warning: critical loads are defined for one pool"));
    assert_eq!(run.json()["critical_loads"], json!([null, null]));
    let alone = folder.run(&["ratio", "p.json", "--format", "json"]).ends_with(0).json();
    assert_eq!(run.json()["points"][0]["greedy"], alone["greedy"]);
    assert_eq!(run.json()["points"][0]["optimum"], alone["optimum"]);
}

#[test]
fn a_long_sweep_has_all_points() {
    let folder = Folder::new();
    folder.write("p.json", LINE);
    let json = folder.run(&["ratio", "p.json", "--sweep", "0:1:301", "--format", "json"]).ends_with(0).json();
    let points = json["points"].as_array().unwrap();
    assert_eq!(points.len(), 301);
    for (step, point) in points.iter().enumerate() {
        assert_eq!(golden::exact(&point["load"]), Rational::from((step, 300)));
        assert_eq!(
            number::parse(point["greedy"].as_str().unwrap()),
            number::parse(point["optimum"].as_str().unwrap())
        );
    }
}

#[test]
fn refuses_wrong_ranges_and_outputs() {
    let folder = Folder::new();
    folder.write("p.json", LINE);
    for range in [
        "",
        "1",
        "1:2",
        "1:2:3:4",
        "a:2:3",
        "1:b:3",
        "1:2:c",
        "-1:2:3",
        "2:1:3",
        "1:2:1",
        "1:2:0",
        "1:1:2",
        "1:2:1.5",
        "1:2:-3",
        "1:2:1000000000",
        "1:2:99999999999999999999",
        "nan:1:2",
        "0:inf:2",
        "1e500:1e501:2",
    ] {
        folder.run(&["ratio", "p.json", &format!("--sweep={range}")]).fails(2);
    }
    folder.run(&["ratio", "p.json", "--sweep"]).fails(2);
    // A sweep has a page and no certificate, and only a sweep has a plot.
    folder.run(&["ratio", "p.json", "--sweep", "1:2:3", "-o", "c.json"]).fails_with(2, ".html");
    folder.run(&["ratio", "p.json", "--plot", "p.svg"]).fails_with(2, "--sweep");
    folder.run(&["ratio", "p.json", "--sweep", "1:2:3", "--plot", "p.json"]).fails_with(2, "SVG only");
    folder.run(&["ratio", "p.json", "--sweep", "1:2:3", "--plot", "no/such/p.svg"]).fails(2);
    assert_eq!(folder.names(), ["p.json"]);
}

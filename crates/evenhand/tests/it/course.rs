//! Tests of `simulate` for users that arrive and leave under divisible mechanisms: the example of the
//! documentation, the written files, and refused input.

use crate::common;

use common::Folder;
use serde_json::Value;

fn fits(name: &str, text: &str) {
    let schema = Folder::new().run(&["schema", name]).ends_with(0).json();
    let value: Value = serde_json::from_str(text).unwrap();
    if let Err(error) = jsonschema::validator_for(&schema).unwrap().validate(&value) {
        panic!("{error} at {}: {text}", error.instance_path());
    }
}

/// Returns the first JSON block after a heading of docs/simulation.md.
fn example(heading: &str) -> String {
    let text = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/simulation.md");
    let text = std::fs::read_to_string(text).unwrap();
    let section = text.split(&format!("\n## {heading}\n")).nth(1).unwrap();
    section.split("```json\n").nth(1).unwrap().split("```").next().unwrap().to_owned()
}

#[test]
fn the_example_of_the_documentation_runs() {
    let text = example("Divisible allocations over time");
    fits("scenario", &text);
    let folder = Folder::new();
    folder.write("scenario.json", &text);
    let page = folder.run(&["simulate", "scenario.json", "-o", "results"]).ends_with(0).stdout;
    assert!(page.contains("ps-dsf") && page.contains("dominant share"), "{page}");
    let summary = folder.read("results/summary.json");
    fits("course", &summary);
    let again = folder.run(&["simulate", "scenario.json", "--format", "json"]).ends_with(0);
    assert_eq!(again.json(), serde_json::from_str::<Value>(&summary).unwrap());
    assert!(folder.read("results/series.svg").starts_with("<svg"));
    let series = folder.read("results/series.csv");
    let of_4 = |time: &str| series.lines().any(|line| line.starts_with(&format!("{time},4,")));
    assert!(of_4("99") && !of_4("100") && !of_4("249") && of_4("250"), "{series}");
    let used = folder.read("results/utilisation.csv");
    let rows = used.lines().filter(|line| line.starts_with("200,D,")).count();
    assert_eq!(rows, 2, "processors and memory");
    for policy in
        [r#"{"distributed": {"delay": {"uniform": [0, 2]}, "loss": 0.1}}"#, r#"{"mechanism": "tsf"}"#]
    {
        let text = text.replace(r#"{"mechanism": "ps-dsf"}"#, policy);
        fits("scenario", &text);
        folder.write("other.json", &text);
        let other = folder.run(&["simulate", "other.json", "--format", "json", "--replications", "2"]);
        let other = other.ends_with(0);
        fits("course", &other.stdout);
        assert_eq!(other.json()["runs"].as_array().unwrap().len(), 2);
    }
}

#[test]
fn refused_scenarios_write_no_files() {
    let text = example("Divisible allocations over time");
    let folder = Folder::new();
    folder.write("scenario.json", &text);
    folder.run(&["simulate", "scenario.json", "--resume", "c.json"]).fails_with(2, "cannot be resumed");
    for (from, to, expected) in [
        (r#""ps-dsf"}"#, r#""slots"}"#, "policy.mechanism"),
        (r#""leaves": "4""#, r#""leaves": "9""#, "events[0].leaves"),
        // That a mechanism does not apply to these users is detected only during the run.
        (r#""ps-dsf"}"#, r#""alpha"}"#, "policy: alpha needs the option --alpha"),
    ] {
        let wrong = text.replacen(from, to, 1);
        assert_ne!(wrong, text, "{from}");
        folder.write("wrong.json", &wrong);
        folder.run(&["simulate", "wrong.json", "-o", "results"]).fails_with(2, expected);
        assert!(!folder.path().join("results").exists());
    }
}

#[test]
fn the_example_of_auto_scaling_runs() {
    let text = example("Admission into reserved slots");
    fits("reservation-scenario", &text);
    let folder = Folder::new();
    std::fs::create_dir(folder.path().join("examples")).unwrap();
    folder.write("examples/vm-types.json", include_str!("../../../../examples/vm-types.json"));
    folder.write("scenario.json", &text);
    folder.run(&["simulate", "scenario.json", "-o", "results"]).ends_with(0);
    fits("admission", &folder.read("results/summary.json"));
    assert!(folder.read("results/series.svg").contains("bound, none rejected"));
    assert!(folder.read("results/series.csv").contains("slots of v1-m1"));
    folder.write("wrong.json", text.replace("v32-m256", "v32"));
    folder.run(&["simulate", "wrong.json", "-o", "other"]).fails_with(2, "there is no job type `v32`");
    assert!(!folder.path().join("other").exists());
}

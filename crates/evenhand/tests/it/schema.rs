//! The JSON Schemas are those of what the program reads and writes.

use crate::common;

use common::{CONSTRAINED, FIGURE_1, FIGURE_1_RESPELLED, Folder, ONE_SERVER};
use serde_json::Value;

fn schema(name: &str) -> jsonschema::Validator {
    let document = Folder::new().run(&["schema", name]).ends_with(0).json();
    assert_eq!(document["$schema"], "https://json-schema.org/draft/2020-12/schema");
    jsonschema::validator_for(&document).unwrap()
}

#[track_caller]
fn fits(schema: &jsonschema::Validator, text: &str) {
    let value: Value = serde_json::from_str(text).unwrap();
    if let Err(error) = schema.validate(&value) {
        panic!("{error} at {}: {text}", error.instance_path());
    }
}

#[test]
fn what_is_written_fits() {
    let (problems, allocations, certificates) =
        (schema("problem"), schema("allocation"), schema("certificate"));
    for text in [FIGURE_1, FIGURE_1_RESPELLED, ONE_SERVER, CONSTRAINED] {
        fits(&problems, text);
        let folder = Folder::with(text);
        for mechanism in ["drfh", "tsf", "asset", "utilitarian"] {
            for exact in [true, false] {
                folder.solve(mechanism, exact, "a.json");
                fits(&allocations, &folder.read("a.json"));
                folder.run(&["certify", "problem.json", "a.json", "-o", "c.json"]);
                fits(&certificates, &folder.read("c.json"));
            }
        }
    }
}

#[test]
fn with_warnings_too() {
    let folder = Folder::with(
        r#"{"kind": "allocation-problem", "resources": ["cpu", "gpu"],
        "servers": [{"name": "a", "capacity": {"cpu": 1}}], "users": [{"name": "u", "demand": {"gpu": 1}}]}"#,
    );
    folder.solve("drfh", true, "a.json");
    fits(&schema("allocation"), &folder.read("a.json"));
    // And it is read again.
    folder.run(&["certify", "problem.json", "a.json"]).ends_with(0);
}

#[test]
fn what_is_imported_fits() {
    let folder = Folder::new();
    folder.write("nodes.csv", "sn,cpu_milli,memory_mib,gpu,model\na,32000,1024,8,T4\n");
    folder.write("pods.csv", "name,cpu_milli,memory_mib,num_gpu,gpu_milli\np,1,1,1,460\n");
    let output = folder.run(&["import", "openb", "nodes.csv", "pods.csv"]).ends_with(0);
    fits(&schema("problem"), &output.stdout);
}

#[test]
fn every_schema_is_one() {
    let names = Folder::new().run(&["schema", "--format", "json"]).ends_with(0).json();
    for name in names["names"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()) {
        let schema = schema(name);
        for wrong in ["{}", "[]", "null", r#"{"kind": "poem"}"#] {
            assert!(!schema.is_valid(&serde_json::from_str(wrong).unwrap()), "{name} takes {wrong}");
        }
    }
}

/// The kind of every document on standard output is the name of its schema.
#[test]
fn what_commands_print_fits() {
    let problem = Folder::with(FIGURE_1);
    problem.solve("drfh", true, "a.json");
    problem.run(&["certify", "problem.json", "a.json", "-o", "c.json"]);
    let user = problem.read("problem.json");
    let user: Value = serde_json::from_str(&user).unwrap();
    let user = user["users"][0]["name"].as_str().unwrap();
    let of_problems: [(&str, &[&str]); 7] = [
        ("allocation", &["solve", "problem.json", "-m", "njc"]),
        ("examination", &["certify", "problem.json", "a.json"]),
        ("verdict", &["check", "c.json"]),
        ("comparison", &["compare", "problem.json"]),
        ("explanation", &["explain", "problem.json", "a.json", "--user", user]),
        ("export", &["export", "c.json", "--to", "vipr", "-o", "proofs"]),
        ("schemas", &["schema"]),
    ];
    let jobs = Folder::with(RESERVATION);
    let of_jobs: [(&str, &[&str]); 8] = [
        ("ratio", &["ratio", "problem.json", "-o", "ratio.json"]),
        ("ratio-sweep", &["ratio", "problem.json", "--sweep", "0:2:3"]),
        ("worst-load", &["ratio", "problem.json", "--worst-load", "-o", "worst.json"]),
        ("monotone", &["ratio", "problem.json", "--monotone"]),
        ("audit", &["audit", "--mechanism", "utilitarian", "--instances", "64"]),
        ("hunt", &["hunt", "--types", "2", "--steps", "20", "--resume", "state.json"]),
        ("reproduction", &["reproduce", "drfh"]),
        ("exhibits", &["reproduce", "--list"]),
    ];
    let all = of_problems.map(|(name, words)| (&problem, name, words));
    for (folder, name, words) in all.into_iter().chain(of_jobs.map(|(name, words)| (&jobs, name, words))) {
        let output = folder.run(&[words, &["--format", "json", "--quiet"]].concat()).stdout;
        fits(&schema(name), &output);
    }
    for (name, file) in [
        ("ratio-certificate", "ratio.json"),
        ("worst-load-certificate", "worst.json"),
        ("hunt-state", "state.json"),
    ] {
        fits(&schema(name), &jobs.read(file));
    }
}

/// Exact gains, bounds of irrational ones, and none with the reason.
#[test]
fn what_one_more_unit_brings_fits() {
    let folder = Folder::with(FIGURE_1);
    let schema = schema("explanation");
    let explained = |solve: &[&str]| -> Value {
        folder.run(&[&["solve", "problem.json", "-o", "a.json", "-m"], solve].concat()).ends_with(0);
        let explain = ["explain", "problem.json", "a.json", "--user", "user 1", "--format", "json"];
        let output = folder.run(&explain).ends_with(0).stdout;
        fits(&schema, &output);
        serde_json::from_str(&output).unwrap()
    };
    let exact = explained(&["drfh"]);
    assert_eq!(exact["one_more_unit"].as_array().unwrap().len(), 4);
    assert_eq!(exact["one_more_unit"][0]["tasks"], "85/89");
    assert_eq!(exact["one_more_unit"][0]["users"]["user 2"], "20/89");
    assert_eq!((&exact["one_more_unit_basis"]["tasks"], &exact["why"]), (&"10".into(), &Value::Null));
    let irrational = explained(&["alpha", "--alpha", "1/2"]);
    let rows = irrational["one_more_unit"].as_array().unwrap();
    assert!(rows.iter().any(|row| row["at_least"].is_string() && row["tasks"].is_null()), "{rows:?}");
    let several = explained(&["utilitarian"]);
    assert_eq!((&several["one_more_unit"], &several["one_more_unit_basis"]), (&Value::Null, &Value::Null));
    assert!(several["why"].as_str().unwrap().contains("several answers"));
}

const RESERVATION: &str = r#"{"kind": "reservation-problem", "resources": ["cpu", "memory"],
    "servers": [{"name": "pool", "count": 10, "capacity": {"cpu": 80, "memory": "640"}}],
    "jobs": [{"name": "small", "demand": {"cpu": 2, "memory": 32}, "reward": "6", "load": "1/2"},
             {"name": "big", "demand": {"cpu": "30", "memory": 32}, "reward": "9", "load": "2"}]}"#;

#[test]
fn the_examples_fit() {
    let (problems, reservations) = (schema("problem"), schema("reservation"));
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
    let mut seen = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "json") {
            let text = std::fs::read_to_string(&path).unwrap();
            if text.contains("reservation-problem") {
                fits(&reservations, &text);
                Folder::with(&text).run(&["ratio", "problem.json"]).ends_with(0);
            } else if text.contains(r#""kind": "allocation","#) {
                fits(&schema("allocation"), &text);
            } else {
                fits(&problems, &text);
                let mechanism = if text.contains(r#""groups""#) { "tree" } else { "drfh" };
                Folder::with(&text).solve(mechanism, true, "a.json");
            }
            seen += 1;
        }
    }
    assert!(seen >= 3, "{seen} examples");
}

#[test]
fn what_is_said_of_groups_fits() {
    let folder = Folder::with(
        r#"{"kind": "allocation-problem", "resources": ["cpu", "gpu"],
        "servers": [{"name": "pool", "capacity": {"cpu": 10, "gpu": 10}}],
        "groups": [{"name": "a", "guarantee": {"gpu": 4}, "lend": {"gpu": 1}}, {"name": "b", "limit": {"gpu": 3}},
                   {"name": "c", "parent": "b", "weight": 0}],
        "users": [{"name": "u", "group": "a", "demand": {"gpu": 1}}, {"name": "v", "group": "c", "demand": {"gpu": 1}},
                  {"name": "w", "demand": {"cpu": 1}, "tasks": 20}]}"#,
    );
    folder.write(
        "a.json",
        r#"{"kind": "allocation", "tasks": {"u": {"pool": 2}, "v": {"pool": 3}, "w": {"pool": 10}}}"#,
    );
    let (levels, entitlements, group) =
        (schema("levels"), schema("entitlements"), schema("group-explanation"));
    let fits_what = |schema: &jsonschema::Validator, arguments: &[&str]| {
        let output = folder.run(&[arguments, &["--format", "json"]].concat()).ends_with(0);
        fits(schema, &output.stdout);
    };
    for rule in ["hdrf", "kueue", "yunikorn"] {
        fits_what(&levels, &["explain", "problem.json", "a.json", "--levels", "--rule", rule]);
    }
    fits_what(&levels, &["explain", "problem.json", "a.json", "--levels", "--no-nominal-first"]);
    for rule in ["kai", "kai-sole-queue", "volcano"] {
        fits_what(&entitlements, &["solve", "problem.json", "--mechanism", "tree", "--rule", rule]);
        fits_what(&entitlements, &["explain", "problem.json", "a.json", "--levels", "--rule", rule]);
    }
    for name in ["a", "b", "c"] {
        fits_what(&group, &["explain", "problem.json", "a.json", "--group", name]);
    }
    folder.run(&["explain", "problem.json", "a.json", "--group", "d"]).fails(2);
    folder.run(&["explain", "problem.json", "a.json", "--group", "a", "--rule", "kai"]).fails(2);
    folder.run(&["explain", "problem.json", "a.json", "--group", "a", "--user", "u"]).fails(2);
    folder.run(&["solve", "problem.json", "--mechanism", "tree", "--whole"]).fails(2);
}

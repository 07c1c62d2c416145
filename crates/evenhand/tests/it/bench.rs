//! `bench` on the command line. The tests never judge times.

use crate::common;

use common::Folder;
use serde_json::Value;

const PROBLEM: &str = r#"{"kind": "allocation-problem", "resources": ["cpu", "memory"],
    "servers": [{"name": "a", "capacity": {"cpu": 2, "memory": 12}}, {"name": "b", "capacity": {"cpu": 12, "memory": 2}}],
    "users": [{"name": "u1", "demand": {"cpu": "1/5", "memory": 1}}, {"name": "u2", "weight": 3, "demand": {"cpu": 1, "memory": 0.2}}]}"#;

/// Removes the fields that differ between two runs: times, memory and the number of threads.
fn timeless(mut document: Value) -> Value {
    document["threads"].take();
    for record in document["records"].as_array_mut().unwrap() {
        assert!(record["seconds"].take().as_f64().unwrap() > 0.0);
        record["memory"].take();
    }
    document
}

#[test]
fn accuracy_on_the_command_line() {
    let folder = Folder::new();
    folder.write("problem.json", PROBLEM);
    let call = ["bench", "accuracy", "--runs", "1", "--format", "json", "--problem", "problem.json"];
    let run = |more: &[&str]| folder.run(&[&call, more].concat()).ends_with(0);
    let output = run(&["-o", "made/here", "--quiet"]);
    assert_eq!(output.stderr, "");
    let document = output.json();
    assert_eq!((document["kind"].as_str(), document["limit"].as_f64()), (Some("accuracy"), Some(10.0)));
    let mut names: Vec<String> = std::fs::read_dir(folder.path().join("made/here"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    let files =
        ["accuracy.csv", "accuracy.json", "accuracy.md", "accuracy.tex", "index.html", "profiles.svg"];
    assert_eq!(names, [&files[..], &["references", "references.json", "work-precision.svg"]].concat());
    let known: Value = serde_json::from_str(&folder.read("made/here/references.json")).unwrap();
    let known = known["references"].as_array().unwrap();
    assert_eq!(known.len(), 8);
    for reference in known.iter().filter(|reference| reference["kind"] != "ps-dsf") {
        assert!(reference["objective"].is_string() && reference["error_bound"].as_f64().unwrap() < 1e-100);
    }
    assert_eq!(folder.read("made/here/accuracy.json"), output.stdout);
    let records = document["records"].as_array().unwrap();
    let kinds: std::collections::BTreeSet<&str> =
        records.iter().map(|record| record["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds.len(), 8, "{kinds:?}");
    for record in records {
        assert_eq!(record["instance"], "problem");
        let of = |name: &str| record[name].as_f64();
        if record["contender"] == "doubles" && record["kind"] != "whole" {
            assert_eq!(
                (record["status"].as_str(), record["wrong_verdicts"].as_u64()),
                (Some("solved"), Some(0))
            );
            assert!(of("error").or(of("objective_error")).unwrap_or(0.0) < 1e-9, "{record}");
        }
    }
    // Every reference is saved as a certificate.
    let references = std::fs::read_dir(folder.path().join("made/here/references")).unwrap();
    let mut count = 0;
    for reference in references {
        let path = reference.unwrap().path();
        folder
            .run(&[
                "check",
                path.to_str().unwrap(),
                "--sharing",
                if path.to_string_lossy().contains("market") { "tdm" } else { "rdm" },
            ])
            .ends_with(0);
        count += 1;
    }
    assert_eq!(count, 8);
    let other = run(&["--threads", "1"]);
    assert_eq!(timeless(document), timeless(other.json()), "the answers depend on the threads");
}

#[test]
fn accuracy_as_a_table_with_a_program_from_outside() {
    let folder = Folder::new();
    folder.write("problem.json", PROBLEM);
    folder.write("answer.json", r#"{"kind": "allocation", "tasks": {"u1": {"a": 1}}, "status": "optimal"}"#);
    let path = folder.path().join("answer.json");
    let lazy = format!("lazy=cp '{}' {{answer}}; : {{problem}}", path.display());
    let call = ["bench", "accuracy", "--runs", "1", "--seconds", "5", "--problem", "problem.json"];
    let solvers = ["--solver", &lazy, "--solver", "broken=exit 3; {problem} {answer}"];
    let output = folder.run(&[&call[..], &solvers].concat()).ends_with(0);
    for word in ["lazy", "off by", "broken", "exit status 3", "failed", "interior-point", "too kind"] {
        assert!(output.stdout.contains(word), "`{word}` is not in {}", output.stdout);
    }
    assert_eq!(output.stderr, "", "progress where no terminal is");
}

#[test]
fn accuracy_refuses_what_it_cannot_measure() {
    let folder = Folder::new();
    folder.write("problem.json", PROBLEM);
    folder.write("grouped.json", PROBLEM.replace("\"users\"", "\"groups\": [{\"name\": \"g\"}], \"users\""));
    let bench = |arguments: &[&str]| folder.run(&[&["bench", "accuracy"], arguments].concat());
    bench(&["--problem", "grouped.json"]).fails_with(2, "stand in groups");
    bench(&["--problem", "missing.json"]).fails_with(2, "missing.json");
    bench(&["--problem", "problem.json", "--suite", "small"]).fails_with(2, "--suite");
    bench(&["--suite", "huge"]).fails_with(2, "huge");
    bench(&["--seconds", "0", "--problem", "problem.json"]).fails_with(2, "--seconds");
    bench(&["--worker"]).fails_with(2, "EOF");
    bench(&["--solver", "mine", "--problem", "problem.json"]).fails_with(2, "NAME=COMMAND");
    bench(&["--solver", "mine=x {problem}", "--problem", "problem.json"]).fails_with(2, "{answer}");
    folder.run(&["bench", "speed", "--suite", "small"]).fails_with(2, "bench accuracy");
    folder.run(&["bench", "speed", "--seconds", "3"]).fails_with(2, "bench accuracy");
}

#[test]
fn speed_on_the_command_line() {
    let folder = Folder::new();
    let output = folder.run(&["bench", "speed", "--runs", "1", "--format", "json", "-o", "."]).ends_with(0);
    let document = output.json();
    assert_eq!(document["kind"], "speed");
    assert_eq!(folder.names(), ["index.html", "speed.json"]);
    let results = document["results"].as_array().unwrap();
    let count = |name: &str| results.iter().filter(|result| result["name"] == name).count();
    for name in ["drfh", "tsf", "proportional", "njc", "path follower"] {
        assert_eq!(count(name), 3, "{name}");
    }
    for result in results.iter().filter(|result| result["name"] == "drfh") {
        assert!(result["ratio"].as_f64().unwrap() > 0.0 && result["why"].is_null(), "{result}");
    }
}

#[test]
fn folders_that_cannot_be_written_to() {
    let folder = Folder::new();
    folder.write("file", "");
    for what in ["accuracy", "speed"] {
        let bench = |output: &str| folder.run(&["bench", what, "-o", output]);
        bench("file").fails_with(2, "file: is not a folder");
        bench("file/below").fails_with(2, "file/below: ");
        bench("-").fails_with(2, "standard output");
    }
    folder.run(&["bench"]).fails(2);
    folder.run(&["bench", "beauty"]).fails_with(2, "beauty");
    folder.run(&["bench", "accuracy", "--runs", "0"]).fails_with(2, "--runs");
    assert_eq!(folder.names(), ["file"]);
}

//! Tests that files with more groups than the program and the kernel accept end with the status for limits,
//! and use little memory.
#![cfg(target_os = "linux")]

use crate::common;

use std::process::Command;

use common::Folder;
use serde_json::{Value, json};

/// The limit on the address space in kilobytes. It is the memory that the program needs for the smallest
/// problem, and some hundred megabytes more.
const MEMORY: u64 = 2_000_000;

/// Returns a problem with these numbers of groups and resources. The last group has a limit.
fn problem(groups: usize, resources: usize) -> Value {
    let names: Vec<String> = (0..resources).map(|r| format!("r{r}")).collect();
    let capacity: serde_json::Map<String, Value> = names.iter().map(|r| (r.clone(), json!(1))).collect();
    let mut list: Vec<Value> = (0..groups).map(|v| json!({"name": format!("g{v}")})).collect();
    list[groups - 1]["limit"] = json!({"r0": 1});
    json!({"kind": "allocation-problem", "resources": names, "servers": [{"name": "pool", "capacity": capacity}],
           "groups": list, "users": [{"name": "u", "group": "g0", "demand": {"r0": 1}}]})
}

/// Returns the exit status, and the first line on standard error.
fn run(folder: &Folder, arguments: &[&str]) -> (i32, String) {
    let line = format!(
        "ulimit -v {MEMORY}; exec '{}' --threads 1 {}",
        env!("CARGO_BIN_EXE_evenhand"),
        arguments.join(" ")
    );
    let output = Command::new("sh").args(["-c", &line]).current_dir(folder.path()).output().unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    (output.status.code().expect("no signal"), message.lines().next().unwrap_or_default().to_owned())
}

fn allocation() -> String {
    json!({"kind": "allocation", "arithmetic": "exact", "tasks": {"u": {"pool": "1"}}}).to_string()
}

/// Writes a certificate of the axiom `limits` for these numbers of groups and resources. It is derived from
/// the certificate of a small problem.
fn certificate(folder: &Folder, groups: usize, resources: usize) {
    folder.write("small.json", problem(2, 2).to_string());
    folder.write("a.json", allocation());
    let made =
        run(folder, &["certify", "small.json", "a.json", "--axiom", "limits", "-o", "small.cert.json"]);
    assert_eq!(made.0, 0, "{}", made.1);
    let mut certificate: Value = serde_json::from_str(&folder.read("small.cert.json")).unwrap();
    certificate["problem"] = problem(groups, resources);
    certificate["allocation"].as_object_mut().unwrap().remove("problem_sha256");
    certificate["claims"][0]["evidence"]["group"] = json!(format!("g{}", groups - 1));
    folder.write("cert.json", certificate.to_string());
}

#[test]
fn problems_above_the_bound_of_cells_are_refused() {
    let folder = Folder::new();
    // Just below the bound, every command gives an answer.
    folder.write("fits.json", problem(990, 1000).to_string());
    folder.write("a.json", allocation());
    let fits = run(&folder, &["certify", "fits.json", "a.json", "--axiom", "limits"]);
    assert_eq!(fits.0, 0, "{}", fits.1);
    certificate(&folder, 990, 1000);
    let fits = run(&folder, &["check", "cert.json"]);
    assert_eq!(fits.0, 0, "{}", fits.1);
    // Above the bound, every command stops before it starts to work.
    folder.write("large.json", problem(1001, 1000).to_string());
    for arguments in [
        &["solve", "large.json", "--mechanism", "tree"][..],
        &["solve", "large.json", "--mechanism", "tree", "--rule", "kai"],
        &["solve", "large.json", "--mechanism", "fill"],
        &["certify", "large.json", "a.json", "--axiom", "limits"],
        &["certify", "large.json", "a.json", "--axiom", "guarantees"],
        &["explain", "large.json", "a.json", "--levels"],
        &["explain", "large.json", "a.json", "--group", "g0"],
    ] {
        let (status, message) = run(&folder, arguments);
        assert_eq!(status, 3, "{arguments:?}: {message}");
        assert!(message.starts_with("error: "), "{arguments:?}: {message}");
    }
    certificate(&folder, 1001, 1000);
    let (status, message) = run(&folder, &["check", "cert.json"]);
    assert_eq!(status, 3, "{message}");
    assert!(message.starts_with("error: "), "{message}");
}

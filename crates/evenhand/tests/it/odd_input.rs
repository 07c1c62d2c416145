//! Tests of unusual but valid input: each input gets an answer, and the answer is true.

use crate::common;

use common::{FIGURE_1, Folder, of_programmes};
use serde_json::json;

fn problem(servers: &str, users: &str) -> Folder {
    Folder::with(&format!(
        r#"{{"kind": "allocation-problem", "resources": ["cpu", "memory"], "servers": {servers}, "users": {users}}}"#
    ))
}

/// Solves the problem exactly by every applicable mechanism. Each answer is certified as feasible, and its
/// certificate is valid after it is read from its file.
#[track_caller]
fn every_mechanism_is_certified(folder: &Folder) {
    for mechanism in of_programmes(&folder.read("problem.json")) {
        let solved =
            folder.run(&["solve", "problem.json", "--exact", "-m", mechanism, "-o", "a.json", "--quiet"]);
        solved.ends_with(0);
        let certified =
            folder.run(&["certify", "problem.json", "a.json", "-o", "c.json", "--format", "json"]);
        assert!(certified.status <= 1, "{mechanism}: {certified:?}");
        assert_eq!(certified.json()["claims"][0]["holds"], json!(true), "{mechanism}");
        folder.run(&["check", "c.json", "--problem", "problem.json"]).ends_with(0);
    }
    folder.run(&["compare", "problem.json"]).ends_with(0);
    folder.run(&["compare", "problem.json", "--format", "json"]).ends_with(0).json();
}

/// Solves the problem in floating point. Each answer is feasible up to rounding, or the command fails with
/// status 3.
#[track_caller]
fn floating_point_is_honest(folder: &Folder) {
    for mechanism in of_programmes(&folder.read("problem.json")) {
        let solved =
            folder.run(&["solve", "problem.json", "--float", "-m", mechanism, "-o", "a.json", "--quiet"]);
        if solved.status != 0 {
            let solved = solved.fails(3);
            // Allocation problems are never unbounded.
            assert!(!solved.error_line().contains("unbounded"), "{mechanism}: {}", solved.error_line());
            continue;
        }
        let arguments =
            ["certify", "problem.json", "a.json", "--axiom", "feasible", "--tolerance", "1e-6", "--quiet"];
        let certified = folder.run(&arguments);
        assert_eq!(certified.status, 0, "{mechanism}: {}", certified.stdout);
    }
}

#[test]
fn certifies_a_user_that_fits_on_no_server() {
    let folder = problem(
        r#"[{"name": "a", "capacity": {"cpu": 10}}]"#,
        r#"[{"name": "u", "demand": {"memory": 1}}, {"name": "v", "demand": {"cpu": 1}}]"#,
    );
    let output =
        folder.run(&["solve", "problem.json", "-m", "drfh", "--float", "--format", "json"]).ends_with(0);
    assert!(output.stderr.starts_with("warning: ") && output.stderr.contains("`u`"), "{}", output.stderr);
    assert_eq!(output.json()["tasks"], json!({"u": {}, "v": {"a": 10.0}}));
    folder.solve("drfh", true, "a.json");
    let explained = folder.run(&["explain", "problem.json", "a.json", "--user", "u"]).ends_with(0);
    assert!(explained.stdout.contains("fits on no server"), "{}", explained.stdout);
    every_mechanism_is_certified(&folder);
}

#[test]
fn certifies_a_user_without_tasks() {
    let folder = problem(
        r#"[{"name": "a", "capacity": {"cpu": 10, "memory": 20}}]"#,
        r#"[{"name": "u", "demand": {"memory": 1}, "tasks": 0}, {"name": "v", "demand": {"cpu": 1}}]"#,
    );
    let output = folder.solve("drfh", true, "a.json");
    assert_eq!(output.stderr, "", "no warning: the file asks for this");
    let explained = folder.run(&["explain", "problem.json", "a.json", "--user", "u"]).ends_with(0);
    assert!(!explained.stdout.contains("fits on no server"), "it fits, it asks for 0: {}", explained.stdout);
    every_mechanism_is_certified(&folder);
}

#[test]
fn certifies_servers_without_capacity() {
    every_mechanism_is_certified(&problem(
        r#"[{"name": "a", "capacity": {}}]"#,
        r#"[{"name": "u", "demand": {"memory": 1}}]"#,
    ));
    every_mechanism_is_certified(&problem(
        r#"[{"name": "a", "count": 5, "capacity": {}}, {"name": "b", "capacity": {"cpu": 1, "memory": 0}},
            {"name": "c", "capacity": {"cpu": 2, "memory": 3}}]"#,
        r#"[{"name": "u", "demand": {"memory": 1}}, {"name": "v", "demand": {"cpu": 1}}]"#,
    ));
}

#[test]
fn certifies_a_problem_without_users() {
    let folder = problem(r#"[{"name": "a", "capacity": {"cpu": 10}}]"#, "[]");
    let output =
        folder.run(&["solve", "problem.json", "-m", "drfh", "--exact", "--format", "json"]).ends_with(0);
    assert_eq!(output.json()["tasks"], json!({}));
    assert_eq!(output.json()["utilisation"]["a"]["cpu"], json!("0"));
    every_mechanism_is_certified(&folder);
    folder.write(
        "problem.json",
        r#"{"kind": "allocation-problem", "resources": ["cpu"], "servers": [{"name": "a", "capacity": {}}]}"#,
    );
    every_mechanism_is_certified(&folder);
}

const HUGE: &str = r#"[{"name": "a", "count": 1000000000000, "capacity": {"cpu": 10, "memory": 20}},
                       {"name": "b", "capacity": {"cpu": 3, "memory": 2}}]"#;

#[test]
fn certifies_a_trillion_servers_and_weights_far_apart() {
    let folder = problem(
        HUGE,
        r#"[{"name": "u", "demand": {"cpu": 1, "memory": 3}, "weight": 1000000000},
            {"name": "v", "demand": {"cpu": 2, "memory": 1}},
            {"name": "w", "demand": {"cpu": "1/3", "memory": 1}, "servers": ["b"]}]"#,
    );
    every_mechanism_is_certified(&folder);
}

#[test]
fn floating_point_is_honest_for_weights_far_apart() {
    floating_point_is_honest(&problem(
        r#"[{"name": "a", "count": 1000000000, "capacity": {"cpu": 10, "memory": 20}},
            {"name": "b", "capacity": {"cpu": 3, "memory": 2}}]"#,
        r#"[{"name": "u", "demand": {"cpu": 1, "memory": 3}, "weight": 1000000000},
            {"name": "v", "demand": {"cpu": 2, "memory": 1}},
            {"name": "w", "demand": {"cpu": "1/3", "memory": 1}}]"#,
    ));
}

#[test]
fn floating_point_is_honest_for_a_trillion_servers() {
    floating_point_is_honest(&problem(
        HUGE,
        r#"[{"name": "u", "demand": {"cpu": 1, "memory": 3}}, {"name": "v", "demand": {"cpu": 2, "memory": 1}},
            {"name": "w", "demand": {"cpu": "1/3", "memory": 1}, "servers": ["b"]}]"#,
    ));
}

#[test]
fn floating_point_is_honest_for_memory_in_bytes() {
    floating_point_is_honest(&problem(
        r#"[{"name": "a", "count": 5000, "capacity": {"cpu": 96, "memory": 824633720832}},
            {"name": "b", "count": 3, "capacity": {"cpu": 0.5, "memory": 1073741824}}]"#,
        r#"[{"name": "u", "demand": {"cpu": 0.001, "memory": 134217728}},
            {"name": "v", "demand": {"cpu": 64, "memory": 1}, "tasks": 1000},
            {"name": "w", "demand": {"cpu": 0.25, "memory": 68719476736}, "weight": 3}]"#,
    ));
}

/// Numbers have the largest accepted length. A certificate that is written can be read.
#[test]
fn certificates_with_four_hundred_digits_are_readable() {
    let digits = "7".repeat(398);
    let users = format!(
        r#"[{{"name": "u", "demand": {{"cpu": 0.{digits}, "memory": 3}}}},
            {{"name": "v", "demand": {{"cpu": 1.{digits}, "memory": 0.1{digits}}}}},
            {{"name": "w", "demand": {{"cpu": 1, "memory": 1}}, "weight": 1.{digits}}}]"#
    );
    every_mechanism_is_certified(&problem(
        r#"[{"name": "a", "capacity": {"cpu": 10, "memory": 20}}, {"name": "b", "capacity": {"cpu": 3, "memory": 2}}]"#,
        &users,
    ));
}

/// Numbers outside the range of doubles give an exact answer, or an error that does not name the file as the
/// cause.
#[test]
fn exponents_of_four_hundred_are_solved_or_refused() {
    let folder = problem(
        r#"[{"name": "a", "capacity": {"cpu": 1e400, "memory": 20}}, {"name": "b", "capacity": {"cpu": 1e-400, "memory": 2}}]"#,
        r#"[{"name": "u", "demand": {"cpu": 1e-399, "memory": 3}}, {"name": "v", "demand": {"cpu": 1e400, "memory": 1}},
            {"name": "w", "demand": {"cpu": 1}, "weight": 1e-400}]"#,
    );
    for exact in [&[][..], &["--exact"]] {
        let output = folder.run(&[&["solve", "problem.json", "-m", "drfh"], exact].concat());
        if output.status != 0 {
            output.fails(3);
        }
    }
    folder.run(&["compare", "problem.json"]).ends_with(0);
}

#[test]
fn floating_point_is_honest_for_a_weight_beyond_doubles() {
    let text = FIGURE_1.replace("\"name\": \"user 1\"", "\"name\": \"user 1\", \"weight\": 1e-400");
    floating_point_is_honest(&Folder::with(&text));
}

/// An allocation from floating point uses all capacity up to rounding. The explanation must not tell a
/// blocked user that it could have more tasks, nor a satisfied user that it lacks tasks.
#[test]
fn explanations_ignore_rounding_errors() {
    let folder = Folder::with(common::ONE_SERVER);
    for exact in [true, false] {
        folder.solve("drfh", exact, "a.json");
        for (user, verdict) in [("x", "blocked"), ("y", "blocked"), ("z", "satisfied")] {
            let arguments = ["explain", "problem.json", "a.json", "--user", user, "--format", "json"];
            let output = folder.run(&arguments).ends_with(0);
            assert_eq!(output.json()["verdict"], json!(verdict), "{user}, exact: {exact}");
        }
    }
}

/// A mechanism that is named twice is shown once.
#[test]
fn a_mechanism_named_twice() {
    let folder = Folder::with(FIGURE_1);
    let arguments =
        ["compare", "problem.json", "-m", "drfh", "-m", "c-drfh", "-m", "drfh", "--format", "json"];
    let output = folder.run(&arguments).ends_with(0);
    assert_eq!(output.json()["mechanisms"].as_array().unwrap().len(), 1);
}

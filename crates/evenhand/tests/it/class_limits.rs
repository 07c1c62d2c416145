//! Tests of limits of groups on server classes, from the file to the verdict of the kernel, and of groups in
//! `explain` and `fill`.

use crate::common;

use common::Folder;
use serde_json::{Value, json};

/// A problem with ten new GPUs and ten old GPUs. The group `outer` may use at most three new GPUs.
const PROBLEM: &str = r#"{"kind": "allocation-problem", "resources": ["gpu", "cpu"],
    "servers": [{"name": "old", "capacity": {"gpu": 10, "cpu": 40}}, {"name": "new", "capacity": {"gpu": 10, "cpu": 40}}],
    "groups": [{"name": "outer", "on": {"new": {"limit": {"gpu": 3}}, "new, old": {"limit": {"gpu": 12}}}},
               {"name": "inner", "parent": "outer"}, {"name": "b"}],
    "users": [{"name": "x", "group": "inner", "demand": {"gpu": 1, "cpu": 1}},
              {"name": "y", "group": "b", "demand": {"gpu": 1, "cpu": 1}, "servers": ["old"]}]}"#;
/// The same problem, with the limits written as a list and in another order.
const LISTED: &str = r#"{"kind": "allocation-problem", "resources": ["cpu", "gpu"],
    "servers": [{"name": "new", "capacity": {"gpu": 10, "cpu": 40}}, {"name": "old", "capacity": {"gpu": 10, "cpu": 40}}],
    "groups": [{"name": "b"}, {"name": "inner", "parent": "outer"},
               {"name": "outer", "on": [{"servers": ["old", "new"], "limit": {"gpu": "24/2"}},
                                        {"servers": ["new"], "limit": {"gpu": 3.0}}]}],
    "users": [{"name": "y", "group": "b", "demand": {"gpu": 1, "cpu": 1}, "servers": ["old"]},
              {"name": "x", "group": "inner", "demand": {"gpu": 1, "cpu": 1}}]}"#;

fn fits(schema: &str, document: &Value) {
    let schema = Folder::new().run(&["schema", schema]).ends_with(0).json();
    let schema = jsonschema::validator_for(&schema).unwrap();
    if let Err(error) = schema.validate(document) {
        panic!("{error} at {}: {document}", error.instance_path());
    }
}

#[test]
fn class_limits_reach_the_verdict() {
    let folder = Folder::with(PROBLEM);
    folder.write("listed.json", LISTED);
    for text in [PROBLEM, LISTED] {
        fits("problem", &serde_json::from_str(text).unwrap());
    }
    let allocation =
        folder.run(&["solve", "problem.json", "--mechanism", "tree", "-o", "a.json", "--format", "json"]);
    let allocation = allocation.ends_with(0).json();
    // The shares of both groups rise together. User `x` gets three new GPUs and 3.5 old GPUs.
    assert_eq!(allocation["tasks"]["x"], json!({"new": "3", "old": "7/2"}));
    assert_eq!(allocation["tasks"]["y"], json!({"old": "13/2"}));
    let certify =
        &["certify", "problem.json", "a.json", "--axiom", "limits", "--axiom", "feasible", "-o", "c.json"];
    let printed = folder.run(certify).ends_with(0).stdout;
    assert!(printed.contains("tightest: gpu of outer on new, 0 left"), "{printed}");
    let certificate: Value = serde_json::from_str(&folder.read("c.json")).unwrap();
    fits("certificate", &certificate);
    let limits = certificate["claims"].as_array().unwrap().iter().find(|of| of["axiom"] == "limits").unwrap();
    assert_eq!(limits["evidence"], json!({"group": "outer", "resource": "gpu", "on": ["new"], "slack": "0"}));
    for problem in ["problem.json", "listed.json"] {
        folder.run(&["check", "c.json", "--require", "limits", "--problem", problem]).ends_with(0);
    }
    // A problem with a different limit is a different problem.
    folder.write("other.json", LISTED.replace("3.0", "4"));
    folder.run(&["check", "c.json", "--problem", "other.json"]).ends_with(1);
    folder.write("other.json", LISTED.replace(r#"{"servers": ["new"]"#, r#"{"servers": ["old"]"#));
    folder.run(&["check", "c.json", "--problem", "other.json"]).ends_with(1);
}

#[test]
fn explain_names_the_class_limit() {
    let folder = Folder::with(PROBLEM);
    folder.run(&["solve", "problem.json", "--mechanism", "tree", "-o", "a.json"]).ends_with(0);
    let user = folder.run(&["explain", "problem.json", "a.json", "--user", "x"]).ends_with(0).stdout;
    assert!(user.contains("x cannot get more as things stand: a bound of a group stops it."), "{user}");
    assert!(user.contains("outer uses all the 3 gpu that it may on new"), "{user}");
    let user = folder
        .run(&["explain", "problem.json", "a.json", "--user", "x", "--format", "json"])
        .ends_with(0)
        .json();
    fits("explanation", &user);
    assert_eq!(user["verdict"], "stopped");
    let stop = json!({"stop": "limit", "group": "outer", "on": ["new"], "resource": "gpu", "most": "3"});
    assert_eq!(user["stops"], json!([stop]));
    let group = folder
        .run(&["explain", "problem.json", "a.json", "--group", "inner", "--format", "json"])
        .ends_with(0)
        .json();
    fits("group-explanation", &group);
    let stops = group["users"]["x"]["stops"].as_array().unwrap();
    let named = stops.iter().find(|stop| stop["stop"] == "limit").unwrap();
    assert_eq!((&named["on"], &named["most"], &named["brings"]), (&json!(["new"]), &json!("3"), &json!("1")));
    // If a full class is the only reason that blocks a user, the explanation names no group.
    let y = folder
        .run(&["explain", "problem.json", "a.json", "--user", "y", "--format", "json"])
        .ends_with(0)
        .json();
    assert_eq!((&y["verdict"], &y["stops"]), (&json!("blocked"), &json!([])));
}

#[test]
fn refuses_unsupported_fields_and_mechanisms() {
    for field in ["guarantee", "lend"] {
        let folder = Folder::with(&PROBLEM.replace(r#""new": {"limit""#, &format!(r#""new": {{"{field}""#)));
        let output = folder.run(&["solve", "problem.json", "--mechanism", "tree"]).ends_with(2);
        let first = output.stderr.lines().next().unwrap().to_owned();
        assert!(first.starts_with("error: ") && first.contains("groups[0].on.new"), "{first}");
        assert!(first.contains(&format!("`{field}` on some server classes is not supported")), "{first}");
    }
    let folder = Folder::with(PROBLEM);
    let output = folder.run(&["solve", "problem.json", "--mechanism", "tree", "--rule", "kai"]);
    assert!(output.ends_with(2).stderr.contains("limits on server classes"));
}

#[test]
fn whole_tasks_respect_class_limits_under_scheduler_rules_and_best_fit() {
    let folder = Folder::with(PROBLEM);
    for more in
        [&[][..], &["--rule", "kueue"], &["--server", "best-fit"], &["--rule", "hdrf", "--ties", "high"]]
    {
        let solve = [&["solve", "problem.json", "--mechanism", "fill", "-o", "w.json"], more].concat();
        folder.run(&solve).ends_with(0);
        let certify =
            &["certify", "problem.json", "w.json", "--axiom", "limits", "--axiom", "integer-feasible"];
        folder.run(certify).ends_with(0);
        let allocation: Value = serde_json::from_str(&folder.read("w.json")).unwrap();
        assert_eq!(allocation["tasks"]["x"]["new"], "3", "{more:?} {allocation}");
    }
    let refused = folder.run(&["solve", "problem.json", "--mechanism", "fill", "--rule", "volcano"]);
    assert!(refused.ends_with(2).stderr.starts_with("error: "));
}

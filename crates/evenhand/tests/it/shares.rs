//! Tests of shares: the fields that a rule ignores, the position of the root, and shares of time.

use crate::common;

use common::Folder;
use serde_json::json;

const SHARED: &str = r#"{"kind": "allocation-problem", "resources": ["gpu"],
    "servers": [{"name": "node", "capacity": {"gpu": 10}}],
    "share": {"multipliers": {"gpu": 2}, "zero-weight": "never"},
    "groups": [{"name": "a"}, {"name": "b", "weight": 0}],
    "users": [{"name": "x", "group": "a", "demand": {"gpu": 1}},
              {"name": "y", "group": "b", "demand": {"gpu": 1}}]}"#;

#[test]
fn rules_name_resources_left_out_of_the_share() {
    let folder = Folder::with(SHARED);
    folder.run(&["solve", "problem.json", "-m", "tree", "-o", "a.json"]).ends_with(0);
    for (rule, left_out) in [
        ("mesos", "ignores `multipliers` and `zero-weight`"),
        ("armada", "ignores `zero-weight`"),
        ("kai", "ignores `multipliers`"),
    ] {
        for command in [
            &["solve", "problem.json", "-m", "tree", "--rule", rule][..],
            &["explain", "problem.json", "a.json", "--levels", "--rule", rule],
        ] {
            let warning = folder.run(command).ends_with(0).stderr;
            assert!(warning.contains(left_out), "{command:?}: {warning}");
        }
    }
    let own = folder.run(&["solve", "problem.json", "-m", "tree"]).ends_with(0);
    assert_eq!(own.stderr, "");
    let plain = Folder::with(&SHARED.replace(r#""multipliers": {"gpu": 2}, "zero-weight": "never""#, ""));
    assert_eq!(
        plain.run(&["solve", "problem.json", "-m", "tree", "--rule", "mesos"]).ends_with(0).stderr,
        ""
    );
}

#[test]
fn the_root_is_listed_first() {
    let folder = Folder::with(&SHARED.replace(r#""multipliers": {"gpu": 2}, "#, ""));
    folder.write("a.json", r#"{"kind": "allocation", "tasks": {"x": {"node": 4}, "y": {"node": 1}}}"#);
    let levels = ["explain", "problem.json", "a.json", "--levels"];
    let document = folder.run(&[&levels[..], &["--format", "json"]].concat()).ends_with(0).json();
    let root = &document["nodes"][0];
    assert_eq!((&root["kind"], &root["name"], &root["share"]), (&json!("root"), &json!(""), &json!("1/2")));
    assert_eq!(document["nodes"].as_array().unwrap().len(), 5);
    let table = folder.run(&levels).ends_with(0).stdout;
    assert!(table.contains("all groups       0.5    0.5"), "{table}");
}

/// On a class that is shared by time, the share of a user is its fraction of the time, whatever the sum of
/// its demands.
#[test]
fn shares_of_time_shared_classes_are_fractions_of_time() {
    let folder = Folder::with(
        r#"{"kind": "allocation-problem", "resources": ["cpu"],
        "servers": [{"name": "s", "count": 2, "capacity": {"cpu": 4}}],
        "users": [{"name": "x", "demand": {"cpu": 1}, "gamma": {"s": 24}},
                  {"name": "y", "demand": {"cpu": 1}, "gamma": {"s": 8}}]}"#,
    );
    let table = folder.run(&["solve", "problem.json", "-m", "proportional"]).ends_with(0).stdout;
    assert!(table.contains("50.0 %") && !table.contains("150"), "{table}");
    assert!(table.contains("time of servers that are shared by time 100.0 %"), "{table}");
}

//! Tests of `evenhand compare --dedicated`: it shows the tasks that every user could run on dedicated
//! servers, next to the tasks in the shared cluster.

use crate::common;

use common::Folder;
use serde_json::Value;

/// Ten servers. The entitlement of `big` is three and a third servers, so three servers are dedicated to it.
/// On one server fit one and a half tasks of `big`, or three tasks of `small`. Seven servers are dedicated to
/// `small`, which has fewer tasks than would fit on them.
const CLUSTER: &str = r#"{"kind": "allocation-problem", "resources": ["cpu"],
    "servers": [{"name": "node", "count": 10, "capacity": {"cpu": 15}}],
    "users": [{"name": "big", "demand": {"cpu": 10}},
              {"name": "small", "weight": 2, "demand": {"cpu": 5}, "tasks": 19}]}"#;

#[test]
fn compare_shows_dedicated_servers_next_to_sharing() {
    let folder = Folder::with(CLUSTER);
    let run = folder.run(&["compare", "problem.json", "-m", "drfh", "--dedicated", "--format", "json"]);
    let found = run.ends_with(0).json();
    let column = |name: &str| -> &Value {
        let all = found["mechanisms"].as_array().unwrap();
        all.iter().find(|column| column["name"] == name).unwrap_or_else(|| panic!("{name}: {found}"))
    };
    let tasks = |name: &str, user: &str| column(name)["tasks"][user].as_str().unwrap().to_owned();
    assert_eq!((tasks("dedicated", "big"), tasks("dedicated", "small")), ("9/2".to_owned(), "19".to_owned()));
    assert_eq!(
        (tasks("dedicated-whole", "big"), tasks("dedicated-whole", "small")),
        ("3".to_owned(), "19".to_owned())
    );
    assert_eq!(tasks("drfh", "small"), "19");
    let table = folder.run(&["compare", "problem.json", "-m", "drfh", "--dedicated"]).ends_with(0).stdout;
    assert!(table.contains("dedicated-whole"), "{table}");
    // Without the option, the output contains only the mechanisms.
    let run = folder.run(&["compare", "problem.json", "-m", "drfh", "--format", "json"]).ends_with(0).json();
    assert_eq!(run["mechanisms"].as_array().unwrap().len(), 1);
}

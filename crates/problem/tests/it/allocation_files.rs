//! Reading and writing allocation files.

use evenhand_problem::{
    Allocation, Arithmetic, Place, Problem, Rational, Sharing,
    format::{AllocationDocument, AllocationFile, Source, problem_sha256, problem_to_json},
};
use serde_json::{json, value::RawValue};
use sha2::{Digest, Sha256};

const PROBLEM: &str = r#"{
  "kind": "allocation-problem", "resources": ["cpu", "memory"],
  "servers": [ {"name": "high-memory", "capacity": {"cpu": 2, "memory": 12}},
               {"name": "high-cpu", "count": 3, "capacity": {"cpu": 4}} ],
  "users":   [ {"name": "user 1", "demand": {"cpu": "1/5", "memory": 1}},
               {"name": "user 2", "demand": {"cpu": 1}} ] }"#;

fn problem() -> Problem {
    Source { name: "p.json", text: PROBLEM }.problem().unwrap()
}

fn read(text: &str) -> Result<AllocationFile, String> {
    Source { name: "a.json", text }.allocation(&problem()).map_err(|error| error.to_string())
}

#[track_caller]
fn refuses(text: &str, expected: &str) {
    assert_eq!(read(text).unwrap_err(), expected);
}

#[test]
fn a_foreign_allocation_needs_only_kind_and_tasks() {
    let file =
        read(r#"{"kind": "allocation", "tasks": {"user 2": {"high-cpu": 2.5, "high-memory": "-1/3"}}}"#);
    let file = file.unwrap();
    assert_eq!(file.allocation.sharing, Sharing::Rdm);
    assert_eq!(file.allocation.tasks[0], []);
    assert_eq!(file.allocation.tasks[1], [(0, Rational::from((-1, 3))), (1, Rational::from((5, 2)))]);
    assert!(file.is_for(&problem()));
    assert!(file.allocation.placements.is_none());
}

/// Checks an allocation of thirds in floating point, for which the doubles of the single servers would not
/// add up to the double of the class.
#[test]
fn placements_in_doubles_are_read_back() {
    let third =
        |index: u32| format!(r#"{{"server": "high-cpu", "index": {index}, "tasks": {{"user 2": "1/3"}}}}"#);
    let text = format!(
        r#"{{"kind": "allocation", "arithmetic": "float", "placements": [{}, {}, {}]}}"#,
        third(0),
        third(1),
        third(2)
    );
    let allocation = read(&text).unwrap().allocation;
    let problem = problem();
    let written = AllocationDocument::new(&problem, &allocation).to_json().unwrap();
    assert_eq!(read(&written).unwrap().allocation, allocation);
}

#[test]
fn the_hash_identifies_the_problem() {
    let text = |hash: &str| format!(r#"{{"kind":"allocation","problem_sha256":"{hash}","tasks":{{}}}}"#);
    assert!(read(&text(&problem_sha256(&problem()))).unwrap().is_for(&problem()));
    assert!(!read(&text("00ff")).unwrap().is_for(&problem()));
}

#[test]
fn placements_add_up_to_the_tasks() {
    let placements = r#""placements": [{"server": "high-cpu", "index": 0, "tasks": {"user 2": 4}},
        {"server": "high-cpu", "index": 2, "tasks": {"user 2": 1, "user 1": 0}}]"#;
    let alone = read(&format!(r#"{{"kind": "allocation", {placements}}}"#)).unwrap();
    assert_eq!(alone.allocation.on(1, 1), 5);
    assert_eq!(alone.allocation.placements.unwrap()[1].index, 2);
    let both = r#""tasks": {"user 2": {"high-cpu": 5, "high-memory": 0}}"#;
    assert!(read(&format!(r#"{{"kind": "allocation", {both}, {placements}}}"#)).is_ok());
    refuses(
        &format!(r#"{{"kind": "allocation", {placements}, "tasks": {{"user 2": {{"high-cpu": 4}}}}}}"#),
        "a.json:2:103: tasks[\"user 2\"]: the tasks of user `user 2` are not the sums of its placements: correct them or leave out `tasks`",
    );
}

#[test]
fn faults_name_their_place() {
    let fault =
        |fields: &str, expected: &str| refuses(&format!("{{\"kind\":\"allocation\",\n{fields}}}"), expected);
    fault("\"mechanism\":\"drf\"", "a.json:1:1: the field `tasks` is missing");
    fault("\"tasks\":[]", "a.json:2:9: tasks: found a list: expected an object");
    fault("\"tasks\":{\"u\":{}}", "a.json:2:10: tasks.u: the problem has no user `u`");
    fault(
        "\"tasks\":{\"user 1\":{\"s\":1}}",
        "a.json:2:20: tasks[\"user 1\"].s: the problem has no server `s`",
    );
    fault(
        "\"tasks\":{\"user 1\":{\"high-cpu\":\"NaN\"}}",
        "a.json:2:31: tasks[\"user 1\"].high-cpu: `NaN` is not a number: expected a decimal such as 0.25 or a quotient such as \"3/7\"",
    );
    fault(
        "\"tasks\":{\"user 1\":{},\"user 1\":{}}",
        "a.json:2:22: tasks[\"user 1\"]: the field `user 1` is given twice",
    );
    fault(
        "\"tasks\":{},\"sharing\":\"xdm\"",
        "a.json:2:22: sharing: found `xdm`: expected \"rdm\" or \"tdm\"",
    );
    fault("\"tasks\":{},\"arithmetic\":1", "a.json:2:25: arithmetic: found a number: expected a string");
    fault(
        "\"tasks\":{},\"summary\":{\"a\":{\"b\":1,\"b\":2}}",
        "a.json:2:34: summary.a.b: the field `b` is given twice",
    );
    let unknown = read("{\"kind\":\"allocation\",\"tasks\":{},\"task\":{}}").unwrap_err();
    assert!(
        unknown.starts_with(
            "a.json:1:33: task: unknown field `task` (did you mean `tasks`?): expected one of kind, "
        ),
        "{unknown}"
    );
    for (index, last) in [("1", 0), ("-1", 0), ("0.5", 0)] {
        fault(
            &format!("\"placements\":[{{\"server\":\"high-memory\",\"index\":{index},\"tasks\":{{}}}}]"),
            &format!("a.json:2:47: placements[0].index: found {index}: expected an integer from 0 to {last}"),
        );
    }
}

#[test]
fn results_have_a_larger_limit_of_digits() {
    let tasks = |number: &str| {
        read(&format!(r#"{{"kind": "allocation", "tasks": {{"user 1": {{"high-cpu": "{number}"}}}}}}"#))
    };
    let digits = "7".repeat(100_000);
    assert!(tasks(&digits).is_ok());
    assert!(tasks(&format!("{}/3", &digits[1..])).is_ok());
    assert!(tasks(&format!("{digits}/3")).unwrap_err().contains("a number with 100001 digits"));
    assert!(tasks("1e-100000").is_ok());
    assert!(tasks("1e100001").unwrap_err().contains("out of range: at most 100000"));
}

#[test]
fn faults_in_nested_documents_name_the_outer_line() {
    let text =
        format!("{{\"problem\": {PROBLEM},\n\"allocation\": {{\"kind\": \"allocation\", \"tasks\": 3}}}}");
    let source = Source { name: "c.json", text: &text };
    let document = source.document().unwrap();
    let object = document.object(document.root()).unwrap();
    let part = |name: &str| -> &RawValue { object.get(name).unwrap() };
    let at = |name: &str| Place::root().key("certificate").key(name);
    let problem = source.problem_in(part("problem"), &at("problem")).unwrap();
    let error = source.allocation_in(part("allocation"), &at("allocation"), &problem).unwrap_err();
    assert_eq!(
        error.to_string(),
        "c.json:7:47: certificate.allocation.tasks: found a number: expected an object",
    );
}

#[test]
fn writes_exact_numbers_as_strings() {
    let problem = problem();
    let mut allocation = Allocation::empty(2, Sharing::Rdm);
    allocation.arithmetic = Arithmetic::Exact;
    allocation.mechanism = Some("drfh".to_owned());
    allocation.tasks[0] = vec![(0, Rational::from(10))];
    allocation.tasks[1] = vec![(0, Rational::new()), (1, Rational::from((7, 2)))];
    let mut document = AllocationDocument::new(&problem, &allocation);
    document.summary = true;
    document.extra.insert("status".to_owned(), json!("solved"));
    let text = document.to_json().unwrap();
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(value["tasks"], json!({"user 1": {"high-memory": "10"}, "user 2": {"high-cpu": "7/2"}}));
    let held = &value["summary"]["user 1"]["resources"];
    assert_eq!(held, &json!({"cpu": "2", "memory": "10"}));
    assert_eq!(value["summary"]["user 1"]["dominant_share"], "5/6");
    assert_eq!(value["summary"]["user 2"]["tasks"], "7/2");
    assert_eq!(value["summary"]["user 2"]["dominant_share"], "1/4");
    assert_eq!(
        value["utilisation"],
        json!({"high-memory": {"cpu": "1", "memory": "5/6"}, "high-cpu": {"cpu": "7/24", "memory": null}}),
    );
    let read = read(&text).unwrap();
    allocation.tasks[1].remove(0);
    assert_eq!(read.allocation, allocation);
    assert!(read.is_for(&problem));
}

#[test]
fn writes_floating_point_as_numbers_and_the_time_of_time_shared_classes() {
    let problem = problem();
    let mut allocation = Allocation::empty(2, Sharing::Tdm);
    allocation.tasks[1] = vec![(1, Rational::from((1, 10)))];
    let text = AllocationDocument::new(&problem, &allocation).to_json().unwrap();
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(value["tasks"]["user 2"]["high-cpu"], json!(0.1));
    let part = 0.1 / 12.0;
    assert_eq!(value["utilisation"]["high-cpu"], json!({"cpu": part, "memory": null, "time": part}));
    assert_eq!(read(&text).unwrap().allocation, allocation);
}

#[test]
fn the_hash_is_computed_from_the_canonical_form() {
    for n_users in [0, 1, 700, 3000] {
        let users: Vec<String> = (0..n_users)
            .map(|n| format!(r#"{{"name": "a \\ \u00fc\" \n {n}", "demand": {{"cpu": {n}.5}}}}"#))
            .collect();
        let text = format!(
            r#"{{"kind": "allocation-problem", "resources": ["cpu"],
                "servers": [{{"name": "pool", "capacity": {{"cpu": 4}}}}], "users": [{}]}}"#,
            users.join(",")
        );
        let problem = Source { name: "long.json", text: &text }.problem().unwrap();
        let digest = Sha256::digest(problem_to_json(&problem));
        let digest: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(problem_sha256(&problem), digest, "{n_users} users");
    }
}

#[test]
fn the_canonical_form_does_not_depend_on_spelling() {
    let spelled = PROBLEM
        .replace("\"1/5\"", "2.0E-1")
        .replace("\"count\": 3", "\"count\": \"6/2\"")
        .replace("{\"cpu\": 4}", "{\"memory\": 0, \"cpu\": 4.00}")
        .replace(
            "\"demand\": {\"cpu\": 1}",
            "\"weight\":1,\"servers\":[\"high-cpu\",\"high-memory\"],\"demand\": {\"cpu\": 1}",
        );
    let other = Source { name: "q.json", text: &spelled }.problem().unwrap();
    assert_eq!(problem(), other);
    assert_eq!(problem_sha256(&problem()), problem_sha256(&other));
    assert_eq!(
        problem_to_json(&other),
        r#"{
"kind":"allocation-problem",
"resources":["cpu","memory"],
"servers":[
{"name":"high-memory","capacity":{"cpu":"2","memory":"12"}},
{"name":"high-cpu","count":"3","capacity":{"cpu":"4"}}
],
"users":[
{"name":"user 1","demand":{"cpu":"1/5","memory":"1"}},
{"name":"user 2","demand":{"cpu":"1"}}
]
}
"#,
    );
}

//! The schemas accept what the readers accept and refuse what they refuse.

use std::collections::BTreeMap;

use evenhand_problem::{
    Allocation, Problem, Sharing,
    format::{AllocationDocument, Source, problem_to_json},
    schema::{NAMES, schema},
};
use jsonschema::Validator;
use serde_json::{Value, json};

fn parsed(name: &str) -> Value {
    serde_json::from_str(schema(name).unwrap()).unwrap()
}

fn validator(name: &str) -> Validator {
    jsonschema::draft202012::new(&parsed(name)).unwrap()
}

fn good_problem() -> Value {
    json!({
        "kind": "allocation-problem", "name": "two servers", "resources": ["cpu", "memory"],
        "servers": [
            {"name": "high-memory", "count": 1, "capacity": {"cpu": 2, "memory": 12}},
            {"name": "high-cpu", "capacity": {"cpu": 12, "memory": "2"}},
        ],
        "users": [
            {"name": "user 1", "weight": 1, "demand": {"cpu": "1/5", "memory": 1}},
            {"name": "user 2", "demand": {"cpu": 1, "memory": 0.2}, "tasks": 100, "servers": ["high-cpu"],
             "demand_on": {"high-cpu": {"cpu": 2, "memory": 0.4}}, "criterion": {"high-cpu": "1e-3"}},
        ],
    })
}

/// Returns a document in which one value is replaced or removed.
fn changed(document: &Value, pointer: &str, value: &Value) -> Value {
    let mut document = document.clone();
    let (parent, field) = pointer.rsplit_once('/').unwrap();
    match document.pointer_mut(parent).unwrap() {
        Value::Object(fields) if value == "(removed)" => drop(fields.remove(field)),
        Value::Object(fields) => drop(fields.insert(field.to_owned(), value.clone())),
        Value::Array(list) => list[field.parse::<usize>().unwrap()] = value.clone(),
        _ => panic!("{pointer}"),
    }
    document
}

fn read_problem(document: &Value) -> Option<Problem> {
    Source { name: "-", text: &document.to_string() }.problem().ok()
}

#[test]
fn every_schema_is_a_valid_json_schema() {
    for name in NAMES {
        assert!(jsonschema::meta::is_valid(&parsed(name)), "{name}");
        validator(name);
    }
    assert!(schema("problems").is_none());
}

#[test]
fn embedded_schemas_agree_with_their_originals() {
    let certificate = parsed("certificate");
    for holder in [certificate, parsed("snapshot")] {
        // Whole schemas are too long to be printed.
        let name = &holder["$id"];
        assert!(holder["$defs"]["problem"] == parsed("problem"), "{name} holds another schema of problems");
        let allocation = &holder["$defs"]["allocation_document"];
        assert!(*allocation == parsed("allocation"), "{name} holds another schema of allocations");
    }
    for bundle in ["verdict-certificate", "moves-certificate"] {
        let certificate = &parsed(bundle)["$defs"]["certificate"];
        assert!(*certificate == parsed("certificate"), "{bundle} holds another schema of certificates");
    }
    let (verdict, what_if) = (parsed("cluster-verdict"), parsed("what-if"));
    let fields = |schema: &Value| {
        let fields = schema["properties"].as_object().unwrap();
        fields.iter().map(|(name, schema)| (name.clone(), schema.clone())).collect::<BTreeMap<_, _>>()
    };
    assert_eq!(fields(&verdict), fields(&what_if["$defs"]["verdict"]));
}

#[test]
fn reader_and_schema_accept_the_same_problems() {
    let validator = validator("problem");
    let good = good_problem();
    let gamma = json!({"name": "u", "gamma": {"high-cpu": 1.5, "high-memory": "1/2"}});
    let variants = [
        good.clone(),
        changed(&good, "/users", &json!([])),
        changed(&good, "/users", &json!("(removed)")),
        changed(&good, "/name", &json!("(removed)")),
        changed(&good, "/users/0", &gamma),
        changed(&good, "/servers/0/count", &json!(1_000_000_000_000u64)),
        changed(&good, "/servers/0/count", &json!("6/2")),
        changed(&good, "/servers/0/capacity/cpu", &json!("64000m")),
        changed(&good, "/servers/0/capacity/cpu", &json!("1.5Ki")),
        changed(&good, "/servers/0/capacity/cpu", &json!("1E")),
        changed(&good, "/servers/0/capacity/cpu", &json!("1E3")),
        changed(&good, "/users/1/demand_on/high-cpu/cpu", &json!("2k")),
        changed(&good, "/$schema", &json!("urn:evenhand:schema:problem")),
        changed(&good, "/description", &json!(["anything"])),
        changed(&good, "/servers/0/count", &json!(3.0)),
        changed(&good, "/servers/0/capacity", &json!({})),
        changed(&good, "/users/0/tasks", &json!(0)),
        changed(&good, "/users/0/tasks", &json!("2.5E+3")),
        changed(&good, "/users/0/weight", &json!("0.001")),
    ];
    for document in variants {
        assert!(read_problem(&document).is_some(), "{document}");
        assert!(validator.is_valid(&document), "{document}");
    }
    let canonical = problem_to_json(&read_problem(&good).unwrap());
    assert!(validator.is_valid(&serde_json::from_str(&canonical).unwrap()));
}

#[test]
fn reader_and_schema_refuse_the_same_problems() {
    let validator = validator("problem");
    let good = good_problem();
    let changes = [
        ("/kind", json!("problem")),
        ("/kind", json!("(removed)")),
        ("/resources", json!("(removed)")),
        ("/resources", json!([])),
        ("/resources", json!(["cpu", "cpu", "memory"])),
        ("/resources", json!(["cpu", "memory", ""])),
        ("/servers", json!([])),
        ("/server", json!([])),
        ("/servers/0/name", json!("(removed)")),
        ("/servers/0/name", json!("")),
        ("/servers/0/name", json!(7)),
        ("/servers/0/count", json!(0)),
        ("/servers/0/count", json!(1.5)),
        ("/servers/0/count", json!(1e13)),
        ("/servers/0/count", json!("0/7")),
        ("/servers/0/capacity/cpu", json!(-1)),
        ("/servers/0/capacity/cpu", json!(null)),
        ("/servers/0/capacity", json!([])),
        ("/users/0/demand", json!({})),
        ("/users/0/demand", json!({"cpu": 0, "memory": "0.0"})),
        ("/users/0/demand", json!("(removed)")),
        ("/users/0/demand", json!({"cpu": "0m"})),
        ("/users/0/demand/cpu", json!("1K")),
        ("/users/0/demand/cpu", json!("1e3Ki")),
        ("/users/0/demand/cpu", json!("1/2k")),
        ("/users/0/demand/cpu", json!("Gi")),
        ("/users/0/weight", json!("1k")),
        ("/users/0/description", json!("x")),
        ("/users/0/demand/cpu", json!("-1/5")),
        ("/users/0/demand/cpu", json!("1/0")),
        ("/users/0/demand/cpu", json!("1_000")),
        ("/users/0/demand/cpu", json!("3 / 7")),
        ("/users/0/demand/cpu", json!("+1")),
        ("/users/0/demand/cpu", json!(".5")),
        ("/users/0/demand/cpu", json!("1.")),
        ("/users/0/demand/cpu", json!("NaN")),
        ("/users/0/demand/cpu", json!("")),
        ("/users/0/weight", json!(0)),
        ("/users/0/weight", json!("0.0")),
        ("/users/0/weight", json!(-1)),
        ("/users/0/tasks", json!(-1)),
        ("/users/0/tasks", json!(null)),
        ("/users/0/waight", json!(1)),
        ("/users/1/servers", json!([])),
        ("/users/1/servers", json!(["high-cpu", "high-cpu"])),
        ("/users/1/demand_on/high-cpu", json!({"cpu": "0/3"})),
        ("/users/1/criterion/high-cpu", json!(0)),
    ];
    for (pointer, value) in changes {
        let document = changed(&good, pointer, &value);
        assert!(read_problem(&document).is_none(), "{document}");
        assert!(!validator.is_valid(&document), "{document}");
    }
}

fn good_allocation() -> Value {
    json!({
        "kind": "allocation", "mechanism": "drfh", "sharing": "rdm", "arithmetic": "exact",
        "tasks": {"user 1": {"high-memory": "10"}, "user 2": {"high-cpu": -0.5}},
        "summary": {"user 1": {"tasks": "10"}}, "seconds": 0.1, "status": "solved",
    })
}

#[test]
fn reader_and_schema_agree_on_allocations() {
    let problem = read_problem(&good_problem()).unwrap();
    let read =
        |document: &Value| Source { name: "-", text: &document.to_string() }.allocation(&problem).is_ok();
    let validator = validator("allocation");
    let good = good_allocation();
    let placement = json!([{"server": "high-cpu", "index": 0, "tasks": {"user 2": 1}}]);
    let placed = json!({"kind": "allocation", "placements": placement});
    for document in [good.clone(), json!({"kind": "allocation", "tasks": {}}), placed.clone()] {
        assert!(read(&document) && validator.is_valid(&document), "{document}");
    }
    let written = AllocationDocument::new(&problem, &Allocation::empty(2, Sharing::Tdm)).to_json().unwrap();
    assert!(validator.is_valid(&serde_json::from_str(&written).unwrap()), "{written}");
    for (pointer, value) in [
        ("/kind", json!("certificate")),
        ("/tasks", json!("(removed)")),
        ("/tasks", json!([])),
        ("/tasks/user 1", json!(7)),
        ("/tasks/user 1/high-memory", json!("ten")),
        ("/sharing", json!("RDM")),
        ("/arithmetic", json!("decimal")),
        ("/mechanism", json!(1)),
        ("/problem_sha256", json!(1)),
        ("/task", json!({})),
    ] {
        let document = changed(&good, pointer, &value);
        assert!(!read(&document) && !validator.is_valid(&document), "{document}");
    }
    for (pointer, value) in [
        ("/placements/0/index", json!(-1)),
        ("/placements/0/index", json!(0.5)),
        ("/placements/0/tasks", json!("(removed)")),
        ("/placements/0/task", json!({})),
    ] {
        let document = changed(&placed, pointer, &value);
        assert!(!read(&document) && !validator.is_valid(&document), "{document}");
    }
}

#[test]
fn the_certificate_schema_accepts_and_refuses_documents() {
    let validator = validator("certificate");
    let allocation = json!({
        "kind": "allocation", "sharing": "rdm", "arithmetic": "exact", "mechanism": "drfh",
        "problem_sha256": "00", "tasks": {"user 1": {"high-memory": "10"}},
    });
    let good = json!({
        "kind": "certificate", "version": 2, "problem": good_problem(), "allocation": allocation,
        "tolerance": "0", "not_checked": ["ef1"],
        "claims": [
            {"axiom": "envy-free", "holds": true, "margin": "1/3", "tasks": "7/2", "evidence": {"pair": [0, 1]}},
            {"axiom": "work-conserving", "holds": true, "margin": null, "evidence": {}},
            {"axiom": "single-resource-fair", "holds": null, "why": "two resources"},
            {"axiom": "max-min", "share": "drfh", "holds": false, "margin": -0.1, "evidence": {}},
        ],
    });
    assert!(validator.is_valid(&good));
    for (pointer, value) in [
        ("/kind", json!("allocation")),
        ("/version", json!(1)),
        ("/allocation/summary", json!({})),
        ("/allocation/selection", json!({"proven": true})),
        ("/problem/kind", json!("reservation-problem")),
        ("/problem/users/0/weight", json!(0)),
        ("/allocation/tasks", json!("(removed)")),
        ("/tolerance", json!(-1)),
        ("/claims/0/holds", json!("yes")),
        ("/claims/0/axiom", json!("(removed)")),
        ("/claims/0/axiom", json!("kind")),
        ("/claims/0/margins", json!(1)),
        ("/claims/0/share", json!("drfh")),
        ("/claims/0/why", json!("holds is not null")),
        ("/claims/2/why", json!("(removed)")),
        ("/claims/3/share", json!("(removed)")),
        ("/not_checked", json!("(removed)")),
        ("/not_checked", json!(["ef1", "ef1"])),
        ("/seal", json!("")),
    ] {
        assert!(!validator.is_valid(&changed(&good, pointer, &value)), "{pointer} {value}");
    }
}

#[test]
fn reader_and_schema_agree_on_reservation_problems() {
    let validator = validator("reservation");
    let good = json!({
        "kind": "reservation-problem", "resources": ["cpu", "memory"],
        "servers": [{"name": "pool", "count": 1000, "capacity": {"cpu": 80, "memory": 640}}],
        "jobs": [{"name": "small", "demand": {"cpu": 2, "memory": 32}, "reward": "6", "load": "1/2"}],
    });
    let listed = json!({
        "kind": "reservation-problem", "jobs": [{"name": "a", "reward": 1, "load": 0}],
        "configurations": [{"a": 2}],
    });
    assert!(validator.is_valid(&good) && validator.is_valid(&listed));
    for (pointer, value) in [
        ("/kind", json!("allocation-problem")),
        ("/servers", json!("(removed)")),
        ("/servers/0/count", json!(0)),
        ("/servers/0/capacity", json!("(removed)")),
        ("/jobs/0/reward", json!(-1)),
        ("/jobs/0/demand", json!("(removed)")),
        ("/jobs/0/demand", json!({"cpu": 0})),
        ("/jobs/0/lode", json!(1)),
    ] {
        assert!(!validator.is_valid(&changed(&good, pointer, &value)), "{pointer} {value}");
    }
    assert!(!validator.is_valid(&changed(&listed, "/configurations/0/a", &json!(1.5))));
}

#[test]
fn schema_names_agree_with_document_kinds() {
    for name in NAMES {
        let schema = parsed(name);
        assert_eq!(schema["$id"], format!("urn:evenhand:schema:{name}"));
        // Problems and reservations also have a short name, which is not their `kind`.
        let kind = &schema["properties"]["kind"]["const"];
        let long = [("problem", "allocation-problem"), ("reservation", "reservation-problem")];
        let expected = long.iter().find(|(short, _)| *short == name).map_or(name, |(_, long)| *long);
        assert_eq!(kind, expected);
    }
}

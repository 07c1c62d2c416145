//! Reading and writing snapshots.

use evenhand_problem::{
    Rational, Snapshot,
    format::{Source, snapshot_to_json},
    schema::schema,
    snapshot::{Subject, System},
};
use serde_json::{Value, json};

fn good() -> Value {
    json!({
        "kind": "snapshot", "version": 1, "system": "slurm",
        "problem": {
            "kind": "allocation-problem", "name": "demo", "resources": ["cpu", "gres/gpu"],
            "servers": [{"name": "gpu", "count": 2, "capacity": {"cpu": 64, "gres/gpu": 8}},
                        {"name": "c001", "capacity": {"cpu": 128}}],
            "groups": [{"name": "research"}, {"name": "vision", "parent": "research"}],
            "users": [{"name": "vision/1", "demand": {"cpu": 8, "gres/gpu": 4}, "tasks": 6, "group": "vision"},
                      {"name": "vision/2", "demand": {"cpu": "1/2"}, "tasks": 1, "group": "vision"}],
        },
        "allocation": {
            "kind": "allocation", "arithmetic": "exact", "placements": [
                {"server": "gpu", "index": 0, "tasks": {"vision/1": 2}},
                {"server": "gpu", "index": 1, "tasks": {"vision/1": 1, "vision/2": 1}},
            ],
        },
        "servers": {"gpu": ["n001", "n002"]},
        "waiting": [{"user": "vision/1", "tasks": "3", "names": ["81_4", "81_5"], "reason": "Resources"}],
        "running": [{"user": "vision/1", "server": "gpu", "index": 0, "names": ["78", "79"]}],
        "reported": [{"group": "vision", "what": "NormShares", "value": "0.25"},
                     {"user": "vision/1", "what": "LevelFS", "value": "inf"},
                     {"server": "gpu", "what": "CPUAlloc", "resource": "cpu", "value": 24},
                     {"what": "jobs", "value": 2}],
        "sources": [{"file": "squeue.json", "version": "Slurm 22.05.8"}],
        "not_modelled": [{"what": "reservations", "count": 2, "names": ["maint", "demo"]}],
        "rounded": [{"server": "gpu", "resource": "cpu", "most": "1/2", "in_all": "3/4",
                     "by_server": [{"index": 0, "amount": "1/4"}, {"index": 1, "amount": "1/2"}]}],
        "times": [{"task": "78", "limit": 3600, "left": 60}, {"task": "81_4", "limit": "7200", "priority": -5}],
        "stopped": [{"task": "80", "by": "78", "rule": "PREEMPTED", "time": "now", "message": "for 78"}, {"task": "77", "by_uid": "u"}],
    })
}

#[test]
fn reads_stopped_tasks() {
    let snapshot = read(&good()).unwrap();
    let stopped: Vec<_> =
        snapshot.stopped.iter().map(|of| [&of.task, &of.by, &of.by_uid, &of.rule]).collect();
    assert_eq!(stopped, [["80", "78", "", "PREEMPTED"], ["77", "", "u", ""]]);
    let error = read(&changed("/stopped", &json!([{"by": "78"}]))).unwrap_err();
    assert!(error.contains("the field `task` is missing"), "{error}");
}

#[test]
fn reads_times_of_tasks() {
    let snapshot = read(&good()).unwrap();
    let times: Vec<_> =
        snapshot.times.iter().map(|of| (of.task.as_str(), of.limit, of.left, of.priority)).collect();
    assert_eq!(times, [("78", Some(3600), Some(60), None), ("81_4", Some(7200), None, Some(-5))]);
    for (value, message) in [
        (json!([{"limit": 1}]), "the field `task` is missing"),
        (json!([{"task": "78", "limit": -1}]), "expected a whole number from 0 to 10^12"),
        (json!([{"task": "78", "limit": 1, "left": 2}]), "more time is left than the limit"),
        (json!([{"task": "78", "priority": 0.5}]), "expected a whole number from -2^40 to 2^40"),
        (json!([{"task": "78"}, {"task": "78"}]), "this task has two entries"),
        (json!([{"task": "78", "start": 1}]), "start"),
    ] {
        let error = read(&changed("/times", &value)).unwrap_err();
        assert!(error.contains(message), "{value}: {error}");
    }
}

fn read(document: &Value) -> Result<Snapshot, String> {
    Source { name: "s.json", text: &document.to_string() }.snapshot().map_err(|error| error.to_string())
}

fn changed(pointer: &str, value: &Value) -> Value {
    let mut document = good();
    let (parent, field) = pointer.rsplit_once('/').unwrap();
    match document.pointer_mut(parent).unwrap() {
        Value::Object(fields) if value == "(removed)" => drop(fields.remove(field)),
        Value::Object(fields) => drop(fields.insert(field.to_owned(), value.clone())),
        Value::Array(list) => list[field.parse::<usize>().unwrap()] = value.clone(),
        _ => panic!("{pointer}"),
    }
    document
}

fn validator() -> jsonschema::Validator {
    jsonschema::draft202012::new(&serde_json::from_str(schema("snapshot").unwrap()).unwrap()).unwrap()
}

#[test]
fn a_snapshot_is_read_and_written() {
    let snapshot = read(&good()).unwrap();
    assert_eq!(snapshot.system, Some(System::Slurm));
    assert_eq!(snapshot.server_name(0, 1), "n002");
    assert_eq!(snapshot.server_name(1, 0), "c001");
    assert_eq!(snapshot.waiting_by_user(), [3, 0]);
    assert_eq!(snapshot.allocation.totals(), [3, 1].map(Rational::from));
    assert_eq!(snapshot.reported[0].of, Subject::Group(1));
    assert_eq!(snapshot.reported[1].value, None);
    assert_eq!(snapshot.reported[3].of, Subject::Cluster);
    let rounded = &snapshot.rounded[0];
    assert_eq!(rounded.beyond(0), Some(Rational::from((1, 4))));
    let mut unknown = rounded.clone();
    unknown.by_server.clear();
    assert_eq!(unknown.beyond(0), None);
    let text = snapshot_to_json(&snapshot);
    let again = Source { name: "s.json", text: &text }.snapshot().unwrap();
    assert_eq!(again, snapshot);
    assert_eq!(snapshot_to_json(&again), text);
    let validator = validator();
    assert!(validator.is_valid(&good()));
    assert!(validator.is_valid(&serde_json::from_str(&text).unwrap()), "{text}");
}

#[test]
fn a_snapshot_needs_a_problem_and_an_allocation() {
    let few = json!({"kind": "snapshot", "problem": good()["problem"], "allocation": good()["allocation"]});
    let snapshot = read(&few).unwrap();
    assert_eq!(snapshot.server_name(0, 1), "gpu #1");
    assert!(validator().is_valid(&few));
    for pointer in ["/problem", "/allocation", "/kind"] {
        let document = changed(pointer, &json!("(removed)"));
        assert!(read(&document).unwrap_err().contains("is missing"), "{pointer}");
        assert!(!validator().is_valid(&document), "{pointer}");
    }
}

/// Checks an allocation that states tasks by class. Admitted work that has no server yet is stated in this
/// way.
#[test]
fn an_allocation_without_placements_survives_writing() {
    let tasks = json!({"kind": "allocation", "arithmetic": "exact", "tasks": {"vision/1": {"gpu": "3"}}});
    let mut document = changed("/allocation", &tasks);
    document["running"] = json!([]);
    let snapshot = read(&document).unwrap();
    assert!(snapshot.allocation.placements.is_none());
    let text = snapshot_to_json(&snapshot);
    assert_eq!(Source { name: "-", text: &text }.snapshot().unwrap(), snapshot);
}

#[test]
fn faults_name_their_place() {
    let cases = [
        ("/version", json!(2), "found version 2: expected 1"),
        ("/system", json!("slurn"), "system: found `slurn` (did you mean `slurm`?)"),
        ("/problem/users/0/tasks", json!(5), "waiting[0]: more tasks of user `vision/1` run and wait"),
        ("/problem/users/1/tasks", json!("1/2"), "allocation: more tasks of user `vision/2` run than it has"),
        ("/problem/users/0/demand/cpu", json!("8x"), "problem.users[0].demand.cpu: `8x` is not a number"),
        ("/allocation/placements/0/index", json!(2), "allocation.placements[0].index: found 2"),
        (
            "/servers/gpu",
            json!(["n001"]),
            "servers.gpu: found 1 names: expected 2, one for each server of the class",
        ),
        ("/servers/gpu", json!(["n001", "n001"]), "servers.gpu: the server `n001` is named twice"),
        ("/servers/cpu", json!([]), "servers.cpu: the problem has no server `cpu` (did you mean `gpu`?)"),
        ("/waiting/0/tasks", json!(-1), "waiting[0].tasks: found -1: expected a whole number"),
        ("/waiting/0/tasks", json!("3/2"), "waiting[0].tasks: found \"3/2\": expected a whole number"),
        ("/waiting/0/tasks", json!(1), "waiting[0].names: found 2 names: expected at most 1"),
        ("/waiting/0/user", json!("vision/3"), "waiting[0].user: the problem has no user `vision/3`"),
        ("/waiting/0/why", json!(""), "unknown field `why`"),
        ("/running/0/index", json!(1), "running[0].names: found 2 names: expected at most 1"),
        ("/running/0/server", json!("c001"), "running[0]: the allocation places no task of this user"),
        (
            "/reported/0/group",
            json!("visions"),
            "the problem has no group `visions` (did you mean `vision`?)",
        ),
        ("/reported/0/user", json!("vision/1"), "reported[0]: expected one of `group`, `user` and `server`"),
        ("/reported/0/value", json!("much"), "reported[0].value: `much` is not a number"),
        ("/not_modelled/0/count", json!(1), "not_modelled[0].names: found 2 names"),
        ("/rounded/0/most", json!(0), "rounded[0].most: found 0: expected a number above 0"),
        ("/rounded/0/most", json!(1), "rounded[0].most: `most` is of one server"),
        (
            "/rounded/0/most",
            json!("3/5"),
            "rounded[0].by_server: the largest amount of a server has to be `most`",
        ),
        (
            "/rounded/0/in_all",
            json!("4/5"),
            "rounded[0].by_server: the largest amount of a server has to be `most`",
        ),
        (
            "/rounded/0/by_server",
            json!([]),
            "rounded[0].by_server: the largest amount of a server has to be `most`",
        ),
        (
            "/rounded/0/by_server/1/index",
            json!(2),
            "rounded[0].by_server[1].index: found 2: expected an integer from 0 to 1",
        ),
        (
            "/rounded/0/by_server/1/index",
            json!(0),
            "rounded[0].by_server[1].index: found 0 after 0: expected ascending",
        ),
        (
            "/rounded/0/by_server/0/amount",
            json!(0),
            "rounded[0].by_server[0].amount: found 0: expected a number above 0",
        ),
        ("/rounded/0/by_server/0/more", json!(0), "unknown field `more`"),
        ("/rounded/0/in_all", json!(2), "rounded[0].most: `most` is of one server"),
        ("/rounded/0/resource", json!("mem"), "rounded[0].resource: the problem has no resource `mem`"),
        ("/extra", json!(1), "unknown field `extra`"),
    ];
    for (pointer, value, expected) in cases {
        let found = read(&changed(pointer, &value)).unwrap_err();
        assert!(found.contains(expected), "{pointer} {value}: {found}");
    }
    let mut twice = good();
    let first = twice["running"][0].clone();
    twice["running"].as_array_mut().unwrap().push(first);
    assert!(read(&twice).unwrap_err().contains("running[1]: this user has two entries for this server"));
}

#[test]
fn the_schema_refuses_faulty_snapshots() {
    let validator = validator();
    for (pointer, value) in [
        ("/kind", json!("snapshots")),
        ("/version", json!(2)),
        ("/system", json!("slurn")),
        ("/problem/users/0/demand/cpu", json!("8x")),
        ("/allocation/tasks", json!(1)),
        ("/waiting/0/tasks", json!(-1)),
        ("/running/0/names", json!("78")),
        ("/reported/0/value", json!("much")),
        ("/not_modelled/0/names", json!(vec!["n"; 21])),
        ("/rounded/0/most", json!(0)),
        ("/rounded/0/by_server", json!([])),
        ("/rounded/0/by_server/0/index", json!(-1)),
        ("/rounded/0/by_server/0/amount", json!(0)),
        ("/extra", json!(1)),
    ] {
        let document = changed(pointer, &value);
        assert!(!validator.is_valid(&document) && read(&document).is_err(), "{pointer} {value}");
    }
}

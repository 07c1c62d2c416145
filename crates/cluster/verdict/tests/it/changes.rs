//! Tests of changed snapshots.

use crate::common::{judged, snapshot};

use evenhand_cluster::Changes;
use evenhand_problem::snapshot::Snapshot;

const TEXT: &str = r#"{"kind": "snapshot", "system": "kubernetes", "problem": {"kind": "allocation-problem", "resources": ["cpu", "nvidia.com/gpu"],
    "servers": [{"name": "big.node", "count": 3, "capacity": {"cpu": 8, "nvidia.com/gpu": 4}}, {"name": "small", "capacity": {"cpu": 4}}],
    "groups": [{"name": "a"}, {"name": "a.b", "weight": 2}],
    "users": [{"name": "u", "group": "a", "demand": {"nvidia.com/gpu": 1}, "tasks": 9},
              {"name": "v", "group": "a.b", "demand": {"nvidia.com/gpu": 1}, "tasks": 9},
              {"name": "w", "group": "a", "demand": {"cpu": 1}, "tasks": 1}]},
    "allocation": {"kind": "allocation", "placements": [{"server": "big.node", "index": 0, "tasks": {"u": 4}},
        {"server": "big.node", "index": 2, "tasks": {"v": 3}}, {"server": "small", "index": 0, "tasks": {"w": 1}}]},
    "servers": {"big.node": ["n1", "n2", "n3"]},
    "running": [{"user": "u", "server": "big.node", "index": 0, "names": ["u-1", "u-2"]},
                {"user": "v", "server": "big.node", "index": 2, "names": ["v-1"]}],
    "waiting": [{"user": "u", "tasks": 5, "names": ["u-5"]}]}"#;

fn changed(change: impl FnOnce(&mut Changes)) -> Result<Snapshot, String> {
    let mut changes = Changes::default();
    change(&mut changes);
    changes.apply(&snapshot(TEXT)).map_err(|error| error.to_string())
}

fn set(path: &str, value: &str) -> Result<Snapshot, String> {
    changed(|changes| changes.set.push((path.to_owned(), value.to_owned())))
}

#[test]
fn settings_refer_to_the_longest_matching_name() {
    let after = set("a.weight", "3").unwrap();
    assert_eq!(after.problem.groups().list()[0].weight, 3);
    let after = set("a.b.guarantee.nvidia.com/gpu", "5/2").unwrap();
    assert_eq!(after.problem.groups().list()[1].guarantee.as_ref().unwrap()[0].1.to_string(), "5/2");
    assert_eq!(set("u.tasks", "20").unwrap().problem.users()[0].tasks().unwrap(), &20);
    assert_eq!(set("big.node.capacity.cpu", "16").unwrap().problem.total_capacity()[0], 52);
    assert!(set("u.tasks", "none").unwrap().problem.users()[0].tasks().is_none());
    assert_eq!(set("share.of", "surplus").unwrap().problem.groups().share().of.name(), "surplus");
}

#[test]
fn impossible_values_are_errors() {
    for (path, value, expected) in [
        ("c.weight", "1", "expected NAME.FIELD=VALUE"),
        ("a.colour", "1", "expected NAME.FIELD=VALUE"),
        ("a.weight", "-1", "-1 is negative"),
        ("a.weight", "8x", "8x"),
        ("a.guarantee.gpus", "1", "gpus"),
        ("a.parent", "a", "is its own parent"),
        ("u.tasks", "1", "tasks"),
        ("share.of", "nothing", "expected one of"),
    ] {
        let error = set(path, value).unwrap_err();
        assert!(error.contains(expected), "{path}={value}: {error}");
    }
}

#[test]
fn tasks_of_a_removed_server_wait() {
    let after = changed(|changes| changes.remove.push("n1".to_owned())).unwrap();
    assert_eq!(after.problem.servers()[0].count(), 2);
    assert_eq!(after.servers[0], ["n2", "n3"]);
    let placements = after.allocation.placements.as_ref().unwrap();
    assert_eq!(placements.iter().map(|on| (on.server, on.index)).collect::<Vec<_>>(), [(0, 1), (1, 0)]);
    assert_eq!((after.running.len(), after.running[0].index), (1, 1));
    assert_eq!(after.waiting[1].names, ["u-1", "u-2"]);
    assert_eq!(after.allocation.total(0), 0);
    // Other servers have free capacity for the tasks of the removed server.
    assert!(!judged(&after).is_work_conserving());
    // The last server of a class stays and loses its capacity.
    let after = changed(|changes| changes.remove.push("small".to_owned())).unwrap();
    assert!(after.problem.servers()[1].capacity().is_zero());
    let error = changed(|changes| changes.remove.push("n9".to_owned())).unwrap_err();
    assert!(error.contains("there is no server `n9`"), "{error}");
    // Several servers are removed one after the other. Their names are the names before the changes.
    let after = changed(|changes| changes.remove.extend(["n1".to_owned(), "n3".to_owned()])).unwrap();
    assert_eq!(after.servers[0], ["n2"]);
}

#[test]
fn servers_are_added() {
    let after = changed(|changes| changes.add.push(("big.node".to_owned(), 2))).unwrap();
    assert_eq!((after.problem.servers()[0].count(), after.servers[0].len()), (5, 5));
    let after = changed(|changes| changes.add.push(("small".to_owned(), 2))).unwrap();
    assert_eq!((after.problem.servers()[1].count(), after.servers.get(1).map_or(0, Vec::len)), (3, 0));
    let error = changed(|changes| changes.add.push(("smal".to_owned(), 2))).unwrap_err();
    assert!(error.contains("did you mean `small`?"), "{error}");
}

#[test]
fn tasks_are_submitted() {
    let submit = |text: &str| {
        let mut changes = Changes::default();
        changes
            .submit("job.json", text)
            .and_then(|()| changes.apply(&snapshot(TEXT)))
            .map_err(|error| error.to_string())
    };
    let after = submit(r#"{"name": "u", "tasks": 3}"#).unwrap();
    assert_eq!(after.problem.users()[0].tasks().unwrap(), &12);
    let after = submit(r#"[{"name": "x", "group": "a.b", "demand": {"cpu": 1}, "tasks": 3}]"#).unwrap();
    assert_eq!((after.problem.n_users(), after.problem.users()[3].name()), (4, "x"));
    for (text, expected) in [
        ("7", "expected a user"),
        ("{", "job.json"),
        (r#"{"tasks": 1}"#, "has no `name`"),
        (r#"{"name": "x"}"#, "states no `tasks`"),
        (r#"{"name": "u", "tasks": 1, "group": "a.b"}"#, "with another `group`"),
        (r#"{"name": "x", "tasks": 1, "group": "z", "demand": {"cpu": 1}}"#, "`z`"),
        (r#"{"name": "x", "tasks": "8x", "demand": {"cpu": 1}}"#, "8x"),
    ] {
        let error = submit(text).unwrap_err();
        assert!(error.contains(expected), "{text}: {error}");
    }
}

#[test]
fn a_file_of_changes_has_the_same_effect() {
    let text = r#"{"set": {"a.weight": 2}, "add": {"small": 1}, "remove": ["n2"], "submit": [{"name": "u", "tasks": 1}]}"#;
    let changes = Changes::read("changes.json", text).unwrap();
    let after = changes.apply(&snapshot(TEXT)).unwrap();
    assert_eq!((after.problem.servers()[0].count(), after.problem.servers()[1].count()), (2, 2));
    for wrong in
        ["[]", "{", r#"{"set": []}"#, r#"{"add": {"small": 0}}"#, r#"{"sett": {}}"#, r#"{"remove": [[]]}"#]
    {
        assert!(
            Changes::read("changes.json", wrong).unwrap_err().to_string().starts_with("changes.json: "),
            "{wrong}"
        );
    }
}

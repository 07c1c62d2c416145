//! Tests of `explain --task` and `what-if --submit`, which explain why a job does not start. They use cases
//! from public bug reports (named by project and number), and wrong input.

use std::path::Path;

use crate::common::Folder;

use serde_json::{Value, json};

const CLUSTER: &str = include_str!("../../../../examples/cluster.json");

/// Returns a folder with the snapshot of a dump.
fn imported(system: &str, name: &str) -> Folder {
    let folder = Folder::new();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases").join(format!("{name}.json"));
    folder.run(&["import", system, path.to_str().unwrap(), "-o", "snap.json"]).ends_with(0);
    folder
}

fn cluster() -> Folder {
    let folder = Folder::new();
    folder.write("snap.json", CLUSTER);
    folder
}

fn explained(folder: &Folder, task: &str, status: i32) -> Value {
    folder.run(&["explain", "snap.json", "--task", task, "--format", "json"]).ends_with(status).json()
}

/// Returns the kind of each reason. Also returns `true` if the task could start without this reason alone.
fn reasons(found: &Value) -> Vec<(&str, Option<bool>)> {
    let list = found["reasons"].as_array().unwrap().iter();
    list.map(|of| (of["kind"].as_str().unwrap(), of["alone_enough"].as_bool())).collect()
}

#[test]
fn explains_a_lack_of_free_pods() {
    let folder = imported("kubernetes", "f39-kubernetes-too-many-pods");
    let found = explained(&folder, "b/w", 1);
    assert_eq!(
        (reasons(&found), &found["reasons"][0]["resource"]),
        (vec![("free", Some(true))], &json!("pods"))
    );
    // Kubernetes stops pods only for pods of a higher priority.
    assert_eq!(found["stop"]["possible"], false);
    assert_eq!((&found["add"][0]["servers"], &found["add"][0]["fewest"]), (&json!(1), &json!(true)));
    let text = folder.run(&["explain", "snap.json", "--task", "b/w"]).ends_with(1).stdout;
    assert!(text.contains("not enough free pods") && text.contains("This is the only reason."), "{text}");
}

#[test]
fn volcano_3948_is_fragmented() {
    let folder = imported("volcano", "f57-volcano-3948");
    let found = explained(&folder, "ns/w-0", 1);
    assert_eq!(reasons(&found), [("free", Some(true))]);
    assert_eq!((&found["room_when_empty"], &found["raise"]), (&json!(true), &json!([])));
    assert_eq!(found["add"][0]["servers"], 1);
    assert_eq!(found["stop"]["fewest"], true);
    let free =
        &found["free"].as_array().unwrap().iter().find(|of| of["resource"] == "nvidia.com/gpu").unwrap();
    let text = folder.run(&["explain", "snap.json", "--task", "ns/w-0"]).ends_with(1).stdout;
    assert!(text.contains("enough free nvidia.com/gpu, but not where a task needs it"), "{text} {free}");
    assert!(text.contains("moves SNAPSHOT --for"), "{text}");
    // With an additional server of the class that the explanation names, the task could start.
    let class = found["add"][0]["class"].as_str().unwrap();
    folder.run(&["what-if", "snap.json", "--add", &format!("{class}=1"), "-o", "after.json"]).ends_with(0);
    folder.run(&["explain", "after.json", "--task", "ns/w-0"]).ends_with(0);
}

#[test]
fn kueue_746_lacks_quota() {
    let folder = imported("kueue", "f05-kueue-746");
    let found = explained(&folder, "ns/w", 1);
    assert_eq!(reasons(&found), [("limit", Some(true))]);
    let raise = &found["raise"][0][0];
    assert_eq!(
        (&raise["group"], &raise["resource"], &raise["from"], &raise["to"], &raise["least"]),
        (&json!("q"), &json!("cpu"), &json!("1"), &json!("4"), &json!(true))
    );
    assert_eq!((&found["stop"]["count"], &found["stop"]["fewest"]), (&json!(3), &json!(true)));
    assert_eq!(found["add"], json!([]));
}

#[test]
fn kueue_borrowing_names_the_binding_limit() {
    let folder = imported("kueue", "f11-kueue-borrowing");
    // 12 more cpu would exceed the quota of all queues of the cohort together, and one task of the other
    // queue uses the missing cpu.
    let found = explained(&folder, "ns/w", 1);
    assert_eq!(reasons(&found), [("limit", Some(true))]);
    assert_eq!(
        (&found["raise"][0][0]["group"], &found["raise"][0][0]["to"]),
        (&json!("team-ab"), &json!("22"))
    );
    assert_eq!((&found["stop"]["count"], &found["stop"]["tasks"][0]["task"]), (&json!(1), &json!("ns/r-0")));
    // The other queue has borrowed as much as its limit allows.
    let found = explained(&folder, "ns/w2", 1);
    assert_eq!(
        (&found["raise"][0][0]["group"], &found["raise"][0][0]["to"]),
        (&json!("team-a-cq"), &json!("11"))
    );
}

#[test]
fn quota_alone_decides_in_snapshots_without_nodes() {
    let folder = imported("kueue", "f62-kueue-no-nodes");
    let snapshot: Value = serde_json::from_str(&folder.read("snap.json")).unwrap();
    let task = snapshot["waiting"][0]["user"].as_str().unwrap().to_owned();
    let output = folder.run(&["explain", "snap.json", "--task", &task]);
    let text = &output.stdout;
    assert!(
        text.contains("the snapshot does not say on which servers tasks run") || text.contains("Limit:"),
        "{text}"
    );
}

#[test]
fn submitted_jobs_are_explained() {
    let folder = cluster();
    folder.write(
        "job.json",
        r#"{"name": "burst", "group": "product", "demand": {"cpu": 8, "gpu": 4}, "tasks": 2, "gang": 2}"#,
    );
    let text = folder.run(&["what-if", "snap.json", "--submit", "job.json"]).ends_with(0).stdout;
    assert!(text.contains("Would burst start now?"), "{text}");
    assert!(text.contains("A gang of 2 tasks of burst could not start now: not enough free gpu."), "{text}");
    let call = ["what-if", "snap.json", "--submit", "job.json", "--format", "json"];
    let found = folder.run(&call).ends_with(0).json();
    let found = &found["submitted"][0];
    assert_eq!((&found["user"], &found["could_start"]), (&json!("burst"), &json!(false)));
    assert_eq!((&found["stop"]["count"], &found["stop"]["fewest"]), (&json!(2), &json!(true)));
    assert_eq!(found["add"][0]["servers"], 1);
    // No user is submitted, so no user is explained.
    let call = ["what-if", "snap.json", "--set", "batch.weight=2", "--format", "json"];
    assert_eq!(folder.run(&call).ends_with(0).json()["submitted"], json!([]));
    // With one more server the job could start.
    let call = ["what-if", "snap.json", "--submit", "job.json", "--add", "gpu-node=1", "--format", "json"];
    assert_eq!(folder.run(&call).ends_with(0).json()["submitted"][0]["could_start"], true);
}

#[test]
fn tasks_are_selected_by_name_or_by_user() {
    let folder = cluster();
    let by_task = explained(&folder, "research/train-3", 1);
    assert_eq!(by_task, explained(&folder, "training", 1));
    assert_eq!(by_task["shares"][0]["within"], true);
    let reports = explained(&folder, "batch/report-12", 1);
    assert_eq!(reports["shares"][0]["within"], false);
    // All tasks of `serving` are running.
    let found = explained(&folder, "serving", 1);
    assert_eq!((&found["waits"], &found["stop"]), (&json!(false), &Value::Null));
    let wrong = |task: &str, message: &str| {
        folder.run(&["explain", "snap.json", "--task", task]).fails_with(2, message);
    };
    wrong("research/train-1", "runs on n1");
    wrong("research/train-99", "research/train-99");
    folder.write("problem.json", r#"{"kind": "allocation-problem", "resources": ["gpu"], "servers": [{"name": "s", "capacity": {"gpu": 1}}], "users": [{"name": "u", "demand": {"gpu": 1}}]}"#);
    folder.run(&["explain", "problem.json", "--task", "u"]).fails_with(2, "snapshot");
    folder
        .run(&["explain", "snap.json", "--task", "training", "--user", "training"])
        .fails_with(2, "cannot be used with");
}

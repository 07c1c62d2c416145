//! Tests of `plan` on small clusters: its output, exit status, and wrong input.

use crate::common::Folder;

use serde_json::{Value, json};

const CLUSTER: &str = include_str!("../../../../examples/cluster.json");
const FRAGMENTED: &str = include_str!("../../../../examples/cluster-fragmented.json");

fn folder_with_snapshot(snapshot: &str) -> Folder {
    let folder = Folder::new();
    folder.write("snap.json", snapshot);
    folder
}

fn plan(folder: &Folder, call: &str, status: i32) -> Value {
    let words: Vec<&str> =
        ["plan", "snap.json"].into_iter().chain(call.split(' ')).chain(["--format", "json"]).collect();
    folder.run(&words).ends_with(status).json()
}

#[test]
fn plans_the_cheapest_servers_for_a_job() {
    let folder = folder_with_snapshot(CLUSTER);
    let found = plan(&folder, "--offer gpu-node=3/2 --until starts=training", 0);
    assert_eq!((&found["outcome"], &found["cheapest"]), (&json!("found"), &json!(true)));
    assert_eq!((&found["offers"][0]["add"], &found["price"]), (&json!(3), &json!("9/2")));
    assert_eq!((&found["starts"][0]["user"], &found["starts"][0]["tasks"]), (&json!("training"), &json!(5)));
    let text =
        folder.run(&["plan", "snap.json", "--offer", "gpu-node", "--until", "starts=research/train-3"]);
    let text = text.ends_with(0).stdout;
    let answer =
        "Adding 1 server of class gpu-node (price 1) lets research/train-3 start; no cheaper set does.";
    assert!(text.starts_with(answer), "{text}");
    assert!(text.contains("`evenhand what-if SNAPSHOT --add gpu-node=1`"), "{text}");
    // The goal may be a file with a user, as for `what-if --submit`.
    folder.write(
        "job.json",
        r#"{"name": "new", "group": "batch", "demand": {"gpu": 8, "cpu": 1}, "tasks": 2}"#,
    );
    let found = plan(&folder, "--offer gpu-node --until starts=job.json", 0);
    assert_eq!((&found["offers"][0]["add"], &found["starts"][0]["user"]), (&json!(2), &json!("new")));
    let found = plan(&folder, "--offer gpu-node --until starts=all", 0);
    // 5 tasks with 4 GPUs and 9 tasks with 2 GPUs need 38 GPUs, and no GPU is free.
    assert_eq!(found["offers"][0]["add"], json!(5));
    // The task could start after a migration, but plans contain no migrations.
    let fragmented = folder_with_snapshot(FRAGMENTED);
    let class = {
        let snapshot: Value = serde_json::from_str(FRAGMENTED).unwrap();
        snapshot["problem"]["servers"][0]["name"].as_str().unwrap().to_owned()
    };
    let found = plan(&fragmented, &format!("--offer {class} --until fair"), 0);
    assert_eq!(found["outcome"], "found", "{found}");
}

#[test]
fn plan_names_a_limit_that_no_server_lifts() {
    let folder = folder_with_snapshot(
        &CLUSTER
            .replace(r#"{"name": "research", "weight": 2}"#, r#"{"name": "research", "limit": {"gpu": 16}}"#),
    );
    let found = plan(&folder, "--offer gpu-node --until starts=training", 1);
    assert_eq!((&found["outcome"], &found["obstacle"]["reason"]), (&json!("impossible"), &json!("limit")));
    let text = folder.run(&["plan", "snap.json", "--offer", "gpu-node", "--until", "starts=training"]);
    let text = text.ends_with(1).stdout;
    let answer = "No number of these servers is enough: the limit of group research on gpu is 16 gpu, and with training the \
                  group would use 28 gpu.";
    assert!(text.starts_with(answer), "{text}");
}

#[test]
fn plan_lists_removable_servers() {
    let folder = folder_with_snapshot(CLUSTER);
    let found = plan(&folder, "--removable", 1);
    assert_eq!((&found["alone"], &found["answer"]), (&json!([]), &json!("No server can go.")));
    let folder = folder_with_snapshot(include_str!("../../../../examples/cluster-idle.json"));
    let text = folder.run(&["plan", "snap.json", "--removable"]).ends_with(0);
    assert!(text.stdout.starts_with("1 server can go: n2."), "{}", text.stdout);
}

#[test]
fn refuses_wrong_arguments() {
    let folder = folder_with_snapshot(CLUSTER);
    for (call, expected) in [
        ("plan snap.json", "--offer"),
        ("plan snap.json --offer gpu-node", "--until"),
        ("plan snap.json --offer gpu-nod --until fair", "there is no server class `gpu-nod`"),
        ("plan snap.json --offer gpu-node=0 --until fair", "the price 0 is not above 0"),
        ("plan snap.json --offer gpu-node=-1 --until fair", "is not above 0"),
        ("plan snap.json --offer gpu-node=x --until fair", "--offer gpu-node"),
        ("plan snap.json --offer gpu-node --offer gpu-node=2 --until fair", "on offer twice"),
        ("plan snap.json --offer gpu-node --until better", "there is no goal of this name"),
        (
            "plan snap.json --offer gpu-node --until starts=trainin",
            "there is no waiting user, waiting task or file `trainin`",
        ),
        ("plan snap.json --offer gpu-node --until starts=serving", "`serving` has no waiting tasks"),
        ("plan snap.json --removable --until fair", "--until"),
        ("plan absent.json --removable", "absent.json"),
    ] {
        let words: Vec<&str> = call.split(' ').collect();
        folder.run(&words).fails_with(2, expected);
    }
}

//! `explain --stopped`: its output, exit status, and wrong input.

use crate::common::Folder;

use serde_json::json;

const STOPPED: &str = include_str!("../../../../examples/cluster-stopped.json");

fn with(snapshot: &str) -> Folder {
    let folder = Folder::new();
    folder.write("snap.json", snapshot);
    folder
}

#[test]
fn for_whom_and_whether_fewer_are_enough() {
    let folder = with(STOPPED);
    let call = ["explain", "snap.json", "--stopped", "team/web", "--format", "json"];
    let found = folder.run(&call).ends_with(0).json();
    assert_eq!((&found["by"], &found["by_queue"]), (&json!("team/train"), &json!("research")));
    assert_eq!((&found["level"], &found["others"]), (&json!("company"), &json!(["team/report-1"])));
    assert_eq!((&found["priority"], &found["by_priority"]), (&json!(50), &json!(100)));
    // With both of them back on one node the other node is free, so that no stop is needed.
    let replay = &found["replay"];
    assert_eq!((&replay["known"], &replay["stopped"]), (&json!(true), &json!(2)));
    assert_eq!(replay["none_needed"], json!(true));
    let text = folder.run(&["explain", "snap.json", "--stopped", "team/report-2"]).ends_with(0).stdout;
    assert!(
        text.starts_with("team/report-2 was stopped at 2026-03-01T09:00:00Z for no other task"),
        "{text}"
    );
    // A smaller cluster: each node has 8 GPUs, and one is closed.
    let closed = STOPPED.replace(r#""count": 2"#, r#""count": 1"#).replace(r#"["n1", "n2"]"#, r#"["n1"]"#);
    let folder = with(&closed);
    let found = folder.run(&call).ends_with(0).json();
    assert_eq!((&found["replay"]["found"], &found["replay"]["least"]), (&json!(2), &json!(2)));
    let text = folder.run(&call[..4]).ends_with(0).stdout;
    assert!(text.contains("Just these 2 tasks would be chosen again. Fewer do not suffice."), "{text}");
}

#[test]
fn wrong_names_say_what_to_do() {
    let folder = with(STOPPED);
    let stderr = folder.run(&["explain", "snap.json", "--stopped", "team/wep"]).ends_with(2).stderr;
    assert!(stderr.contains("team/web"), "{stderr}");
    let folder = with(include_str!("../../../../examples/cluster.json"));
    let stderr = folder.run(&["explain", "snap.json", "--stopped", "x"]).ends_with(2).stderr;
    assert!(stderr.contains("the snapshot names no stopped task"), "{stderr}");
}

//! Tests of `explain --stopped`: its output, exit status, and wrong input.

use crate::common::Folder;

use serde_json::json;

const STOPPED: &str = include_str!("../../../../examples/cluster-stopped.json");

fn folder_with_snapshot(snapshot: &str) -> Folder {
    let folder = Folder::new();
    folder.write("snap.json", snapshot);
    folder
}

#[test]
fn explains_stops_and_whether_fewer_suffice() {
    let folder = folder_with_snapshot(STOPPED);
    let call = ["explain", "snap.json", "--stopped", "team/web", "--format", "json"];
    let found = folder.run(&call).ends_with(0).json();
    assert_eq!((&found["by"], &found["by_queue"]), (&json!("team/train"), &json!("research")));
    assert_eq!((&found["level"], &found["others"]), (&json!("company"), &json!(["team/report-1"])));
    assert_eq!((&found["priority"], &found["by_priority"]), (&json!(50), &json!(100)));
    // 6 of 8 GPUs were in use, so 2 of the 4 GPUs for team/train were missing. Stopping either of the two
    // stopped jobs would have freed 2 GPUs.
    let replay = &found["replay"];
    assert_eq!((&replay["known"], &replay["stopped"]), (&json!(true), &json!(2)));
    assert_eq!((&replay["found"], &replay["least"]), (&json!(1), &json!(1)));
    assert_eq!(replay["tasks"][0]["task"], json!("team/web"));
    let text = folder.run(&["explain", "snap.json", "--stopped", "team/report-2"]).ends_with(0).stdout;
    assert!(
        text.starts_with("team/report-2 was stopped at 2026-03-01T09:00:00Z for no other task"),
        "{text}"
    );
    // With a second node, no job needs to stop.
    let two = STOPPED.replace(r#""count": 1"#, r#""count": 2"#).replace(r#"["n1"]"#, r#"["n1", "n2"]"#);
    let folder = folder_with_snapshot(&two);
    let found = folder.run(&call).ends_with(0).json();
    assert_eq!((&found["replay"]["none_needed"], &found["replay"]["found"]), (&json!(true), &json!(null)));
    // A larger job needs both jobs to stop.
    let large = STOPPED.replacen(r#""demand": {"cpu": 8, "gpu": 4}"#, r#""demand": {"cpu": 8, "gpu": 8}"#, 1);
    let folder = folder_with_snapshot(&large);
    let found = folder.run(&call).ends_with(0).json();
    assert_eq!((&found["replay"]["found"], &found["replay"]["least"]), (&json!(2), &json!(2)));
    let text = folder.run(&call[..4]).ends_with(0).stdout;
    assert!(text.contains("Just these 2 tasks would be chosen again. Fewer do not suffice."), "{text}");
}

#[test]
fn errors_for_wrong_names_say_what_to_do() {
    let folder = folder_with_snapshot(STOPPED);
    let stderr = folder.run(&["explain", "snap.json", "--stopped", "team/wep"]).ends_with(2).stderr;
    assert!(stderr.contains("team/web"), "{stderr}");
    let folder = folder_with_snapshot(include_str!("../../../../examples/cluster.json"));
    let stderr = folder.run(&["explain", "snap.json", "--stopped", "x"]).ends_with(2).stderr;
    assert!(stderr.contains("the snapshot names no stopped task"), "{stderr}");
}

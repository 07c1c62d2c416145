//! Tests of `moves --for` and `moves --pack`: their output, exit status and files.

use crate::common::Folder;

use serde_json::{Value, json};

const FRAGMENTED: &str = include_str!("../../../../examples/cluster-jagged.json");

fn jagged() -> Folder {
    let folder = Folder::new();
    folder.write("snap.json", FRAGMENTED);
    folder
}

#[test]
fn volcano_3948_needs_one_migration() {
    let folder = Folder::new();
    let dump = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cases/f57-volcano-3948.json");
    folder.run(&["import", "volcano", dump, "-o", "snap.json"]).ends_with(0);
    let call = [
        "moves",
        "snap.json",
        "--for",
        "ns/w-0",
        "-o",
        "cert.json",
        "--after",
        "after.json",
        "--format",
        "json",
    ];
    let found = folder.run(&call).ends_with(0).json();
    assert_eq!(
        (&found["answer"], &found["tasks"], &found["least"]),
        (&json!("starts-after"), &json!(2), &json!("2"))
    );
    assert_eq!((&found["fewest"], &found["start"][0]["task"]), (&json!(true), &json!("ns/w-0")));
    let text = folder.run(&["check", "cert.json", "--problem", "snap.json"]).ends_with(0).stdout;
    assert!(
        text.contains("migrations: 2 tasks stop and start again, then a gang of `default/1` starts"),
        "{text}"
    );
    let after: Value = serde_json::from_str(&folder.read("after.json")).unwrap();
    assert_eq!(after.get("waiting").and_then(Value::as_array).map_or(0, Vec::len), 0, "{after}");
    let text =
        folder.run(&["moves", "snap.json", "--for", "default/1", "--format", "script"]).ends_with(0).stdout;
    assert_eq!(text.matches("# move ns/").count(), 2, "{text}");
    assert!(!text.contains("kubectl"), "{text}");
}

#[test]
fn output_starts_with_the_answer() {
    let folder = jagged();
    let text = folder.run(&["moves", "snap.json", "--for", "training"]).ends_with(0).stdout;
    let first = "team/train-0 of training could start on n3 after 2 migrations. Fewer do not suffice.\n";
    assert!(text.starts_with(first), "{text}");
    let text = folder.run(&["moves", "snap.json", "--pack"]).ends_with(0).stdout;
    assert!(text.starts_with("The largest waiting gang for which migrations make room is "), "{text}");
    folder.write("job.json", r#"{"name": "huge", "demand": {"gpu": 8}, "tasks": 2, "gang": 2}"#);
    let text = folder.run(&["moves", "snap.json", "--for", "job.json"]).ends_with(1).stdout;
    assert!(
        text.starts_with(
            "No migrations help: the gang of 2 tasks of huge demands 16 gpu, and only 9 gpu are free"
        ),
        "{text}"
    );
    folder.write("now.json", r#"{"name": "now", "demand": {"gpu": 1}, "tasks": 1}"#);
    let text = folder.run(&["moves", "snap.json", "--for", "now.json"]).ends_with(0).stdout;
    assert!(text.contains("could start now on") && text.contains("nothing has to migrate"), "{text}");
}

#[test]
fn costs_and_pins_restrict_migrations() {
    let folder = jagged();
    folder.write("costs.json", r#"{"serving": 100, "batch": "1/2"}"#);
    let call = ["moves", "snap.json", "--for", "training", "--cost", "costs.json", "--format", "json"];
    let found = folder.run(&call).ends_with(0).json();
    assert_eq!((&found["cost_by"], &found["fewest"]), (&json!("file"), &json!(true)), "{found}");
    let migrations = found["migrations"].as_array().unwrap();
    assert!(migrations.iter().all(|step| step[0]["user"] == "batch"), "{found}");
    let call = ["moves", "snap.json", "--for", "training", "--pinned", "batch", "--pinned", "serving"];
    let text = folder.run(&call).ends_with(1).stdout;
    assert!(text.starts_with("No migrations help: "), "{text}");
    folder.run(&["moves", "snap.json", "--for", "training", "--cost", "priority"]).ends_with(0);
}

#[test]
fn refuses_wrong_arguments() {
    let folder = jagged();
    folder.write("two.json", r#"[{"name": "a", "demand": {"gpu": 1}, "tasks": 1}, {"name": "b", "demand": {"gpu": 1}, "tasks": 1}]"#);
    folder.write("negative.json", r#"{"batch": -1}"#);
    folder.write("nobody.json", r#"{"nobody": 1}"#);
    folder.write("list.json", "[1]");
    for (call, expected) in [
        ("--for nobody", "there is no user, waiting task or file `nobody`"),
        ("--for trainin", "there is no user, waiting task or file `trainin`"),
        ("--for batch", "no whole gang of tasks that waits"),
        ("--for two.json", "the file states 2 users"),
        ("--for training --pack", "cannot be used with"),
        ("--for training --most 3", "cannot be used with"),
        ("--cost priority", "add --for JOB or --pack"),
        ("--for training --cost age", "does not state for how long tasks have run"),
        ("--for training --cost negative.json", "costs must be at least 0"),
        ("--for training --cost nobody.json", "there is no user `nobody`"),
        ("--for training --cost list.json", "expected an object"),
        ("--for training --cost absent.json", "absent.json"),
        ("--for training --pinned nobody", "there is no user or group `nobody`"),
        ("--for training --after costs/none/x.json", "costs"),
    ] {
        let words: Vec<&str> = ["moves", "snap.json"].into_iter().chain(call.split(' ')).collect();
        folder.run(&words).fails_with(2, expected);
    }
}

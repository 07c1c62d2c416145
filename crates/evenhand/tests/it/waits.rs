//! Tests of `simulate` with a snapshot: its output, exit status, and wrong input.

use crate::common::Folder;

use serde_json::{Value, json};

const CLUSTER: &str = include_str!("../../../../examples/cluster.json");
const LIMITS: &str = include_str!("../../../../examples/cluster-limits.json");

fn folder_with_snapshot(snapshot: &str) -> Folder {
    let folder = Folder::new();
    folder.write("snap.json", snapshot);
    folder
}

fn waits(folder: &Folder, call: &str, status: i32) -> Value {
    let words: Vec<&str> =
        ["simulate", "snap.json"].into_iter().chain(call.split(' ')).chain(["--format", "json"]).collect();
    folder.run(&words).ends_with(status).json()
}

#[test]
fn simulates_waits_under_slurm_time_limits() {
    let folder = folder_with_snapshot(LIMITS);
    let found = waits(&folder, "--durations limits", 0);
    assert_eq!(
        (&found["order"], &found["random"], &found["runs"]),
        (&json!("backfill"), &json!(false), &json!(1))
    );
    let rows: Vec<(&Value, &Value, &Value, &Value)> = found["jobs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| (&row["user"], &row["which"], &row["median_seconds"], &row["earliest_seconds"]))
        .collect();
    let seconds = |of: f64| json!(of);
    assert_eq!(
        rows,
        [
            (&json!("chemistry/1"), &json!("only"), &seconds(3600.0), &seconds(3600.0)),
            (&json!("biology/1"), &json!("first"), &seconds(0.0), &seconds(0.0)),
            (&json!("biology/1"), &json!("last"), &seconds(5400.0), &seconds(0.0)),
        ]
    );
    let found = waits(&folder, "--durations limits --job 203", 0);
    assert_eq!((&found["jobs"][0]["which"], &found["jobs"][0]["task"]), (&json!("task"), &json!("203")));
    assert_eq!(found["jobs"][0]["q90_seconds"], json!(0.0));
    // A submitted job has no time limit and may run forever, but it starts last.
    let job = r#"{"name": "new", "group": "physics", "demand": {"gres/gpu": 8}, "tasks": 1}"#;
    folder.write("job.json", job);
    let found = waits(&folder, "--durations limits --job job.json", 0);
    assert_eq!((&found["jobs"][0]["user"], &found["endless_waiting"]), (&json!("new"), &json!(1)));
    assert_eq!(found["jobs"][0]["median_seconds"], json!(12_600.0));
    // With another rule, jobs start in a different order.
    let found = waits(&folder, "--durations limits --rule tree", 0);
    assert_eq!(found["order"], "tree");
}

#[test]
fn simulates_random_durations_and_durations_of_a_file() {
    let folder = folder_with_snapshot(CLUSTER);
    let call = "--durations exponential:2h --runs 200 --job training --horizon 24h";
    let found = waits(&folder, call, 0);
    assert_eq!((&found["runs"], &found["horizon_seconds"]), (&json!(200), &json!(86_400.0)));
    let row = &found["jobs"][0];
    assert_eq!((&row["which"], &row["jobs"], &row["earliest"]), (&json!("first"), &json!(5), &Value::Null));
    let time = |field: &str| row[field].as_f64().unwrap();
    assert!(time("q10_seconds") < time("median_seconds") && time("median_seconds") < time("q90_seconds"));
    assert_eq!(found, waits(&folder, call, 0));
    assert_ne!(found["jobs"], waits(&folder, &format!("{call} --seed 7"), 0)["jobs"]);
    // The durations of users are read from JSON and from CSV.
    folder.write("times.json", r#"{"*": "1h", "reports": {"duration": "30m", "left": "10m"}}"#);
    folder.write("times.csv", "name,duration,left\n*,1h,\nreports,30m,10m\n");
    let by_json = waits(&folder, "--durations times.json", 0);
    let by_csv = waits(&folder, "--durations times.csv", 0);
    assert_eq!(by_json["jobs"], by_csv["jobs"]);
    assert_eq!(by_json["random"], json!(false));
    // This job could not start even after all other tasks have ended.
    let job = r#"{"name": "huge", "group": "batch", "demand": {"gpu": 8}, "tasks": 5, "gang": 5}"#;
    folder.write("job.json", job);
    let found = waits(&folder, "--durations 1h --job job.json", 1);
    assert_eq!((&found["jobs"][0]["earliest"], &found["jobs"][0]["started"]), (&json!("never"), &json!(0)));
    let text = folder.run(&["simulate", "snap.json", "--durations", "1h", "--job", "job.json"]);
    let text = text.ends_with(1).stdout;
    assert!(text.starts_with("The gang of 5 tasks of huge does not start."), "{text}");
}

#[test]
fn errors_for_wrong_input_say_what_to_do() {
    let folder = folder_with_snapshot(CLUSTER);
    let fails = |words: &[&str], message: &str| {
        let stderr = folder.run(&[&["simulate"][..], words].concat()).ends_with(2).stderr;
        assert!(stderr.contains(message), "{words:?}: {stderr}");
    };
    fails(&["snap.json"], "a snapshot needs --durations");
    fails(&["snap.json", "--durations", "limits"], "the snapshot states no time limits");
    fails(&["snap.json", "--durations", "fixed:x"], "expected a duration above 0");
    fails(&["snap.json", "--durations", "gone.json"], "neither a law nor a file of this name");
    fails(&["snap.json", "--durations", "1h", "--job", "nobody"], "nobody");
    fails(&["snap.json", "--durations", "1h", "--horizon", "0"], "--horizon");
    folder.write("times.json", r#"{"trainin": "1h"}"#);
    fails(&["snap.json", "--durations", "times.json"], "training");
    folder.write("times.json", r#"{"training": "soon"}"#);
    fails(&["snap.json", "--durations", "times.json"], "`soon` is not a duration");
    folder.write("times.json", r#"{"training": "1h"}"#);
    fails(&["snap.json", "--durations", "times.json"], "no duration is stated for the tasks of user");
    folder.write("times.json", r#"{"training": {"length": "1h"}}"#);
    fails(&["snap.json", "--durations", "times.json"], "unknown field `length`");
    folder.write("times.csv", "user,time\ntraining,1h\n");
    fails(&["snap.json", "--durations", "times.csv"], "expected a JSON object, or a table with the header");
    folder.write("times.csv", "name,duration\ntraining,1h,2h\n");
    fails(&["snap.json", "--durations", "times.csv"], "line 2: found 3 columns");
    folder.write("times.csv", "name,duration\ntraining,1h\ntraining,2h\n");
    fails(&["snap.json", "--durations", "times.csv"], "line 3: `training` has two lines");
    folder.write("scenario.json", r#"{"kind": "scenario"}"#);
    fails(&["scenario.json", "--durations", "1h"], "this option is for snapshots");
}

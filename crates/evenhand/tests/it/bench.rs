//! `bench` on the command line. Times are never judged.

use crate::common;

use common::Folder;
use serde_json::Value;

/// Without what differs between two runs: times, and the number of threads.
fn timeless(mut document: Value) -> Value {
    document["threads"].take();
    for instance in document["instances"].as_array_mut().unwrap() {
        for result in instance["results"].as_array_mut().unwrap() {
            assert!(result["seconds"].take().as_f64().unwrap() > 0.0);
        }
    }
    document
}

#[test]
fn accuracy_on_the_command_line() {
    let folder = Folder::new();
    let call = ["bench", "accuracy", "--runs", "1", "--format", "json", "--seed", "5"];
    let run = |more: &[&str]| folder.run(&[&call, more].concat()).ends_with(0);
    let output = run(&["-o", "made/here", "--quiet"]);
    assert_eq!(output.stderr, "");
    let document = output.json();
    assert_eq!(document["kind"], "work-precision");
    assert_eq!(document["seed"], 5);
    let mut names: Vec<String> = std::fs::read_dir(folder.path().join("made/here"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["trajectory.svg", "work-precision.json", "work-precision.svg"]);
    assert_eq!(folder.read("made/here/work-precision.json"), output.stdout);
    for instance in document["instances"].as_array().unwrap() {
        let users = instance["users"].as_u64().unwrap() as usize;
        let reference = &instance["reference"];
        assert!(reference["gap"].as_f64().unwrap() < 1e-100);
        let x = reference["x"].as_array().unwrap();
        assert_eq!((x.len(), instance["requests"].as_array().unwrap().len()), (users, users));
        for digits in x {
            let digits = digits.as_str().unwrap();
            let value: f64 = digits.parse().unwrap();
            assert!(value > 0.0 && value <= 1.0 && digits.len() == 42, "{digits}");
        }
        for result in instance["results"].as_array().unwrap() {
            assert!(result["method"].is_string() && result["settings"].is_object());
            assert!(result["status"].is_string() && result["steps"].is_u64() && result["error"].is_f64());
            assert_eq!(result["runs"], 1);
        }
    }
    let other = run(&["--threads", "1"]);
    assert_eq!(timeless(document), timeless(other.json()), "the answers depend on the threads");
}

#[test]
fn accuracy_as_a_table() {
    let output = Folder::new().run(&["bench", "accuracy", "--runs", "1"]).ends_with(0);
    for word in ["three-users", "path follower", "clarabel", "proven gap", "drift"] {
        assert!(output.stdout.contains(word), "`{word}` is not in {}", output.stdout);
    }
    assert_eq!(output.stderr, "", "progress where no terminal is");
}

#[test]
fn speed_on_the_command_line() {
    let folder = Folder::new();
    let output = folder.run(&["bench", "speed", "--runs", "1", "--format", "json", "-o", "."]).ends_with(0);
    let document = output.json();
    assert_eq!(document["kind"], "speed");
    assert_eq!(folder.names(), ["speed.json"]);
    let results = document["results"].as_array().unwrap();
    let count = |name: &str| results.iter().filter(|result| result["name"] == name).count();
    for name in ["drfh", "tsf", "proportional", "njc", "path follower"] {
        assert_eq!(count(name), 3, "{name}");
    }
    for result in results.iter().filter(|result| result["name"] == "drfh") {
        assert!(result["ratio"].as_f64().unwrap() > 0.0 && result["why"].is_null(), "{result}");
    }
}

#[test]
fn folders_that_cannot_be_written_to() {
    let folder = Folder::new();
    folder.write("file", "");
    for what in ["accuracy", "speed"] {
        let bench = |output: &str| folder.run(&["bench", what, "-o", output]);
        bench("file").fails_with(2, "file: is not a folder");
        bench("file/below").fails_with(2, "file/below: ");
        bench("-").fails_with(2, "standard output");
    }
    folder.run(&["bench"]).fails(2);
    folder.run(&["bench", "beauty"]).fails_with(2, "beauty");
    folder.run(&["bench", "accuracy", "--runs", "0"]).fails_with(2, "--runs");
    assert_eq!(folder.names(), ["file"]);
}

//! Tests of `bench` on the command line. They never check running times.

use crate::common;

use common::Folder;
use serde_json::Value;

const PROBLEM: &str = r#"{"kind": "allocation-problem", "resources": ["cpu", "memory"],
    "servers": [{"name": "a", "capacity": {"cpu": 2, "memory": 12}}, {"name": "b", "capacity": {"cpu": 12, "memory": 2}}],
    "users": [{"name": "u1", "demand": {"cpu": "1/5", "memory": 1}}, {"name": "u2", "weight": 3, "demand": {"cpu": 1, "memory": 0.2}}]}"#;

/// Removes the fields that differ between two runs: times, memory and the number of threads.
fn timeless(mut document: Value) -> Value {
    document["threads"].take();
    for record in document["records"].as_array_mut().unwrap() {
        assert!(record["seconds"].take().as_f64().unwrap() > 0.0);
        record["memory"].take();
    }
    document
}

#[test]
fn bench_accuracy_writes_json() {
    let folder = Folder::new();
    folder.write("problem.json", PROBLEM);
    let call = ["bench", "accuracy", "--runs", "1", "--format", "json", "--problem", "problem.json"];
    let run = |more: &[&str]| folder.run(&[&call, more].concat()).ends_with(0);
    let output = run(&["-o", "made/here", "--quiet"]);
    assert_eq!(output.stderr, "");
    let document = output.json();
    assert_eq!((document["kind"].as_str(), document["limit"].as_f64()), (Some("accuracy"), Some(10.0)));
    let mut names: Vec<String> = std::fs::read_dir(folder.path().join("made/here"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    let files =
        ["accuracy.csv", "accuracy.json", "accuracy.md", "accuracy.tex", "index.html", "profiles.svg"];
    assert_eq!(names, [&files[..], &["references", "references.json", "work-precision.svg"]].concat());
    let known: Value = serde_json::from_str(&folder.read("made/here/references.json")).unwrap();
    let known = known["references"].as_array().unwrap();
    assert_eq!(known.len(), 8);
    for reference in known.iter().filter(|reference| reference["kind"] != "ps-dsf") {
        assert!(reference["objective"].is_string() && reference["error_bound"].as_f64().unwrap() < 1e-100);
    }
    assert_eq!(folder.read("made/here/accuracy.json"), output.stdout);
    let records = document["records"].as_array().unwrap();
    let kinds: std::collections::BTreeSet<&str> =
        records.iter().map(|record| record["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds.len(), 8, "{kinds:?}");
    for record in records {
        assert_eq!(record["instance"], "problem");
        let of = |name: &str| record[name].as_f64();
        if record["contender"] == "doubles" && record["kind"] != "whole" {
            assert_eq!(
                (record["status"].as_str(), record["wrong_verdicts"].as_u64()),
                (Some("solved"), Some(0))
            );
            assert!(of("error").or(of("objective_error")).unwrap_or(0.0) < 1e-9, "{record}");
        }
    }
    // Every reference is saved as a certificate.
    let references = std::fs::read_dir(folder.path().join("made/here/references")).unwrap();
    let mut count = 0;
    for reference in references {
        let path = reference.unwrap().path();
        folder
            .run(&[
                "check",
                path.to_str().unwrap(),
                "--sharing",
                if path.to_string_lossy().contains("market") { "tdm" } else { "rdm" },
            ])
            .ends_with(0);
        count += 1;
    }
    assert_eq!(count, 8);
    let other = run(&["--threads", "1"]);
    assert_eq!(timeless(document), timeless(other.json()), "the answers depend on the threads");
}

#[test]
fn bench_accuracy_prints_a_table_with_an_external_program() {
    let folder = Folder::new();
    folder.write("problem.json", PROBLEM);
    folder.write("answer.json", r#"{"kind": "allocation", "tasks": {"u1": {"a": 1}}, "status": "optimal"}"#);
    let path = folder.path().join("answer.json");
    let lazy = format!("lazy=cp '{}' {{answer}}; : {{problem}}", path.display());
    let call = ["bench", "accuracy", "--runs", "1", "--seconds", "5", "--problem", "problem.json"];
    let solvers = ["--solver", &lazy, "--solver", "broken=exit 3; {problem} {answer}"];
    let output = folder.run(&[&call[..], &solvers].concat()).ends_with(0);
    for word in ["lazy", "off by", "broken", "exit status 3", "failed", "interior-point", "too kind"] {
        assert!(output.stdout.contains(word), "`{word}` is not in {}", output.stdout);
    }
    assert_eq!(output.stderr, "", "progress where no terminal is");
}

const PLANTS: &str = include_str!("../../../../examples/linear-programme.mps");
/// No value of x is at least 2 and at most 1.
const INFEASIBLE: &str =
    "NAME\nROWS\n N c\n G r\nCOLUMNS\n x c 1 r 1\nRHS\n rhs r 2\nBOUNDS\n UP bnd x 1\nENDATA\n";
/// The optimum of the relaxation is 3/2.
const WHOLE: &str = "NAME\nROWS\n N c\n G r\nCOLUMNS\n m 'MARKER' 'INTORG'\n x c 1 r 2\n m 'MARKER' 'INTEND'\n\
    RHS\n rhs r 3\nENDATA\n";

fn netlib() -> Folder {
    let folder = Folder::new();
    std::fs::create_dir(folder.path().join("data")).unwrap();
    for (name, text) in [("plants", PLANTS), ("infeasible", INFEASIBLE), ("whole", WHOLE)] {
        folder.write(&format!("data/{name}.mps"), text);
    }
    folder.write("data/README", "no programme");
    folder
}

#[test]
fn bench_accuracy_solves_a_folder_of_linear_programmes() {
    let folder = netlib();
    let call = ["bench", "accuracy", "--suite", "netlib", "--data", "data", "--runs", "1", "--seconds", "20"];
    let more = ["--format", "json", "-o", "made", "--solver"];
    let lies = "lies=grep -q ENDATA {mps} && echo '# status unbounded' > {answer}";
    let output = folder.run(&[&call[..], &more, &[lies]].concat()).ends_with(0);
    assert!(output.stderr.contains("note: whole: some columns have to be integers"), "{}", output.stderr);
    let document = output.json();
    assert_eq!(document["suite"], serde_json::json!({"name": "netlib", "programmes": 3}));
    assert_eq!(
        (&document["unanswered"], document["exact_limit"].as_f64()),
        (&serde_json::json!([]), Some(60.0))
    );
    let records = document["records"].as_array().unwrap();
    let of = |instance: &str, contender: &str| -> &Value {
        let is_it = |record: &&Value| record["instance"] == instance && record["contender"] == contender;
        records.iter().find(is_it).unwrap_or_else(|| panic!("{instance} {contender}"))
    };
    for contender in ["highs-simplex", "highs-ipm-crossover", "microlp"] {
        for (instance, is, relaxed) in
            [("plants", "optimal", false), ("infeasible", "infeasible", false), ("whole", "optimal", true)]
        {
            let record = of(instance, contender);
            let programme = &record["programme"];
            assert_eq!(
                (programme["says"].as_str(), programme["is"].as_str()),
                (Some(is), Some(is)),
                "{record}"
            );
            assert_eq!(
                (programme["wrong_status"].as_bool(), programme["relaxed"].as_bool()),
                (Some(false), Some(relaxed))
            );
            assert!(record["objective_error"].as_f64().is_none_or(|off| off < 1e-9), "{record}");
        }
    }
    assert!(records.iter().all(|record| record["kind"] == "linear-programme"));
    for instance in ["plants", "infeasible", "whole"] {
        assert_eq!(of(instance, "lies")["programme"]["wrong_status"], true);
        assert_eq!(of(instance, "lies")["violation"], Value::Null);
    }
    let html = folder.read("made/index.html");
    assert!(html.contains("Errors by linear programme") && html.contains("says unbounded"));
    assert!(folder.read("made/accuracy.md").contains("Columns that have to be integers are relaxed"));
    let known: Value = serde_json::from_str(&folder.read("made/references.json")).unwrap();
    let known = known["references"].as_array().unwrap();
    let answers: Vec<_> = known.iter().map(|of| (of["objective"].as_str(), of["status"].as_str())).collect();
    let optimal = Some("optimal");
    assert_eq!(answers, [(None, Some("infeasible")), (Some("36"), optimal), (Some("3/2"), optimal)]);
    // Exact answers are saved as certificates that the kernel accepts. Later runs read these certificates.
    let saved: Vec<_> = std::fs::read_dir(folder.path().join("made/references")).unwrap().collect();
    assert_eq!(saved.len(), 3);
    for path in saved {
        folder.run(&["check", path.unwrap().path().to_str().unwrap()]).ends_with(0);
    }
    let again = folder.run(&[&call[..], &more, &[lies]].concat()).ends_with(0).json();
    assert_eq!(again["records"].as_array().unwrap().len(), records.len());
}

#[test]
fn bench_accuracy_solves_a_given_linear_programme() {
    let folder = netlib();
    let path = folder.path().join("plants.sol");
    folder.write("plants.sol", include_str!("../../../../examples/linear-programme.sol"));
    let mine = format!("mine=cp '{}' {{answer}}; : {{mps}}", path.display());
    let call = ["bench", "accuracy", "--problem", "data/plants.mps", "--runs", "1", "--seconds", "20"];
    let document =
        folder.run(&[&call[..], &["--solver", &mine, "--format", "json"]].concat()).ends_with(0).json();
    let record = document["records"].as_array().unwrap().last().unwrap();
    assert_eq!((&record["contender"], &record["status"]), (&"mine".into(), &"solved".into()), "{record}");
    // The answer violates the row plant3, whose bound is 18, by 3e-9. Its objective is too good by 3e-9, and
    // the optimum is 36.
    assert_eq!(record["programme"]["row_violation"], serde_json::json!({"row": "plant3", "by": 3e-9}));
    assert!((1e-11..1e-9).contains(&record["objective_error"].as_f64().unwrap()), "{record}");
    let text = folder.run(&[&call[..], &["--solver", "broken=exit 3; {mps} {answer}"]].concat()).ends_with(0);
    for words in ["plants", "highs-simplex", "broken", "exit status 3", "linear programme"] {
        assert!(text.stdout.contains(words), "`{words}` is not in {}", text.stdout);
    }
    // A JSON document can contain a programme too.
    let json = r#"{"kind": "linear-programme", "direction": "maximise", "rows": [{"name": "r", "upper": 3}],
        "columns": [{"name": "x", "cost": 1, "lower": 0, "entries": {"r": 2}}]}"#;
    folder.write("one.json", json);
    let call = ["bench", "accuracy", "--problem", "one.json", "--runs", "1", "--seconds", "20"];
    let document = folder.run(&[&call[..], &["--format", "json"]].concat()).ends_with(0).json();
    assert!(document["records"].as_array().unwrap().iter().all(|record| record["instance"] == "one"));
}

/// A programme whose exact answer takes too long is named in every format of the result.
#[test]
fn programmes_without_an_exact_answer_are_named() {
    let folder = netlib();
    let call = ["bench", "accuracy", "--suite", "netlib", "--data", "data", "--exact-seconds", "1e-9"];
    let output = folder.run(&[&call[..], &["--format", "json", "-o", "made"]].concat()).ends_with(0);
    let document = output.json();
    let names: Vec<&str> = document["unanswered"]
        .as_array()
        .unwrap()
        .iter()
        .map(|of| of["instance"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["infeasible", "plants", "whole"]);
    assert!(document["records"].as_array().unwrap().is_empty());
    assert!(output.stderr.contains("plants"), "{}", output.stderr);
    for question in document["unanswered"].as_array().unwrap() {
        assert!(question["why"].as_str().unwrap().contains("--exact-seconds raises the limit"), "{question}");
    }
    assert!(folder.read("made/index.html").contains("Without an exact answer"));
    let text = folder.run(&call).ends_with(0).stdout;
    assert!(text.contains("Without an exact answer") && text.contains("plants"), "{text}");
}

#[test]
fn refuses_unreadable_folders_of_linear_programmes() {
    let folder = netlib();
    let bench = |arguments: &[&str]| folder.run(&[&["bench", "accuracy"], arguments].concat());
    bench(&["--suite", "netlib"]).fails_with(2, "--data DIR");
    bench(&["--data", "data"]).fails_with(2, "--suite");
    bench(&["--suite", "small", "--data", "data"]).fails_with(2, "--suite netlib");
    bench(&["--suite", "small", "--exact-seconds", "3"]).fails_with(2, "--exact-seconds");
    bench(&["--suite", "netlib", "--data", "missing"]).fails_with(2, "missing: ");
    bench(&["--suite", "netlib", "--data", "."]).fails_with(2, ".: no file ends in .mps");
    bench(&["--suite", "netlib", "--data", "data", "--kind", "pool"]).fails_with(2, "--kind pool");
    bench(&["--problem", "data/plants.mps", "--kind", "pool"]).fails_with(2, "--kind pool");
    bench(&["--problem", "missing.mps"]).fails_with(2, "missing.mps");
    folder.write("data/broken.mps", PLANTS.replace(" L  plant2", " L  plant1"));
    bench(&["--problem", "data/broken.mps"]).fails_with(2, "broken.mps:8: the row `plant1` is stated twice");
    bench(&["--suite", "netlib", "--data", "data"]).fails_with(2, "broken.mps:8: ");
    folder.run(&["bench", "speed", "--exact-seconds", "3"]).fails_with(2, "bench accuracy");
}

#[test]
fn bench_accuracy_refuses_unsuitable_problems_and_options() {
    let folder = Folder::new();
    folder.write("problem.json", PROBLEM);
    folder.write("grouped.json", PROBLEM.replace("\"users\"", "\"groups\": [{\"name\": \"g\"}], \"users\""));
    let bench = |arguments: &[&str]| folder.run(&[&["bench", "accuracy"], arguments].concat());
    bench(&["--problem", "grouped.json"]).fails_with(2, "the users are in groups");
    bench(&["--problem", "missing.json"]).fails_with(2, "missing.json");
    bench(&["--problem", "problem.json", "--suite", "small"]).fails_with(2, "--suite");
    bench(&["--suite", "huge"]).fails_with(2, "huge");
    bench(&["--seconds", "0", "--problem", "problem.json"]).fails_with(2, "--seconds");
    bench(&["--worker"]).fails_with(2, "EOF");
    bench(&["--solver", "mine", "--problem", "problem.json"]).fails_with(2, "NAME=COMMAND");
    bench(&["--solver", "mine=x {problem}", "--problem", "problem.json"]).fails_with(2, "{answer}");
    folder.run(&["bench", "speed", "--suite", "small"]).fails_with(2, "bench accuracy");
    folder.run(&["bench", "speed", "--seconds", "3"]).fails_with(2, "bench accuracy");
}

#[test]
fn bench_speed_writes_json() {
    let folder = Folder::new();
    let output = folder.run(&["bench", "speed", "--runs", "1", "--format", "json", "-o", "."]).ends_with(0);
    let document = output.json();
    assert_eq!(document["kind"], "speed");
    assert_eq!(folder.names(), ["index.html", "speed.json"]);
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
fn bench_refuses_unwritable_folders() {
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

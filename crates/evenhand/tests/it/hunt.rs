//! Tests of `evenhand hunt`: its results and files, interruptions, and refused input.

use crate::common;

use common::Folder;
use serde_json::{Value, json};

const SMALL: [&str; 10] =
    ["hunt", "--types", "3", "--resources", "3", "--capacity", "2", "--rewards", "2", "--exhaustive"];
const LOCAL: [&str; 9] = ["hunt", "--types", "4", "--resources", "3", "--capacity", "4", "--rewards", "20"];

fn joined<'a>(base: &[&'a str], more: &[&'a str]) -> Vec<&'a str> {
    base.iter().chain(more).copied().collect()
}

/// For three types with the structure of Appendix C, the ratio is at most `1 - (1 - 1/2)^2 = 3/4`.
#[test]
fn an_exhaustive_search_writes_its_results() {
    let folder = Folder::new();
    let more = ["--format", "json", "-o", "worst.json", "--certificate", "c.json"];
    let run = folder.run(&joined(&SMALL, &more)).ends_with(0);
    let found = run.json();
    assert_eq!(found["searched"]["complete"], json!(true));
    assert_eq!(found["searched"]["covered"], json!((26u64 * 2).pow(3).to_string()));
    assert_eq!(found["below_limit"], json!(false));
    assert_eq!(found["found"]["ratio"], found["list"][0]["ratio"]);
    assert_eq!(found["found"]["ratio"], json!("3/4"));
    assert_eq!(found["shrunk"]["ratio"], json!("3/4"));
    let counts = |name: &str| found["searched"][name].as_u64().unwrap();
    assert_eq!(counts("examined"), counts("discarded_at_once") + counts("discarded") + counts("evaluated"));

    // The files agree with the printed result.
    let ratio = folder.run(&["ratio", "worst.json", "--format", "json"]).ends_with(0).json();
    assert_eq!(ratio["ratio"], json!("3/4"));
    assert_eq!(ratio["greedy"], found["shrunk"]["greedy"]);
    let check = folder.run(&["check", "c.json", "--problem", "worst.json", "--format", "json"]).ends_with(0);
    assert_eq!(check.json()["valid"], json!(true));

    let table = folder.run(&SMALL).ends_with(0);
    assert!(table.stdout.contains("no ratio below 1 - 1/e"), "{}", table.stdout);
    assert!(table.stdout.contains("complete: settles 140608 instances"), "{}", table.stdout);
}

fn without_time(mut document: Value) -> Value {
    document.as_object_mut().unwrap().remove("seconds");
    document
}

#[test]
fn threads_and_interruptions_do_not_change_results() {
    let folder = Folder::new();
    // The exhaustive search is so large that 4000 steps cover only a few of its batches.
    let all = ["hunt", "--types", "3", "--resources", "2", "--exhaustive"];
    for base in [LOCAL.as_slice(), &all] {
        let whole = joined(base, &["--format", "json", "--seed", "3", "--steps", "4000"]);
        let one = folder.run(&joined(&whole, &["--threads", "1"])).ends_with(0).json();
        assert_eq!(one["searched"]["complete"], json!(false));
        let two = folder.run(&joined(&whole, &["--threads", "3"])).ends_with(0).json();
        assert_eq!(without_time(one.clone()), without_time(two));
        let name = format!("state-{}.json", base.len());
        let resumed = joined(base, &["--format", "json", "--seed", "3", "--resume", &name]);
        folder.run(&joined(&resumed, &["--steps", "1000"])).ends_with(0);
        let last = folder.run(&joined(&resumed, &["--steps", "4000"])).ends_with(0).json();
        assert_eq!(without_time(one), without_time(last));
    }
}

#[test]
fn at_most_sets_the_threshold_for_shrinking() {
    let folder = Folder::new();
    let size = |more: &[&str]| {
        let document = folder.run(&joined(&SMALL, &joined(more, &["--format", "json"]))).ends_with(0).json();
        document["shrunk"]["decimal"].as_f64().unwrap()
    };
    assert!(size(&[]) <= 0.75);
    assert!(size(&["--at-most", "9/10"]) <= 0.9);
    for bad in ["0", "1", "-1/2", "x", "3/2"] {
        folder.run(&joined(&SMALL, &["--at-most", bad])).ends_with(2);
    }
}

#[test]
fn one_type_alone_always_packs_optimally() {
    let folder = Folder::new();
    let alone = ["hunt", "--types", "1", "--resources", "1", "--exhaustive", "--format", "json"];
    let run = folder.run(&joined(&alone, &["-o", "none.json"])).ends_with(0);
    let document = run.json();
    assert_eq!(document["found"], Value::Null);
    assert_eq!(document["list"], json!([]));
    assert!(run.stderr.contains("nothing is written"), "{}", run.stderr);
    assert!(folder.run(&["ratio", "none.json"]).status == 2);
}

#[test]
fn refuses_wrong_options_and_states() {
    let folder = Folder::new();
    let bad: [&[&str]; 11] = [
        &["--types", "0"],
        &["--types", "9"],
        &["--resources", "11"],
        &["--capacity", "0"],
        &["--rewards", "0"],
        &["--rewards", "-1"],
        &["--keep", "0"],
        &["--keep", "101"],
        &["--types", "6", "--resources", "6", "--capacity", "9", "--exhaustive"],
        &["--resume", "-"],
        &["-o", "a.json", "--certificate", "a.json"],
    ];
    for options in bad {
        let run = folder.run(&joined(&["hunt"], options)).ends_with(2);
        assert!(run.error_line().starts_with("error: "), "{options:?}: {run:?}");
    }
    folder.run(&joined(&LOCAL, &["--steps", "800", "--resume", "s.json"])).ends_with(0);
    // The options differ from those of the saved hunt.
    let run =
        folder.run(&joined(&LOCAL, &["--steps", "800", "--resume", "s.json", "--seed", "1"])).ends_with(2);
    assert!(run.error_line().contains("other options"), "{run:?}");
    let run =
        folder.run(&joined(&LOCAL, &["--steps", "800", "--resume", "s.json", "-o", "s.json"])).ends_with(2);
    assert!(run.error_line().contains("replace an input"), "{run:?}");
    for text in ["", "{}", "{\"kind\": \"hunt-state\"}", "[1, 2"] {
        folder.write("broken.json", text);
        folder.run(&joined(&LOCAL, &["--resume", "broken.json"])).ends_with(2);
    }
}

//! Tests of `sweep`: the lines are the same in one run, in several parts, and after any interruption.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::common;

use common::{FIGURE_1, Folder, ONE_SERVER, finish};
use serde_json::{Value, json};

/// Two problems with the same variations, under three mechanisms. The mechanism `drf` applies only to a
/// single server.
const GRID: &str = r#"{"kind": "sweep", "problems": ["a-*.json"],
  "vary": {"/users/0/weight": [1, "7/2"], "/servers/0/count": [1,
    3]},
  "mechanisms": ["drfh", {"mechanism": "alpha", "name": "a = 2", "settings": {"alpha": 2}}, "drf"]}"#;
const LINES: usize = 24;

fn with_grid(grid: &str) -> Folder {
    let folder = Folder::new();
    folder.write("a-1.json", FIGURE_1);
    folder.write("a-2.json", ONE_SERVER);
    folder.write("grid.json", grid);
    folder
}

/// Returns the first line of the file with the collected lines of this grid and part.
fn header(folder: &Folder, part: &str) -> String {
    let summary = folder.run(&["sweep", "grid.json", "-o", "for-header", "--format", "json"]).json();
    json!({"kind": "sweep-part", "version": 1, "grid": summary["grid"], "part": part}).to_string() + "\n"
}

fn whole_sweep(folder: &Folder) -> String {
    folder.run(&["sweep", "grid.json", "-o", "whole.jsonl"]).ends_with(0);
    folder.read("whole.jsonl")
}

fn values(lines: &str) -> Vec<Value> {
    lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn lines_follow_the_order_of_the_grid() {
    let folder = with_grid(GRID);
    let lines = whole_sweep(&folder);
    assert_eq!(folder.names(), ["a-1.json", "a-2.json", "grid.json", "whole.jsonl"]);
    let lines = values(&lines);
    assert_eq!(lines.len(), LINES);
    let mut expected = Vec::new();
    for number in 0..8 {
        for mechanism in ["drfh", "a = 2", "drf"] {
            let weight = if number % 4 < 2 { json!(1) } else { json!("7/2") };
            let count = if number % 2 == 0 { 1 } else { 3 };
            let varied = json!({"/users/0/weight": weight, "/servers/0/count": count});
            expected.push((json!(number), json!(mechanism), varied));
        }
    }
    let found: Vec<_> = lines
        .iter()
        .map(|line| (line["number"].clone(), line["mechanism"].clone(), line["varied"].clone()))
        .collect();
    assert_eq!(found, expected);
    assert_eq!(lines[1]["settings"], json!({"alpha": "2"}));
    assert_eq!(lines[0]["tasks"], json!({"user 1": "10", "user 2": "10"}));
    assert_eq!(lines[0]["axioms"]["max-min:drfh"]["verdict"], "holds");
    assert!(lines[2]["not_applicable"].as_str().unwrap().contains("one server"));
    assert_ne!(lines[0]["sha256"], lines[3]["sha256"]);
}

#[test]
fn shards_add_up_to_the_whole_sweep() {
    let folder = with_grid(GRID);
    let whole = whole_sweep(&folder);
    assert_eq!(folder.run(&["sweep", "grid.json"]).ends_with(0).stdout, whole);
    assert_eq!(folder.run(&["sweep", "grid.json", "-o", "-", "--threads", "2"]).ends_with(0).stdout, whole);
    for parts in [1, 4, 7, 30] {
        let part = |number: usize| {
            let name = format!("{number}.jsonl");
            folder
                .run(&["sweep", "grid.json", "--part", &format!("{number}/{parts}"), "-o", &name])
                .ends_with(0);
            folder.read(&name)
        };
        assert_eq!((1..=parts).map(part).collect::<String>(), whole, "{parts}");
    }
    // Paths are relative to the folder of the grid.
    std::fs::create_dir(folder.path().join("sub")).unwrap();
    folder.write("sub/grid.json", GRID.replace("a-*", "../a-*"));
    assert_eq!(folder.run(&["sweep", "sub/grid.json"]).ends_with(0).stdout, whole);
}

#[test]
fn a_sweep_resumes_after_its_last_complete_line() {
    let folder = with_grid(GRID);
    let (whole, header) = (whole_sweep(&folder), header(&folder, "1/1"));
    let all = header.clone() + &whole;
    let ends = all.match_indices('\n').map(|(at, _)| at + 1);
    // The file is cut after a line, inside a line, before the line break of a line, and inside the header.
    let cuts = ends.flat_map(|end| [end, end - 1, (end + 40).min(all.len())]).step_by(2);
    for cut in cuts.chain([0, 1, header.len() / 2]) {
        folder.write("l.jsonl.part", &all[..cut]);
        folder.run(&["sweep", "grid.json", "-o", "l.jsonl"]).ends_with(0);
        assert_eq!(folder.read("l.jsonl"), whole, "cut at {cut}");
        std::fs::remove_file(folder.path().join("l.jsonl")).unwrap();
        assert!(!folder.path().join("l.jsonl.part").exists());
    }
}

#[test]
fn a_killed_sweep_resumes() {
    let weights: Vec<usize> = (1..=200).collect();
    let folder = with_grid(&GRID.replace("[1, \"7/2\"]", &format!("{weights:?}")));
    let whole = whole_sweep(&folder);
    let mut kills = 0;
    for round in 0..40 {
        let mut child = folder.command(&["sweep", "grid.json", "-o", "l.jsonl", "--quiet"]);
        let mut child = child.stdout(std::process::Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(20 + 7 * round));
        child.kill().unwrap();
        if child.wait().unwrap().success() {
            break;
        }
        kills += 1;
    }
    folder.run(&["sweep", "grid.json", "-o", "l.jsonl"]).ends_with(0);
    assert!(kills > 0 && folder.read("l.jsonl") == whole);
}

#[test]
fn refuses_to_continue_another_sweep() {
    let folder = with_grid(GRID);
    let (whole, header) = (whole_sweep(&folder), header(&folder, "1/1"));
    let lines: Vec<&str> = whole.lines().collect();
    let refused = |part: String, message: &str, more: &[&str]| {
        folder.write("l.jsonl.part", &part);
        let call = [&["sweep", "grid.json", "-o", "l.jsonl"], more].concat();
        let output = folder.run(&call).fails_with(2, message);
        assert!(output.stderr.contains("remove the file"), "{}", output.stderr);
        assert_eq!(folder.read("l.jsonl.part"), part, "it is left as it was");
    };
    let other = "l.jsonl.part:1: the file belongs to another";
    refused("something else\n".to_owned(), other, &[]);
    refused("something".to_owned(), other, &[]);
    refused(header.clone(), other, &["--part", "1/2"]);
    refused(header.clone(), other, &["--seed", "1"]);
    refused(format!("{header}poem\n"), "l.jsonl.part:2: this is not a line of a sweep", &[]);
    refused(
        format!("{header}{}\n{}\n", lines[0], lines[2]),
        "l.jsonl.part:3: this line differs from line 2 of the grid",
        &[],
    );
    refused(format!("{header}{whole}{}\n", lines[0]), "l.jsonl.part:26: the file has more lines", &[]);
    // The first problem has changed.
    folder.write("a-1.json", FIGURE_1.replace("12", "13"));
    refused(format!("{header}{}\n", lines[0]), "l.jsonl.part:2: this line differs from line 1", &[]);
    folder.write("grid.json", GRID.replace("drfh", "tsf"));
    refused(header, other, &[]);
}

#[test]
fn wrong_grids_are_refused_with_the_place() {
    let long = format!(
        r#"{{"kind": "sweep", "problems": ["a-1.json"], "mechanisms": ["drfh"], "vary": {{{}}}}}"#,
        {
            let axis = |k: usize| format!("\"/users/0/{k}\": {:?}", (0..1000).collect::<Vec<usize>>());
            (0..4).map(axis).collect::<Vec<_>>().join(",")
        }
    );
    let of = |fields: &str| format!(r#"{{"kind": "sweep", {fields}}}"#);
    let with = |field: &str| of(&format!(r#""problems": ["a-1.json"], "mechanisms": ["drfh"], {field}"#));
    let by = |mechanism: &str| of(&format!(r#""problems": ["a-1.json"], "mechanisms": [{mechanism}]"#));
    let wrong = [
        (String::new(), "grid.json:1:1: the file is empty"),
        ("[]".to_owned(), "expected an object"),
        (FIGURE_1.to_owned(), "kind: this file is of the kind `allocation-problem`: expected `sweep`"),
        (of(r#""problems": ["a-1.json"]"#), "the field `mechanisms` is missing"),
        (of(r#""mechanisms": ["drfh"]"#), "the field `problems` is missing"),
        (with(r#""axiom": []"#), "unknown field `axiom`"),
        (of(r#""problems": [], "mechanisms": ["drfh"]"#), "problems: found an empty list"),
        (of(r#""problems": [7], "mechanisms": ["drfh"]"#), "problems[0]: found a number: expected a string"),
        (of(r#""problems": [""], "mechanisms": ["drfh"]"#), "problems[0]: found ``: expected the path"),
        (of(r#""problems": ["x*"], "mechanisms": ["drfh"]"#), "problems[0]: no file fits the pattern `x*`"),
        (of(r#""problems": ["a***"], "mechanisms": ["drfh"]"#), "problems[0]: `a***` is not a valid pattern"),
        (of(r#""problems": ["a-1.json"], "mechanisms": []"#), "mechanisms: found an empty list"),
        (by("\"drhf\""), "mechanisms[0]: there is no mechanism `drhf`"),
        (by(r#"{"name": "x"}"#), "mechanisms[0]: the field `mechanism` is missing"),
        (by(r#"{"mechanism": "drfh", "alpha": 2}"#), "mechanisms[0].alpha: unknown field"),
        (
            by(r#"{"mechanism": "drfh", "settings": {"alpha": 2}}"#),
            "settings.alpha: the mechanism `drfh` has no setting",
        ),
        (
            by(r#"{"mechanism": "alpha", "settings": {"alpha": "x"}}"#),
            "mechanisms[0].settings.alpha: --alpha",
        ),
        (by(r#"{"mechanism": "alpha", "settings": {"alpha": true}}"#), "settings.alpha: found true"),
        (by(r#"{"mechanism": "alpha", "settings": {"alpha": null}}"#), "mechanisms[0].settings.alpha"),
        (
            by(r#"{"mechanism": "njc", "settings": {"select": "best"}}"#),
            "settings.select: found `best`: expected one of",
        ),
        (by(r#"{"mechanism": "njc", "settings": {"faces": 1}}"#), "settings.faces: expected true or false"),
        (with(r#""axioms": ["envy"]"#), "axioms[0]: there is no axiom `envy`"),
        (with(r#""axioms": "envy-free""#), "axioms: found a string: expected a list"),
        (with(r#""tolerance": 1"#), "tolerance: found 1: expected a number from 0 to below 1"),
        (with(r#""certify": false, "axioms": []"#), "axioms: `axioms` has no meaning"),
        (with(r#""exact": 1"#), "exact: found a number: expected true or false"),
        (with(r#""vary": {"users": [1]}"#), "expected a JSON pointer"),
        (with(r#""vary": {"/users/0/weight": []}"#), "found an empty list: expected values"),
        (with(r#""vary": {"/users/5/weight": [1]}"#), "the problem has no `5` there"),
        (with(r#""vary": {"/groups/0/weight": [1]}"#), "the problem has no `groups` there"),
        (long, "expected at most 1000000000"),
    ];
    for (grid, message) in wrong {
        let folder = with_grid(&grid);
        folder.run(&["sweep", "grid.json", "-o", "l.jsonl"]).fails_with(2, message);
        assert_eq!(folder.names(), ["a-1.json", "a-2.json", "grid.json"], "{message}");
    }
    let folder = with_grid(GRID);
    folder.run(&["sweep", "grid.json", "--part", "0/3"]).fails(2);
    folder.run(&["sweep", "grid.json", "-o", "grid.json"]).fails_with(2, "would replace an input");
    folder.run(&["sweep", "grid.json", "-o", "a-2.json"]).fails_with(2, "would replace an input");
    folder.run(&["sweep", "nowhere.json"]).fails_with(2, "nowhere.json");
}

#[test]
fn a_failing_line_does_not_end_the_sweep() {
    let folder = with_grid(
        r#"{"kind": "sweep", "problems": ["a-1.json", "missing.json", "wrong.json",
        {"kind": "allocation-problem", "resources": [], "servers": [], "users": 7}, "a-2.json"],
        "mechanisms": ["drf", {"mechanism": "alpha", "settings": {}}]}"#,
    );
    folder.write("wrong.json", FIGURE_1.replace("\"cpu\": 0.2", "\"cpu\": -1"));
    let output = folder.run(&["sweep", "grid.json", "-o", "l.jsonl", "--format", "json"]).ends_with(2);
    assert_eq!(output.error_line(), "error: 8 of 10 lines have no result: their field `failed` says why");
    assert_eq!(output.json()["failed"], json!({"input": 8, "limit": 0, "solver": 0, "defect": 0}));
    let lines = values(&folder.read("l.jsonl"));
    let failed = |at: usize| lines[at]["failed"].as_str().unwrap_or_else(|| panic!("{}", lines[at]));
    assert!(lines[0]["not_applicable"].is_string());
    assert!(failed(1).contains("alpha needs the option --alpha"));
    assert!(failed(2).starts_with("missing.json: "));
    assert!(
        failed(4).starts_with("wrong.json:6:") && failed(4).contains("users[0].demand.cpu: -1 is negative")
    );
    assert!(failed(6).starts_with("grid.json: problems[3]:1:"), "{}", failed(6));
    assert!(lines[2]["sha256"].is_null() && lines[2]["problem"].is_null());
    assert_eq!(lines[8]["status"], "solved");
    // Limits apply to every line. The status is 3, and the lines are still written.
    let folder = with_grid(GRID);
    let output = folder.run(&["sweep", "grid.json", "-o", "l.jsonl", "--work", "1000"]).ends_with(3);
    assert!(output.error_line().contains("lines have no result"));
    let lines = values(&folder.read("l.jsonl"));
    assert!(lines.len() == LINES && lines.iter().any(|line| line["cause"] == "limit"));
    assert!(lines.iter().any(|line| line["not_applicable"].is_string()));
}

/// If work or memory that is not charged exceeds the limits, the clock or the memory of the process ends the
/// process. A new process continues the sweep.
#[cfg(target_os = "linux")]
#[test]
fn a_crashing_line_does_not_end_the_sweep() {
    let amounts = |of: usize, most: usize| json!({"a": of * 7 % most + 1, "b": of * 11 % most + 1, "c": of * 5 % most + 1});
    let large = json!({
        "kind": "allocation-problem",
        "resources": ["a", "b", "c"],
        "servers": (0..60).map(|i| json!({"name": format!("s{i}"), "capacity": amounts(i + 19, 97)})).collect::<Vec<_>>(),
        "users": (0..300).map(|n| json!({"name": format!("u{n}"), "demand": amounts(n, 29)})).collect::<Vec<_>>(),
    });
    let folder = with_grid(
        r#"{"kind": "sweep", "problems": ["large.json", "a-1.json"], "mechanisms": ["proportional", "drfh"]}"#,
    );
    folder.write("large.json", large.to_string());
    let output = folder.run(&["sweep", "grid.json", "-o", "l.jsonl", "--memory", "64MiB"]);
    let lines = values(&folder.read("l.jsonl"));
    assert!(lines.len() == 4 && lines[2]["status"] == "solved" && lines[3]["status"] == "solved");
    let limits = lines.iter().filter(|line| line["cause"] == "limit").count();
    output.ends_with(if limits > 0 { 3 } else { 0 });
}

#[test]
fn a_parquet_table_has_the_same_rows_as_the_lines() {
    let folder = with_grid(GRID);
    folder.run(&["sweep", "grid.json", "-o", "l.parquet"]).ends_with(0);
    let bytes = std::fs::read(folder.path().join("l.parquet")).unwrap();
    assert!(bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1"));
    // An interrupted sweep resumes, and produces the same bytes.
    let (whole, header) = (whole_sweep(&folder), header(&folder, "1/1"));
    folder.write("again.parquet.part", format!("{header}{}", &whole[..whole.len() / 2]));
    folder.run(&["sweep", "grid.json", "-o", "again.parquet"]).ends_with(0);
    assert_eq!(std::fs::read(folder.path().join("again.parquet")).unwrap(), bytes);
}

fn examples() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").canonicalize().unwrap()
}

/// Runs a job file by bash in a folder with the files that the job needs. The program is on its path.
fn job(script: &str, environment: &[(&str, &str)]) -> Folder {
    let folder = Folder::new();
    let grid = std::fs::read_to_string(examples().join("sweeps/grid.json")).unwrap();
    folder.write("grid.json", grid.replace("../two-servers", "two-servers"));
    std::fs::copy(examples().join("two-servers.json"), folder.path().join("two-servers.json")).unwrap();
    // This script replaces GNU parallel: it runs the command with every line instead of {}.
    let parallel = r#"#!/bin/bash
command=${@: -1}
while read -r line; do bash -c "${command//\{\}/$line}" </dev/null || exit 1; done
"#;
    folder.write("parallel", parallel);
    folder.write("script.sh", script);
    let run = |words: &[&str]| {
        let mut command = Command::new("bash");
        let program = Path::new(env!("CARGO_BIN_EXE_evenhand")).parent().unwrap();
        let path = std::env::var("PATH").unwrap();
        command.args(words).current_dir(folder.path());
        command.env("PATH", format!("{}:{}:{path}", folder.path().display(), program.display()));
        command.envs(environment.iter().copied()).env("SWEEP", folder.path());
        finish(command, b"", Duration::from_secs(60)).ends_with(0);
    };
    let made = Command::new("chmod").arg("+x").arg(folder.path().join("parallel")).status().unwrap();
    assert!(made.success());
    run(&["-n", "script.sh"]);
    run(&["script.sh", "3"]);
    // The second run computes no line that already exists.
    run(&["script.sh", "3"]);
    folder
}

#[test]
fn the_job_files_compute_all_shards() {
    let read = |name: &str| std::fs::read_to_string(examples().join("sweeps").join(name)).unwrap();
    let whole = {
        let output = Folder::new().run(&["sweep", &examples().join("sweeps/grid.json").to_string_lossy()]);
        output.ends_with(0).stdout
    };
    assert_eq!(whole.lines().count(), 18);
    let parallel = job(&read("parallel.sh"), &[]);
    assert_eq!(parallel.read("lines.jsonl"), whole);
    assert_eq!((1..=3).map(|part| parallel.read(&format!("out/{part}.jsonl"))).collect::<String>(), whole);
    let of_parts = |script: &str, environment: &dyn Fn(usize) -> Vec<(&'static str, String)>| -> String {
        let part = |part: usize| {
            let environment = environment(part);
            let environment: Vec<_> =
                environment.iter().map(|(name, value)| (*name, value.as_str())).collect();
            job(script, &environment).read(&format!("out/{part}.jsonl"))
        };
        (1..=4).map(part).collect()
    };
    let slurm = |part: usize| {
        vec![("SLURM_ARRAY_TASK_ID", part.to_string()), ("SLURM_ARRAY_TASK_COUNT", "4".to_owned())]
    };
    assert_eq!(of_parts(&read("slurm.sh"), &slurm), whole);
    // The script is an indented block in the file.
    let file = read("kubernetes.yaml");
    let block = file.split_once("- |\n").unwrap().1;
    let script =
        block.lines().map_while(|line| line.strip_prefix("              ")).collect::<Vec<_>>().join("\n");
    assert!(script.contains("evenhand sweep"), "{script}");
    let kubernetes =
        |part: usize| vec![("JOB_COMPLETION_INDEX", (part - 1).to_string()), ("PARTS", "4".to_owned())];
    assert_eq!(of_parts(&script, &kubernetes), whole);
}

/// The total number of bytes of all lines is bounded for every grid. A run with a larger bound resumes.
#[test]
fn the_bytes_of_all_lines_are_bounded() {
    let folder = with_grid(GRID);
    let whole = whole_sweep(&folder);
    let bytes = whole.len();
    let run = |most: usize, more: &[&str]| {
        let most = most.to_string();
        folder.run(&[&["sweep", "grid.json", "--most-bytes", &most], more].concat())
    };
    let streamed = run(bytes - 1, &[]).ends_with(3);
    assert!(streamed.error_line().contains("--most-bytes"), "{streamed:?}");
    assert_eq!(
        streamed.stdout,
        whole.lines().take(LINES - 1).map(|line| format!("{line}\n")).collect::<String>()
    );
    assert_eq!(run(bytes, &[]).ends_with(0).stdout, whole);
    // Lines of an earlier run count too.
    for most in [bytes / 2, bytes - 1] {
        run(most, &["-o", "l.jsonl"]).fails_with(3, "the lines have more bytes than --most-bytes allows");
        assert!(!folder.names().contains(&"l.jsonl".to_owned()));
        let written = folder.read("l.jsonl.part").split_once('\n').unwrap().1.len();
        assert!(written > 0 && written <= most, "{written} of {most}");
    }
    run(bytes, &["-o", "l.jsonl"]).ends_with(0);
    assert_eq!(folder.read("l.jsonl"), whole);
    folder.run(&["sweep", "grid.json", "--most-bytes", "much"]).fails_with(2, "500MiB or 200GiB");
}

//! Tests of defects that users reported. Each test checks the correct behaviour. The inputs are in the folder
//! `defects`.

use crate::common;

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use common::{Folder, Output, finish};

const EVENHAND: &str = env!("CARGO_BIN_EXE_evenhand");

/// The limit in KiB on the address space for inputs that try to fill the memory. The program itself,
/// including the stacks of its threads, needs about half of it.
const MEMORY: u32 = 1 << 20;

/// Returns a folder with these inputs.
fn folder(names: &[&str]) -> Folder {
    let folder = Folder::new();
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/defects");
    for name in names {
        folder.write(name, std::fs::read(from.join(name)).unwrap());
    }
    folder
}

/// Runs the program with a limit on its memory.
fn bounded(folder: &Folder, arguments: &[&str]) -> Output {
    let mut command = Command::new("sh");
    let words: Vec<String> = arguments.iter().map(|word| format!("'{word}'")).collect();
    let line = format!("ulimit -v {MEMORY}; exec '{EVENHAND}' --threads 1 {}", words.join(" "));
    command.args(["-c", &line]).current_dir(folder.path());
    finish(command, b"", Duration::from_secs(100))
}

#[test]
fn extreme_numbers_do_not_panic() {
    for name in ["panic-min.json", "cli-1-1.json", "cli-1-2.json", "panic-proportional-2.json"] {
        let folder = folder(&[name]);
        for arguments in [&["-m", "proportional"][..], &["-m", "alpha", "--alpha", "2"]] {
            let output = folder.run(&[&["solve", name, "-o", "x.json"], arguments].concat());
            assert!([0, 3].contains(&output.status), "{name}: {output:?}");
            assert!(!output.stderr.contains("panicked"), "{name}: {output:?}");
        }
        folder.run(&["compare", name, "--seconds", "20"]).ends_with(0);
    }
}

#[test]
fn prices_below_the_least_double_cause_no_division_by_zero() {
    let folder = folder(&["tdm-underflow.json"]);
    let output = folder.run(&["solve", "tdm-underflow.json", "-m", "ps-dsf-tdm"]);
    assert!([0, 3].contains(&output.status), "{output:?}");
    assert!(!output.stderr.contains("division by zero"), "{output:?}");
}

#[test]
fn certificates_of_version_1_are_refused() {
    for name in [
        "pareto-contradiction-yes.cert.json",
        "pareto-contradiction-no.cert.json",
        "bottleneck-order-x.cert.json",
        "max-min-of-an-unwanted-resource.cert.json",
        "infeasible-yet-envy-free.cert.json",
        "time-shared-unseen.cert.json",
        "false-decorations.cert.json",
        "njc-of-a-tiny-server.cert.json",
    ] {
        folder(&[name]).run(&["check", name]).fails_with(2, "version 1");
    }
}

#[test]
fn an_infeasible_allocation_has_the_same_verdict_everywhere() {
    let problem = r#"{"kind": "allocation-problem", "resources": ["cpu", "mem"],
        "servers": [{"name": "s", "capacity": {"cpu": "10", "mem": "10"}}],
        "users": [{"name": "a", "demand": {"cpu": "1"}}, {"name": "b", "tasks": "0", "demand": {"mem": "1"}}]}"#;
    let folder = Folder::with(problem);
    for tasks in [r#"{"a": {"s": 10}, "b": {"s": "-1/2"}}"#, r#"{"a": {"s": 1000}}"#] {
        folder.write("x.json", format!(r#"{{"kind": "allocation", "tasks": {tasks}}}"#));
        let all = ["certify", "problem.json", "x.json", "-o", "c.json", "--format", "json"];
        let output = folder.run(&all).ends_with(1);
        let document = output.json();
        let claims = document["claims"].as_array().unwrap();
        assert_eq!(claims.len(), 1, "{document}");
        assert_eq!((&claims[0]["axiom"], &claims[0]["verdict"]), (&"feasible".into(), &"violated".into()));
        folder.run(&["check", "c.json"]).ends_with(0);
        folder.run(&["check", "c.json", "--require", "envy-free"]).ends_with(1);
    }
}

#[test]
fn verdicts_do_not_depend_on_the_order_of_resources() {
    let x = r#"{"kind": "allocation", "tasks": {"a": {"s": "5/2"}, "b": {"s": "3/2", "t": 1}}}"#;
    let mut found = Vec::new();
    for name in ["bottleneck-order-x.json", "bottleneck-order-y.json"] {
        let folder = folder(&[name]);
        folder.write("x.json", x);
        let certify = ["certify", name, "x.json", "--axiom", "bottleneck-fair", "--format", "json"];
        let output = folder.run(&certify);
        let claim = output.json()["claims"][0].clone();
        found.push((output.status, claim["verdict"].clone(), claim["margin"].clone()));
    }
    assert_eq!(found[0], found[1]);
}

#[test]
fn check_requires_the_share_of_max_min() {
    let problem = r#"{"kind": "allocation-problem", "resources": ["cpu", "gpu"],
        "servers": [{"name": "s", "capacity": {"cpu": 10, "gpu": 1}}],
        "users": [{"name": "a", "demand": {"cpu": 1}}, {"name": "b", "demand": {"cpu": 1}}]}"#;
    let folder = Folder::with(problem);
    folder.write("x.json", r#"{"kind": "allocation", "tasks": {"a": {"s": 10}}}"#);
    let certify = ["certify", "problem.json", "x.json", "--axiom", "max-min:resource:gpu", "-o", "c.json"];
    let output = folder.run(&certify).ends_with(0);
    assert!(output.stdout.contains("max-min (resource:gpu)"), "{output:?}");
    assert!(output.stdout.contains("no user demands it"), "{output:?}");
    let output = folder.run(&["check", "c.json"]).ends_with(0);
    assert!(output.stdout.contains("resource:gpu"), "{output:?}");
    folder.run(&["check", "c.json", "--require", "max-min:drfh"]).ends_with(1);
    folder.run(&["check", "c.json", "--require", "max-min"]).fails_with(2, "needs its parameter");
}

#[test]
fn check_requires_the_stated_kind_of_sharing() {
    let folder = folder(&["time-shared-unseen.json"]);
    let x = r#"{"kind": "allocation", "sharing": "tdm", "tasks": {"a": {"s": 5}, "b": {"s": 5}}}"#;
    folder.write("x.json", x);
    let output = folder.run(&["certify", "time-shared-unseen.json", "x.json", "-o", "c.json"]).ends_with(0);
    assert!(output.stdout.contains("tdm, servers are shared by time"), "{output:?}");
    let refused = folder.run(&["check", "c.json"]).ends_with(1);
    assert!(refused.stdout.contains("tdm"), "{refused:?}");
    folder.run(&["check", "c.json", "--sharing", "tdm"]).ends_with(0);
    folder.run(&["check", "c.json", "--sharing", "rdm"]).ends_with(1);
}

#[test]
fn refuses_unverified_fields_of_the_allocation() {
    let folder = folder(&["false-decorations.cert.json"]);
    let text = folder.read("false-decorations.cert.json").replace("\"version\": 1", "\"version\": 2");
    folder.write("c.json", text);
    folder.run(&["check", "c.json"]).fails_with(2, "allocation");
}

#[test]
fn njc_on_a_cluster_is_reported_as_weak() {
    let problem = r#"{"kind": "allocation-problem", "resources": ["cpu"],
        "servers": [{"name": "tiny", "capacity": {"cpu": 1}}, {"name": "big", "capacity": {"cpu": 1000}}],
        "users": [{"name": "a", "demand": {"cpu": 1}}, {"name": "b", "demand": {"cpu": 1}}]}"#;
    let folder = Folder::with(problem);
    folder.write(
        "x.json",
        r#"{"kind": "allocation", "tasks": {"a": {"tiny": "1/2"}, "b": {"tiny": "1/2", "big": 1000}}}"#,
    );
    let output =
        folder.run(&["certify", "problem.json", "x.json", "--axiom", "njc", "-o", "c.json"]).ends_with(0);
    assert!(output.stdout.contains("weak"), "{output:?}");
    assert!(folder.run(&["check", "c.json"]).ends_with(0).stdout.contains("weak"));
}

#[test]
fn rounding_beyond_a_limit_or_a_capacity_is_repaired_and_decided() {
    for name in ["rounding-limit", "rounding-cap"] {
        let (problem, x) = (format!("{name}.json"), format!("{name}.allocation.json"));
        let folder = folder(&[&problem, &x]);
        let certify = ["certify", &problem, &x, "-o", "c.json", "--format", "json"];
        let document = folder.run(&certify).ends_with(1).json();
        assert_ne!(document["repair"], "0");
        assert!(document.get("undecided").is_none(), "{document}");
        for claim in document["claims"].as_array().unwrap() {
            let expected = match claim["axiom"].as_str().unwrap() {
                "feasible" => "within",
                "pareto-optimal" | "max-min" | "work-conserving" => "violated",
                _ => continue,
            };
            assert_eq!(claim["verdict"], expected, "{name}: {claim}");
        }
        folder.run(&["check", "c.json"]).ends_with(0);
    }
}

#[test]
fn a_linear_fisher_market_is_solved_exactly() {
    let folder = folder(&["fisher-market.json"]);
    folder.run(&["solve", "fisher-market.json", "-m", "proportional", "-o", "x.json"]).ends_with(0);
    let output = folder.run(&["certify", "fisher-market.json", "x.json"]).ends_with(0);
    assert!(output.stdout.contains("tolerance: 0"), "{output:?}");
}

#[test]
fn ratio_takes_bounded_time() {
    for name in [
        "ratio-mem.json",
        "ratio-mem-2.json",
        "ratio-mem-1e12.json",
        "ratio-slow-1091.json",
        "ratio-dense-3000.json",
    ] {
        let folder = folder(&[name]);
        let output = bounded(&folder, &["ratio", name, "-o", "c.json"]);
        assert!([0, 2, 3].contains(&output.status), "{name}: {output:?}");
        if output.status == 0 {
            let size = folder.read("c.json").len();
            assert!(size <= 64 << 20, "{name}: a certificate of {size} bytes");
            bounded(&folder, &["check", "c.json"]).ends_with(0);
        } else {
            let status = output.status;
            output.fails(status);
            assert_eq!(folder.names(), [name], "{name}: nothing half written");
        }
    }
}

#[test]
fn problems_and_certificates_take_memory_in_proportion_to_the_file() {
    let folder = folder(&["bomb-resources-3000.json", "cert-dense-3000.json", "bomb.zst"]);
    bounded(&folder, &["solve", "bomb-resources-3000.json", "-m", "drfh", "-o", "x.json"]).ends_with(0);
    let output = bounded(&folder, &["check", "cert-dense-3000.json"]);
    assert_eq!(output.status, 2, "version 1: {output:?}");
    let text = folder.read("cert-dense-3000.json").replacen("\"version\":1", "\"version\":2", 1);
    folder.write("c.json", text.replacen("\"version\": 1", "\"version\": 2", 1));
    let output = bounded(&folder, &["check", "c.json"]);
    assert!([0, 1, 2].contains(&output.status), "{output:?}");
    let import = ["import", "google", "bomb.zst", "bomb.zst", "-o", "p.json"];
    bounded(&folder, &import).fails(2);
}

/// Each of 3,000 users has its own server and level, so that each price refers to few users and rows.
#[test]
fn levels_take_memory_in_proportion_to_placements() {
    let folder = Folder::new();
    let list = |of: &dyn Fn(usize) -> String| (1..=3000).map(of).collect::<Vec<_>>().join(", ");
    let servers = list(&|i| format!(r#"{{"name": "s{i}", "capacity": {{"c": {i}}}}}"#));
    let users = list(&|i| format!(r#"{{"name": "u{i}", "demand": {{"c": 1}}, "servers": ["s{i}"]}}"#));
    let head = r#"{"kind": "allocation-problem", "resources": ["c"], "servers": ["#;
    folder.write("alone.json", format!("{head}{servers}], \"users\": [{users}]}}"));
    bounded(&folder, &["solve", "alone.json", "-m", "drfh", "-o", "a.json"]).ends_with(0);
    bounded(&folder, &["certify", "alone.json", "a.json", "-o", "c.json"]).ends_with(0);
    bounded(&folder, &["check", "c.json"]).ends_with(0);
    let exported = bounded(&folder, &["export", "c.json", "--to", "coq", "-o", "c.v"]);
    exported.fails_with(3, "numbers: at most 200000");
}

#[test]
fn work_is_bounded() {
    let folder = folder(&["envy-c.json"]);
    let text = folder.read("envy-c.json").replacen("\"version\":1", "\"version\":2", 1);
    folder.write("c.json", text);
    let output = bounded(&folder, &["check", "c.json"]);
    assert!([1, 2, 3].contains(&output.status), "{output:?}");
}

#[test]
fn written_files_can_be_read() {
    let folder = folder(&[
        "exponent.json",
        "exponent.alloc.json",
        "exponent-r.json",
        "google-machine-exp.csv",
        "google-machine-1.csv",
        "google-task-2.csv",
        "google-task-mean.csv",
    ]);
    folder.run(&["certify", "exponent.json", "exponent.alloc.json", "-o", "c.json"]).ends_with(0);
    folder.run(&["check", "c.json"]).ends_with(0);
    let output = folder.run(&["ratio", "exponent-r.json", "-o", "r.json"]);
    match output.status {
        0 => drop(folder.run(&["check", "r.json"]).ends_with(0)),
        _ => drop(output.fails(2)),
    }
    for (machine, task) in
        [("google-machine-exp.csv", "google-task-2.csv"), ("google-machine-1.csv", "google-task-mean.csv")]
    {
        let output = folder.run(&["import", "google", machine, task, "-o", "p.json"]);
        match output.status {
            0 => drop(folder.run(&["solve", "p.json", "-m", "drfh"]).ends_with(0)),
            _ => drop(output.fails(2)),
        }
    }
}

#[test]
fn sparse_constraints_are_solved_exactly() {
    for name in ["sparse-141x30.json", "sparse-400x30.json"] {
        let folder = folder(&[name]);
        for mechanism in ["drfh", "tsf"] {
            folder.run(&["solve", name, "-m", mechanism, "-o", "x.json"]).ends_with(0);
            folder
                .run(&["certify", name, "x.json", "--axiom", "max-min", "--axiom", "pareto-optimal"])
                .ends_with(0);
        }
    }
}

#[test]
fn alpha_terminates_with_an_answer() {
    for (name, alpha) in [("alpha-third.json", "1/3"), ("alpha-limit.json", "10")] {
        let folder = folder(&[name]);
        folder.run(&["solve", name, "-m", "alpha", "--alpha", alpha, "-o", "x.json"]).ends_with(0);
        folder.run(&["certify", name, "x.json", "--axiom", "proportional"]).ends_with(0);
    }
}

#[test]
fn ps_dsf_with_dense_counts_is_solved() {
    let folder = folder(&["ps-dsf-40x40.json"]);
    folder.run(&["solve", "ps-dsf-40x40.json", "-m", "ps-dsf", "-o", "x.json"]).ends_with(0);
    folder.run(&["certify", "ps-dsf-40x40.json", "x.json", "--axiom", "ps-dsf"]).ends_with(0);
}

#[test]
fn sweeps_of_time_shared_servers_are_not_reported_as_optimal() {
    let folder = folder(&["tdm-sweep.json"]);
    let solve = ["solve", "tdm-sweep.json", "-m", "ps-dsf-tdm", "--method", "sweep", "-o", "x.json"];
    let output = folder.run(&solve);
    if output.status == 0 {
        assert!(!output.stdout.starts_with("ps-dsf-tdm: exact\n"), "{output:?}");
    } else {
        output.fails(2);
    }
}

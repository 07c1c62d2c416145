//! Tests of `verdict`, `what-if` and `moves` on small clusters: their output, exit status and files.

use std::collections::BTreeMap;

use crate::common::Folder;

use evenhand_testkit::clusters::{ClusterSize, write_cluster};
use serde_json::{Value, json};

const CLUSTER: &str = include_str!("../../../../examples/cluster.json");
const AHEAD: &str = include_str!("../../../../examples/cluster-ahead.json");
const IDLE: &str = include_str!("../../../../examples/cluster-idle.json");
const FRAGMENTED: &str = include_str!("../../../../examples/cluster-fragmented.json");

fn folder_with_snapshot(snapshot: &str) -> Folder {
    let folder = Folder::new();
    folder.write("snap.json", snapshot);
    folder
}

#[test]
fn one_move_restores_fair_shares() {
    let folder = folder_with_snapshot(AHEAD);
    let found = folder.run(&["verdict", "snap.json", "--format", "json"]).ends_with(1).json();
    assert_eq!(found["below_fair_share"], json!(["b"]));
    assert_eq!(found["queues"][1]["lacking"], json!({"gpu": "1"}));
    let call = ["moves", "snap.json", "--after", "after.json", "-o", "moves.json", "--format", "json"];
    let moves = folder.run(&call).ends_with(0).json();
    assert_eq!((&moves["moves"].as_array().unwrap().len(), &moves["fewest"]), (&1, &json!(true)));
    folder.run(&["verdict", "after.json", "-o", "verdict.json"]).ends_with(0);
    for certificate in ["moves.json", "verdict.json"] {
        folder.run(&["check", certificate]).ends_with(0);
    }
}

#[test]
fn an_idle_cluster_names_the_pod_and_the_node() {
    let found =
        folder_with_snapshot(IDLE).run(&["verdict", "snap.json", "--format", "json"]).ends_with(1).json();
    assert_eq!(found["work_conserving"], json!(false));
    assert_eq!(found["could_start"], json!([{"task": "a/pod-2", "user": "a/1", "server": "n2"}]));
    let text = folder_with_snapshot(IDLE).run(&["verdict", "snap.json"]).ends_with(1).stdout;
    assert!(text.contains("a/pod-2 of a/1 could start now on n2."), "{text}");
    let folder = folder_with_snapshot(IDLE);
    folder.run(&["report", "snap.json", "-o", "page.html"]).ends_with(1);
    let page = folder.read("page.html");
    assert_eq!(page.matches("a/pod-2 of a/1 could start now on n2.").count(), 1, "{page}");
}

#[test]
fn a_fragmented_cluster_is_work_conserving() {
    let folder = folder_with_snapshot(FRAGMENTED);
    let found = folder.run(&["verdict", "snap.json", "--format", "json"]).ends_with(1).json();
    assert_eq!((&found["work_conserving"], &found["could_start"]), (&json!(true), &json!([])));
    assert_eq!(found["queues"][0]["lacking"], json!({"gpu": "3"}));
    // No further move helps, and the output states this.
    let text = folder.run(&["moves", "snap.json"]).ends_with(1).stdout;
    assert!(text.contains("No further move was found"), "{text}");
    folder.run(&["verdict", "snap.json", "--tolerance", "1/4"]).ends_with(0);
}

#[test]
fn check_compares_certificates_with_the_readers_snapshot() {
    let folder = folder_with_snapshot(CLUSTER);
    folder.run(&["verdict", "snap.json", "-o", "c.json"]).ends_with(1);
    let snapshot: Value = serde_json::from_str(CLUSTER).unwrap();
    folder.write("problem.json", snapshot["problem"].to_string());
    folder.write("a.json", snapshot["allocation"].to_string());
    let other = snapshot["problem"].to_string().replace(r#""weight":2"#, r#""weight":3"#);
    folder.write("other.json", &other);
    let call =
        ["check", "c.json", "--problem", "problem.json", "--allocation", "a.json", "--require", "limits"];
    let text = folder.run(&call).ends_with(0).stdout;
    for said in [
        "queue `research` is below its fair share by a whole task of user `training`",
        "due: tree holds, margin 0",
        "held: limits holds",
    ] {
        assert!(text.contains(said), "{text}");
    }
    let found =
        folder.run(&["check", "c.json", "--problem", "other.json", "--format", "json"]).ends_with(1).json();
    assert_eq!(found["reason"], "the certificate is about another problem");
    folder.run(&["check", "c.json", "--require", "pareto-optimal"]).ends_with(1);
    // `check` accepts a tolerance only if an option allows it.
    folder.run(&["verdict", "snap.json", "--tolerance", "0.9", "-o", "t.json"]).ends_with(0);
    folder.run(&["check", "t.json"]).ends_with(1);
    folder.run(&["check", "t.json", "--max-tolerance", "0.95"]).ends_with(0);
}

#[test]
fn rules_determine_fair_shares() {
    let folder = folder_with_snapshot(CLUSTER);
    let held = |rule: &str| {
        let found =
            folder.run(&["verdict", "snap.json", "--rule", rule, "--format", "json"]).ends_with(1).json();
        (found["certified"].clone(), found["queues"][0]["fair_share"]["gpu"].clone())
    };
    assert_eq!(held("tree"), (json!(true), json!("20")));
    assert_eq!(held("hdrf").0, json!(true));
    assert_eq!(held("kai-sole-queue").0, json!(false));
    folder
        .run(&["verdict", "snap.json", "--rule", "kai-sole-queue", "-o", "c.json"])
        .fails_with(2, "have no certificate");
    assert!(!folder.names().contains(&"c.json".to_owned()));
    for rule in ["kai", "volcano", "yunikorn"] {
        assert_eq!(held(rule).0, json!(true));
        folder.run(&["verdict", "snap.json", "--rule", rule, "-o", "c.json"]).ends_with(1);
        folder.run(&["check", "c.json"]).ends_with(0);
    }
    // The default rule is the rule of the scheduler.
    let volcano = folder_with_snapshot(&CLUSTER.replace("\"kubernetes\"", "\"volcano\""));
    let found = volcano.run(&["verdict", "snap.json", "--format", "json"]).ends_with(1).json();
    assert_eq!(found["rule"], "volcano");
    folder.run(&["verdict", "snap.json", "--rule", "fairest"]).fails_with(2, "fairest");
}

#[test]
fn reported_shares_are_compared() {
    let mut snapshot: Value = serde_json::from_str(CLUSTER).unwrap();
    snapshot["system"] = json!("kueue");
    let share = |value: &str| json!({"group": "batch", "what": "weightedShare", "value": value});
    // 22 of the 24 GPUs that can be lent are in use.
    snapshot["reported"] =
        json!([share("688"), {"group": "research", "what": "weightedShare", "value": "7"}]);
    let found = folder_with_snapshot(&snapshot.to_string())
        .run(&["verdict", "snap.json", "--format", "json"])
        .ends_with(1)
        .json();
    let agrees: Vec<bool> =
        found["reported"].as_array().unwrap().iter().map(|of| of["agrees"].as_bool().unwrap()).collect();
    assert_eq!(agrees, [true, false], "{}", found["reported"]);
}

#[test]
fn what_if_shows_the_effect_of_changes() {
    let folder = folder_with_snapshot(CLUSTER);
    let call = ["what-if", "snap.json", "--set", "batch.weight=4", "--add", "gpu-node=1", "--format", "json"];
    let found = folder.run(&call).ends_with(0).json();
    assert_eq!(found["before"]["queues"][0]["fair_share"]["gpu"], "20");
    let of = |name: &str| {
        let list = found["differences"].as_array().unwrap();
        list.iter().find(|of| of["name"] == name).unwrap()["fair_share"].clone()
    };
    assert_ne!(of("batch"), json!({}));
    folder.write("job.json", r#"{"name": "burst", "group": "product", "demand": {"gpu": 1}, "tasks": 9}"#);
    folder.write("changes.json", r#"{"set": {"batch.weight": 4}, "remove": ["n3"]}"#);
    let call = [
        "what-if",
        "snap.json",
        "--from",
        "changes.json",
        "--submit",
        "job.json",
        "--verdict",
        "--format",
        "json",
    ];
    let found = folder.run(&call).ends_with(1).json();
    assert_eq!(found["kind"], "cluster-verdict");
    // The guarantee of product can be met, but it is not met.
    assert_eq!(found["below_guarantee"][0]["user"], "burst");
    folder.run(&["what-if", "snap.json", "--remove", "n3", "-o", "after.json"]).ends_with(0);
    let after: Value = serde_json::from_str(&folder.read("after.json")).unwrap();
    assert_eq!(after["servers"]["gpu-node"], json!(["n1", "n2", "n4"]));
}

#[test]
fn refuses_missing_and_malformed_input() {
    let folder = folder_with_snapshot(CLUSTER);
    folder.write("job.json", r#"{"name": "x", "demand": {"gpu": "8x"}, "tasks": 1}"#);
    for (call, expected) in [
        ("verdict absent.json", "absent.json"),
        ("verdict job.json", "snapshot"),
        ("verdict snap.json --tolerance 2", "--tolerance"),
        ("what-if snap.json", "no option states a change"),
        ("what-if snap.json --set weight", "NAME.FIELD=VALUE"),
        ("what-if snap.json --set nobody.weight=2", "nobody.weight"),
        ("what-if snap.json --set batch.weight=-8", "-8"),
        ("what-if snap.json --add gpu-node=0", "CLASS=N"),
        ("what-if snap.json --add gpu-nod=1", "did you mean `gpu-node`?"),
        ("what-if snap.json --remove n9", "there is no server `n9`"),
        ("what-if snap.json --submit job.json", "8x"),
        ("moves snap.json --pinned nobody", "there is no user or group `nobody`"),
        ("explain job.json --levels", "snapshot"),
        ("certify snap.json --format prometheus", ""),
        ("solve snap.json -m tree", "allocation-problem"),
    ] {
        let words: Vec<&str> = call.split(' ').collect();
        folder.run(&words).fails_with(2, expected);
    }
    folder.run(&["moves", "snap.json", "--format", "prometheus"]).fails_with(2, "a form of `verdict`");
    folder.run(&["verdict", "snap.json", "--format", "script"]).fails_with(2, "a form of `moves`");
}

#[test]
fn explanations_take_snapshots() {
    let folder = folder_with_snapshot(CLUSTER);
    let levels = folder.run(&["explain", "snap.json", "--levels", "--format", "json"]).ends_with(0).json();
    assert_eq!(levels["nodes"][1]["name"], "research");
    let text = folder.run(&["explain", "snap.json", "--group", "research"]).ends_with(0).stdout;
    assert!(text.starts_with("Group research\n"), "{text}");
    folder.run(&["explain", "snap.json", "--user", "training"]).ends_with(0);
}

/// Returns the series of a text in the exposition format of Prometheus, keyed by name and labels. Panics if
/// the text is malformed: every name must be declared once and before its series, every series must occur
/// once, and every value must be a number.
fn series(text: &str) -> BTreeMap<(String, Vec<(String, String)>), f64> {
    let is_name = |name: &str| {
        let first = |c: char| c.is_ascii_alphabetic() || c == '_' || c == ':';
        name.starts_with(first) && name.chars().all(|c| first(c) || c.is_ascii_digit())
    };
    let mut declared: Vec<&str> = Vec::new();
    let mut found = BTreeMap::new();
    let text = text.strip_suffix("# EOF\n").expect("the end of a text of OpenMetrics");
    assert!(text.ends_with('\n'));
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("# UNIT ") {
            let (name, unit) = rest.split_once(' ').unwrap();
            assert!(declared.last() == Some(&name) && name.ends_with(unit), "{line}");
            continue;
        }
        if let Some(rest) = line.strip_prefix("# TYPE ") {
            let (name, kind) = rest.split_once(' ').unwrap();
            assert!(is_name(name) && kind == "gauge" && !declared.contains(&name), "{line}");
            declared.push(name);
            continue;
        }
        if let Some(rest) = line.strip_prefix("# HELP ") {
            assert!(is_name(rest.split_once(' ').unwrap().0), "{line}");
            continue;
        }
        let end = line.find(['{', ' ']).unwrap();
        let name = &line[..end];
        assert_eq!(Some(&name), declared.last(), "{line}");
        let mut labels = Vec::new();
        let mut rest = &line[end..];
        if let Some(inside) = rest.strip_prefix('{') {
            rest = inside;
            loop {
                let (label, value) = rest.split_once("=\"").unwrap();
                assert!(is_name(label), "{line}");
                let (mut text, mut characters) = (String::new(), value.char_indices());
                let end = loop {
                    match characters.next().unwrap() {
                        (at, '"') => break at,
                        (_, '\\') => match characters.next().unwrap().1 {
                            'n' => text.push('\n'),
                            c @ ('\\' | '"') => text.push(c),
                            c => panic!("\\{c} in {line}"),
                        },
                        (_, c) => text.push(c),
                    }
                };
                labels.push((label.to_owned(), text));
                rest = &value[end + 1..];
                match rest.strip_prefix(',') {
                    Some(more) => rest = more,
                    None => break,
                }
            }
            rest = rest.strip_prefix('}').unwrap();
        }
        let value: f64 = rest.strip_prefix(' ').unwrap().parse().unwrap();
        assert!(found.insert((name.to_owned(), labels), value).is_none(), "twice: {line}");
    }
    found
}

#[test]
fn gauges_are_read_by_prometheus() {
    // The names contain every character with a special meaning in the format. A user has the name of a group.
    let snapshot = CLUSTER.replace("\"batch\"", r#""a \"b\"\\n{x}=1,""#);
    let mut snapshot: Value = serde_json::from_str(&snapshot).unwrap();
    let user = json!({"name": "product", "demand": {"gpu": 1}, "tasks": 0});
    snapshot["problem"]["users"].as_array_mut().unwrap().push(user);
    let text = folder_with_snapshot(&snapshot.to_string())
        .run(&["verdict", "snap.json", "--format", "prometheus"])
        .ends_with(1)
        .stdout;
    let found = series(&text);
    let of = |name: &str, queue: &str| {
        let labels = vec![("queue".to_owned(), queue.to_owned()), ("resource".to_owned(), "gpu".to_owned())];
        found[&(format!("evenhand_queue_{name}"), labels)]
    };
    assert_eq!((of("held", "research"), of("due", "research"), of("short", "research")), (8.0, 20.0, 12.0));
    assert_eq!(of("above", "a \"b\"\\n{x}=1,"), 12.0);
    assert_eq!(of("due", "user product"), 0.0);
    assert_eq!(of("guarantee", "product"), 8.0);
    let by_queue = |name: &str, queue: &str| {
        found[&(format!("evenhand_queue_{name}"), vec![("queue".to_owned(), queue.to_owned())])]
    };
    assert_eq!(
        (by_queue("waiting_tasks", "research"), by_queue("could_start_tasks", "research")),
        (5.0, 0.0)
    );
    assert_eq!(found[&("evenhand_fair".to_owned(), Vec::new())], 0.0);
}

#[test]
fn report_writes_the_page_of_a_snapshot() {
    let folder = folder_with_snapshot(CLUSTER);
    folder.run(&["report", "snap.json", "-o", "page.html"]).ends_with(1);
    let page = folder.read("page.html");
    for part in [
        "Usage next to the fair share",
        "research uses 8 of its fair share of 20",
        "Insufficient gpu",
        "Content-Security-Policy",
    ] {
        assert!(page.contains(part), "{part} is not in {page}");
    }
    assert_eq!(
        page.matches("would still be within the share").count(),
        1,
        "each sentence is said once: {page}"
    );
    // A snapshot from standard input gives the same page. For a problem from standard input, the page is a
    // comparison.
    folder.run_with(&["report", "-", "-o", "same.html"], CLUSTER).ends_with(1);
    assert_eq!(folder.read("same.html"), page);
    let problem = include_str!("../../../../examples/two-servers.json");
    folder.run_with(&["report", "-", "-m", "drfh", "-o", "problem.html"], problem).ends_with(0);
    folder.run_with(&["report", "-"], "{").ends_with(2);
    folder.run(&["report", "snap.json", "-m", "drfh"]).fails_with(2, "for a snapshot, `report` takes only");
}

/// The dumps of `examples` are equal to the dumps that the test kit creates. Each dump has a verdict, and so
/// has the real dump of Mesos.
#[test]
fn every_example_dump_has_a_verdict() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let folder = Folder::new();
    let verdict = |system: &str, dump: &str| {
        folder.run(&["import", system, dump, "-o", "dump.snap"]).ends_with(0);
        folder.run(&["verdict", "dump.snap", "-o", "dump.cert"]);
        folder.run(&["check", "dump.cert"]).ends_with(0);
        let snapshot: Value = serde_json::from_str(&folder.read("dump.snap")).unwrap();
        (snapshot["problem"].clone(), snapshot["allocation"].clone())
    };
    for (system, kueue) in [("kubernetes", None), ("kueue", Some("v1beta2"))] {
        let size = ClusterSize { nodes: 30, pods: 200, queues: 6, kueue, odd: false };
        let mut dump = Vec::new();
        write_cluster(&mut dump, size, 1).unwrap();
        folder.write("made.json", dump);
        let kept = verdict(system, &format!("{root}/examples/schedulers/{system}/dump.json.gz"));
        assert!(kept == verdict(system, "made.json"), "{system}: the dump is not that of the test kit");
    }
    verdict("mesos", &format!("{root}/examples/schedulers/mesos/state.json"));
    let real = format!("{root}/../shared/data/fixtures_mesos/dcos_ui_state.json.zst");
    if std::path::Path::new(&real).exists() {
        verdict("mesos", &real);
    } else {
        println!("skipped: {real} is not there");
    }
}

#[test]
fn control_characters_in_names_are_not_printed() {
    let snapshot = CLUSTER.replace("research/train", "\\u001b[31mtrain").replace("\"n1\"", "\"n\\u202e1\"");
    let folder = folder_with_snapshot(&snapshot);
    for call in [
        "verdict snap.json",
        "moves snap.json",
        "moves snap.json --format script",
        "what-if snap.json --remove n2",
    ] {
        let words: Vec<&str> = call.split(' ').collect();
        let text = folder.run(&words).stdout;
        assert!(!text.is_empty() && !text.contains(['\u{1b}', '\u{202e}']), "{call}: {text}");
    }
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    let folder = folder_with_snapshot(CLUSTER);
    let written = |threads: &str| {
        folder
            .run(&["moves", "snap.json", "--threads", threads, "-o", "m.json", "--after", "after.json"])
            .ends_with(0);
        (folder.read("m.json"), folder.read("after.json"))
    };
    assert_eq!(written("1"), written("4"));
}

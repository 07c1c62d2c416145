//! Tests of running clusters from public bug reports (named by project and number), and of attacks on this
//! program. Each test checks the results of `import`, `verdict`, `what-if`, `moves` and `check`.

use std::path::{Path, PathBuf};

use crate::common::Folder;

use serde_json::{Value, json};

fn case(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases").join(name)
}

/// Returns a folder with the case as `snap.json`. A dump of a scheduler is imported, and a snapshot is
/// copied.
fn snapshot(name: &str) -> Folder {
    let folder = Folder::new();
    let path = case(&format!("{name}.json"));
    let systems = ["kueue", "kai", "volcano", "yunikorn", "kubernetes"];
    match systems.into_iter().find(|system| name.contains(system)) {
        Some(system) => {
            folder.run(&["import", system, path.to_str().unwrap(), "-o", "snap.json"]).ends_with(0);
        }
        None => folder.write("snap.json", std::fs::read(&path).unwrap()),
    }
    folder
}

/// Returns the verdict as a JSON document.
fn verdict(folder: &Folder, status: i32) -> Value {
    folder.run(&["verdict", "snap.json", "--format", "json"]).ends_with(status).json()
}

/// Returns the moves as a JSON document. Checks that their certificate is valid and refers to this snapshot.
fn moves(folder: &Folder) -> Value {
    folder.run(&["moves", "snap.json", "-o", "moves.cert"]);
    folder.run(&["check", "moves.cert", "--problem", "snap.json"]).ends_with(0);
    folder.run(&["moves", "snap.json", "--format", "json"]).json()
}

fn queue<'v>(found: &'v Value, name: &str) -> &'v Value {
    let queues = found["queues"].as_array().unwrap();
    queues.iter().find(|row| row["name"] == name).unwrap_or_else(|| panic!("no queue {name}"))
}

/// Returns the names of the waiting tasks that could start now.
fn could_start(found: &Value) -> Vec<&str> {
    found["could_start"].as_array().unwrap().iter().map(|of| of["task"].as_str().unwrap()).collect()
}

#[test]
fn a_parent_without_a_guarantee_hides_no_missed_guarantee() {
    for name in ["g0", "g1"] {
        let folder = Folder::new();
        let (problem, allocation) = (case(&format!("{name}.json")), case("g.alloc.json"));
        let call = ["certify", problem.to_str().unwrap(), allocation.to_str().unwrap(), "--format", "json"];
        let found = folder.run(&call).ends_with(1).json();
        let claims = found["claims"].as_array().unwrap();
        let guarantees = claims.iter().find(|of| of["axiom"] == "guarantees").unwrap();
        assert_eq!((&guarantees["holds"], &guarantees["margin"]), (&json!(false), &json!("-1")), "{name}");
    }
}

#[test]
fn tasks_that_stop_under_a_limit_free_capacity_under_it() {
    for (name, count) in
        [("g1.snap", 5), ("g1l.snap", 5), ("c", 3), ("f54-kueue-3948", 1), ("kueue-quota-2", 2)]
    {
        let found = moves(&snapshot(name));
        assert_eq!(found["moves"].as_array().unwrap().len(), count, "{name}");
        assert_eq!((&found["short_after"], &found["fewest"]), (&json!([]), &json!(true)), "{name}");
    }
    // The guarantee of each queue is 3 of the 4 GPUs. A second move would leave the other queue below its
    // guarantee.
    let found = moves(&snapshot("kueue-quota-3"));
    assert_eq!((found["moves"].as_array().unwrap().len(), &found["short_after"]), (1, &json!(["a"])));
}

#[test]
fn moves_respect_class_limits_and_capacity_kept_back() {
    for name in ["a1", "moves-break-limit", "b", "d"] {
        let folder = snapshot(name);
        let found = moves(&folder);
        folder.run(&["moves", "snap.json", "--after", "after.json"]);
        let after = folder.run(&["verdict", "after.json", "--format", "json"]).json();
        let before = folder.run(&["verdict", "snap.json", "--format", "json"]).json();
        let exceeded = |of: &Value| of["exceeded"].as_array().unwrap().len();
        assert!(exceeded(&after) <= exceeded(&before), "{name}: {}", after["exceeded"]);
        assert!(found["least"].as_str().unwrap().parse::<u64>().unwrap() >= 1, "{name}");
    }
    // The limit allows one task of `ua` on `s`, so the other three tasks run on `t`.
    let found = moves(&snapshot("moves-break-limit"));
    let starts = found["moves"].as_array().unwrap().iter().map(|step| step["start"][0]["server"].clone());
    assert_eq!(starts.filter(|server| server == "s").count(), 1);
}

#[test]
fn a_limit_on_two_classes_counts_once_for_a_gang() {
    for name in ["a2", "e", "verdict-on-two-classes"] {
        let folder = snapshot(name);
        let found = folder.run(&["verdict", "snap.json", "--format", "json"]).json();
        let starts = found["could_start"].as_array().unwrap();
        assert!(starts.iter().all(|of| of["user"] != "u"), "{name}: {starts:?}");
    }
}

#[test]
fn certificates_that_claim_too_much_are_refused() {
    for name in [
        "fits-kept-back",
        "fits-limit-on-class",
        "fits-weight-0",
        "kai-guarantees-beyond",
        "kai-weight-0",
        "moves-zero-at-least-five",
    ] {
        let path = case(&format!("{name}.json"));
        Folder::new().run(&["check", path.to_str().unwrap()]).ends_with(1);
    }
    // The certificate states its rule. A check that requires another rule refuses the certificate.
    for (name, rule, other) in [("rule-kai", "kai", "tree"), ("rule-tree", "tree", "kai")] {
        let path = case(&format!("{name}.json"));
        let path = path.to_str().unwrap();
        let text =
            Folder::new().run(&["check", path, "--require", &format!("rule:{rule}")]).ends_with(0).stdout;
        assert!(text.contains("fair shares: by ") && text.contains(&format!("`{rule}`")), "{text}");
        Folder::new().run(&["check", path, "--require", &format!("rule:{other}")]).ends_with(1);
    }
    // A queue named `nobody` is below its fair share.
    let path = case("queue-nobody.json");
    let text = Folder::new().run(&["check", path.to_str().unwrap()]).stdout;
    assert!(text.contains("after the moves, below its fair share by a whole task: `nobody`"), "{text}");
}

#[test]
fn kueue_cases_have_the_expected_verdicts_and_moves() {
    // 14412: a queue with a lending limit of 0 lacks the GPU that another queue uses.
    let folder = snapshot("f01-kueue-14412");
    assert_eq!(verdict(&folder, 1)["below_fair_share"], json!(["lender"]));
    assert_eq!(moves(&folder)["stopped"], 1);
    // 13479: the task is within the quota, and there is free capacity.
    assert_eq!(could_start(&verdict(&snapshot("f02-kueue-13479"), 1)), ["ns/b2"]);
    verdict(&snapshot("f04-kueue-4961"), 0);
    verdict(&snapshot("f55-kueue-533"), 0);
    // 746: the message names the group, its limit and its usage.
    let text = snapshot("f05-kueue-746").run(&["verdict", "snap.json"]).ends_with(1).stdout;
    assert!(text.contains("Group q uses 3 cpu; its limit is 1."), "{text}");
    // 1276: a pod set is admitted in one flavour, and two pods of 300m exceed the 500m of either flavour.
    let found = verdict(&snapshot("f09-kueue-1276"), 1);
    assert!(could_start(&found).is_empty(), "{found}");
    // A queue that uses its whole quota lends nothing, whatever its lending limit.
    let text = snapshot("f10-kueue-lending").run(&["verdict", "snap.json"]).stdout;
    assert!(!text.contains("lends") && !text.contains("unused guarantee"), "{text}");
    // The guarantee of the queue is 12 and its usage is 0, while a task of 12 waits.
    let found = verdict(&snapshot("f11-kueue-borrowing"), 1);
    assert_eq!(found["below_guarantee"][0]["tasks"], "1", "{}", found["below_guarantee"]);
    assert_eq!(queue(&verdict(&snapshot("f12-kueue-weight-milli"), 1), "b")["fair_share"]["cpu"], "8");
    assert_eq!(moves(&snapshot("f03-kueue-6774"))["stopped"], 0);
    // 2665: the guarantees exceed the capacity.
    assert_eq!(verdict(&snapshot("f66-kueue-2665"), 1)["guarantees_can_be_met"], false);
}

#[test]
fn quota_alone_decides_in_snapshots_without_nodes() {
    for (name, below) in
        [("f61-kueue-autoscaled", json!(["org", "a", "b"])), ("f62-kueue-no-nodes", json!(["org", "b"]))]
    {
        let folder = snapshot(name);
        let found = verdict(&folder, 1);
        assert_eq!((&found["could_start"], &found["below_fair_share"]), (&Value::Null, &below), "{name}");
        let text = folder.run(&["verdict", "snap.json"]).stdout;
        assert!(text.contains("it is not known which tasks could start"), "{text}");
        folder.run(&["moves", "snap.json"]).fails_with(2, "does not say on which servers tasks run");
    }
}

#[test]
fn kai_cases_have_the_expected_verdicts_and_moves() {
    let folder = snapshot("f13-kai-1934");
    assert_eq!(verdict(&folder, 1)["below_fair_share"], json!(["bob"]));
    assert_eq!(moves(&folder)["moves"].as_array().unwrap().len(), 4);
    assert_eq!(
        verdict(&snapshot("f13b-kai-1934-critical"), 1)["below_fair_share"],
        json!(["priority", "bob"])
    );
    assert_eq!(verdict(&snapshot("f14-kai-1750"), 1)["below_fair_share"], json!(["reclaimer"]));
    assert_eq!(verdict(&snapshot("f15-kai-2065"), 1)["below_fair_share"], json!(["a"]));
    // 143: queues below their guarantees lend nothing.
    let folder = snapshot("f16-kai-143");
    let found = verdict(&folder, 1);
    assert_eq!(could_start(&found), ["ns/a0-0", "ns/b0-0", "ns/c0-0"]);
    assert!(found["queues"].as_array().unwrap().iter().all(|row| row["lent_by"] == json!({})));
    // 416: 24 requests of 2000 MiB exceed the 46068 MiB of the GPU.
    let text = snapshot("f17-kai-416").run(&["verdict", "snap.json"]).ends_with(1).stdout;
    assert!(text.contains("Server n0 has 1 nvidia.com/gpu; its tasks take 1.04194."), "{text}");
    assert_eq!(verdict(&snapshot("f18-kai-1369"), 1)["below_fair_share"], json!(["other"]));
}

#[test]
fn volcano_cases_have_the_expected_verdicts_and_moves() {
    for (name, below, count) in [
        ("f19-volcano-1461-8+2", "test", 1),
        ("f20-volcano-1619", "test1", 1),
        ("f21-volcano-561", "queue1", 7),
        ("f22b-volcano-3990-gang-5", "test2", 1),
        ("f24-volcano-4658", "queue1", 1),
        ("f25-volcano-3510", "q2", 1),
    ] {
        let folder = snapshot(name);
        assert_eq!(verdict(&folder, 1)["below_fair_share"], json!([below]), "{name}");
        let found = moves(&folder);
        assert_eq!(
            (found["moves"].as_array().unwrap().len(), &found["fewest"]),
            (count, &json!(true)),
            "{name}"
        );
    }
    // 1619: capacity that is reserved for the guarantee of another queue does not count towards a fair share.
    assert_eq!(queue(&verdict(&snapshot("f20-volcano-1619"), 1), "test")["fair_share"]["cpu"], "9");
    // 3990: the fair shares follow `deserved`, the rule of the plugin `capacity`.
    assert_eq!(verdict(&snapshot("f22-volcano-3990"), 0)["rule"], "volcano-capacity");
    // 1860: the message names the group and its limit.
    let text = snapshot("f27b-volcano-1860").run(&["verdict", "snap.json"]).ends_with(1).stdout;
    assert!(text.contains("Group q uses 6 cpu; its limit is 4."), "{text}");
    // The pod with the lower priority is stopped, whatever its name.
    for (name, stopped) in [("f68-volcano-priority-1", "ns/zz-0"), ("f68-volcano-priority-2", "ns/aa-0")] {
        let found = moves(&snapshot(name));
        assert_eq!(found["moves"][0]["stop"][0]["task"], stopped, "{name}");
    }
}

#[test]
fn what_if_lists_tasks_that_would_start() {
    let folder = snapshot("f57-volcano-3948");
    let text = folder.run(&["what-if", "snap.json", "--add", "node=1"]).ends_with(0).stdout;
    assert!(text.contains("ns/w-0 of default/1 could start now on"), "{text}");
    // Two tasks that restart on other servers free enough capacity on their server.
    let found = moves(&folder);
    let steps = found["moves"].as_array().unwrap();
    assert_eq!(steps.iter().filter(|step| step["migration"] == true).count(), 2, "{found}");
    assert_eq!(steps.len(), 3);
    assert_eq!(steps[2]["start"][0]["task"], "ns/w-0");
    assert_eq!((&found["stopped"], &found["short_after"]), (&serde_json::json!(0), &serde_json::json!([])));
    let migrated = |step: &Value| {
        step["stop"][0]["task"] == step["start"][0]["task"]
            && step["stop"][0]["server"] != step["start"][0]["server"]
    };
    assert!(migrated(&steps[0]) && migrated(&steps[1]), "{found}");
    // Removing the server of a class with one server and adding it again does not change the class.
    let folder = snapshot("last");
    folder
        .run(&["what-if", "snap.json", "--remove", "n1-0", "--add", "n1=1", "-o", "after.json"])
        .ends_with(0);
    let [before, after] = ["snap.json", "after.json"].map(|name| {
        let of: Value = serde_json::from_str(&folder.read(name)).unwrap();
        let servers = of["problem"]["servers"].as_array().unwrap().clone();
        servers.into_iter().find(|of| of["name"] == "n1").unwrap()
    });
    let gpus = |of: &Value| of["capacity"]["gpu"].to_string().trim_matches('"').to_owned();
    assert_eq!(gpus(&before), gpus(&after));
}

#[test]
fn pods_beyond_the_limit_of_a_node_do_not_start() {
    let found = verdict(&snapshot("f39-kubernetes-too-many-pods"), 1);
    assert!(could_start(&found).is_empty(), "{found}");
    assert_eq!(verdict(&snapshot("f28-yunikorn-64"), 1)["below_fair_share"], json!(["root.q1", "root.q2"]));
}

#[test]
fn pods_of_the_system_are_never_stopped() {
    let folder = Folder::new();
    let path = case("critical-pods.json");
    folder.run(&["import", "kubernetes", path.to_str().unwrap(), "-o", "snap.json"]).ends_with(0);
    assert_eq!(moves(&folder)["moves"], json!([]));
    let text = folder.run(&["moves", "snap.json", "--format", "script"]).stdout;
    assert!(!text.contains("kubectl"), "{text}");
}

#[test]
fn starts_are_searched_on_unrounded_servers() {
    let folder = Folder::new();
    let [k, s, t] =
        ["merge-k.csv", "merge-s.csv", "merge-t.csv"].map(|name| case(name).to_str().unwrap().to_owned());
    folder.run(&["import", "csv", &k, &s, &t, "-o", "snap.json"]).ends_with(0);
    let text = folder.run(&["verdict", "snap.json"]).ends_with(1).stdout;
    assert!(text.contains("could start now on n2, which has more than its class."), "{text}");
    assert!(text.contains("Servers are rounded down, by 0.990099 % at most"), "{text}");
    folder.run(&["verdict", "snap.json", "-o", "cert.json"]).ends_with(1);
    let text = folder.run(&["check", "cert.json", "--problem", "snap.json"]).ends_with(0).stdout;
    assert!(text.contains("free capacity of servers is rounded down"), "{text}");
}

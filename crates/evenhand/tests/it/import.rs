//! Tests of the way from cluster data to a certified allocation, with generated files, and with real files if
//! they are present.

use crate::common;

use std::path::Path;
use std::time::{Duration, Instant};

use common::Folder;
use evenhand_testkit::data::data;
use serde_json::json;

const NODES: &str = "sn,cpu_milli,memory_mib,gpu,model\n\
    a,32000,1024,0,\n\
    b,96000,2048,8,T4\n\
    c,96000,2048,8,T4\n\
    d,96000,2048,8,P100\n";
const PODS: &str = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time\n\
    p0,500,100,1,460,,LS,Running,0,9,0\n\
    p1,8000,200,2,1000,T4,LS,Running,0,9,0\n\
    p2,500,100,1,460,,BE,Running,0,9,0\n\
    p3,0,100,0,0,,BE,Running,0,9,0\n";
const MACHINES: &str = "platform,cpu,memory,count\nA,0.5,0.25,3\nB,1,0.5,2\n";
const TASKS: &str = "0,,7,0,1,0,ann,2,9,0.1,0.2,0,0\n\
    0,,7,0,1,1,ann,2,9,0.1,0.2,0,0\n\
    0,,8,0,1,0,bob,2,9,0.5,0.1,0,0\n\
    0,,8,0,1,1,bob,2,9,0.5,0.1,0,1\n\
    5,,8,1,1,0,bob,2,9,0.25,0.1,0,0\n\
    5,,8,1,1,1,bob,2,9,0.25,0.1,0,0\n";

fn openb() -> Folder {
    let folder = Folder::new();
    folder.write("nodes.csv", NODES);
    folder.write("pods.csv", PODS);
    folder
}

fn google() -> Folder {
    let folder = Folder::new();
    folder.write("machines.csv", MACHINES);
    folder.write("tasks.csv", TASKS);
    folder
}

const OPENB: [&str; 4] = ["import", "openb", "nodes.csv", "pods.csv"];
const GOOGLE: [&str; 4] = ["import", "google", "machines.csv", "tasks.csv"];

/// Solves the problem exactly, certifies the answer with tolerance 0, and checks the certificate. Every
/// examined axiom holds.
#[track_caller]
fn is_proven(folder: &Folder, mechanism: &str) {
    let started = Instant::now();
    folder.solve(mechanism, true, "a.json");
    let mut arguments =
        vec!["certify", "problem.json", "a.json", "--tolerance", "0", "--quiet", "-o", "c.json"];
    for axiom in ["feasible", "pareto-optimal", "max-min"] {
        arguments.extend(["--axiom", axiom]);
    }
    let output = folder.run(&[&arguments[..], &["--format", "json"]].concat()).ends_with(0);
    for claim in output.json()["claims"].as_array().unwrap() {
        assert_eq!(claim["holds"], json!(true), "{claim}");
    }
    folder.run(&["check", "c.json"]).ends_with(0);
    folder.run(&["check", "c.json", "--problem", "problem.json"]).ends_with(0);
    let elapsed = started.elapsed();
    println!("{mechanism}: proven and checked in {elapsed:.1?}");
    assert!(elapsed < Duration::from_secs(60), "{mechanism} took {elapsed:?}");
}

#[test]
fn imports_a_tiny_openb_cluster() {
    let folder = openb();
    let output = folder.run(&[&OPENB[..], &["-o", "problem.json"]].concat()).ends_with(0);
    assert_eq!(output.stdout, "");
    let notes: Vec<&str> = output.stderr.lines().collect();
    assert!(
        notes.iter().all(|note| note.starts_with("note: ") || note.starts_with("warning: ")),
        "{notes:?}"
    );
    assert!(notes.iter().any(|note| note.contains("0 CPU") || note.contains("CPU")), "{notes:?}");
    let problem: serde_json::Value = serde_json::from_str(&folder.read("problem.json")).unwrap();
    assert_eq!(problem["resources"], json!(["cpu", "memory", "gpu"]));
    assert_eq!(problem["servers"].as_array().unwrap().len(), 3);
    let users = problem["users"].as_array().unwrap();
    assert_eq!(users.len(), 3, "a user for each request shape");
    assert_eq!(users[0]["tasks"], json!("2"));
    assert_eq!(users[1]["servers"].as_array().unwrap().len(), 1, "the GPU model is a placement constraint");
    for mechanism in ["drfh", "tsf"] {
        is_proven(&folder, mechanism);
    }
    let quiet = folder.run(&[&OPENB[..], &["--quiet"]].concat()).ends_with(0);
    assert_eq!(quiet.stderr, "");
    assert_eq!(quiet.stdout, folder.read("problem.json"), "the same document without -o");
}

#[test]
fn imports_a_tiny_google_cluster() {
    let folder = google();
    let import = |more: &[&str]| {
        let output = folder.run(&[&GOOGLE[..], more, &["-o", "problem.json"]].concat()).ends_with(0);
        let problem: serde_json::Value = serde_json::from_str(&folder.read("problem.json")).unwrap();
        (problem, output.stderr)
    };
    let (problem, notes) = import(&[]);
    assert_eq!(problem["users"].as_array().unwrap().len(), 2);
    assert!(notes.contains("must not share a machine"), "anti-affinity is reported: {notes}");
    is_proven(&folder, "drfh");
    let (problem, _) = import(&["--time", "5"]);
    assert_eq!(problem["users"][1]["tasks"], json!("2"));
    assert_eq!(problem["users"][1]["demand"]["cpu"], json!("3/8"), "the mean of 1/2 and 1/4");
    let (problem, _) = import(&["--time", "5", "--by-shape"]);
    assert_eq!(problem["users"].as_array().unwrap().len(), 3);
    is_proven(&folder, "tsf");
}

#[test]
fn malformed_rows_name_the_line() {
    for (row, message) in [
        ("p9,1,1,0", "columns"),
        ("p9,-1,1,0,0,,,,,,", "cpu_milli"),
        ("p9,x,1,0,0,,,,,,", "cpu_milli"),
        ("p9,1,1e9,0,0,,,,,,", "memory_mib"),
        ("p9,1,1,99999999999999999999,0,,,,,,", "num_gpu"),
        ("p9,1,1,1,1001,,,,,,", "gpu_milli"),
    ] {
        let folder = openb();
        folder.write("pods.csv", format!("{PODS}{row}\n"));
        let output =
            folder.run(&[&OPENB[..], &["-o", "problem.json"]].concat()).fails_with(2, "pods.csv:6: ");
        assert!(output.error_line().contains(message), "{}", output.error_line());
        assert!(!folder.names().contains(&"problem.json".to_owned()));
    }
    let folder = openb();
    folder.write("nodes.csv", NODES.replace("8,P100", "-8,P100"));
    folder.run(&OPENB).fails_with(2, "nodes.csv:5: ");
    for (row, message) in [
        ("9,,8,1,1,1,bob", "columns"),
        ("9,,8,1,1,77,bob,2,9,0.25,0.1,0,0", "event"),
        ("x,,8,1,1,1,bob,2,9,0.25,0.1,0,0", "time"),
        ("9,,8,1,1,1,bob,2,9,-1,0.1,0,0", "CPU"),
        ("9,,8,1,1,1,bob,2,9,nan,0.1,0,0", "CPU"),
    ] {
        let folder = google();
        folder.write("tasks.csv", format!("{TASKS}{row}\n"));
        let output = folder.run(&[&GOOGLE[..], &["--time", "9"]].concat()).fails_with(2, "tasks.csv:7: ");
        let last = output.error_line().to_lowercase();
        assert!(last.contains(&message.to_lowercase()), "`{message}` is not in `{last}`");
    }
}

#[test]
fn refuses_files_that_are_not_tables() {
    let folder = openb();
    folder.run(&["import", "openb", "pods.csv", "nodes.csv"]).fails_with(2, "pods.csv:1: ");
    folder.run(&["import", "openb", ".", "pods.csv"]).fails_with(2, ".");
    folder.write("pods.csv", "");
    folder.run(&OPENB).fails_with(2, "pods.csv:1: ");
    folder.write("pods.csv", b"\x1f\x8b\x08\x00 cut short");
    folder.run(&OPENB).fails_with(2, "pods.csv");
    folder.write("pods.csv", b"name,\xff\n");
    folder.run(&OPENB).fails_with(2, "pods.csv:1: ");
    let folder = google();
    folder.write("machines.csv", "");
    folder.run(&GOOGLE).fails_with(2, "machines.csv");
}

const NODE: &str = r#"{"kind": "Node", "metadata": {"name": "n"}, "status": {"allocatable": {"cpu": "8", "memory": "30133911107584"}}}"#;
const POD: &str = r#"{"kind": "Pod", "metadata": {"name": "p"}, "spec": {"nodeName": "n", "containers":
    [{"resources": {"requests": {"cpu": "1", "memory": "1Gi"}}}]}, "status": {"phase": "Running"}}"#;

fn list(items: &[&str]) -> String {
    format!(r#"{{"kind": "List", "items": [{}]}}"#, items.join(","))
}

/// Memory is printed in units that people use.
#[test]
fn snapshot_memory_is_printed_with_units() {
    let folder = Folder::new();
    folder.write("dump.json", list(&[NODE, POD]));
    let text = folder.run(&["import", "kubernetes", "dump.json", "-o", "s.json"]).ends_with(0).stdout;
    assert!(text.contains("27.41 TiB") && text.contains("1 GiB"), "{text}");
    assert!(!text.contains("30133911107584"), "{text}");
}

/// A dump that lacks decisive data is refused. It must not count as a fair cluster.
#[test]
fn dumps_without_decisive_data_are_refused() {
    let folder = Folder::new();
    folder.write("nodes.json", list(&[NODE]));
    let call = ["import", "kubernetes", "nodes.json", "-o", "s.json"];
    folder.run(&call).fails_with(2, "no file has pods: add the output of kubectl get nodes,pods -A -o json");
    folder.write("nodes.txt", "NodeName=n CPUTot=8 RealMemory=100 State=IDLE Partitions=p\n");
    let call = ["import", "slurm", "nodes.txt", "-o", "s.json"];
    folder.run(&call).fails_with(2, "no file has jobs: add the output of squeue --json");
    folder
        .run(&["import", "kueue", "nodes.json"])
        .fails_with(2, "no file has clusterqueues: add the output of");
    assert!(!folder.names().contains(&"s.json".to_owned()));
}

/// Two queues have eight GPUs each. One queue uses 14 GPUs, and the other queue waits for four GPUs. No node
/// is known.
#[test]
fn quota_without_nodes_is_judged() {
    let of = |name: &str| {
        format!(
            r#"{{"kind": "LocalQueue", "metadata": {{"name": "{name}", "namespace": "ns"}}, "spec": {{"clusterQueue": "{name}"}}}},
            {{"kind": "ClusterQueue", "metadata": {{"name": "{name}"}}, "spec": {{"cohort": "org", "resourceGroups": [{{"coveredResources": ["gpu"],
            "flavors": [{{"name": "f", "resources": [{{"name": "gpu", "nominalQuota": "8"}}]}}]}}]}}}}"#
        )
    };
    let workload = |queue: &str, k: u32, status: &str| {
        format!(
            r#"{{"kind": "Workload", "metadata": {{"name": "{queue}{k}", "namespace": "ns"}}, "spec": {{"queueName": "{queue}", "podSets": [{{"count": 1,
            "template": {{"spec": {{"containers": [{{"resources": {{"requests": {{"gpu": "1"}}}}}}]}}}}}}]}}, "status": {{{status}}}}}"#
        )
    };
    let admitted = r#""admission": {"clusterQueue": "a", "podSetAssignments": [{"name": "main", "flavors": {"gpu": "f"}}]}"#;
    let mut items =
        vec![of("a"), of("b"), r#"{"kind": "ResourceFlavor", "metadata": {"name": "f"}}"#.to_owned()];
    items.extend((0..14).map(|k| workload("a", k, admitted)));
    items.extend((0..4).map(|k| workload("b", k, "")));
    let folder = Folder::new();
    folder.write("dump.json", list(&items.iter().map(String::as_str).collect::<Vec<_>>()));
    let text = folder.run(&["import", "kueue", "dump.json", "-o", "s.json"]).ends_with(0).stdout;
    assert!(text.contains("quota alone decides"), "{text}");
    let found = folder.run(&["verdict", "s.json", "--format", "json"]).ends_with(1).json();
    let text = found.to_string();
    assert!(text.contains(r#""gpu":"12""#) && text.contains(r#""gpu":"14""#), "{text}");
}

fn import(source: &str, files: &[&Path], servers: u64, users: usize) -> Folder {
    let folder = Folder::new();
    let mut arguments = vec!["import", source];
    arguments.extend(files.iter().map(|path| path.to_str().unwrap()));
    arguments.extend(["-o", "problem.json"]);
    folder.run(&arguments).ends_with(0);
    let problem: serde_json::Value = serde_json::from_str(&folder.read("problem.json")).unwrap();
    let count = |server: &serde_json::Value| match &server["count"] {
        serde_json::Value::Null => 1,
        serde_json::Value::String(text) => text.parse().unwrap(),
        number => number.as_u64().unwrap(),
    };
    assert_eq!(problem["servers"].as_array().unwrap().iter().map(count).sum::<u64>(), servers);
    assert_eq!(problem["users"].as_array().unwrap().len(), users);
    folder
}

fn is_proven_on_openb(pods: &str, users: usize) {
    let Some(data) = data("alibaba_gpu2023_openb") else { return };
    let nodes = data.join("openb_node_list_all_node.csv.gz");
    let folder = import("openb", &[&nodes, &data.join(pods)], 1523, users);
    for mechanism in ["drfh", "tsf"] {
        is_proven(&folder, mechanism);
    }
}

#[test]
fn openb_answers_are_proven() {
    is_proven_on_openb("openb_pod_list_default.csv.gz", 151);
}

#[test]
fn openb_answers_with_gpu_models_are_proven() {
    is_proven_on_openb("openb_pod_list_gpuspec33.csv.gz", 457);
}

#[test]
fn google_answers_at_time_zero_are_proven() {
    let Some(data) = data("google2011") else { return };
    let machines = data.join("machine_events.part-00000-of-00001.csv.gz");
    let tasks = data.join("task_events.part-00000-of-00500.csv.gz");
    let folder = import("google", &[&machines, &tasks], 12_477, 507);
    for mechanism in ["drfh", "tsf"] {
        is_proven(&folder, mechanism);
    }
}

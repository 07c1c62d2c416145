//! Tests of Kubernetes: effective requests, the nodes that pods may use, the demand of daemons, JSON and
//! YAML, and hostile dumps.

use evenhand_dumps::{Options, snapshot};
use evenhand_import::Input;
use evenhand_problem::snapshot::System;
use evenhand_testkit::data;

use crate::common::{classes, exactly, import, left_out, refuses, users};

/// Returns a `List` of objects.
fn list(items: &[String]) -> String {
    format!(r#"{{"apiVersion": "v1", "items": [{}], "kind": "List"}}"#, items.join(","))
}

fn node(name: &str, cpu: &str, memory: &str, more: &str) -> String {
    format!(
        r#"{{"apiVersion": "v1", "kind": "Node", "metadata": {{"name": "{name}", "labels": {{"zone": "{}", "env": "prod"}}}},
        "spec": {{{more}}}, "status": {{"allocatable": {{"cpu": "{cpu}", "memory": "{memory}", "pods": "110"}},
        "conditions": [{{"type": "Ready", "status": "True"}}]}}}}"#,
        &name[..1]
    )
}

fn pod(name: &str, cpu: &str, spec: &str, status: &str) -> String {
    format!(
        r#"{{"kind": "Pod", "metadata": {{"name": "{name}", "namespace": "ns", "managedFields": [{{"cpu": "8x"}}]}},
        "spec": {{"containers": [{{"name": "c", "resources": {{"requests": {{"cpu": "{cpu}"}}}}}}]{spec}}},
        "status": {{{status}}}}}"#
    )
}

fn waiting(name: &str, spec: &str) -> String {
    pod(name, "1", &format!(", {spec}"), r#""phase": "Pending""#)
}

fn running(name: &str, node: &str) -> String {
    pod(name, "1", &format!(r#", "nodeName": "{node}""#), r#""phase": "Running""#)
}

fn snapshot_of_dump(items: &[String]) -> evenhand_problem::Snapshot {
    exactly(System::Kubernetes, &[("dump", &list(items))])
}

/// Returns the CPU request of a pod with the specification `spec`.
fn request(spec: &str) -> String {
    let pod = format!(r#"{{"kind": "Pod", "metadata": {{"name": "p"}}, "spec": {{{spec}}}}}"#);
    let snapshot = snapshot_of_dump(&[node("a", "100", "1Gi", ""), pod]);
    snapshot.problem.users()[0].base_demand()[0].to_string()
}

#[test]
fn computes_effective_requests_of_pods() {
    let container =
        |cpu: &str, more: &str| format!(r#"{{"resources": {{"requests": {{"cpu": "{cpu}"}}}}{more}}}"#);
    let sidecar = r#", "restartPolicy": "Always""#;
    let two = format!(r#""containers": [{}, {}]"#, container("1", ""), container("500m", ""));
    assert_eq!(request(&two), "3/2");
    let init = |list: &[String]| format!(r#"{two}, "initContainers": [{}]"#, list.join(","));
    assert_eq!(request(&init(&[container("2", ""), container("1", "")])), "2");
    assert_eq!(request(&init(&[container("1", sidecar), container("1", "")])), "5/2");
    // The second init container runs at the same time as the sidecar.
    assert_eq!(request(&init(&[container("1", sidecar), container("2", "")])), "3");
    assert_eq!(request(&init(&[container("2", ""), container("1", sidecar)])), "5/2");
    assert_eq!(request(&format!(r#"{two}, "overhead": {{"cpu": "250m"}}"#)), "7/4");
    assert_eq!(request(&format!(r#"{two}, "resources": {{"requests": {{"cpu": "4"}}}}"#)), "4");
    assert_eq!(request(r#""containers": [{"resources": {"limits": {"cpu": "3"}}}]"#), "3");
    assert_eq!(
        request(r#""containers": [{"resources": {"requests": {"cpu": 2}, "limits": {"cpu": "3"}}}]"#),
        "2"
    );
}

#[test]
fn selectors_affinity_and_taints_restrict_server_classes() {
    let taint =
        |effect: &str| format!(r#""taints": [{{"key": "gpu", "value": "yes", "effect": "{effect}"}}]"#);
    let nodes = [
        node("a1", "8", "8Gi", ""),
        node("a2", "8", "8Gi", ""),
        node("b1", "8", "8Gi", &taint("NoSchedule")),
        node("c1", "8", "8Gi", &taint("PreferNoSchedule")),
        node("d1", "8", "8Gi", &taint("NoExecute")),
    ];
    let affinity = |terms: &str| {
        format!(
            r#""affinity": {{"nodeAffinity": {{"requiredDuringSchedulingIgnoredDuringExecution": {{"nodeSelectorTerms": [{terms}]}}}}}}"#
        )
    };
    let term = |key: &str, operator: &str, values: &str| {
        format!(
            r#"{{"matchExpressions": [{{"key": "{key}", "operator": "{operator}", "values": [{values}]}}]}}"#
        )
    };
    let tolerates = |more: &str| format!(r#""tolerations": [{{"key": "gpu", {more}}}]"#);
    let pods = [
        waiting("p0", r#""nodeSelector": {"zone": "a"}"#),
        waiting("p1", &tolerates(r#""operator": "Exists""#)),
        waiting("p2", &tolerates(r#""value": "yes", "effect": "NoSchedule""#)),
        waiting("p3", &tolerates(r#""value": "no""#)),
        waiting(
            "p4",
            &affinity(&[term("zone", "In", r#""c""#), term("zone", "NotIn", r#""a", "c""#)].join(",")),
        ),
        waiting(
            "p5",
            &affinity(r#"{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["a2"]}]}"#),
        ),
        waiting("p6", &affinity("{}")),
        waiting("p7", &affinity(&term("env", "Exists", ""))),
        waiting("p8", r#""nodeSelector": {"zone": "z"}"#),
    ];
    let snapshot = snapshot_of_dump(&[&nodes[..], &pods[..]].concat());
    let shown = users(&snapshot);
    let where_to: Vec<&str> = shown.iter().map(|user| user.rsplit("; ").next().unwrap()).collect();
    assert_eq!(where_to, ["a1, a2", "all", "a1, a2, b1, c1", "a1, a2, c1", "c1", "a2"]);
    assert_eq!(snapshot.waiting_by_user(), [1, 1, 1, 2, 1, 1]);
    assert_eq!(left_out(&snapshot)["waiting tasks that no server is allowed to run"].1, ["ns/p6", "ns/p8"]);
}

#[test]
fn daemons_reduce_node_capacity_and_closed_nodes_keep_their_tasks() {
    let daemon = running("daemon", "a").replace(
        "\"managedFields\"",
        r#""ownerReferences": [{"kind": "DaemonSet", "name": "d"}], "managedFields""#,
    );
    let items = [
        node("a", "8", "8Gi", ""),
        node("b", "8", "8Gi", r#""unschedulable": true"#),
        node("c", "8", "8Gi", r#""unschedulable": true"#),
        node("d", "8", "8Gi", "").replace(r#""status": "True""#, r#""status": "False""#),
        daemon,
        running("p0", "a"),
        running("p1", "b"),
        waiting("p2", r#""hostNetwork": true"#),
        waiting("gated", r#""schedulingGates": [{"name": "wait"}]"#),
        pod("done", "4", r#", "nodeName": "a""#, r#""phase": "Succeeded""#),
        pod("idle", "0", r#", "nodeName": "a""#, r#""phase": "Running""#),
        running("gone", "z"),
    ];
    let snapshot = snapshot_of_dump(&items);
    let memory = 8u64 << 30;
    assert_eq!(classes(&snapshot), [format!("1 x a: 7 {memory}"), "1 x b: 1 0".to_owned()]);
    assert_eq!(users(&snapshot), ["ns/1: cpu 1; 1 run, 1 wait; a", "ns/2: cpu 1; 1 run, 0 wait; all"]);
    let left_out = left_out(&snapshot);
    let names = |what: &str| left_out[what].1.clone();
    assert_eq!(names("servers that are cordoned: they take no new tasks"), ["c"]);
    assert_eq!(names("servers that are not ready"), ["d"]);
    assert_eq!(names("waiting pods that are held back by scheduling gates"), ["ns/gated"]);
    assert_eq!(names("tasks that request nothing"), ["ns/idle"]);
    assert_eq!(names("running tasks on servers that the dump does not have"), ["ns/gone"]);
}

#[test]
fn conditions_that_are_not_modelled_are_named() {
    let preferred = r#""affinity": {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1}]},
        "podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": []}}"#;
    let items = [
        node("a", "8", "8Gi", ""),
        waiting("p0", preferred),
        waiting("p1", r#""topologySpreadConstraints": [{"maxSkew": 1}], "resourceClaims": [{"name": "x"}]"#),
        waiting("p2", r#""volumes": [{"persistentVolumeClaim": {"claimName": "x"}}]"#),
        r#"{"kind": "Service", "metadata": {"name": "s"}}"#.to_owned(),
    ];
    let snapshot = snapshot_of_dump(&items);
    let left_out = left_out(&snapshot);
    for (what, name) in [
        ("preferred node affinity", "ns/p0"),
        ("affinity between pods: podAntiAffinity", "ns/p0"),
        ("spreading over zones or nodes", "ns/p1"),
        ("claims of devices", "ns/p1"),
        ("volumes, which may be bound to nodes", "ns/p2"),
        ("objects of another kind: Service", "default/s"),
    ] {
        assert_eq!(left_out[what].1, [name], "{what}");
    }
    assert_eq!(snapshot.waiting_by_user(), [3]);
}

/// Servers whose capacities differ by at most 1.5 % become one class with rounded capacity. A server whose
/// tasks do not fit into this capacity stays outside.
#[test]
fn similar_nodes_are_merged_and_the_loss_is_stated() {
    let mut items = vec![
        node("a", "8", "1000", ""),
        node("b", "8", "1010", ""),
        node("c", "8", "1014", ""),
        node("d", "8", "1016", ""),
    ];
    items.push(pod("p", "1", "", ""));
    let merged = import(System::Kubernetes, &[("dump", &list(&items))], "3/200").unwrap();
    assert_eq!(classes(&merged), ["3 x node: 8 1000", "1 x d: 8 1016"]);
    let rounded = &merged.rounded[0];
    assert_eq!((rounded.server, rounded.resource), (0, 1));
    assert_eq!((rounded.most.to_string(), rounded.in_all.to_string()), ("14".to_owned(), "24".to_owned()));
    assert_eq!(classes(&snapshot_of_dump(&items)).len(), 4);
    let full = running("q", "c")
        .replace(r#""requests": {"cpu": "1"}"#, r#""requests": {"cpu": "1", "memory": "1012"}"#);
    items.push(full);
    let merged = import(System::Kubernetes, &[("dump", &list(&items))], "3/200").unwrap();
    assert_eq!(classes(&merged), ["2 x node: 8 1000", "1 x c: 8 1014", "1 x d: 8 1016"]);
}

#[test]
fn json_and_yaml_are_read_alike() {
    let yaml = "apiVersion: v1\nkind: List\nitems:\n- kind: Node\n  metadata: {name: a, labels: &l {zone: \"a\"}}\n  status:\n    allocatable: {cpu: 8, memory: 1Gi}\n\
        - kind: Node\n  metadata: {name: b, labels: *l}\n  status:\n    allocatable: {cpu: '8', memory: 1Gi}\n---\nkind: Pod\nmetadata:\n  name: p\nspec:\n  nodeName: a\n  containers:\n  - resources:\n      requests: {cpu: 500m}\n---\n";
    let snapshot = exactly(System::Kubernetes, &[("dump", yaml)]);
    assert_eq!(classes(&snapshot), [format!("2 x node: 8 {}", 1 << 30)]);
    assert_eq!(users(&snapshot), ["default/1: cpu 1/2; 1 run, 0 wait; all"]);
    // A file may contain several documents, for example from two calls of `kubectl`.
    let text = format!("{}\n{}\n", node("a", "8", "1Gi", ""), running("p", "a"));
    assert_eq!(exactly(System::Kubernetes, &[("dump", &text)]).problem.n_users(), 1);
    // The elements of a list from the raw API do not state their kind.
    let pods = r#"{"kind": "PodList", "items": [{"metadata": {"name": "p"}, "spec": {"nodeName": "a", "containers": [{"resources": {"requests": {"cpu": "1"}}}]}}]}"#;
    assert_eq!(
        exactly(System::Kubernetes, &[("n", &node("a", "8", "1Gi", "")), ("p", pods)]).problem.n_users(),
        1
    );
}

#[test]
fn errors_name_the_place() {
    let good = [node("a", "8", "8Gi", ""), running("p", "a")];
    let with = |from: &str, to: &str, expected: &str| {
        let text = list(&good);
        let changed = text.replacen(from, to, 1);
        assert_ne!(text, changed);
        refuses(System::Kubernetes, &[("dump", &changed)], expected);
    };
    with(r#""cpu": "8""#, r#""cpu": "8x""#, "dump: items[0].status.allocatable.cpu: `8x` is not a number");
    with(r#""cpu": "8""#, r#""cpu": "-8""#, "dump: items[0].status.allocatable.cpu: -8 is negative");
    with(
        r#""memory": "8Gi""#,
        r#""memory": "1e999""#,
        "dump: items[0].status.allocatable.memory: the exponent of",
    );
    with(
        r#""requests": {"cpu": "1"}"#,
        r#""requests": {"cpu": {}}"#,
        "dump: items[1].spec.containers[0].resources.requests.cpu: found an object",
    );
    with(
        r#""requests": {"cpu": "1"}"#,
        r#""requests": ["cpu"]"#,
        "items[1].spec.containers[0].resources.requests: found a list: expected an object",
    );
    with(r#""name": "p""#, r#""name": """#, "items[1].metadata.name: the name is empty");
    with(r#""kind": "Pod", "#, "", "items[1]: the field `kind` is missing");
    with(r#""kind": "Pod", "#, r#""kind": "Pod", "kind": "Node", "#, "the field `kind` is given twice");
    with(
        r#""kind": "Pod", "metadata": {"name": "p""#,
        r#""kind": "Node", "metadata": {"name": "p""#,
        "items[1].status: the field `allocatable` is missing".replace("allocatable", "capacity").as_str(),
    );
    let text = list(&good);
    refuses(
        System::Kubernetes,
        &[("dump", &text), ("again", &text)],
        "again: items[0]: the Node `default/a` is given twice",
    );
    for end in [1, 40, 200, text.len() - 1] {
        let cut = &text[..end];
        let found = import(System::Kubernetes, &[("dump", cut)], "0").unwrap_err();
        assert!(found.contains("dump:") && found.contains("cut off"), "{end}: {found}");
    }
    refuses(System::Kubernetes, &[("dump", "")], "dump: the file is empty");
    refuses(
        System::Kubernetes,
        &[("dump", "hello")],
        "dump:1: found `hello`: expected a dump in JSON or YAML",
    );
    refuses(System::Kubernetes, &[("dump", "[1]")], "dump: [0]: found `1`: expected an object");
    refuses(System::Kubernetes, &[("dump", "a: [1, 2")], "this is not YAML");
    refuses(System::Kubernetes, &[("dump", &list(&[running("p", "a")]))], NO_NODES);
    refuses(System::Kubernetes, &[("dump", &list(&[node("a", "8", "8Gi", "")]))], NO_PODS);
    refuses(System::Kubernetes, &[("dump", &list(&[]))], NO_NODES);
    let elsewhere = list(&[node("a", "8", "8Gi", ""), running("p", "z")]);
    refuses(
        System::Kubernetes,
        &[("dump", &elsewhere)],
        "there is no server `z`; the files seem to be of different clusters",
    );
    let affinity = r#""affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms":
        [{"matchExpressions": [{"key": "x", "operator": "Like"}]}]}}}"#;
    let dump = list(&[node("a", "8", "8Gi", ""), waiting("p", affinity)]);
    refuses(
        System::Kubernetes,
        &[("dump", &dump)],
        "matchExpressions[0].operator: the operator `Like` is not known",
    );
}

const NO_NODES: &str = "no file has nodes: add the output of kubectl get nodes,pods -A -o json";
const NO_PODS: &str = "no file has pods: add the output of kubectl get nodes,pods -A -o json";

/// A `List` without pods may come from a cluster without pods, or from a command that did not ask for pods. A
/// `PodList` proves that the command asked for pods.
#[test]
fn only_typed_empty_lists_count_as_answers() {
    let nodes = list(&[node("a", "8", "8Gi", "")]);
    let pods = r#"{"kind": "PodList", "apiVersion": "v1", "items": []}"#;
    let snapshot = exactly(System::Kubernetes, &[("nodes", &nodes), ("pods", pods)]);
    assert_eq!((snapshot.problem.n_users(), classes(&snapshot).len()), (0, 1));
    refuses(System::Kubernetes, &[("nodes", &nodes), ("pods", &list(&[]))], NO_PODS);
    // Finished pods prove that the command asked for pods.
    let ended = list(&[pod("p", "1", "", r#""phase": "Succeeded""#)]);
    assert_eq!(exactly(System::Kubernetes, &[("nodes", &nodes), ("pods", &ended)]).problem.n_users(), 0);
}

/// A sum of readable numbers may have too many digits to be read again. Such a dump is refused.
#[test]
fn sums_with_too_many_digits_are_refused() {
    let long = r#""containers": [{"resources": {"requests": {"cpu": "1e399"}}}, {"resources": {"requests": {"cpu": "1n"}}}]"#;
    let dump = list(&[
        node("a", "8", "8Gi", ""),
        format!(r#"{{"kind": "Pod", "metadata": {{"name": "p"}}, "spec": {{{long}}}}}"#),
    ]);
    refuses(
        System::Kubernetes,
        &[("dump", &dump)],
        "dump: items[1].spec: its requests add up to a number of more than 400 digits",
    );
    // The remaining capacity of a node is a difference with too many digits.
    let daemon = running("d", "a")
        .replace(r#""namespace": "ns""#, r#""namespace": "ns", "ownerReferences": [{"kind": "DaemonSet"}]"#);
    let dump = list(&[
        node("a", "1e399", "8Gi", ""),
        daemon.replace(r#""cpu": "1""#, r#""cpu": "1n""#),
        waiting("p", ""),
    ]);
    refuses(
        System::Kubernetes,
        &[("dump", &dump.replace(", },", "},"))],
        "server `a`: capacity of `cpu`: this number has more than 400 digits",
    );
}

/// Servers may have thousands of resources.
#[test]
fn reads_thousands_of_resources() {
    let resources: Vec<String> = (0..9_000).map(|r| format!(r#""x/{r:x}": 1"#)).collect();
    let resources = resources.join(",");
    let node = |name: &str| {
        format!(
            r#"{{"kind": "Node", "metadata": {{"name": "{name}"}}, "status": {{"allocatable": {{{resources}}}}}}}"#
        )
    };
    let pod = format!(
        r#"{{"kind": "Pod", "metadata": {{"name": "p"}}, "spec": {{"containers": [{{"resources": {{"requests": {{{resources}}}}}}}]}}}}"#
    );
    let snapshot = snapshot_of_dump(&[node("a"), node("b"), pod]);
    assert_eq!((snapshot.problem.resources().len(), snapshot.problem.n_servers()), (9_000, 1));
}

/// A few lines that would need gigabytes of memory or a deep stack are refused.
#[test]
fn hostile_dumps_are_refused() {
    let mut bomb = "a: &a [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for (k, letter) in ('b'..='i').enumerate() {
        let before = (b'a' + k as u8) as char;
        let alias = format!("*{before}, ").repeat(10);
        bomb.push_str(&format!("{letter}: &{letter} [{}]\n", alias.trim_end_matches(", ")));
    }
    refuses(System::Kubernetes, &[("dump", &bomb)], "its aliases stand for more than 100000 values");
    let long = format!("a: &a \"{}\"\nb: [{}]\n", "x".repeat(400_000), ["*a"; 99_000].join(","));
    refuses(System::Kubernetes, &[("dump", &long)], "its aliases stand for more than 16777216 bytes");
    let fields: Vec<String> = (0..90_000).map(|i| format!(r#""{i:05}": 1"#)).collect();
    refuses(
        System::Kubernetes,
        &[("dump", &format!(r#"{{"kind": "List", {}}}"#, fields.join(",")))],
        NO_NODES,
    );
    let deep = format!("{{\"items\": [{}", "[".repeat(100_000));
    refuses(System::Kubernetes, &[("dump", &deep)], "nested too deeply");
    let deep = format!("items: {}", "[".repeat(1_000));
    assert!(import(System::Kubernetes, &[("dump", &deep)], "0").is_err());
    refuses(System::Kubernetes, &[("dump", "a: b\0c\n")], "dump:1: found a null character");
    let inputs = vec![Input::new("dump", std::io::Cursor::new(b"a: \xff\xfe\n".to_vec())).unwrap()];
    let found = snapshot(System::Kubernetes, inputs, &Options::default()).unwrap_err().to_string();
    assert!(found.contains("dump:1: found bytes that are not UTF-8"), "{found}");
}

#[test]
fn reads_published_dumps() {
    let (Some(pods), Some(nodes)) = (data::data("fixtures_k8s"), data::data("alibaba_gpu2023_openb")) else {
        return;
    };
    let nodes = Input::open(&nodes.join("openb_node_list_gpu_node.k8s.yaml.gz")).unwrap();
    let none = Input::new("pods", std::io::Cursor::new(r#"{"kind": "PodList", "items": []}"#)).unwrap();
    let made = snapshot(System::Kubernetes, vec![nodes, none], &Options::default()).unwrap();
    assert_eq!(made.problem.n_single_servers(), 1_213);
    let pods = Input::open(&pods.join("cloudability_pods.json.gz")).unwrap();
    let found = snapshot(System::Kubernetes, vec![pods], &Options::default()).unwrap_err().to_string();
    assert!(found.contains("no file has nodes"), "{found}");
}

/// Events name the stopped pods. They also name the pod for which each pod was stopped, by its UID or, in old
/// versions, by its name.
#[test]
fn events_name_stopped_pods() {
    let event = |name: &str, reason: &str, message: &str| {
        format!(
            r#"{{"kind": "Event", "metadata": {{"name": "{name}.1", "namespace": "ns"}}, "reason": "{reason}",
            "involvedObject": {{"kind": "Pod", "name": "{name}", "namespace": "ns"}}, "message": "{message}",
            "eventTime": null, "lastTimestamp": "2026-01-31T12:00:00Z"}}"#
        )
    };
    let urgent =
        running("urgent", "a").replacen(r#""name": "urgent""#, r#""name": "urgent", "uid": "u-1""#, 1);
    let snapshot = snapshot_of_dump(&[
        node("a", "4", "1Gi", ""),
        urgent,
        event("p1", "Preempted", "Preempted by pod u-1 on node a"),
        event("p2", "Preempted", "Preempted by pod u-2 on node a"),
        event("p3", "Preempted", "Preempted by ns/old on node a"),
        event("p4", "Scheduled", "Successfully assigned ns/p4 to a"),
    ]);
    let shown: Vec<[&str; 5]> = snapshot
        .stopped
        .iter()
        .map(|of| [&of.task, &of.by, &of.by_uid, &of.rule, &of.time].map(String::as_str))
        .collect();
    let time = "2026-01-31T12:00:00Z";
    assert_eq!(
        shown,
        [
            ["ns/p1", "ns/urgent", "u-1", "Preempted", time],
            ["ns/p2", "", "u-2", "Preempted", time],
            ["ns/p3", "ns/old", "", "Preempted", time],
        ]
    );
    assert!(left_out(&snapshot).is_empty());
}

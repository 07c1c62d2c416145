//! Tests of Volcano: a small dump in the format of its interface, and dumps that are refused.

use evenhand_problem::Rational;
use evenhand_problem::snapshot::System;

use crate::common::{classes, exactly, left_out, refuses, users};

const NODES: &str = "apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: '8', memory: 16Gi, pods: '110'}}}
- {apiVersion: v1, kind: Node, metadata: {name: n2}, status: {allocatable: {cpu: '8', memory: 16Gi, pods: '110'}}}
- {apiVersion: v1, kind: Pod, metadata: {name: web, namespace: x}, spec: {nodeName: n1, containers: [{resources: {requests: {cpu: 500m}}}]}, status: {phase: Running}}
";
const QUEUES: &str = r#"{"apiVersion": "v1", "kind": "List", "items": [
  {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": {"name": "root"}, "spec": {"weight": 1}},
  {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": {"name": "eng"}, "spec": {"weight": 3, "parent": "root",
    "guarantee": {"resource": {"cpu": "2"}}, "capability": {"cpu": "0", "memory": "8Gi"}}, "status": {"state": "Open", "allocated": {"cpu": "2"}}},
  {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": {"name": "ml"}, "spec": {"weight": 2, "parent": "eng", "deserved": {"cpu": "4"}}},
  {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": {"name": "shut"}, "spec": {"weight": 1}, "status": {"state": "Closed"}},
  {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": {"name": "dev",
    "annotations": {"volcano.sh/hierarchy": "root/sci/dev", "volcano.sh/hierarchy-weights": "1/2/8"}}, "spec": {"weight": 5}},
  {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "PodGroup", "metadata": {"name": "g1", "namespace": "x"}, "spec": {"minMember": 2, "queue": "ml"}},
  {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "PodGroup", "metadata": {"name": "g2", "namespace": "x"}, "spec": {"minMember": 3, "queue": "dev"}},
  {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "PodGroup", "metadata": {"name": "g3", "namespace": "x"}, "spec": {"minMember": 1, "queue": "shut"}},
  {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "PodGroup", "metadata": {"name": "g4", "namespace": "x",
    "ownerReferences": [{"kind": "Job", "name": "train", "uid": "u4"}]}, "spec": {"minMember": 2, "queue": "dev"}, "status": {"phase": "Pending"}},
  {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "PodGroup", "metadata": {"name": "g5", "namespace": "x"}, "spec": {"queue": "dev"}},
  {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": {"name": "train", "namespace": "x", "uid": "u4"},
    "spec": {"minAvailable": 2, "tasks": [{"name": "worker", "replicas": 3, "template": {"spec": {"containers": [{"resources": {"requests": {"cpu": "2"}}}]}}}]}}]}"#;

fn pod(name: &str, group: &str, node: Option<&str>) -> String {
    let node = node.map_or_else(String::new, |node| format!("nodeName: {node}, "));
    let phase = if node.is_empty() { "Pending" } else { "Running" };
    format!(
        "---\n{{apiVersion: v1, kind: Pod, metadata: {{name: {name}, namespace: x, annotations: {{scheduling.k8s.io/group-name: {group}}}}}, \
         spec: {{{node}containers: [{{resources: {{requests: {{cpu: '1', memory: 1Gi}}}}}}]}}, status: {{phase: {phase}}}}}\n"
    )
}

fn pods() -> String {
    [
        pod("a", "g1", None),
        pod("b", "g1", Some("n1")),
        pod("c", "g1", Some("n2")),
        pod("d", "g2", None),
        pod("e", "g3", None),
        pod("f", "gone", Some("n2")),
    ]
    .concat()
}

#[test]
fn queues_are_groups_and_groups_of_pods_gangs() {
    let snapshot = exactly(System::Volcano, &[("nodes", NODES), ("queues", QUEUES), ("pods", &pods())]);
    let gib = |n: u64| n << 30;
    // A pod without a group is subtracted from its node. The same applies to a pod whose group is not in the
    // dump.
    assert_eq!(classes(&snapshot), [format!("1 x n1: 15/2 {}", gib(16)), format!("1 x n2: 7 {}", gib(15))]);
    let small = format!("cpu 1, memory {}", gib(1));
    assert_eq!(
        users(&snapshot),
        [
            "dev/1: cpu 2; 0 run, 2 wait; all, gang 2".to_owned(),
            "dev/2: cpu 2; 0 run, 1 wait; all".to_owned(),
            format!("ml/1: {small}; 2 run, 0 wait; all, gang 2"),
            format!("ml/2: {small}; 0 run, 1 wait; all"),
        ]
    );
    let groups = snapshot.problem.groups().list();
    let group = |name: &str| groups.iter().find(|group| group.name == name).unwrap();
    let above = |name: &str| group(name).parent.map(|v| groups[v].name.as_str());
    assert_eq!(
        [above("eng"), above("ml"), above("dev"), above("root/sci")],
        [None, Some("eng"), Some("root/sci"), None]
    );
    assert!(groups.iter().all(|group| group.name != "root"));
    assert_eq!(["eng", "ml", "dev", "root/sci"].map(|name| group(name).weight.clone()), [3, 2, 8, 2]);
    // Queue `ml` deserves 4 processors and has no guarantee of Volcano, so it lends all 4 processors.
    assert_eq!(group("ml").guarantee, Some(vec![(0, Rational::from(4))]));
    assert_eq!(group("ml").lend, [(0, Rational::from(4))]);
    // A capability of 0 processors is no limit. A guarantee is not lent.
    assert_eq!(group("eng").limit, [(1, Rational::from(gib(8)))]);
    assert_eq!(group("eng").guarantee, Some(vec![(0, Rational::from(2))]));
    assert_eq!(group("eng").lend, [(0, Rational::new())]);
    let reported: Vec<_> =
        snapshot.reported.iter().map(|of| (of.what.as_str(), of.value.clone().unwrap())).collect();
    assert_eq!(reported, [("allocated", Rational::from(2)), ("deserved", Rational::from(4))]);
    let left_out = left_out(&snapshot);
    assert_eq!(left_out["waiting pods of groups with fewer pods than must start together"].1, ["x/d"]);
    assert_eq!(left_out["waiting pods of queues that are not open"].1, ["x/e"]);
    assert_eq!(left_out["pods whose pod group is not in the dump"].1, ["x/f"]);
    let what = "groups without pods, whose demand is not known";
    assert_eq!(left_out[what].1, ["x/g5"]);
    assert_eq!(left_out.keys().filter(|what| what.starts_with("queues below others")).count(), 1);
}

#[test]
fn deserved_amounts_are_guaranteed_and_lent() {
    let queue = |name: &str, spec: &str| {
        format!(
            "---\n{{apiVersion: scheduling.volcano.sh/v1beta1, kind: Queue, metadata: {{name: {name}}}, spec: {{{spec}}}}}\n"
        )
    };
    let group = |name: &str, queue: &str| {
        format!(
            "---\n{{apiVersion: scheduling.volcano.sh/v1beta1, kind: PodGroup, metadata: {{name: {name}, namespace: x}}, spec: {{minMember: 1, queue: {queue}}}}}\n"
        )
    };
    let queues = [
        queue("dept", "deserved: {cpu: '9', memory: 9Gi}, guarantee: {resource: {cpu: '2'}}"),
        queue(
            "both",
            "parent: dept, deserved: {cpu: '5', memory: 0}, guarantee: {resource: {cpu: '2', memory: 1Gi}}",
        ),
        queue("capped", "parent: dept, deserved: {cpu: '5', memory: 4Gi}, capability: {cpu: '3'}"),
        queue("less", "deserved: {cpu: '1'}, guarantee: {resource: {cpu: '2'}}"),
        queue("none", "weight: 2"),
        group("g1", "both"),
        group("g2", "capped"),
        group("g3", "less"),
        group("g4", "none"),
    ]
    .concat();
    let pods = ["g1", "g2", "g3", "g4"].map(|group| pod(&format!("pod-{group}"), group, None)).concat();
    let snapshot = exactly(System::Volcano, &[("nodes", NODES), ("queues", &queues), ("pods", &pods)]);
    let groups = snapshot.problem.groups().list();
    let promised = |name: &str| {
        let group = groups.iter().find(|group| group.name == name).unwrap();
        let text = |amounts: &[(usize, Rational)]| {
            let text = |(r, amount): &(usize, Rational)| match r {
                0 => format!("cpu {amount}"),
                _ => format!("memory {}", Rational::from(amount / (1_u64 << 30))),
            };
            amounts.iter().map(text).collect::<Vec<_>>().join(", ")
        };
        let guarantee = group.guarantee.as_ref().map_or("-".to_owned(), |guarantee| text(guarantee));
        format!("{guarantee}; {}", text(&group.lend))
    };
    // A queue lends the difference between its deserved amount, bounded by its capability, and its guarantee.
    assert_eq!(promised("both"), "cpu 5, memory 1; cpu 3, memory 0");
    assert_eq!(promised("capped"), "cpu 3, memory 4; cpu 3, memory 4");
    assert_eq!(promised("less"), "cpu 2; cpu 0");
    assert_eq!(promised("none"), "-; ");
    // A queue with subqueues has only its guarantee. Its deserved amount is ignored.
    assert_eq!(promised("dept"), "cpu 2; cpu 0");
    let left_out = left_out(&snapshot);
    let what = "deserved amounts of queues with subqueues, which count only with `ancestorReclaimLevel`";
    assert_eq!(left_out[what].1, ["dept"]);
    let what = "queues below others: `capacity` reclaims from every queue that uses more than it deserves (`ancestorReclaimLevel` 0)";
    assert_eq!(left_out[what].1, ["both", "capped"]);
    assert!(snapshot.reported.iter().any(|of| of.what == "deserved"));
}

#[test]
fn errors_name_the_place() {
    let with = |from: &str, to: &str, expected: &str| {
        let text = QUEUES.replacen(from, to, 1);
        assert_ne!(text, QUEUES);
        refuses(System::Volcano, &[("nodes", NODES), ("queues", &text)], expected);
    };
    with("\"weight\": 3", "\"weight\": -3", "queues: items[1].spec.weight: -3 is negative");
    with(
        "\"memory\": \"8Gi\"",
        "\"memory\": \"8x\"",
        "queues: items[1].spec.capability.memory: `8x` is not a number",
    );
    with("\"cpu\": \"2\"", "\"cpu\": \"-8\"", "queues: items[1].spec.guarantee.resource.cpu: -8 is negative");
    with(
        "root/sci/dev",
        "sci/dev",
        "queues: items[4].metadata.annotations[\"volcano.sh/hierarchy\"]: expected a path that begins with `root`",
    );
    with("1/2/8", "1/-2/8", "hierarchy-weights\"]: found the weight `-2`: expected a number of at least 0");
    with(
        "\"minMember\": 2",
        "\"minMember\": 1.5",
        "queues: items[5].spec.minMember: found `1.5e0`: expected a whole number",
    );
    with("\"replicas\": 3", "\"replicas\": 1000000000", "expected at most 100000");
    with("\"parent\": \"root\"", "\"parent\": \"ml\"", "no problem can be made of this: groups");
    with("\"name\": \"ml\"", "\"name\": \"eng\"", "queues: items[2]: the Queue `default/eng` is given twice");
    with("\"kind\": \"Queue\", ", "", "queues: items[0]: the field `kind` is missing");
    refuses(
        System::Volcano,
        &[("queues", QUEUES)],
        "no file has nodes: add the output of kubectl get nodes,pods,queues",
    );
    refuses(
        System::Volcano,
        &[("nodes", NODES)],
        "no file has queues: add the output of kubectl get nodes,pods,queues",
    );
    let deep = format!("root{}/sci/dev", "/a".repeat(200));
    with("root/sci/dev", &deep, "a path of 203 levels: expected at most 100");
    refuses(System::Volcano, &[("nodes", &NODES[..150])], "nodes");
    refuses(System::Volcano, &[("queues", &QUEUES[..900])], "the file is cut off");
}

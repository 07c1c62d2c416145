//! Tests of Kueue: cohorts, flavours, limits, and workloads with and without pods, in both versions of its
//! API.

use evenhand_problem::snapshot::System;
use evenhand_problem::{Rational, Snapshot};
use serde_json::{Value, json};

use crate::common::{exactly, import, left_out, refuses, users};

fn node(name: &str, tier: &str) -> Value {
    json!({"kind": "Node", "metadata": {"name": name, "labels": {"tier": tier}},
        "status": {"allocatable": {"cpu": "10", "memory": "10Gi", "pods": 100}}})
}

fn quota(flavour: &str, nominal: u32, more: &Value) -> Value {
    let mut quota = json!({"name": "cpu", "nominalQuota": nominal.to_string()});
    quota.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    json!({"name": flavour, "resources": [quota]})
}

fn queue(name: &str, cohort: Option<&str>, flavours: &Value, version: &str) -> Value {
    let field = if version == "v1beta2" { "cohortName" } else { "cohort" };
    let mut queue = json!({"apiVersion": format!("kueue.x-k8s.io/{version}"), "kind": "ClusterQueue", "metadata": {"name": name},
        "spec": {"resourceGroups": [{"coveredResources": ["cpu"], "flavors": flavours}]}});
    if let Some(cohort) = cohort {
        queue["spec"][field] = json!(cohort);
    }
    queue
}

fn workload(name: &str, queue: &str, count: u32, admitted: Option<&str>) -> Value {
    let status = match admitted {
        Some(flavour) => json!({"admission": {"clusterQueue": queue, "podSetAssignments": [{"name": "main",
            "flavors": {"cpu": flavour}, "count": count}]}}),
        None => json!({}),
    };
    json!({"kind": "Workload", "metadata": {"name": name, "namespace": "ns",
            "ownerReferences": [{"kind": "Job", "name": format!("job-{name}"), "uid": format!("uid-{name}")}]},
        "spec": {"queueName": queue, "podSets": [{"name": "main", "count": count, "template": {"spec": {
            "containers": [{"resources": {"requests": {"cpu": "1"}}}]}}}]}, "status": status})
}

fn pod(name: &str, owner: &str, node: &str) -> Value {
    json!({"kind": "Pod", "metadata": {"name": name, "namespace": "ns", "ownerReferences": [{"kind": "Job", "uid": owner}]},
        "spec": {"nodeName": node, "containers": [{"resources": {"requests": {"cpu": "1"}}}]}, "status": {"phase": "Running"}})
}

fn cluster(version: &str) -> Vec<Value> {
    let local = |name: &str| json!({"kind": "LocalQueue", "metadata": {"name": name, "namespace": "ns"}, "spec": {"clusterQueue": name}});
    let flavour = |name: &str| json!({"kind": "ResourceFlavor", "metadata": {"name": name}, "spec": {"nodeLabels": {"tier": name}}});
    let mut a = queue(
        "a",
        Some("org"),
        &json!([
            quota("spot", 4, &json!({"borrowingLimit": "2"})),
            quota("fixed", 2, &json!({"lendingLimit": "1"}))
        ]),
        version,
    );
    a["spec"]["fairSharing"] = json!({"weight": "2"});
    a["status"] = json!({"fairSharing": {"weightedShare": 7}, "pendingWorkloads": 1,
        "flavorsReservation": [{"name": "spot", "resources": [{"name": "cpu", "total": "3"}]}]});
    let mut b = queue("b", Some("org"), &json!([quota("spot", 6, &json!({}))]), version);
    b["status"] = json!({"fairSharing": {"weightedShare": i64::MAX}});
    let parent = if version == "v1beta2" { "parentName" } else { "parent" };
    vec![
        node("n1", "spot"),
        node("n2", "fixed"),
        flavour("spot"),
        flavour("fixed"),
        local("a"),
        local("b"),
        local("alone"),
        a,
        b,
        queue("alone", None, &json!([quota("fixed", 3, &json!({}))]), version),
        json!({"kind": "Cohort", "metadata": {"name": "org"}, "spec": {parent: "top"}}),
        workload("w1", "a", 2, Some("spot")),
        pod("p0", "uid-w1", "n1"),
        pod("p1", "uid-w1", "n1"),
        workload("w2", "a", 3, None),
        workload("w3", "b", 1, None),
        pod("system", "uid-else", "n2"),
    ]
}

fn dump(items: &[Value]) -> String {
    json!({"kind": "List", "items": items}).to_string()
}

fn read(items: &[Value]) -> Snapshot {
    exactly(System::Kueue, &[("dump", &dump(items))])
}

#[test]
fn quotas_become_guarantees_limits_and_amounts_to_lend() {
    for version in ["v1beta1", "v1beta2"] {
        let snapshot = read(&cluster(version));
        let problem = &snapshot.problem;
        let groups = problem.groups().list();
        let find = |name: &str| groups.iter().position(|group| group.name == name).unwrap();
        let (a, b, alone, org, top) = (find("a"), find("b"), find("alone"), find("org"), find("top"));
        assert_eq!(
            [groups[a].parent, groups[b].parent, groups[org].parent],
            [Some(org), Some(org), Some(top)]
        );
        assert_eq!([groups[alone].parent, groups[top].parent], [None, None]);
        let of = |x: u32| vec![(0, Rational::from(x))];
        assert_eq!(groups[a].weight, 2);
        assert_eq!([&groups[a].guarantee, &groups[b].guarantee], [&Some(of(6)), &Some(of(6))]);
        // The queue lends all 4 units of `spot`, and 1 of its 2 units of `fixed`.
        assert_eq!((&groups[a].lend, &groups[b].lend), (&of(5), &vec![]));
        // The queue may borrow any amount of `fixed`, and may use at most 6 of `spot`.
        assert_eq!(groups[a].limit, []);
        assert_eq!(
            (groups[a].on.len(), groups[a].on[0].servers.len(), &groups[a].on[0].limit),
            (1, 1, &of(6))
        );
        assert_eq!(groups[alone].limit, of(3));
        assert_eq!(groups[top].limit, of(12));
        assert_eq!(groups[top].guarantee, None);
        assert_eq!(
            users(&snapshot),
            [
                "a/1: cpu 1; 2 run, 0 wait; all, gang 2",
                "a/2: cpu 1; 0 run, 3 wait; all, gang 3",
                "b/1: cpu 1; 0 run, 1 wait; n1",
            ]
        );
        // The pod without a workload is subtracted from its node.
        assert_eq!(problem.total_capacity()[0], 19);
        let reported: Vec<_> =
            snapshot.reported.iter().map(|of| (of.what.as_str(), of.value.clone())).collect();
        assert!(
            reported.contains(&("weightedShare", Some(Rational::from(7))))
                && reported.contains(&("weightedShare", None))
        );
        assert!(left_out(&snapshot).keys().any(|what| what.starts_with("nominal quotas by flavour")));
        assert!(snapshot.sources[0].version.contains(version));
    }
}

/// Admitted workloads without running pods count for their queue. All other tasks stay on their servers.
#[test]
fn admitted_work_without_pods_has_no_server() {
    let mut items = cluster("v1beta1");
    items.push(workload("w4", "b", 2, Some("spot")));
    let snapshot = read(&items);
    assert!(!snapshot.allocation.placements.as_ref().unwrap().is_empty());
    assert_eq!(
        users(&snapshot)[2..],
        ["b/1: cpu 1; 0 run, 1 wait; n1", "b/2: cpu 1; 0 run, 0 wait; n1, gang 2"]
    );
    let user = snapshot.problem.user_named("b/2").unwrap();
    let of = snapshot.constraints.iter().find(|of| of.user == user).unwrap();
    assert_eq!(of.admitted, 2);
}

#[test]
fn tasks_held_from_starting_are_named() {
    let mut items = cluster("v1beta1");
    items[8]["spec"]["stopPolicy"] = json!("Hold");
    items[14]["spec"]["active"] = json!(false);
    items.push(workload("w5", "nowhere", 1, None));
    let mut done = workload("w6", "a", 1, None);
    done["status"] = json!({"conditions": [{"type": "Finished", "status": "True"}]});
    items.push(done);
    let snapshot = read(&items);
    let left_out = left_out(&snapshot);
    assert_eq!(left_out["waiting workloads of a queue that is stopped"].1, ["ns/w3"]);
    assert_eq!(left_out["waiting workloads that are not active"].1, ["ns/w2"]);
    assert_eq!(left_out["waiting workloads whose local queue is not in the dump"].1, ["ns/w5"]);
    assert_eq!(snapshot.waiting, []);
}

/// Only workloads that tolerate the taint of a flavour may use this flavour.
#[test]
fn flavour_taints_restrict_workloads() {
    let mut items = cluster("v1beta1");
    let taint = json!([{"key": "spot", "value": "true", "effect": "NoSchedule"}]);
    items[2]["spec"]["nodeTaints"] = taint.clone();
    items[0]["spec"] = json!({"taints": taint});
    items[15]["spec"]["podSets"][0]["template"]["spec"]["tolerations"] =
        json!([{"key": "spot", "operator": "Exists"}]);
    let snapshot = read(&items);
    let shown = users(&snapshot);
    assert!(shown.contains(&"a/2: cpu 1; 0 run, 3 wait; n2, gang 3".to_owned()), "{shown:?}");
    assert!(shown.contains(&"b/1: cpu 1; 0 run, 1 wait; n1".to_owned()), "{shown:?}");
}

/// A dump without objects of a required kind is refused.
#[test]
fn dumps_without_a_required_kind_are_refused() {
    let without = |kind: &str| -> Vec<Value> {
        cluster("v1beta1").into_iter().filter(|item| item["kind"] != kind).collect()
    };
    for (kind, plural) in [
        ("ClusterQueue", "clusterqueues"),
        ("Workload", "workloads"),
        ("LocalQueue", "localqueues"),
        ("ResourceFlavor", "resourceflavors"),
    ] {
        let expected =
            format!("no file has {plural}: add the output of kubectl get nodes,pods,clusterqueues,");
        refuses(System::Kueue, &[("dump", &dump(&without(kind)))], &expected);
    }
    // Workloads may be missing if all queues report that they are empty, and a list of workloads may be
    // empty.
    let mut idle = without("Workload");
    let list = r#"{"kind": "WorkloadList", "items": []}"#;
    exactly(System::Kueue, &[("dump", &dump(&idle)), ("workloads", list)]);
    for queue in idle.iter_mut().filter(|item| item["kind"] == "ClusterQueue") {
        queue["status"] = json!({"pendingWorkloads": 0, "admittedWorkloads": 0});
    }
    exactly(System::Kueue, &[("dump", &dump(&idle))]);
    idle[8]["status"]["pendingWorkloads"] = json!(1);
    refuses(System::Kueue, &[("dump", &dump(&idle))], "no file has workloads");
}

/// Returns two queues of a cohort: the workloads of `a` use 14 units of 16, and four workloads of `b` wait.
fn by_quota(flavour: &Value, admitted: bool) -> Vec<Value> {
    let local = |name: &str| json!({"kind": "LocalQueue", "metadata": {"name": name, "namespace": "ns"}, "spec": {"clusterQueue": name}});
    let quota = json!([quota("gpu", 8, &json!({}))]);
    let mut items = vec![
        json!({"kind": "ResourceFlavor", "metadata": {"name": "gpu"}, "spec": {"nodeLabels": flavour}}),
        local("a"),
        local("b"),
        queue("a", Some("org"), &quota, "v1beta1"),
        queue("b", Some("org"), &quota, "v1beta1"),
    ];
    items.extend((0..14).map(|k| workload(&format!("a{k}"), "a", 1, admitted.then_some("gpu"))));
    items.extend((0..4).map(|k| workload(&format!("b{k}"), "b", 1, None)));
    items
}

/// Without nodes in the dump, the capacity of a class is the quota of a flavour, and the snapshot has no
/// single servers.
#[test]
fn quotas_replace_missing_nodes() {
    let snapshot = read(&by_quota(&json!({}), true));
    assert_eq!(crate::common::classes(&snapshot), ["1 x quota of gpu: 16"]);
    assert!(snapshot.servers.is_empty());
    assert!(snapshot.allocation.placements.is_none());
    assert_eq!(users(&snapshot), ["a/1: cpu 1; 14 run, 0 wait; all", "b/1: cpu 1; 0 run, 4 wait; all"]);
    let left_out = left_out(&snapshot);
    assert!(
        left_out.keys().any(|what| what.starts_with("servers: no file has nodes, so quota alone decides"))
    );
    // Pods of admitted workloads on nodes that are not in the dump do not change the problem.
    let mut items = by_quota(&json!({}), true);
    items.extend((0..14).map(|k| pod(&format!("p{k}"), &format!("uid-a{k}"), "somewhere")));
    assert_eq!(read(&items).problem, snapshot.problem);
}

/// If a node group is scaled to zero, the dump has nodes, but no nodes of the flavour.
#[test]
fn quotas_replace_missing_nodes_of_a_flavour() {
    let mut items = by_quota(&json!({"pool": "gpu"}), false);
    items.push(node("cpu0", "cpu"));
    let snapshot = read(&items);
    assert_eq!(crate::common::classes(&snapshot), ["1 x quota of gpu: 16 0"]);
    assert!(snapshot.allocation.placements.is_none());
    assert_eq!(users(&snapshot), ["a/1: cpu 1; 0 run, 14 wait; all", "b/1: cpu 1; 0 run, 4 wait; all"]);
    let left_out = left_out(&snapshot);
    let what = left_out.iter().find(|(what, _)| what.starts_with("flavours without a node in the dump"));
    assert_eq!(what.unwrap().1.1, ["gpu"]);
    assert_eq!(left_out["servers that no task of the dump may use"].1, ["cpu0"]);
    // If the dump has one node of the flavour, nodes are used instead of quotas.
    items.push(json!({"kind": "Node", "metadata": {"name": "g", "labels": {"pool": "gpu"}}, "status": {"allocatable": {"cpu": "2"}}}));
    let snapshot = read(&items);
    assert_eq!(crate::common::classes(&snapshot), ["1 x g: 2 0"]);
    assert!(snapshot.allocation.placements.is_some());
}

/// A workload of a queue with two resource groups uses one flavour of each resource group. A class has the
/// quotas of both flavours.
#[test]
fn workloads_use_one_flavour_of_each_resource_group() {
    let mut items = by_quota(&json!({}), false);
    items.push(json!({"kind": "ResourceFlavor", "metadata": {"name": "disk"}, "spec": {}}));
    for queue in items.iter_mut().filter(|item| item["kind"] == "ClusterQueue") {
        let group = json!({"coveredResources": ["disk"], "flavors": [{"name": "disk", "resources": [{"name": "disk", "nominalQuota": "5"}]}]});
        queue["spec"]["resourceGroups"].as_array_mut().unwrap().push(group);
    }
    for workload in items.iter_mut().filter(|item| item["kind"] == "Workload") {
        let container = &mut workload["spec"]["podSets"][0]["template"]["spec"]["containers"][0];
        container["resources"]["requests"]["disk"] = json!("1");
    }
    let snapshot = read(&items);
    assert_eq!(crate::common::classes(&snapshot), ["1 x quota of disk and gpu: 16 10"]);
    assert_eq!(users(&snapshot)[0], "a/1: cpu 1, disk 1; 0 run, 14 wait; all");
}

#[test]
fn errors_name_the_place() {
    let with = |pointer: &str, value: Value, expected: &str| {
        let mut list = json!({"kind": "List", "items": cluster("v1beta2")});
        let (parent, field) = pointer.rsplit_once('/').unwrap();
        list.pointer_mut(parent).unwrap()[field] = value;
        refuses(System::Kueue, &[("dump", &list.to_string())], expected);
    };
    let at = "/items/7/spec/resourceGroups/0/flavors/0/resources/0/nominalQuota";
    with(
        at,
        json!("8x"),
        "dump: items[7].spec.resourceGroups[0].flavors[0].resources[0].nominalQuota: `8x` is not a number",
    );
    with(at, json!("-8"), "nominalQuota: -8 is negative");
    with("/items/7/spec/fairSharing/weight", json!("-1"), "items[7].spec.fairSharing.weight: -1 is negative");
    with("/items/11/spec/podSets/0/count", json!(-1), "items[11].spec.podSets[0].count: -1 is negative");
    with(
        "/items/11/spec/podSets/0/template",
        json!({}),
        "items[11].spec.podSets[0].template: the field `spec` is missing",
    );
    with("/items/10/spec/parentName", json!("org"), "the cohort `org` is one of its own parents");
    with("/items/4/spec/clusterQueue", json!(3), "items[4].spec.clusterQueue: found `3`: expected a string");
    let text = dump(&cluster("v1beta1"));
    assert!(
        import(System::Kueue, &[("dump", &text[..text.len() / 2])], "0").unwrap_err().contains("cut off")
    );
}

/// The conditions of stopped workloads are read in the words of several versions.
#[test]
fn conditions_name_stopped_workloads_and_their_preemptors() {
    let mut items = cluster("v1beta1");
    let uid = |name: &str| format!("uid-of-{name}");
    for item in items.iter_mut().filter(|item| item["kind"] == "Workload") {
        let name = item["metadata"]["name"].as_str().unwrap().to_owned();
        item["metadata"]["uid"] = json!(uid(&name));
    }
    let add = |item: &mut Value, conditions: Value| {
        let status = item["status"].as_object_mut();
        match status {
            Some(status) => drop(status.insert("conditions".to_owned(), conditions)),
            None => item["status"] = json!({"conditions": conditions}),
        }
    };
    let message = format!(
        "Preempted to accommodate a workload (UID: {}, JobUID: UNKNOWN) due to Fair Sharing within the cohort; preemptor path: /org/b; preemptee path: /org/a",
        uid("w1")
    );
    let at = |name: &str, items: &[Value]| {
        items.iter().position(|item| item["kind"] == "Workload" && item["metadata"]["name"] == name).unwrap()
    };
    let (w1, w2, w3) = (at("w1", &items), at("w2", &items), at("w3", &items));
    let condition = |kind: &str, is_true: bool, reason: &str, message: &str| {
        json!({"type": kind, "status": if is_true { "True" } else { "False" }, "reason": reason, "message": message,
               "lastTransitionTime": "2025-09-29T20:49:34Z"})
    };
    add(
        &mut items[w2],
        json!([
            condition("Evicted", true, "Preempted", &message),
            condition("Preempted", true, "InCohortFairSharing", &message),
        ]),
    );
    // The UID of an owner identifies the workload too. This workload runs again.
    let job = "Previously: Preempted to accommodate a workload (UID: UNKNOWN, JobUID: job-3) due to reclamation within the cohort while borrowing";
    add(&mut items[w1], json!([condition("Preempted", false, "QuotaReserved", job)]));
    items[w3]["metadata"]["ownerReferences"] = json!([{"kind": "Job", "name": "j", "uid": "job-3"}]);
    add(&mut items[w3], json!([condition("Evicted", true, "PodsReadyTimeout", "Exceeded the timeout")]));
    let snapshot = read(&items);
    let mut shown: Vec<[&str; 5]> = snapshot
        .stopped
        .iter()
        .map(|of| [&of.task, &of.by, &of.by_uid, &of.rule, &of.time].map(String::as_str))
        .collect();
    shown.sort_unstable();
    let time = "2025-09-29T20:49:34Z";
    assert_eq!(
        shown,
        [
            ["ns/w1", "ns/w3", "job-3", "InCohortReclaimWhileBorrowing", time],
            ["ns/w2", "ns/w1", "uid-of-w1", "InCohortFairSharing", time],
            ["ns/w3", "", "", "PodsReadyTimeout", time],
        ]
    );
}

//! Tests of `YuniKorn`: a small dump in the format of its web service, and dumps that are refused.

use evenhand_problem::Rational;
use evenhand_problem::groups::ShareOver;
use evenhand_problem::snapshot::System;

use crate::common::{classes, exactly, left_out, refuses, users};

const DUMP: &str = r#"{"timestamp": 1700000000, "partitions": [{"name": "default", "totalNodes": 3}],
  "applications": [
    {"applicationID": "spark-1", "partition": "default", "queueName": "root.eng.ml", "applicationState": "Running",
     "placeholderData": [{"taskGroupName": "workers", "count": 3, "minResource": {"vcore": 2000}}],
     "allocations": [
       {"allocationKey": "a", "allocationTags": {"kubernetes.io/meta/namespace": "ml", "kubernetes.io/meta/podName": "driver"},
        "resource": {"vcore": 1500, "memory": 1000, "pods": 1}, "priority": "0", "nodeId": "n1"},
       {"allocationKey": "b", "resource": {"vcore": 2000, "memory": 1000, "pods": 1}, "nodeId": "n2", "placeholder": true, "taskGroupName": "workers"}],
     "requests": [
       {"allocationKey": "b", "resource": {"vcore": 2000, "memory": 1000, "pods": 1}},
       {"allocationKey": "c", "resource": {"vcore": 2000, "memory": 1000, "pods": 1}, "placeholder": true, "taskGroupName": "workers"},
       {"allocationKey": "d", "resource": {"vcore": 2000, "memory": 1000, "pods": 1}, "taskGroupName": "workers"},
       {"allocationKey": "e", "resource": {"vcore": 2000, "memory": 1000, "pods": 1}, "taskGroupName": "workers"},
       {"allocationKey": "f", "resource": {"vcore": 2000, "memory": 1000, "pods": 1}, "taskGroupName": "workers"}]},
    {"applicationID": "web-1", "partition": "[rm]default", "queueName": "root.web", "applicationState": "Accepted",
     "requests": [
       {"allocationKey": "g", "resource": {"vcore": 500, "memory": 10, "pods": 1}, "pendingCount": 2, "priority": "7"},
       {"allocationKey": "h", "resource": {"vcore": 500, "memory": 10, "pods": 1}, "requiredNodeId": "n2"}]},
    {"applicationID": "old", "partition": "default", "queueName": "root.web", "applicationState": "Completed"}],
  "nodes": [{"partitionName": "default", "nodesInfo": [
    {"nodeID": "n1", "capacity": {"vcore": 8000, "memory": 10000, "pods": 110}, "occupied": {"vcore": 500, "memory": 100}, "schedulable": true},
    {"nodeID": "n2", "capacity": {"vcore": 8000, "memory": 10000, "pods": 110}, "schedulable": true},
    {"nodeID": "n3", "capacity": {"vcore": 8000, "memory": 10000, "pods": 110}, "schedulable": false}]}],
  "queues": [{"queuename": "root", "partition": "default", "maxResource": {"vcore": 24000}, "children": [
    {"queuename": "root.eng", "partition": "default", "guaranteedResource": {"vcore": 8000}, "isLeaf": false, "prioritySorting": true, "children": [
      {"queuename": "root.eng.ml", "partition": "default", "guaranteedResource": {"vcore": 4000}, "maxResource": {"vcore": 12000, "memory": 9000},
       "allocatedResource": {"vcore": 3500}, "absUsedCapacity": {"vcore": 15}, "priorityOffset": 5, "isLeaf": true, "sortingPolicy": "fifo"}]},
    {"queuename": "root.web", "partition": "default", "isLeaf": true, "maxRunningApps": 3}]}],
  "config": {"partitions": [{"name": "default", "queues": [{"name": "root", "queues": [{"name": "web", "limits": [{"users": ["*"]}]}]}]}]}}"#;

#[test]
fn queues_are_groups() {
    let snapshot = exactly(System::Yunikorn, &[("dump", DUMP)]);
    assert_eq!(classes(&snapshot), ["1 x n1: 15/2 9900 110", "1 x n2: 8 10000 110"]);
    assert_eq!(
        users(&snapshot),
        [
            "root.eng.ml/1: vcore 3/2, memory 1000, pods 1; 1 run, 0 wait; all",
            "root.eng.ml/2: vcore 2, memory 1000, pods 1; 1 run, 1 wait; all, gang 3",
            "root.eng.ml/3: vcore 2, memory 1000, pods 1; 0 run, 1 wait; all",
            "root.web/1: vcore 1/2, memory 10, pods 1; 0 run, 2 wait; all",
            "root.web/2: vcore 1/2, memory 10, pods 1; 0 run, 1 wait; n2",
        ]
    );
    let groups = snapshot.problem.groups();
    assert_eq!(groups.share().over, ShareOver::Guarantee);
    let group = |name: &str| groups.list().iter().find(|group| group.name == name).unwrap();
    let (eng, ml, web) = (group("root.eng"), group("root.eng.ml"), group("root.web"));
    let above = ml.parent.map(|v| groups.list()[v].name.as_str());
    assert_eq!((eng.parent, above, web.parent), (None, Some("root.eng"), None));
    assert_eq!(ml.guarantee, Some(vec![(0, Rational::from(4))]));
    assert_eq!(ml.limit, [(0, Rational::from(12)), (1, Rational::from(9000))]);
    assert_eq!((ml.priority, web.guarantee.clone()), (5, None));
    assert_eq!(snapshot.reported.len(), 2);
    assert_eq!(snapshot.reported[0].value, Some(Rational::from((7, 2))));
    assert_eq!(snapshot.running[0].names, ["ml/driver"]);
    let left_out = left_out(&snapshot);
    assert_eq!(left_out["waiting pods that will replace placeholders, which count instead"].0, 2);
    assert_eq!(left_out["priorities of tasks, which count before shares of queues"].1, ["g"]);
    assert_eq!(left_out["how many applications a queue may run at once"].1, ["root.web"]);
    assert_eq!(left_out["limits of users and groups of users in queues"].1, ["web"]);
    assert_eq!(left_out["servers that are not schedulable: they take no new tasks"].1, ["n3"]);
    let what = "queues without a guarantee, whose share is of the cluster here and of their fair maximum in YuniKorn";
    assert_eq!(left_out[what].1, ["root.web"]);
    assert!(left_out.keys().any(|what| what.starts_with("selectors, affinity and tolerations")));
}

#[test]
fn errors_name_the_place() {
    let with = |from: &str, to: &str, expected: &str| {
        let text = DUMP.replacen(from, to, 1);
        assert_ne!(text, DUMP);
        refuses(System::Yunikorn, &[("dump", &text)], expected);
    };
    with(
        "\"vcore\": 1500",
        "\"vcore\": \"8x\"",
        "dump: applications[0].allocations[0].resource.vcore: `8x` is not a number",
    );
    with(
        "\"vcore\": 1500",
        "\"vcore\": -8",
        "dump: applications[0].allocations[0].resource.vcore: -8 is negative",
    );
    with("\"memory\": 10000", "\"memory\": []", "dump: nodes[0].nodesInfo[0].capacity.memory: found a list");
    with(
        "\"vcore\": 12000",
        "\"vcore\": -1",
        "dump: queues[0].children[0].children[0].maxResource.vcore: -1 is negative",
    );
    with(
        "\"nodeID\": \"n2\"",
        "\"nodeID\": \"n1\"",
        "dump: nodes[0].nodesInfo[1]: the node `n1` is given twice",
    );
    with(
        "\"nodeId\": \"n1\"",
        "\"nodeId\": \"\"",
        "dump: applications[0].allocations[0]: the field `nodeId` is missing",
    );
    with("\"queuename\": \"root.web\"", "\"queuename\": \"root.eng\"", "the queue `root.eng` is given twice");
    with(
        "\"queuename\": \"root.eng.ml\"",
        "\"queuename\": \"root.dev.ml\"",
        "dump: queues[0].children[0].children[0]: the queue `root.dev.ml` is below `root.eng`",
    );
    with("\"partitionName\": \"default\"", "\"partitionName\": \"gpu\"", "partitions share no servers");
    with(
        "\"maxResource\": {\"vcore\": 12000",
        "\"maxResource\": {\"vcore\": 1000",
        "no problem can be made of this: groups[0].guarantee.vcore",
    );
    refuses(System::Yunikorn, &[("dump", &DUMP[..700])], "the file is cut off");
    refuses(
        System::Yunikorn,
        &[("dump", "{}")],
        "dump: found neither `queues` nor `nodes` nor `applications`",
    );
    refuses(System::Yunikorn, &[("dump", "[7]")], "dump: [0]: expected an object with the lists");
    refuses(
        System::Yunikorn,
        &[("a", DUMP), ("b", DUMP)],
        "b: applications[0]: the application `spark-1` is given twice",
    );
    let without_nodes = DUMP.replace("\"nodesInfo\"", "\"others\"");
    refuses(System::Yunikorn, &[("dump", &without_nodes)], "the dump has no servers");
    for list in ["queues", "nodes", "applications"] {
        let without = DUMP.replacen(&format!("\"{list}\""), "\"others\"", 1);
        let expected =
            format!("no file has {list}: add the output of curl http://SCHEDULER:9080/ws/v1/fullstatedump");
        refuses(System::Yunikorn, &[("dump", &without)], &expected);
    }
}

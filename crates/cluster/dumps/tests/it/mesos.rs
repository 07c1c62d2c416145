//! Tests of Mesos: a small dump, two published dumps, and dumps that are refused.

use std::collections::BTreeMap;

use evenhand_dumps::{Options, snapshot};
use evenhand_import::Input;
use evenhand_problem::Rational;
use evenhand_problem::snapshot::System;
use evenhand_testkit::data;

use crate::common::{classes, exactly, left_out, refuses, users};

const STATE: &str = r#"{"version": "1.11.0", "slaves": [
    {"id": "S0", "active": true, "resources": {"cpus": 4.0000000001, "mem": 100, "disk": 0, "ports": "[1-9]"}},
    {"id": "S1", "active": true, "deactivated": true, "resources": {"cpus": 4, "mem": 100, "gpus": 2}}],
  "frameworks": [
    {"id": "F0", "name": "spark", "roles": ["eng/ml"], "used_resources": {"cpus": 1.5, "mem": 20}, "tasks": [
      {"id": "t0", "slave_id": "S0", "state": "TASK_RUNNING", "role": "eng/ml", "resources": {"cpus": 0.5, "mem": 10}},
      {"id": "t1", "slave_id": "S1", "state": "TASK_STAGING", "resources": {"cpus": 0.5, "mem": 10}},
      {"id": "t2", "slave_id": "S0", "state": "TASK_FINISHED", "resources": {"cpus": 0.5, "mem": 10}}]},
    {"id": "F1", "name": "spark", "role": "eng/ml", "tasks": [
      {"id": "t3", "slave_id": "S0", "state": "TASK_RUNNING", "resources": {"cpus": 1, "mem": 0}}]}]}"#;
const ROLES: &str = r#"{"roles": [{"name": "eng", "weight": 2.5, "quota": {"guarantee": {"cpus": 2}, "limit": {"cpus": 3, "mem": 50}}},
    {"name": "*", "weight": 1}]}"#;

#[test]
fn roles_and_frameworks_are_groups() {
    let snapshot = exactly(System::Mesos, &[("state", STATE), ("roles", ROLES)]);
    let megabytes = |n: u64| n << 20;
    assert_eq!(
        classes(&snapshot),
        [format!("1 x S0: 4 {}", megabytes(100)), format!("1 x S1: 1/2 {}", megabytes(10))]
    );
    let small = format!("cpus 1/2, mem {}", megabytes(10));
    assert_eq!(
        users(&snapshot),
        [
            format!("eng/ml: spark/1: {small}; 1 run, 0 wait; S0"),
            format!("eng/ml: spark/2: {small}; 1 run, 0 wait; all"),
            "eng/ml: spark (F1)/1: cpus 1; 1 run, 0 wait; S0".to_owned(),
        ]
    );
    let groups = snapshot.problem.groups().list();
    let names: BTreeMap<_, _> =
        groups.iter().map(|g| (g.name.as_str(), g.parent.map(|p| groups[p].name.as_str()))).collect();
    assert_eq!(names["eng/ml"], Some("eng"));
    assert_eq!(names["eng/ml: spark"], Some("eng/ml"));
    let eng = groups.iter().find(|group| group.name == "eng").unwrap();
    assert_eq!(eng.weight, Rational::from((5, 2)));
    assert_eq!(eng.guarantee, Some(vec![(0, Rational::from(2))]));
    let left_out = left_out(&snapshot);
    assert_eq!(left_out["usage of frameworks beyond their tasks (executors)"].1, ["spark"]);
    assert_eq!(left_out["tasks for which frameworks wait, which Mesos does not know"].0, 2);
}

#[test]
fn errors_name_the_place() {
    let with = |from: &str, to: &str, expected: &str| {
        let text = STATE.replacen(from, to, 1);
        assert_ne!(text, STATE);
        refuses(System::Mesos, &[("state", &text)], expected);
    };
    with(
        "\"mem\": 100,",
        "\"mem\": -8,",
        "state: slaves[0].resources.mem: -1 is negative".replace("-1", "-8").as_str(),
    );
    with(
        "{\"cpus\": 0.5, \"mem\": 10}",
        "{\"cpus\": [], \"mem\": 10}",
        "state: frameworks[0].tasks[0].resources.cpus: found a list",
    );
    with("\"id\": \"S1\"", "\"id\": \"S0\"", "state: slaves[1]: the agent `S0` is given twice");
    with("\"id\": \"F1\"", "\"id\": \"F0\"", "state: frameworks[1]: the framework `F0` is given twice");
    with("\"slave_id\": \"S0\",", "", "state: frameworks[0].tasks[0]: the field `slave_id` is missing");
    with("\"TASK_RUNNING\"", "7", "state: frameworks[0].tasks[0].state: found `7`: expected a string");
    refuses(
        System::Mesos,
        &[("state", &STATE[..300])],
        "the file is cut off: it ends while reading a string",
    );
    refuses(System::Mesos, &[("state", "{}")], "state: found neither `slaves` nor `frameworks` nor `roles`");
    let command = "add the output of curl http://MASTER:5050/state > state.json";
    refuses(
        System::Mesos,
        &[("roles", ROLES)],
        &format!("no file has agents (the list `slaves`): {command}"),
    );
    let agents = r#"{"slaves": [{"id": "a", "resources": {"cpus": 4}}]}"#;
    refuses(System::Mesos, &[("state", agents)], &format!("no file has frameworks: {command}"));
    let deep = ROLES.replacen("\"name\": \"", &format!("\"name\": \"{}", "a/".repeat(100)), 1);
    refuses(System::Mesos, &[("roles", &deep)], "levels: expected at most 100");
    let slashes = ROLES.replacen("\"name\": \"", &format!("\"name\": \"{}", "/".repeat(20_000)), 1);
    refuses(System::Mesos, &[("roles", &slashes)], "bytes: expected at most 1024");
}

/// A real cluster of six agents and five frameworks with 131 running tasks. This number and the sums below
/// were computed by other means.
#[test]
fn reads_published_dumps() {
    let Some(folder) = data::data("fixtures_mesos") else { return };
    let read = |name: &str| {
        snapshot(System::Mesos, vec![Input::open(&folder.join(name)).unwrap()], &Options::default()).unwrap()
    };
    let made = read("dcos_ui_state.json.zst");
    let problem = &made.problem;
    let totals = made.allocation.totals();
    assert_eq!(totals.iter().sum::<Rational>(), 131);
    let held = |r: usize| -> Rational {
        problem.users().iter().zip(&totals).map(|(user, x)| Rational::from(&user.base_demand()[r] * x)).sum()
    };
    // The processors in use are 50 + 2 + 88.51 + 0.6.
    assert_eq!(held(0), Rational::from((14_111, 100)));
    assert_eq!(held(1), Rational::from((256_000u64 + 1_024 + 338_068 + 2_304) << 20));
    assert_eq!(problem.n_single_servers(), 6);
    assert_eq!(problem.total_capacity()[0], 240);
    let fake = read("mesos_dns_fake.json");
    assert!(fake.problem.n_users() > 0);
}

//! Groups, gangs and preemption in runs.

use crate::common;

use std::path::Path;

use common::{Kill, killed, only, scenario, simulated};
use evenhand_mechanisms::filling::Draw;
use evenhand_problem::format::Source;
use evenhand_simulate::{ReadScenario, Scenario, SimulateError, document, run, run_from, users_csv};

/// Returns a scenario with four units. Group `b` has four tasks from time 0. Group `a` has a guarantee of two
/// units, and its tasks arrive at 3.
fn promised(preemption: &str) -> String {
    format!(
        r#"{{"kind": "scenario", "resources": ["gpu"], "policy": {{"tree": {{"preemption": "{preemption}"}}}},
        "servers": [{{"name": "s", "count": 2, "capacity": {{"gpu": 2}}}}],
        "groups": [{{"name": "a", "guarantee": {{"gpu": 2}}}}, {{"name": "b"}}],
        "users": [{{"name": "x", "group": "a", "demand": {{"gpu": 1}},
                    "jobs": [{{"at": 3, "tasks": 2, "duration": 5}}]}},
                  {{"name": "y", "group": "b", "demand": {{"gpu": 1}},
                    "jobs": [{{"at": 0, "tasks": 4, "duration": 10}}]}}]}}"#
    )
}

#[test]
fn guaranteed_tasks_wait_or_preempt_others() {
    let waits = simulated(&promised("never"));
    assert_eq!((only(&waits).end, only(&waits).jobs[1].time), (15.0, 12.0));
    assert_eq!(only(&waits).tasks[1].preempted, 0);
    for preemption in ["guarantees", "shares"] {
        let simulated = simulated(&promised(preemption));
        let run = only(&simulated);
        // At 3 two of the four tasks are stopped. At 8 they start again and take 10 units of time.
        let times: Vec<(u32, f64)> = run.jobs.iter().map(|job| (job.user, job.time)).collect();
        assert_eq!((run.end, times), (18.0, vec![(0, 5.0), (1, 18.0)]));
        let tasks = run.tasks[1];
        assert_eq!((tasks.submitted, tasks.started, tasks.completed, tasks.preempted), (4, 6, 4, 2));
        assert_eq!((tasks.running(), tasks.waiting()), (0, 0));
        assert_eq!(run.task_time, [10.0, 46.0]);
        assert!(users_csv(&simulated.runs[0].0, run).ends_with(",2,0\n"));
        let document = document(&simulated);
        assert_eq!(document["policy"], format!("tree, preemption {preemption}, low"));
        assert_eq!(document["runs"][0]["tasks"]["preempted"], 2);
    }
}

#[test]
fn preemption_by_shares_respects_priorities_and_pinned_tasks() {
    // Without guarantees only the order of shares makes tasks stop: y keeps two of its four tasks.
    let text = promised("shares").replace(r#", "guarantee": {"gpu": 2}"#, "");
    assert_eq!(only(&simulated(&text)).tasks[1].preempted, 2);
    let text = text.replace("shares", "guarantees");
    assert_eq!(only(&simulated(&text)).tasks[1].preempted, 0);
    // A higher priority takes all tasks.
    let text = promised("shares")
        .replace(r#""guarantee": {"gpu": 2}"#, r#""priority": 1"#)
        .replace("\"tasks\": 2", "\"tasks\": 4");
    assert_eq!(only(&simulated(&text)).tasks[1].preempted, 4);
    // Pinned tasks stay.
    let text = text.replace(r#""group": "b","#, r#""group": "b", "pinned": 3,"#);
    assert_eq!(only(&simulated(&text)).tasks[1].preempted, 1);
}

#[test]
fn a_gang_ends_with_the_longest_of_its_tasks() {
    let with = |gang: u64| {
        let text = format!(
            r#"{{"kind": "scenario", "resources": ["gpu"], "policy": {{"tree": {{}}}},
            "servers": [{{"name": "s", "count": 2, "capacity": {{"gpu": 1}}}}],
            "users": [{{"name": "x", "gang": {gang}, "demand": {{"gpu": 1}},
                        "jobs": [{{"at": 0, "tasks": 12, "duration": {{"exponential": 4}}}}]}}], "every": 0.5}}"#
        );
        simulated(&text)
    };
    let (alone, together) = (with(1), with(2));
    assert!(only(&together).end > only(&alone).end);
    assert!(only(&together).rows.iter().all(|row| row.running[0] % 2 == 0));
    assert!(only(&alone).rows.iter().any(|row| row.running[0] == 1));
    assert_eq!(only(&together).tasks[0].completed, 12);
}

fn busy(preemption: &str, ties: &str) -> Scenario {
    scenario(&format!(
        r#"{{"kind": "scenario", "resources": ["cpu", "gpu"],
        "policy": {{"tree": {{"preemption": "{preemption}"}}, "ties": "{ties}"}},
        "servers": [{{"name": "s1", "count": 3, "capacity": {{"cpu": 10, "gpu": 4}}}},
                    {{"name": "s2", "count": 2, "capacity": {{"cpu": 16, "gpu": 2}}}}],
        "groups": [{{"name": "a", "guarantee": {{"gpu": 6}}, "weight": 2}}, {{"name": "b", "limit": {{"gpu": 12}}}},
                   {{"name": "c", "parent": "b", "priority": 1}}, {{"name": "d", "weight": 0}}],
        "users": [
            {{"name": "1", "group": "a", "demand": {{"cpu": 1, "gpu": 1}}, "gang": 2,
              "poisson": {{"rate": 1, "tasks": 4, "duration": {{"uniform": [1, 6]}}}}}},
            {{"name": "2", "group": "c", "demand": {{"cpu": 3, "gpu": 1}},
              "poisson": {{"rate": 1, "duration": {{"exponential": 3}}}}}},
            {{"name": "3", "group": "b", "demand": {{"cpu": 2}}, "leaves": 40, "pinned": 2,
              "jobs": [{{"at": 0, "tasks": 60, "duration": {{"exponential": 9}}}}]}},
            {{"name": "4", "group": "d", "demand": {{"cpu": 1}},
              "jobs": [{{"at": 0, "tasks": 300, "duration": 4}}]}}],
        "horizon": 60, "every": 1}}"#
    ))
}

#[test]
fn a_repeatedly_killed_run_has_the_results_of_a_whole_run() {
    let (mut kills, mut preempted) = (0, 0);
    for preemption in ["never", "guarantees", "shares"] {
        for ties in ["low", "random"] {
            let scenario = busy(preemption, ties);
            let whole = run(&scenario, &[3], &|_, _| {}).unwrap();
            preempted += only(&whole).tasks.iter().map(|tasks| tasks.preempted).sum::<u64>();
            let mut draw = Draw::new(9, 0);
            let (resumed, stops) = killed(&scenario, 3, &mut draw, 40);
            kills += stops;
            assert_eq!(resumed, whole, "{preemption} {ties}");
        }
    }
    assert!(kills > 60 && preempted > 100, "{kills} {preempted}");
    // The preemption rule is part of the run: a checkpoint of the same scenario with another rule is refused.
    let mut kill = Kill { after: 50, kept: None };
    assert!(run_from(&busy("never", "low"), 3, None, &mut kill).unwrap().is_none());
    let mut go_on = |_: f64, _: u64| {};
    let error = run_from(&busy("shares", "low"), 3, kill.kept.as_ref(), &mut go_on).unwrap_err();
    assert!(matches!(error, SimulateError::Checkpoint(_)), "{error}");
}

#[test]
fn faults_name_their_place() {
    let good = promised("never");
    let cases = [
        (
            good.replace(r#"{"tree": {"preemption": "never"}}"#, r#"{"server": "best-fit"}"#),
            "groups: groups and gangs are served by the policy `tree`",
        ),
        (
            promised("share"),
            "policy.tree.preemption: there is no such name: `share` (did you mean `shares`?): expected never, \
             guarantees, shares",
        ),
        (
            good.replace(r#"{"preemption": "never"}"#, r#"{"rule": "kai"}"#),
            "there is no such name: `kai`: expected hdrf, mesos, kueue, armada, yunikorn, slurm",
        ),
        (good.replace(r#""group": "b","#, r#""group": "c","#), "users[1].group: there is no group `c`"),
        (
            good.replace(r#""group": "b","#, r#""gang": 3,"#),
            "users[1].jobs[0].tasks: found 4: expected a multiple of 3, the gang of the user",
        ),
        (good.replace(r#""group": "b","#, r#""gang": 0,"#), "users[1].gang"),
        (good.replace(r#""group": "b","#, r#""pinned": -1,"#), "users[1].pinned"),
        (
            good.replace(r#"{"name": "b"}"#, r#"{"name": "b", "parent": "b"}"#),
            "groups[1].parent: group `b` is its own parent",
        ),
    ];
    for (text, expected) in cases {
        let error = Source { name: "s.json", text: &text }.scenario(Path::new("")).unwrap_err().to_string();
        assert!(error.starts_with("s.json:") && error.contains(expected), "{error}\nexpected {expected}");
    }
    let fails = |text: &str| run(&scenario(text), &[0], &|_, _| {}).unwrap_err();
    let gang = good.replace(r#""group": "b","#, r#""gang": 5,"#).replace("\"tasks\": 4", "\"tasks\": 5");
    assert!(matches!(fails(&gang), SimulateError::GangTooLarge { user, tasks: 5 } if user == "y"));
}

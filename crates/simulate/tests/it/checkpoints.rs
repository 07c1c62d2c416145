//! Runs that are interrupted and continue from a checkpoint have the same result as uninterrupted runs.

use crate::common;

use common::{Kill, killed};
use evenhand_mechanisms::filling::{Draw, Policy, Rule, Score, ServerRule, Ties};
use evenhand_problem::format::Source;
use evenhand_simulate::{Checkpoint, ReadScenario, Scenario, SimulateError, run, run_from};

fn scenario(policy: Policy) -> Scenario {
    let text = r#"{"kind": "scenario", "resources": ["cpu", "memory"],
        "servers": [{"name": "s1", "count": 4, "capacity": {"cpu": 10, "memory": 7}},
                    {"name": "s2", "count": 3, "capacity": {"cpu": 6, "memory": 12}}],
        "users": [{"name": "1", "demand": {"cpu": 3, "memory": 1}, "leaves": 60,
                   "jobs": [{"at": 0, "tasks": 40, "duration": {"exponential": 5}},
                            {"at": 7, "tasks": 9, "duration": 2}]},
                  {"name": "2", "demand": {"cpu": 1, "memory": 2}, "weight": 2,
                   "poisson": {"rate": 2, "tasks": 3, "duration": {"uniform": [1, 6]}}},
                  {"name": "3", "demand": {"cpu": 2, "memory": 2},
                   "jobs": [{"at": 3, "tasks": 30, "duration": 4}, {"at": 8, "tasks": 30, "duration": 4}]}],
        "policy": {}, "horizon": 90, "every": 1}"#;
    let read = Source { name: "three", text }.scenario(std::path::Path::new("")).unwrap();
    Scenario { policy, ..read }
}

fn policies() -> Vec<Policy> {
    let mut policies = vec![Policy::Slots { slots: 5, ties: Ties::Low }];
    for score in [Score::Drf, Score::PsDsf, Score::ResidualPsDsf] {
        for server in
            [ServerRule::FirstFit, ServerRule::BestFit, ServerRule::Rrr, ServerRule::Iid, ServerRule::Joint]
        {
            for ties in [Ties::Low, Ties::Random] {
                policies.push(Policy::Fill(Rule { score, server, ties, ..Rule::default() }));
            }
        }
    }
    policies
}

#[test]
fn a_repeatedly_killed_run_has_the_results_of_a_whole_run() {
    let mut kills = 0;
    for policy in policies() {
        let scenario = scenario(policy);
        let whole = run(&scenario, &[3], &|_, _| {}).unwrap();
        let mut draw = Draw::new(9, 0);
        let (resumed, stops) = killed(&scenario, 3, &mut draw, 60);
        kills += stops;
        assert_eq!(resumed, whole, "{policy:?}");
    }
    assert!(kills > 200, "{kills}");
}

#[test]
fn a_trace_resumes_at_its_checkpoint() {
    let folder = std::env::temp_dir().join(format!("evenhand-checkpoints-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let rows: String = (0..300).map(|k| format!("{},{},2,{}\n", k / 3, 1 + k % 2, 3 + k % 7)).collect();
    std::fs::write(folder.join("tasks.csv"), format!("time,user,tasks,duration\n{rows}")).unwrap();
    let text = r#"{"kind": "scenario", "resources": ["cpu"],
        "servers": [{"name": "s", "count": 5, "capacity": {"cpu": 4}}],
        "policy": {"score": "drf", "server": "best-fit"},
        "users": [{"name": "1", "demand": {"cpu": 1}}, {"name": "2", "demand": {"cpu": 2}}],
        "trace": {"tasks": "tasks.csv"}}"#;
    let scenario = Source { name: "table", text }.scenario(&folder).unwrap();
    let whole = run(&scenario, &[0], &|_, _| {}).unwrap();
    let mut kill = Kill { after: 700, kept: None };
    assert!(run_from(&scenario, 0, None, &mut kill).unwrap().is_none());
    let checkpoint = kill.kept.unwrap();
    let mut go_on = |_: f64, _: u64| {};
    assert_eq!(run_from(&scenario, 0, Some(&checkpoint), &mut go_on).unwrap().unwrap(), whole);
    // The trace has been cut off since the checkpoint.
    std::fs::write(folder.join("tasks.csv"), "time,user,tasks,duration\n0,1,2,3\n").unwrap();
    let error = run_from(&scenario, 0, Some(&checkpoint), &mut go_on).unwrap_err().to_string();
    assert!(error.contains("longer trace"), "{error}");
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn checkpoints_of_other_runs_are_refused() {
    let first = scenario(Policy::Fill(Rule::default()));
    let mut kill = Kill { after: 100, kept: None };
    assert!(run_from(&first, 3, None, &mut kill).unwrap().is_none());
    let checkpoint = kill.kept.unwrap();
    let mut go_on = |_: f64, _: u64| {};
    let mut longer = first.clone();
    longer.arrivals[0].jobs[0].tasks += 1;
    let best = Scenario {
        policy: Policy::Fill(Rule { server: ServerRule::BestFit, ..Rule::default() }),
        ..first.clone()
    };
    for (other, seed) in [(&first, 4), (&longer, 3), (&best, 3)] {
        let error = run_from(other, seed, Some(&checkpoint), &mut go_on).unwrap_err();
        assert!(matches!(error, SimulateError::Checkpoint(_)), "{error}");
    }
    let text = checkpoint.to_json();
    for damaged in [
        text[..text.len() / 2].to_owned(),
        text.replacen("\"words\":[", "\"words\":[7,", 1),
        text.replacen("\"version\":5", "\"version\":9", 1),
        text.replacen("simulation-checkpoint", "allocation", 1),
        "{}".to_owned(),
    ] {
        assert!(matches!(Checkpoint::from_json(&damaged), Err(SimulateError::Checkpoint(_))));
    }
}

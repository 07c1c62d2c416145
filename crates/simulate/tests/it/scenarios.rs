//! Scenarios whose results can be computed by hand, and scenarios with mistakes.

use crate::common;

use std::path::Path;

use common::{only, scenario, simulated};
use evenhand_problem::format::Source;
use evenhand_simulate::{
    ReadScenario, SimulateError, Simulated, Summary, completion_csv, document, jobs_csv, run, series_csv,
    users_csv,
};

/// Returns a scenario with one server of two units, and users a and b with tasks of one unit.
fn pair(policy: &str, a: &str, b: &str, rest: &str) -> String {
    format!(
        r#"{{"kind": "scenario", "resources": ["cpu"], "policy": {policy},
        "servers": [{{"name": "s", "capacity": {{"cpu": 2}}}}],
        "users": [{{"name": "a", "demand": {{"cpu": 1}}, {a}}}, {{"name": "b", "demand": {{"cpu": 1}}, {b}}}]{rest}}}"#
    )
}

#[test]
fn tasks_run_one_after_the_other() {
    let text = pair(
        "{}",
        r#""jobs": [{"at": 0, "tasks": 3, "duration": 10}]"#,
        r#""jobs": [{"at": 5, "tasks": 1, "duration": 2}]"#,
        r#", "every": 5"#,
    );
    let simulated = simulated(&text);
    let run = only(&simulated);
    // User a runs two tasks at once. Both end at 10. Then b has no running task and starts first, followed by
    // the third task of a.
    assert_eq!(run.end, 20.0);
    let times: Vec<(u32, f64, f64)> = run.jobs.iter().map(|job| (job.user, job.at, job.time)).collect();
    assert_eq!(times, [(1, 5.0, 7.0), (0, 0.0, 20.0)]);
    assert_eq!(run.task_time, [30.0, 2.0]);
    let running: Vec<Vec<u64>> = run.rows.iter().map(|row| row.running.clone()).collect();
    assert_eq!(running, [vec![2, 0], vec![2, 0], vec![1, 1], vec![1, 0], vec![0, 0]]);
    let summary = Summary::new(&simulated.runs[0].0, run);
    assert_eq!(summary.utilisation, [Some(32.0 / 40.0)]);
    assert_eq!(summary.completion.unwrap().mean, 13.5);
    assert_eq!(
        series_csv(&simulated.runs[0].0, run).lines().nth(3),
        Some("10,1,2,0,0.5,0.5"),
        "time, utilisation, running, waiting, shares"
    );
    assert_eq!(jobs_csv(&simulated.runs[0].0, run).lines().nth(1), Some("b,1,5,7"));
    assert_eq!(completion_csv(run), "completion_time,part\n7,0.5\n20,1\n");
    assert_eq!(users_csv(&simulated.runs[0].0, run).lines().nth(1), Some("a,3,3,3,0,0,0,1,0.75,0,0"));
}

#[test]
fn leaving_users_withdraw_their_waiting_tasks() {
    let text = pair(
        "{}",
        r#""jobs": [{"at": 0, "tasks": 5, "duration": 10}, {"at": 12, "tasks": 1, "duration": 1}], "leaves": 5"#,
        r#""jobs": [{"at": 1, "tasks": 2, "duration": 1}]"#,
        "",
    );
    let simulated = simulated(&text);
    let run = only(&simulated);
    assert_eq!((run.tasks[0].completed, run.tasks[0].withdrawn, run.tasks[0].waiting()), (2, 3, 0));
    assert_eq!((run.end, run.jobs_submitted, run.jobs.len()), (11.0, 2, 1));
}

#[test]
fn a_horizon_ends_the_run() {
    let jobs = r#""jobs": [{"at": 0, "tasks": 5, "duration": 10}]"#;
    let simulated = simulated(&pair("{}", jobs, r#""weight": 2"#, r#", "horizon": 15"#));
    let run = only(&simulated);
    assert_eq!(
        (run.end, run.tasks[0].completed, run.tasks[0].running(), run.tasks[0].waiting()),
        (15.0, 2, 2, 1)
    );
    assert_eq!(run.rows.len(), 1001);
}

#[test]
fn slots_run_fewer_tasks_than_resources_allow() {
    // A slot is half of the largest server. A task of 1.2 of 2 units takes two slots.
    let text = r#"{"kind": "scenario", "resources": ["cpu"], "policy": {"slots": 2},
        "servers": [{"name": "s", "count": 2, "capacity": {"cpu": 2}}],
        "users": [{"name": "a", "demand": {"cpu": 0.6}, "jobs": [{"at": 0, "tasks": 9, "duration": 1}]},
                  {"name": "b", "demand": {"cpu": 1.2}, "jobs": [{"at": 0, "tasks": 9, "duration": 1}]}],
        "horizon": 0.5}"#;
    let simulated = simulated(text);
    assert_eq!(only(&simulated).tasks.iter().map(|tasks| tasks.started).collect::<Vec<_>>(), [2, 1]);
}

#[test]
fn every_policy_runs_reproducibly() {
    let mut hashes = Vec::new();
    for policy in ["drf", "tsf", "ps-dsf", "rps-dsf"] {
        for server in ["first-fit", "best-fit", "rrr", "iid", "joint"] {
            for ties in ["low", "high", "random"] {
                let text = format!(
                    r#"{{"kind": "scenario", "resources": ["cpu", "memory"],
                    "policy": {{"score": "{policy}", "server": "{server}", "ties": "{ties}"}},
                    "servers": [{{"name": "A", "count": 3, "capacity": {{"cpu": 4, "memory": 9}}}},
                                {{"name": "B", "count": 2, "capacity": {{"cpu": 9, "memory": 5}}}}],
                    "draw_servers": 6,
                    "users": [{{"name": "a", "demand": {{"cpu": 1, "memory": 2}},
                                "poisson": {{"rate": 2, "tasks": 2, "duration": {{"exponential": 4}}}}}},
                              {{"name": "b", "demand": {{"cpu": 2, "memory": 1}}, "weight": 2,
                                "poisson": {{"rate": 3, "duration": {{"uniform": [1, 6]}}}}}}],
                    "horizon": 60}}"#
                );
                let scenario = scenario(&text);
                let seeds: Vec<u64> = (0..4).collect();
                let threads = |n: usize| rayon::ThreadPoolBuilder::new().num_threads(n).build().unwrap();
                let on = |n: usize| threads(n).install(|| run(&scenario, &seeds, &|_, _| {}).unwrap());
                let (one, many) = (on(1), on(3));
                assert_eq!(one, many, "{policy} {server} {ties}");
                for (problem, run) in &one.runs {
                    let summary = Summary::new(problem, run);
                    assert!(summary.tasks.completed > 200, "{policy} {server} {ties}");
                    assert!(summary.utilisation.iter().flatten().all(|used| (0.3..=1.0).contains(used)));
                }
                assert_ne!(one.runs[0].1.placements, one.runs[1].1.placements);
                hashes.push(one.runs[0].1.placements);
                let means = document(&one);
                assert!(means["means"]["utilisation"]["cpu"]["half_width"].as_f64().unwrap() > 0.0);
            }
        }
    }
    hashes.sort_unstable();
    hashes.dedup();
    assert!(hashes.len() > 20, "{}", hashes.len());
}

/// Running times belong to tasks and do not depend on the policy.
#[test]
fn policies_are_compared_on_the_same_tasks() {
    let with = |policy: &str| {
        let text = pair(
            policy,
            r#""jobs": [{"at": 0, "tasks": 50, "duration": {"exponential": 3}}]"#,
            r#""jobs": [{"at": 1, "tasks": 50, "duration": {"exponential": 5}}]"#,
            "",
        );
        simulated(&text)
    };
    let work = |simulated: &Simulated| -> Vec<i64> {
        only(simulated).task_time.iter().map(|time| (time * 1e6).round() as i64).collect()
    };
    assert_eq!(work(&with("{}")), work(&with(r#"{"slots": 1}"#)));
    assert_eq!(work(&with("{}")), work(&with(r#"{"score": "tsf", "server": "rrr"}"#)));
}

#[test]
fn faults_name_their_place() {
    let job = |text: &str| pair("{}", text, r#""weight": 1"#, "");
    let cases = [
        (
            job(r#""jobs": [{"at": 0, "tasks": 1, "duration": -1}]"#),
            "users[0].jobs[0].duration: found -1: expected a number of at least 0",
        ),
        (job(r#""jobs": [{"at": -2, "tasks": 1, "duration": 1}]"#), "users[0].jobs[0].at: found -2"),
        (
            job(r#""jobs": [{"at": 0, "tasks": 0, "duration": 1}]"#),
            "users[0].jobs[0].tasks: found 0: expected a whole number",
        ),
        (job(r#""jobs": [{"at": 0, "tasks": "3/2", "duration": 1}]"#), "found 3/2: expected a whole number"),
        (
            job(r#""jobs": [{"at": 3, "tasks": 1, "duration": 1}, {"at": 2, "tasks": 1, "duration": 1}]"#),
            "users[0].jobs[1]: time goes back from 3 to 2",
        ),
        (job(r#""jobs": [{"at": 3, "tasks": 1, "duration": {"uniform": [4, 2]}}]"#), "2 is below 4"),
        (job(r#""jobs": [{"at": 3, "tasks": 1, "duration": {"normal": 4}}]"#), "normal"),
        (job(r#""tasks": 3"#), "users[0].tasks"),
        (job(r#""weight": 0"#), "users[0].weight: 0 is not positive"),
        (job(r#""servers": ["t"]"#), "users[0].servers[0]: there is no server `t`"),
        (
            pair(r#"{"score": "fair"}"#, r#""weight": 1"#, r#""weight": 1"#, ""),
            "policy.score: there is no such name: `fair`: expected drf, tsf, ps-dsf, rps-dsf",
        ),
        (pair(r#"{"slots": 2, "score": "drf"}"#, r#""weight": 1"#, r#""weight": 1"#, ""), "policy.score"),
        (
            pair("{}", r#""weight": 1"#, r#""weight": 1"#, r#", "every": 0"#),
            "every: found 0: expected a number above 0",
        ),
        (
            pair("{}", r#""weight": 1"#, r#""weight": 1"#, r#", "trace": {"azure": "x"}"#),
            "resources: the data has the resources vcpu, memory",
        ),
        (
            r#"{"kind": "scenario", "policy": {}, "trace": {"azure": "x"}, "users": [],
            "servers": [{"name": "s", "capacity": {"vcpu": 1}}]}"#
                .to_owned(),
            "users: `users` cannot be combined with a `trace`",
        ),
        (
            pair("{}", r#""weight": 1"#, r#""weight": 1"#, r#", "trace": {"tasks": "x", "openb": "y"}"#),
            "trace: expected one of",
        ),
        (
            pair("{}", r#""weight": 1"#, r#""jobs": []"#, r#", "trace": {"tasks": "x"}"#),
            "users[1].jobs: the tasks come from the `trace`",
        ),
        (
            r#"{"kind": "scenario", "policy": {}, "servers": {"google": "none.csv"}}"#.to_owned(),
            "servers.google: none.csv",
        ),
        (
            pair(r#"{"server": "bestfit"}"#, r#""weight": 1"#, r#""weight": 1"#, ""),
            "policy.server: there is no such name: `bestfit` (did you mean `best-fit`?): expected iid,",
        ),
        (
            pair("{}", r#""weight": 1"#, r#""weight": 1"#, "")
                .replace(r#""demand": {"cpu": 1}, "weight": 1}]"#, r#""demand": {"cpu": 3}}]"#),
            "users[1].demand: a task of user `b` fits on no server that it may use, not even alone",
        ),
        (r#"{"kind": "allocation-problem"}"#.to_owned(), "kind"),
    ];
    for (text, expected) in cases {
        let error = Source { name: "s.json", text: &text }.scenario(Path::new("")).unwrap_err().to_string();
        assert!(error.starts_with("s.json:") && error.contains(expected), "{error}\nexpected {expected}");
    }
}

#[test]
fn impossible_runs_state_the_reason() {
    let fails = |text: &str| run(&scenario(text), &[0], &|_, _| {}).unwrap_err();
    // The class on which the task fits is so rare that it is not drawn.
    let large = r#"{"kind": "scenario", "resources": ["cpu"], "policy": {}, "draw_servers": 2,
        "servers": [{"name": "s", "count": 1000000000, "capacity": {"cpu": 2}}, {"name": "t", "capacity": {"cpu": 4}}],
        "users": [{"name": "a", "demand": {"cpu": 3}}]}"#;
    assert!(matches!(fails(large), SimulateError::TaskTooLarge { user } if user == "a"));
    let endless = pair("{}", r#""poisson": {"rate": 1, "duration": 1}"#, r#""weight": 1"#, "");
    assert!(matches!(fails(&endless), SimulateError::Endless { user } if user == "a"));
    let rows = pair("{}", r#""weight": 1"#, r#""weight": 1"#, r#", "horizon": 1e9, "every": 1"#);
    let error = fails(&rows);
    assert!(matches!(error, SimulateError::TooManyRows { .. }));
    assert!(error.to_string().starts_with("a row every 1 up to time 1000000000 makes more than"), "{error}");
    let tiny = pair("{}", r#""weight": 1"#, r#""weight": 1"#, r#", "horizon": 3.5, "every": 1e-9"#);
    assert!(
        fails(&tiny).to_string().starts_with("a row every 1e-9 up to time 3.5 makes"),
        "{}",
        fails(&tiny)
    );
    let slots = pair(r#"{"slots": 1000000000000}"#, r#""weight": 1"#, r#""weight": 1"#, "");
    assert!(matches!(fails(&slots), SimulateError::Mechanism(_)));
}

//! Runs in which the user with the least past usage is served first.

use std::path::Path;

use evenhand_problem::Rational;
use evenhand_problem::format::Source;
use evenhand_simulate::{
    HistoryRow, ReadScenario, Run, document, history_csv, mean_waiting_times, run, run_from,
};
use evenhand_testkit::plain::usage::{UsageRow, ideal, moving_average, of_capacity, resource_seconds};
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

use crate::common::{Kill, only, scenario};

/// The number of random scenarios of each law.
const SCENARIOS: u64 = 150;

fn with_history(text: &str) -> evenhand_simulate::Simulated {
    let mut scenario = scenario(text);
    scenario.has_history = true;
    run(&scenario, &[0], &|_, _| {}).unwrap()
}

/// Returns the users in the order in which their tasks start on one GPU. User `a` used the GPU alone for 8
/// units of time, then both users have tasks of length 1.
fn turns(usage: &str, weights: [&str; 2]) -> Vec<u32> {
    let text = format!(
        r#"{{"kind": "scenario", "resources": ["gpu"], "policy": {{"usage": {usage}}},
        "servers": [{{"name": "s", "capacity": {{"gpu": 1}}}}],
        "users": [{{"name": "a", {} "demand": {{"gpu": 1}},
                    "jobs": [{{"at": 0, "tasks": 1, "duration": 8}}, {{"at": 8, "tasks": 12, "duration": 1}}]}},
                  {{"name": "b", {} "demand": {{"gpu": 1}}, "jobs": [{{"at": 8, "tasks": 12, "duration": 1}}]}}]}}"#,
        weights[0], weights[1]
    );
    let simulated = with_history(&text);
    let mut starts: Vec<(f64, u32)> = Vec::new();
    for row in only(&simulated).history.iter().filter(|row| row.running > 0 && row.from >= 8.0) {
        starts.extend((0..(row.to - row.from) as u64).map(|k| (row.from + k as f64, row.user)));
    }
    starts.sort_by(|a, b| a.0.total_cmp(&b.0));
    starts.into_iter().map(|(_, user)| user).collect()
}

#[test]
fn each_law_decides_when_the_first_user_is_served_again() {
    // Without decay user b catches up 8 units of time, and then they alternate.
    let first = |usage: &str| turns(usage, ["", ""]).iter().position(|user| *user == 0).unwrap();
    assert_eq!(first(r#"{"law": "slurm"}"#), 8);
    // With the half-life 1 past usage is worth at most 1 / ln 2. User b passes it after one task.
    assert_eq!(first(r#"{"law": "slurm", "half_life": 1}"#), 1);
    // A moving average with the half-life 1: a has 1 - 2^-8 after 8 samples. One sample later a has half of
    // this value, and b has a half, which is more. So a is served after one task of b.
    assert_eq!(first(r#"{"law": "kueue", "half_life": 1, "every": 1}"#), 1);
    // Samples of a window of 4: a has 4 samples, then 3 and 2 while b has 1 and 2. Now both have 2, and the
    // running shares are equal too, so the first user of the file is served.
    assert_eq!(first(r#"{"law": "kai", "window": 4, "every": 1}"#), 2);
    // With a very long half-life a has 8, and b catches up to within 1, which counts as equal.
    assert_eq!(first(r#"{"law": "volcano", "half_life": 1e9, "every": 1}"#), 7);
}

#[test]
fn usage_counts_by_weight() {
    // Twice the weight: a counts 4 instead of 8.
    let starts = turns(r#"{"law": "slurm"}"#, [r#""weight": 2,"#, ""]);
    assert_eq!(starts.iter().position(|user| *user == 0), Some(4));
}

#[test]
fn an_entry_penalty_counts_at_once() {
    // Four GPUs are free at once. Without a penalty both users have used nothing, and the running shares alternate them.
    let starts = |penalty: bool, weight: u32| {
        let text = format!(
            r#"{{"kind": "scenario", "resources": ["gpu"],
            "policy": {{"usage": {{"law": "kueue", "half_life": 1, "every": 1, "entry_penalty": {penalty}}}}},
            "servers": [{{"name": "s", "capacity": {{"gpu": 6}}}}],
            "users": [{{"name": "a", "demand": {{"gpu": 2}}, "jobs": [{{"at": 0, "tasks": 4, "duration": 5}}]}},
                      {{"name": "b", "weight": {weight}, "demand": {{"gpu": 1}},
                        "jobs": [{{"at": 0, "tasks": 4, "duration": 5}}]}}]}}"#
        );
        let simulated = with_history(&text);
        let at_first = |user| only(&simulated).history.iter().find(|row| row.user == user).unwrap().running;
        (at_first(0), at_first(1))
    };
    assert_eq!(starts(false, 1), (2, 2));
    // Each task gives a penalty of 1 to a, and of 1/2 to b.
    assert_eq!(starts(true, 1), (2, 2));
    assert_eq!(starts(true, 4), (1, 4));
}

/// Returns the rows of a user as the plain implementation reads them, cut at the time `at`.
fn rows_until(run: &Run, user: u32, at: f64) -> Vec<UsageRow> {
    let of_user = run.history.iter().filter(|row| row.user == user && row.running > 0 && row.from < at);
    let row = |row: &HistoryRow| UsageRow {
        from: row.from as i64,
        to: row.to.min(at) as i64,
        amount: Rational::from(row.running),
    };
    of_user.map(row).collect()
}

/// Returns the usage of a user over its weight by the plain implementation, before the events of a time.
fn plain(law: &str, run: &Run, user: u32, weight: u64, at: i64) -> f64 {
    const HALF_LIFE: i64 = 5;
    const WINDOW: i64 = 9;
    let rows = rows_until(run, user, at as f64);
    let (low, high) = match law {
        "slurm" => ideal(&rows, HALF_LIFE, at),
        // The sample of the time itself follows the events of this time.
        "kueue" => moving_average(&rows, HALF_LIFE, 1, at - 1),
        "volcano" => resource_seconds(&rows, HALF_LIFE, 1, at - 1),
        _ => of_capacity(&rows, Some(HALF_LIFE), 1, WINDOW, &Rational::from(1), at),
    };
    // The plain implementation divides by the weights of all samples of KAI's window, and the run does not.
    let samples: f64 = (0..WINDOW).map(|age| 0.5_f64.powf(age as f64 / HALF_LIFE as f64)).sum();
    let factor = if law == "kai" { samples } else { 1.0 };
    (low + high).to_f64() / 2.0 * factor / weight as f64
}

/// Checks that at every start, no user with less plain usage still waits, and that the usage at the end of
/// the run equals the plain usage.
#[test]
fn random_runs_serve_the_least_usage_of_the_plain_implementation() {
    for law in ["slurm", "kueue", "kai", "volcano"] {
        let mut decisions = 0;
        for seed in 0..SCENARIOS {
            let mut rng = Pcg64::seed_from_u64(seed);
            let settings = match law {
                "slurm" => r#""half_life": 5"#,
                "kai" => r#""half_life": 5, "every": 1, "window": 9"#,
                _ => r#""half_life": 5, "every": 1"#,
            };
            let weights: Vec<u64> =
                (0..3).map(|_| if law == "volcano" { 1 } else { rng.random_range(1..4) }).collect();
            let user = |n: usize, rng: &mut Pcg64| {
                let mut at = 0;
                let jobs: Vec<String> = (0..rng.random_range(1..6))
                    .map(|_| {
                        at += rng.random_range(0..8);
                        let (tasks, duration) = (rng.random_range(1..9), rng.random_range(1..7));
                        format!(r#"{{"at": {at}, "tasks": {tasks}, "duration": {duration}}}"#)
                    })
                    .collect();
                let weight =
                    if law == "volcano" { String::new() } else { format!(r#""weight": {},"#, weights[n]) };
                format!(
                    r#"{{"name": "u{n}", {weight} "demand": {{"gpu": 1}}, "jobs": [{}]}}"#,
                    jobs.join(", ")
                )
            };
            let users: Vec<String> = (0..3).map(|n| user(n, &mut rng)).collect();
            let text = format!(
                r#"{{"kind": "scenario", "resources": ["gpu"], "policy": {{"usage": {{"law": "{law}", {settings}}}}},
                "servers": [{{"name": "s", "capacity": {{"gpu": 3}}}}], "users": [{}], "horizon": 40}}"#,
                users.join(", ")
            );
            let simulated = with_history(&text);
            let run = only(&simulated);
            let state = |user: u32, at: f64| {
                let row = run.history.iter().find(|row| row.user == user && row.from <= at && at < row.to);
                row.map_or((0, 0), |row| (row.running, row.waiting))
            };
            for at in 1..40 {
                let now = f64::from(at);
                let usage: Vec<f64> =
                    (0..3).map(|n| plain(law, run, n, weights[n as usize], i64::from(at))).collect();
                // A user that runs more than before has started tasks at this time.
                let has_started = |n: &u32| state(*n, now).0 > state(*n, now - 1.0).0;
                for served in (0..3).filter(has_started) {
                    for other in (0..3).filter(|n| *n != served && state(*n, now).1 > 0) {
                        let (mine, theirs) = (usage[served as usize], usage[other as usize]);
                        let equal = if law == "volcano" { 1.0 } else { 0.0 };
                        assert!(
                            mine <= theirs + equal + 1e-9,
                            "{law} {seed}: at {at} user {served} with {mine} was served before {other} with {theirs}"
                        );
                        decisions += 1;
                    }
                }
            }
            // The rows of a series state the usage at their times, and do not change the run.
            let with_series = with_history(&text.replace(r#""horizon": 40"#, r#""horizon": 40, "every": 1"#));
            let with_series = only(&with_series);
            assert_eq!(
                (&with_series.history, &with_series.usage),
                (&run.history, &run.usage),
                "{law} {seed}"
            );
            let at_end = (40.0, run.usage.as_ref().unwrap());
            let of_rows = with_series.rows.iter().map(|row| (row.time, &row.usage));
            for (time, usage) in of_rows.chain([at_end]) {
                for (n, found) in usage.iter().enumerate() {
                    let expected = plain(law, run, n as u32, 1, time as i64);
                    assert!(
                        (found - expected).abs() < 1e-9,
                        "{law} {seed}: user {n} at {time}: {found} is not {expected}"
                    );
                }
            }
            assert_eq!(with_series.rows.len(), 41);
        }
        assert!(decisions > 300, "{law}: only {decisions} decisions");
    }
}

#[test]
fn order_by_usage_respects_gangs_and_limits_of_the_tree() {
    let text = r#"{"kind": "scenario", "resources": ["gpu"],
        "policy": {"usage": {"law": "slurm", "half_life": 10}, "tree": {}},
        "servers": [{"name": "s", "count": 2, "capacity": {"gpu": 4}}],
        "groups": [{"name": "g", "limit": {"gpu": 4}}, {"name": "h"}],
        "users": [{"name": "a", "group": "g", "gang": 2, "demand": {"gpu": 1},
                   "jobs": [{"at": 0, "tasks": 8, "duration": 3}]},
                  {"name": "b", "group": "h", "demand": {"gpu": 1}, "jobs": [{"at": 0, "tasks": 30, "duration": 2}]}],
        "horizon": 12}"#;
    let simulated = with_history(text);
    let run = only(&simulated);
    let of = |user| run.history.iter().filter(move |row| row.user == user);
    assert!(of(0).all(|row| row.running <= 4 && row.running % 2 == 0));
    assert!(of(1).filter(|row| row.from < 6.0).all(|row| row.running == 4));
    assert!(of(1).any(|row| row.running == 8));
    assert_eq!((run.tasks[0].completed, run.tasks[1].completed), (8, 30));
    assert_eq!(
        document(&simulated)["policy"],
        "least usage by slurm, half-life 10; gangs and limits of the tree"
    );
}

#[test]
fn a_history_states_tasks_over_time() {
    let text = r#"{"kind": "scenario", "resources": ["gpu", "cpu"], "policy": {},
        "servers": [{"name": "s", "capacity": {"gpu": 2, "cpu": 9}}],
        "users": [{"name": "a,b", "demand": {"gpu": 1, "cpu": "1/3"}, "jobs": [{"at": 1, "tasks": 3, "duration": 0.5}]}]}"#;
    let simulated = with_history(text);
    let (problem, run) = &simulated.runs[0];
    let expected = "queue,resource,from,to,amount,waiting\n\
        \"a,b\",gpu,1,1.5,2,1\n\"a,b\",cpu,1,1.5,2/3,1\n\"a,b\",gpu,1.5,2,1,0\n\"a,b\",cpu,1.5,2,1/3,0\n";
    assert_eq!(history_csv(problem, run).unwrap(), expected);
    // One of three tasks waited for half a unit of time.
    let waited = mean_waiting_times(&simulated)[0].1.unwrap();
    assert!((waited - 0.5 / 3.0).abs() < 1e-12, "{waited}");
}

#[test]
fn wrong_orders_are_refused_with_their_place() {
    let with = |policy: &str, weight: &str| {
        format!(
            r#"{{"kind": "scenario", "resources": ["gpu", "cpu"], "policy": {policy},
            "servers": [{{"name": "s", "capacity": {{"gpu": 1, "cpu": 1}}}}],
            "users": [{{"name": "a", {weight} "demand": {{"gpu": 1}}, "jobs": [{{"at": 0, "tasks": 1, "duration": 1}}]}}]}}"#
        )
    };
    let of_law = |law: &str| format!(r#"{{"usage": {{"law": {law}}}}}"#);
    let gpu = r#""resource_weights": {"gpu": 1}"#;
    let cases = [
        (
            of_law(r#""karma""#),
            "policy.usage.law: there is no such law: `karma`: expected slurm, kueue, kai, volcano",
        ),
        (of_law(r#""slurm""#), "policy.usage: state `resource_weights`"),
        (
            of_law(r#""slurm", "resource_weights": {"gp": 1}"#),
            "there is no resource `gp` (did you mean `gpu`?)",
        ),
        (of_law(r#""slurm", "resource_weights": {"gpu": -1}"#), "policy.usage.resource_weights.gpu"),
        (of_law(r#""slurm", "resource_weights": {"gpu": 0}"#), "counts at least one resource"),
        (of_law(&format!(r#""slurm", "half_life": 0, {gpu}"#)), "policy.usage.half_life"),
        (of_law(&format!(r#""slurm", "every": 1, {gpu}"#)), "the law `slurm` has no `every`"),
        (of_law(&format!(r#""kueue", "every": 1, {gpu}"#)), "half_life"),
        (of_law(&format!(r#""kai", "every": 1, {gpu}"#)), "window"),
        (
            of_law(r#""kai", "every": 1, "window": 2, "resource_weights": {"gpu": 1, "cpu": 1}"#),
            "counts one resource with a value above 0, found 2",
        ),
        (
            format!(r#"{{"usage": {{"law": "slurm", {gpu}}}, "server": "rrr"}}"#),
            "expected `first-fit` or `best-fit`",
        ),
        (format!(r#"{{"usage": {{"law": "slurm", {gpu}}}, "score": "drf"}}"#), "score"),
        (
            format!(r#"{{"usage": {{"law": "slurm", {gpu}}}, "tree": {{"preemption": "shares"}}}}"#),
            "no running task is stopped",
        ),
    ];
    for (policy, expected) in cases {
        let text = with(&policy, "");
        let error = Source { name: "s.json", text: &text }.scenario(Path::new("")).unwrap_err().to_string();
        assert!(error.starts_with("s.json:") && error.contains(expected), "{error}\nexpected {expected}");
    }
    let text = with(&of_law(&format!(r#""volcano", "half_life": 1, "every": 1, {gpu}"#)), r#""weight": 2,"#);
    let error = Source { name: "s.json", text: &text }.scenario(Path::new("")).unwrap_err().to_string();
    assert!(error.contains("users[0].weight: the law `volcano` has no weights"), "{error}");
}

#[test]
fn checkpoints_of_runs_with_past_usage_are_refused() {
    let text = r#"{"kind": "scenario", "resources": ["gpu"], "policy": {"usage": {"law": "slurm", "half_life": 3}},
        "servers": [{"name": "s", "capacity": {"gpu": 1}}],
        "users": [{"name": "a", "demand": {"gpu": 1}, "jobs": [{"at": 0, "tasks": 9, "duration": 1}]}]}"#;
    let mut kill = Kill { after: 2, kept: None };
    assert!(run_from(&scenario(text), 0, None, &mut kill).unwrap().is_none());
    let mut observer = |_: f64, _: u64| {};
    let error = run_from(&scenario(text), 0, kill.kept.as_ref(), &mut observer).unwrap_err().to_string();
    assert!(error.contains("does not keep past usage"), "{error}");
}

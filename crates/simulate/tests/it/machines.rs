//! Servers that come, go and change while tasks run on them.

use crate::common;

use std::collections::{BTreeMap, VecDeque};
use std::path::Path;

use common::killed;
use evenhand_mechanisms::filling::{Draw, Policy, Rule, Score, ServerRule, Ties};
use evenhand_problem::format::Source;
use evenhand_simulate::{
    ReadScenario, Run, Scenario, Simulated, Summary, Tasks, What, run, series_csv, users_csv,
};
use evenhand_testkit::plain::filling as naive;
use serde_json::{Value, json};

fn read(document: &Value) -> Scenario {
    let text = document.to_string();
    let scenario = Source { name: "s.json", text: &text }.scenario(Path::new(""));
    scenario.unwrap_or_else(|error| panic!("{error}"))
}

fn refused(document: &Value) -> String {
    let text = document.to_string();
    Source { name: "s.json", text: &text }.scenario(Path::new("")).unwrap_err().to_string()
}

fn simulated(document: &Value) -> Simulated {
    run(&read(document), &[0], &|_, _| {}).unwrap()
}

/// Returns two servers of 4 units, and a user whose tasks take 2 units.
fn two_servers(events: &Value) -> Value {
    json!({"kind": "scenario", "resources": ["cpu"], "policy": {}, "horizon": 20, "every": 1, "events": events,
        "servers": [{"name": "s", "count": 2, "capacity": {"cpu": 4}}],
        "users": [{"name": "u", "demand": {"cpu": 2}, "jobs": [{"at": 0, "tasks": 4, "duration": 10}]}]})
}

#[test]
fn tasks_of_a_removed_server_restart_from_the_beginning() {
    // The last server goes at time 4 with tasks 3 and 4. They start again on the first server at 10 and end at 20.
    let simulated = simulated(&two_servers(&json!([{"at": 4, "server": "s", "remove": 1}])));
    let (problem, run) = &simulated.runs[0];
    let expected = Tasks { submitted: 4, started: 6, completed: 4, evicted: 2, ..Tasks::default() };
    assert_eq!(run.tasks[0], expected);
    assert_eq!((run.jobs.len(), run.jobs[0].time), (1, 20.0));
    // Events: the arrivals, a change, and four ends. Use: 8 units until 4, then 4 units until 20. Capacity: 8 units
    // until 4, then 4.
    assert_eq!(run.events, 6);
    let summary = Summary::new(problem, run);
    assert_eq!(summary.utilisation, [Some(1.0)]);
    // Shares are fractions of both servers together: (4 * 2 * 4 + 2 * 2 * 16) / (8 * 20).
    assert_eq!(summary.dominant_share, [0.6]);
    let there = run.there.as_ref().unwrap();
    assert_eq!((there.servers, there.least, there.most), (1.2, 1, 2));
    let csv = series_csv(problem, run);
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!(lines[0], "time,utilisation of cpu,running,waiting,servers,share of u");
    assert_eq!((lines[4], lines[6]), ("3,1,4,0,2,1", "5,1,2,2,1,0.5"));
    assert!(users_csv(problem, run).contains("\nu,4,6,4,0,0,0,1,0.6,0,2\n"), "{}", users_csv(problem, run));
}

#[test]
fn servers_return_and_new_servers_are_added() {
    let events = json!([{"at": 2, "server": "s", "remove": 2}, {"at": 3, "server": "s", "add": 1},
        {"at": 5, "server": "s", "add": 2}, {"at": 6, "server": "new", "add": 1, "capacity": {"cpu": 20}}]);
    let mut document = two_servers(&events);
    document["users"][0]["jobs"][0]["tasks"] = json!(8);
    let scenario = read(&document);
    let machines = scenario.machines.as_ref().unwrap();
    // There are three places of `s`, followed by the place of the new server. The last server goes first, and
    // the first server comes back first.
    let changes: Vec<(f64, u32, What)> =
        machines.changes.iter().map(|of| (of.at, of.place, of.what)).collect();
    let expected = [
        (2.0, 1, What::Goes),
        (2.0, 0, What::Goes),
        (3.0, 0, What::Comes),
        (5.0, 1, What::Comes),
        (5.0, 2, What::Comes),
        (6.0, 3, What::Comes),
    ];
    assert_eq!(changes, expected);
    assert_eq!((machines.first.clone(), machines.empty.clone()), (vec![3, 1], vec![2, 3]));
    let simulated = run(&scenario, &[0], &|_, _| {}).unwrap();
    let (problem, run) = &simulated.runs[0];
    assert_eq!(problem.total_capacity()[0], 32);
    // Four tasks stop at 2. Two tasks start at 3, four at 5, and the other two at 6.
    let expected = Tasks { submitted: 8, started: 12, completed: 8, evicted: 4, ..Tasks::default() };
    assert_eq!(run.tasks[0], expected);
    assert_eq!(run.jobs[0].time, 16.0);
}

#[test]
fn a_shrinking_server_keeps_the_oldest_tasks_that_fit() {
    let text = json!({"kind": "scenario", "resources": ["cpu"], "policy": {},
        "servers": [{"name": "s", "capacity": {"cpu": 10}}],
        "events": [{"at": 3, "server": "s", "capacity": {"cpu": 5}}, {"at": 6, "server": "s", "capacity": {"cpu": 10}}],
        "users": [{"name": "a", "demand": {"cpu": 3}, "jobs": [{"at": 0, "tasks": 1, "duration": 9}]},
                  {"name": "b", "demand": {"cpu": 4}, "jobs": [{"at": 1, "tasks": 1, "duration": 9}]},
                  {"name": "c", "demand": {"cpu": 2}, "servers": ["s"], "jobs": [{"at": 2, "tasks": 1, "duration": 9}]}]});
    let simulated = simulated(&text);
    let (problem, run) = &simulated.runs[0];
    // Tasks of 3 and 2 units fit into 5 units. Task b stops and starts again at 6, when there is enough free
    // capacity next to the other tasks.
    let evicted: Vec<u64> = run.tasks.iter().map(|tasks| tasks.evicted).collect();
    assert_eq!(evicted, [0, 1, 0]);
    let done: Vec<(u32, f64)> = run.jobs.iter().map(|job| (job.user, job.at + job.time)).collect();
    assert_eq!(done, [(0, 9.0), (2, 11.0), (1, 15.0)]);
    assert_eq!(problem.total_capacity()[0], 10);
    assert_eq!(run.end, 15.0);
}

#[test]
fn a_run_without_a_horizon_ends_with_its_tasks() {
    let with = |events: Value, at: u64| {
        let text = json!({"kind": "scenario", "resources": ["cpu"], "policy": {}, "events": events,
            "servers": [{"name": "s", "capacity": {"cpu": 1}}],
            "users": [{"name": "u", "demand": {"cpu": 1}, "jobs": [{"at": at, "tasks": 1, "duration": 3}]}]});
        let run = simulated(&text).runs[0].1.clone();
        (run.end, run.events, run.tasks[0].submitted, run.tasks[0].completed)
    };
    let gone = json!({"at": 0, "server": "s", "remove": 1});
    let back = json!({"at": 5, "server": "s", "add": 1});
    let later = json!({"at": 90, "server": "s", "remove": 1});
    // The server goes before the task arrives. The task waits forever, or until the server is back.
    assert_eq!(with(json!([gone]), 0), (0.0, 2, 1, 0));
    assert_eq!(with(json!([gone, back]), 0), (8.0, 4, 1, 1));
    assert_eq!(with(json!([gone, back]), 20), (23.0, 4, 1, 1));
    // Later machine changes are not part of the run.
    assert_eq!(with(json!([gone, back, later]), 7), (10.0, 4, 1, 1));
}

#[test]
fn a_gang_stops_as_a_whole_and_is_served_again_first() {
    let text = json!({"kind": "scenario", "resources": ["gpu"], "policy": {"tree": {}},
        "servers": [{"name": "s", "count": 2, "capacity": {"gpu": 2}}],
        "events": [{"at": 1, "server": "s", "remove": 1}, {"at": 2, "server": "s", "add": 1}],
        "users": [{"name": "a", "demand": {"gpu": 1}, "gang": 4,
                   "jobs": [{"at": 0, "tasks": 4, "duration": 5}, {"at": 0, "tasks": 4, "duration": 7}]}]});
    let simulated = simulated(&text);
    let run = &simulated.runs[0].1;
    let expected = Tasks { submitted: 8, started: 12, completed: 8, evicted: 4, ..Tasks::default() };
    assert_eq!(run.tasks[0], expected);
    let done: Vec<f64> = run.jobs.iter().map(|job| job.time).collect();
    assert_eq!(done, [7.0, 14.0], "the first job begins anew at 2");
}

#[test]
fn impossible_machine_events_are_refused_with_their_place() {
    let with = |event: Value| refused(&two_servers(&json!([event])));
    for (event, expected) in [
        (json!({"at": 1, "server": "t", "remove": 1}), "there is no server `t`: `add` with a `capacity`"),
        (json!({"at": 1, "server": "s", "remove": 3}), "found 3: 2 servers of this name exist at time 1"),
        (json!({"at": 1, "server": "s"}), "expected one of `add`, `remove` and `capacity`"),
        (json!({"at": 1, "server": "s", "add": 1, "remove": 1}), "expected one of"),
        (json!({"at": 1, "server": "s", "add": 1, "capacity": {"cpu": 1}}), "exist already"),
        (json!({"at": 1, "server": "s", "add": 5_000_000}), "more than 4000000 servers"),
        (json!({"at": 1, "server": "s", "capacity": {"gpu": 1}}), "gpu"),
        (json!({"at": 1, "server": "s", "capacity": {"cpu": -1}}), "-1"),
        (json!({"at": 1, "server": "s", "remove": 1, "count": 1}), "`count` needs `capacity`"),
        (json!({"at": -1, "server": "s", "remove": 1}), "found -1"),
        (json!({"at": 1, "server": "s", "count": 3, "capacity": {"cpu": 1}}), "found 3: 2 servers"),
    ] {
        let message = with(event);
        assert!(message.starts_with("s.json:1:") && message.contains(expected), "{message}");
        assert!(message.contains("events[0]"), "{message}");
    }
    let back = json!([{"at": 2, "server": "s", "remove": 1}, {"at": 1, "server": "s", "add": 1}]);
    assert!(refused(&two_servers(&back)).contains("time goes back from 2 to 1"));
    // All servers go and come back repeatedly.
    let often: Vec<Value> = (0..30)
        .map(|at| json!({"at": at, "server": "s", (if at % 2 == 0 { "add" } else { "remove" }): 1_000_000}))
        .collect();
    let message = refused(&two_servers(&json!(often)));
    assert!(message.contains("events[22]") && message.contains("more than 20000000 servers"), "{message}");
    let mut drawn = two_servers(&json!([]));
    drawn["draw_servers"] = json!(3);
    assert!(refused(&drawn).contains("servers that are drawn are present all the time"));
}

/// Returns a scenario with every kind of change. Whole numbers make many events happen at once.
pub fn random(seed: u64) -> Value {
    let mut draw = Draw::new(seed, 3);
    let mut random = |most: u64| 1 + draw.below(most);
    let capacity =
        |random: &mut dyn FnMut(u64) -> u64| json!({"cpu": 4 + random(6), "memory": 4 + random(6)});
    let mut there: Vec<u64> = (0..2).map(|_| random(3)).collect();
    let servers: Vec<Value> = there
        .iter()
        .enumerate()
        .map(|(i, count)| json!({"name": format!("s{i}"), "count": count, "capacity": capacity(&mut random)}))
        .collect();
    let (mut events, mut at) = (Vec::new(), 0);
    for _ in 0..14 {
        at += random(4) - 1;
        let i = (random(2) - 1) as usize;
        let server = format!("s{i}");
        match random(4) {
            1 if there[i] > 0 => {
                let number = random(there[i]);
                there[i] -= number;
                events.push(json!({"at": at, "server": server, "remove": number}));
            }
            2 if there[i] > 0 => {
                let (count, to) = (random(there[i]), capacity(&mut random));
                events.push(json!({"at": at, "server": server, "capacity": to, "count": count}));
            }
            _ => {
                let number = random(2);
                there[i] += number;
                events.push(json!({"at": at, "server": server, "add": number}));
            }
        }
    }
    let users: Vec<Value> = (0..4)
        .map(|n| {
            let mut at = 0;
            let jobs: Vec<Value> = (0..5)
                .map(|_| {
                    at += random(7) - 1;
                    json!({"at": at, "tasks": random(5), "duration": random(9)})
                })
                .collect();
            let demand = json!({"cpu": random(4), "memory": random(4)});
            let mut user =
                json!({"name": format!("u{n}"), "weight": random(2), "demand": demand, "jobs": jobs});
            if n == 1 {
                user["servers"] = json!(["s0"]);
            }
            if n == 2 {
                user["leaves"] = json!(10 + random(15));
            }
            user
        })
        .collect();
    json!({"kind": "scenario", "resources": ["cpu", "memory"], "servers": servers, "events": events,
        "policy": {}, "users": users, "horizon": 60, "every": 1})
}

fn rules() -> Vec<Rule> {
    use ServerRule::{BestFit, FirstFit, Iid, Joint, Rrr};
    let mut rules = Vec::new();
    for score in [Score::Drf, Score::Tsf, Score::PsDsf, Score::ResidualPsDsf] {
        for server in [FirstFit, BestFit, Rrr, Iid, Joint] {
            let ties = if rules.len() % 2 == 0 { Ties::Low } else { Ties::Random };
            rules.push(Rule { score, server, ties, unfiltered: false });
        }
    }
    rules
}

/// A running task.
#[derive(Clone, Copy)]
struct Task {
    number: u64,
    user: usize,
    place: usize,
    end: f64,
    duration: f64,
}

/// Simulates the same run by scanning everything at every time. Returns the task counts of each user and the
/// hash of placements.
fn plain(scenario: &Scenario, rule: Rule) -> (Vec<Tasks>, u64) {
    let (problem, whole) = (scenario.problem(0).unwrap(), scenario.whole().unwrap().unwrap());
    let machines = scenario.machines.as_ref().unwrap();
    let mut scan = naive::ongoing_among(&problem, &whole, rule, 0);
    machines.empty.iter().for_each(|place| scan.set_there(*place as usize, false));
    let mut tasks = vec![Tasks::default(); scenario.users.len()];
    let mut queues: Vec<VecDeque<f64>> = vec![VecDeque::new(); tasks.len()];
    let (mut running, mut started, mut hash): (Vec<Task>, u64, u64) = (Vec::new(), 0, 0);
    let length = |duration| match duration {
        evenhand_simulate::Duration::Constant(time) => time,
        other => panic!("{other:?}"),
    };
    for now in (0..=60).map(f64::from) {
        for task in running.extract_if(.., |task| task.end == now) {
            scan.release(task.user, task.place);
            tasks[task.user].completed += 1;
        }
        let mut evicted: Vec<Task> = Vec::new();
        for change in machines.changes.iter().filter(|change| change.at == now) {
            let place = change.place as usize;
            let mut on: Vec<Task> = running.extract_if(.., |task| task.place == place).collect();
            on.sort_by_key(|task| task.number);
            on.iter().for_each(|task| scan.release(task.user, place));
            match change.what {
                What::Comes => scan.set_there(place, true),
                What::Goes => {
                    scan.set_there(place, false);
                    evicted.extend(on);
                }
                What::Becomes(to) => {
                    scan.set_there(place, false);
                    scan.set_there(to as usize, true);
                    for task in on {
                        if scan.occupy(task.user, to as usize) {
                            running.push(Task { place: to as usize, ..task });
                        } else {
                            evicted.push(task);
                        }
                    }
                }
            }
        }
        evicted.sort_by_key(|task| std::cmp::Reverse(task.number));
        for task in evicted {
            tasks[task.user].evicted += 1;
            queues[task.user].push_front(task.duration);
            scan.submit(task.user, 1);
        }
        for (n, arrivals) in scenario.arrivals.iter().enumerate() {
            if arrivals.leaves == Some(now) {
                tasks[n].withdrawn += queues[n].len() as u64;
                queues[n].clear();
                scan.withdraw(n);
            }
            let has_left = arrivals.leaves.is_some_and(|leaves| leaves <= now);
            for job in arrivals.jobs.iter().filter(|job| job.at == now && !has_left) {
                tasks[n].submitted += job.tasks;
                queues[n].extend((0..job.tasks).map(|_| length(job.duration)));
                scan.submit(n, job.tasks);
            }
        }
        for (user, place) in scan.refill() {
            let (user, place) = (user as usize, place as usize);
            let duration = queues[user].pop_front().unwrap();
            running.push(Task { number: started, user, place, end: now + duration, duration });
            started += 1;
            tasks[user].started += 1;
            hash = (hash * 1_000_003 + place as u64 * 31 + user as u64) % (1 << 48);
        }
    }
    (tasks, hash)
}

#[test]
fn changing_random_clusters_agree_with_a_plain_scan() {
    let (mut evicted, mut compared) = (0, 0);
    for seed in 0..250 {
        let scenario = read(&random(seed));
        for rule in rules().into_iter().skip(seed as usize % 4).step_by(4) {
            let scenario = Scenario { policy: Policy::Fill(rule), ..scenario.clone() };
            let (tasks, hash) = plain(&scenario, rule);
            let simulated = run(&scenario, &[0], &|_, _| {}).unwrap();
            let run = &simulated.runs[0].1;
            assert_eq!((&run.tasks, run.placements), (&tasks, hash), "{seed}, {rule}");
            evicted += run.tasks.iter().map(|tasks| tasks.evicted).sum::<u64>();
            compared += 1;
        }
    }
    assert!(compared >= 1200 && evicted > 3000, "{compared} {evicted}");
}

/// Returns the scenario with policies of every kind. Policies with queues include every rule that stops runs.
fn policies(document: &Value) -> Vec<Scenario> {
    let of_rule = |rule: &str, server: &str| json!({"score": rule, "server": server, "ties": "random"});
    let mut policies = vec![json!({"slots": 5})];
    for (score, server) in
        [("drf", "best-fit"), ("ps-dsf", "joint"), ("rps-dsf", "rrr"), ("tsf", "first-fit")]
    {
        policies.push(of_rule(score, server));
    }
    let mut scenarios: Vec<Scenario> = Vec::new();
    for policy in policies {
        let mut document = document.clone();
        document["policy"] = policy;
        scenarios.push(read(&document));
    }
    for preemption in ["never", "guarantees", "shares"] {
        let mut document = document.clone();
        document["policy"] = json!({"tree": {"preemption": preemption}});
        document["groups"] = json!([{"name": "g", "guarantee": {"cpu": 6}}, {"name": "h", "weight": 2}]);
        for (n, group) in ["g", "h", "h", "g"].iter().enumerate() {
            document["users"][n]["group"] = json!(group);
        }
        document["users"][3]["gang"] = json!(2);
        for job in document["users"][3]["jobs"].as_array_mut().unwrap() {
            job["tasks"] = json!(job["tasks"].as_u64().unwrap() * 2);
        }
        scenarios.push(read(&document));
    }
    scenarios
}

#[test]
fn runs_on_a_changing_cluster_resume_from_any_checkpoint() {
    let (mut kills, mut evicted) = (0, 0);
    for seed in 0..12 {
        for mut scenario in policies(&random(1000 + seed)) {
            scenario.horizon = (seed % 2 == 0).then_some(60.0);
            let whole = run(&scenario, &[3], &|_, _| {}).unwrap();
            evicted += whole.runs[0].1.tasks.iter().map(|tasks| tasks.evicted).sum::<u64>();
            let mut draw = Draw::new(seed, 0);
            let (resumed, stops) = killed(&scenario, 3, &mut draw, 30);
            kills += stops;
            assert_eq!(resumed, whole, "{seed}, {:?}", scenario.policy);
        }
    }
    assert!(kills > 300 && evicted > 300, "{kills} {evicted}");
}

#[test]
fn replications_do_not_depend_on_the_number_of_threads() {
    let mut document = random(77);
    document["users"][0]["poisson"] = json!({"rate": 0.5, "tasks": 2, "duration": {"exponential": 4}});
    for scenario in policies(&document) {
        let seeds: Vec<u64> = (0..6).collect();
        let with = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| run(&scenario, &seeds, &|_, _| {}).unwrap())
        };
        let one = with(1);
        assert_eq!(one, with(4), "{:?}", scenario.policy);
        let hashes: std::collections::BTreeSet<u64> =
            one.runs.iter().map(|(_, run)| run.placements).collect();
        assert!(hashes.len() > 1);
    }
}

/// Made-up machine events in the format of the trace.
const EVENTS: &str = "0,5,0,P,0.5,0.25\n0,7,0,P,0.5,0.25\n0,9,0,Q,,\n1000000,7,2,P,0.5,0.25\n2000000,5,1,,,\n\
    3000000,7,2,P,0.25,0.25\n4000000,9,2,Q,1,1\n5000000,5,0,P,0.5,0.25\n";

fn google(events: &str, horizon: u64) -> Result<Scenario, String> {
    let folder = std::env::temp_dir().join(format!("evenhand-machines-{}-{horizon}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("events.csv"), events).unwrap();
    let text = json!({"kind": "scenario", "servers": {"google": "events.csv", "events": true}, "policy": {},
        "users": [{"name": "u", "demand": {"cpu": 0.25, "memory": 0.25}, "jobs": [{"at": 0, "tasks": 9, "duration": 100}]}],
        "horizon": horizon, "every": 1})
    .to_string();
    let scenario =
        Source { name: "s.json", text: &text }.scenario(&folder).map_err(|error| error.to_string());
    std::fs::remove_dir_all(&folder).unwrap();
    scenario
}

#[test]
fn machine_events_of_the_google_trace_are_followed() {
    let scenario = google(EVENTS, 6).unwrap();
    let simulated = run(&scenario, &[0], &|_, _| {}).unwrap();
    let run = &simulated.runs[0].1;
    let servers: Vec<u64> = run.rows.iter().map(|row| row.there.as_ref().unwrap().servers).collect();
    assert_eq!(servers, [2, 2, 1, 1, 2, 3, 3]);
    // Memory limits machines 5 and 7 to one task each. Machine 5 loses its task at 2 s, machine 7 keeps it, machine 9 takes four.
    let expected = Tasks { submitted: 9, started: 7, evicted: 1, ..Tasks::default() };
    assert_eq!(run.tasks[0], expected);
    let notes = simulated.notes.join("\n");
    assert!(notes.contains("1 machine events state no capacity"), "{notes}");
    assert!(notes.contains("1 machine updates change neither platform nor capacity"), "{notes}");
}

#[test]
fn malformed_machine_events_name_file_row_and_column() {
    let with = |row: &str| google(&format!("{EVENTS}{row}\n"), 7).unwrap_err();
    for (row, expected) in [
        ("4000000,5,1,,,", "events.csv:9: time goes back from 5000000 to 4000000"),
        (
            "6000000,6,1,,,",
            "events.csv:9: machine ID: found `6`: expected a machine of the cluster, to remove or update it",
        ),
        ("6000000,6,2,P,0.5,0.5", "events.csv:9: machine ID: found `6`: expected a machine of the cluster"),
        (
            "6000000,5,0,P,0.5,0.25",
            "events.csv:9: machine ID: found `5`: expected a machine that is not in the cluster, to add it",
        ),
        (
            "6000000,5,3,P,0.5,0.25",
            "events.csv:9: event type: found `3`: expected 0 (add), 1 (remove) or 2 (update)",
        ),
        ("6000000,5,2,P,-1,0.25", "events.csv:9: CPU capacity: found `-1`"),
        ("6000000,5,2,P,1,x", "events.csv:9: memory capacity: found `x`"),
        ("6000000,5,2,P,1", "events.csv:9: found 5 columns: expected 6"),
        ("x,5,2,P,1,1", "events.csv:9: time: found `x`"),
    ] {
        let message = with(row);
        assert!(message.starts_with("s.json:1:") && message.contains(expected), "{message}");
    }
    assert!(google("", 8).unwrap_err().contains("the file is empty"));
    let table = "platform,cpu,memory,count\nA,1,1,3\n";
    assert!(google(table, 9).unwrap_err().contains("events.csv:1: this is a table of machines"));
}

#[test]
fn simulates_29_days_of_google_machine_events() {
    let Some(folder) = evenhand_testkit::data::data("google2011") else { return };
    let text = r#"{"kind": "scenario", "policy": {"server": "best-fit"}, "horizon": 2506200, "every": 21600,
        "servers": {"google": "machine_events.part-00000-of-00001.csv.gz", "events": true},
        "users": [{"name": "u", "demand": {"cpu": 0.01, "memory": 0.02},
                   "poisson": {"rate": 0.02, "tasks": 5, "duration": {"exponential": 400000}}},
                  {"name": "v", "demand": {"cpu": 0.03, "memory": 0.01},
                   "poisson": {"rate": 0.01, "tasks": 9, "duration": {"exponential": 300000}}}]}"#;
    let scenario = Source { name: "s.json", text }.scenario(&folder).unwrap();
    let simulated = run(&scenario, &[0], &|_, _| {}).unwrap();
    let (problem, run): &(_, Run) = &simulated.runs[0];
    // The numbers were counted independently from the file: 12,583 machines that stated a capacity at some
    // time, and 12,477 machines that stated it at time 0.
    assert_eq!(problem.n_single_servers(), 12_583);
    let there = run.there.as_ref().unwrap();
    assert!(there.most <= 12_583 && there.least > 12_000 && there.servers > 12_300.0, "{there:?}");
    let evicted: u64 = run.tasks.iter().map(|tasks| tasks.evicted).sum();
    assert!(evicted > 100, "{evicted}");
    let totals = run.tasks.iter().fold(BTreeMap::new(), |mut sums: BTreeMap<&str, u64>, tasks| {
        *sums.entry("in").or_default() += tasks.submitted + tasks.evicted;
        *sums.entry("out").or_default() += tasks.started + tasks.waiting();
        sums
    });
    assert_eq!(totals["in"], totals["out"]);
    assert!(simulated.notes.iter().any(|note| note.starts_with("32 machine events state no capacity")));
    assert!(simulated.notes.iter().any(|note| note.starts_with("7341 machine updates change neither")));
}

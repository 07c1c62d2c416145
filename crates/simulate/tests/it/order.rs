//! The order of changing servers and the end of a run, compared with a loop over all times that stores
//! machines and no places.

use std::collections::VecDeque;
use std::path::Path;

use evenhand_problem::Rational;
use evenhand_problem::format::Source;
use evenhand_simulate::{ReadScenario, Run, Tasks, run};
use serde_json::{Value, json};

use crate::machines::random;

fn simulated(document: &Value) -> Run {
    let text = document.to_string();
    let scenario = Source { name: "s.json", text: &text }.scenario(Path::new("")).unwrap();
    run(&scenario, &[0], &|_, _| {}).unwrap().runs[0].1.clone()
}

/// A machine, which keeps its position in the list whatever happens to it.
struct Machine {
    name: String,
    capacity: Vec<u64>,
    is_there: bool,
    on: Vec<Task>,
}

#[derive(Clone)]
struct Task {
    number: u64,
    user: usize,
    job: usize,
    end: u64,
    lasts: u64,
}

struct Job {
    user: usize,
    at: u64,
    left: u64,
    done: u64,
}

fn amounts(of: &Value) -> Vec<u64> {
    ["cpu", "memory"].iter().map(|name| of[name].as_u64().unwrap()).collect()
}

impl Machine {
    fn fits(&self, demand: &[u64], demands: &[Vec<u64>]) -> bool {
        let used = |r: usize| self.on.iter().map(|task| demands[task.user][r]).sum::<u64>();
        self.is_there && (0..demand.len()).all(|r| used(r) + demand[r] <= self.capacity[r])
    }
}

/// Applies an event. Returns the tasks that it stops.
fn change(machines: &mut Vec<Machine>, event: &Value, stated: &[Value], demands: &[Vec<u64>]) -> Vec<Task> {
    let name = event["server"].as_str().unwrap();
    let of_name = |machines: &[Machine], there: bool| -> Vec<usize> {
        let is = |m: &usize| machines[*m].name == name && machines[*m].is_there == there;
        (0..machines.len()).filter(is).collect()
    };
    let there = of_name(machines, true);
    let mut stopped = Vec::new();
    if let Some(number) = event["remove"].as_u64() {
        for &m in there.iter().rev().take(number as usize) {
            machines[m].is_there = false;
            stopped.append(&mut machines[m].on);
        }
    } else if let Some(number) = event["add"].as_u64() {
        let away = of_name(machines, false);
        let back = away.len().min(number as usize);
        away[..back].iter().for_each(|m| machines[*m].is_there = true);
        for _ in back..number as usize {
            let after = machines.iter().rposition(|machine| machine.name == name).unwrap();
            let capacity = stated.iter().find(|server| server["name"] == name).unwrap();
            let capacity = amounts(&capacity["capacity"]);
            machines.insert(
                after + 1,
                Machine { name: name.to_owned(), capacity, is_there: true, on: Vec::new() },
            );
        }
    } else {
        let count = event["count"].as_u64().map_or(there.len(), |count| count as usize);
        for &m in there.iter().take(count) {
            machines[m].capacity = amounts(&event["capacity"]);
            let mut on = std::mem::take(&mut machines[m].on);
            on.sort_by_key(|task| task.number);
            for task in on {
                if machines[m].fits(&demands[task.user], demands) {
                    machines[m].on.push(task);
                } else {
                    stopped.push(task);
                }
            }
        }
    }
    stopped
}

/// The task counts of each user, the finished jobs, and the time of the last event of a task.
type Outcome = (Vec<Tasks>, Vec<(u32, u64, u64)>, u64);

/// Simulates DRF with first fit, with ties for the first user, by scanning everything at every time.
fn plain(document: &Value) -> Outcome {
    let list = |field: &str| document[field].as_array().unwrap().clone();
    let (servers, events, users) = (list("servers"), list("events"), list("users"));
    let demands: Vec<Vec<u64>> = users.iter().map(|user| amounts(&user["demand"])).collect();
    let mut machines: Vec<Machine> = Vec::new();
    for server in &servers {
        for _ in 0..server["count"].as_u64().unwrap() {
            let (name, capacity) =
                (server["name"].as_str().unwrap().to_owned(), amounts(&server["capacity"]));
            machines.push(Machine { name, capacity, is_there: true, on: Vec::new() });
        }
    }
    // The whole cluster: every machine that is ever present, as stated under its name.
    let copy = |of: &Machine| Machine {
        on: Vec::new(),
        name: of.name.clone(),
        capacity: of.capacity.clone(),
        is_there: true,
    };
    let mut ever: Vec<Machine> = machines.iter().map(copy).collect();
    events.iter().for_each(|event| {
        if event["capacity"].is_null() {
            change(&mut ever, event, &servers, &demands);
        }
    });
    let total = |r: usize| ever.iter().map(|machine| machine.capacity[r]).sum::<u64>();
    let share = |n: usize| {
        let parts = (0..2).map(|r| Rational::from((demands[n][r], total(r))));
        parts.max().unwrap() / users[n]["weight"].as_u64().unwrap()
    };
    let shares: Vec<Rational> = (0..users.len()).map(share).collect();
    let may = |n: usize, machine: &Machine| {
        users[n]["servers"].as_array().is_none_or(|names| names.iter().any(|name| *name == machine.name))
    };
    let (mut tasks, mut jobs) = (vec![Tasks::default(); users.len()], Vec::<Job>::new());
    let mut waiting: Vec<VecDeque<(usize, u64)>> = vec![VecDeque::new(); users.len()];
    let (mut number, mut last, mut done) = (0, 0, Vec::new());
    for now in 0..400_u64 {
        for machine in &mut machines {
            for task in machine.on.extract_if(.., |task| task.end == now) {
                tasks[task.user].completed += 1;
                jobs[task.job].left -= 1;
                jobs[task.job].done = now;
                last = now;
            }
        }
        let mut stopped = Vec::new();
        for event in events.iter().filter(|event| event["at"] == now) {
            stopped.extend(change(&mut machines, event, &servers, &demands));
        }
        stopped.sort_by_key(|task| std::cmp::Reverse(task.number));
        for task in stopped {
            tasks[task.user].evicted += 1;
            waiting[task.user].push_front((task.job, task.lasts));
            last = now;
        }
        for (n, user) in users.iter().enumerate() {
            if user["leaves"] == now && !waiting[n].is_empty() {
                tasks[n].withdrawn += waiting[n].len() as u64;
                waiting[n].clear();
                last = now;
            }
            let has_left = user["leaves"].as_u64().is_some_and(|leaves| leaves <= now);
            for job in user["jobs"].as_array().unwrap().iter().filter(|job| job["at"] == now && !has_left) {
                let (count, lasts) = (job["tasks"].as_u64().unwrap(), job["duration"].as_u64().unwrap());
                tasks[n].submitted += count;
                waiting[n].extend((0..count).map(|_| (jobs.len(), lasts)));
                jobs.push(Job { user: n, at: now, left: count, done: 0 });
                last = now;
            }
        }
        loop {
            let room = |n: usize| {
                machines.iter().position(|machine| may(n, machine) && machine.fits(&demands[n], &demands))
            };
            let able = (0..users.len()).filter(|n| !waiting[*n].is_empty());
            let able = able.filter_map(|n| Some((n, room(n)?)));
            let key = |n: usize| Rational::from(&shares[n] * tasks[n].running());
            let Some((user, at)) = able.min_by_key(|(n, _)| (key(*n), *n)) else { break };
            let (job, lasts) = waiting[user].pop_front().unwrap();
            machines[at].on.push(Task { number, user, job, end: now + lasts, lasts });
            tasks[user].started += 1;
            number += 1;
            last = now;
        }
    }
    let finished = jobs.iter().filter(|job| job.left == 0);
    done.extend(finished.map(|job| (job.user as u32, job.at, job.done - job.at)));
    done.sort_unstable();
    (tasks, done, last)
}

fn outcome(run: &Run) -> Outcome {
    let mut done: Vec<(u32, u64, u64)> =
        run.jobs.iter().map(|job| (job.user, job.at as u64, job.time as u64)).collect();
    done.sort_unstable();
    (run.tasks.clone(), done, run.end as u64)
}

#[test]
fn changing_machines_keep_their_order_and_runs_end_with_the_last_task() {
    let (mut ends_early, mut evicted) = (0, 0);
    for seed in 0..400 {
        let mut document = random(seed);
        document.as_object_mut().unwrap().remove("horizon");
        let last_event = document["events"].as_array().unwrap().last().unwrap()["at"].as_u64().unwrap();
        let expected = plain(&document);
        assert_eq!(outcome(&simulated(&document)), expected, "{seed}: {document}");
        ends_early += u64::from(expected.2 < last_event);
        evicted += expected.0.iter().map(|tasks| tasks.evicted).sum::<u64>();
        // Later departures of users change nothing.
        if expected.0.iter().all(|tasks| tasks.waiting() == 0) {
            for user in document["users"].as_array_mut().unwrap() {
                if user["leaves"].is_null() {
                    user["leaves"] = json!(1000);
                }
            }
            assert_eq!(outcome(&simulated(&document)), expected, "{seed}: {document}");
        }
    }
    assert!(ends_early > 0 && evicted > 1000, "{ends_early} {evicted}");
}

fn one_task(more: &Value) -> Value {
    let mut document = json!({"kind": "scenario", "resources": ["cpu"], "policy": {}, "every": 5,
        "servers": [{"name": "s", "capacity": {"cpu": 1}}],
        "users": [{"name": "u", "demand": {"cpu": 1}, "jobs": [{"at": 0, "tasks": 1, "duration": 10}]}]});
    for (name, value) in more.as_object().unwrap() {
        match name.as_str() {
            "leaves" => document["users"][0]["leaves"] = value.clone(),
            _ => document[name] = value.clone(),
        }
    }
    document
}

#[test]
fn events_after_the_last_task_are_not_simulated() {
    let (add, remove) =
        (json!([{"at": 1000, "server": "s", "add": 1}]), json!([{"at": 1000, "server": "s", "remove": 1}]));
    for more in [
        json!({}),
        json!({"leaves": 1000}),
        json!({"leaves": 10}),
        json!({"events": add}),
        json!({"leaves": 500, "events": add}),
        json!({"leaves": 2000, "events": remove}),
    ] {
        let run = simulated(&one_task(&more));
        let times: Vec<f64> = run.rows.iter().map(|row| row.time).collect();
        assert_eq!((run.end, times), (10.0, vec![0.0, 5.0, 10.0]), "{more}");
        let events = if more == json!({"leaves": 10}) { 3 } else { 2 };
        assert_eq!(run.events, events, "{more}");
        if let Some(there) = run.there {
            assert_eq!((there.servers, there.least, there.most), (1.0, 1, 1), "{more}");
        }
    }
    // One task waits forever, and machine events do not help it. The run ends with the task that ran.
    let mut document = one_task(
        &json!({"events": [{"at": 5, "server": "s", "add": 1}, {"at": 50, "server": "s", "remove": 2},
        {"at": 70, "server": "s", "capacity": {"cpu": "0.5"}}, {"at": 80, "server": "s", "add": 2}]}),
    );
    document["events"][2] = json!({"at": 70, "server": "t", "add": 1, "capacity": {"cpu": "0.5"}});
    document["events"].as_array_mut().unwrap().pop();
    document["users"][0]["jobs"] =
        json!([{"at": 0, "tasks": 1, "duration": 10}, {"at": 60, "tasks": 1, "duration": 1}]);
    let run = simulated(&document);
    assert_eq!((run.end, run.tasks[0].waiting()), (60.0, 1));
    // Withdrawals are events of tasks, so they extend the run.
    document["users"][0]["leaves"] = json!(90);
    let run = simulated(&document);
    assert_eq!((run.end, run.tasks[0].withdrawn), (90.0, 1));
}

#[test]
fn a_server_that_grows_keeps_its_position() {
    let document = json!({"kind": "scenario", "resources": ["cpu"], "policy": {},
        "servers": [{"name": "a", "count": 2, "capacity": {"cpu": 2}}],
        "events": [{"at": 1, "server": "a", "capacity": {"cpu": 3}, "count": 1}],
        "users": [{"name": "u", "demand": {"cpu": 1}, "jobs": [{"at": 2, "tasks": 1, "duration": 10}]},
                  {"name": "big", "demand": {"cpu": 3}, "jobs": [{"at": 3, "tasks": 1, "duration": 1}]}]});
    let run = simulated(&document);
    // The first server grows to 3 units and takes the task of u. The other task fits when that task ends.
    let done: Vec<(u32, f64)> = run.jobs.iter().map(|job| (job.user, job.at + job.time)).collect();
    assert_eq!(done, [(0, 12.0), (1, 13.0)]);
}

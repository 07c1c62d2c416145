//! Tests of the waiting times of jobs: hand-made clusters, and random clusters that the plain loops of the
//! test kit also judge.

use std::collections::BTreeMap;

use crate::common::{cluster, snapshot};

use evenhand_cluster::waits::{
    Asked, Durations, Earliest, Entry, Law, Policy, Row, Settings, Start, Waits, Which,
};
use evenhand_cluster::{Due, Queues, TaskRules, by_rule};
use evenhand_mechanisms::tree::Rule;
use evenhand_problem::snapshot::{Snapshot, System, TaskTime};
use evenhand_testkit::plain::starts::Task;
use evenhand_testkit::plain::waits::{Order, Times, earliest, judge};
use evenhand_testkit::random::snapshots;
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use serde_json::json;

const SECOND: u64 = 1_000_000_000;
const HOUR: u64 = 3_600 * SECOND;

fn settings(law: Law) -> Settings {
    Settings {
        durations: Durations { others: Some(Entry::of(law)), by_name: BTreeMap::new() },
        runs: 1,
        seed: 0,
        horizon: None,
        rule: None,
        policy: Policy::Tree,
        asked: Asked::All,
    }
}

fn tasks(start: &Start) -> Vec<Task> {
    let parts = start.assignment.parts.iter();
    parts.flat_map(|(m, places)| places.iter().map(|place| (*m, place.class, place.index))).collect()
}

/// Returns a cluster with one server of 4 GPUs. User `a` runs 4 tasks on it, and three users wait.
fn small_cluster() -> Snapshot {
    let users = json!([
        {"name": "a", "demand": {"gpu": 1}, "tasks": 4},
        {"name": "b", "demand": {"gpu": 4}, "tasks": 1},
        {"name": "c", "demand": {"gpu": 2}, "tasks": 3},
        {"name": "d", "demand": {"gpu": 5}, "tasks": 1, "servers": ["node"]},
    ]);
    cluster(4, &json!([]), &users, &[json!({"a": 4})])
}

fn row<'w>(waits: &'w Waits, of: &Snapshot, user: &str, which: &Which) -> &'w Row {
    let n = of.problem.user_named(user).unwrap();
    waits.rows.iter().find(|row| row.user == n && row.which == *which).unwrap()
}

#[test]
fn fixed_times_give_the_starts_by_hand() {
    let of = small_cluster();
    let waits =
        Waits::new(&of, &Settings { policy: Policy::Priority, ..settings(Law::Fixed(HOUR)) }).unwrap();
    assert!(!waits.is_random);
    assert_eq!(waits.runs, 1);
    // The four tasks of `a` end after an hour. User `b` comes first in the file. Then `c` starts two tasks at
    // once, and one task later.
    let start = |user: &str, which: &Which| row(&waits, &of, user, which).starts.clone();
    assert_eq!(start("b", &Which::Only), [HOUR]);
    assert_eq!(start("c", &Which::First), [2 * HOUR]);
    assert_eq!(start("c", &Which::Last), [3 * HOUR]);
    // No server has five GPUs.
    let d = row(&waits, &of, "d", &Which::Only);
    assert_eq!((d.starts.len(), d.earliest), (0, Some(Earliest::Never)));
    assert_eq!(row(&waits, &of, "c", &Which::First).earliest, Some(Earliest::At(HOUR)));
}

#[test]
fn the_tree_serves_the_least_share_first() {
    let users = json!([
        {"name": "a", "group": "x", "demand": {"gpu": 1}, "tasks": 6},
        {"name": "b", "group": "y", "demand": {"gpu": 1}, "tasks": 4},
    ]);
    let groups = json!([{"name": "x"}, {"name": "y"}]);
    let of = cluster(2, &groups, &users, &[json!({"a": 2})]);
    let waits = Waits::new(&of, &settings(Law::Fixed(HOUR))).unwrap();
    let order: Vec<(u64, &str)> =
        waits.starts.iter().map(|of_| (of_.time / HOUR, of.problem.users()[of_.user].name())).collect();
    let expected = [(1, "a"), (1, "b"), (2, "a"), (2, "b"), (3, "a"), (3, "b"), (4, "a"), (4, "b")];
    assert_eq!(order, expected);
}

#[test]
fn a_horizon_ends_runs_and_quantiles_count_all_runs() {
    let of = small_cluster();
    let stated = Settings { horizon: Some(HOUR), ..settings(Law::Fixed(HOUR)) };
    let waits = Waits::new(&of, &stated).unwrap();
    // At that moment `b` and `c` use no GPUs. So the order of the file decides, and `b` gets all GPUs.
    let started: Vec<usize> =
        waits.rows.iter().filter(|row| !row.starts.is_empty()).map(|row| row.user).collect();
    assert_eq!(started, [1], "{:?}", waits.rows);
    let row = Row {
        user: 0,
        which: Which::Only,
        jobs: 1,
        starts: vec![1, 2, 3],
        runs: 10,
        earliest: None,
        by_model: false,
    };
    assert_eq!((row.quantile(1, 10), row.quantile(3, 10), row.quantile(1, 2)), (Some(1), Some(3), None));
    assert_eq!(row.started().to_string(), "3/10");
}

#[test]
fn exponential_times_have_the_known_mean() {
    // There is one server of one GPU. The first start comes after one exponential time, and the second start
    // after two exponential times.
    let users = json!([{"name": "a", "demand": {"gpu": 1}, "tasks": 3}]);
    let of = cluster(1, &json!([]), &users, &[json!({"a": 1})]);
    let stated = Settings { runs: 4_000, ..settings(Law::Exponential(HOUR)) };
    let waits = Waits::new(&of, &stated).unwrap();
    assert!(waits.is_random && waits.runs == 4_000);
    let hours = |time: u64| time as f64 / HOUR as f64;
    let mean = |row: &Row| row.starts.iter().map(|time| hours(*time)).sum::<f64>() / 4_000.0;
    let (first, last) = (&waits.rows[0], &waits.rows[1]);
    // The standard errors are 0.016 and 0.022.
    assert!((mean(first) - 1.0).abs() < 0.08, "{}", mean(first));
    assert!((mean(last) - 2.0).abs() < 0.11, "{}", mean(last));
    assert!((hours(first.quantile(1, 2).unwrap()) - 2.0_f64.ln()).abs() < 0.08);
    assert_eq!(first.earliest, None);
    // The same seeds give the same runs.
    assert_eq!(Waits::new(&of, &stated).unwrap(), waits);
}

#[test]
fn time_limits_are_read_from_the_snapshot() {
    let mut of = small_cluster();
    of.running = vec![evenhand_problem::snapshot::Running {
        user: 0,
        server: 0,
        index: 0,
        names: ["1", "2", "3", "4"].map(str::to_owned).to_vec(),
        owners: Vec::new(),
        gangs: Vec::new(),
    }];
    let left = |task: &str, left: u64| TaskTime {
        task: task.to_owned(),
        limit: Some(7_200),
        left: Some(left),
        priority: None,
    };
    of.times = vec![left("1", 0), left("2", 60), left("3", 7_200)];
    let waits = Waits::new(&of, &Settings { policy: Policy::Priority, ..settings(Law::Limits) }).unwrap();
    // The fourth task has no limit, so `b` never gets four GPUs. The waiting jobs have no limit either.
    assert!(row(&waits, &of, "b", &Which::Only).starts.is_empty());
    assert_eq!(row(&waits, &of, "b", &Which::Only).earliest, Some(Earliest::Never));
    assert_eq!(row(&waits, &of, "c", &Which::First).starts, [60 * SECOND]);
    assert!(row(&waits, &of, "c", &Which::Last).starts.is_empty());
    assert_eq!((waits.endless_running, waits.endless_waiting), (1, 5));
    // A time limit ends tasks whose law would let them run longer.
    let waits =
        Waits::new(&of, &Settings { policy: Policy::Priority, ..settings(Law::Fixed(HOUR)) }).unwrap();
    assert_eq!(row(&waits, &of, "c", &Which::First).starts, [60 * SECOND]);
    assert_eq!(row(&waits, &of, "c", &Which::Last).starts, [HOUR + 60 * SECOND]);
    assert_eq!(row(&waits, &of, "b", &Which::Only).starts, [2 * HOUR + 60 * SECOND]);
}

#[test]
fn admitted_tasks_hold_their_quota_and_get_servers_first() {
    let users = json!([
        {"name": "a", "group": "x", "demand": {"gpu": 1}, "tasks": 4},
        {"name": "b", "group": "x", "demand": {"gpu": 2}, "tasks": 2},
    ]);
    let groups = json!([{"name": "x", "limit": {"gpu": 4}}]);
    let mut of = cluster(4, &groups, &users, &[json!({"a": 4})]);
    of.constraints =
        vec![evenhand_problem::snapshot::Constraint { user: 1, admitted: 1, ..Default::default() }];
    let waits = Waits::new(&of, &settings(Law::Fixed(HOUR))).unwrap();
    // The admitted task exceeds the quota of 4 until the tasks of `a` end. Then both tasks of `b` fit.
    assert_eq!(row(&waits, &of, "b", &Which::Only).starts, [HOUR]);
    assert_eq!(waits.admitted, 1);
    assert_eq!(waits.starts.len(), 1, "an admitted task is no waiting job");
}

#[test]
fn errors_name_missing_data() {
    let of = small_cluster();
    let none = Settings { durations: Durations::default(), ..settings(Law::Limits) };
    let error = Waits::new(&of, &none).unwrap_err();
    assert!(error.to_string().contains("no duration is stated for the tasks of user `a`"), "{error}");
    assert!(error.is_of_input());
    let asked = Settings { asked: Asked::User(0), ..settings(Law::Fixed(HOUR)) };
    let error = Waits::new(&of, &asked).unwrap_err();
    assert!(error.to_string().contains("user `a` has no whole job that waits"), "{error}");
    let mut by_class = of.clone();
    by_class.allocation.placements = None;
    let error = Waits::new(&by_class, &settings(Law::Fixed(HOUR))).unwrap_err();
    assert!(error.to_string().contains("does not say on which servers"), "{error}");
    let users = json!([{"name": "a", "demand": {"gpu": 1}}]);
    let unlimited = cluster(1, &json!([]), &users, &[json!({})]);
    let error = Waits::new(&unlimited, &settings(Law::Fixed(HOUR))).unwrap_err();
    assert!(error.to_string().contains("unlimited tasks"), "{error}");
}

/// Compares runs with the plain loops on random clusters without admitted tasks, by three orders of starts.
#[test]
fn runs_agree_with_plain_loops() {
    let (mut starts, mut late, mut open) = (0, 0, 0);
    for seed in 0..600 {
        let mut rng = Pcg64::seed_from_u64(seed);
        let mut of = snapshots::snapshot(seed);
        of.constraints.iter_mut().for_each(|constraint| constraint.admitted = 0);
        let rule = [None, None, Some(Rule::Volcano), Some(Rule::Kueue)][rng.random_range(0..4)];
        let policy = match rule {
            Some(Rule::Volcano) => Policy::FairShare,
            _ if rng.random_bool(0.4) => Policy::Priority,
            _ => Policy::Tree,
        };
        // Users that start together have the same duration.
        let n_users = of.problem.n_users();
        let mut times = Times { left: vec![None; n_users], duration: vec![None; n_users] };
        let together = |n: usize| of.constraints.iter().find(|of| of.user == n && !of.together.is_empty());
        for n in 0..n_users {
            let pair = (0..n).find(|m| together(n).is_some() && together(*m).is_some());
            (times.left[n], times.duration[n]) = match pair {
                Some(m) => (times.left[m], times.duration[m]),
                None => {
                    let mut draw =
                        |least: u64| rng.random_bool(0.9).then(|| rng.random_range(least..=5) * SECOND);
                    (draw(0), draw(1))
                }
            };
        }
        let law = |time: Option<u64>| time.map_or(Law::Limits, Law::Fixed);
        let entry = |n: usize| Entry { duration: law(times.duration[n]), left: law(times.left[n]) };
        let by_name = (0..n_users).map(|n| (of.problem.users()[n].name().to_owned(), entry(n))).collect();
        let stated = Settings {
            durations: Durations { others: None, by_name },
            rule,
            policy,
            ..settings(Law::Limits)
        };
        let Ok(waits) = Waits::new(&of, &stated) else {
            // Some rules are not defined for limits on classes.
            continue;
        };
        if waits.not_known > 0 {
            open += 1;
            continue;
        }
        let problem = by_rule(&of.problem, rule).unwrap().unwrap_or_else(|| of.problem.clone());
        let judged = Snapshot { problem, ..of.clone() };
        let order = match policy {
            Policy::Priority => Order::Priority,
            Policy::FairShare => {
                let rules = TaskRules::new(&judged);
                let queues = Queues::new(&judged.problem, &rules);
                Order::FairShare(Due::new(&queues, rule).unwrap().amounts)
            }
            _ => Order::Tree,
        };
        let list: Vec<(u64, Vec<Task>)> = waits.starts.iter().map(|of| (of.time, tasks(of))).collect();
        if let Err(wrong) = judge(&judged, &times, &order, &list) {
            panic!("seed {seed}, {policy:?}, {rule:?}: {wrong}\n{list:?}");
        }
        starts += list.len();
        // The rows and the lower bounds must agree with the plain loops.
        let bounds = earliest(&judged, &times);
        for row in &waits.rows {
            let own: Vec<u64> =
                waits.starts.iter().filter(|start| start.user == row.user).map(|start| start.time).collect();
            let start = match row.which {
                Which::Only | Which::First => own.first(),
                _ => own.last().filter(|_| own.len() as u64 == row.jobs),
            };
            assert_eq!(row.starts.first(), start, "seed {seed}");
            let bound = bounds[row.user].map_or(Earliest::Never, Earliest::At);
            assert_eq!(row.earliest, Some(bound), "seed {seed}, user {}", row.user);
            match (bound, start) {
                (Earliest::At(bound), Some(start)) => {
                    assert!(bound <= *start, "seed {seed}");
                    late += usize::from(bound < *start);
                }
                (Earliest::Never, Some(_)) => panic!("seed {seed}: a start against the bound"),
                _ => {}
            }
        }
    }
    println!("{starts} starts, {late} later than their bounds, {open} snapshots not known");
    assert!(starts > 500 && late > 20 && open < 60, "{starts} {late} {open}");
}

/// Returns a random snapshot of Slurm with nodes of 8 GPUs, and jobs with limits and priorities. Also returns
/// the time limits of the jobs.
fn slurm(seed: u64) -> (Snapshot, BTreeMap<String, u64>) {
    let mut rng = Pcg64::seed_from_u64(seed);
    let nodes = rng.random_range(1..=3);
    let mut free = vec![8_u64; nodes];
    let mut users = Vec::new();
    let (mut running, mut waiting, mut times) = (Vec::new(), Vec::new(), Vec::new());
    let mut on: Vec<BTreeMap<String, u64>> = vec![BTreeMap::new(); nodes];
    for user in 0..rng.random_range(2..=5) {
        let gpus = rng.random_range(1..=8_u64);
        let name = format!("u{user}");
        let mut all = 0;
        for (node, left) in free.iter_mut().enumerate() {
            if *left >= gpus && rng.random_bool(0.7) {
                *left -= gpus;
                on[node].insert(name.clone(), 1);
                let task = format!("{user}{node}");
                running.push(json!({"user": name, "server": "node", "index": node, "names": [task]}));
                let limit = rng.random_range(3..=9_u64);
                times.push(json!({"task": task, "limit": limit, "left": rng.random_range(1..=limit)}));
                all += 1;
            }
        }
        let jobs = rng.random_range(0..=3);
        let names: Vec<String> = (0..jobs).map(|job| format!("w{user}{job}")).collect();
        for name in &names {
            times.push(json!({
                "task": name, "limit": rng.random_range(1..=9), "priority": rng.random_range(0..=4),
            }));
        }
        waiting.push(json!({"user": name, "tasks": jobs, "names": names}));
        users.push(json!({"name": name, "demand": {"gpu": gpus}, "tasks": all + jobs}));
    }
    let placements: Vec<_> = on
        .iter()
        .enumerate()
        .map(|(index, tasks)| json!({"server": "node", "index": index, "tasks": tasks}))
        .collect();
    let document = json!({
        "kind": "snapshot", "system": "slurm",
        "problem": {
            "kind": "allocation-problem", "resources": ["gpu"],
            "servers": [{"name": "node", "count": nodes, "capacity": {"gpu": 8}}], "users": users,
        },
        "allocation": {"kind": "allocation", "placements": placements},
        "waiting": waiting, "running": running, "times": times,
    });
    let of = snapshot(&document.to_string());
    let limits = of.times.iter().map(|of| (of.task.clone(), of.limit.unwrap() * SECOND)).collect();
    (of, limits)
}

/// Checks backfill by its definition: jobs start by priority, and jobs that pass the first blocked job do not
/// delay it.
#[test]
fn backfill_never_delays_the_first_blocked_job() {
    let (mut starts, mut passed) = (0, 0);
    for seed in 0..400 {
        let (of, limits) = slurm(seed);
        let stated = Settings { policy: Policy::new(of.system, None, false), ..settings(Law::Limits) };
        assert_eq!(stated.policy, Policy::Backfill);
        let waits = Waits::new(&of, &stated).unwrap();
        let gpus = |n: usize| of.problem.users()[n].base_demand()[0].numer().to_u64().unwrap();
        // The running tasks: the end, the server, and the number of GPUs of each.
        let mut run: Vec<(u64, u64, u64)> = Vec::new();
        for running in &of.running {
            let time = of.times.iter().find(|time| time.task == running.names[0]).unwrap();
            run.push((time.left.unwrap() * SECOND, running.index, gpus(running.user)));
        }
        // The waiting jobs in the order of their priorities, and then in the order of the file.
        let mut jobs: Vec<(i64, usize, u64, u64)> = Vec::new();
        for waiting in &of.waiting {
            let mut own: Vec<(i64, u64)> = waiting
                .names
                .iter()
                .map(|name| {
                    let time = of.times.iter().find(|time| time.task == *name).unwrap();
                    (-time.priority.unwrap(), limits[name])
                })
                .collect();
            own.sort_by_key(|(priority, _)| *priority);
            let numbered = own.into_iter().enumerate();
            jobs.extend(numbered.map(|(k, (priority, limit))| (priority, waiting.user, k as u64, limit)));
        }
        jobs.sort_unstable_by_key(|(priority, user, k, _)| (*priority, *user, *k));
        let nodes = of.problem.servers()[0].count();
        let free = |run: &[(u64, u64, u64)], now: u64, node: u64| {
            8 - run
                .iter()
                .filter(|(end, on, _)| *end > now && *on == node)
                .map(|(.., gpus)| gpus)
                .sum::<u64>()
        };
        let could = |run: &[(u64, u64, u64)], now: u64, n: usize| {
            (0..nodes).any(|node| free(run, now, node) >= gpus(n))
        };
        let first_time = |run: &[(u64, u64, u64)], now: u64, n: usize| {
            let mut ends: Vec<u64> = run.iter().map(|(end, ..)| (*end).max(now)).collect();
            ends.push(now);
            ends.into_iter().filter(|end| could(run, *end, n)).min().unwrap()
        };
        let mut trace = waits.starts.iter().peekable();
        let mut now = 0;
        while !jobs.is_empty() {
            let mut blocked: Option<(usize, u64)> = None;
            let mut at = 0;
            while at < jobs.len() {
                let (_, user, k, limit) = jobs[at];
                let is_next =
                    trace.peek().is_some_and(|start| (start.time, start.user, start.job) == (now, user, k));
                if !is_next {
                    match blocked {
                        // Each job before the first blocked job starts if it could start.
                        None => {
                            assert!(!could(&run, now, user), "seed {seed} at {now}: {user} {k}");
                            blocked = Some((user, first_time(&run, now, user)));
                        }
                        // A job that ends before the planned start of the blocked job must pass it.
                        Some((_, time)) => {
                            let passes = could(&run, now, user) && now + limit <= time;
                            assert!(!passes, "seed {seed} at {now}: {user} {k} could pass");
                        }
                    }
                    at += 1;
                    continue;
                }
                let start = trace.next().unwrap();
                let node = start.assignment.parts[0].1[0].index;
                assert!(free(&run, now, node) >= gpus(user), "seed {seed} at {now}");
                run.push((now + limit, node, gpus(user)));
                if let Some((first, time)) = blocked {
                    passed += 1;
                    assert!(first_time(&run, now, first) <= time, "seed {seed} at {now}: {user} {k} delays");
                }
                jobs.remove(at);
                starts += 1;
            }
            let Some(end) = run.iter().map(|(end, ..)| *end).filter(|end| *end > now).min() else { break };
            now = end;
        }
        assert!(jobs.is_empty() && trace.next().is_none(), "seed {seed}: all jobs start in the end");
    }
    println!("{starts} starts, {passed} by backfill");
    assert!(starts > 1_000 && passed > 20, "{starts} {passed}");
}

#[test]
fn each_system_has_its_order_of_starts() {
    assert_eq!(Policy::new(Some(System::Kubernetes), None, false), Policy::Priority);
    assert_eq!(Policy::new(Some(System::Slurm), Some(Rule::Slurm), false), Policy::Backfill);
    assert_eq!(Policy::new(Some(System::Slurm), Some(Rule::Slurm), true), Policy::Tree);
    assert_eq!(Policy::new(Some(System::Kueue), Some(Rule::Kueue), false), Policy::Tree);
    assert_eq!(Policy::new(Some(System::Kai), Some(Rule::Kai), false), Policy::FairShare);
    assert_eq!(Policy::new(None, None, false), Policy::Tree);
}

/// Returns a queue of Kueue with ten nodes of one GPU each, and the settings. All GPUs are in use, and one
/// task ends every six minutes.
fn kueue(users: &serde_json::Value) -> (Snapshot, Settings) {
    const MINUTE: u64 = 60 * SECOND;
    let on: Vec<_> = (0..10).map(|node| json!({format!("r{node}"): 1})).collect();
    let mut all: Vec<serde_json::Value> = (0..10)
        .map(|node| json!({"name": format!("r{node}"), "group": "cq", "demand": {"gpu": 1}, "tasks": 1}))
        .collect();
    all.extend(users.as_array().unwrap().iter().cloned());
    let of = cluster(1, &json!([{"name": "cq"}]), &json!(all), &on);
    let of = Snapshot { system: Some(System::Kueue), ..of };
    let left = |node: u64| Entry::of(Law::Fixed((node + 1) * 6 * MINUTE));
    let by_name = (0..10).map(|node| (format!("r{node}"), left(node))).collect();
    let durations = Durations { others: Some(Entry::of(Law::Fixed(10 * HOUR))), by_name };
    let policy = Policy::new(of.system, Some(Rule::Kueue), false);
    (of, Settings { durations, policy, rule: Some(Rule::Kueue), ..settings(Law::Limits) })
}

/// Kueue, issues 13159 and 4046: users ask how long their workloads will wait, but know only the position in the queue.
/// In the discussion of KEP 168-2 a queue admits ten jobs an hour, so that the workload at position 5 waits for 30
/// minutes.
#[test]
fn kueue_13159_the_position_gives_the_time_of_equal_workloads() {
    let (of, stated) = kueue(&json!([{"name": "w", "group": "cq", "demand": {"gpu": 1}, "tasks": 5}]));
    let waits = Waits::new(&of, &stated).unwrap();
    assert_eq!(row(&waits, &of, "w", &Which::First).starts, [HOUR / 10]);
    assert_eq!(row(&waits, &of, "w", &Which::Last).starts, [HOUR / 2]);
}

/// Kueue, issue 8309: with `BestEffortFIFO` gang jobs can starve, because smaller workloads keep moving
/// ahead. So the position in the queue does not determine the waiting time. The gang is first in the queue
/// and could start after an hour at the earliest, but it starts after 10 hours.
#[test]
fn kueue_8309_a_gang_waits_for_later_workloads() {
    let users = json!([
        {"name": "gang", "group": "cq", "demand": {"gpu": 1}, "tasks": 10, "gang": 10},
        {"name": "small", "group": "cq", "demand": {"gpu": 1}, "tasks": 9},
    ]);
    let (of, stated) = kueue(&users);
    let waits = Waits::new(&of, &stated).unwrap();
    let gang = row(&waits, &of, "gang", &Which::Only);
    assert_eq!(gang.earliest, Some(Earliest::At(HOUR)));
    assert_eq!(gang.starts, [10 * HOUR + 9 * HOUR / 10]);
    assert_eq!(row(&waits, &of, "small", &Which::First).starts, [HOUR / 10]);
    // Without the small workloads, the gang starts after an hour.
    let (alone, stated) = kueue(&json!([users[0]]));
    assert_eq!(Waits::new(&alone, &stated).unwrap().rows[0].starts, [HOUR]);
}

/// Slurm, chaos/slurm pull request 43: standby jobs have to wait if their time limit would delay the start of
/// a job of a higher priority. A shorter time limit lets them start at once.
#[test]
fn slurm_43_a_time_limit_decides_which_job_passes() {
    let of = |limit: u64| {
        let document = json!({
            "kind": "snapshot", "system": "slurm",
            "problem": {
                "kind": "allocation-problem", "resources": ["cpu"],
                "servers": [{"name": "node", "count": 2, "capacity": {"cpu": 8}}],
                "users": [{"name": "runs", "demand": {"cpu": 8}, "tasks": 1},
                          {"name": "wide", "demand": {"cpu": 8}, "tasks": 2, "gang": 2},
                          {"name": "standby", "demand": {"cpu": 8}, "tasks": 1}],
            },
            "allocation": {"kind": "allocation", "placements": [
                {"server": "node", "index": 0, "tasks": {"runs": 1}}]},
            "waiting": [{"user": "wide", "tasks": 2, "names": ["2", "2"]},
                        {"user": "standby", "tasks": 1, "names": ["3"]}],
            "running": [{"user": "runs", "server": "node", "index": 0, "names": ["1"]}],
            "times": [{"task": "1", "limit": 7200, "left": 3600},
                      {"task": "2", "limit": 3600, "priority": 100},
                      {"task": "3", "limit": limit, "priority": 1}],
        });
        snapshot(&document.to_string())
    };
    let starts = |limit: u64| {
        let of = of(limit);
        let policy = Policy::new(of.system, Some(Rule::Slurm), false);
        let waits = Waits::new(&of, &Settings { policy, ..settings(Law::Limits) }).unwrap();
        let start = |user: &str| row(&waits, &of, user, &Which::Only).starts[0] / SECOND;
        (start("wide"), start("standby"))
    };
    assert_eq!(starts(3_600), (3_600, 0));
    assert_eq!(starts(3_601), (3_600, 7_200));
}

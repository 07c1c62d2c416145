//! Tests of the explanations why tasks were stopped: hand-made cases of public issues, and random cases
//! compared with a search over all sets of stops.

use crate::common::cluster;
use crate::why_not::{after_stops, any_set, may_stop, tasks_of};

use evenhand_cluster::FewestStops;
use evenhand_cluster::stopped::{Explanation, Missing, Replay, explain};
use evenhand_problem::snapshot::{Running as Named, Snapshot, Stopped, Waiting};
use evenhand_testkit::plain::starts::{Running, Task};
use evenhand_testkit::random::snapshots;
use serde_json::json;

fn stop(task: &str, by: &str, rule: &str) -> Stopped {
    let text = str::to_owned;
    Stopped { task: text(task), by: text(by), rule: text(rule), ..Stopped::default() }
}

fn runs(user: usize, index: u64, names: &[&str]) -> Named {
    let gangs = names.iter().map(|name| format!("Workload {}", name.split(' ').next().unwrap())).collect();
    let names = names.iter().map(|name| (*name).to_owned()).collect();
    Named { user, server: 0, index, names, owners: Vec::new(), gangs }
}

fn waits(user: usize, names: &[&str]) -> Waiting {
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    Waiting { user, tasks: names.len() as u64, names, reason: String::new() }
}

fn known(found: &Explanation) -> &Replay {
    found.replay.as_ref().unwrap_or_else(|missing| panic!("{missing:?}"))
}

/// Kueue, issue 7067: the message has only a UID, and does not say at which level of the cohorts fair sharing happened.
#[test]
fn kueue_7067_names_the_level_and_the_workload() {
    let groups = json!([
        {"name": "root"}, {"name": "left", "parent": "root"}, {"name": "right", "parent": "root"},
        {"name": "a", "parent": "left"}, {"name": "b", "parent": "left"}, {"name": "c", "parent": "right"},
    ]);
    let users = json!([
        {"name": "a/1", "group": "a", "demand": {"gpu": 2}, "tasks": 2},
        {"name": "b/1", "group": "b", "demand": {"gpu": 2}, "tasks": 2},
        {"name": "c/1", "group": "c", "demand": {"gpu": 2}, "tasks": 1},
    ]);
    let mut of = cluster(6, &groups, &users, &[json!({"a/1": 1, "b/1": 1, "c/1": 1})]);
    of.running = vec![runs(0, 0, &["ns/a0"]), runs(1, 0, &["ns/b0"]), runs(2, 0, &["ns/c0"])];
    of.waiting = vec![waits(0, &["ns/a1"]), waits(1, &["ns/b1"])];
    of.stopped =
        vec![stop("ns/a1", "ns/b0", "InCohortFairSharing"), stop("ns/b1", "ns/c0", "InCohortFairSharing")];
    let name = |v: Option<usize>| v.map(|v| of.problem.groups().list()[v].name.as_str());
    let near = explain(&of, "ns/a1").unwrap();
    assert_eq!((near.stop.by.as_str(), name(near.level)), ("ns/b0", Some("left")));
    let far = explain(&of, "ns/b1").unwrap();
    assert_eq!((far.stop.by.as_str(), name(far.level)), ("ns/c0", Some("root")));
    assert_eq!((far.victim, far.preemptor), (Some(1), Some(2)));
    // In each case one stop was needed. A stop of another workload would also have been enough.
    let replay = known(&far);
    assert_eq!((replay.stopped, replay.tasks.len()), (1, 1));
    assert!(matches!(&replay.fewest, Some(FewestStops::Found { least: 1, .. })), "{replay:?}");
    assert_eq!(explain(&of, "ns/c0"), None);
}

/// Kueue, issue 6763: two queues have equal shares, and each cycle chooses one of them at random. A workload
/// therefore stops more workloads than it needs.
#[test]
fn kueue_6763_stops_two_workloads_although_one_suffices() {
    let groups = json!([{"name": "org"}, {"name": "a", "parent": "org"}, {"name": "b", "parent": "org"},
                        {"name": "c", "parent": "org"}]);
    let users = json!([
        {"name": "a/1", "group": "a", "demand": {"gpu": 4}, "tasks": 1},
        {"name": "b/1", "group": "b", "demand": {"gpu": 4}, "tasks": 1},
        {"name": "c/1", "group": "c", "demand": {"gpu": 4}, "tasks": 1},
    ]);
    let mut of = cluster(4, &groups, &users, &[json!({"c/1": 1}), json!({})]);
    of.running = vec![runs(2, 0, &["ns/c"])];
    of.waiting = vec![waits(0, &["ns/a"]), waits(1, &["ns/b"])];
    of.stopped =
        vec![stop("ns/a", "ns/c", "InCohortFairSharing"), stop("ns/b", "ns/c", "InCohortFairSharing")];
    let found = explain(&of, "ns/a").unwrap();
    assert_eq!(found.others, ["ns/b"]);
    let replay = known(&found);
    assert_eq!(replay.stopped, 2);
    let Some(FewestStops::Found { stops, least }) = &replay.fewest else { panic!("{replay:?}") };
    assert_eq!((stops.count(), *least, replay.is_same), (1, 1, false));
}

/// Kueue, issue 14122: workloads of the preemptor's own queue are stopped first, although fewer stops in another queue
/// would be enough.
#[test]
fn kueue_14122_fewer_stops_in_another_queue_suffice() {
    let groups = json!([{"name": "org"}, {"name": "a", "parent": "org"}, {"name": "b", "parent": "org"}]);
    let users = json!([
        {"name": "a/1", "group": "a", "demand": {"gpu": 1}, "tasks": 2},
        {"name": "a/2", "group": "a", "demand": {"gpu": 2}, "tasks": 1},
        {"name": "b/1", "group": "b", "demand": {"gpu": 2}, "tasks": 1},
    ]);
    let mut of = cluster(4, &groups, &users, &[json!({"a/2": 1, "b/1": 1})]);
    of.running = vec![runs(1, 0, &["ns/new"]), runs(2, 0, &["ns/b"])];
    of.waiting = vec![waits(0, &["ns/old-1", "ns/old-2"])];
    of.stopped =
        vec![stop("ns/old-1", "ns/new", "InClusterQueue"), stop("ns/old-2", "ns/new", "InClusterQueue")];
    let found = explain(&of, "ns/old-2").unwrap();
    let replay = known(&found);
    assert_eq!((replay.stopped, found.level), (2, Some(1)));
    let names: Vec<Option<&str>> = replay.tasks.iter().map(|task| task.name.as_deref()).collect();
    assert_eq!(names, [Some("ns/b")]);
    assert!(!replay.is_same);
}

/// Armada, pull request 5071: jobs that were marked as stopped started again, and another job was stopped
/// later, out of order. With the tasks that run now, this stop was not needed.
#[test]
fn armada_5071_reports_an_unnecessary_stop() {
    let users = json!([
        {"name": "a", "demand": {"gpu": 2}, "tasks": 1},
        {"name": "b", "demand": {"gpu": 2}, "tasks": 1},
        {"name": "c", "demand": {"gpu": 2}, "tasks": 1},
    ]);
    let mut of = cluster(4, &json!([]), &users, &[json!({"b": 1})]);
    of.running = vec![runs(1, 0, &["b0"])];
    of.waiting = vec![waits(0, &["a0"])];
    of.stopped = vec![stop("a0", "b0", "Preempted")];
    let found = explain(&of, "a0").unwrap();
    let replay = known(&found);
    assert_eq!((replay.stopped, &replay.fewest), (1, &None));
}

#[test]
fn missing_data_is_named() {
    let users = json!([
        {"name": "a", "demand": {"gpu": 2}, "tasks": 2, "gang": 2},
        {"name": "b", "demand": {"gpu": 4}, "tasks": 2},
    ]);
    let mut of = cluster(4, &json!([]), &users, &[json!({"b": 1})]);
    of.running = vec![runs(1, 0, &["b0"])];
    of.waiting = vec![waits(0, &["a0 0", "a0 1"]), waits(1, &["b1"])];
    let mut missing = |of_stop: Stopped, change: &dyn Fn(&mut Snapshot)| {
        of.stopped = vec![of_stop];
        let mut changed = of.clone();
        change(&mut changed);
        explain(&changed, "a0 1").unwrap().replay.unwrap_err()
    };
    let same = |_: &mut Snapshot| {};
    assert_eq!(missing(stop("a0", "", "PodsReadyTimeout"), &same), Missing::NotPreempted);
    assert_eq!(missing(stop("a0", "", "PREEMPTED"), &same), Missing::Preemptor);
    let by_uid = Stopped { by_uid: "u".to_owned(), ..stop("a0", "", "InClusterQueue") };
    assert_eq!(missing(by_uid, &same), Missing::Preemptor);
    assert_eq!(missing(stop("a0", "gone", "Preempted"), &same), Missing::NotRunning);
    let one_waits = |of: &mut Snapshot| of.waiting[0] = waits(0, &["a0 0"]);
    assert_eq!(missing(stop("a0", "b0", "Preempted"), &one_waits), Missing::Victims(vec!["a0".to_owned()]));
    let no_servers = |of: &mut Snapshot| of.allocation.placements = None;
    assert_eq!(missing(stop("a0", "b0", "Preempted"), &no_servers), Missing::Placements);
    // Another task uses the capacity of the stopped task.
    let taken = |of: &mut Snapshot| {
        let users = json!([
            {"name": "a", "demand": {"gpu": 2}, "tasks": 2, "gang": 2},
            {"name": "b", "demand": {"gpu": 1}, "tasks": 2},
        ]);
        let stopped = of.stopped.clone();
        *of = cluster(4, &json!([]), &users, &[json!({"b": 2})]);
        of.running = vec![runs(1, 0, &["b0", "b1"])];
        of.waiting = vec![waits(0, &["a0 0", "a0 1"])];
        of.stopped = stopped;
    };
    assert_eq!(missing(stop("a0", "b0", "Preempted"), &taken), Missing::Servers);
}

/// Tests random clusters in which a task has started after stops of other tasks.
#[test]
fn replays_compute_the_fewest_stops() {
    /// The largest set of stops.
    const MOST: usize = 2;
    let (mut seen, mut fewer, mut none, mut open) = (0, 0, 0, 0);
    for seed in 0..600 {
        let mut of = snapshots::snapshot(seed);
        of.constraints.iter_mut().for_each(|constraint| constraint.admitted = 0);
        let running = Running::new(&of);
        let is_alone = |n: usize| running.gang(n) == 1 && running.together(n).len() == 1;
        let mut tasks: Vec<Task> = running.tasks.iter().copied().filter(|(n, ..)| is_alone(*n)).collect();
        tasks.sort_unstable();
        for n in (0..of.problem.n_users()).filter(|n| is_alone(*n)) {
            if !running.waits(n) || running.could_start(n).is_some() {
                continue;
            }
            // The stops are the first set that lets the task start. The search begins with sets of a size
            // that depends on the seed, so the set may be larger than needed.
            let mut set: Vec<Task> = Vec::new();
            for size in 1 + (seed as usize % 2)..=MOST {
                let mut take = |stops: &[Task]| {
                    let is_enough = may_stop(&of, &running, stops, n)
                        && after_stops(&running, stops).could_start(n).is_some();
                    if is_enough {
                        set = stops.to_vec();
                    }
                    is_enough
                };
                if any_set(&tasks, size, &mut Vec::new(), &mut take) {
                    break;
                }
            }
            if set.is_empty() {
                continue;
            }
            // The cluster after the stops and the start.
            let mut after = after_stops(&running, &set);
            let started = after.could_start(n).unwrap();
            after.tasks.extend(&started);
            let mut dump = of.clone();
            dump.allocation = after.allocation();
            let (_, server, index) = started[0];
            let names = vec!["p".to_owned()];
            dump.running =
                vec![Named { user: n, server, index, names, owners: Vec::new(), gangs: Vec::new() }];
            let named = |(at, (m, ..)): (usize, &Task)| (format!("v{at}"), *m);
            let victims: Vec<(String, usize)> = set.iter().enumerate().map(named).collect();
            for (name, user) in &victims {
                let names = vec![name.clone()];
                dump.waiting.push(Waiting { user: *user, tasks: 1, names, reason: String::new() });
                dump.stopped.push(stop(name, "p", "Preempted"));
            }
            let found = explain(&dump, "v0").unwrap();
            let replay = match &found.replay {
                Ok(replay) => replay,
                // The search may place the stopped tasks differently, so that the last task does not fit.
                Err(Missing::Servers | Missing::Search) => {
                    open += 1;
                    continue;
                }
                Err(missing) => panic!("seed {seed}, user {n}: {missing:?}"),
            };
            seen += 1;
            assert_eq!(replay.stopped, set.len() as u64, "seed {seed}");
            // Every user has as many tasks as before the stops, and no server is too full.
            let before = Running::new(&replay.before);
            for m in 0..of.problem.n_users() {
                assert_eq!(before.count(m), running.count(m), "seed {seed}, user {m}");
            }
            let mut all = before.tasks.clone();
            all.sort_unstable();
            let is_enough = |stops: &[Task]| {
                may_stop(&replay.before, &before, stops, n)
                    && after_stops(&before, stops).could_start(n).is_some()
            };
            let smaller = |least: u64| {
                (1..(least as usize).min(MOST))
                    .any(|size| any_set(&all, size, &mut Vec::new(), &mut |stops| is_enough(stops)))
            };
            match &replay.fewest {
                None => {
                    assert!(before.could_start(n).is_some(), "seed {seed}, user {n}");
                    none += 1;
                }
                Some(FewestStops::Found { stops, least }) => {
                    assert!(before.could_start(n).is_none(), "seed {seed}, user {n}");
                    assert!(is_enough(&tasks_of(stops)), "seed {seed}, user {n}");
                    assert!(!smaller(*least), "seed {seed}, user {n}: fewer than {least} suffice");
                    fewer += usize::from(stops.count() < replay.stopped);
                }
                Some(FewestStops::Impossible) => panic!("seed {seed}, user {n}: the stops were enough"),
                Some(FewestStops::NotKnown { least }) => {
                    assert!(!smaller(*least), "seed {seed}, user {n}: fewer than {least} suffice");
                }
            }
        }
    }
    println!("{seen} replays, {fewer} with fewer stops, {none} without stops, {open} without room");
    assert!(seen > 50 && fewer > 5 && open < seen, "{seen} {fewer} {none} {open}");
}

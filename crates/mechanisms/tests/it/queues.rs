//! Tests of whole tasks that the tree schedules while tasks arrive and finish. The decisions equal the
//! decisions of a scan that computes everything again each time.

use std::collections::BTreeMap;

use evenhand_mechanisms::MechanismError;
use evenhand_mechanisms::filling::{Part, Policy, Scheduler, Ties, schedule, schedule_among};
use evenhand_mechanisms::tree::{Preemption, Rule, TreePolicy};
use evenhand_problem::Problem;
use evenhand_problem::format::Source;
use evenhand_testkit::plain::queues::{Queues, Stops};
use evenhand_testkit::random::trees::{self, Shape};
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use serde_json::{Value, json};

const MODES: [(Preemption, Stops); 3] = [
    (Preemption::Never, Stops::Never),
    (Preemption::Guarantees, Stops::Guarantees),
    (Preemption::Shares, Stops::Shares),
];

fn read(document: &Value) -> Problem {
    let text = document.to_string();
    Source { name: "problem", text: &text }.problem().unwrap_or_else(|error| panic!("{error}"))
}

fn random(rng: &mut Pcg64) -> Value {
    let mut document = trees::json(rng, Shape { groups: 5, users: 6, classes: 3 });
    for class in document["servers"].as_array_mut().unwrap() {
        class["count"] = json!(rng.random_range(1..=3));
    }
    for user in document["users"].as_array_mut().unwrap() {
        user.as_object_mut().unwrap().remove("tasks");
        if rng.random_bool(0.4) {
            user["gang"] = json!(rng.random_range(1..=3));
        }
        if rng.random_bool(0.2) {
            user["pinned"] = json!(rng.random_range(1..=3));
        }
    }
    document
}

/// Lets tasks arrive, end and leave at random. Returns the number of tasks that started and the number of runs that
/// were stopped.
fn follow(
    problem: &Problem,
    policy: TreePolicy,
    stops: Stops,
    rng: &mut Pcg64,
    what: &str,
) -> (usize, usize) {
    follow_among([problem, problem], policy, stops, rng, what, ROUNDS)
}

/// The number of rounds of most comparisons.
const ROUNDS: usize = 14;

/// Runs rounds in which servers are added and removed too, with shares as fractions of `whole`.
fn follow_among(
    [problem, whole]: [&Problem; 2],
    policy: TreePolicy,
    stops: Stops,
    rng: &mut Pcg64,
    what: &str,
    rounds: usize,
) -> (usize, usize) {
    let changes = !std::ptr::eq(problem, whole);
    let mut scan = Queues::among(problem, whole, stops, policy.ties == Ties::High);
    let mut away = vec![false; problem.n_single_servers() as usize];
    let mut counts = (0, 0);
    let follow = |scheduler: &mut dyn Scheduler| {
        let mut running: BTreeMap<u32, Vec<(u32, u32)>> = BTreeMap::new();
        let mut placed = Vec::new();
        for round in 0..rounds {
            if changes {
                let j = rng.random_range(0..away.len());
                let is_on = |tasks: &[(u32, u32)]| tasks.iter().any(|(_, server)| *server as usize == j);
                let gone: Vec<u32> =
                    running.iter().filter(|(_, tasks)| is_on(tasks)).map(|(run, _)| *run).collect();
                for number in gone {
                    let tasks = running.remove(&number).unwrap();
                    let user = tasks[0].0 as usize;
                    for (_, server) in &tasks {
                        scheduler.finish(user, *server as usize, Part { run: number, tasks: 1 });
                    }
                    scan.runs.retain(|run| run.number != number);
                    scheduler.submit(user, tasks.len() as u64);
                    scan.waiting[user] += tasks.len() as u64;
                }
                away[j] = !away[j];
                if away[j] {
                    scheduler.close(j);
                } else {
                    scheduler.open(j);
                }
                scan.set_there(j, !away[j]);
            }
            for _ in 0..rng.random_range(1..=3) {
                let user = rng.random_range(0..problem.n_users());
                match rng.random_range(0..5) {
                    0 | 1 => {
                        let tasks = rng.random_range(1..=6);
                        let fits = scheduler.fits_somewhere(user);
                        scheduler.submit(user, tasks);
                        scan.waiting[user] += if fits { tasks } else { 0 };
                    }
                    2 => assert_eq!(scheduler.withdraw(user), std::mem::take(&mut scan.waiting[user])),
                    _ => {
                        let number = running.keys().nth(rng.random_range(0..running.len().max(1))).copied();
                        let Some(number) = number else { continue };
                        for (user, server) in running.remove(&number).unwrap() {
                            let part = Part { run: number, tasks: 1 };
                            scheduler.finish(user as usize, server as usize, part);
                        }
                        scan.runs.retain(|run| run.number != number);
                    }
                }
            }
            scheduler.fill(&mut placed).unwrap();
            // The scan has one entry for each task.
            let entries = placed.drain(..).zip(scheduler.runs());
            let tasks = entries.flat_map(|(of, part)| (0..part.tasks).map(move |_| (of, part.run)));
            let (placed, runs): (Vec<(u32, u32)>, Vec<u32>) = tasks.unzip();
            let (expected, stopped) = scan.fill();
            assert_eq!((&placed, scheduler.stopped()), (&expected, &stopped[..]), "{what}, round {round}");
            stopped.iter().for_each(|run| drop(running.remove(run).expect("it ran")));
            for (task, run) in placed.iter().zip(runs) {
                running.entry(run).or_default().push(*task);
            }
            for n in 0..problem.n_users() {
                let runs = scan.runs.iter().filter(|run| run.user == n);
                assert_eq!(scheduler.running(n), runs.map(|run| run.servers.len() as u64).sum::<u64>());
                assert_eq!(scheduler.waiting(n), scan.waiting[n], "{what}, round {round}");
            }
            assert!(scheduler.is_at_rest().unwrap(), "{what}, round {round}");
            counts.0 += placed.len();
            counts.1 += stopped.len();
        }
    };
    schedule_among(problem, whole, Policy::Tree(policy), 0, follow).unwrap();
    counts
}

#[test]
fn decisions_agree_with_a_plain_scan() {
    let mut counts = [(0, 0); MODES.len()];
    for seed in 0..250 {
        let mut document = random(&mut Pcg64::seed_from_u64(seed));
        if seed % 3 == 0 {
            trees::demands_by_class(&mut Pcg64::seed_from_u64(2000 + seed), &mut document);
        }
        let problem = read(&document);
        for (count, (preemption, stops)) in counts.iter_mut().zip(MODES) {
            for ties in [Ties::Low, Ties::High] {
                let mut rng = Pcg64::seed_from_u64(1000 + seed);
                let policy = TreePolicy { preemption, ties, ..TreePolicy::default() };
                let what = format!("{seed} {preemption} {ties}: {document}");
                let (started, stopped) = follow(&problem, policy, stops, &mut rng, &what);
                count.0 += started;
                count.1 += stopped;
            }
        }
    }
    let [(started, none), (_, for_guarantees), (_, for_shares)] = counts;
    assert!(started > 3000 && none == 0, "{counts:?}");
    assert!(for_guarantees > 50 && for_shares > 500, "{counts:?}");
}

/// Checks runs that are so long that cached states are discarded meanwhile: at most some thousand states of
/// each branch are kept.
#[test]
fn long_runs_agree_with_a_plain_scan() {
    let mut counts = (0, 0);
    for seed in 0..8 {
        let document = random(&mut Pcg64::seed_from_u64(9000 + seed));
        let problem = read(&document);
        let mut rng = Pcg64::seed_from_u64(9100 + seed);
        let policy = TreePolicy { preemption: Preemption::Shares, ..TreePolicy::default() };
        let what = format!("{seed}: {document}");
        let both = [&problem, &problem];
        let (started, stopped) = follow_among(both, policy, Stops::Shares, &mut rng, &what, 1500);
        counts = (counts.0 + started, counts.1 + stopped);
    }
    assert!(counts.0 > 3000 && counts.1 > 100, "{counts:?}");
}

#[test]
fn added_and_removed_servers_are_filled_as_by_a_plain_scan() {
    let mut counts = (0, 0);
    for seed in 0..150 {
        let document = random(&mut Pcg64::seed_from_u64(5000 + seed));
        let problem = read(&document);
        // Shares are fractions of one server of each class, and more servers join later.
        let mut fewer = document.clone();
        for class in fewer["servers"].as_array_mut().unwrap() {
            class["count"] = json!(1);
        }
        let whole = read(&fewer);
        for (preemption, stops) in MODES {
            for ties in [Ties::Low, Ties::High] {
                let mut rng = Pcg64::seed_from_u64(6000 + seed);
                let policy = TreePolicy { preemption, ties, ..TreePolicy::default() };
                let what = format!("{seed} {preemption} {ties}: {document}");
                let (started, stopped) =
                    follow_among([&problem, &whole], policy, stops, &mut rng, &what, ROUNDS);
                counts = (counts.0 + started, counts.1 + stopped);
            }
        }
    }
    assert!(counts.0 > 3000 && counts.1 > 100, "{counts:?}");
}

/// Returns a problem with three servers of four units, in which `a` has a guarantee of 6.
fn two_teams() -> Problem {
    read(&json!({"kind": "allocation-problem", "resources": ["gpu"],
        "servers": [{"name": "node", "count": 3, "capacity": {"gpu": 4}}],
        "groups": [{"name": "a", "guarantee": {"gpu": 6}}, {"name": "b"}],
        "users": [{"name": "x", "group": "a", "demand": {"gpu": 2}},
                  {"name": "y", "group": "b", "demand": {"gpu": 1}, "pinned": 5},
                  {"name": "z", "group": "b", "demand": {"gpu": 1}, "gang": 3}]}))
}

#[test]
fn preemption_stops_the_youngest_gangs_and_no_more_than_needed() {
    let problem = two_teams();
    let after = |preemption: Preemption| {
        let policy = TreePolicy { preemption, ..TreePolicy::default() };
        schedule(&problem, Policy::Tree(policy), 0, |scheduler| {
            let mut placed = Vec::new();
            for (user, tasks) in [(1, 6), (2, 6)] {
                scheduler.submit(user, tasks);
                scheduler.fill(&mut placed).unwrap();
            }
            scheduler.submit(0, 5);
            scheduler.fill(&mut placed).unwrap();
            let running: Vec<u64> = (0..3).map(|n| scheduler.running(n)).collect();
            (scheduler.stopped().to_vec(), running)
        })
        .unwrap()
    };
    // All twelve units are used: runs 0 to 5 are tasks of y, and runs 6 and 7 are gangs of z.
    assert_eq!(after(Preemption::Never), (vec![], vec![0, 6, 6]));
    // User x may have three tasks, which use 6 units. The youngest gang is stopped first, since all its
    // tasks are on the last server, and then the next gang. y keeps its five pinned tasks, and its sixth task
    // is alone on its server.
    let (stopped, running) = after(Preemption::Guarantees);
    assert_eq!((stopped, running), (vec![7, 6], vec![3, 6, 0]));
    // By shares, x may use up to half of the cluster, which is the same amount.
    let (stopped, running) = after(Preemption::Shares);
    assert_eq!((stopped, running), (vec![7, 6], vec![3, 6, 0]));
}

#[test]
fn refuses_unsupported_rules_and_problems() {
    let problem = two_teams();
    let with = |rule: Option<Rule>| {
        let policy = TreePolicy { rule, ..TreePolicy::default() };
        schedule(&problem, Policy::Tree(policy), 0, |scheduler| scheduler.n_servers())
    };
    assert_eq!(with(Some(Rule::Kueue)).unwrap(), 3);
    let error = with(Some(Rule::Kai)).unwrap_err();
    assert!(matches!(error, MechanismError::BadOption { option: "rule", .. }), "{error}");
    let many = read(&json!({"kind": "allocation-problem", "resources": ["gpu"],
        "servers": [{"name": "node", "count": 900_000_000, "capacity": {"gpu": 4}}],
        "users": [{"name": "x", "demand": {"gpu": 2}}]}));
    let error = schedule(&many, Policy::Tree(TreePolicy::default()), 0, |_| ()).unwrap_err();
    assert!(matches!(error, MechanismError::Limit { .. }), "{error}");
}

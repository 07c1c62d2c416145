//! Tests of migrations for a job: public cases, small clusters with known results, and random clusters
//! compared with a search over all states.

use std::collections::{BTreeMap, BTreeSet};

use crate::common::{cluster, judged, refused, snapshot};

use evenhand_cluster::Bound;
use evenhand_cluster::certificate::of_migrations;
use evenhand_cluster::migrations::{
    Ages, Cluster, Cost, Defragmentation, Migrations, Obstacle, Outcome, Pack, Settings,
};
use evenhand_cluster::moves::Moves;
use evenhand_cluster::script::named_steps;
use evenhand_problem::Rational;
use evenhand_problem::snapshot::{Constraint, Running, Snapshot, TaskTime};
use evenhand_testkit::plain::migrations::{Fewest, fewest};
use evenhand_testkit::random::fragmented::fragmented;
use evenhand_testkit::random::snapshots;
use serde_json::{Value, json};

/// Returns the migrations for a user. If there is a plan, the kernel must accept its certificate.
fn planned(of: &Snapshot, job: &str, settings: &Settings) -> Migrations {
    let n = of.problem.user_named(job).unwrap();
    let judged = Cluster::new(of, None).unwrap();
    let found = Defragmentation::new(&judged, settings).unwrap().plan(n).unwrap();
    if let Some(text) = certificate(of, &judged, &found) {
        assert_eq!(refused(&text), None);
    }
    found
}

fn certificate(of: &Snapshot, judged_cluster: &Cluster, found: &Migrations) -> Option<String> {
    let plan = found.plan()?;
    let verdict = judged(of);
    let moves = Moves::of_steps(&verdict, plan.steps.clone(), judged_cluster.after(&plan.steps)).unwrap();
    let settings = Settings::default();
    let least =
        Defragmentation::new(judged_cluster, &settings).unwrap().least_of_certificate(found.job).unwrap();
    assert!(least <= plan.tasks);
    Some(of_migrations(&verdict, &moves, found.job, least, &[]).unwrap())
}

/// Returns the number of migrated tasks, and whether this number is proven to be the least.
fn tasks(found: &Migrations) -> (u64, bool) {
    let plan = found.plan().unwrap_or_else(|| panic!("no plan: {:?}", found.outcome));
    (plan.tasks, found.is_cheapest())
}

fn fresh(users: &Value, gpus: u32, servers: &[Value]) -> Snapshot {
    cluster(gpus, &json!([]), users, servers)
}

fn rule(user: usize) -> Constraint {
    Constraint { user, ..Constraint::default() }
}

#[test]
fn kai_1311_migrations_empty_a_node() {
    // Each of four nodes has 2 of 8 GPUs free, and a job needs all 8 GPUs of a node.
    let users = json!([{"name": "small", "demand": {"gpu": 2}, "tasks": 12},
                       {"name": "job", "demand": {"gpu": 8}, "tasks": 1}]);
    let of = fresh(
        &users,
        8,
        &[json!({"small": 3}), json!({"small": 3}), json!({"small": 3}), json!({"small": 3})],
    );
    let found = planned(&of, "job", &Settings::default());
    assert_eq!(tasks(&found), (3, true));
    // A job of 9 GPUs fits on no node. A job that demands more than all free GPUs gets a proof that no migrations help.
    let large = users.to_string().replace(r#""gpu":8"#, r#""gpu":9"#);
    let of = fresh(&serde_json::from_str(&large).unwrap(), 8, &[json!({"small": 1}), json!({"small": 1})]);
    let found = planned(&of, "job", &Settings::default());
    assert_eq!(found.outcome, Outcome::Never(Obstacle::Servers));
    let of = fresh(&users, 8, &[json!({"small": 3}), json!({"small": 4}), json!({"small": 4})]);
    let found = planned(&of, "job", &Settings::default());
    let Outcome::Never(Obstacle::Capacity { free, needed, .. }) = found.outcome else { panic!("{found:?}") };
    assert_eq!((free.to_string(), needed.to_string()), ("2".to_owned(), "8".to_owned()));
}

#[test]
fn kai_1500_migrations_respect_costs_and_exemptions() {
    // Two nodes have 4 of 8 GPUs free. A task of serving costs more to migrate than a task of batch, and serving has
    // fewer tasks.
    let users = json!([{"name": "serving", "demand": {"gpu": 4}, "tasks": 2},
                       {"name": "batch", "demand": {"gpu": 2}, "tasks": 4},
                       {"name": "job", "demand": {"gpu": 8}, "tasks": 1}]);
    let of = fresh(&users, 8, &[json!({"serving": 1}), json!({"batch": 2})]);
    assert_eq!(tasks(&planned(&of, "job", &Settings::default())), (1, true));
    let costs = |cost: Cost| Settings { cost, ..Settings::default() };
    let by_user = Cost::Users(BTreeMap::from([(0, Rational::from(5)), (1, Rational::from((1, 2)))]));
    let found = planned(&of, "job", &costs(by_user));
    assert_eq!((tasks(&found), found.plan().unwrap().cost.to_string()), ((2, true), "1".to_owned()));
    let mut with_priorities = of.clone();
    with_priorities.constraints =
        vec![Constraint { priority: 10, ..rule(0) }, Constraint { priority: 3, ..rule(1) }];
    let found = planned(&with_priorities, "job", &costs(Cost::Priority));
    assert_eq!((tasks(&found), found.plan().unwrap().cost.to_string()), ((2, true), "2".to_owned()));
    // Serving has run for 10 minutes, and one task of batch for 90 minutes.
    let mut with_times = of.clone();
    let named = |user: usize, index: u64, names: &[&str]| Running {
        user,
        server: 0,
        index,
        names: names.iter().map(|name| (*name).to_owned()).collect(),
        owners: Vec::new(),
        gangs: Vec::new(),
    };
    let time = |task: &str, left: u64| TaskTime {
        task: task.to_owned(),
        limit: Some(7200),
        left: Some(left),
        priority: None,
    };
    with_times.running = vec![named(0, 0, &["s"]), named(1, 1, &["b", "c"])];
    with_times.times = vec![time("s", 6600), time("b", 1800), time("c", 7200)];
    let ages = Ages::new(&with_times).unwrap();
    let expected = BTreeMap::from([(0, Rational::from((7, 6))), (1, Rational::from((5, 2)))]);
    assert_eq!((&ages.costs, ages.unknown.len()), (&expected, 0));
    let found = planned(&with_times, "job", &costs(Cost::Age(ages)));
    assert_eq!((tasks(&found), found.plan().unwrap().cost.to_string()), ((1, true), "7/6".to_owned()));
    // A task whose time is not known costs as much as the most expensive task.
    with_times.times.remove(0);
    let ages = Ages::new(&with_times).unwrap();
    assert_eq!((ages.costs[&0].clone(), ages.unknown), (Rational::from((5, 2)), vec![0]));
    assert_eq!(Ages::new(&of), None);
    // Exempted workloads do not migrate.
    let pinned =
        |users: &[usize]| Settings { pinned: users.iter().copied().collect(), ..Settings::default() };
    assert_eq!(tasks(&planned(&of, "job", &pinned(&[0]))), (2, true));
    let found = planned(&of, "job", &pinned(&[0, 1]));
    assert_eq!((&found.outcome, &found.least), (&Outcome::Never(Obstacle::Servers), &None));
    let mut protected = of.clone();
    protected.constraints = (0..2).map(|n| Constraint { protected: true, ..rule(n) }).collect();
    assert_eq!(planned(&protected, "job", &Settings::default()).outcome, Outcome::Never(Obstacle::Servers));
    // With strict priorities, no task migrates for a job of a lower priority.
    let strict = Settings { strict_priority: true, ..Settings::default() };
    assert_eq!(planned(&with_priorities, "job", &strict).outcome, Outcome::Never(Obstacle::Servers));
}

#[test]
fn volcano_3948_one_migration_makes_another_possible() {
    // Scenario 1: on three nodes 4+2+1, 4+2 and 4+2+1 of 8 GPUs are used, and a job of 4 GPUs waits. Lower
    // bounds by single servers give 1.
    let users = json!([{"name": "four", "demand": {"gpu": 4}, "tasks": 3}, {"name": "two", "demand": {"gpu": 2}, "tasks": 3},
                       {"name": "one", "demand": {"gpu": 1}, "tasks": 2}, {"name": "job", "demand": {"gpu": 4}, "tasks": 1}]);
    let servers = [
        json!({"four": 1, "two": 1, "one": 1}),
        json!({"four": 1, "two": 1}),
        json!({"four": 1, "two": 1, "one": 1}),
    ];
    let of = fresh(&users, 8, &servers);
    assert_eq!(tasks(&planned(&of, "job", &Settings::default())), (2, true));
    // Scenario 2: pods of one GPU are scattered over eight nodes after some deployments are gone.
    let users = json!([{"name": "pods", "demand": {"gpu": 1}, "tasks": 40}, {"name": "job", "demand": {"gpu": 8}, "tasks": 2, "gang": 2}]);
    let of = fresh(&users, 8, &[4, 5, 3, 5, 4, 5, 6, 4].map(|tasks| json!({"pods": tasks})));
    assert_eq!(tasks(&planned(&of, "job", &Settings::default())), (7, true));
}

#[test]
fn a_job_that_could_start_needs_no_migration() {
    let users = json!([{"name": "small", "demand": {"gpu": 2}, "tasks": 12},
                       {"name": "job", "demand": {"gpu": 4}, "tasks": 1}]);
    let of = fresh(&users, 8, &[json!({"small": 3}), json!({"small": 2})]);
    let found = planned(&of, "job", &Settings::default());
    assert!(matches!(found.outcome, Outcome::StartsNow(_)));
    assert_eq!(tasks(&found), (0, true));
    // A user without waiting tasks has no gang to start.
    let of = fresh(&users, 8, &[json!({"job": 1}), json!({"small": 2})]);
    assert_eq!(planned(&of, "job", &Settings::default()).outcome, Outcome::Never(Obstacle::Tasks));
}

#[test]
fn migrations_do_not_lift_limits() {
    let groups = json!([{"name": "a", "limit": {"gpu": 8}}, {"name": "b"}]);
    let users = json!([{"name": "a/1", "group": "a", "demand": {"gpu": 2}, "tasks": 4},
                       {"name": "b/1", "group": "b", "demand": {"gpu": 2}, "tasks": 4},
                       {"name": "job", "group": "a", "demand": {"gpu": 4}, "tasks": 1}]);
    let of =
        cluster(4, &groups, &users, &[json!({"a/1": 1}), json!({"a/1": 1}), json!({"b/1": 1, "a/1": 1})]);
    let found = planned(&of, "job", &Settings::default());
    let Outcome::Never(Obstacle::Bound(Bound::Limit(0, 1), excess)) = &found.outcome else {
        panic!("{found:?}")
    };
    assert_eq!(*excess, 2);
    let of = cluster(4, &groups, &users, &[json!({"a/1": 1}), json!({"a/1": 1}), json!({"b/1": 1})]);
    assert_eq!(tasks(&planned(&of, "job", &Settings::default())), (1, true));
    // Tasks of a group that is over its limit could not start again, so they do not migrate.
    let groups = json!([{"name": "a", "limit": {"gpu": 4}}, {"name": "b"}]);
    let users = json!([{"name": "a/1", "group": "a", "demand": {"gpu": 2}, "tasks": 4},
                       {"name": "job", "group": "b", "demand": {"gpu": 4}, "tasks": 1}]);
    let of = cluster(4, &groups, &users, &[json!({"a/1": 1}), json!({"a/1": 1}), json!({"a/1": 1})]);
    assert_eq!(planned(&of, "job", &Settings::default()).outcome, Outcome::Never(Obstacle::Servers));
}

#[test]
fn migrations_move_whole_gangs_and_respect_placement_rules() {
    let users = json!([{"name": "gang", "demand": {"gpu": 2}, "tasks": 2, "gang": 2},
                       {"name": "job", "demand": {"gpu": 4}, "tasks": 1}]);
    let servers = [json!({"gang": 1}), json!({"gang": 1})];
    let mut of = fresh(&users, 4, &servers);
    // Both tasks of the gang restart, one of them on its own server.
    assert_eq!(tasks(&planned(&of, "job", &Settings::default())), (2, true));
    of.constraints = vec![Constraint { distinct_servers: true, ..rule(0) }];
    let found = planned(&of, "job", &Settings::default());
    assert_eq!((found.outcome, found.least), (Outcome::Never(Obstacle::Searched), None));
    // Tasks of a gang that the snapshot names migrate together.
    let users = json!([{"name": "gang", "demand": {"gpu": 1}, "tasks": 4, "gang": 2},
                       {"name": "job", "demand": {"gpu": 3}, "tasks": 1}]);
    let mut of = fresh(&users, 4, &[json!({"gang": 2}), json!({"gang": 2})]);
    let named = |index, gangs: [&str; 2]| Running {
        user: 0,
        server: 0,
        index,
        names: vec![format!("{index}-0"), format!("{index}-1")],
        owners: Vec::new(),
        gangs: gangs.map(str::to_owned).to_vec(),
    };
    of.running = vec![named(0, ["x", "y"]), named(1, ["x", "y"])];
    let found = planned(&of, "job", &Settings::default());
    assert_eq!(tasks(&found), (2, true));
    let judged = Cluster::new(&of, None).unwrap();
    let steps = &found.plan().unwrap().steps;
    let (named, after) = named_steps(&of, &judged.rules, steps, &judged.after(steps));
    let names = |tasks: &[evenhand_cluster::script::Task]| -> Vec<String> {
        tasks.iter().filter_map(|task| task.name.clone()).collect()
    };
    assert_eq!((names(&named[0].stop), named[0].start.len()), (names(&named[0].start), 2));
    let gangs: BTreeSet<&String> = after.running.iter().flat_map(|of| &of.gangs).collect();
    assert_eq!(gangs.len(), 2, "tasks keep their gangs");
}

#[test]
fn swapping_servers_needs_temporary_capacity() {
    // The two tasks would have to exchange their servers, but neither server has free capacity for both of them.
    let document = json!({
        "kind": "snapshot",
        "problem": {
            "kind": "allocation-problem", "resources": ["gpu"],
            "servers": [{"name": "a", "capacity": {"gpu": 4}}, {"name": "b", "capacity": {"gpu": 3}}],
            "users": [{"name": "x", "demand": {"gpu": 3}, "tasks": 1}, {"name": "y", "demand": {"gpu": 2}, "tasks": 1},
                      {"name": "job", "demand": {"gpu": 2}, "tasks": 1}],
        },
        "allocation": {"kind": "allocation", "placements": [
            {"server": "a", "index": 0, "tasks": {"x": 1}}, {"server": "b", "index": 0, "tasks": {"y": 1}}]},
    });
    let of = snapshot(&document.to_string());
    let found = planned(&of, "job", &Settings::default());
    assert_eq!(found.outcome, Outcome::NotFound { needs_temporary_place: true });
    assert_eq!(fewest(&of, 2, &[], &[1; 3], 1_000), Fewest::Never);
}

#[test]
fn names_the_largest_gang_that_fits_after_migrations() {
    let users = json!([{"name": "small", "demand": {"gpu": 2}, "tasks": 12},
                       {"name": "too-large", "demand": {"gpu": 4}, "tasks": 3, "gang": 3},
                       {"name": "two", "demand": {"gpu": 4}, "tasks": 2, "gang": 2},
                       {"name": "one", "demand": {"gpu": 8}, "tasks": 1},
                       {"name": "now", "demand": {"gpu": 1}, "tasks": 1}]);
    let of = fresh(
        &users,
        8,
        &[json!({"small": 3}), json!({"small": 3}), json!({"small": 2}), json!({"small": 4})],
    );
    let judged = Cluster::new(&of, None).unwrap();
    let Pack { found, never, start_now, not_known } =
        Defragmentation::new(&judged, &Settings::default()).unwrap().pack().unwrap();
    let found = found.unwrap();
    assert_eq!((found.job, never, start_now, not_known), (2, 1, 0, Vec::new()));
    assert_eq!(tasks(&found), (1, true));
    // The waiting gang could start now, so no migration is needed.
    let of = fresh(&json!([{"name": "small", "demand": {"gpu": 2}, "tasks": 12}]), 8, &[json!({"small": 3})]);
    let judged = Cluster::new(&of, None).unwrap();
    let pack = Defragmentation::new(&judged, &Settings::default()).unwrap().pack().unwrap();
    assert_eq!((pack.found, pack.start_now), (None, 1));
}

#[test]
fn the_kernel_refuses_changed_claims() {
    let users = json!([{"name": "small", "demand": {"gpu": 2}, "tasks": 12},
                       {"name": "job", "demand": {"gpu": 8}, "tasks": 1}]);
    let of = fresh(&users, 8, &[json!({"small": 2}), json!({"small": 3}), json!({"small": 3})]);
    let cluster = Cluster::new(&of, None).unwrap();
    let found = planned(&of, "job", &Settings::default());
    let text = certificate(&of, &cluster, &found).unwrap();
    let document: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(document["moves"]["for"], json!({"user": "job", "least": "2"}));
    type Damage = (&'static str, fn(&mut Value));
    let damages: [Damage; 5] = [
        ("the stated lower bound on migrations", |of| of["moves"]["for"]["least"] = json!("3")),
        ("the last step does not start the gang", |of| of["moves"]["for"]["user"] = json!("small")),
        ("does not start the same tasks again", |of| of["moves"]["steps"][0]["stop"] = json!([])),
        ("step 3: a server has less than", |of| {
            let target = of["moves"]["steps"][0]["stop"][0]["places"].clone();
            of["moves"]["steps"][0]["start"]["places"] = target;
        }),
        ("for.user", |of| of["moves"]["for"]["user"] = json!("nobody")),
    ];
    for (expected, damage) in damages {
        let mut of = document.clone();
        damage(&mut of);
        let reason = refused(&of.to_string()).unwrap_or_else(|| panic!("accepted: {expected}"));
        assert!(reason.contains(expected) || expected == "for.user", "{expected}: {reason}");
    }
}

#[test]
fn random_clusters_agree_with_a_search_over_all_states() {
    let (mut plans, mut proven, mut never, mut open, mut more, mut skipped, mut now) = (0, 0, 0, 0, 0, 0, 0);
    for seed in 0..1_000 {
        let of = fragmented(seed);
        let problem = &of.problem;
        let n = problem.n_users() - 1;
        let judged = Cluster::new(&of, None).unwrap();
        if !judged.waiting().contains(&n) {
            continue;
        }
        let costs: Vec<u64> = (0..problem.n_users() as u64).map(|m| 1 + (seed % 3) * m % 4).collect();
        let by_user = costs.iter().enumerate().map(|(m, cost)| (m, Rational::from(*cost))).collect();
        let pinned: Vec<usize> = if seed % 7 == 0 { vec![0] } else { Vec::new() };
        let settings = Settings {
            pinned: pinned.iter().copied().collect(),
            cost: if seed % 3 == 0 { Cost::Count } else { Cost::Users(by_user) },
            ..Settings::default()
        };
        let found = Defragmentation::new(&judged, &settings).unwrap().plan(n).unwrap();
        if seed % 4 == 0
            && let Some(text) = certificate(&of, &judged, &found)
        {
            assert_eq!(refused(&text), None, "seed {seed}");
        }
        match fewest(&of, n, &pinned, &costs, 3_000) {
            Fewest::TooMany => skipped += 1,
            Fewest::Never => {
                assert!(found.plan().is_none(), "seed {seed}: {found:?}");
                never += usize::from(matches!(found.outcome, Outcome::Never(_)));
                open += usize::from(!matches!(found.outcome, Outcome::Never(_)));
            }
            Fewest::Tasks(least) => {
                let bound =
                    found.least.clone().unwrap_or_else(|| panic!("seed {seed}: not {least}: {found:?}"));
                assert!(bound <= least, "seed {seed}: {bound} is above {least}");
                now += usize::from(least == 0);
                assert_eq!(least == 0, matches!(found.outcome, Outcome::StartsNow(_)), "seed {seed}");
                let Some(plan) = found.plan().filter(|_| least > 0) else {
                    open += usize::from(least > 0);
                    continue;
                };
                assert!(plan.cost >= least, "seed {seed}");
                plans += 1;
                proven += usize::from(found.is_cheapest());
                more += usize::from(plan.cost > least);
                if found.is_cheapest() {
                    assert_eq!(plan.cost, least, "seed {seed}");
                }
            }
        }
    }
    println!(
        "{now} start now; {plans} plans, {proven} proven the cheapest, {more} of a higher cost; {never} proven impossible, \
         {open} open, {skipped} too large for the search over all states"
    );
    assert!(plans > 100 && proven * 10 >= plans * 9 && never > 100, "{plans} {proven} {never}");
    assert!((more + open) * 20 <= plans + never, "{more} {open}");
}

#[test]
fn random_plans_are_replayed() {
    let mut plans = 0;
    for seed in 0..300 {
        let of = snapshots::snapshot(seed);
        let cluster = Cluster::new(&of, None).unwrap();
        for n in cluster.waiting() {
            let settings = Settings::default();
            let found = Defragmentation::new(&cluster, &settings).unwrap().plan(n).unwrap();
            if !matches!(found.outcome, Outcome::Plan(_)) || !found.not_modelled.is_empty() {
                continue;
            }
            plans += 1;
            let text = certificate(&of, &cluster, &found).unwrap();
            assert_eq!(refused(&text), None, "seed {seed}, user {n}");
        }
    }
    println!("{plans} plans");
    assert!(plans > 10, "{plans}");
}

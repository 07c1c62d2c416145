//! Divisible mechanisms while users come and go: compared with the mechanisms themselves, and with properties of a fair state.

use evenhand_mechanisms::{Flags, registry};
use evenhand_problem::Arithmetic;
use evenhand_problem::format::Source;
use evenhand_simulate::{
    Course, CourseScenario, course_scenario, course_tasks_csv, course_utilisation_csv, is_course, run_course,
};
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use serde_json::{Value, json};

fn read(document: &Value) -> Result<CourseScenario, String> {
    let text = document.to_string();
    let document = Source { name: "s.json", text: &text }.document().unwrap();
    assert!(is_course(&document));
    course_scenario(&document).map_err(|error| error.to_string())
}

fn run(document: &Value) -> Course {
    run_course(&read(document).unwrap(), 0, None).unwrap()
}

/// Returns the cluster of PS-DSF, Figures 5 and 6. User 4 is absent for some time.
fn figure_6(policy: &Value) -> Value {
    json!({"kind": "scenario", "resources": ["cpu", "memory"], "policy": policy, "horizon": 60, "every": 1,
        "servers": [{"name": "A", "count": 8, "capacity": {"cpu": 1, "memory": 1}},
                    {"name": "B", "count": 68, "capacity": {"cpu": 0.5, "memory": 0.5}},
                    {"name": "C", "count": 33, "capacity": {"cpu": 0.5, "memory": 0.25}},
                    {"name": "D", "count": 11, "capacity": {"cpu": 0.5, "memory": 0.75}}],
        "users": [{"name": "1", "weight": 2, "demand": {"cpu": 0.1, "memory": 0.1}},
                  {"name": "2", "weight": 2, "demand": {"cpu": "2/15", "memory": 0.2}},
                  {"name": "3", "demand": {"cpu": 0.2, "memory": 0.1}, "servers": ["C", "D"]},
                  {"name": "4", "demand": {"cpu": 0.2, "memory": 0.3}, "servers": ["C", "D"]}],
        "events": [{"at": 20, "leaves": "4"}, {"at": "40.5", "comes": "4"}]})
}

#[test]
fn present_users_get_the_allocation_of_the_mechanism() {
    let mut compared = 0;
    for mechanism in registry::ALL.iter().filter(|mechanism| !mechanism.is_of_whole_tasks()) {
        let float = mechanism.info.id == "alpha";
        let mut policy = json!({"mechanism": mechanism.info.id, "float": float});
        let mut flags = Flags::new(if float { Arithmetic::Float } else { Arithmetic::Exact });
        if float {
            policy["flags"] = json!({"alpha": 2});
            flags = flags.with("alpha", "2");
        }
        let document = figure_6(&policy);
        let solve = |without_4: bool| {
            let mut problem = json!({"kind": "allocation-problem", "resources": document["resources"],
                "servers": document["servers"], "users": document["users"]});
            if without_4 {
                problem["users"].as_array_mut().unwrap().pop();
            }
            let problem = Source { name: "p", text: &problem.to_string() }.problem().unwrap();
            Some((mechanism.allocate_with(&problem, &flags).ok()?.allocation, problem))
        };
        let (Some((all, problem)), Some((fewer, _))) = (solve(false), solve(true)) else {
            assert!(run_course(&read(&document).unwrap(), 0, None).is_err(), "{}", mechanism.info.id);
            continue;
        };
        let course = run(&document);
        assert_eq!(course.moments.len(), 61);
        for moment in &course.moments {
            let is_away = (20.0..40.5).contains(&moment.time);
            let allocation = if is_away { &fewer } else { &all };
            let mut expected: Vec<Option<f64>> =
                allocation.totals().iter().map(|total| Some(total.to_f64())).collect();
            expected.resize(4, None);
            assert_eq!(moment.tasks, expected, "{} at {}", mechanism.info.id, moment.time);
            let share = |n: usize| {
                let parts = (0..2).map(|r| {
                    let demand = &problem.users()[n].base_demand()[r];
                    demand.to_f64() / problem.total_capacity()[r].to_f64()
                });
                parts.fold(0.0, f64::max) * expected[n].unwrap_or(0.0)
            };
            for n in 0..4 {
                assert!((moment.shares[n] - share(n)).abs() < 1e-12);
            }
        }
        assert_eq!(course.present, [60.0, 60.0, 60.0, 39.5]);
        let mean = (all.total(0).to_f64() * 39.5 + fewer.total(0).to_f64() * 20.5) / 60.0;
        assert!((course.tasks[0].unwrap() - mean).abs() < 1e-9 * mean);
        assert!((course.tasks[3].unwrap() - all.total(3).to_f64()).abs() < 1e-9);
        compared += 1;
    }
    assert!(compared >= 9, "{compared}");
}

#[test]
fn servers_on_their_own_clocks_converge_to_ps_dsf() {
    let exact = run(&figure_6(&json!({"mechanism": "ps-dsf"})));
    let course = run(&figure_6(&json!({"distributed": {}})));
    for at in [15, 35, 59] {
        let (found, expected) = (&course.moments[at], &exact.moments[at]);
        for (found, expected) in found.tasks.iter().zip(&expected.tasks) {
            assert_eq!(found.is_some(), expected.is_some());
            assert!((found.unwrap_or(0.0) - expected.unwrap_or(0.0)).abs() < 1e-6, "{at}");
        }
        assert!(course.distance.as_ref().unwrap()[at] < 1e-9);
    }
    let lossy = figure_6(&json!({"distributed": {"random_phases": true, "delay": {"uniform": [0, 3]},
        "loss": 0.3, "step": "1/2"}}));
    let scenario = read(&lossy).unwrap();
    let seed = |seed| run_course(&scenario, seed, None).unwrap();
    assert_eq!(seed(5), seed(5));
    assert_ne!(seed(5).moments, seed(6).moments);
    let used = seed(5).moments.into_iter().flat_map(|moment| moment.utilisation).flatten();
    assert!(used.into_iter().all(|(_, used)| used <= 1.0 + 1e-9));
}

fn pool(users: &Value, steps: u64) -> Value {
    json!({"kind": "scenario", "resources": ["cpu", "memory"], "horizon": 30, "every": 1,
        "policy": {"least_gap": {"steps": steps}},
        "servers": [{"name": "pool", "count": 3, "capacity": {"cpu": 3, "memory": 6}}], "users": users})
}

#[test]
fn serving_by_gaps_converges_to_no_justified_complaints() {
    // One resource: all users get their entitlements.
    let course = run(&pool(
        &json!([{"name": "a", "demand": {"cpu": 1}}, {"name": "b", "weight": 3, "demand": {"cpu": 2}}]),
        100,
    ));
    let last = course.moments.last().unwrap();
    assert!((last.tasks[0].unwrap() - 2.25).abs() < 0.1, "{last:?}");
    assert!((last.tasks[1].unwrap() - 3.375).abs() < 0.1, "{last:?}");
    // Two resources: both are used up, so x + 3 y = 9 and 4 x + y = 18. Every user has half of one resource.
    let course = run(&pool(
        &json!([{"name": "a", "demand": {"cpu": 1, "memory": 4}}, {"name": "b", "demand": {"cpu": 3, "memory": 1}}]),
        1000,
    ));
    let last = course.moments.last().unwrap();
    assert!((last.tasks[0].unwrap() - 45.0 / 11.0).abs() < 0.01, "{last:?}");
    assert!((last.tasks[1].unwrap() - 18.0 / 11.0).abs() < 0.01, "{last:?}");
    // A user that wants less than its entitlement gets all that it wants. The other users share the rest.
    let mut document = pool(
        &json!([{"name": "a", "tasks": 1, "demand": {"cpu": 1}}, {"name": "b", "demand": {"cpu": 1}},
               {"name": "c", "demand": {"cpu": 1}}]),
        100,
    );
    document["events"] = json!([{"at": 10, "leaves": "c"}, {"at": 20, "comes": "c"}]);
    let course = run(&document);
    for (at, expected) in [(9, [1.0, 4.0, 4.0]), (19, [1.0, 8.0, 0.0]), (30, [1.0, 4.0, 4.0])] {
        let tasks = &course.moments[at].tasks;
        for (n, expected) in expected.into_iter().enumerate() {
            assert!((tasks[n].unwrap_or(0.0) - expected).abs() < 0.2, "{at}: {tasks:?}");
        }
    }
}

/// Returns the fraction of a resource by which the worst user misses having no justified complaint, in a random pool.
fn lack_after_serving_by_gaps(seed: u64, steps: u64) -> f64 {
    let mut rng = Pcg64::seed_from_u64(seed);
    let resources = rng.random_range(2..=4);
    let names: Vec<String> = (0..resources).map(|r| format!("r{r}")).collect();
    let capacity: Vec<f64> = (0..resources).map(|_| f64::from(rng.random_range(5..=20))).collect();
    let users = rng.random_range(2..=6);
    let mut demands: Vec<Vec<f64>> = Vec::new();
    for _ in 0..users {
        demands.push((0..resources).map(|_| f64::from(rng.random_range(1..=9))).collect());
    }
    let weights: Vec<f64> = (0..users).map(|_| f64::from(rng.random_range(1..=3))).collect();
    let amounts = |of: &[f64]| -> Value {
        names.iter().zip(of).map(|(name, amount)| (name.clone(), json!(amount))).collect()
    };
    let stated: Vec<Value> = (0..users)
        .map(|n| json!({"name": format!("u{n}"), "weight": weights[n], "demand": amounts(&demands[n])}))
        .collect();
    let course = run(&json!({"kind": "scenario", "resources": names, "horizon": 60, "every": 60,
        "policy": {"least_gap": {"steps": steps}},
        "servers": [{"name": "pool", "capacity": amounts(&capacity)}], "users": stated}));
    let tasks: Vec<f64> = course.moments.last().unwrap().tasks.iter().map(|tasks| tasks.unwrap()).collect();
    let part = |n: usize, r: usize| tasks[n] * demands[n][r] / capacity[r];
    let all: f64 = weights.iter().sum();
    let lack = |n: usize| {
        let of_row = |r: usize| {
            let used: f64 = (0..users).map(|m| part(m, r)).sum();
            (1.0 - used).max(weights[n] / all - part(n, r))
        };
        (0..resources).map(of_row).fold(f64::INFINITY, f64::min)
    };
    (0..users).map(lack).fold(0.0, f64::max)
}

/// The counts for 200 pools are in docs/scenarios.md (`EVENHAND_POOLS=200`).
#[test]
fn random_pools_converge_near_no_justified_complaints() {
    let pools = std::env::var("EVENHAND_POOLS").map_or(30, |count| count.parse().unwrap());
    for steps in [100, 1_000] {
        let lacks: Vec<f64> = (0..pools).map(|seed| lack_after_serving_by_gaps(seed, steps)).collect();
        let near = lacks.iter().filter(|lack| **lack <= 0.005).count() as u64;
        let most = lacks.iter().copied().fold(0.0, f64::max);
        println!("steps {steps}: {near} of {pools} pools within .005, the largest lack is {most}");
        assert!(4 * near >= 3 * pools && most < 0.1, "steps {steps}: {near} of {pools}, {most}");
    }
}

#[test]
fn runs_without_present_users_are_accepted() {
    let mut document = figure_6(&json!({"mechanism": "tsf"}));
    document["users"].as_array_mut().unwrap().truncate(1);
    document["events"] = json!([{"at": 10, "comes": "1"}, {"at": 10, "leaves": "1"}, {"at": 20, "comes": "1"},
        {"at": 100, "leaves": "1"}]);
    for policy in [json!({"mechanism": "tsf"}), json!({"distributed": {}})] {
        document["policy"] = policy;
        let course = run(&document);
        let there = |at: usize| course.moments[at].tasks[0];
        assert_eq!((there(0), there(10), there(19)), (None, None, None));
        assert!((there(30).unwrap() - 557.5).abs() < 1e-6, "{:?}", there(30));
        assert_eq!(course.present, [40.0]);
    }
    let scenario = read(&document).unwrap();
    let course = run(&document);
    assert_eq!(course_tasks_csv(&scenario, &course).lines().count(), 1 + 41);
    assert_eq!(course_utilisation_csv(&scenario, &course).lines().count(), 1 + 61 * 8);
}

#[test]
fn faults_name_their_place() {
    let mechanism = json!({"mechanism": "drfh"});
    for (place, value, expected) in [
        (
            "/policy",
            json!({"mechanism": "dfrh"}),
            "policy.mechanism: there is no mechanism `dfrh` (did you mean `drfh`?)",
        ),
        ("/policy", json!({"mechanism": "fill"}), "policy.mechanism: `fill` places whole tasks"),
        (
            "/policy",
            json!({"mechanism": "drfh", "flags": {"alpha": 2}}),
            "policy.flags.alpha: `drfh` takes no flag",
        ),
        (
            "/policy",
            json!({"mechanism": "ps-dsf", "flags": {"method": "swep"}}),
            "policy.flags.method: expected one of",
        ),
        (
            "/policy",
            json!({"mechanism": "ps-dsf", "flags": {"order": ["E"]}}),
            "there is no server class `E`",
        ),
        ("/policy", json!({"mechanism": "drfh", "flags": {"seconds": true}}), "policy.flags.seconds"),
        (
            "/policy",
            json!({"distributed": {"loss": 1}}),
            "policy.distributed.loss: found 1: expected a fraction from 0 to below 1",
        ),
        ("/policy", json!({"distributed": {"step": 0}}), "policy.distributed.step"),
        ("/policy", json!({"distributed": {"period": 0}}), "policy.distributed.period"),
        ("/policy", json!({"distributed": {"period": 1e-9}}), "servers would act"),
        ("/policy", json!({"distributed": {"delay": "x"}}), "policy.distributed.delay"),
        ("/policy", json!({"least_gap": {}}), "expected one server class"),
        ("/events/0", json!({"at": 1, "leaves": "5"}), "events[0].leaves: there is no user `5`"),
        (
            "/events/0",
            json!({"at": 1, "comes": "4"}),
            "events[1].comes: user `4` is present already at time 40.5",
        ),
        ("/events/0", json!({"at": 50, "leaves": "4"}), "events[1]: time goes back from 50 to 40.5"),
        ("/events/0", json!({"at": 1}), "events[0]: expected one of `comes` and `leaves`"),
        ("/events/0", json!({"at": -1, "leaves": "4"}), "events[0].at: found -1"),
        ("/every", json!(1e-9), "every: rows of the series times users"),
        ("/horizon", json!(0), "horizon: found 0"),
        ("/users/0/jobs", json!([]), "jobs"),
        ("/users/0/demand", json!({"cpu": -1}), "users[0].demand.cpu: -1"),
    ] {
        let mut document = figure_6(&mechanism);
        match place.strip_suffix("/jobs") {
            Some(user) => document.pointer_mut(user).unwrap()["jobs"] = value,
            None => *document.pointer_mut(place).unwrap() = value,
        }
        let error = read(&document).unwrap_err();
        assert!(error.starts_with("s.json:1:") && error.contains(expected), "{expected}: {error}");
    }
    let mut document = figure_6(&json!({"distributed": {}}));
    document["users"][1]["tasks"] = json!(3);
    assert!(
        read(&document).unwrap_err().contains("users[1].tasks: the policy `distributed` does not support")
    );
}

#[test]
fn policies_without_an_allocation_are_refused() {
    let document = figure_6(&json!({"mechanism": "tree", "flags": {"rule": "kai"}}));
    let error = run_course(&read(&document).unwrap(), 0, None).unwrap_err();
    assert!(error.to_string().contains("gives entitlements of groups"), "{error}");
    // Users in groups are accepted only by `tree`.
    let mut document = figure_6(&json!({"mechanism": "tree"}));
    document["groups"] = json!([{"name": "g", "weight": 3}]);
    document["users"][3]["group"] = json!("g");
    let course = run(&document);
    assert!(course.moments[0].tasks[3] > course.moments[30].tasks[3]);
    document["policy"] = json!({"mechanism": "drfh"});
    let error = run_course(&read(&document).unwrap(), 0, None).unwrap_err();
    assert!(error.to_string().contains("the users are in groups"), "{error}");
}

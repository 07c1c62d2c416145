//! Tests of hierarchical filling with limits of groups on server classes.

use evenhand_mechanisms::tree::{Settings, StopKind, levels, why};
use evenhand_mechanisms::{MechanismError, registry};
use evenhand_problem::format::{Source, problem_to_json};
use evenhand_problem::{Arithmetic, Problem, Rational};
use evenhand_testkit::plain;
use evenhand_testkit::random::trees::{self, Shape};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64;
use serde_json::{Value, json};

const POOL: Shape = Shape { groups: 5, users: 7, classes: 1 };
const CLUSTER: Shape = Shape { groups: 5, users: 7, classes: 4 };

fn read(document: &Value) -> Problem {
    let text = document.to_string();
    Source { name: "problem", text: &text }.problem().unwrap_or_else(|error| panic!("{error}"))
}

fn random(rng: &mut Pcg64, shape: Shape) -> Value {
    let mut document = trees::json(rng, shape);
    trees::limit_classes(rng, &mut document);
    document
}

fn by_name(problem: &Problem) -> Vec<(String, Rational)> {
    let outcome = registry::find("tree").unwrap().allocate(problem, Arithmetic::Exact);
    let outcome = outcome.unwrap_or_else(|error| panic!("{error}\n{}", problem_to_json(problem)));
    let names = problem.users().iter().map(|user| user.name().to_owned());
    let mut named: Vec<_> = names.zip(outcome.allocation.totals()).collect();
    named.sort();
    named
}

#[test]
fn agrees_with_a_filling_from_the_definition() {
    let mut held_back = 0;
    for seed in 0..300 {
        let mut rng = Pcg64::seed_from_u64(seed);
        let shape = if seed % 3 == 0 { POOL } else { CLUSTER };
        let document = random(&mut rng, shape);
        let problem = read(&document);
        let tasks = registry::find("tree").unwrap().allocate(&problem, Arithmetic::Exact).unwrap();
        assert_eq!(tasks.allocation.totals(), plain::tree::fill(&problem), "seed {seed}: {document}");
        let mut free = document.clone();
        for group in free["groups"].as_array_mut().unwrap() {
            group.as_object_mut().unwrap().remove("on");
        }
        held_back += u32::from(by_name(&read(&free)) != by_name(&problem));
    }
    assert!(held_back > 60, "{held_back}");
}

/// Checks that a limit on all classes together equals a plain limit, if nothing is kept back.
#[test]
fn a_limit_on_all_classes_equals_the_limit_of_the_group() {
    let mut rng = Pcg64::seed_from_u64(1);
    let mut limits = 0;
    for shape in [POOL, CLUSTER].into_iter().cycle().take(160) {
        let mut document = trees::json(&mut rng, shape);
        for group in document["groups"].as_array_mut().unwrap() {
            group.as_object_mut().unwrap().remove("lend");
        }
        // The lendable amount depends only on plain limits.
        document["share"]["over"] = json!("cluster");
        let plain = by_name(&read(&document));
        let classes = document["servers"].as_array().unwrap().iter().map(|of| of["name"].as_str().unwrap());
        let all = classes.collect::<Vec<_>>().join(",");
        for group in document["groups"].as_array_mut().unwrap() {
            if let Some(limit) = group.as_object_mut().unwrap().remove("limit") {
                group["on"] = json!({all.clone(): {"limit": limit}});
                limits += 1;
            }
        }
        assert_eq!(by_name(&read(&document)), plain, "{document}");
    }
    assert!(limits > 60, "{limits}");
}

#[test]
fn the_order_of_the_file_does_not_matter() {
    let mut rng = Pcg64::seed_from_u64(2);
    for _ in 0..80 {
        let document = random(&mut rng, CLUSTER);
        let mut other = document.clone();
        for field in ["groups", "users", "servers", "resources"] {
            other[field].as_array_mut().unwrap().shuffle(&mut rng);
        }
        for group in other["groups"].as_array_mut().unwrap() {
            if let Some(list) = group["on"].as_array_mut() {
                list.shuffle(&mut rng);
                list.iter_mut().for_each(|on| on["servers"].as_array_mut().unwrap().reverse());
            }
        }
        assert_eq!(by_name(&read(&document)), by_name(&read(&other)), "{document}");
    }
}

/// Returns a problem with ten GPUs of each of two kinds. `a` may use three of the new GPUs, and its tasks run
/// on both kinds.
fn two_kinds() -> Value {
    json!({"kind": "allocation-problem", "resources": ["gpu"],
        "servers": [{"name": "old", "capacity": {"gpu": 10}}, {"name": "new", "capacity": {"gpu": 10}}],
        "groups": [{"name": "a", "on": {"new": {"limit": {"gpu": 3}}}}, {"name": "b"}],
        "users": [{"name": "x", "group": "a", "demand": {"gpu": 1}},
                  {"name": "y", "group": "b", "demand": {"gpu": 1}, "servers": ["old"]},
                  {"name": "z", "group": "b", "demand": {"gpu": 1}, "tasks": 1}]})
}

#[test]
fn capacity_left_by_a_limit_goes_to_others_and_the_limit_is_named() {
    let problem = read(&two_kinds());
    let outcome = registry::find("tree").unwrap().allocate(&problem, Arithmetic::Exact).unwrap();
    // `a` and `b` rise together. x gets 3 new GPUs and all old GPUs that y leaves. z runs on the new GPUs.
    let totals = outcome.allocation.totals();
    assert_eq!(totals, [7, 6, 1]);
    let x = why(&problem, &outcome.allocation, 0, &Settings::default()).unwrap().users.remove(0);
    assert_eq!(x.room, 0);
    let stop = x.stops.iter().find(|stop| matches!(stop.kind, StopKind::ClassLimit { .. })).unwrap();
    let kind = StopKind::ClassLimit {
        group: "a".to_owned(),
        servers: vec![1],
        resource: 0,
        most: Rational::from(3),
    };
    assert_eq!((&stop.kind, &stop.brings), (&kind, &Rational::from(1)));
}

#[test]
fn a_limit_of_zero_closes_the_classes() {
    let mut document = two_kinds();
    document["groups"][0]["on"]["new"]["limit"]["gpu"] = json!(0);
    document["users"][0]["servers"] = json!(["new"]);
    assert_eq!(
        by_name(&read(&document)),
        [("x", 0), ("y", 10), ("z", 1)].map(|(n, x)| (n.to_owned(), x.into()))
    );
}

/// Checks that a user all of whose classes are closed by limits may not grow, but still wants more tasks.
#[test]
fn limits_on_all_its_classes_stop_a_user() {
    let mut document = two_kinds();
    document["groups"][0]["on"]["old"] = json!({"limit": {"gpu": 0}});
    let problem = read(&document);
    let standing = |new: u32| {
        let text =
            json!({"kind": "allocation", "arithmetic": "exact", "tasks": {"x": {"new": new}}}).to_string();
        let allocation = Source { name: "a", text: &text }.allocation(&problem).unwrap().allocation;
        let standings = levels(&problem, &allocation, &Settings::default()).unwrap();
        standings.into_iter().find(|of| of.name == "x").unwrap().next.unwrap().is_stopped
    };
    assert!(!standing(2) && standing(3));
    document["groups"][0]["on"]["new"]["limit"]["gpu"] = json!(0);
    let problem = read(&document);
    let outcome = registry::find("tree").unwrap().allocate(&problem, Arithmetic::Exact).unwrap();
    let x = why(&problem, &outcome.allocation, 0, &Settings::default()).unwrap().users.remove(0);
    let by_limit = x.stops.iter().filter(|stop| matches!(stop.kind, StopKind::ClassLimit { .. }));
    assert_eq!((x.wants_no_more, by_limit.count()), (false, 2), "{x:?}");
}

/// Checks a group that has stopped before the end of the filling and has grown further than the last update
/// of its subgroup shows.
#[test]
fn groups_that_stop_early_keep_their_tasks() {
    let problem = read(&json!({"kind": "allocation-problem", "resources": ["cpu", "memory", "gpu"],
        "servers": [{"name": "pool", "capacity": {"cpu": 10, "gpu": 8, "memory": 26}}],
        "groups": [
            {"name": "0", "guarantee": {"cpu": 4, "gpu": 2, "memory": 2}, "on": {"pool": {"limit": {"cpu": 4, "gpu": 7}}}},
            {"name": "1", "guarantee": {"cpu": 7, "gpu": 2, "memory": 4}, "weight": 2,
             "on": {"pool": {"limit": {"cpu": 2, "gpu": 5, "memory": 1}}}},
            {"name": "2", "parent": "0", "priority": -1},
            {"name": "3", "guarantee": {"gpu": 1, "memory": 8}, "priority": 2, "on": {"pool": {"limit": {"memory": 2}}}}],
        "share": {"of": "surplus", "over": "lendable"},
        "users": [{"name": "a", "group": "3", "demand": {"cpu": 2, "gpu": 2, "memory": 2}},
                  {"name": "b", "group": "0", "demand": {"memory": 2}, "tasks": "5/2"},
                  {"name": "c", "group": "2", "demand": {"cpu": 4, "gpu": 5}},
                  {"name": "d", "group": "1", "demand": {"cpu": 4, "gpu": 5, "memory": 2}}]}));
    let tasks = by_name(&problem).into_iter().map(|(_, tasks)| tasks);
    let expected = [(1, 1), (5, 2), (7, 10), (1, 2)].map(Rational::from);
    assert_eq!(tasks.collect::<Vec<_>>(), expected);
    assert_eq!(plain::tree::fill(&problem), expected);
}

#[test]
fn rules_without_placements_refuse_class_limits() {
    let problem = read(&two_kinds());
    let rule = Settings { rule: Some(evenhand_mechanisms::tree::Rule::Kai), ..Settings::default() };
    let error = evenhand_mechanisms::tree::allocate(&problem, &rule).unwrap_err();
    assert!(matches!(error, MechanismError::NotApplicable { .. }), "{error}");
}

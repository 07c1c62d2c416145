//! Tests of hierarchical filling: golden cases, a second filling by the definition, and changes that must not matter.

use evenhand_exact::Evidence;
use evenhand_mechanisms::registry;
use evenhand_mechanisms::tree::filling;
use evenhand_problem::format::{Source, problem_to_json};
use evenhand_problem::{Arithmetic, Problem, Rational};
use evenhand_testkit::golden;
use evenhand_testkit::plain;
use evenhand_testkit::random::trees::{self, Shape};
use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use serde_json::{Value, json};

const POOL: Shape = Shape { groups: 7, users: 9, classes: 1 };
const CLUSTER: Shape = Shape { groups: 5, users: 7, classes: 4 };

fn read(document: &Value) -> Problem {
    let text = document.to_string();
    Source { name: "problem", text: &text }.problem().unwrap_or_else(|error| panic!("{error}"))
}

fn totals(problem: &Problem, mechanism: &str) -> Vec<Rational> {
    let mechanism = registry::find(mechanism).unwrap();
    let outcome = mechanism.allocate(problem, Arithmetic::Exact);
    outcome.unwrap_or_else(|error| panic!("{error}\n{}", problem_to_json(problem))).allocation.totals()
}

fn by_name(problem: &Problem) -> Vec<(String, Rational)> {
    let totals = totals(problem, "tree").into_iter();
    let mut named: Vec<_> = problem.users().iter().map(|user| user.name().to_owned()).zip(totals).collect();
    named.sort();
    named
}

#[test]
fn agrees_with_golden_cases() {
    for case in golden::trees() {
        let problem = read(&case["problem"]);
        let expected = case["expected"]["tasks"].as_object().unwrap();
        for (name, tasks) in by_name(&problem) {
            assert_eq!(tasks, golden::exact(&expected[&name]), "{}: {name}", golden::id(&case));
        }
    }
}

#[test]
fn agrees_with_a_filling_from_the_definition() {
    for seed in 0..400 {
        let problem = trees::problem(&mut Pcg64::seed_from_u64(seed), POOL);
        assert_eq!(
            totals(&problem, "tree"),
            plain::tree::fill(&problem),
            "seed {seed}\n{}",
            problem_to_json(&problem)
        );
    }
}

#[test]
fn agrees_with_a_filling_from_the_definition_on_classes() {
    let mut clusters = 0;
    for seed in 0..400 {
        let problem = trees::problem(&mut Pcg64::seed_from_u64(seed), CLUSTER);
        clusters += u32::from(problem.n_servers() > 1);
        assert_eq!(
            totals(&problem, "tree"),
            plain::tree::fill(&problem),
            "seed {seed}\n{}",
            problem_to_json(&problem)
        );
    }
    assert!(clusters > 200, "{clusters}");
}

/// Returns the document with its groups, users and servers in another order.
fn shuffled(document: &Value, rng: &mut Pcg64) -> Value {
    let mut document = document.clone();
    for field in ["groups", "users", "servers"] {
        document[field].as_array_mut().unwrap().shuffle(rng);
    }
    document
}

#[test]
fn the_order_of_the_file_does_not_matter() {
    let mut rng = Pcg64::seed_from_u64(1);
    for shape in [POOL, CLUSTER] {
        for _ in 0..60 {
            let document = trees::json(&mut rng, shape);
            let (problem, other) = (read(&document), read(&shuffled(&document, &mut rng)));
            assert_eq!(by_name(&problem), by_name(&other), "{document}");
        }
    }
}

#[test]
fn tree_without_groups_equals_drfh() {
    let mut rng = Pcg64::seed_from_u64(2);
    for shape in [POOL, CLUSTER] {
        for _ in 0..60 {
            let mut document = trees::json(&mut rng, shape);
            document["groups"] = json!([]);
            document["share"] = json!({});
            for user in document["users"].as_array_mut().unwrap() {
                user.as_object_mut().unwrap().remove("group");
            }
            let problem = read(&document);
            // `filling` goes segment by segment, as it does for problems with groups.
            let Evidence::Filling { tasks, .. } = filling(&problem).unwrap() else { panic!("no filling") };
            let filled: Vec<Rational> = tasks.iter().map(|of| of.iter().map(|(_, x)| x).sum()).collect();
            assert_eq!(filled, totals(&problem, "drfh"), "{document}");
            assert_eq!(filled, totals(&problem, "tree"), "{document}");
        }
    }
}

/// Checks that a group whose only member is another group, with the same weight and priority, changes
/// nothing.
#[test]
fn a_group_with_one_child_equals_the_child() {
    let mut rng = Pcg64::seed_from_u64(3);
    for _ in 0..60 {
        let mut document = trees::json(&mut rng, POOL);
        let before = by_name(&read(&document));
        let groups = document["groups"].as_array_mut().unwrap();
        let at = rng.random_range(0..groups.len());
        let mut holder = json!({"name": "holder"});
        for field in ["parent", "weight", "priority", "guarantee", "limit", "lend"] {
            if let Some(value) = groups[at].get(field) {
                holder[field] = value.clone();
            }
        }
        groups[at]["parent"] = json!("holder");
        groups.push(holder);
        assert_eq!(by_name(&read(&document)), before, "{document}");
    }
}

/// Checks large trees with up to 50 groups of 8 shapes each, for which the filling by the definition takes
/// too long.
#[test]
fn large_trees_do_not_depend_on_the_order_of_the_file() {
    let mut rng = Pcg64::seed_from_u64(4);
    let mut users = 0;
    for _ in 0..6 {
        let document = trees::json(&mut rng, Shape { groups: 50, users: 400, classes: 1 });
        let (problem, other) = (read(&document), read(&shuffled(&document, &mut rng)));
        users += problem.n_users();
        assert_eq!(by_name(&problem), by_name(&other), "{document}");
    }
    assert!(users > 300, "{users}");
}

#[test]
fn the_filling_from_the_definition_agrees_on_larger_trees() {
    for seed in 1000..1012 {
        let shape = Shape { groups: 14, users: 24, classes: 1 };
        let problem = trees::problem(&mut Pcg64::seed_from_u64(seed), shape);
        assert_eq!(totals(&problem, "tree"), plain::tree::fill(&problem), "seed {seed}");
    }
}

#[test]
fn the_filling_from_the_definition_agrees_on_fifty_groups() {
    let (mut groups, mut users) = (0, 0);
    for seed in 2000..2009 {
        let shape = Shape { groups: 50, users: 48, classes: 2 };
        let problem = trees::problem(&mut Pcg64::seed_from_u64(seed), shape);
        assert_eq!(totals(&problem, "tree"), plain::tree::fill(&problem), "seed {seed}");
        groups = groups.max(problem.groups().list().len());
        users = users.max(problem.n_users());
    }
    assert!(groups > 40 && users > 40, "{groups} groups, {users} users");
}

/// Returns half of every named amount.
fn halved(amounts: &Value) -> Value {
    let half = |amount: &Value| json!((golden::exact(amount) / 2u32).to_string());
    Value::Object(amounts.as_object().unwrap().iter().map(|(r, amount)| (r.clone(), half(amount))).collect())
}

/// Checks that a queue without subgroups can be split into two queues with half of its weight, guarantee,
/// limit and tasks. Shares must be fractions of the cluster: a fraction of the guarantee is the same for both
/// halves, so halving the weight would count twice. A weight of 0 cannot be halved.
#[test]
fn splitting_a_queue_in_two_changes_no_tasks() {
    let mut rng = Pcg64::seed_from_u64(5);
    let mut split = 0;
    for shape in [POOL, CLUSTER].into_iter().cycle().take(160) {
        let mut document = trees::json(&mut rng, shape);
        document["share"]["over"] = json!("cluster");
        let groups = document["groups"].as_array_mut().unwrap();
        let at = rng.random_range(0..groups.len());
        let name = groups[at]["name"].clone();
        let is_leaf = groups.iter().all(|group| group["parent"] != name);
        if !is_leaf || groups[at]["weight"] == json!(0) {
            continue;
        }
        let before = by_name(&read(&document));
        let groups = document["groups"].as_array_mut().unwrap();
        let weight = groups[at].get("weight").map_or_else(|| 1.into(), golden::exact);
        groups[at]["weight"] = json!((weight / 2u32).to_string());
        for field in ["guarantee", "limit", "lend"] {
            if let Some(amounts) = groups[at].get(field).map(halved) {
                groups[at][field] = amounts;
            }
        }
        let mut twin = groups[at].clone();
        twin["name"] = json!("twin");
        groups.push(twin);
        let users = document["users"].as_array_mut().unwrap();
        let mut twins = Vec::new();
        let mut halves = Vec::new();
        for user in users.iter_mut().filter(|user| user["group"] == name) {
            if let Some(tasks) = user.get("tasks").map(golden::exact) {
                user["tasks"] = json!((tasks / 2u32).to_string());
            }
            let mut twin = user.clone();
            twin["name"] = json!(format!("twin of {}", user["name"].as_str().unwrap()));
            twin["group"] = json!("twin");
            halves.push(user["name"].as_str().unwrap().to_owned());
            twins.push(twin);
        }
        users.extend(twins);
        split += u32::from(!halves.is_empty());
        let after = by_name(&read(&document));
        for (user, tasks) in before {
            let of = |name: &str| after.iter().find(|(of, _)| of == name).map(|(_, x)| x.clone()).unwrap();
            let sum =
                if halves.contains(&user) { of(&user) + of(&format!("twin of {user}")) } else { of(&user) };
            assert_eq!(sum, tasks, "{user}: {document}");
        }
    }
    assert!(split > 20, "{split}");
}

#[test]
fn other_mechanisms_refuse_groups_and_name_tree() {
    let problem = read(&golden::trees()[0]["problem"]);
    for mechanism in registry::ALL.iter().filter(|mechanism| !["tree", "fill"].contains(&mechanism.info.id)) {
        let error = mechanism.allocate(&problem, Arithmetic::Exact).unwrap_err().to_string();
        assert!(error.contains("only `tree`"), "{error}");
    }
}

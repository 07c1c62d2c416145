//! Hierarchical filling: golden cases, a second filling from the definition, and what must not matter.

use evenhand_mechanisms::registry;
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
fn golden_cases() {
    for case in golden::trees() {
        let problem = read(&case["problem"]);
        let expected = case["expected"]["tasks"].as_object().unwrap();
        for (name, tasks) in by_name(&problem) {
            assert_eq!(tasks, golden::exact(&expected[&name]), "{}: {name}", golden::id(&case));
        }
    }
}

#[test]
fn a_second_filling_from_the_definition_ends_in_the_same() {
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

/// Each with its amounts, in another order.
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
fn without_groups_it_is_drfh() {
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
            assert_eq!(totals(&problem, "tree"), totals(&problem, "drfh"), "{document}");
        }
    }
}

/// A group that does nothing but hold another one, with its weight and priority, changes nothing.
#[test]
fn a_group_with_one_child_is_as_if_the_child_stood_in_its_place() {
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

#[test]
fn other_mechanisms_refuse_groups_and_name_the_one_that_does_not() {
    let problem = read(&golden::trees()[0]["problem"]);
    for mechanism in registry::ALL.iter().filter(|mechanism| mechanism.info.id != "tree") {
        let error = mechanism.allocate(&problem, Arithmetic::Exact).unwrap_err().to_string();
        assert!(error.contains("only `tree`"), "{error}");
    }
}

//! Tests of the axiom `tree`: every checker runs hierarchical filling again, and false statements about it are refused.

use crate::common;

use evenhand_certify::{Request, certify};
use evenhand_exact::{Axiom, Claim, Evidence};
use evenhand_mechanisms::registry;
use evenhand_problem::format::Source;
use evenhand_problem::{Allocation, Arithmetic, Problem, Rational};
use evenhand_testkit::agreement::{Finding, agreed_by_all, agreed_claim, agreed_text};
use evenhand_testkit::damage::damage;
use evenhand_testkit::random::trees::{self, Shape};
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use serde_json::{Value, json};

const SHAPES: [Shape; 2] =
    [Shape { groups: 7, users: 9, classes: 1 }, Shape { groups: 5, users: 7, classes: 3 }];

fn judged(problem: &Problem, allocation: &Allocation) -> (Claim, String) {
    common::judged(problem, allocation, Axiom::Tree, &Rational::new())
}

fn claim_on_texts(problem: &str, tasks: &str) -> (Claim, String) {
    common::of_texts(problem, tasks, Axiom::Tree)
}

/// `one` runs only on a class of 4 CPUs and stops at 4, although half of the cluster would be 5. `other` continues.
const TWO_CLASSES: &str = r#"{"kind": "allocation-problem", "resources": ["cpu"],
    "servers": [{"name": "fast", "capacity": {"cpu": 4}}, {"name": "slow", "capacity": {"cpu": 6}}],
    "groups": [{"name": "a"}, {"name": "b"}],
    "users": [{"name": "one", "group": "a", "demand": {"cpu": 1}, "servers": ["fast"]},
              {"name": "other", "group": "b", "demand": {"cpu": 1}}]}"#;

#[test]
fn prices_prove_which_users_cannot_get_more() {
    let (claim, text) = claim_on_texts(TWO_CLASSES, r#"{"one": {"fast": 4}, "other": {"slow": 6}}"#);
    assert_eq!((claim.holds, claim.margin), (Some(true), Some(Rational::new())));
    for (from, to) in [
        // Without its price, `one` would continue. With another price, `one` or `other` would stop earlier.
        (r#""prices":[{"fast":{"cpu":"1"}}]"#, r#""prices":[]"#),
        (r#""prices":[{"fast":{"cpu":"1"}}]"#, r#""prices":[{"slow":{"cpu":"1"}}]"#),
        (r#""prices":[{"fast":{"cpu":"1"}}]"#, r#""prices":[{"fast":{"cpu":"-1"}}]"#),
        (r#""filling":{"one":{"fast":"4"},"other":{"slow":"6"}}"#, r#""filling":{"other":{"slow":"6"}}"#),
        (r#""filling":{"one":{"fast":"4"}"#, r#""filling":{"one":{"fast":"5"}"#),
        (r#""margin":"0""#, r#""margin":"1""#),
    ] {
        let damaged = text.replace(from, to);
        assert_ne!(damaged, text, "{from} is not there\n{text}");
        assert!(matches!(agreed_text(&damaged), Finding::Refused(_)), "{damaged}");
    }
    // `one` has 3 of its 4 solo tasks, which is a quarter too few. `other` lacks one task of 10, which is a
    // smaller fraction.
    let (claim, text) = claim_on_texts(TWO_CLASSES, r#"{"one": {"fast": 3}, "other": {"slow": 5}}"#);
    assert_eq!((claim.holds, claim.margin), (Some(false), Some(Rational::from((-1, 4)))));
    let damaged = text.replace(r#""holds":false"#, r#""holds":true"#);
    assert!(matches!(agreed_text(&damaged), Finding::Refused(_)), "{damaged}");
    // More tasks than the filling gives are as wrong as fewer tasks.
    let (claim, _) = claim_on_texts(TWO_CLASSES, r#"{"one": {"fast": 3}, "other": {"fast": 1, "slow": 6}}"#);
    assert_eq!((claim.holds, claim.margin), (Some(false), Some(Rational::from((-1, 4)))));
}

/// There are 10 GPUs of each kind. `a` may use 3 of the new GPUs, and `y` runs only on the old GPUs.
const TWO_KINDS: &str = r#"{"kind": "allocation-problem", "resources": ["gpu"],
    "servers": [{"name": "old", "capacity": {"gpu": 10}}, {"name": "new", "capacity": {"gpu": 10}}],
    "groups": [{"name": "a", "on": {"new": {"limit": {"gpu": 3}}}}, {"name": "b"}],
    "users": [{"name": "x", "group": "a", "demand": {"gpu": 1}},
              {"name": "y", "group": "b", "demand": {"gpu": 1}, "servers": ["old"]}]}"#;

/// `x` and `y` rise together until the 10 old GPUs are used up and `x` has its 3 new GPUs.
#[test]
fn class_limits_have_prices() {
    let (claim, text) = claim_on_texts(TWO_KINDS, r#"{"x": {"old": "7/2", "new": 3}, "y": {"old": "13/2"}}"#);
    assert_eq!((claim.holds, claim.margin), (Some(true), Some(Rational::new())));
    let (rows, price) =
        (r#""prices":[{"old":{"gpu":"1"}}]"#, r#"{"group":"a","on":["new"],"resource":"gpu","price":"1"}"#);
    let limits = format!(r#""limit_prices":[[{price}]]"#);
    for (from, to) in [
        // Without the price of the limit, the tasks of `x` cost nothing, and `x` continues.
        (limits.as_str(), r#""limit_prices":[[]]"#.to_owned()),
        (&format!(",{limits}"), String::new()),
        (&limits, format!(r#""limit_prices":[[{}]]"#, price.replace(r#""1""#, r#""1/2""#))),
        (&limits, format!(r#""limit_prices":[[{}]]"#, price.replace(r#""1""#, r#""-1""#))),
        // Prices of a limit that does not exist, of the wrong limit, and two prices of one limit.
        (&limits, format!(r#""limit_prices":[[{}]]"#, price.replace(r#""a""#, r#""b""#))),
        (&limits, format!(r#""limit_prices":[[{}]]"#, price.replace("new", "old"))),
        (&limits, format!(r#""limit_prices":[[{price},{price}]]"#)),
        (&limits, format!(r#""limit_prices":[[{price}],[]]"#)),
        (rows, r#""prices":[{"new":{"gpu":"1"}}]"#.to_owned()),
        (rows, r#""prices":[{"old":{"gpu":"2"}}]"#.to_owned()),
        // The limit forbids these tasks, although the totals equal the totals of the filling.
        (
            r#""filling":{"x":{"old":"7/2","new":"3"},"y":{"old":"13/2"}}"#,
            r#""filling":{"x":{"old":"5/2","new":"4"},"y":{"old":"13/2"}}"#.to_owned(),
        ),
    ] {
        let damaged = text.replace(from, &to);
        assert_ne!(damaged, text, "{from} is not there\n{text}");
        assert!(matches!(agreed_text(&damaged), Finding::Refused(_) | Finding::Malformed(_)), "{damaged}");
    }
    let useless = text
        .replace(rows, r#""prices":[{"old":{"gpu":"1"}},{}]"#)
        .replace(&limits, &format!(r#""limit_prices":[[{price}],[{price}]]"#));
    assert_eq!(agreed_text(&useless), Finding::Accepted, "{useless}");
    let (claim, _) = claim_on_texts(TWO_KINDS, r#"{"x": {"new": 3}, "y": {"old": 10}}"#);
    assert_eq!((claim.holds, claim.margin), (Some(false), Some(Rational::from((-7, 20)))));
}

/// A limit of 0 closes its classes, which needs no price as a proof.
#[test]
fn a_limit_of_zero_requires_no_price() {
    let problem = TWO_KINDS.replace(r#"{"gpu": 3}"#, r#"{"gpu": 0}"#);
    let (claim, text) = claim_on_texts(&problem, r#"{"x": {"old": 5}, "y": {"old": 5}}"#);
    assert_eq!((claim.holds, text.contains("limit_prices")), (Some(true), false));
    let barred = problem.replace(r#""on": {"new""#, r#""on": {"new, old""#);
    let (claim, text) = claim_on_texts(&barred, r#"{"y": {"old": 10}}"#);
    assert_eq!((claim.holds, text.contains("limit_prices")), (Some(true), false));
}

/// Each vector of prices takes memory for every user, even if it proves no bound. Above a million entries there is no
/// verdict.
#[test]
fn too_many_prices_get_no_verdict() {
    let (_, text) = claim_on_texts(TWO_CLASSES, r#"{"one": {"fast": 4}, "other": {"slow": 6}}"#);
    let with = |count: usize| {
        text.replace(r#""prices":[{"fast""#, &format!(r#""prices":[{}{{"fast""#, "{},".repeat(count)))
    };
    assert_eq!(agreed_text(&with(10)), Finding::Accepted);
    assert!(matches!(agreed_text(&with(500_000)), Finding::TooLarge(_)));
}

/// Checkers store the limits on classes for every user below the group. Above a million entries there is no verdict.
#[test]
fn too_many_class_limits_get_no_verdict() {
    let users = |count: usize| -> Vec<Value> {
        (0..count).map(|n| json!({"name": n.to_string(), "group": "a", "demand": {"cpu": 1}})).collect()
    };
    let sets = (1..1024).map(|set| (0..10).filter(|i| set >> i & 1 == 1).map(|i| i.to_string()).collect());
    let on = sets.map(|servers: Vec<String>| json!({"servers": servers, "limit": {"cpu": 1000}}));
    let servers: Vec<Value> =
        (0..10).map(|i| json!({"name": i.to_string(), "capacity": {"cpu": 1}})).collect();
    let mut problem = json!({"kind": "allocation-problem", "resources": ["cpu"], "servers": servers,
        "groups": [{"name": "a", "on": on.collect::<Vec<_>>()}], "users": users(1000)});
    let (claim, _) = claim_on_texts(TWO_KINDS, "{}");
    let verdict = |problem: &Value| {
        let problem = Source { name: "problem", text: &problem.to_string() }.problem().unwrap();
        let tasks = vec![Vec::new(); problem.n_users()];
        let nothing =
            Allocation { arithmetic: Arithmetic::Exact, tasks: tasks.clone(), ..Allocation::default() };
        let claim = Claim { evidence: Evidence::Filling { tasks, prices: Vec::new() }, ..claim.clone() };
        agreed_claim(&problem, &nothing, &claim, &Rational::new())
    };
    assert!(verdict(&problem).too_large);
    problem["users"] = json!(users(10));
    let verdict = verdict(&problem);
    assert!(verdict.reason.is_some() && !verdict.too_large, "{verdict:?}");
}

#[test]
fn tree_axiom_does_not_apply_to_time_or_without_a_base_demand() {
    let stated = r#""demand": {"cpu": 1}, "servers": ["fast"]"#;
    for (other, holds) in [
        (r#""demand": {"cpu": 1}, "gamma": {"fast": 2}"#, None),
        (r#""demand_on": {"fast": {"cpu": 2}}, "servers": ["fast"]"#, None),
        (r#""demand": {"cpu": 1}, "demand_on": {"fast": {"cpu": 2}}"#, Some(false)),
        // A user without tasks is not compared.
        (r#""demand_on": {"fast": {"cpu": 2}}, "servers": ["fast"], "tasks": 0"#, Some(false)),
    ] {
        let problem = TWO_CLASSES.replace(stated, other);
        assert_ne!(problem, TWO_CLASSES);
        assert_eq!(claim_on_texts(&problem, "{}").0.holds, holds);
    }
}

/// Without groups, the axiom is max-min of dominant shares.
#[test]
fn users_without_groups_get_the_tasks_of_drfh() {
    let problem = r#"{"kind": "allocation-problem", "resources": ["cpu", "memory"],
        "servers": [{"name": "m", "capacity": {"cpu": 2, "memory": 12}},
                    {"name": "c", "capacity": {"cpu": 12, "memory": 2}}],
        "users": [{"name": "1", "demand": {"cpu": "1/5", "memory": 1}},
                  {"name": "2", "demand": {"cpu": 1, "memory": "1/5"}}]}"#;
    let (claim, _) = claim_on_texts(problem, r#"{"1": {"m": 10}, "2": {"c": 10}}"#);
    assert_eq!(claim.holds, Some(true));
}

/// Checks that all judges confirm the mechanism's answer, and that they agree on damaged certificates of this answer
/// and of allocations with fewer tasks. Returns how many damaged certificates were refused, how many could be read, and
/// how many undamaged ones had prices and prices of limits.
fn damaged_are_judged_alike(limits_on_classes: bool) -> (u32, u32, u32, u32) {
    let mut rng = Pcg64::seed_from_u64(21 + u64::from(limits_on_classes));
    let (mut refused, mut read, mut priced, mut limited) = (0, 0, 0, 0);
    for shape in SHAPES {
        for at in 0..80 {
            let mut document = trees::json(&mut rng, shape);
            if limits_on_classes {
                trees::limit_classes(&mut rng, &mut document);
            }
            if at >= 40 {
                trees::demands_by_class(&mut rng, &mut document);
            }
            let problem = Source { name: "tree", text: &document.to_string() }.problem().unwrap();
            let mechanism = registry::find("tree").unwrap();
            let found = mechanism.allocate(&problem, Arithmetic::Exact).unwrap().allocation;
            let (claim, text) = judged(&problem, &found);
            assert!(
                claim.holds == Some(true) && claim.margin.is_none_or(|margin| margin.is_zero()),
                "{text}"
            );
            let Evidence::Filling { prices, .. } = &claim.evidence else { panic!("{text}") };
            priced += u32::from(!prices.is_empty());
            limited += u32::from(prices.iter().any(|of| !of.limits.is_empty()));
            let mut less = Allocation { mechanism: None, ..found };
            for x in less.tasks.iter_mut().flatten() {
                x.1 *= Rational::from((rng.random_range(2..=4), 4));
            }
            let (_, of_less) = judged(&problem, &less);
            for text in [text, of_less] {
                for _ in 0..8 {
                    let mut document: Value = serde_json::from_str(&text).unwrap();
                    damage(&mut document["claims"][0], &mut rng);
                    let (finding, is_read) = agreed_by_all(&document.to_string());
                    read += u32::from(is_read);
                    refused += u32::from(matches!(finding, Finding::Refused(_)));
                }
            }
        }
    }
    (refused, read, priced, limited)
}

#[test]
fn judges_agree_on_tree_and_damaged_certificates() {
    let counts = damaged_are_judged_alike(false);
    let (refused, read, priced, _) = counts;
    assert!(refused > 200 && read > 200 && priced > 10, "{counts:?}");
}

#[test]
fn judges_agree_on_damaged_certificates_with_class_limits() {
    let counts = damaged_are_judged_alike(true);
    let (refused, read, priced, limited) = counts;
    assert!(refused > 200 && read > 200 && priced > 10 && limited > 10, "{counts:?}");
}

/// Fails unless the kernel, which shares no code with the mechanism, computes the same tasks. The trees have up to 50
/// groups with 8 users each, on classes and with limits on some of them.
fn the_filling_is_accepted(seeds: std::ops::Range<u64>) {
    let shape = Shape { groups: 50, users: 400, classes: 4 };
    let mut users = 0;
    for seed in seeds {
        let mut rng = Pcg64::seed_from_u64(seed);
        let mut document = trees::json(&mut rng, shape);
        trees::limit_classes(&mut rng, &mut document);
        if seed % 4 == 1 {
            trees::demands_by_class(&mut rng, &mut document);
        }
        let problem = Source { name: "tree", text: &document.to_string() }.problem().unwrap();
        let found = registry::find("tree").unwrap().allocate(&problem, Arithmetic::Exact).unwrap();
        let axioms = [Axiom::Tree, Axiom::Limits, Axiom::WorkConserving].map(Request::of);
        let examination = certify(&problem, &found.allocation, &axioms, &Rational::new()).unwrap();
        assert!(examination.undecided.is_empty(), "seed {seed}");
        let text = examination.certificate.to_json();
        assert_eq!(agreed_text(&text), Finding::Accepted, "seed {seed}");
        // If the amounts kept back exceed the capacity or a limit, no allocation satisfies `limits`.
        let is_promised =
            |claim: &Claim| matches!(claim.evidence.bare(), Evidence::GroupLimit { promised: Some(_), .. });
        let holds = |claim: &Claim| claim.holds == Some(true) || is_promised(claim);
        assert!(examination.certificate.claims.iter().all(holds), "seed {seed}");
        users += problem.n_users();
    }
    assert!(users > 500, "{users}");
}

// Each judge takes a minute or two for these trees, so they are divided among several tests.
#[test]
fn fillings_of_large_trees_0_to_7_are_accepted() {
    the_filling_is_accepted(0..8);
}

#[test]
fn fillings_of_large_trees_8_to_15_are_accepted() {
    the_filling_is_accepted(8..16);
}

#[test]
fn fillings_of_large_trees_16_to_23_are_accepted() {
    the_filling_is_accepted(16..24);
}

/// A weight that no double can represent. No user that counts in the first bound grows before the bound is reached, and
/// computing in doubles does not show this.
#[test]
fn weights_beyond_doubles_are_certified() {
    let document = json!({
        "kind": "allocation-problem", "resources": ["gpu", "zz"],
        "servers": [{"name": "s1", "capacity": {"gpu": 1}}, {"name": "s2", "capacity": {"gpu": 1}},
                    {"name": "sz", "capacity": {"zz": 1}}],
        "groups": [{"name": "last", "weight": 0}],
        "users": [{"name": "one", "demand": {"gpu": 2}, "group": "last", "demand_on": {"s1": {"gpu": 1}}},
                  {"name": "heavy", "demand": {"zz": 1}, "weight": format!("1{}", "0".repeat(350))}]
    });
    let problem = Source { name: "tree", text: &document.to_string() }.problem().unwrap();
    let found = registry::find("tree").unwrap().allocate(&problem, Arithmetic::Exact).unwrap();
    assert_eq!(found.allocation.totals(), [Rational::from((3, 2)), Rational::from(1)]);
    let (claim, text) = judged(&problem, &found.allocation);
    assert_eq!((claim.holds, agreed_text(&text)), (Some(true), Finding::Accepted));
}

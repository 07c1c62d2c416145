//! The axiom `tree`: what hierarchical filling ends with, run once more by every checker; and what is said of it
//! falsely.

use evenhand_certify::{Request, certify};
use evenhand_exact::{Axiom, Claim, Evidence};
use evenhand_mechanisms::registry;
use evenhand_problem::format::{Source, problem_to_json};
use evenhand_problem::{Allocation, Arithmetic, Problem, Rational};
use evenhand_testkit::agreement::{Finding, agreed_by_all, agreed_text};
use evenhand_testkit::damage::damage;
use evenhand_testkit::plain;
use evenhand_testkit::random::trees::{self, Shape};
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

const SHAPES: [Shape; 2] =
    [Shape { groups: 7, users: 9, classes: 1 }, Shape { groups: 5, users: 7, classes: 3 }];

/// The claim, accepted by all three judges; with the certificate.
fn judged(problem: &Problem, allocation: &Allocation) -> (Claim, String) {
    let examination = certify(problem, allocation, &[Request::of(Axiom::Tree)], &Rational::new()).unwrap();
    assert_eq!(examination.undecided, [], "{}", problem_to_json(problem));
    let text = examination.certificate.to_json();
    assert_eq!(agreed_text(&text), Finding::Accepted, "{text}");
    assert_eq!(plain::fault(&examination.certificate), None, "{text}");
    (examination.certificate.claims[0].clone(), text)
}

fn of_texts(problem: &str, tasks: &str) -> (Claim, String) {
    let problem = Source { name: "problem", text: problem }.problem().unwrap();
    let text = format!(r#"{{"kind": "allocation", "arithmetic": "exact", "tasks": {tasks}}}"#);
    let allocation = Source { name: "x", text: &text }.allocation(&problem).unwrap().allocation;
    judged(&problem, &allocation)
}

/// `one` runs on a class of 4 cpus alone, and stops at 4 of the 5 that would be its half; the other goes on.
const TWO_CLASSES: &str = r#"{"kind": "allocation-problem", "resources": ["cpu"],
    "servers": [{"name": "fast", "capacity": {"cpu": 4}}, {"name": "slow", "capacity": {"cpu": 6}}],
    "groups": [{"name": "a"}, {"name": "b"}],
    "users": [{"name": "one", "group": "a", "demand": {"cpu": 1}, "servers": ["fast"]},
              {"name": "other", "group": "b", "demand": {"cpu": 1}}]}"#;

#[test]
fn prices_show_who_has_no_place_for_more() {
    let (claim, text) = of_texts(TWO_CLASSES, r#"{"one": {"fast": 4}, "other": {"slow": 6}}"#);
    assert_eq!((claim.holds, claim.margin), (Some(true), Some(Rational::new())));
    for (from, to) in [
        // Without its price `one` would go on; with another one it would stop earlier, or `other` would.
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
    // 3 of 4: a quarter of the 4 that it would have alone; `other` has a task of 10 too few, which is less.
    let (claim, text) = of_texts(TWO_CLASSES, r#"{"one": {"fast": 3}, "other": {"slow": 5}}"#);
    assert_eq!((claim.holds, claim.margin), (Some(false), Some(Rational::from((-1, 4)))));
    let damaged = text.replace(r#""holds":false"#, r#""holds":true"#);
    assert!(matches!(agreed_text(&damaged), Finding::Refused(_)), "{damaged}");
    // More than filling gives is as wrong as less.
    let (claim, _) = of_texts(TWO_CLASSES, r#"{"one": {"fast": 3}, "other": {"fast": 1, "slow": 6}}"#);
    assert_eq!((claim.holds, claim.margin), (Some(false), Some(Rational::from((-1, 4)))));
}

/// Vectors of prices that are of no use take memory for every user: beyond a million there is no verdict.
#[test]
fn prices_without_end_are_too_large() {
    let (_, text) = of_texts(TWO_CLASSES, r#"{"one": {"fast": 4}, "other": {"slow": 6}}"#);
    let with = |count: usize| {
        text.replace(r#""prices":[{"fast""#, &format!(r#""prices":[{}{{"fast""#, "{},".repeat(count)))
    };
    assert_eq!(agreed_text(&with(10)), Finding::Accepted);
    assert!(matches!(agreed_text(&with(500_000)), Finding::TooLarge(_)));
}

#[test]
fn it_does_not_apply_to_time_and_to_demands_of_a_class() {
    let stated = r#""demand": {"cpu": 1}, "servers": ["fast"]"#;
    for other in [
        r#""demand": {"cpu": 1}, "demand_on": {"fast": {"cpu": 2}}"#,
        r#""demand": {"cpu": 1}, "gamma": {"fast": 2}"#,
    ] {
        let problem = TWO_CLASSES.replace(stated, other);
        assert_ne!(problem, TWO_CLASSES);
        assert_eq!(of_texts(&problem, "{}").0.holds, None);
    }
}

/// Without groups it is max-min of dominant shares.
#[test]
fn users_without_groups_have_what_drfh_gives() {
    let problem = r#"{"kind": "allocation-problem", "resources": ["cpu", "memory"],
        "servers": [{"name": "m", "capacity": {"cpu": 2, "memory": 12}},
                    {"name": "c", "capacity": {"cpu": 12, "memory": 2}}],
        "users": [{"name": "1", "demand": {"cpu": "1/5", "memory": 1}},
                  {"name": "2", "demand": {"cpu": 1, "memory": "1/5"}}]}"#;
    let (claim, _) = of_texts(problem, r#"{"1": {"m": 10}, "2": {"c": 10}}"#);
    assert_eq!(claim.holds, Some(true));
}

/// What the mechanism gives is what all judges find; with tasks taken away or moved it is not.
#[test]
fn the_mechanism_gives_it_and_damaged_certificates_are_judged_alike() {
    let mut rng = Pcg64::seed_from_u64(21);
    let (mut refused, mut read, mut priced) = (0, 0, 0);
    for shape in SHAPES {
        for _ in 0..50 {
            let problem = trees::problem(&mut rng, shape);
            let mechanism = registry::find("tree").unwrap();
            let found = mechanism.allocate(&problem, Arithmetic::Exact).unwrap().allocation;
            let (claim, text) = judged(&problem, &found);
            assert!(
                claim.holds == Some(true) && claim.margin.is_none_or(|margin| margin.is_zero()),
                "{text}"
            );
            priced +=
                u32::from(matches!(claim.evidence, Evidence::Filling { prices, .. } if !prices.is_empty()));
            let mut less = Allocation { mechanism: None, ..found };
            for x in less.tasks.iter_mut().flatten() {
                x.1 *= Rational::from((rng.random_range(2..=4), 4));
            }
            let (_, of_less) = judged(&problem, &less);
            for text in [text, of_less] {
                for _ in 0..8 {
                    let mut document: serde_json::Value = serde_json::from_str(&text).unwrap();
                    damage(&mut document["claims"][0], &mut rng);
                    let (finding, is_read) = agreed_by_all(&document.to_string());
                    read += u32::from(is_read);
                    refused += u32::from(matches!(finding, Finding::Refused(_)));
                }
            }
        }
    }
    assert!(refused > 200 && read > 200 && priced > 10, "{refused} {read} {priced}");
}

//! Tests of work conservation if groups keep capacity back by limits, by amounts that they do not lend, or by weights
//! of 0. False statements about them are refused.

use crate::common;

use evenhand_exact::{Axiom, Claim, Evidence, Stop};
use evenhand_mechanisms::registry;
use evenhand_problem::format::problem_to_json;
use evenhand_problem::{Allocation, Arithmetic, Problem, Rational};
use evenhand_testkit::agreement::{Finding, agreed_by_all, agreed_text};
use evenhand_testkit::damage::damage;
use evenhand_testkit::random::trees::{self, Shape};
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

const SHAPES: [Shape; 2] =
    [Shape { groups: 7, users: 9, classes: 1 }, Shape { groups: 5, users: 7, classes: 3 }];

fn judged(problem: &Problem, allocation: &Allocation) -> (Claim, String) {
    common::judged(problem, allocation, Axiom::WorkConserving, &Rational::new())
}

fn claim_on_texts(problem: &str, tasks: &str) -> (Claim, String) {
    common::of_texts(problem, tasks, Axiom::WorkConserving)
}

/// Returns a problem with one class of 10 GPUs and the additional fields `fields`.
fn pool(fields: &str) -> String {
    format!(
        r#"{{"kind": "allocation-problem", "resources": ["gpu"],
            "servers": [{{"name": "pool", "capacity": {{"gpu": 10}}}}], {fields}}}"#
    )
}

#[test]
fn a_limit_stops_only_users_of_its_group() {
    let problem = pool(
        r#""groups": [{"name": "a", "limit": {"gpu": 4}}, {"name": "b"}],
           "users": [{"name": "in a", "group": "a", "demand": {"gpu": 1}},
                     {"name": "in b", "group": "b", "demand": {"gpu": 2}, "tasks": 2}]"#,
    );
    let (claim, text) = claim_on_texts(&problem, r#"{"in a": {"pool": 4}, "in b": {"pool": 2}}"#);
    assert_eq!((claim.holds, claim.margin), (Some(true), Some(Rational::new())));
    let stopped = vec![(0, Stop::Limit { group: 0, resource: 0 })];
    assert_eq!(claim.evidence, Evidence::ShortOrStopped { short: Vec::new(), stopped });
    // The reason why a user is stopped is information for people. The checkers judge again whether anything stops it.
    for (from, to, is_read) in [
        (r#"{"group":"a","limit":"gpu"}"#, r#"{"kept_back":"gpu"}"#, false),
        (r#","stopped":{"in a":{"group":"a","limit":"gpu"}}"#, "", false),
        (r#""limit":{"gpu":"4"}"#, r#""limit":{"gpu":"5"}"#, true),
        (r#""margin":"0""#, r#""margin":"-1/10""#, true),
    ] {
        let damaged = text.replace(from, to);
        assert_ne!(damaged, text, "{from} is not there\n{text}");
        let found = agreed_text(&damaged);
        assert_eq!(matches!(found, Finding::Refused(_)), is_read, "{from}: {found:?}");
    }
    // The limit leaves one GPU, which is one task of 10, and `in b` has all its tasks.
    let (claim, _) = claim_on_texts(&problem, r#"{"in a": {"pool": 3}, "in b": {"pool": 2}}"#);
    assert_eq!((claim.holds, claim.margin), (Some(false), Some(Rational::from((-1, 10)))));
    // `in b` lacks half of its tasks, whatever `a` uses.
    let (claim, _) = claim_on_texts(&problem, r#"{"in a": {"pool": 4}, "in b": {"pool": 1}}"#);
    assert_eq!((claim.holds, claim.margin), (Some(false), Some(Rational::from((-1, 2)))));
}

#[test]
fn capacity_kept_back_is_not_wasted() {
    let problem = pool(
        r#""groups": [{"name": "a", "guarantee": {"gpu": 6}, "lend": {"gpu": 1}},
                      {"name": "b", "parent": "a"}, {"name": "c"}],
           "users": [{"name": "in b", "group": "b", "demand": {"gpu": 1}, "tasks": 2},
                     {"name": "in c", "group": "c", "demand": {"gpu": 1}},
                     {"name": "alone", "demand": {"gpu": 1}, "tasks": 1}]"#,
    );
    // 5 of the 6 are kept back, and 2 of these 5 are used. The others may have at most 4 and 1.
    let (claim, _) =
        claim_on_texts(&problem, r#"{"in b": {"pool": 2}, "in c": {"pool": 4}, "alone": {"pool": 1}}"#);
    let stopped = vec![(1, Stop::KeptBack { resource: 0 })];
    assert_eq!(claim.holds, Some(true));
    assert_eq!(claim.evidence, Evidence::ShortOrStopped { short: Vec::new(), stopped });
    // The group that keeps capacity back may use it.
    let (claim, _) =
        claim_on_texts(&problem, r#"{"in b": {"pool": 1}, "in c": {"pool": 4}, "alone": {"pool": 1}}"#);
    assert_eq!((claim.holds, claim.margin), (Some(false), Some(Rational::from((-1, 2)))));
}

#[test]
fn a_group_of_weight_0_gets_only_its_guarantee() {
    let problem = pool(
        r#""groups": [{"name": "a", "weight": 0, "guarantee": {"gpu": 3}}, {"name": "b", "weight": 0}],
           "share": {"zero-weight": "never"},
           "users": [{"name": "in a", "group": "a", "demand": {"gpu": 1}},
                     {"name": "in b", "group": "b", "demand": {"gpu": 1}}]"#,
    );
    let (claim, _) = claim_on_texts(&problem, r#"{"in a": {"pool": 3}}"#);
    let stopped = vec![(0, Stop::Guarantee { group: 0, resource: 0 }), (1, Stop::Weight { group: 1 })];
    assert_eq!(claim.holds, Some(true));
    assert_eq!(claim.evidence, Evidence::ShortOrStopped { short: Vec::new(), stopped });
    let last = problem.replace("never", "last");
    let (claim, _) = claim_on_texts(&last, r#"{"in a": {"pool": 3}}"#);
    assert_eq!((claim.holds, claim.margin), (Some(false), Some(Rational::from((-7, 10)))));
}

#[test]
fn work_conservation_does_not_apply_to_time_sharing() {
    let problem = pool(
        r#""groups": [{"name": "a", "limit": {"gpu": 4}}],
           "users": [{"name": "in a", "group": "a", "demand": {"gpu": 1}, "gamma": {"pool": 3}}]"#,
    );
    assert_eq!(claim_on_texts(&problem, "{}").0.holds, None);
    let free = problem.replace(r#", "limit": {"gpu": 4}"#, "");
    assert_eq!(claim_on_texts(&free, "{}").0.holds, Some(false));
}

/// Groups count the base demand of 1, while the pool of ten counts the demand of 2 on its class.
#[test]
fn groups_count_base_demands_and_classes_their_own_demands() {
    let margin = |group: &str, tasks: u32| {
        let problem = pool(&format!(
            r#""groups": [{{"name": "a"{group}}}, {{"name": "b", "guarantee": {{"gpu": 7}}}}],
               "users": [{{"name": "x", "group": "a", "demand": {{"gpu": 1}}, "demand_on": {{"pool": {{"gpu": 2}}}}}}]"#
        ));
        let (claim, _) = claim_on_texts(&problem, &format!(r#"{{"x": {{"pool": {tasks}}}}}"#));
        (claim.holds.unwrap(), claim.margin.unwrap() * 5)
    };
    let of = |holds: bool, tasks: i32| (holds, Rational::from(tasks));
    // `x` alone would have five tasks. With two more tasks `a` would use four GPUs by base demands. Three more tasks
    // would fit into the pool.
    assert_eq!(margin(r#", "limit": {"gpu": 4}"#, 2), of(false, -2));
    assert_eq!(margin(r#", "limit": {"gpu": 2}"#, 2), of(true, 0));
    // `a` may use eight GPUs of the pool, which allows two more tasks.
    assert_eq!(margin(r#", "on": {"pool": {"limit": {"gpu": 8}}}"#, 2), of(false, -2));
    assert_eq!(margin(r#", "on": {"pool": {"limit": {"gpu": 4}}}"#, 2), of(true, 0));
    // `b` keeps back seven of the ten, so `a` may use three.
    let keeps = |tasks| {
        let problem = pool(
            r#""groups": [{"name": "a"}, {"name": "b", "guarantee": {"gpu": 7}, "lend": {"gpu": 0}}],
               "users": [{"name": "x", "group": "a", "demand": {"gpu": 1}, "demand_on": {"pool": {"gpu": 2}}}]"#,
        );
        let (claim, _) = claim_on_texts(&problem, &format!(r#"{{"x": {{"pool": {tasks}}}}}"#));
        (claim.holds.unwrap(), claim.margin.unwrap() * 5)
    };
    assert_eq!((keeps(2), keeps(3)), (of(false, -1), of(true, 0)));
}

/// `tree` leaves no capacity idle except capacity that groups keep back, and `fill` leaves no server on which a task
/// fits.
#[test]
fn fillings_are_work_conserving() {
    let mut rng = Pcg64::seed_from_u64(11);
    let mut stopped = 0;
    for shape in SHAPES {
        for at in 0..200 {
            let of = if at % 2 == 0 { trees::problem } else { trees::by_class };
            let problem = of(&mut rng, shape);
            for name in ["tree", "fill"] {
                let found = registry::find(name).unwrap().allocate(&problem, Arithmetic::Exact).unwrap();
                let (claim, _) = judged(&problem, &found.allocation);
                assert_eq!(claim.holds, Some(true), "{name} {:?}\n{}", claim, problem_to_json(&problem));
                stopped += u32::from(matches!(claim.evidence, Evidence::ShortOrStopped { .. }));
            }
        }
    }
    assert!(stopped > 100, "{stopped}");
}

/// All three judges agree on allocations with fewer tasks and on modified certificates of them.
#[test]
fn judges_agree_on_damaged_certificates() {
    let mut rng = Pcg64::seed_from_u64(12);
    let (mut refused, mut read) = (0, 0);
    for shape in SHAPES {
        for at in 0..80 {
            let of = if at % 2 == 0 { trees::problem } else { trees::by_class };
            let problem = of(&mut rng, shape);
            let name = ["tree", "fill"][rng.random_range(0..2)];
            let found = registry::find(name).unwrap().allocate(&problem, Arithmetic::Exact).unwrap();
            let mut allocation = Allocation { mechanism: None, ..found.allocation };
            if allocation.placements.is_none() && rng.random() {
                for x in allocation.tasks.iter_mut().flatten() {
                    x.1 *= Rational::from((rng.random_range(2..=4), 4));
                }
            }
            let (_, text) = judged(&problem, &allocation);
            for _ in 0..12 {
                let mut document: serde_json::Value = serde_json::from_str(&text).unwrap();
                let claim = &mut document["claims"][0];
                damage(claim, &mut rng);
                let (finding, is_read) = agreed_by_all(&document.to_string());
                read += u32::from(is_read);
                refused += u32::from(matches!(finding, Finding::Refused(_)));
            }
        }
    }
    assert!(refused > 200 && read > 200, "{refused} {read}");
}

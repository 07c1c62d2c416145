//! Tests of allocations of problems with groups. The filling by `tree` respects limits and guarantees, and both
//! checkers agree on all other certified allocations.

use std::collections::BTreeMap;

use evenhand_certify::{Request, certify, default_requests};
use evenhand_exact::{Axiom, Evidence, Stop};
use evenhand_mechanisms::{registry, tree};
use evenhand_problem::format::{Source, problem_to_json};
use evenhand_problem::{Allocation, Arithmetic, Problem, Rational};
use evenhand_testkit::agreement::{Finding, agreed_text};
use evenhand_testkit::plain;
use evenhand_testkit::random::trees::{self, Shape};
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

const SHAPES: [Shape; 2] =
    [Shape { groups: 7, users: 9, classes: 1 }, Shape { groups: 5, users: 7, classes: 4 }];

fn filled(problem: &Problem) -> Allocation {
    registry::find("tree").unwrap().allocate(problem, Arithmetic::Exact).unwrap().allocation
}

/// Returns the verdicts and margins of the axioms, after both checkers have accepted the certificate.
fn judged(problem: &Problem, allocation: &Allocation, requests: &[Request]) -> Vec<(Axiom, bool, Rational)> {
    let tolerance = Rational::new();
    let examination = certify(problem, allocation, requests, &tolerance).unwrap();
    let text = examination.certificate.to_json();
    assert_eq!(agreed_text(&text), Finding::Accepted, "{text}");
    assert_eq!(plain::fault(&examination.certificate), None, "{text}");
    let claims = examination.certificate.claims.into_iter();
    claims.filter_map(|claim| Some((claim.axiom, claim.holds?, claim.margin?))).collect()
}

#[test]
fn fillings_respect_every_limit() {
    let mut rng = Pcg64::seed_from_u64(5);
    for shape in SHAPES {
        for at in 0..120 {
            let of = if at % 2 == 0 { trees::problem } else { trees::by_class };
            let problem = of(&mut rng, shape);
            let allocation = filled(&problem);
            let verdicts = judged(&problem, &allocation, &default_requests(&problem, &allocation));
            // The amounts that groups keep back may alone exceed the limit of a group above them. Then no
            // allocation respects that limit.
            let cannot = problem.groups().list().iter().any(|group| !group.lend.is_empty());
            for (axiom, holds, margin) in verdicts {
                let may_fail = axiom == Axiom::Guarantees || (axiom == Axiom::Limits && cannot);
                assert!(holds || may_fail, "{axiom:?} {margin}\n{}", problem_to_json(&problem));
            }
        }
    }
}

/// All guarantees are met if they fit, name every resource and come first, and if there is only one pool.
#[test]
fn feasible_guarantees_are_met() {
    let mut rng = Pcg64::seed_from_u64(6);
    let mut kept = 0;
    for _ in 0..400 {
        let mut document = trees::json(&mut rng, SHAPES[0]);
        let resources: Vec<String> = serde_json::from_value(document["resources"].clone()).unwrap();
        for group in document["groups"].as_array_mut().unwrap() {
            let group = group.as_object_mut().unwrap();
            if group.contains_key("guarantee") {
                for r in &resources {
                    group["guarantee"].as_object_mut().unwrap().entry(r.clone()).or_insert(1.into());
                }
            }
            group.remove("limit");
        }
        if let Some(share) = document.get_mut("share") {
            share.as_object_mut().unwrap().remove("guarantees");
        }
        let text = document.to_string();
        let problem = Source { name: "tree", text: &text }.problem().unwrap();
        if problem.warnings().iter().any(|warning| warning.to_string().contains("guarantees")) {
            continue;
        }
        let allocation = filled(&problem);
        let verdicts = judged(&problem, &allocation, &[Request::of(Axiom::Guarantees)]);
        assert!(verdicts.iter().all(|(_, holds, _)| *holds), "{verdicts:?}\n{}", problem_to_json(&problem));
        kept += verdicts.len();
    }
    assert!(kept > 50, "{kept}");
}

#[test]
fn checkers_agree_on_other_allocations() {
    let mut rng = Pcg64::seed_from_u64(7);
    let requests = [Axiom::Limits, Axiom::Guarantees, Axiom::Feasible].map(Request::of);
    let mut found = [0; 4];
    for shape in SHAPES {
        for at in 0..200 {
            let of = if at % 2 == 0 { trees::problem } else { trees::by_class };
            let problem = of(&mut rng, shape);
            let mut allocation = filled(&problem);
            allocation.mechanism = None;
            for x in allocation.tasks.iter_mut().flatten() {
                x.1 *= Rational::from((rng.random_range(0..=5), 4));
            }
            for (axiom, holds, _) in judged(&problem, &allocation, &requests) {
                match (axiom, holds) {
                    (Axiom::Limits, _) => found[usize::from(holds)] += 1,
                    (Axiom::Guarantees, _) => found[2 + usize::from(holds)] += 1,
                    _ => {}
                }
            }
        }
    }
    assert!(found.iter().all(|count| *count > 5), "{found:?}");
}

/// With limits on server classes, the filling respects them, and both checkers agree on other allocations.
#[test]
fn fillings_respect_limits_on_server_classes() {
    let mut rng = Pcg64::seed_from_u64(8);
    let requests =
        [Axiom::Limits, Axiom::Guarantees, Axiom::Feasible, Axiom::WorkConserving].map(Request::of);
    let (mut found, mut named) = ([0; 4], 0);
    for seed in 0..200 {
        let mut document = trees::json(&mut rng, SHAPES[usize::from(seed % 4 > 0)]);
        for group in document["groups"].as_array_mut().unwrap() {
            group.as_object_mut().unwrap().remove("lend");
        }
        trees::limit_classes(&mut rng, &mut document);
        if seed % 2 == 0 {
            trees::demands_by_class(&mut rng, &mut document);
        }
        let text = document.to_string();
        let problem = Source { name: "tree", text: &text }.problem().unwrap();
        let mut allocation = filled(&problem);
        for (axiom, holds, margin) in judged(&problem, &allocation, &requests) {
            assert!(holds || axiom == Axiom::Guarantees, "{axiom:?} {margin} {document}");
        }
        allocation.mechanism = None;
        for x in allocation.tasks.iter_mut().flatten() {
            x.1 *= Rational::from((rng.random_range(0..=5), 4));
        }
        let examination = certify(&problem, &allocation, &requests, &Rational::new()).unwrap();
        for claim in &examination.certificate.claims {
            named += u32::from(matches!(&claim.evidence, Evidence::GroupLimit { on, .. } if !on.is_empty()));
        }
        for (axiom, holds, _) in judged(&problem, &allocation, &requests) {
            match axiom {
                Axiom::Limits => found[usize::from(holds)] += 1,
                Axiom::Guarantees => found[2 + usize::from(holds)] += 1,
                _ => {}
            }
        }
    }
    assert!(named > 30 && found.iter().all(|count| *count > 5), "{named} {found:?}");
}

/// `a` uses five GPUs more of a class than its limit of three. Certificates that state other numbers are refused.
#[test]
fn a_limit_on_server_classes_is_named_by_them() {
    let text = r#"{"kind": "allocation-problem", "resources": ["gpu"],
        "servers": [{"name": "new", "capacity": {"gpu": 10}}, {"name": "old", "capacity": {"gpu": 10}}],
        "groups": [{"name": "a", "guarantee": {"gpu": 12}, "on": {"new": {"limit": {"gpu": 3}}}}],
        "users": [{"name": "x", "group": "a", "demand": {"gpu": 1}}]}"#;
    let problem = Source { name: "two", text }.problem().unwrap();
    let examine = |new: u32, old: u32| {
        let text = format!(
            r#"{{"kind": "allocation", "arithmetic": "exact", "tasks": {{"x": {{"new": {new}, "old": {old}}}}}}}"#
        );
        let allocation = Source { name: "x", text: &text }.allocation(&problem).unwrap().allocation;
        let requests = [Axiom::Limits, Axiom::Guarantees].map(Request::of);
        certify(&problem, &allocation, &requests, &Rational::new()).unwrap().certificate
    };
    let over = examine(8, 0);
    let expected = Evidence::GroupLimit {
        group: Some(0),
        resource: 0,
        on: vec![0],
        slack: Rational::from(-5),
        promised: None,
    };
    assert_eq!((&over.claims[0].evidence, over.claims[0].holds), (&expected, Some(false)));
    assert_eq!(over.claims[0].margin, Some(Rational::from((-1, 4))));
    // Group `a` lacks four tasks of its guarantee, and old GPUs have no limit.
    assert_eq!(over.claims[1].margin, Some(Rational::from((-4, 20))));
    // The name of the limit is information for people. Only the margin is judged.
    for (said, instead, is_read) in [
        (r#""on":["new"]"#, r#""on":["old"]"#, false),
        (r#","on":["new"]"#, "", false),
        (r#""slack":"-5""#, r#""slack":"-4""#, false),
        (r#""margin":"-1/4""#, r#""margin":"-1/5""#, true),
    ] {
        let text = over.to_json();
        assert!(text.contains(said), "{text}");
        let damaged = agreed_text(&text.replace(said, instead));
        assert_eq!(matches!(damaged, Finding::Refused(_)), is_read, "{said}: {damaged:?}");
    }
    // With three new and nine old GPUs, both the limit and the guarantee are reached.
    let kept = examine(3, 9);
    assert_eq!(kept.claims[0].margin, Some(Rational::new()));
    assert_eq!(kept.claims[1].margin, Some(Rational::new()));
}

/// Limits on server classes stop users class by class, both for divisible tasks and on single servers.
#[test]
fn users_stopped_by_class_limits_do_not_lack_tasks() {
    let mut rng = Pcg64::seed_from_u64(9);
    let requests = [Request::of(Axiom::WorkConserving)];
    let (mut found, mut by_class) = ([[0; 2]; 2], [0; 2]);
    for _ in 0..150 {
        let mut document = trees::json(&mut rng, SHAPES[1]);
        for class in document["servers"].as_array_mut().unwrap() {
            class["count"] = rng.random_range(1..=3).into();
        }
        trees::limit_classes(&mut rng, &mut document);
        let text = document.to_string();
        let problem = Source { name: "tree", text: &text }.problem().unwrap();
        let whole = tree::fill_whole(&problem, "fill", tree::Whole::default()).unwrap();
        for (placed, mut allocation) in [(0, filled(&problem)), (1, whole)] {
            for less in [false, true] {
                if less {
                    allocation.mechanism = None;
                    for (_, x) in allocation.placements.iter_mut().flatten().flat_map(|of| &mut of.tasks) {
                        *x = if rng.random_bool(0.2) { Rational::new() } else { x.clone() };
                    }
                    if placed == 1 {
                        allocation.tasks = sums(&problem, &allocation);
                    } else {
                        for x in allocation.tasks.iter_mut().flatten() {
                            x.1 *= Rational::from((rng.random_range(2..=4), 4));
                        }
                    }
                }
                let examination = certify(&problem, &allocation, &requests, &Rational::new()).unwrap();
                let evidence = &examination.certificate.claims[0].evidence;
                if let Evidence::ShortOrStopped { stopped, .. } = evidence {
                    let is_by_class = |(_, stop): &&(usize, Stop)| matches!(stop, Stop::Classes { .. });
                    by_class[placed] += stopped.iter().filter(is_by_class).count();
                }
                for (_, holds, margin) in judged(&problem, &allocation, &requests) {
                    assert!(holds || less, "{margin} {document}");
                    found[placed][usize::from(holds)] += 1;
                }
            }
        }
    }
    assert!(by_class.iter().all(|count| *count > 20), "{by_class:?}");
    assert!(found.iter().flatten().all(|count| *count > 10), "{found:?}");
}

/// Returns the tasks of each user on each class, summed from the placements.
fn sums(problem: &Problem, allocation: &Allocation) -> Vec<Vec<(usize, Rational)>> {
    let mut sums = vec![BTreeMap::new(); problem.n_users()];
    for placement in allocation.placements.iter().flatten() {
        for (n, x) in &placement.tasks {
            *sums[*n].entry(placement.server).or_insert_with(Rational::new) += x;
        }
    }
    sums.into_iter().map(|of| of.into_iter().collect()).collect()
}

#[test]
fn reports_by_class_what_stops_a_user() {
    let text = r#"{"kind": "allocation-problem", "resources": ["gpu"],
        "servers": [{"name": "new", "capacity": {"gpu": 10}}, {"name": "old", "capacity": {"gpu": 10}}],
        "groups": [{"name": "a", "on": {"new": {"limit": {"gpu": 3}}, "old,new": {"limit": {"gpu": 12}}}}],
        "users": [{"name": "x", "group": "a", "demand": {"gpu": 1}},
                  {"name": "y", "demand": {"gpu": 1}, "servers": ["old"]}]}"#;
    let problem = Source { name: "two", text }.problem().unwrap();
    let examine = |new: u32, old: u32, others: u32| {
        let text = format!(
            r#"{{"kind": "allocation", "arithmetic": "exact",
                "tasks": {{"x": {{"new": {new}, "old": {old}}}, "y": {{"old": {others}}}}}}}"#
        );
        let allocation = Source { name: "x", text: &text }.allocation(&problem).unwrap().allocation;
        let requests = [Request::of(Axiom::WorkConserving)];
        judged(&problem, &allocation, &requests);
        certify(&problem, &allocation, &requests, &Rational::new()).unwrap().certificate
    };
    let kept = examine(3, 4, 6);
    assert_eq!(kept.claims[0].margin, Some(Rational::new()));
    let text = kept.to_json();
    let said = r#""x":{"short":{"old":"gpu"},"limits":{"new":{"group":"a","on":["new"],"limit":"gpu"}}}"#;
    assert!(text.contains(said), "{text}");
    // The limit allows two more tasks on new servers, and one old GPU is free.
    let idle = examine(1, 3, 6);
    assert_eq!(idle.claims[0].margin, Some(Rational::from((-3, 20))));
    assert_eq!(idle.claims[0].holds, Some(false));
    // The limit on both classes also closes the old servers.
    let closed = examine(3, 9, 1);
    assert_eq!(closed.claims[0].holds, Some(true));
}

#[test]
fn a_lack_is_counted_in_tasks() {
    let text = r#"{"kind": "allocation-problem", "resources": ["gpu"],
        "servers": [{"name": "pool", "capacity": {"gpu": 10}}],
        "groups": [{"name": "a", "guarantee": {"gpu": 6}, "limit": {"gpu": 8}}, {"name": "b", "limit": {"gpu": 5}}],
        "users": [{"name": "in a", "group": "a", "demand": {"gpu": 2}},
                  {"name": "in b", "group": "b", "demand": {"gpu": 1}}]}"#;
    let problem = Source { name: "two", text }.problem().unwrap();
    let text = r#"{"kind": "allocation", "arithmetic": "exact", "tasks": {"in a": {"pool": 2}, "in b": {"pool": 6}}}"#;
    let allocation = Source { name: "x", text }.allocation(&problem).unwrap().allocation;
    let verdicts = judged(&problem, &allocation, &[Axiom::Limits, Axiom::Guarantees].map(Request::of));
    // `b` uses 6 although its limit is 5, which is a tenth of the cluster too much. `in a` lacks one task of the 5 that
    // it could run.
    let expected = [
        (Axiom::Limits, false, Rational::from((-1, 10))),
        (Axiom::Guarantees, false, Rational::from((-1, 5))),
    ];
    assert_eq!(verdicts, expected);
}

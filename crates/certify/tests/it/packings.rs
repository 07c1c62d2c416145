//! Tests of the axiom `max-min-packings`: every checker judges schedules and prices, and false statements about them
//! are refused.

use crate::common;

use evenhand_certify::{Request, certify};
use evenhand_exact::{Axiom, Claim, Parameters, Share};
use evenhand_mechanisms::registry;
use evenhand_problem::format::problem_to_json;
use evenhand_problem::{Arithmetic, Problem, Rational};
use evenhand_testkit::agreement::{Finding, agreed_by_all, agreed_text};
use evenhand_testkit::damage::damage;
use evenhand_testkit::random;
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use serde_json::Value;

const TURNS: &str = r#"{"kind": "allocation-problem", "resources": ["cpu"],
    "servers": [{"name": "s", "count": 2, "capacity": {"cpu": 3}}],
    "users": [{"name": "a", "demand": {"cpu": 2}}, {"name": "b", "demand": {"cpu": 2}}]}"#;

#[test]
fn margins_are_distances_from_the_ceiling() {
    let of = |tasks: &str| -> (Claim, String) { common::of_texts(TURNS, tasks, Axiom::MaxMinPackings) };
    let (claim, text) = of(r#"{"a": {"s": 1}, "b": {"s": 1}}"#);
    assert_eq!((claim.holds, claim.margin), (Some(true), Some(Rational::new())));
    for (from, to) in [
        (r#""part":"1/2""#, r#""part":"3/4""#),
        (r#""part":"1/2""#, r#""part":"-1/2""#),
        (r#""class_prices":{"s":"1/3"}"#, r#""class_prices":{"s":"1/4"}"#),
        (r#""class_prices":{"s":"1/3"}"#, r#""class_prices":{"s":"1/2"}"#),
        (r#""covers":["a","b"]"#, r#""covers":["a"]"#),
        (r#""margin":"0""#, r#""margin":"-1/3""#),
        (r#""tasks":{"a":1}"#, r#""tasks":{"a":2}"#),
    ] {
        let damaged = text.replace(from, to);
        assert_ne!(damaged, text, "{from} is not there\n{text}");
        assert!(matches!(agreed_text(&damaged), Finding::Refused(_)), "{damaged}");
    }
    // Each user would have 3 tasks alone. One and a half tasks of the other user are half a task too many.
    let (claim, _) = of(r#"{"a": {"s": "3/2"}, "b": {"s": 1}}"#);
    assert_eq!((claim.holds, claim.margin), (Some(false), Some(Rational::from((-1, 6)))));
}

fn answered(problem: &Problem, share: Share) -> Option<String> {
    let mechanism = registry::find("packings").unwrap();
    let allocation = mechanism.allocate(problem, Arithmetic::Exact).ok()?.allocation;
    let request = Request { axiom: Axiom::MaxMinPackings, parameters: Parameters::from(Some(share)) };
    let examination = certify(problem, &allocation, &[request], &Rational::new()).unwrap();
    assert!(examination.undecided.is_empty(), "{:?}\n{}", examination.undecided, problem_to_json(problem));
    let claim = &examination.certificate.claims[0];
    if share == Share::Dominant {
        assert_eq!(claim.holds, Some(true), "{}", problem_to_json(problem));
    }
    Some(examination.certificate.to_json())
}

#[test]
fn answers_satisfy_their_axioms() {
    for seed in 0..300 {
        let problem = random::packings::problem(&mut Pcg64::seed_from_u64(seed));
        for share in [Share::Dominant, Share::TaskShare] {
            let Some(text) = answered(&problem, share) else { continue };
            assert_eq!(agreed_by_all(&text), (Finding::Accepted, true), "seed {seed}\n{text}");
        }
    }
}

/// Compares the kernel and the plain judge on certificates with one to three damages. The environment variable
/// `EVENHAND_DAMAGED` sets the number of certificates (2,000 by default).
#[test]
fn judges_agree_on_damaged_certificates() {
    let count: usize = std::env::var("EVENHAND_DAMAGED").ok().and_then(|n| n.parse().ok()).unwrap_or(2_000);
    let mut rng = Pcg64::seed_from_u64(60);
    let (mut read, mut refused) = (0, 0);
    while read < count {
        let problem = random::packings::problem(&mut rng);
        let share = if rng.random_bool(0.5) { Share::Dominant } else { Share::TaskShare };
        let Some(text) = answered(&problem, share) else { continue };
        let good: Value = serde_json::from_str(&text).unwrap();
        for _ in 0..20 {
            let mut document = good.clone();
            for _ in 0..rng.random_range(1..4) {
                // Most damages hit the claim, which contains the evidence.
                let is_of_claim = rng.random_bool(0.8);
                match document.pointer_mut("/claims/0") {
                    Some(claim) if is_of_claim => damage(claim, &mut rng),
                    _ => damage(&mut document, &mut rng),
                };
            }
            if document == good {
                continue;
            }
            let damaged = document.to_string();
            let (finding, _) = agreed_by_all(&damaged);
            match finding {
                Finding::Refused(_) => (read, refused) = (read + 1, refused + 1),
                Finding::Accepted => read += 1,
                _ => {}
            }
        }
    }
    assert!(refused * 2 > read, "{refused} of {read} were refused");
}

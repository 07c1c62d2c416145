//! Tests of the axioms `optimal-envy-free` and `optimal-equal`: margins against the plain simplex method, and damaged
//! certificates on which all checkers agree.

use crate::common;

use evenhand_certify::{Request, certify, default_requests};
use evenhand_exact::{Axiom, Outcome};
use evenhand_mechanisms::{Flags, registry};
use evenhand_problem::format::problem_to_json;
use evenhand_problem::{Allocation, Arithmetic, Problem, Rational, Sharing};
use evenhand_testkit::agreement::{Finding, agreed_by_all, agreed_text};
use evenhand_testkit::damage::damage;
use evenhand_testkit::plain::optimal::optimum;
use evenhand_testkit::random::rates::{self, Shape};
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use serde_json::Value;

const AXIOMS: [Axiom; 2] = [Axiom::OptimalEnvyFree, Axiom::OptimalEqual];

/// Two users with speed-ups on one accelerator of each of two types.
const SPEED_UPS: &str = r#"{"kind": "allocation-problem", "resources": ["gpu"],
    "servers": [{"name": "slow", "capacity": {"gpu": 1}}, {"name": "fast", "capacity": {"gpu": 1}}],
    "users": [{"name": "a", "demand": {"gpu": 1}, "rates": {"slow": 1, "fast": 2}},
              {"name": "b", "demand": {"gpu": 1}, "rates": {"slow": 1, "fast": 5}}]}"#;

fn solved(problem: &Problem, variant: &str) -> Allocation {
    let flags = Flags::new(Arithmetic::Exact).with("variant", variant);
    registry::find("oef").unwrap().allocate_with(problem, &flags).unwrap().allocation
}

/// Returns a random problem. Users have unlimited tasks and no limits of accelerators if `is_linear` is true.
fn problem(is_linear: bool, rng: &mut Pcg64) -> Problem {
    rates::problem(Shape { users: 4, at_most: !is_linear, finite: !is_linear, ..rates::SMALL }, rng)
}

#[test]
fn margins_are_differences_of_sums() {
    let of = |tasks: &str, axiom: Axiom| common::of_texts(SPEED_UPS, tasks, axiom);
    let best = r#"{"a": {"slow": 1, "fast": "1/2"}, "b": {"fast": "15/4"}}"#;
    let (claim, text) = of(best, Axiom::OptimalEnvyFree);
    assert_eq!((claim.holds, claim.margin), (Some(true), Some(Rational::new())));
    for (from, to) in [
        (r#""envy_prices":{"a":{"b":"3/4"}}"#, r#""envy_prices":{"a":{"b":"1/2"}}"#),
        (r#""envy_prices":{"a":{"b":"3/4"}}"#, r#""envy_prices":{"a":{"b":"-3/4"}}"#),
        (r#""envy_prices":{"a":{"b":"3/4"}}"#, r#""envy_prices":{"b":{"a":"3/4"}}"#),
        (r#""slow":{"gpu":"7/4"}"#, r#""slow":{"gpu":"3/2"}"#),
        (r#""slow":{"gpu":"7/4"}"#, r#""slow":{"gpu":2}"#),
        (r#""margin":"0""#, r#""margin":"1/10""#),
    ] {
        let damaged = text.replace(from, to);
        assert_ne!(damaged, text, "{from} is not there\n{text}");
        assert!(matches!(agreed_text(&damaged), Finding::Refused(_)), "{damaged}");
    }
    // Alone, the users would have 3 and 6 tasks. The envy-free optimum has 21/4 tasks, the equal optimum 30/7.
    let (claim, _) = of(r#"{"a": {"slow": 1}, "b": {"fast": 1}}"#, Axiom::OptimalEnvyFree);
    assert_eq!((claim.holds, claim.margin), (Some(false), Some(Rational::from((-13, 36)))));
    let (claim, text) = of(r#"{"a": {"slow": 1}, "b": {"fast": 1}}"#, Axiom::OptimalEqual);
    assert_eq!((claim.holds, claim.margin), (Some(false), Some(Rational::from((-16, 63)))));
    // A better allocation has to satisfy the condition.
    let unequal = text.replace(r#""fast":"15/7""#, r#""fast":"16/7""#);
    assert_ne!(unequal, text);
    assert!(matches!(agreed_text(&unequal), Finding::Refused(_)), "{unequal}");
    // An allocation with envy can have more tasks than every envy-free allocation.
    let (claim, _) = of(r#"{"a": {"slow": 1}, "b": {"fast": 5}}"#, Axiom::OptimalEnvyFree);
    assert_eq!((claim.holds, claim.margin), (Some(true), Some(Rational::from((1, 12)))));
}

/// The mechanism's own axiom is examined by default, and holds exactly.
#[test]
fn answers_of_oef_are_optimal() {
    for seed in 0..2_000 {
        let mut rng = Pcg64::seed_from_u64(seed);
        for (axiom, variant) in AXIOMS.into_iter().zip(["envy-free", "equal"]) {
            let problem = problem(axiom == Axiom::OptimalEnvyFree, &mut rng);
            let allocation = solved(&problem, variant);
            let own = default_requests(&problem, &allocation).pop().unwrap();
            assert_eq!(own, Request::of(axiom));
            let examination = certify(&problem, &allocation, &[own], &Rational::new()).unwrap();
            let claim = &examination.certificate.claims[0];
            assert_eq!(claim.outcome(), Outcome::Holds, "{seed} {}", problem_to_json(&problem));
            let is_active = (0..problem.n_users()).any(|n| problem.is_active(n));
            assert_eq!(claim.margin, is_active.then(Rational::new), "{seed}");
        }
    }
}

/// Margins of random allocations are differences to the optimum of the plain simplex method.
#[test]
fn margins_agree_with_the_plain_optimum() {
    for seed in 0..2_000 {
        let mut rng = Pcg64::seed_from_u64(7_000_000 + seed);
        let axiom = AXIOMS[(seed % 2) as usize];
        let problem = problem(axiom == Axiom::OptimalEnvyFree, &mut rng);
        let factor = Rational::from((rng.random_range(0..9), 8));
        let name = ["utilitarian", "drfh", "proportional"][rng.random_range(0..3)];
        let mechanism = registry::find(name).unwrap();
        let Ok(outcome) = mechanism.allocate(&problem, Arithmetic::Exact) else { continue };
        let mut allocation = Allocation { tasks: outcome.allocation.tasks, ..Allocation::default() };
        allocation.tasks.iter_mut().flatten().for_each(|(_, x)| *x *= &factor);
        let (claim, _) = common::judged(&problem, &allocation, axiom, &Rational::new());
        let Some(margin) = claim.margin else { continue };
        let alone =
            evenhand_testkit::plain::Cluster::new(&problem, Sharing::Rdm).g.into_iter().sum::<Rational>();
        let has: Rational = allocation.totals().iter().sum();
        let most = optimum(&problem, axiom).unwrap();
        assert_eq!(margin * alone, has - most, "{seed} {}", problem_to_json(&problem));
    }
}

/// Compares the kernel and the plain judge on certificates with one to three damages. The environment variable
/// `EVENHAND_DAMAGED` sets the number of certificates (5,000 by default).
#[test]
fn judges_agree_on_damaged_certificates() {
    let count: usize = std::env::var("EVENHAND_DAMAGED").ok().and_then(|n| n.parse().ok()).unwrap_or(5_000);
    let mut rng = Pcg64::seed_from_u64(61);
    let (mut read, mut refused) = (0, 0);
    while read < count {
        let axiom = AXIOMS[rng.random_range(0..2)];
        let problem = problem(axiom == Axiom::OptimalEnvyFree, &mut rng);
        let mut allocation =
            solved(&problem, if axiom == Axiom::OptimalEqual { "equal" } else { "envy-free" });
        if rng.random_bool(0.5) {
            allocation.tasks.iter_mut().flatten().for_each(|(_, x)| *x *= Rational::from((3, 4)));
        }
        let examination = certify(&problem, &allocation, &[Request::of(axiom)], &Rational::new()).unwrap();
        let good: Value = serde_json::from_str(&examination.certificate.to_json()).unwrap();
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
            match agreed_by_all(&document.to_string()).0 {
                Finding::Refused(_) => (read, refused) = (read + 1, refused + 1),
                Finding::Accepted => read += 1,
                _ => {}
            }
        }
    }
    assert!(refused * 2 > read, "{refused} of {read} were refused");
}

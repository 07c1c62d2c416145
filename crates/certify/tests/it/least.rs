//! Tests of the least tolerance at which an axiom holds. The axiom holds at this tolerance, and not slightly below it.

use evenhand_certify::{Request, certify, default_requests};
use evenhand_mechanisms::registry;
use evenhand_problem::{Allocation, Arithmetic, Problem, Rational};
use evenhand_testkit::random::problems::{SMALL, build, random_spec};
use proptest::prelude::*;

/// Returns an exact answer from which each entry lacks a different fraction of itself. Returns `None` if the mechanism
/// does not apply.
fn rounded(problem: &Problem, part: u64) -> Option<Allocation> {
    let outcome = registry::find("drfh").unwrap().allocate(problem, Arithmetic::Exact).ok()?;
    let mut allocation = outcome.allocation;
    for (k, (_, x)) in (1u64..).zip(allocation.tasks.iter_mut().flatten()) {
        *x *= Rational::from(1) - Rational::from((k % 7, part));
    }
    Some(allocation)
}

/// Returns the number of violated axioms whose least tolerance is known.
fn examine(problem: &Problem, part: u64) -> usize {
    let Some(allocation) = rounded(problem, part) else { return 0 };
    let requests = default_requests(problem, &allocation);
    let mut found = certify(problem, &allocation, &requests, &Rational::new()).unwrap();
    found.look_for_least_tolerances(None);
    let mut known = 0;
    for (claim, least) in found.certificate.claims.iter().zip(&found.least_tolerances) {
        let Some(least) = least else { continue };
        assert_eq!(claim.holds, Some(false));
        known += 1;
        let request = [Request { axiom: claim.axiom, parameters: claim.parameters() }];
        let holds = |tolerance: &Rational| {
            let found = certify(problem, &allocation, &request, tolerance).unwrap();
            found.certificate.claims.last().and_then(|claim| claim.holds)
        };
        assert_eq!(holds(least), Some(true), "{}", claim.axiom.name());
        let below = least * Rational::from((999, 1000));
        assert_ne!(holds(&below), Some(true), "{}: {least}", claim.axiom.name());
    }
    known
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn the_least_tolerance_covers_a_millionth(spec in random_spec(SMALL)) {
        examine(&build(spec), 1_000_000);
    }
}

#[test]
fn rounding_of_two_servers_has_a_least_tolerance() {
    let text = include_str!("../../../../examples/two-servers.json");
    let problem = evenhand_problem::format::Source { name: "two-servers", text }.problem().unwrap();
    assert!(examine(&problem, 1_000_000) >= 3);
}

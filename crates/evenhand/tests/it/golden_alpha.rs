//! Tests of proportional and alpha fairness on the golden cases: the totals, which are unique, and the proof
//! of every answer.

use evenhand::exact::axiom::proportional;
use evenhand::exact::{Axiom, Claim, Evidence, Instance, Parameters};
use evenhand::mechanisms::{alpha, registry};
use evenhand::problem::{Arithmetic, Rational, number};
use evenhand_testkit::agreement::agreed;
use evenhand_testkit::golden::{assert_near, cases, exact, exacts, floats, id, matrix, problem};

/// The largest allowed gap of a proof, in units of weight times `tasks^(1 - a)`.
const GAP: f64 = 1e-9;
/// The largest sum of the differences between a case and an optimum, as the case states it.
const TOLERANCE: f64 = 1e-5;

#[test]
fn alpha_fairness_agrees_with_golden_cases() {
    let cases = cases("alpha.");
    for case in &cases {
        let (inputs, what) = (&case["inputs"], id(case));
        let problem = problem(&matrix(&inputs["C"]), &matrix(&inputs["D"]), &exacts(&inputs["phi"]), None);
        let alpha = exact(&inputs["a"]);
        let settings = alpha::Settings {
            arithmetic: Arithmetic::Exact,
            alpha: alpha.clone(),
            criterion: false,
            per_weight: false,
        };
        let outcome = alpha::allocate(&problem, &settings).expect("an answer");
        let totals: Vec<f64> = outcome.allocation.totals().iter().map(number::to_f64).collect();
        let tolerance = number::to_f64(&exact(&case["tolerance"]));
        assert!(tolerance <= TOLERANCE, "{what}: not the tolerance that this test was written for");
        assert_near(what, &totals, &floats(&case["expected"]["x_n"]), tolerance);
        let gap = outcome.findings.gap.expect("a proven gap");
        assert!(number::to_f64(&gap) <= GAP, "{what}: gap {gap}");
        let instance = Instance::new(&problem, &outcome.allocation).expect("an instance");
        let evidence = Evidence::Prices(outcome.findings.prices.expect("prices"));
        let total = proportional::total_worth(&instance, &alpha, None).expect("a sum");
        let parameters = Parameters { share: None, alpha: Some(alpha) };
        let relative = gap / total;
        let claim = Claim::with_evidence(Axiom::Proportional, parameters, evidence, &instance, &relative);
        assert_eq!(claim.expect("a claim").holds, Some(true), "{what}");
        let feasible = Claim::derive(Axiom::Feasible, &instance, &Rational::new()).expect("a claim");
        assert_eq!(feasible.holds, Some(true), "{what}");
        // If both servers use all of both resources, the placement is unique too.
        if id(case).contains("[1, 1]") || id(case).contains("[2, 1]") {
            for (n, expected) in matrix(&case["expected"]["X"]).iter().enumerate() {
                let placed: Vec<f64> = (0..2).map(|i| number::to_f64(&outcome.allocation.on(n, i))).collect();
                let expected: Vec<f64> = expected.iter().map(number::to_f64).collect();
                assert_near(what, &placed, &expected, tolerance);
            }
        }
    }
    assert_eq!(cases.len(), 9, "cases of alpha fairness");
}

/// The note of the cases with equal priorities: each user gets 65/3 tasks for every exponent, and the
/// placement is unique.
#[test]
fn equal_priorities_have_exact_answers() {
    let cases = cases("alpha.phi[1, 1]");
    let inputs = &cases[0]["inputs"];
    let problem = problem(&matrix(&inputs["C"]), &matrix(&inputs["D"]), &exacts(&inputs["phi"]), None);
    let most = registry::find("utilitarian").expect("utilitarian");
    let allocation = most.allocate(&problem, Arithmetic::Exact).expect("an answer").allocation;
    assert_eq!(allocation.totals(), [(65, 3), (65, 3)].map(Rational::from));
    let placed = [(0, 0), (0, 1), (1, 0), (1, 1)].map(|(n, i)| allocation.on(n, i));
    assert_eq!(placed, [(235, 12), (25, 12), (25, 12), (235, 12)].map(Rational::from));
    for alpha in [1, 2, 3] {
        let parameters = Parameters { share: None, alpha: Some(Rational::from(alpha)) };
        let request = evenhand::certify::Request { axiom: Axiom::Proportional, parameters };
        let examination =
            evenhand::certify(&problem, &allocation, &[request], &Rational::new()).expect("an examination");
        assert_eq!(examination.undecided, []);
        assert_eq!(examination.certificate.claims[0].holds, Some(true), "a = {alpha}, without any gap");
        assert!(agreed(&examination.certificate).valid);
    }
}

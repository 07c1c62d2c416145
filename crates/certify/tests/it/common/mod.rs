//! Claims about groups, each accepted by all three judges.

use evenhand_certify::{Request, certify};
use evenhand_exact::{Axiom, Claim};
use evenhand_problem::format::Source;
use evenhand_problem::{Allocation, Problem, Rational};
use evenhand_testkit::agreement::{Finding, agreed_text};
use evenhand_testkit::plain;

/// Returns the claim about an axiom after all three judges have accepted it, with the text of the certificate.
pub fn judged(
    problem: &Problem,
    allocation: &Allocation,
    axiom: Axiom,
    tolerance: &Rational,
) -> (Claim, String) {
    let examination = certify(problem, allocation, &[Request::of(axiom)], tolerance).unwrap();
    let text = examination.certificate.to_json();
    assert!(examination.undecided.is_empty(), "{:?}\n{text}", examination.undecided);
    assert_eq!(agreed_text(&text), Finding::Accepted, "{text}");
    assert_eq!(plain::fault(&examination.certificate), None, "{text}");
    (examination.certificate.claims[0].clone(), text)
}

/// Returns the claim about exact tasks, where problem and tasks are given as text.
#[allow(dead_code)]
pub fn of_texts(problem: &str, tasks: &str, axiom: Axiom) -> (Claim, String) {
    let problem = Source { name: "problem", text: problem }.problem().unwrap();
    let text = format!(r#"{{"kind": "allocation", "arithmetic": "exact", "tasks": {tasks}}}"#);
    let allocation = Source { name: "x", text: &text }.allocation(&problem).unwrap().allocation;
    judged(&problem, &allocation, axiom, &Rational::new())
}

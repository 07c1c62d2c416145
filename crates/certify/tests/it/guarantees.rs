//! Tests that the guarantees listed in the documentation hold for every mechanism on random problems.

use evenhand_testkit::agreement::agreed;
use std::path::Path;

use evenhand_certify::Request;
use evenhand_certify::{certify, default_tolerance};
use evenhand_exact::Axiom;
use evenhand_mechanisms::guarantees::Guarantee;
use evenhand_mechanisms::{Flags, Mechanism, MechanismError, Outcome, Status, registry};
use evenhand_problem::format::AllocationFile;
use evenhand_problem::{Allocation, Arithmetic, Problem, Rational};
use evenhand_testkit::random::small::{SMALL, problem};
use evenhand_testkit::random::trees::{self, Shape};
use proptest::prelude::*;
use rand::SeedableRng;
use rand_pcg::Pcg64;

const MARK: &str = "<!-- table: written from crates/mechanisms/src/registry.rs -->\n";

/// The text that follows the table of guarantees.
const NEXT: &str = "\n## The matrix\n";

#[test]
fn the_documentation_has_the_table() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guarantees.md");
    let text = std::fs::read_to_string(&path).unwrap();
    let (head, written) = text.split_once(MARK).unwrap();
    let (written, rest) = written.split_once(NEXT).unwrap();
    if std::env::var_os("EVENHAND_WRITE_DOCS").is_some() {
        let table = registry::guarantees();
        std::fs::write(&path, format!("{head}{MARK}\n{table}{NEXT}{rest}")).unwrap();
        return;
    }
    assert_eq!(written.trim(), registry::guarantees().trim(), "EVENHAND_WRITE_DOCS=1 writes it anew");
}

/// Returns the tolerance that `certify` uses for the file that `solve` writes.
pub fn tolerance(outcome: &Outcome) -> Rational {
    let has_gap = outcome.findings.gap.as_ref().is_some_and(|gap| *gap > 0);
    let is_final = !has_gap && outcome.findings.status.is_none_or(|status| status == Status::Solved);
    let allocation = outcome.allocation.clone();
    default_tolerance(&AllocationFile { allocation, problem_sha256: None, is_final })
}

fn requests(mechanism: &Mechanism, problem: &Problem, allocation: &Allocation) -> Vec<Request> {
    let own = registry::axiom_of(allocation);
    let is_promised = |axiom: Axiom| match mechanism.guarantee(axiom) {
        Guarantee::When(condition) => condition.holds(problem),
        Guarantee::NotInGeneral | Guarantee::Never => false,
    };
    let request = |axiom: Axiom| {
        let of_own = own.as_ref().filter(|(own, _)| *own == axiom).map(|(_, parameters)| parameters.clone());
        if axiom == Axiom::MaxMin && of_own.is_none() {
            return None;
        }
        Some(Request { axiom, parameters: of_own.unwrap_or_default() })
    };
    Axiom::ALL.into_iter().filter(|axiom| is_promised(*axiom)).filter_map(request).collect()
}

fn examine(problem: &Problem) {
    for mechanism in registry::ALL {
        let id = mechanism.info.id;
        let stated = [("alpha", "2"), ("slots", "7")].into_iter().filter(|(name, _)| mechanism.takes(name));
        let flags = stated.fold(Flags::new(Arithmetic::Exact), |flags, (name, text)| flags.with(name, text));
        let outcome = match mechanism.allocate_with(problem, &flags) {
            Ok(outcome) => outcome,
            Err(MechanismError::NotApplicable { .. }) => continue,
            Err(error) => panic!("{id}: {error}"),
        };
        if outcome.findings.status.is_some_and(|status| status != Status::Solved) {
            continue;
        }
        let requests = requests(mechanism, problem, &outcome.allocation);
        let tolerance = tolerance(&outcome);
        let examination =
            certify(problem, &outcome.allocation, &requests, &tolerance).expect("an allocation");
        assert_eq!(examination.undecided, [], "{id}");
        for claim in &examination.certificate.claims {
            assert_ne!(claim.holds, Some(false), "{id}: {} {claim:?}", claim.axiom.name());
        }
        let verdict = agreed(&examination.certificate);
        assert!(verdict.valid, "{id}: {:?}", verdict.reason);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn guarantees_hold_exactly(problem in problem(SMALL)) {
        examine(&problem);
    }
}

/// Guarantees also hold for queues in trees, which only a few mechanisms accept.
#[test]
fn guarantees_hold_exactly_with_groups() {
    let (mut rng, mut by_class) = (Pcg64::seed_from_u64(31), Pcg64::seed_from_u64(32));
    for shape in [Shape { groups: 6, users: 6, classes: 1 }, Shape { groups: 4, users: 6, classes: 3 }] {
        for _ in 0..60 {
            examine(&trees::problem(&mut rng, shape));
            examine(&trees::by_class(&mut by_class, shape));
        }
    }
}

//! The oracle for all steps from a problem to a checked certificate, with any numbers.
//!
//! The name of a problem may state how to solve it: `MECHANISM`, `MECHANISM float` or `alpha A`. For any
//! other name, every mechanism is run.

use std::str::FromStr;

use evenhand_certify::explain::explain;
use evenhand_certify::{CertifyError, certify, default_requests, default_tolerance};
use evenhand_certify::{Examination, Request};
use evenhand_exact::{Axiom, Certificate};
use evenhand_mechanisms::guarantees::Guarantee;
use evenhand_mechanisms::{Flags, Mechanism, MechanismError, Outcome, Status, registry};
use evenhand_problem::format::{AllocationDocument, AllocationFile, Source};
use evenhand_problem::{Allocation, Arithmetic, Problem, Rational, number, printable};
use evenhand_report as report;
use serde_json::json;

use crate::small::{MOST_CLASSES, MOST_RESOURCES, MOST_USERS};
use crate::{certificates, readers, said};

/// The largest number of single servers, and the largest number of tasks of all users together, for
/// mechanisms of whole tasks.
const MOST_WHOLE: u32 = 200;

/// Solves a problem, certifies the answer, and writes, reads and checks the certificate.
pub fn pipeline(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let source = Source { name: "problem.json", text };
    let problem = match source.problem() {
        Ok(problem) => problem,
        Err(error) => return said::format_error(&error, &source),
    };
    if problem.n_users() > MOST_USERS
        || problem.n_servers() > MOST_CLASSES
        || problem.n_resources() > MOST_RESOURCES
    {
        return;
    }
    readers::same_problem(&problem);
    let asked = Asked::of(problem.name());
    for mechanism in registry::ALL {
        if asked.mechanism.is_none_or(|id| id == mechanism.info.id) {
            solved(mechanism, &problem, &asked);
        }
    }
}

/// The request that the name of a problem states.
struct Asked {
    mechanism: Option<&'static str>,
    arithmetic: Arithmetic,
    alpha: Rational,
}

impl Asked {
    fn of(name: &str) -> Self {
        let mut words = name.split(' ');
        let mechanism = words.next().and_then(registry::find).map(|mechanism| mechanism.info.id);
        let mut asked = Self { mechanism, arithmetic: Arithmetic::Exact, alpha: Rational::from(2) };
        for word in words {
            match (word, Rational::from_str(word)) {
                ("float", _) => asked.arithmetic = Arithmetic::Float,
                (_, Ok(alpha)) if (0.01..=100.0).contains(&alpha.to_f64()) => asked.alpha = alpha,
                _ => {}
            }
        }
        asked
    }

    fn flags(&self, mechanism: &Mechanism) -> Flags {
        let stated = [("alpha", self.alpha.to_string()), ("slots", "7".to_owned())];
        let taken = stated.into_iter().filter(|(name, _)| mechanism.takes(name));
        taken.fold(Flags::new(self.arithmetic), |flags, (name, text)| flags.with(name, text))
    }
}

fn solved(mechanism: &Mechanism, problem: &Problem, asked: &Asked) {
    let id = mechanism.info.id;
    if mechanism.is_of_whole_tasks() && !is_countable(problem) {
        return;
    }
    match mechanism.allocate_with(problem, &asked.flags(mechanism)) {
        Ok(outcome) => told(id, problem, &outcome),
        Err(MechanismError::NeedsOption { option, .. }) => panic!("{id} needs {option}"),
        Err(error) => said::one_line(&printable(&error.to_string())),
    }
}

/// Returns `true` if the problem has only a few whole tasks and single servers.
pub fn is_countable(problem: &Problem) -> bool {
    let total = |n| {
        let alone = problem.total_gamma(n);
        problem.users()[n].tasks().map_or_else(|| alone.clone(), |tasks| alone.clone().min(tasks.clone()))
    };
    let tasks: Rational = (0..problem.n_users()).map(total).sum();
    problem.n_single_servers() <= u128::from(MOST_WHOLE) && tasks <= MOST_WHOLE
}

/// Checks that an answer can be written, read, certified, checked and shown.
pub fn told(id: &str, problem: &Problem, outcome: &Outcome) {
    let file = written(problem, outcome);
    said::page(&report::outcome(problem, outcome, true));
    explained(problem, &file.allocation);
    let mut requests = default_requests(problem, &file.allocation);
    requests.extend(promised(id, problem, &file.allocation));
    let examination = certified(id, problem, &file.allocation, &requests, &default_tolerance(&file));
    if let Some(examination) = examination.filter(|_| is_solved(outcome)) {
        keeps_promises(id, problem, outcome, &examination);
    }
    let billionth = Rational::from((1, 1_000_000_000));
    for (off, tolerance) in
        [(0.0, Rational::new()), (0.0, billionth.clone()), (1e-12, billionth), (1e-3, Rational::new())]
    {
        let stated = in_doubles(&file.allocation, off);
        certified(id, problem, &stated, &default_requests(problem, &stated), &tolerance);
    }
}

/// Explains the allocation of every user.
fn explained(problem: &Problem, allocation: &Allocation) {
    for n in 0..problem.n_users() {
        match explain(problem, allocation, n) {
            Ok(found) => said::page(&report::explanation(problem, allocation.sharing, &found)),
            Err(error) => said::one_line(&printable(&error.to_string())),
        }
    }
}

/// Writes an allocation in the same way as `solve`, and reads it again.
fn written(problem: &Problem, outcome: &Outcome) -> AllocationFile {
    let allocation = &outcome.allocation;
    readers::same_allocation(problem, allocation);
    let mut document = AllocationDocument::new(problem, allocation);
    if let Some(gap) = &outcome.findings.gap {
        document.extra.insert("gap".to_owned(), json!(number::format(gap)));
    }
    if let Some(status) = outcome.findings.status {
        document.extra.insert("status".to_owned(), json!(status.name()));
    }
    let text = document.to_json().expect("JSON");
    let file = Source { name: "written", text: &text }.allocation(problem);
    file.unwrap_or_else(|error| panic!("what was written cannot be read: {error}\n{text}"))
}

/// Returns the axioms that the mechanism satisfies according to the documentation.
fn promised(id: &str, problem: &Problem, allocation: &Allocation) -> Vec<Request> {
    let own = registry::axiom_of(allocation);
    let parameters = |axiom: Axiom| {
        let of_own = own.as_ref().filter(|(own, _)| *own == axiom).map(|(_, parameters)| parameters.clone());
        if axiom == Axiom::MaxMin { of_own } else { Some(of_own.unwrap_or_default()) }
    };
    let axioms = Axiom::ALL.into_iter().filter(|axiom| is_promised(id, problem, *axiom));
    axioms.filter_map(|axiom| Some(Request { axiom, parameters: parameters(axiom)? })).collect()
}

pub fn is_promised(id: &str, problem: &Problem, axiom: Axiom) -> bool {
    match registry::find(id).map(|mechanism| mechanism.guarantee(axiom)) {
        Some(Guarantee::When(condition)) => condition.holds(problem),
        _ => false,
    }
}

fn certified(
    id: &str,
    problem: &Problem,
    allocation: &Allocation,
    requests: &[Request],
    tolerance: &Rational,
) -> Option<Examination> {
    let examination = match certify(problem, allocation, requests, tolerance) {
        Ok(examination) => examination,
        Err(CertifyError::Instance(error)) => {
            said::one_line(&printable(&error.to_string()));
            return None;
        }
        Err(error) => panic!("{id}: {error}"),
    };
    for (axiom, why) in &examination.undecided {
        said::one_line(&printable(&why.to_string()));
        let always = [Axiom::ParetoOptimal, Axiom::MaxMin];
        assert!(!always.contains(axiom), "{id}: {} is undecided: {why}", axiom.name());
    }
    certificates::made(as_stated(&examination.certificate));
    said::page(&report::examination(&examination));
    Some(examination)
}

/// Returns a certificate whose allocation contains only the fields that are judged.
pub fn as_stated(certificate: &Certificate) -> Certificate {
    let allocation =
        Allocation { alpha: None, criterion: false, rule: None, ..certificate.allocation.clone() };
    Certificate { allocation, ..certificate.clone() }
}

fn is_solved(outcome: &Outcome) -> bool {
    let ended = outcome.findings.status.is_none_or(|status| status == Status::Solved);
    ended && outcome.allocation.arithmetic == Arithmetic::Exact
}

/// Checks that guaranteed axioms hold. An answer with a gap satisfies only the axiom to which the gap refers,
/// because a user with a small weight hardly changes the sum that the gap bounds.
fn keeps_promises(id: &str, problem: &Problem, outcome: &Outcome, examination: &Examination) {
    let own = registry::axiom_of(&outcome.allocation);
    let has_gap = outcome.findings.gap.as_ref().is_some_and(|gap| *gap > 0);
    // Under the rule of a scheduler, users have other levels than under the problem's own share.
    let by_another_rule = outcome.allocation.rule.is_some();
    for claim in &examination.certificate.claims {
        let is_own = own.as_ref().filter(|(axiom, _)| *axiom == claim.axiom);
        let is_about_it = match is_own {
            Some((_, parameters)) => *parameters == claim.parameters(),
            None => !has_gap || claim.axiom == Axiom::Feasible,
        };
        let is_about_it = is_about_it && !(by_another_rule && claim.axiom == Axiom::Tree);
        if is_about_it && is_promised(id, problem, claim.axiom) {
            assert_ne!(claim.holds, Some(false), "{id}: {} {claim:?}", claim.axiom.name());
        }
    }
}

/// Returns the allocation as another program would state it, without fields about itself. Its entries are
/// doubles that are wrong by this fraction, alternately upwards and downwards.
fn in_doubles(allocation: &Allocation, off: f64) -> Allocation {
    let mut side = off;
    let mut stated = |x: &Rational| {
        side = -side;
        let double = number::to_f64(x);
        number::from_f64(double - double * side).unwrap_or_else(|| x.clone())
    };
    let mut row = |row: &Vec<(usize, Rational)>| row.iter().map(|(i, x)| (*i, stated(x))).collect();
    Allocation {
        sharing: allocation.sharing,
        tasks: allocation.tasks.iter().map(&mut row).collect(),
        ..Allocation::default()
    }
}

//! Checking a certificate: every number of it is recomputed, nothing in it is believed.
//!
//! The cost is that of the evidence: one exact comparison for each inequality of a dual, for each
//! bundle that matters, no search, no solver, no floating point; all of it is charged to a budget.

use std::collections::HashSet;

use evenhand_problem::format::problem_sha256;
use evenhand_problem::{Problem, Rational};

use crate::axiom::{feasible, integer_feasible};
use crate::budget::Budget;
use crate::certificate::Certificate;
use crate::conditions::Conditions;
use crate::instance::Instance;
use crate::refusal::Refusal;
use crate::verdict::Verdict;

/// Whether every claim of `certificate` is true of the problem and allocation in it.
///
/// A claim that an axiom is violated is as good as one that it holds: valid means true.
#[must_use]
pub fn check(certificate: &Certificate) -> Verdict {
    check_within(certificate, Budget::default())
}

/// [`check`] with a budget of work.
#[must_use]
pub fn check_within(certificate: &Certificate, budget: Budget) -> Verdict {
    verdict(certificate, first_fault(certificate, budget))
}

/// [`check`], and whether the certificate is about `problem`: the same resources, servers, users
/// and numbers, whatever the title and the spelling.
#[must_use]
pub fn check_against(certificate: &Certificate, problem: &Problem) -> Verdict {
    check_on(certificate, &Conditions { problem: Some(problem), ..Conditions::anything() })
}

/// [`check`], and whether it is what its reader asked for.
#[must_use]
pub fn check_on(certificate: &Certificate, conditions: &Conditions<'_>) -> Verdict {
    verdict(
        certificate,
        conditions.met_by(certificate).and_then(|()| first_fault(certificate, Budget::default())),
    )
}

/// Whether nothing is above its limit beyond the tolerance; on single servers not at all.
///
/// Of an allocation that is not, no axiom is claimed but feasibility (THEORY, section 7).
#[must_use]
pub fn is_feasible(instance: &Instance<'_>, tolerance: &Rational) -> bool {
    match instance.placements() {
        // It applies where there are placements.
        Some(_) => integer_feasible::tightest(instance, false)
            .is_ok_and(|tightest| tightest.is_none_or(|(_, _, margin)| margin >= 0)),
        None => feasible::tightest(instance).is_none_or(|(_, margin)| margin >= Rational::from(-tolerance)),
    }
}

fn verdict(certificate: &Certificate, found: Result<(), Refusal>) -> Verdict {
    Verdict::new(certificate.claims.len(), certificate.tolerance.clone(), found)
}

fn first_fault(certificate: &Certificate, budget: Budget) -> Result<(), Refusal> {
    if certificate.tolerance < 0 || certificate.tolerance >= 1 {
        return Err(Refusal::new("the tolerance is not a number from 0 to below 1"));
    }
    check_shape(certificate)?;
    let instance = Instance::within(&certificate.problem, &certificate.allocation, budget)
        .map_err(|error| Refusal::from(error).about("allocation"))?;
    let is_feasible = is_feasible(&instance, &certificate.tolerance);
    for claim in &certificate.claims {
        if !is_feasible && !claim.axiom.rule().is_about_limits() {
            return Err(Refusal::new(format!(
                "the allocation is infeasible beyond the tolerance, and `{}` is claimed of it",
                claim.axiom.name()
            )));
        }
        let verified = claim.verify(&instance, &certificate.tolerance);
        verified.map_err(|refusal| refusal.about(&format!("claim `{}`", claim.axiom.name())))?;
    }
    Ok(())
}

/// What can be said without judging anything.
fn check_shape(certificate: &Certificate) -> Result<(), Refusal> {
    if certificate.claims.is_empty() {
        return Err(Refusal::new("nothing is claimed"));
    }
    let hash = certificate.problem_sha256.as_ref();
    if hash.is_some_and(|hash| *hash != problem_sha256(&certificate.problem)) {
        return Err(Refusal::new(
            "the allocation is for another problem (problem_sha256 is not that of the problem inside)",
        ));
    }
    let mut seen = HashSet::new();
    for claim in &certificate.claims {
        let name = claim.axiom.name();
        if !seen.insert((claim.axiom, claim.parameters())) {
            return Err(Refusal::new(format!("`{name}` is claimed twice")));
        }
        if certificate.not_checked.iter().any(|not| not == name) {
            return Err(Refusal::new(format!("`{name}` is claimed, and said not to be checked")));
        }
    }
    Ok(())
}

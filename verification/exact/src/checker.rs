//! The checker: believes the problem, the allocation, the tolerance and the claims of a
//! certificate, and recomputes everything that the claims state.
//!
//! What it runs is bounded by the size of the file: sums over the rows of the problem and the
//! entries of the evidence, one comparison for each pair of users, no search, no solver, no
//! floating point.

use std::collections::HashSet;

use evenhand_problem::{Problem, Rational};

use crate::certificate::Certificate;
use crate::instance::Instance;
use crate::same::same_problem;

/// What a check found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// Whether everything that the certificate states is true.
    pub valid: bool,
    /// Number of claims in it.
    pub claims: usize,
    /// The claim that is refused, and what is false about it.
    pub reason: Option<String>,
    /// What its claims tolerate.
    pub tolerance: Rational,
}

/// Whether every claim of `certificate` is true of the problem and allocation in it.
///
/// A claim that an axiom is violated is as good as one that it holds: valid means true.
#[must_use]
pub fn check(certificate: &Certificate) -> Verdict {
    verdict(certificate, first_fault(certificate).err())
}

/// [`check`], and whether the certificate is about `problem`: the same resources, servers, users
/// and numbers, whatever the title and the spelling.
#[must_use]
pub fn check_against(certificate: &Certificate, problem: &Problem) -> Verdict {
    if same_problem(&certificate.problem, problem) {
        return check(certificate);
    }
    verdict(certificate, Some("the certificate is about another problem".to_owned()))
}

fn verdict(certificate: &Certificate, reason: Option<String>) -> Verdict {
    Verdict {
        valid: reason.is_none(),
        claims: certificate.claims.len(),
        reason,
        tolerance: certificate.tolerance.clone(),
    }
}

fn first_fault(certificate: &Certificate) -> Result<(), String> {
    if certificate.tolerance < 0 {
        return Err("the tolerance is negative".to_owned());
    }
    let mut seen = HashSet::new();
    for claim in &certificate.claims {
        let name = claim.axiom.name();
        if !seen.insert((claim.axiom, claim.parameters())) {
            return Err(format!("`{name}` is claimed twice"));
        }
        if certificate.not_checked.iter().any(|not| not == name) {
            return Err(format!("`{name}` is claimed, and said not to be checked"));
        }
    }
    let instance = Instance::new(&certificate.problem, &certificate.allocation)
        .map_err(|error| format!("allocation: {error}"))?;
    for claim in &certificate.claims {
        let verified = claim.verify(&instance, &certificate.tolerance);
        verified.map_err(|refusal| format!("claim `{}`: {refusal}", claim.axiom.name()))?;
    }
    Ok(())
}

//! The limit of the trajectory in the NJC paper, which is the weighted proportionally fair allocation. A
//! proof bounds the distance between the computed allocation and the limit.

use evenhand_certify::{Request, certify};
use evenhand_exact::axiom::proportional;
use evenhand_exact::{Axiom, Certificate, Claim, Evidence, Instance, Parameters};
use evenhand_mechanisms::alpha::{self, Settings};
use evenhand_problem::{Allocation, Arithmetic, Problem, Rational};

use super::setting::granted;
use crate::error::PaperError;

/// An allocation, and a proven bound on the gain of any other allocation, in units of the weights. The proof
/// has been checked.
pub struct ProvenOptimum {
    pub allocation: Allocation,
    pub gap: Rational,
}

/// Computes the allocation that maximises `sum_n w_n g_a(x_n)`.
pub fn alpha_fair(problem: &Problem, alpha: &Rational) -> Result<ProvenOptimum, PaperError> {
    let settings =
        Settings { arithmetic: Arithmetic::Exact, alpha: alpha.clone(), criterion: false, per_weight: false };
    let outcome = alpha::allocate(problem, &settings)?;
    let prices = outcome.findings.prices.ok_or("there are no prices")?;
    let gap = outcome.findings.gap.ok_or("there is no proven gap")?;
    let parameters = Parameters { share: None, alpha: Some(alpha.clone()) };
    let (claim, tolerance) = {
        let instance = Instance::new(problem, &outcome.allocation)?;
        let total = proportional::total_worth(&instance, alpha, None)?;
        let tolerance = if total > 0 { &gap / total } else { Rational::new() };
        let evidence = Evidence::Prices(prices);
        let claim = Claim::with_evidence(Axiom::Proportional, parameters, evidence, &instance, &tolerance)?;
        (claim, tolerance)
    };
    let examined = Axiom::Proportional.name();
    let certificate = Certificate {
        problem: problem.clone(),
        allocation: outcome.allocation,
        problem_sha256: None,
        tolerance,
        claims: vec![claim],
        not_checked: Axiom::questions(problem)
            .map(|a| a.name().to_owned())
            .filter(|a| a != examined)
            .collect(),
    };
    match evenhand_exact::check(&certificate).reason {
        None => Ok(ProvenOptimum { allocation: certificate.allocation, gap }),
        Some(reason) => Err(format!("the certificate is refused: {reason}").into()),
    }
}

/// Returns `true` if the allocation maximises `sum_n w_n g_a(x_n)` exactly. The result is proven, and the
/// proof has been checked.
pub fn certified_without_gap(
    problem: &Problem,
    allocation: &Allocation,
    alpha: &Rational,
) -> Result<bool, PaperError> {
    let parameters = Parameters { share: None, alpha: Some(alpha.clone()) };
    let request = Request { axiom: Axiom::Proportional, parameters };
    let examination = certify(problem, allocation, &[request], &Rational::new())?;
    if let Some((_, why)) = examination.undecided.first() {
        return Err(format!("proportional is undecided: {why}").into());
    }
    match evenhand_exact::check(&examination.certificate).reason {
        None => Ok(examination.certificate.claims.iter().all(|claim| claim.holds == Some(true))),
        Some(reason) => Err(format!("the certificate is refused: {reason}").into()),
    }
}

/// Returns the result of [`certified_without_gap`] for one pool and `a = 1`.
pub fn is_optimum(problem: &Problem, x: &[Rational]) -> Result<bool, PaperError> {
    certified_without_gap(problem, &granted(x), &Rational::from(1))
}

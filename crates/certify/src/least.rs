//! The least tolerance at which an axiom holds of an allocation: what tells rounding from a violation.
//!
//! A margin that the allocation alone decides does not depend on the tolerance: the least is what it lacks. Where a
//! solver finds the evidence, a margin of no comes from one better allocation, so that the truth may be worse. Minus
//! such a margin is a tolerance that no smaller one can replace; held to it, the axiom either holds, and it is the
//! least, or there is another better allocation, and so on. Every step comes from another user or programme, so that
//! few are needed.

use std::time::Duration;

use evenhand_budget::{Limits, spent, within, work_left};
use evenhand_exact::{Axiom, Certificate};
use evenhand_problem::Rational;

use crate::examine::{CertifyError, Examination, Optima, Request, certify_among};

/// Steps after which a bound is good enough.
const MOST_STEPS: usize = 100;
/// What is added to a bound that is not quite the least, as a part of it: margins of irrational sums are enclosed to more
/// digits.
const ROUNDING: (u64, u64) = (1, 1 << 40);

/// Steps that the search may take whatever the examination took: some hundredths of a second.
const SMALL: u64 = 10_000_000;

impl Examination {
    /// Looks for the least tolerance at which that holds which is violated: with no more work than was spent before, and no
    /// more than a half of what is left, and no more than so much time, so that a verdict is never lost for it.
    pub fn look_for_least_tolerances(&mut self, time: Option<Duration>) {
        let optima = Optima::default();
        let work = spent().max(SMALL).min(work_left().unwrap_or(u64::MAX) / 2);
        let part = Limits { work: Some(work), time, ..Limits::default() };
        let certificate = &self.certificate;
        let mut least = vec![None; certificate.claims.len()];
        // What was found before the work was spent stays.
        let _spent = within(&part, || {
            for (least, claim) in least.iter_mut().zip(&certificate.claims) {
                if claim.holds == Some(false) {
                    let request = Request { axiom: claim.axiom, parameters: claim.parameters() };
                    *least = least_tolerance(certificate, &request, &optima).ok().flatten();
                }
            }
        });
        self.least_tolerances = least;
    }
}

/// The least tolerance at which the request holds of the allocation of a certificate; none where there is none below 1, or
/// it is open.
///
/// # Errors
/// As [`certify`](crate::certify()).
pub fn least_tolerance(
    certificate: &Certificate,
    request: &Request,
    optima: &Optima,
) -> Result<Option<Rational>, CertifyError> {
    let ask = |request: &Request, tolerance: &Rational| {
        let Certificate { problem, allocation, .. } = certificate;
        certify_among(problem, allocation, std::slice::from_ref(request), tolerance, optima)
    };
    let mut least = Rational::new();
    // Of what is infeasible nothing is claimed.
    if request.axiom != Axiom::Feasible {
        match said(&ask(&Request::of(Axiom::Feasible), &least)?) {
            Said::Holds => {}
            Said::Lacks(more) if more < 1 => least = more,
            Said::Lacks(_) | Said::Nothing => return Ok(None),
        }
    }
    for _ in 0..MOST_STEPS {
        match said(&ask(request, &least)?) {
            Said::Holds => return Ok(Some(least)),
            Said::Lacks(more) if more >= 1 => return Ok(None),
            Said::Lacks(more) if more > least => least = more,
            Said::Lacks(_) | Said::Nothing => break,
        }
    }
    // Neither shown nor refuted there: what is shown a little above is a bound.
    let above = &least * (Rational::from(1) + Rational::from(ROUNDING));
    if least.is_zero() || above >= 1 {
        return Ok(None);
    }
    Ok(matches!(said(&ask(request, &above)?), Said::Holds).then_some(above))
}

/// What the last claim of an examination says.
enum Said {
    Holds,
    /// It needs at least so much.
    Lacks(Rational),
    Nothing,
}

fn said(examination: &Examination) -> Said {
    let Some(claim) = examination.certificate.claims.last() else { return Said::Nothing };
    match (claim.holds, &claim.margin) {
        (Some(true), _) => Said::Holds,
        (Some(false), Some(margin)) => Said::Lacks(Rational::from(-margin)),
        _ => Said::Nothing,
    }
}

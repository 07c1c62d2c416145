//! The least tolerance at which an axiom holds for an allocation. It distinguishes rounding errors from violations.
//!
//! If the allocation alone decides the margin, the margin does not depend on the tolerance, and the least tolerance is
//! minus the margin. If a solver searches for the evidence, a negative margin comes from one better allocation, and the
//! true margin may be worse. Minus such a margin is a lower bound on the tolerance. The axiom is then examined with
//! this bound as the tolerance. If it holds, the bound is the least tolerance. Otherwise another better allocation
//! gives a larger bound, and the step is repeated. Every step comes from another user or programme, so few steps are
//! needed.

use std::time::Duration;

use evenhand_budget::{Limits, spent, within, work_left};
use evenhand_exact::{Axiom, Certificate};
use evenhand_problem::Rational;

use crate::examine::{CertifyError, Examination, Optima, Request, certify_among};

/// The number of steps after which the search stops.
const MOST_STEPS: usize = 100;
/// The fraction that is added to a bound that is slightly below the least tolerance. Margins of irrational sums are
/// enclosed to more digits than this.
const ROUNDING: (u64, u64) = (1, 1 << 40);

/// The number of steps of work that the search may always take, even if the examination took fewer: a few hundredths of
/// a second.
const SMALL: u64 = 10_000_000;

impl Examination {
    /// Searches for the least tolerance at which each violated axiom would hold. The search takes no more work than the
    /// examination, at most half of the remaining work, and at most the time `time`. So no verdict is lost because of
    /// the search.
    pub fn look_for_least_tolerances(&mut self, time: Option<Duration>) {
        let optima = Optima::default();
        let work = spent().max(SMALL).min(work_left().unwrap_or(u64::MAX) / 2);
        let part = Limits { work: Some(work), time, ..Limits::default() };
        let certificate = &self.certificate;
        let mut least = vec![None; certificate.claims.len()];
        // Results found before the limit was reached are kept.
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

/// Returns the least tolerance at which the request holds for the allocation of a certificate. Returns `None` if no
/// tolerance below 1 suffices, or if the axiom is undecided.
///
/// # Errors
/// The same errors as [`certify`](crate::certify()).
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
    // For an infeasible allocation there are no other claims.
    if request.axiom != Axiom::Feasible {
        match last_answer(&ask(&Request::of(Axiom::Feasible), &least)?) {
            LastAnswer::Holds => {}
            LastAnswer::Lacks(more) if more < 1 => least = more,
            LastAnswer::Lacks(_) | LastAnswer::Open => return Ok(None),
        }
    }
    for _ in 0..MOST_STEPS {
        match last_answer(&ask(request, &least)?) {
            LastAnswer::Holds => return Ok(Some(least)),
            LastAnswer::Lacks(more) if more >= 1 => return Ok(None),
            LastAnswer::Lacks(more) if more > least => least = more,
            LastAnswer::Lacks(_) | LastAnswer::Open => break,
        }
    }
    // The axiom is neither proven nor refuted at `least`. If it is proven at a slightly larger tolerance, that
    // tolerance is an upper bound.
    let above = &least * (Rational::from(1) + Rational::from(ROUNDING));
    if least.is_zero() || above >= 1 {
        return Ok(None);
    }
    Ok(matches!(last_answer(&ask(request, &above)?), LastAnswer::Holds).then_some(above))
}

/// The result of the last claim of an examination.
enum LastAnswer {
    Holds,
    /// The axiom needs at least this tolerance to hold.
    Lacks(Rational),
    /// The axiom is undecided, or not claimed.
    Open,
}

fn last_answer(examination: &Examination) -> LastAnswer {
    let Some(claim) = examination.certificate.claims.last() else { return LastAnswer::Open };
    match (claim.holds, &claim.margin) {
        (Some(true), _) => LastAnswer::Holds,
        (Some(false), Some(margin)) => LastAnswer::Lacks(Rational::from(-margin)),
        _ => LastAnswer::Open,
    }
}

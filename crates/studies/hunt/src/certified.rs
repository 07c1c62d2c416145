//! Confirms the instances that the hunt found in exact arithmetic, and certifies them.

use evenhand_budget::within;
use evenhand_certify::ratio;
use evenhand_exact::ratio::RatioCertificate;
use evenhand_problem::{Rational, Reservation};

use super::clock::Clock;
use super::worst::{LIMITS, exactly_until};
use super::{Found, HuntError};

/// An instance with its worst loads and a certificate of the ratio at these loads.
#[derive(Debug, Clone, PartialEq)]
pub struct Certified {
    /// The problem with the worst loads.
    pub problem: Reservation,
    /// The proven values of greedy and of the optimum at these loads.
    pub certificate: RatioCertificate,
    /// The ratio of greedy to the optimum. According to the rational method, no loads give a lower ratio for these
    /// types.
    pub ratio: Rational,
}

/// Computes the ratio of an instance again by the rational method, and certifies it at the worst loads.
///
/// # Errors
/// [`HuntError::Disagree`] if the rational method computes another ratio; [`HuntError`] if a solver fails, the time
/// is up, or the instance is too large for a certificate.
pub fn certify(found: &Found, clock: &Clock) -> Result<Certified, HuntError> {
    let worst = exactly_until(&found.instance, clock)?;
    if worst.ratio_upper != found.ratio {
        return Err(HuntError::Disagree { what: "the least ratio of an instance" });
    }
    let problem = found.instance.problem(&worst.loads)?;
    let certificate =
        within(&LIMITS, || ratio::certificate_within(&problem, &clock.limits()))??.accepted()?;
    if certificate.ratio.as_ref() != Some(&found.ratio) {
        return Err(HuntError::Disagree { what: "the ratio at the worst loads" });
    }
    Ok(Certified { problem, certificate, ratio: found.ratio.clone() })
}

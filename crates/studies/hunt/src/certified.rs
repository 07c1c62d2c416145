//! What is found, computed again and certified.

use evenhand_budget::within;
use evenhand_certify::ratio;
use evenhand_exact::ratio::RatioCertificate;
use evenhand_problem::{Rational, Reservation};

use super::clock::Clock;
use super::worst::{LIMITS, exactly_until};
use super::{Found, HuntError};

/// A find with its worst loads and the certificate of the ratio there.
#[derive(Debug, Clone, PartialEq)]
pub struct Certified {
    /// The problem, with the worst loads.
    pub problem: Reservation,
    /// Greedy and optimum at these loads, proven.
    pub certificate: RatioCertificate,
    /// Their quotient, which no loads of these types go below: the rational method says so too.
    pub ratio: Rational,
}

/// Computes a find again by the rational method, and certifies the ratio at its worst loads.
///
/// # Errors
/// [`HuntError::Disagree`] where the ratio comes out differently; [`HuntError`] where a solver fails, the
/// time is up, or the instance is too large for a certificate.
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

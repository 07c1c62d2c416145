//! The checker of worst-load certificates: one walk over the claims, and the loads on their own.

use evenhand_problem::{Rational, Reservation};

use super::{Certificate, walk};
use crate::checker::Verdict;
use crate::ratio::check::verdict;
use crate::ratio::same::same_types;
use crate::ratio::verify::Verifier;
use crate::ratio::work::Exceeded;
use crate::ratio::{greedy, optimum};

/// Whether everything that the certificate states is true, and proven in it.
#[must_use]
pub fn check(certificate: &Certificate) -> Verdict {
    checked(certificate, &Exceeded::default())
}

/// [`check`] with so many steps of work, each an addition of machine words.
#[must_use]
pub fn check_within(certificate: &Certificate, steps: u64) -> Verdict {
    checked(certificate, &Exceeded::within(steps))
}

fn checked(certificate: &Certificate, exceeded: &Exceeded) -> Verdict {
    let reason = first_fault(certificate, exceeded).err();
    Verdict { too_large: exceeded.is_so(), ..verdict(certificate.claims().len(), reason) }
}

/// [`check`], and whether the certificate is about the types and servers of `problem`: as for ratio
/// certificates, but its loads and numbers of servers play no part.
#[must_use]
pub fn check_against(certificate: &Certificate, problem: &Reservation) -> Verdict {
    if same_types(&certificate.problem, problem) {
        return check(certificate);
    }
    verdict(certificate.claims().len(), Some("the certificate is about another problem".to_owned()))
}

fn first_fault(certificate: &Certificate, exceeded: &Exceeded) -> Result<(), String> {
    certificate.check_shape()?;
    let Certificate { problem, ratio_lower, ratio_upper, .. } = certificate;
    if problem.jobs().iter().all(|job| job.reward().is_zero()) {
        return nothing(certificate);
    }
    let (Some(lower), Some(upper)) = (ratio_lower, ratio_upper) else {
        return Err("a ratio is missing, though types have a reward".to_owned());
    };
    if *lower > 1 {
        return Err("ratio_lower: loads that greedy serves have the ratio 1".to_owned());
    }
    let mut verifier = Verifier::new(problem, exceeded)?;
    walk::claims(certificate, lower, &mut verifier)?;

    let (loads, one) = (&certificate.loads, [Rational::from(1)]);
    if loads.iter().any(|load| *load < 0) {
        return Err("loads: one is negative".to_owned());
    }
    greedy::verify(&certificate.greedy, loads, &one, &mut verifier)
        .map_err(|fault| format!("greedy: {fault}"))?;
    optimum::assigned(&certificate.optimum, loads, &one, &mut verifier)
        .map_err(|fault| format!("optimum: {fault}"))?;
    if certificate.optimum.reward.is_zero() {
        return Err("optimum: it earns nothing, which has no ratio".to_owned());
    }
    if *upper != Rational::from(&certificate.greedy.reward / &certificate.optimum.reward) {
        return Err("ratio_upper: it is not greedy's reward over the optimum's".to_owned());
    }
    Ok(())
}

/// Where no type has a reward no load has a ratio, and nothing is to be stated.
fn nothing(certificate: &Certificate) -> Result<(), String> {
    let Certificate { ratio_lower, ratio_upper, loads, greedy, optimum, firsts, claims, .. } = certificate;
    let no_ratio = ratio_lower.is_none() && ratio_upper.is_none();
    let no_rewards = greedy.reward.is_zero() && optimum.reward.is_zero();
    let no_lists = greedy.steps.is_empty()
        && optimum.servers.is_empty()
        && firsts.is_empty()
        && claims.is_empty()
        && loads.iter().chain(&optimum.served).all(Rational::is_zero);
    if no_ratio && no_rewards && no_lists {
        return Ok(());
    }
    Err("no type has a reward, and yet something is stated".to_owned())
}

//! Whether a worst-load certificate is true: one walk over the claims, and the loads on their own.

use evenhand_problem::{Rational, Reservation};

use super::certificate::WorstLoadCertificate;
use super::walk;
use crate::ratio::check::AboutReservations;
use crate::ratio::same::same_types;
use crate::ratio::verify::Verifier;
use crate::ratio::work::Work;
use crate::ratio::{greedy, optimum};
use crate::refusal::Refusal;

impl AboutReservations for WorstLoadCertificate {
    fn n_claims(&self) -> usize {
        self.claims().len()
    }

    fn judge(&self, steps: u64) -> Result<(), Refusal> {
        judge(self, Work::within(steps))
    }

    /// The same types and servers: loads and numbers of servers play no part.
    fn is_about(&self, problem: &Reservation) -> bool {
        same_types(&self.problem, problem)
    }
}

fn judge(certificate: &WorstLoadCertificate, work: Work) -> Result<(), Refusal> {
    certificate.check_shape()?;
    let WorstLoadCertificate { problem, ratio_lower, ratio_upper, .. } = certificate;
    if problem.jobs().iter().all(|job| job.reward().is_zero()) {
        return nothing(certificate);
    }
    let (Some(lower), Some(upper)) = (ratio_lower, ratio_upper) else {
        return Err(Refusal::new("a ratio is missing, though types have a reward"));
    };
    if *lower > 1 {
        return Err(Refusal::new("ratio_lower: loads that greedy serves have the ratio 1"));
    }
    if *lower < 0 {
        return Err(Refusal::new("ratio_lower: greedy earns at least 0, whatever is stated"));
    }
    let mut verifier = Verifier::new(problem, work)?;
    walk::claims(certificate, lower, &mut verifier)?;

    let (loads, one) = (&certificate.loads, [Rational::from(1)]);
    if loads.iter().any(|load| *load < 0) {
        return Err(Refusal::new("loads: one is negative"));
    }
    greedy::verify(&certificate.greedy, loads, &one, &mut verifier).map_err(|fault| fault.about("greedy"))?;
    optimum::assigned(&certificate.optimum, loads, &one, &mut verifier)
        .map_err(|fault| fault.about("optimum"))?;
    if certificate.optimum.reward.is_zero() {
        return Err(Refusal::new("optimum: it earns nothing, which has no ratio"));
    }
    if *upper != Rational::from(&certificate.greedy.reward / &certificate.optimum.reward) {
        return Err(Refusal::new("ratio_upper: it is not greedy's reward over the optimum's"));
    }
    Ok(())
}

/// Where no type has a reward no load has a ratio, and nothing is to be stated.
fn nothing(certificate: &WorstLoadCertificate) -> Result<(), Refusal> {
    let WorstLoadCertificate { ratio_lower, ratio_upper, loads, greedy, optimum, firsts, claims, .. } =
        certificate;
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
    Err(Refusal::new("no type has a reward, and yet something is stated"))
}

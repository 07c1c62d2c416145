//! The checker of ratio certificates.
//!
//! It believes the problem, and recomputes or proves everything else. What it runs is bounded: sums
//! over the file, each tree walked once, dynamic programmes of at most
//! [`MOST_CELLS`](super::MOST_CELLS) cells, all within a fixed number of steps and of bits.

use evenhand_problem::{Integer, Rational, Reservation};

use super::same::same_reservation;
use super::verify::Verifier;
use super::work::Exceeded;
use super::{Certificate, Whole, greedy, optimum};
use crate::checker::Verdict;

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

/// [`check`], and whether the certificate is about `problem`: the same resources, pools, types and
/// numbers, pools and types in the same order, whatever the title and the spelling.
#[must_use]
pub fn check_against(certificate: &Certificate, problem: &Reservation) -> Verdict {
    if same_reservation(&certificate.problem, problem) {
        return check(certificate);
    }
    verdict(certificate.claims().len(), Some("the certificate is about another problem".to_owned()))
}

/// Valid where there is no reason against it.
pub(super) fn verdict(claims: usize, reason: Option<String>) -> Verdict {
    Verdict { valid: reason.is_none(), claims, reason, tolerance: Rational::new(), too_large: false }
}

fn first_fault(certificate: &Certificate, exceeded: &Exceeded) -> Result<(), String> {
    let problem = &certificate.problem;
    let (loads, sizes) = (problem.loads(), problem.fractions());
    certificate.check_shape()?;
    let mut verifier = Verifier::new(problem, exceeded)?;
    let of = |what: &'static str| move |fault: String| format!("{what}: {fault}");
    greedy::verify(&certificate.greedy, &loads, &sizes, &mut verifier).map_err(of("greedy"))?;
    let optimum = &certificate.optimum;
    let bound = optimum::verify(optimum, &loads, &sizes, &mut verifier).map_err(of("optimum"))?;
    if optimum.bound != bound {
        return Err(format!("optimum: the bound is {bound}"));
    }
    let ratio = (!bound.is_zero()).then(|| Rational::from(&certificate.greedy.reward / &bound));
    if certificate.ratio != ratio {
        return Err("ratio: it is not greedy's reward over the bound".to_owned());
    }
    match &certificate.integer {
        None => Ok(()),
        Some(whole) => integer(certificate, whole, &mut verifier).map_err(of("integer")),
    }
}

fn integer(certificate: &Certificate, whole: &Whole, verifier: &mut Verifier<'_>) -> Result<(), String> {
    let problem = &certificate.problem;
    let counts: Option<Vec<Integer>> =
        problem.pools().iter().map(|pool| pool.count().map(Integer::from)).collect();
    let (Some(jobs), Some(counts)) = (problem.whole_jobs(), counts) else {
        return Err("the problem states no numbers of servers".to_owned());
    };
    greedy::verify(&whole.greedy, &jobs, &counts, verifier).map_err(|fault| format!("greedy: {fault}"))?;
    let bound = optimum::verify(&whole.optimum, &jobs, &counts, verifier);
    let bound = optimum::whole(problem, bound.map_err(|fault| format!("optimum: {fault}"))?, verifier)?;
    if whole.optimum.bound != bound {
        return Err(format!("optimum: the bound is {bound}"));
    }
    Ok(())
}

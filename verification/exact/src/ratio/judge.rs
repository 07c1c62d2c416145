//! Whether a ratio certificate is true.

use evenhand_problem::{Integer, Rational, Reservation};

use super::certificate::{RatioCertificate, Whole};
use super::check::AboutReservations;
use super::same::same_reservation;
use super::verify::Verifier;
use super::work::Work;
use super::{greedy, optimum};
use crate::refusal::Refusal;

impl AboutReservations for RatioCertificate {
    fn n_claims(&self) -> usize {
        self.claims().len()
    }

    fn judge(&self, steps: u64) -> Result<(), Refusal> {
        judge(self, Work::within(steps))
    }

    /// The same resources, pools, types and numbers, pools and types in the same order.
    fn is_about(&self, problem: &Reservation) -> bool {
        same_reservation(&self.problem, problem)
    }
}

fn judge(certificate: &RatioCertificate, work: Work) -> Result<(), Refusal> {
    let problem = &certificate.problem;
    let (loads, sizes) = (problem.loads(), problem.fractions());
    certificate.check_shape()?;
    let mut verifier = Verifier::new(problem, work)?;
    let of = |what: &'static str| move |fault: Refusal| fault.about(what);
    greedy::verify(&certificate.greedy, &loads, &sizes, &mut verifier).map_err(of("greedy"))?;
    let optimum = &certificate.optimum;
    let bound = optimum::verify(optimum, &loads, &sizes, &mut verifier).map_err(of("optimum"))?;
    if optimum.bound != bound {
        return Err(Refusal::new(format!("optimum: the bound is {bound}")));
    }
    let ratio = (!bound.is_zero()).then(|| Rational::from(&certificate.greedy.reward / &bound));
    if certificate.ratio != ratio {
        return Err(Refusal::new("ratio: it is not greedy's reward over the bound"));
    }
    match &certificate.integer {
        None => Ok(()),
        Some(whole) => integer(certificate, whole, &mut verifier).map_err(of("integer")),
    }
}

fn integer(
    certificate: &RatioCertificate,
    whole: &Whole,
    verifier: &mut Verifier<'_>,
) -> Result<(), Refusal> {
    let problem = &certificate.problem;
    let counts: Option<Vec<Integer>> =
        problem.pools().iter().map(|pool| pool.count().map(Integer::from)).collect();
    let (Some(jobs), Some(counts)) = (problem.whole_jobs(), counts) else {
        return Err(Refusal::new("the problem states no numbers of servers"));
    };
    greedy::verify(&whole.greedy, &jobs, &counts, verifier).map_err(|fault| fault.about("greedy"))?;
    let bound = optimum::verify(&whole.optimum, &jobs, &counts, verifier);
    let bound = optimum::whole(problem, bound.map_err(|fault| fault.about("optimum"))?, verifier)?;
    if whole.optimum.bound != bound {
        return Err(Refusal::new(format!("optimum: the bound is {bound}")));
    }
    Ok(())
}

//! That the claims settle every order.

use std::collections::HashMap;

use evenhand_problem::Rational;
use rug::Integer;

use super::certificate::{Covers, PrefixClaim, WorstLoadCertificate};
use crate::ratio::shape::Configuration;
use crate::ratio::verify::Verifier;
use crate::refusal::Refusal;

/// The first configuration of some types, proven, and what it is worth.
struct Best<'c> {
    configuration: &'c Configuration,
    reward: Rational,
}

/// Whether the claims prove that no loads have a ratio below `ratio`, which is at most 1.
pub(super) fn claims(
    certificate: &WorstLoadCertificate,
    ratio: &Rational,
    verifier: &mut Verifier<'_>,
) -> Result<(), Refusal> {
    let best = firsts(certificate, verifier)?;
    let jobs = verifier.problem.jobs();
    verifier.work.rationals(jobs.len(), ratio)?;
    let worth = jobs.iter().map(|job| Rational::from(ratio * job.reward())).collect();
    let mut judge = Judge { worth, alone: alone(verifier)?, verifier };
    let name = |order: &[usize]| order.iter().map(|&j| jobs[j].name()).collect::<Vec<_>>().join(", ");

    let mut stated = certificate.claims.iter();
    let mut order: Vec<usize> = Vec::new();
    // The configuration of every step up to that of `order`, and how many of its types were walked.
    let mut steps: Vec<(&Best<'_>, usize)> = Vec::new();
    loop {
        judge.verifier.work.steps(jobs.len() + 1, 2 * (order.len() + 10))?;
        let open: Vec<usize> = (0..jobs.len()).filter(|j| !order.contains(j)).collect();
        if !open.is_empty() {
            let here = |fault: Refusal| fault.about(&format!("claims: the order ({})", name(&order)));
            let Some(best) = best.get(open.as_slice()) else {
                let fault = "the first configuration of the other types is not stated";
                return Err(here(Refusal::new(fault)));
            };
            let Some(claim) = stated.next().filter(|claim| claim.order == order) else {
                return Err(here(Refusal::new("there is no claim about it where it has its turn")));
            };
            steps.push((best, 0));
            judge.holds(claim, &steps, &open).map_err(here)?;
            if claim.covers == Covers::All {
                steps.pop();
            }
        }
        // The next order: longer by a type of the last configuration that has one left.
        loop {
            let Some((best, walked)) = steps.last_mut() else {
                return match stated.next() {
                    None => Ok(()),
                    Some(_) => Err(Refusal::new("claims: there are more than orders to be settled")),
                };
            };
            let next = best.configuration.get(*walked).map(|(j, _)| *j);
            *walked += 1;
            order.truncate(steps.len() - 1);
            match next {
                Some(j) => {
                    order.push(j);
                    break;
                }
                None => drop(steps.pop()),
            }
        }
    }
}

/// Every stated first configuration, by its open types, each proven.
fn firsts<'c>(
    certificate: &'c WorstLoadCertificate,
    verifier: &mut Verifier<'_>,
) -> Result<HashMap<&'c [usize], Best<'c>>, Refusal> {
    let mut best = HashMap::with_capacity(certificate.firsts.len());
    for (position, first) in certificate.firsts.iter().enumerate() {
        let configuration = &first.configuration;
        verifier.work.steps(first.open.len() + configuration.len() + 1, 200)?;
        let proven = verifier.first(0, &first.open, configuration, &first.first);
        proven.map_err(|fault| fault.about(&format!("firsts {position}")))?;
        let reward = verifier.problem.jobs();
        let reward = configuration.iter().map(|(j, k)| Rational::from(reward[*j].reward() * *k)).sum();
        best.insert(first.open.as_slice(), Best { configuration, reward });
    }
    Ok(best)
}

/// Reward of a server full of one type, by type.
fn alone(verifier: &mut Verifier<'_>) -> Result<Vec<Rational>, Refusal> {
    let problem = verifier.problem;
    let each = 1_000 * (problem.resources().len() + 1) + problem.configurations().map_or(0, <[_]>::len);
    verifier.work.steps(problem.n_types(), each)?;
    let jobs = problem.jobs().iter().enumerate();
    Ok(jobs.map(|(j, job)| Rational::from(job.reward() * Integer::from(problem.most(0, j)))).collect())
}

/// Judges single claims.
struct Judge<'v, 'p> {
    /// `a u_j`
    worth: Vec<Rational>,
    alone: Vec<Rational>,
    verifier: &'v mut Verifier<'p>,
}

impl Judge<'_, '_> {
    /// Whether a claim holds at the end of these steps.
    fn holds(
        &mut self,
        claim: &PrefixClaim,
        steps: &[(&Best<'_>, usize)],
        open: &[usize],
    ) -> Result<(), Refusal> {
        let jobs = self.verifier.problem.jobs();
        let (load, slot, pi) = (&claim.prices.load, &claim.prices.slot, &claim.prices.server[0]);
        // When a type ran out, from 1; the types that did not have no price.
        let mut turn = vec![0; jobs.len()];
        claim.order.iter().enumerate().for_each(|(i, &j)| turn[j] = i + 1);
        for (j, job) in jobs.iter().enumerate() {
            let (alpha, beta) = (&load[j], &slot[j]);
            if *alpha < 0 || *beta < 0 {
                return Err(Refusal::new(format!("a price of `{}` is negative", job.name())));
            }
            if turn[j] == 0 && !alpha.is_zero() {
                return Err(Refusal::new(format!(
                    "`{}` does not run out, and its load has a price",
                    job.name()
                )));
            }
            let price = Rational::from(alpha + beta);
            self.verifier.work.rationals(1, &price)?;
            self.verifier.work.rationals(1, &self.worth[j])?;
            if price < self.worth[j] {
                return Err(Refusal::new(format!(
                    "the prices of `{}` are less than the ratio of its reward",
                    job.name()
                )));
            }
        }
        let least = open.iter().map(|&j| &self.alone[j]).min();
        self.verifier.work.steps(open.len(), 100)?;
        for (l, (best, _)) in steps.iter().enumerate() {
            let mut sum = pi.clone();
            self.verifier.work.steps(best.configuration.len() + 1, 10)?;
            for (j, k) in best.configuration.iter().filter(|(j, _)| turn[*j] > l) {
                sum += Rational::from(&load[*j] * *k);
                self.verifier.work.rationals(1, &sum)?;
            }
            let value = match (claim.covers, least) {
                (Covers::All, Some(least)) if l + 1 == steps.len() => least,
                _ => &best.reward,
            };
            if sum > *value {
                return Err(Refusal::new(format!("the prices exceed what step {} earns", l + 1)));
            }
        }
        self.verifier.pricing(0, slot, pi, &claim.pricing).map_err(|fault| fault.about("pricing"))
    }
}

//! A second checker of worst-load certificates. It lists all configurations and orders.

use evenhand_exact::ratio::worst_load::{Covers, PrefixClaim, WorstLoadCertificate};
use evenhand_problem::{Rational, Reservation};

use crate::plain::ratio::{self as plain, K, Plain};

/// Returns `true` if everything in the certificate is true and proven. Returns `None` if there are too many
/// configurations to list.
pub fn is_true(certificate: &WorstLoadCertificate) -> Option<bool> {
    let problem = &certificate.problem;
    let all = plain::configurations(problem)?;
    let rewards = problem.rewards();
    if problem.n_pools() != 1 {
        return Some(false);
    }
    if rewards.iter().all(|reward| *reward == 0) {
        let WorstLoadCertificate { greedy, optimum, .. } = certificate;
        let numbers = certificate.loads.iter().chain(&optimum.served);
        return Some(
            certificate.ratio_lower.is_none()
                && certificate.ratio_upper.is_none()
                && numbers.chain([&greedy.reward, &optimum.reward]).all(|number| *number == 0)
                && greedy.steps.len() + optimum.servers.len() == 0
                && certificate.firsts.len() + certificate.claims.len() == 0,
        );
    }
    let (Some(lower), Some(upper)) = (&certificate.ratio_lower, &certificate.ratio_upper) else {
        return Some(false);
    };
    let mut checker = Plain { problem, all: &all, known: Vec::new() };
    for stated in &certificate.firsts {
        let k = plain::first(problem, &all[0], &stated.open);
        if checker.dense(&stated.configuration) != k || !checker.first(0, &stated.open, &k, &stated.first) {
            return Some(false);
        }
    }
    let mut cover = Cover { certificate, rewards: &rewards, all: &all[0], checker: &checker, lower, next: 0 };
    let settled = cover.settles(&[], &[]) && cover.next == certificate.claims.len();
    let one = [Rational::from(1)];
    let loads = &certificate.loads;
    Some(
        settled
            && *lower >= 0
            && *lower <= 1
            && loads.iter().all(|load| *load >= 0)
            && checker.greedy(&certificate.greedy, loads, &one, false)
            && checker.assignment(&certificate.optimum, loads, &one)
            && certificate.optimum.reward > 0
            && Rational::from(upper * &certificate.optimum.reward) == certificate.greedy.reward,
    )
}

struct Cover<'a> {
    certificate: &'a WorstLoadCertificate,
    rewards: &'a [Rational],
    all: &'a [K],
    checker: &'a Plain<'a>,
    lower: &'a Rational,
    next: usize,
}

impl Cover<'_> {
    fn problem(&self) -> &Reservation {
        &self.certificate.problem
    }

    /// Returns `true` if the claims from `next` on settle all orders that begin with `order`.
    fn settles(&mut self, order: &[usize], before: &[K]) -> bool {
        let open: Vec<usize> = (0..self.rewards.len()).filter(|j| !order.contains(j)).collect();
        if open.is_empty() {
            return true;
        }
        let stated = self.certificate.firsts.iter().any(|first| first.open == open);
        let Some(claim) = self.certificate.claims.get(self.next).filter(|c| stated && c.order == order)
        else {
            return false;
        };
        self.next += 1;
        let mut steps = before.to_vec();
        steps.push(plain::first(self.problem(), self.all, &open));
        if !self.holds(claim, &steps, &open) {
            return false;
        }
        let last = steps.last().unwrap().clone();
        claim.covers == Covers::All
            || (0..last.len()).filter(|&j| last[j] > 0).all(|j| {
                let mut longer = order.to_vec();
                longer.push(j);
                self.settles(&longer, &steps)
            })
    }

    fn holds(&self, claim: &PrefixClaim, steps: &[K], open: &[usize]) -> bool {
        let (load, slot, pi) = (&claim.prices.load, &claim.prices.slot, &claim.prices.server[0]);
        let prices = (0..load.len()).all(|j| {
            load[j] >= 0
                && slot[j] >= 0
                && (load[j] == 0 || claim.order.contains(&j))
                && Rational::from(&load[j] + &slot[j]) >= Rational::from(self.lower * &self.rewards[j])
        });
        let steps = (0..steps.len()).all(|l| {
            let mut earned = plain::value(self.rewards, &steps[l]);
            if claim.covers == Covers::All && l + 1 == steps.len() {
                let alone = |&j: &usize| Rational::from(&self.rewards[j] * self.problem().most(0, j));
                earned = open.iter().map(alone).min().unwrap();
            }
            let later = claim.order.iter().skip(l);
            let priced: Rational = later.map(|&j| Rational::from(&load[j] * steps[l][j])).sum();
            priced + pi <= earned
        });
        prices && steps && self.checker.pricing(0, slot, pi, &claim.pricing)
    }
}

//! The formulas of the schedulers as plain functions. docs/theory.md, section 10 names their sources.

use evenhand_problem::Rational;
use rug::Integer;

use crate::power::{Enclosure, power_of_half};

/// Returns the factor by which Slurm's source decays usage in a second: 1 - .693 / h, for a half-life in nanoseconds.
///
/// The factor is negative for a half-life below .693 seconds. Source: `_decay_thread` in
/// src/plugins/priority/multifactor/priority_multifactor.c.
#[must_use]
pub fn slurm_second(half_life: i64) -> Rational {
    // .693 seconds are 693,000,000 nanoseconds.
    Rational::from(1) - Rational::from((693_000_000, half_life))
}

/// Returns Slurm's classic factor 2^(-U / S). U is the queue's fraction of all usage, and S is its fraction
/// of all shares. The factor is 0 if S is 0. If U is exact, the bounds differ by at most `width`.
///
/// Source: `priority_p_calc_fs_factor` in priority_multifactor.c, with a dampening factor of 1.
#[must_use]
pub fn classic_factor(usage: &Enclosure, share: &Rational, width: &Rational) -> Enclosure {
    classic_by(usage, share, |exponent| power_of_half(exponent, width))
}

/// Returns the classic factor. `power` computes powers of 1/2.
pub(crate) fn classic_by(
    usage: &Enclosure,
    share: &Rational,
    power: impl Fn(&Rational) -> Enclosure,
) -> Enclosure {
    if *share <= 0 {
        return Enclosure::default();
    }
    let at = |usage: &Rational| power(&Rational::from(usage / share));
    Enclosure { low: at(&usage.high).low, high: at(&usage.low).high }
}

/// Returns the level fair share S / U of Slurm's fair tree. `None` means infinity, for a queue without usage.
///
/// Source: `_calc_assoc_fs` in src/plugins/priority/multifactor/fair_tree.c.
#[must_use]
pub fn level_fair_share(usage: &Enclosure, share: &Rational) -> Option<Enclosure> {
    Enclosure::of(share.clone()).over(usage)
}

/// Returns one step of Kueue's moving average: the old usage times 1 - alpha, plus the sample times alpha. Alpha is 1 -
/// 2^(-elapsed / half-life), which the caller computes.
///
/// Source: `CalculateDecayedConsumed` in pkg/util/admissionfairsharing/admission_fair_sharing.go.
#[must_use]
pub fn kueue_step(old: &Rational, sample: &Rational, alpha: &Rational) -> Rational {
    old * (Rational::from(1) - alpha) + Rational::from(sample * alpha)
}

/// Returns the penalty that Kueue adds when it admits a workload: alpha times the requests of the workload. Alpha is
/// that of [`kueue_step`] for one sampling interval.
///
/// Source: `CalculateEntryPenalty` in the same file.
#[must_use]
pub fn entry_penalty(requests: &Rational, alpha: &Rational) -> Rational {
    Rational::from(requests * alpha)
}

/// Divides an amount as KAI does among queues that all want more. The parts are proportional to max(0, w + k
/// (w - u)). Here w is the weight of the queue as a fraction of all weights, and u is the usage of the queue
/// as a fraction of the cluster. If all these numbers are 0, no queue gets anything.
///
/// Source: `calcShareWeights` in pkg/scheduler/plugins/proportion/resource_division/resource_division.go. The
/// function [`kai_rounded`] rounds the result to whole units.
#[must_use]
pub fn kai_shares(
    amount: &Rational,
    weights: &[Rational],
    usage: &[Rational],
    k: &Rational,
) -> Vec<Rational> {
    let all: Rational = weights.iter().sum();
    if all <= 0 {
        return vec![Rational::new(); weights.len()];
    }
    let share = |(weight, usage): (&Rational, &Rational)| {
        let weight = Rational::from(weight / &all);
        let share = Rational::from(&weight - usage) * k + weight;
        if share < 0 { Rational::new() } else { share }
    };
    let shares: Vec<Rational> = weights.iter().zip(usage).map(share).collect();
    let sum: Rational = shares.iter().sum();
    if sum == 0 {
        return shares;
    }
    shares.into_iter().map(|share| share * amount / &sum).collect()
}

/// Rounds KAI's shares to whole units. Each share is rounded down. The remaining units go to the queues with the
/// largest remainders, one unit each. Queues with equal remainders are served in their order.
///
/// Source: `getResourceToGiveInCurrentRound` and `divideRemainingResource` in the same file.
#[must_use]
pub fn kai_rounded(shares: &[Rational]) -> Vec<Rational> {
    let mut whole: Vec<Rational> =
        shares.iter().map(|share| Rational::from(Integer::from(share.floor_ref()))).collect();
    let mut rest: Rational = shares.iter().sum::<Rational>() - whole.iter().sum::<Rational>();
    let mut order: Vec<usize> = (0..shares.len()).filter(|n| shares[*n] != whole[*n]).collect();
    order.sort_by_key(|n| Rational::from(&whole[*n] - &shares[*n]));
    for n in order {
        if rest <= 0 {
            break;
        }
        let unit = if rest < 1 { rest.clone() } else { Rational::from(1) };
        whole[n] += &unit;
        rest -= unit;
    }
    whole
}

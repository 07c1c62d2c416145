//! Computes the worst load of a small instance in integers. The linear programmes are those of
//! [`worst_load`](evenhand_packing::worst_load), over all maximal configurations, and are solved without
//! HiGHS.
//!
//! A programme belongs to an order `phi` in which types run out. `K_l` is the configuration of step `l`, `V_l` the
//! reward of its servers, and `z_l` their number. `s_i` is the number of jobs of type `phi_i` that the optimum leaves
//! out. `x_k` is the number of servers with the maximal configuration `k` in the optimum. The programme minimises the
//! quotient of `G = sum_l V_l z_l` and `R = sum_i u_i (load_i(z) - s_i) + sum_k x_k sum_(j not in phi) u_j k_j`
//! subject to `load_i(z) - s_i <= sum_k x_k k_i` and `sum x <= sum z <= 1`, where `load_i(z) = sum_(l <= i) z_l
//! K_l[i]`. The tableau starts at 0, where every slack variable is basic.
//!
//! The search may discard all orders that begin with `phi` at once. To this end it solves the programme of
//! `phi` with the smallest possible reward of later steps. If this programme has no quotient below the bound,
//! no order that begins with `phi` has one. If integers do not fit, or there are too many configurations, the
//! rational method of `evenhand-lp` is used instead.

use evenhand_budget::{Limits, within};
use evenhand_packing::MaxReward;
use evenhand_packing::worst_load::{WorstLoad, worst_load};
use evenhand_problem::Rational;
use serde::{Deserialize, Serialize};

use super::HuntError;
use super::clock::Clock;
use super::tableau::{SmallFraction, Tableau, TableauGoal, fraction};
use super::types::Instance;

/// The limits of the rational method for one instance: about six seconds, and half a gigabyte. Typical instances of a
/// hunt take milliseconds.
pub(super) const LIMITS: Limits =
    Limits { work: Some(Limits::A_MINUTE / 10), memory: Some(1 << 29), time: None, grows: false };

/// Counts of the instances by how they were decided. They do not depend on the number of threads.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Counts {
    /// The number of instances that were compared with the bound. Instances that differ in the order of types count
    /// separately.
    pub examined: u64,
    /// The number of examined instances that were discarded because every type alone earns enough on a server.
    pub discarded_at_once: u64,
    /// The number of examined instances that linear programmes discarded.
    pub discarded: u64,
    /// The number of examined instances with a ratio below the bound. The least ratio of these instances was
    /// computed.
    pub evaluated: u64,
    /// The number of examined instances that were left out, because they were too large to be decided.
    #[serde(default)]
    pub too_large: u64,
    /// The number of examined instances that were too large for 64-bit integers, so that the rational method
    /// decided them.
    pub by_rationals: u64,
    /// The number of linear programmes solved in integers.
    pub programmes: u64,
}

impl Counts {
    /// Adds the counts of another part of the search.
    pub fn add(&mut self, other: &Self) {
        self.examined = self.examined.saturating_add(other.examined);
        self.discarded_at_once = self.discarded_at_once.saturating_add(other.discarded_at_once);
        self.discarded = self.discarded.saturating_add(other.discarded);
        self.evaluated = self.evaluated.saturating_add(other.evaluated);
        self.too_large = self.too_large.saturating_add(other.too_large);
        self.by_rationals = self.by_rationals.saturating_add(other.by_rationals);
        self.programmes = self.programmes.saturating_add(other.programmes);
    }
}

/// Returns the least ratio of greedy to the optimum over all loads if it is below `bound`. If the instance is too large
/// to be decided, it is counted, and the result is `None`.
///
/// # Errors
/// [`HuntError`] if the rational method was needed and failed.
pub fn below(
    instance: &Instance,
    maximal: Option<&[Vec<u32>]>,
    bound: &Rational,
    counts: &mut Counts,
) -> Result<Option<Rational>, HuntError> {
    below_until(instance, maximal, bound, counts, &Clock::default())
}

/// Computes [`below`] within a time limit. Fails with [`HuntError::OutOfTime`] if the time is up.
pub(super) fn below_until(
    instance: &Instance,
    maximal: Option<&[Vec<u32>]>,
    bound: &Rational,
    counts: &mut Counts,
    clock: &Clock,
) -> Result<Option<Rational>, HuntError> {
    clock.check()?;
    counts.examined += 1;
    let rewards: Option<Vec<i64>> =
        instance.types.iter().map(|each| i64::try_from(each.reward).ok()).collect();
    let parts = (bound.numer().to_i64(), bound.denom().to_i64());
    if let (Some(maximal), Some(rewards), (Some(p), Some(q))) = (maximal, rewards, parts)
        && let Some(small) = Small::new(rewards, maximal)
    {
        let bound = fraction(p, q);
        if small.alone(bound) {
            counts.discarded_at_once += 1;
            return Ok(None);
        }
        let mut search = Search::new(&small, bound, *clock);
        let done = search.visit(&mut Vec::new(), &mut Vec::new(), small.all());
        counts.programmes += search.programmes;
        if done.is_none() {
            clock.check()?;
        }
        if done.is_some() {
            let found = search.least != bound;
            *(if found { &mut counts.evaluated } else { &mut counts.discarded }) += 1;
            return Ok(found.then(|| Rational::from((search.least.p, search.least.q))));
        }
    }
    counts.by_rationals += 1;
    let ratio = match exactly_until(instance, clock) {
        Ok(worst) => worst.ratio_upper,
        Err(error) => return left_out(error, counts).map(|()| None),
    };
    let found = ratio < *bound;
    *(if found { &mut counts.evaluated } else { &mut counts.discarded }) += 1;
    Ok(found.then_some(ratio))
}

/// Counts an instance that is too large, and returns every other error.
fn left_out(error: HuntError, counts: &mut Counts) -> Result<(), HuntError> {
    if !error.is_too_large() {
        return Err(error);
    }
    counts.too_large += 1;
    Ok(())
}

/// Computes the worst load by the method of `evenhand-lp`, which can solve every instance.
///
/// # Errors
/// [`HuntError`] if the solver fails, or its lower and upper bounds differ.
pub fn exactly(instance: &Instance) -> Result<WorstLoad, HuntError> {
    exactly_until(instance, &Clock::default())
}

/// Computes [`exactly`] within a time limit. Fails with [`HuntError::OutOfTime`] if the time is up.
pub(super) fn exactly_until(instance: &Instance, clock: &Clock) -> Result<WorstLoad, HuntError> {
    let problem = instance.problem(&[])?;
    let worst =
        within(&LIMITS, || worst_load(&mut MaxReward::within(&problem, &clock.limits()), &mut |_, _| {}))??;
    let worst = worst.ok_or(HuntError::Disagree { what: "no type has a reward" })?;
    if worst.ratio_lower != worst.ratio_upper {
        return Err(HuntError::Disagree { what: "the bounds of the worst load do not meet" });
    }
    Ok(worst)
}

/// Returns `true` if a set of types has several best configurations. Without such ties the order of the types
/// does not matter.
pub fn has_ties(rewards: &[u64], maximal: &[Vec<u32>]) -> bool {
    let n_types = rewards.len();
    (1..1usize << n_types).any(|open| {
        let restricted = |k: &Vec<u32>| -> Vec<u32> {
            (0..n_types).map(|j| if open >> j & 1 == 1 { k[j] } else { 0 }).collect()
        };
        let value =
            |k: &[u32]| -> u128 { k.iter().zip(rewards).map(|(k, u)| u128::from(*k) * u128::from(*u)).sum() };
        let mut best: Option<(u128, Vec<u32>)> = None;
        let mut tied = false;
        for k in maximal.iter().map(restricted) {
            let next = value(&k);
            match &best {
                Some((most, _)) if next < *most => {}
                Some((most, first)) if next == *most => tied |= k != *first,
                _ => {
                    best = Some((next, k));
                    tied = false;
                }
            }
        }
        tied
    })
}

/// The numbers of an instance that the programmes need.
struct Small<'a> {
    rewards: Vec<i64>,
    maximal: &'a [Vec<u32>],
    /// The reward of a server full of jobs of one type, indexed by type.
    alone: Vec<i64>,
}

/// A step of an order: its configuration, and the reward of a server with this configuration.
#[derive(Clone, Copy)]
struct Step<'a> {
    configuration: &'a [u32],
    open: usize,
    reward: i64,
}

impl Step<'_> {
    fn jobs(&self, j: usize) -> i64 {
        if self.open >> j & 1 == 1 { i64::from(self.configuration[j]) } else { 0 }
    }
}

impl<'a> Small<'a> {
    /// Creates the numbers of an instance. Returns `None` if the rewards are too large.
    fn new(rewards: Vec<i64>, maximal: &'a [Vec<u32>]) -> Option<Self> {
        if rewards.len() >= usize::BITS as usize || maximal.is_empty() {
            return None;
        }
        let mut alone = vec![0; rewards.len()];
        for k in maximal {
            let mut sum: i64 = 0;
            for (j, (k, u)) in k.iter().zip(&rewards).enumerate() {
                let earned = u.checked_mul(i64::from(*k))?;
                sum = sum.checked_add(earned)?;
                alone[j] = alone[j].max(earned);
            }
        }
        Some(Self { rewards, maximal, alone })
    }

    fn all(&self) -> usize {
        (1 << self.rewards.len()) - 1
    }

    /// Returns the first step of greedy if the types in `open` still have jobs. Its configuration is the one
    /// that `MaxReward` chooses.
    fn first(&self, open: usize) -> Step<'a> {
        let mut best = Step { configuration: &self.maximal[0], open, reward: -1 };
        for k in self.maximal {
            let mut step = Step { configuration: k, open, reward: 0 };
            step.reward = (0..self.rewards.len()).map(|j| step.jobs(j) * self.rewards[j]).sum();
            let later = || {
                let pairs = (0..self.rewards.len()).map(|j| step.jobs(j).cmp(&best.jobs(j)));
                pairs.fold(std::cmp::Ordering::Equal, std::cmp::Ordering::then).is_gt()
            };
            if step.reward > best.reward || step.reward == best.reward && later() {
                best = step;
            }
        }
        best
    }

    /// Returns `true` if a server full of jobs of any one type earns at least `bound` times the largest
    /// possible reward.
    fn alone(&self, bound: SmallFraction) -> bool {
        let least = self.alone.iter().copied().min().unwrap_or(0);
        let most = self.first(self.all()).reward;
        i128::from(least) * i128::from(bound.q) >= i128::from(most) * i128::from(bound.p)
    }
}

struct Search<'s, 'a> {
    small: &'s Small<'a>,
    least: SmallFraction,
    first: Vec<Option<Step<'a>>>,
    programmes: u64,
    clock: Clock,
}

impl<'s, 'a> Search<'s, 'a> {
    fn new(small: &'s Small<'a>, bound: SmallFraction, clock: Clock) -> Self {
        Self { small, least: bound, first: vec![None; small.all() + 1], programmes: 0, clock }
    }

    /// Searches all orders that begin with `order`. Returns `None` if numbers do not fit or the time is up.
    fn visit(&mut self, order: &mut Vec<usize>, steps: &mut Vec<Step<'a>>, open: usize) -> Option<()> {
        if open == 0 {
            return Some(());
        }
        if self.clock.is_up() {
            return None;
        }
        let small = self.small;
        let next = *self.first[open].get_or_insert_with(|| small.first(open));
        let left = (0..small.rewards.len()).filter(|j| open >> j & 1 == 1);
        let lowest = left.map(|j| small.alone[j]).min().unwrap_or(0);
        steps.push(next);
        let bound = self.least;
        // If the smallest possible reward of later steps gives no ratio below the bound, no longer order gives one.
        let relaxed = self.programme(order, steps, lowest)?.least(bound, TableauGoal::Decide)?;
        if relaxed != bound {
            self.least = self.programme(order, steps, next.reward)?.least(bound, TableauGoal::Minimise)?;
            for j in (0..small.rewards.len()).filter(|&j| next.jobs(j) > 0) {
                order.push(j);
                self.visit(order, steps, open & !(1 << j))?;
                order.pop();
            }
        }
        steps.pop();
        Some(())
    }

    /// Returns the programme of an order. Its rows are those of `order`, of the `x` and of the `z`; its columns are
    /// `z`, `s`, `x`.
    fn programme(&mut self, order: &[usize], steps: &[Step<'a>], last: i64) -> Option<Tableau> {
        self.programmes += 1;
        let rewards = &self.small.rewards;
        let (of_x, of_z) = (order.len(), order.len() + 1);
        let mut columns = Vec::with_capacity(steps.len() + order.len() + self.small.maximal.len());
        for (l, step) in steps.iter().enumerate() {
            let mut served = 0;
            let mut entries = vec![(of_x, -1), (of_z, 1)];
            for (row, &j) in order.iter().enumerate().skip(l) {
                let k = step.jobs(j);
                if k > 0 {
                    served += rewards[j] * k;
                    entries.push((row, k));
                }
            }
            // In step `l` the types before position `l` have run out. In the relaxation, `last` replaces the reward of
            // the last step.
            columns.push((entries, served, if l == order.len() { last } else { step.reward }));
        }
        for (row, &j) in order.iter().enumerate() {
            columns.push((vec![(row, -1)], -rewards[j], 0));
        }
        for k in self.small.maximal {
            let mut earned = 0;
            let mut entries = vec![(of_x, 1)];
            for (j, &k) in k.iter().enumerate().filter(|(_, k)| **k > 0) {
                match order.iter().position(|&o| o == j) {
                    Some(row) => entries.push((row, -i64::from(k))),
                    None => earned += rewards[j] * i64::from(k),
                }
            }
            columns.push((entries, earned, 0));
        }
        let mut right = vec![0; order.len() + 2];
        right[of_z] = 1;
        Tableau::new(order.len() + 2, &right, &columns)
    }
}

#[cfg(test)]
mod tests {
    use evenhand_certify::ratio::RatioError;
    use evenhand_lp::LpError;
    use evenhand_packing::PackingError;

    use super::*;

    #[test]
    fn too_large_instances_are_counted_and_failures_are_errors() {
        let mut counts = Counts::default();
        let exceeded =
            within(&Limits { work: Some(1), ..Limits::default() }, || evenhand_budget::charge(2, "this"));
        let too_large: [HuntError; 4] = [
            PackingError::Budget { what: "nodes", limit: 1 }.into(),
            PackingError::Lp(LpError::PivotLimit { pivots: 1 }).into(),
            RatioError::TooLarge("long".to_owned()).into(),
            exceeded.unwrap_err().into(),
        ];
        for error in too_large {
            left_out(error, &mut counts).unwrap();
        }
        assert_eq!(counts, Counts { too_large: 4, ..Counts::default() });
        let wrong: [HuntError; 3] = [
            PackingError::OutOfTime.into(),
            PackingError::Lp(LpError::Infeasible).into(),
            HuntError::Disagree { what: "two methods" },
        ];
        for error in wrong {
            left_out(error, &mut counts).unwrap_err();
        }
        assert_eq!(counts.too_large, 4);
    }
}

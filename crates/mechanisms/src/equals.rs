//! Users that are alike but for their weight are one while a mechanism computes (docs/theory.md, section 2).
//!
//! The mechanism solves the smaller problem, and every user has its part of what the one in its place has. Nothing is
//! approximated: the answer is one of the mechanism for the problem as it is given.

use evenhand_budget::{charge, room, words_of_bits};
use evenhand_exact::{PriceVector, Prices, Tasks};
use evenhand_lp::level::LevelDual;
use evenhand_problem::{Arithmetic, Integer, Merged, Problem, Rational, Size, User};
use rug::ops::Pow;

use crate::mechanism::{Findings, Intervals, Outcome};

/// What a mechanism gives users that are alike but for their weight.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Equals {
    /// Nothing is known of that: each is a user of its own.
    Apart,
    /// Tasks in proportion to their weights, the same as one of all their weights together.
    ByWeight,
    /// Tasks in proportion to their weights to the power `1/alpha`, the same as one whose weight to that power is the sum
    /// of theirs.
    ByRoot(Rational),
    /// As [`ByWeight`](Self::ByWeight), where the weights count to the power of `alpha`: that of the one is not to be irrational
    /// where those of the others are rational, which lead to rational answers.
    ByPowerOfWeight(Rational),
    /// Those of the same weight can have equal tasks, the same as one of that weight.
    OfOneWeight,
}

impl Equals {
    /// The problem in which users that are alike are one; `None` where no two are.
    #[must_use]
    pub fn merge(&self, problem: &Problem) -> Option<Merged> {
        let alike = || Size { size: Rational::from(1), of_weight: true };
        let by_weight = |user: &User| Size { size: user.weight().clone(), of_weight: false };
        match self {
            Self::Apart => None,
            Self::ByWeight => problem.merged(by_weight, |weight, times| Some(Rational::from(weight * times))),
            Self::ByPowerOfWeight(alpha) => problem.merged(by_weight, |weight, times| {
                let one = Rational::from(weight * times);
                let is_rational = |weight: &Rational| short_power(weight, alpha).is_some();
                (is_rational(&one) || !is_rational(weight)).then_some(one)
            }),
            Self::ByRoot(alpha) => {
                let root = alpha.clone().recip();
                let size = |user: &User| {
                    let size = short_power(user.weight(), &root);
                    size.map_or_else(alike, |size| Size { size, of_weight: false })
                };
                problem.merged(size, |weight, times| Some(short_power(times, alpha)? * weight))
            }
            Self::OfOneWeight => problem.merged(|_| alike(), |weight, _| Some(weight.clone())),
        }
    }
}

/// Bits up to which the power of a weight counts as short: well within the range of doubles.
const SHORT_BITS: u32 = 256;

/// `weight^exponent`, where that is rational and short.
pub(crate) fn short_power(weight: &Rational, exponent: &Rational) -> Option<Rational> {
    let (power, index) = (exponent.numer().to_u32()?, exponent.denom().to_u32()?);
    let of_whole = |n: &Integer| {
        let root = Integer::from(n.root_ref(index));
        let is_short = root.significant_bits().checked_mul(power)? <= SHORT_BITS;
        (is_short && Integer::from((&root).pow(index)) == *n).then(|| root.pow(power))
    };
    Some(Rational::from((of_whole(weight.numer())?, of_whole(weight.denom())?)))
}

/// The outcome for the problem as it is given, from that for the merged one.
pub(crate) fn parted(outcome: Outcome, merged: &Merged) -> Outcome {
    let Outcome { mut allocation, findings, .. } = outcome;
    allocation.tasks = match allocation.arithmetic {
        Arithmetic::Exact => parted_tasks(&allocation.tasks, merged),
        Arithmetic::Float => rounded_tasks(&allocation.tasks, merged),
    };
    let each = |prices: Prices| Prices {
        user_weights: if prices.user_weights.is_empty() {
            Vec::new()
        } else {
            merged.each(&prices.user_weights)
        },
        users: merged.each(&prices.users),
        ..prices
    };
    let findings = Findings {
        prices: findings.prices.map(each),
        witnesses: findings.witnesses.map(|witnesses| merged.each(&witnesses)),
        levels: findings.levels.map(|levels| parted_levels(&levels, merged)),
        intervals: findings
            .intervals
            .map(|of| Intervals { levels: merged.each(&of.levels), width: of.width }),
        ..findings
    };
    Outcome { allocation, findings, ..outcome }
}

/// What every user has of what those have that stand for them.
#[must_use]
pub fn parted_tasks(tasks: &[Vec<(usize, Rational)>], merged: &Merged) -> Tasks {
    let words: Vec<u64> = tasks.iter().map(|row| words_of(row)).collect();
    pay(merged.part_of.iter().map(|(at, _)| words[*at]).sum());
    merged.parts(tasks)
}

/// The same of floating-point numbers, exactly in proportion.
fn rounded_tasks(tasks: &[Vec<(usize, Rational)>], merged: &Merged) -> Tasks {
    // Each number is some times a common one, by as many digits as the part has.
    let of_part = |of: &(usize, Rational)| {
        let one = words_of(std::slice::from_ref(of));
        words_of(&tasks[of.0]).saturating_add(one.saturating_mul(tasks[of.0].len() as u64))
    };
    pay(merged.part_of.iter().map(of_part).fold(0, u64::saturating_add));
    merged.rounded_parts(tasks)
}

/// Words of 64 bits of a list of numbers, those of its entries and of what the allocator adds included.
fn words_of(list: &[(usize, Rational)]) -> u64 {
    /// Words of an entry beside its digits.
    const OF_ENTRY: u64 = 8;
    let of =
        |x: &Rational| words_of_bits(u64::from(x.numer().significant_bits() + x.denom().significant_bits()));
    list.iter().map(|(_, x)| of(x) + OF_ENTRY).sum()
}

/// Charges so many words before they are written.
fn pay(words: u64) {
    const WHAT: &str = "what users have that are alike";
    room(words.saturating_mul(8), WHAT);
    charge(words, WHAT);
}

/// What proves the levels of the problem as it is given: the weight of a user is parted among those for which it stands, and
/// the price of its limit of tasks is that of each.
#[must_use]
pub fn parted_levels(levels: &[LevelDual], merged: &Merged) -> Vec<LevelDual> {
    let members = merged.members();
    let of_members = |list: &[(usize, Rational)]| -> u64 {
        list.iter().map(|entry| words_of(std::slice::from_ref(entry)) * members[entry.0].len() as u64).sum()
    };
    let lists = levels.iter().flat_map(|level| [&level.prices.user_weights, &level.prices.users]);
    pay(lists.map(|list| of_members(list)).sum());
    let spread = |of: &[(usize, Rational)], each: fn(&Rational, &Rational) -> Rational| {
        let all = of
            .iter()
            .flat_map(|(at, value)| members[*at].iter().map(move |(n, part)| (*n, each(value, part))));
        let mut all: Vec<(usize, Rational)> = all.collect();
        all.sort_unstable_by_key(|(n, _)| *n);
        all
    };
    let of_members = |LevelDual { level, prices }: &LevelDual| LevelDual {
        level: level.clone(),
        prices: PriceVector {
            user_weights: spread(&prices.user_weights, |weight, part| Rational::from(weight * part)),
            rows: prices.rows.clone(),
            users: spread(&prices.users, |price, _| price.clone()),
        },
    };
    levels.iter().map(of_members).collect()
}

//! Users that are alike but for their weight are one while a mechanism computes (docs/theory.md, section 2).
//!
//! The mechanism solves the smaller problem, and every user has its part of what the one in its place has. Nothing is
//! approximated: the answer is one of the mechanism for the problem as it is given.

use evenhand_problem::{Integer, Merged, Problem, Rational, Size, User};
use rug::ops::Pow;

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

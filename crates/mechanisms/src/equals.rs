//! Merging of users that are identical except for their weight (docs/theory.md, section 2).
//!
//! A mechanism solves the smaller problem with merged users. Each original user then receives its fraction of
//! the merged user's tasks. No accuracy is lost: the result is an answer of the mechanism to the original
//! problem.

use evenhand_problem::{Integer, Merged, Problem, Rational, Size, User};
use rug::ops::Pow;

/// How a mechanism divides tasks among users that are identical except for their weight.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Equals {
    /// The division is not known, so such users are not merged.
    Apart,
    /// Tasks are divided in proportion to the weights. The weight of the merged user is the sum of the
    /// weights.
    ByWeight,
    /// Tasks are divided in proportion to the weights to the power `1/alpha`. The weight of the merged user
    /// to the power `1/alpha` is the sum of the users' weights to this power.
    ByRoot(Rational),
    /// The same division as [`ByWeight`](Self::ByWeight), for objectives that use the weights to the power
    /// `alpha`. Users are not merged if their powers are rational and the power of the merged weight is not,
    /// since rational powers lead to rational answers.
    ByPowerOfWeight(Rational),
    /// Users of equal weight get equal numbers of tasks. The merged user has the weight of one user.
    OfOneWeight,
}

impl Equals {
    /// Returns the problem with identical users merged, or `None` if no two users are identical.
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

/// The largest size, in bits, of a power of a weight that counts as short. A power of this size is well
/// within the range of doubles.
const SHORT_BITS: u32 = 256;

/// Returns `weight^exponent` if it is rational and short.
pub(crate) fn short_power(weight: &Rational, exponent: &Rational) -> Option<Rational> {
    let (power, index) = (exponent.numer().to_u32()?, exponent.denom().to_u32()?);
    let of_whole = |n: &Integer| {
        let root = Integer::from(n.root_ref(index));
        let is_short = root.significant_bits().checked_mul(power)? <= SHORT_BITS;
        (is_short && Integer::from((&root).pow(index)) == *n).then(|| root.pow(power))
    };
    Some(Rational::from((of_whole(weight.numer())?, of_whole(weight.denom())?)))
}

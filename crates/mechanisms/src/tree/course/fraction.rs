//! Long fractions that are not kept in lowest terms.
//!
//! The greatest common divisor of long numbers takes a hundred times as long as their sum. It is rarely needed for the
//! denominators of a course. Each denominator is an earlier denominator times a short factor, so one of two
//! denominators divides a short multiple of the other. Their leading digits show which multiple, and one multiplication
//! proves it.

use std::cmp::Ordering;

use evenhand_problem::Rational;
use rug::Integer;

use super::approx::Approx;

/// The maximum number of bits of a denominator that is searched for in the leading digits of long numbers.
const SHORT: u32 = 128;
/// The number of leading bits that are used. Distinguishing a fraction from its neighbours takes twice the
/// bits of its denominator.
const DIGITS: u32 = 2 * SHORT + 64;
/// The number of bits of a denominator up to which the greatest common divisor is used, because it is then
/// just as fast. Measurements showed no difference between 2,048 and 8,192. The value is small in tests,
/// which have few long numbers.
const COMMON: u32 = if cfg!(test) { 16 } else { 2048 };

/// A fraction with a positive denominator.
#[derive(Clone)]
pub(super) struct Fraction {
    numer: Integer,
    denom: Integer,
}

/// Returns the quotient of two numbers as a fraction with a short denominator, or `None` if it is no such
/// fraction. Requires `0 <= above < below`.
fn short_quotient(above: &Integer, below: &Integer) -> Option<(Integer, Integer)> {
    let down = below.significant_bits().saturating_sub(DIGITS + 64);
    let first = |x: &Integer| Integer::from(x >> down);
    // Compute convergents of the continued fraction until the remainder is only rounding.
    let (mut rest, mut next) = ((first(above) << DIGITS) / first(below), Integer::from(1) << DIGITS);
    let (mut before, mut now) = ((Integer::new(), Integer::from(1)), (Integer::from(1), Integer::new()));
    while next.significant_bits() > now.1.significant_bits() + 3 || now.1.is_zero() {
        let (whole, left) = <(Integer, Integer)>::from(rest.div_rem_ref(&next));
        let after = (before.0 + &whole * &now.0, before.1 + &whole * &now.1);
        if after.1.significant_bits() > SHORT {
            return None;
        }
        (rest, next, before, now) = (next, left, now, after);
    }
    (Integer::from(above * &now.1) == Integer::from(&now.0 * below)).then_some(now)
}

impl Fraction {
    /// Returns the factors by which two denominators must be multiplied to give their least common multiple.
    fn factors(a: &Integer, b: &Integer) -> (Integer, Integer) {
        if a == b {
            return (Integer::from(1), Integer::from(1));
        }
        if a < b {
            let (of_b, of_a) = Self::factors(b, a);
            return (of_a, of_b);
        }
        let (whole, rest) = <(Integer, Integer)>::from(a.div_rem_ref(b));
        if rest.is_zero() {
            return (Integer::from(1), whole);
        }
        let (above, below) = short_quotient(&rest, b).unwrap_or_else(|| {
            let common = rest.clone().gcd(b);
            (rest / &common, Integer::from(b / &common))
        });
        let of_b = whole * &below + above;
        (below, of_b)
    }

    /// Returns the sum. The result is a rational if both denominators are short. If the denominators are
    /// nearly the same, long parts may cancel, and the sum is a rational if it is short.
    pub fn plus(&self, other: &Self) -> Result<Rational, Self> {
        if self.denom.significant_bits().max(other.denom.significant_bits()) <= COMMON {
            let numer = Integer::from(&self.numer * &other.denom) + &other.numer * &self.denom;
            return Ok(Rational::from((numer, Integer::from(&self.denom * &other.denom))));
        }
        let (of_own, of_other) = Self::factors(&self.denom, &other.denom);
        let are_close = of_own.significant_bits().max(of_other.significant_bits()) <= SHORT;
        let numer = Integer::from(&self.numer * &of_own) + &other.numer * of_other;
        let sum = Self { numer, denom: &self.denom * of_own };
        if are_close { sum.short().ok_or(sum) } else { Err(sum) }
    }

    pub fn minus(&self, other: &Self) -> Result<Rational, Self> {
        self.plus(&Self { numer: Integer::from(-&other.numer), denom: other.denom.clone() })
    }

    pub fn times(&self, other: &Self) -> Self {
        let without = |above: &Integer, below: &Integer| {
            let common = Integer::from(above.gcd_ref(below));
            (Integer::from(above / &common), below / common)
        };
        let ((a, d), (b, c)) = (without(&self.numer, &other.denom), without(&other.numer, &self.denom));
        Self { numer: a * b, denom: c * d }
    }

    /// Returns the inverse of a number that is not 0.
    pub fn inverse(&self) -> Self {
        let numer = if self.numer < 0 { Integer::from(-&self.denom) } else { self.denom.clone() };
        Self { numer, denom: Integer::from(self.numer.abs_ref()) }
    }

    /// Returns the number of bits of the numerator and the denominator together.
    pub fn width(&self) -> u32 {
        self.numer.significant_bits() + self.denom.significant_bits()
    }

    pub fn approx(&self) -> Approx {
        Approx::of_quotient(&self.numer, &self.denom)
    }

    pub fn cmp0(&self) -> Ordering {
        self.numer.cmp0()
    }

    /// Returns the same number as a rational if its denominator is short.
    fn short(&self) -> Option<Rational> {
        let (whole, rest) = <(Integer, Integer)>::from(self.numer.div_rem_floor_ref(&self.denom));
        if whole.significant_bits() > SHORT {
            return None;
        }
        let (above, below) =
            if rest.is_zero() { (rest, Integer::from(1)) } else { short_quotient(&rest, &self.denom)? };
        Some(Rational::from((above, below)) + whole)
    }

    /// Returns the same number in lowest terms.
    pub fn reduced(&self) -> Rational {
        Rational::from((self.numer.clone(), self.denom.clone()))
    }
}

impl From<Rational> for Fraction {
    fn from(x: Rational) -> Self {
        let (numer, denom) = x.into_numer_denom();
        Self { numer, denom }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Products of short numbers, some with repeated factors.
    fn long() -> impl Strategy<Value = Integer> {
        prop::collection::vec(1_u64..1 << 40, 0..60)
            .prop_map(|factors| factors.into_iter().fold(Integer::from(1), |all, factor| all * factor))
    }

    proptest! {
        #[test]
        fn fractions_agree_with_rationals(
            common in long(),
            (a, b) in (long(), long()),
            (over_a, over_b) in (1_u64..1 << 60, 1_u64..1 << 60),
            is_negative in any::<bool>(),
        ) {
            let a = Rational::from((if is_negative { -a } else { a }, Integer::from(&common * over_a)));
            let b = Rational::from((b, Integer::from(&common * over_b)));
            let (x, y) = (Fraction::from(a.clone()), Fraction::from(b.clone()));
            let rational = |found: Result<Rational, Fraction>| found.unwrap_or_else(|long| long.reduced());
            prop_assert_eq!(rational(x.plus(&y)), Rational::from(&a + &b));
            prop_assert_eq!(rational(x.minus(&y)), Rational::from(&a - &b));
            prop_assert_eq!(x.times(&y).reduced(), Rational::from(&a * &b));
            prop_assert_eq!(x.times(&y.inverse()).reduced(), Rational::from(&a / &b));
            // A short result is recognised, however long its operands are.
            let short = Rational::from((over_a, over_b));
            let more = Fraction::from(rational(Fraction::from(short.clone()).plus(&x)));
            prop_assert_eq!(more.minus(&x).ok(), Some(short));
        }

        #[test]
        fn quotients_of_long_numbers_are_recognised_by_their_first_digits(
            common in long(),
            (above, below) in (0_u64..u64::MAX, 1_u64..u64::MAX),
        ) {
            let quotient = Rational::from((above.min(below - 1), below));
            let [a, b] = [quotient.numer(), quotient.denom()].map(|x| Integer::from(x * &common));
            let found = short_quotient(&a, &b);
            prop_assert_eq!(found, Some(quotient.into_numer_denom()));
        }
    }
}

//! Approximate numbers: pairs of doubles with an error bound.
//!
//! Long numbers are compared in this form first, since most of these numbers differ clearly. A single double
//! would not suffice, because errors can grow by a factor of 100 billion during a long course.

use std::cmp::Ordering;
use std::ops::{Add, Div, Mul, Sub};

use evenhand_problem::Rational;
use rug::Integer;

use super::pair::Pair;

/// The relative error of a few operations in doubles.
pub(super) const ROUNDED: f64 = 8.0 * f64::EPSILON;
/// Doubles larger than this, or smaller than its inverse, count as unknown, because they may overflow or underflow.
pub(super) const LARGE: f64 = 1e250;

/// A pair of doubles near a number.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Approx {
    pair: Pair,
    /// The largest possible distance of the number from the pair, infinite if unknown.
    error: f64,
}

impl Approx {
    /// Approximates a rational.
    pub fn of(x: &Rational) -> Self {
        Self::of_quotient(x.numer(), x.denom())
    }

    /// Approximates an integer.
    pub fn of_integer(x: &Integer) -> Self {
        Self::of_quotient(x, Integer::ONE)
    }

    /// Approximates a quotient of integers.
    pub fn of_quotient(above: &Integer, below: &Integer) -> Self {
        if above.is_zero() { Self::default() } else { Self::rounded(Pair::of(above, below), 0.0) }
    }

    /// Returns the exact sum of both doubles.
    pub fn nearly(self) -> Rational {
        self.pair.exactly()
    }

    /// Returns bounds between which the number lies.
    pub fn range(self) -> (f64, f64) {
        let value = self.pair.value;
        let around = value.abs().mul_add(ROUNDED, self.error);
        if around.is_finite() { (value - around, value + around) } else { (f64::NEG_INFINITY, f64::INFINITY) }
    }

    /// Compares the number with 0. Returns `None` if the error is too large for a decision.
    pub fn cmp0(self) -> Option<Ordering> {
        let value = self.pair.value;
        // The second double is less than the last digit of the first double.
        let is_known = self.is_zero() || value.abs() * (1.0 - ROUNDED) > self.error;
        is_known.then(|| value.partial_cmp(&0.0)).flatten()
    }

    /// Compares two numbers. Returns `None` if the errors are too large for a decision.
    pub fn cmp(self, other: Self) -> Option<Ordering> {
        (self - other).cmp0()
    }

    /// Returns whether the number is known to be exactly 0.
    fn is_zero(self) -> bool {
        self.pair.value == 0.0 && self.error == 0.0
    }

    /// Creates the result of an operation whose operands cause the error `error`. Results near or below the range of
    /// doubles count as unknown.
    fn rounded(pair: Pair, error: f64) -> Self {
        let size = pair.value.abs();
        let all = size.mul_add(Pair::ROUNDED, error * (1.0 + ROUNDED));
        let is_known = size.max(all) > LARGE.recip() && size < LARGE && all < LARGE;
        Self { pair, error: if is_known { all } else { f64::INFINITY } }
    }
}

impl Add for Approx {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        if self.is_zero() {
            return other;
        }
        if other.is_zero() {
            return self;
        }
        Self::rounded(self.pair + other.pair, self.error + other.error)
    }
}

impl Mul for Approx {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        if self.is_zero() || other.is_zero() {
            return Self::default();
        }
        let [size, of_other] = [self, other].map(|of| of.pair.value.abs());
        let error = self.error * (of_other + other.error) + size * other.error;
        Self::rounded(self.pair * other.pair, error)
    }
}

impl Div for Approx {
    type Output = Self;

    /// Divides by a number that is not 0.
    fn div(self, other: Self) -> Self {
        if self.is_zero() {
            return self;
        }
        let pair = self.pair / other.pair;
        let least = (other.pair.value.abs() - other.error) * (1.0 - ROUNDED);
        let is_known = least > LARGE.recip();
        let error = pair.value.abs().mul_add(other.error, self.error) / least;
        Self::rounded(pair, if is_known { error } else { f64::INFINITY })
    }
}

impl Sub for Approx {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        self + Self { pair: -other.pair, ..other }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Generates numbers within the range of doubles and beyond it. Some of them have too many digits for a double.
    fn number() -> impl Strategy<Value = Rational> {
        let size = prop_oneof![4 => -60..60_i32, 1 => -1100..1100_i32];
        (-1_000_000_000_000_i64..1_000_000_000_000, 1_u64..1_000_000, size).prop_map(|(of, over, size)| {
            let number = Rational::from(of) / over;
            if size < 0 { number >> size.unsigned_abs() } else { number << size.unsigned_abs() }
        })
    }

    fn is_within(approx: Approx, exactly: &Rational) -> bool {
        let (least, most) = approx.range();
        let below = Rational::from_f64(least).is_none_or(|least| least <= *exactly);
        let above = Rational::from_f64(most).is_none_or(|most| *exactly <= most);
        let error = Rational::from_f64(approx.error);
        let is_close = error.is_none_or(|error| (approx.pair.exactly() - exactly).abs() <= error);
        below && above && is_close && approx.cmp0().is_none_or(|order| order == exactly.cmp0())
    }

    proptest! {
        #[test]
        fn the_number_lies_in_the_interval_of_doubles(a in number(), b in number(), c in number(), near in -5..5_i32) {
            let [x, y, z] = [&a, &b, &c].map(Approx::of);
            prop_assert!(is_within(x, &a));
            prop_assert!(is_within(x + y, &Rational::from(&a + &b)));
            prop_assert!(is_within(x - y, &Rational::from(&a - &b)));
            prop_assert!(is_within(x - y + z, &(Rational::from(&a - &b) + &c)));
            // Subtracting a nearby number cancels most of the digits.
            let close = &a + Rational::from((near, 1_000_000_000_000_000_i64)) * &a;
            prop_assert!(is_within(x - Approx::of(&close) + z, &(Rational::from(&a - &close) + &c)));
            prop_assert!(is_within(x * y, &Rational::from(&a * &b)));
            prop_assert!(is_within((x - y) * z, &(Rational::from(&a - &b) * &c)));
            if c != 0 {
                prop_assert!(is_within((x - y) / z, &(Rational::from(&a - &b) / &c)));
            }
        }
    }

    /// Checks that most numbers are known accurately. An interval of all numbers would always be right, but
    /// useless.
    #[test]
    fn pairs_of_doubles_distinguish_close_numbers() {
        let third = Rational::from((1, 3));
        let more = &third + (Rational::from(1) >> 90);
        let [a, b] = [&third, &more].map(Approx::of);
        assert_eq!((a.cmp(b), b.cmp(a), a.cmp(a)), (Some(Ordering::Less), Some(Ordering::Greater), None));
        let seventh = Approx::of(&Rational::from((1, 7)));
        let (least, most) = ((b - a) / seventh).range();
        let exactly = 7.0 * f64::exp2(-90.0);
        assert!(0.99 * exactly < least && least <= most && most < 1.01 * exactly, "{least} {most}");
        // Both integers are outside the range of doubles, but their quotient is not.
        let [above, below] = [3, 7].map(|of| Integer::from(of) << 20_000);
        let quotient = Approx::of(&Rational::from((above, below))).nearly();
        assert!((quotient - Rational::from((3, 7))).abs() < Rational::from(1) >> 100);
    }
}

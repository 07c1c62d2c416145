//! Numbers in doubles, with what they may be off by.
//!
//! Long numbers are compared in doubles first: most of them are far apart.

use std::ops::{Add, Div, Mul, Sub};

use evenhand_problem::Rational;
use rug::Integer;

/// A relative error of a few operations in doubles.
pub(super) const ROUNDED: f64 = 8.0 * f64::EPSILON;
/// Doubles beyond this, or below one over it, are not relied on.
pub(super) const LARGE: f64 = 1e250;

/// Doubles below and above a number.
pub(super) fn around(x: &Rational) -> (f64, f64) {
    About::of(x).range()
}

/// A number in doubles.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct About {
    pub value: f64,
    /// How far from it the number may be; infinite where that is not known.
    error: f64,
}

impl About {
    pub fn of(x: &Rational) -> Self {
        let value = x.to_f64();
        let is_known = value.is_finite() && (value.abs() > LARGE.recip() || x.is_zero());
        Self { value, error: if is_known { value.abs() * ROUNDED } else { f64::INFINITY } }
    }

    /// The same of a whole number.
    pub fn of_integer(x: &Integer) -> Self {
        let value = x.to_f64();
        let error = if value.abs() < LARGE { value.abs() * ROUNDED } else { f64::INFINITY };
        Self { value, error }
    }

    /// At least, at most.
    pub fn range(self) -> (f64, f64) {
        if self.error.is_finite() {
            (self.value - self.error, self.value + self.error)
        } else {
            (f64::NEG_INFINITY, f64::INFINITY)
        }
    }

    /// What is 0, which is known without an error.
    fn is_zero(self) -> bool {
        self.value == 0.0 && self.error == 0.0
    }

    /// One that comes of others which may be off by so much. Doubles end before 0: what comes to nothing is not known.
    fn rounded(value: f64, error: f64) -> Self {
        let all = error.mul_add(1.0 + ROUNDED, value.abs() * ROUNDED);
        let is_known = value.abs().max(all) > LARGE.recip() && all < LARGE;
        Self { value, error: if is_known { all } else { f64::INFINITY } }
    }
}

impl Add for About {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        if self.is_zero() {
            return other;
        }
        if other.is_zero() {
            return self;
        }
        Self::rounded(self.value + other.value, self.error + other.error)
    }
}

impl Mul for About {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        if self.is_zero() || other.is_zero() {
            return Self::default();
        }
        let error = self.error.mul_add(other.value.abs() + other.error, self.value.abs() * other.error);
        Self::rounded(self.value * other.value, error)
    }
}

impl Div for About {
    type Output = Self;

    /// By what is not 0.
    fn div(self, other: Self) -> Self {
        if self.is_zero() {
            return self;
        }
        let value = self.value / other.value;
        let least = (other.value.abs() - other.error) * (1.0 - ROUNDED);
        let is_known = least > LARGE.recip() && other.value.abs() < LARGE;
        let error = value.abs().mul_add(other.error, self.error) / least;
        Self::rounded(value, if is_known { error } else { f64::INFINITY })
    }
}

impl Sub for About {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        self + Self { value: -other.value, ..other }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Numbers of every size that doubles have and of some that they have not, some of them long, some close to each other.
    fn number() -> impl Strategy<Value = Rational> {
        let size = prop_oneof![4 => -60..60_i32, 1 => -1100..1100_i32];
        (-1_000_000_000_000_i64..1_000_000_000_000, 1_u64..1_000_000, size).prop_map(|(of, over, size)| {
            let number = Rational::from(of) / over;
            if size < 0 { number >> size.unsigned_abs() } else { number << size.unsigned_abs() }
        })
    }

    fn is_within(about: About, exactly: &Rational) -> bool {
        let (least, most) = about.range();
        let below = Rational::from_f64(least).is_none_or(|least| least <= *exactly);
        let above = Rational::from_f64(most).is_none_or(|most| *exactly <= most);
        below && above
    }

    proptest! {
        #[test]
        fn the_number_is_where_the_doubles_say(a in number(), b in number(), c in number(), near in -5..5_i32) {
            let [x, y, z] = [&a, &b, &c].map(About::of);
            prop_assert!(is_within(x, &a));
            prop_assert!(is_within(x + y, &Rational::from(&a + &b)));
            prop_assert!(is_within(x - y, &Rational::from(&a - &b)));
            prop_assert!(is_within(x - y + z, &(Rational::from(&a - &b) + &c)));
            // What is close to it takes away most of it.
            let close = &a + Rational::from((near, 1_000_000_000_000_000_i64)) * &a;
            prop_assert!(is_within(x - About::of(&close) + z, &(Rational::from(&a - &close) + &c)));
            prop_assert!(is_within(x * y, &Rational::from(&a * &b)));
            prop_assert!(is_within((x - y) * z, &(Rational::from(&a - &b) * &c)));
            if c != 0 {
                prop_assert!(is_within((x - y) / z, &(Rational::from(&a - &b) / &c)));
            }
        }
    }

    /// Most numbers are known well: an interval of all numbers would be right always.
    #[test]
    fn doubles_tell_numbers_apart() {
        let [third, more] = [(1, 3), (100_000_000_001_i64, 300_000_000_000_i64)].map(Rational::from);
        let (least, most) = (About::of(&more) - About::of(&third)).range();
        assert!(0.0 < least && least <= most && most < 1e-11, "{least} {most}");
        let (least, most) =
            ((About::of(&more) - About::of(&third)) / About::of(&Rational::from((1, 7)))).range();
        assert!(0.0 < least && most < 1e-10, "{least} {most}");
    }
}

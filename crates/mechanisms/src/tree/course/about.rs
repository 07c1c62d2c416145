//! Numbers in doubles, with what they may be off by.
//!
//! Long numbers are compared in doubles first: most of them are far apart.

use std::ops::{Add, Sub};

use evenhand_problem::Rational;

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

    /// At least, at most.
    pub fn range(self) -> (f64, f64) {
        if self.error.is_finite() {
            (self.value - self.error, self.value + self.error)
        } else {
            (f64::NEG_INFINITY, f64::INFINITY)
        }
    }

    /// One that comes of others which may be off by so much.
    fn rounded(value: f64, error: f64) -> Self {
        let all = error.mul_add(1.0 + ROUNDED, value.abs() * ROUNDED);
        let is_known = value == 0.0 && error == 0.0 || value.abs().max(all) > LARGE.recip();
        Self { value, error: if is_known && all < LARGE { all } else { f64::INFINITY } }
    }

    /// So many times as much; the factor is rounded as well, and not 0.
    pub fn times(self, factor: f64) -> Self {
        let is_known = factor.abs() > LARGE.recip() && factor.abs() < LARGE;
        let error = if is_known { self.error * factor.abs() } else { f64::INFINITY };
        Self::rounded(self.value * factor, error)
    }

    /// What a clock says now, given what that of its parent says: how much has passed since the parent's said `since`, if it
    /// runs faster by `pace`.
    pub fn passed(self, since: &Rational, pace: &Rational) -> Self {
        let (passed, pace) = (self - Self::of(since), Self::of(pace));
        let (least, most) = pace.range();
        if least > LARGE.recip() && most < LARGE {
            let value = passed.value / pace.value;
            Self::rounded(value, (passed.error + value.abs() * pace.error) / least)
        } else {
            Self { value: passed.value / pace.value, error: f64::INFINITY }
        }
    }
}

impl Add for About {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self::rounded(self.value + other.value, self.error + other.error)
    }
}

impl Sub for About {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self::rounded(self.value - other.value, self.error + other.error)
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
            // The factor is a double that was rounded.
            if c != 0 {
                prop_assert!(is_within((x - y).times(c.to_f64()), &(Rational::from(&a - &b) * &c)));
            }
            if c > 0 {
                prop_assert!(is_within(x.passed(&b, &c), &(Rational::from(&a - &b) / &c)));
            }
        }
    }

    /// Most numbers are known well: an interval of all numbers would be right always.
    #[test]
    fn doubles_tell_numbers_apart() {
        let [third, more] = [(1, 3), (100_000_000_001_i64, 300_000_000_000_i64)].map(Rational::from);
        let (least, most) = (About::of(&more) - About::of(&third)).range();
        assert!(0.0 < least && least <= most && most < 1e-11, "{least} {most}");
        let (least, most) = About::of(&more).passed(&third, &Rational::from((1, 7))).range();
        assert!(0.0 < least && most < 1e-10, "{least} {most}");
    }
}

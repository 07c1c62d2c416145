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

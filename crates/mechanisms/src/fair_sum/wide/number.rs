//! Floating-point numbers with [`BITS`] bits and exponents of any size.
//!
//! Results are truncated. This is accurate enough, because the interior point method corrects itself and its result
//! is judged in rationals.

use std::cmp::Ordering;
use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub, SubAssign};

use evenhand_problem::Rational;
use rug::Integer;

/// The number of bits of the mantissa. The method ends with a gap about 40 digits below the sum of all users,
/// and eliminating a user loses about 80 digits. The remaining bits are for users that are worth little
/// compared with other users.
pub const BITS: u32 = 640;

/// The maximum number of bits of a fraction before or after the binary point. Exact judges see numbers that are far
/// shorter.
const MOST_BITS: i64 = 1 << 20;

/// The bits of a double's mantissa.
const DOUBLE: u32 = 53;

/// The number `mantissa * 2^exponent`.
#[derive(Debug, Clone, Default)]
pub struct Wide {
    mantissa: Integer,
    exponent: i64,
}

impl Wide {
    fn new(mantissa: Integer, exponent: i64) -> Self {
        let bits = mantissa.significant_bits();
        if bits == 0 {
            return Self::default();
        }
        match bits.checked_sub(BITS) {
            Some(more) if more > 0 => {
                Self { mantissa: mantissa >> more, exponent: exponent + i64::from(more) }
            }
            _ => Self { mantissa, exponent },
        }
    }

    pub fn one() -> Self {
        Self { mantissa: Integer::from(1), exponent: 0 }
    }

    /// Converts a finite double, without rounding.
    pub fn from_f64(value: f64) -> Self {
        let (part, exponent) = libm::frexp(value);
        let mantissa = Integer::from_f64(part * f64::from(2).powi(DOUBLE as i32)).unwrap_or_default();
        Self::new(mantissa, i64::from(exponent) - i64::from(DOUBLE))
    }

    pub fn from_rational(value: &Rational) -> Self {
        &Self::new(value.numer().clone(), 0) / &Self::new(value.denom().clone(), 0)
    }

    /// Returns `exp(log)` with the precision of a double.
    pub fn from_log(log: f64) -> Self {
        let halvings = (log / std::f64::consts::LN_2).floor();
        let rest = log - halvings * std::f64::consts::LN_2;
        let mut value = Self::from_f64(libm::exp(rest));
        value.exponent += halvings as i64;
        value
    }

    /// Returns the natural logarithm of a positive number as a double.
    pub fn log(&self) -> f64 {
        let (part, exponent) = self.parts();
        libm::log(part) + exponent as f64 * std::f64::consts::LN_2
    }

    /// Returns the nearest double, which is 0 or infinite outside the range of doubles.
    pub fn to_f64(&self) -> f64 {
        let (part, exponent) = self.parts();
        libm::ldexp(part, exponent.clamp(-10_000, 10_000) as i32)
    }

    /// Returns a double of magnitude 1/2 to 1 and the exponent of the power of 2 that multiplies it.
    fn parts(&self) -> (f64, i64) {
        let bits = self.mantissa.significant_bits();
        let cut = bits.saturating_sub(64);
        let head = Integer::from(&self.mantissa >> cut).to_f64();
        let shift = i64::from(bits.min(64));
        (libm::ldexp(head, -(shift as i32)), self.exponent + i64::from(cut) + shift)
    }

    /// Returns the number as a fraction, cut to `bits` bits.
    pub fn to_rational(&self, bits: u32) -> Rational {
        let more = self.mantissa.significant_bits().saturating_sub(bits);
        let mantissa = Integer::from(&self.mantissa >> more);
        let exponent = (self.exponent + i64::from(more)).clamp(-MOST_BITS, MOST_BITS);
        Rational::from(mantissa) << exponent as i32
    }

    pub fn is_positive(&self) -> bool {
        self.mantissa > 0
    }

    pub fn abs(&self) -> Self {
        Self { mantissa: self.mantissa.clone().abs(), exponent: self.exponent }
    }

    /// Returns `self^power`, computed by repeated squaring.
    pub fn power(&self, power: u32) -> Self {
        let Some(top) = power.checked_ilog2() else { return Self::one() };
        let mut result = self.clone();
        for bit in (0..top).rev() {
            result = &result * &result;
            if power >> bit & 1 == 1 {
                result = &result * self;
            }
        }
        result
    }

    /// Returns the square root of a positive number.
    pub fn root(&self) -> Self {
        let mut shift = i64::from(2 * BITS) - i64::from(self.mantissa.significant_bits());
        shift += (self.exponent - shift).rem_euclid(2);
        let Ok(left) = u32::try_from(shift) else { return self.clone() };
        Self::new(Integer::from(&self.mantissa << left).sqrt(), (self.exponent - shift) / 2)
    }

    /// Returns the position of the leading bit.
    fn top(&self) -> i64 {
        self.exponent + i64::from(self.mantissa.significant_bits())
    }
}

impl Add for &Wide {
    type Output = Wide;

    fn add(self, other: &Wide) -> Wide {
        if self.mantissa.is_zero() {
            return other.clone();
        }
        if other.mantissa.is_zero() {
            return self.clone();
        }
        let (high, low) = if self.exponent >= other.exponent { (self, other) } else { (other, self) };
        if high.top() > low.top() + i64::from(BITS) + 2 {
            return high.clone();
        }
        if low.top() > high.top() + i64::from(BITS) + 2 {
            return low.clone();
        }
        // Both numbers have at most `BITS` bits and their leading bits are close, so the shift is less than `3 *
        // BITS`.
        let shift = u32::try_from(high.exponent - low.exponent).unwrap_or(0);
        Wide::new(Integer::from(&high.mantissa << shift) + &low.mantissa, low.exponent)
    }
}

impl Sub for &Wide {
    type Output = Wide;

    fn sub(self, other: &Wide) -> Wide {
        self + &-other.clone()
    }
}

impl Neg for Wide {
    type Output = Self;

    fn neg(self) -> Self {
        Self { mantissa: -self.mantissa, exponent: self.exponent }
    }
}

impl Mul for &Wide {
    type Output = Wide;

    fn mul(self, other: &Wide) -> Wide {
        Wide::new(Integer::from(&self.mantissa * &other.mantissa), self.exponent + other.exponent)
    }
}

/// Division by a nonzero number. A quotient by 0 is 0, since an exact judge checks the result anyway.
impl Div for &Wide {
    type Output = Wide;

    fn div(self, other: &Wide) -> Wide {
        if other.mantissa.is_zero() {
            return Wide::default();
        }
        let shift = BITS + other.mantissa.significant_bits();
        let quotient = Integer::from(&self.mantissa << shift) / &other.mantissa;
        Wide::new(quotient, self.exponent - other.exponent - i64::from(shift))
    }
}

impl AddAssign<&Wide> for Wide {
    fn add_assign(&mut self, other: &Self) {
        *self = &*self + other;
    }
}

impl SubAssign<&Wide> for Wide {
    fn sub_assign(&mut self, other: &Self) {
        *self = &*self - other;
    }
}

impl PartialEq for Wide {
    fn eq(&self, other: &Self) -> bool {
        self.partial_cmp(other) == Some(Ordering::Equal)
    }
}

impl PartialOrd for Wide {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some((self - other).mantissa.cmp0())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wide(numerator: i64, denominator: i64) -> Wide {
        Wide::from_rational(&Rational::from((numerator, denominator)))
    }

    fn close(a: &Wide, b: &Wide) -> bool {
        (a - b).abs() <= &b.abs() * &Wide::from_log(-420.0)
    }

    #[test]
    fn arithmetic_agrees_with_rationals() {
        assert!(close(&(&wide(1, 3) + &wide(-7, 11)), &wide(-10, 33)));
        assert!(close(&(&wide(1, 3) * &wide(-7, 11)), &wide(-7, 33)));
        assert!(close(&(&wide(1, 3) / &wide(-7, 11)), &wide(-11, 21)));
        assert!(close(&wide(2, 3).power(5), &wide(32, 243)));
        assert!(close(&wide(9, 49).root(), &wide(3, 7)));
        assert!(close(&wide(2, 1).root().power(2), &wide(2, 1)));
        assert!(wide(1, 3) < wide(1, 2) && wide(-1, 2) < wide(-1, 3));
    }

    #[test]
    fn small_summands_are_lost_only_beyond_the_digits() {
        let tiny = Wide::from_log(-300.0);
        let back = &(&Wide::one() + &tiny) - &Wide::one();
        assert!((&back - &tiny).abs() <= &tiny * &Wide::from_log(-120.0));
        let sum = &Wide::one() + &Wide::from_log(-1e6);
        assert!(sum == Wide::one());
        assert!(&Wide::from_log(-1e6) + &Wide::one() == Wide::one());
    }

    #[test]
    fn doubles_and_logarithms_convert_back() {
        for value in [1.0, -0.75, 1e300, 5e-324, 3.25e-17] {
            assert!((Wide::from_f64(value).to_f64() - value).abs() <= 1e-16 * value.abs());
        }
        for log in [-1e5, -1.5, 0.0, 700.0, 1e5] {
            assert!((Wide::from_log(log).log() - log).abs() <= 1e-10 * log.abs().max(1.0));
        }
        assert!(Wide::from_log(-1e5).to_f64() == 0.0);
    }
}

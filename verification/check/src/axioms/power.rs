//! `w / U^alpha`, between two numbers where it is irrational (theory, section 7).
//!
//! A number of 192 bits has a mantissa of so many bits and a power of two; every operation rounds its result to
//! one, down or up as it is told. For `alpha = s / q` the power `U^s` is taken by squaring, from the highest bit
//! of `s` on, then the `q`-th root, then the quotient, each rounded in the direction that makes the result the
//! end of the enclosure that is asked for. After at most 20 roundings more than 50 decimal digits agree.

use rug::ops::Pow;
use rug::{Integer, Rational};

/// Bits of a mantissa.
const BITS: i64 = 192;

/// `mantissa * 2^exponent`, positive.
#[derive(Clone)]
struct Rounded {
    mantissa: Integer,
    exponent: i64,
}

impl Rounded {
    fn new(value: &Rational, up: bool) -> Self {
        let shift =
            BITS + i64::from(value.denom().significant_bits()) - i64::from(value.numer().significant_bits());
        let wide = |value: &Integer, by: i64| Integer::from(value << by.max(0) as u32);
        let (mut mantissa, rest) = wide(value.numer(), shift).div_rem(wide(value.denom(), -shift));
        mantissa += u32::from(up && !rest.is_zero());
        Self { mantissa, exponent: -shift }.short(up)
    }

    /// With a mantissa of at most [`BITS`].
    fn short(mut self, up: bool) -> Self {
        let cut = i64::from(self.mantissa.significant_bits()) - BITS;
        if cut > 0 {
            if up {
                self.mantissa += (Integer::from(1) << cut as u32) - 1;
            }
            self.mantissa >>= cut as u32;
            self.exponent += cut;
        }
        self
    }

    fn times(&self, other: &Self, up: bool) -> Self {
        let mantissa = Integer::from(&self.mantissa * &other.mantissa);
        Self { mantissa, exponent: self.exponent + other.exponent }.short(up)
    }

    fn power(&self, power: u32, up: bool) -> Self {
        let mut result = self.clone();
        for bit in (0..power.ilog2()).rev() {
            result = result.times(&result, up);
            if power >> bit & 1 == 1 {
                result = result.times(self, up);
            }
        }
        result
    }

    fn root(self, index: u32, up: bool) -> Self {
        if index == 1 {
            return self;
        }
        // The exponent that is left has to be a multiple of the index.
        let wide = i64::from(index);
        let room = wide * BITS - i64::from(self.mantissa.significant_bits());
        let shift = room + (self.exponent - room).rem_euclid(wide);
        let (root, rest) = Integer::from(&self.mantissa << shift as u32).root_rem(Integer::new(), index);
        let mantissa = root + u32::from(up && !rest.is_zero());
        Self { mantissa, exponent: (self.exponent - shift) / wide }.short(up)
    }

    fn exact(&self) -> Rational {
        Rational::from(&self.mantissa) * Rational::from(2).pow(self.exponent as i32)
    }
}

/// A positive number, rounded to 192 bits.
pub fn rounded(value: &Rational, up: bool) -> Rational {
    Rounded::new(value, up).exact()
}

/// `weight / level^alpha`, rounded; `alpha` as numerator and denominator.
pub fn end(weight: &Rational, level: &Rational, alpha: (u32, u32), up: bool) -> Rational {
    let power = Rounded::new(level, !up).power(alpha.0, !up).root(alpha.1, !up).exact();
    rounded(&Rational::from(weight / &power), up)
}

/// The root of a fraction, where it is rational.
pub fn root(value: &Rational, index: u32) -> Option<Rational> {
    let root = |value: &Integer| {
        let (root, rest) = value.clone().root_rem(Integer::new(), index);
        rest.is_zero().then_some(root)
    };
    Some(Rational::from((root(value.numer())?, root(value.denom())?)))
}

//! Positive numbers with a fixed number of digits, rounded in a given direction. They enclose irrational powers and
//! roots, and sums whose exact denominator would grow with every user.

use rug::Integer;
use rug::ops::Pow;

use crate::quotient::Quotient;

/// The number of bits of a mantissa. A power of at most 1000 and a root take at most 20 roundings. After them, more
/// than 50 significant decimal digits of the enclosure agree.
pub(super) const BITS: u32 = 192;

/// The direction of rounding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Towards {
    Zero,
    Infinity,
}

/// The positive number `mantissa * 2^exponent`.
#[derive(Debug, Clone)]
pub(super) struct Rounded {
    mantissa: Integer,
    exponent: i64,
}

impl Rounded {
    /// Rounds `value`, which has to be positive.
    pub fn new(value: &Quotient, towards: Towards) -> Self {
        Self::divide(&value.numerator, &value.denominator, towards)
    }

    fn divide(numerator: &Integer, denominator: &Integer, towards: Towards) -> Self {
        let shift = i64::from(BITS) + i64::from(denominator.significant_bits())
            - i64::from(numerator.significant_bits());
        let wide = |value: &Integer, by: i64| Integer::from(value << u32::try_from(by).unwrap_or(0));
        let (quotient, rest) =
            wide(numerator, shift).div_rem_euc(wide(denominator, shift.checked_neg().unwrap_or(0)));
        let up = towards == Towards::Infinity && !rest.is_zero();
        Self { mantissa: quotient + u32::from(up), exponent: -shift }.short(BITS, towards)
    }

    /// Rounds the number to at most `bits` bits.
    pub fn short(mut self, bits: u32, towards: Towards) -> Self {
        let Some(cut) = self.mantissa.significant_bits().checked_sub(bits).filter(|cut| *cut > 0) else {
            return self;
        };
        if towards == Towards::Infinity {
            self.mantissa += (Integer::from(1) << cut) - 1u32;
        }
        self.mantissa >>= cut;
        self.exponent += i64::from(cut);
        self
    }

    fn times(&self, other: &Self, towards: Towards) -> Self {
        let mantissa = Integer::from(&self.mantissa * &other.mantissa);
        Self { mantissa, exponent: self.exponent + other.exponent }.short(BITS, towards)
    }

    /// Returns `self^power`, for `power >= 1`.
    pub fn power(&self, power: u32, towards: Towards) -> Self {
        let mut result = self.clone();
        for bit in (0..power.ilog2()).rev() {
            result = result.times(&result, towards);
            if power >> bit & 1 == 1 {
                result = result.times(self, towards);
            }
        }
        result
    }

    /// Returns the `index`-th root, computed as an exact root of integers.
    pub fn root(&self, index: u32, towards: Towards) -> Self {
        if index == 1 {
            return self.clone();
        }
        let index_wide = i64::from(index);
        let room = index_wide * i64::from(BITS) - i64::from(self.mantissa.significant_bits());
        // The remaining exponent has to be a multiple of the index.
        let shift = room + (self.exponent - room).rem_euclid(index_wide);
        let radicand = Integer::from(&self.mantissa << u32::try_from(shift).unwrap_or(0));
        let (root, rest) = radicand.root_rem(Integer::new(), index);
        let up = towards == Towards::Infinity && !rest.is_zero();
        Self { mantissa: root + u32::from(up), exponent: (self.exponent - shift) / index_wide }
            .short(BITS, towards)
    }

    /// Returns the number as a fraction.
    pub fn to_quotient(&self) -> Quotient {
        let by = u32::try_from(self.exponent.unsigned_abs()).unwrap_or(u32::MAX);
        let scale = Integer::from(2).pow(by);
        if self.exponent >= 0 {
            Quotient::new(&self.mantissa * scale, Integer::from(1))
        } else {
            Quotient::new(self.mantissa.clone(), scale)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quotient(numerator: u32, denominator: u32) -> Quotient {
        Quotient::new(Integer::from(numerator), Integer::from(denominator))
    }

    fn power_of(value: &Quotient, power: u32) -> Quotient {
        Quotient::new(
            Integer::from((&value.numerator).pow(power)),
            Integer::from((&value.denominator).pow(power)),
        )
    }

    #[test]
    fn bounds_enclose_roots_of_powers() {
        for (numerator, denominator) in [(1, 3), (7, 1), (999_999_937, 4), (1, 4_000_000_000)] {
            let base = quotient(numerator, denominator);
            for (power, index) in [(1, 1), (1, 2), (3, 2), (7, 10), (2, 1), (999, 1000), (1000, 7)] {
                let of = |towards| {
                    Rounded::new(&base, towards).power(power, towards).root(index, towards).to_quotient()
                };
                let (lower, upper) = (of(Towards::Zero), of(Towards::Infinity));
                let exact = power_of(&base, power);
                assert!(power_of(&lower, index) <= exact && exact <= power_of(&upper, index));
                // Check 50 digits: `(upper - lower) 10^50 <= lower`.
                let width = upper.to_rational() - lower.to_rational();
                assert!(width * Integer::from(10).pow(50) <= lower.to_rational(), "{power}/{index}");
            }
        }
    }

    #[test]
    fn rational_roots_are_exact() {
        let base = quotient(9, 16);
        for towards in [Towards::Zero, Towards::Infinity] {
            let root = Rounded::new(&base, towards).power(3, towards).root(2, towards);
            assert_eq!(root.to_quotient(), quotient(27, 64));
        }
    }

    #[test]
    fn short_numbers_are_rounded_in_the_stated_direction() {
        let third = quotient(1, 3);
        let of = |towards| Rounded::new(&third, towards).short(8, towards).to_quotient();
        assert!(of(Towards::Zero) < third && third < of(Towards::Infinity));
        assert!(of(Towards::Zero).numerator.significant_bits() <= 8);
    }
}

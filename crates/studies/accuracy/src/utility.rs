//! Sums of utilities in rationals: logarithms and powers with more digits than doubles have.

use evenhand_problem::{Integer, Rational};
use rug::ops::Pow;

/// The accuracy of a logarithm in bits. The error is absolute if the logarithm is below 1, and relative
/// otherwise. This number of bits gives a hundred digits, and some more digits that a sum may lose.
const BITS: u32 = 400;

/// Returns the natural logarithm of a positive number. The error is at most `2^-390`, absolute or relative to the logarithm.
#[must_use]
pub fn ln(value: &Rational) -> Rational {
    let size = i64::from(value.numer().significant_bits()) - i64::from(value.denom().significant_bits());
    // The reduced number is between 1/2 and 2, so that the series is short. Numbers near 1 are not reduced.
    let shift = if (-1..=1).contains(&size) && near_one(value) { 0 } else { size };
    let power = Rational::from(Integer::from(1) << shift.unsigned_abs() as u32);
    let reduced = if shift >= 0 { Rational::from(value / &power) } else { Rational::from(value * &power) };
    let mut sum = twice_artanh(&((&reduced - Rational::from(1)) / (reduced + 1u32)));
    if shift != 0 {
        sum += twice_artanh(&Rational::from((1, 3))) * shift;
    }
    sum
}

fn near_one(value: &Rational) -> bool {
    *value > Rational::from((1, 2)) && *value < 2
}

/// Returns `2 artanh(z)` for `|z| <= 1/3` by its series, with a fixed number of bits after the binary point.
/// For small `z` the number of bits is larger, so that the leading bits of the result are kept.
fn twice_artanh(z: &Rational) -> Rational {
    if z.is_zero() {
        return Rational::new();
    }
    let lost = i64::from(z.denom().significant_bits()) - i64::from(z.numer().significant_bits());
    let bits = BITS + lost.max(0) as u32 + 10;
    let fixed = |value: &Rational| Integer::from(value.numer() << bits) / value.denom();
    let z = fixed(z);
    let square = Integer::from(&z * &z) >> bits;
    let (mut term, mut sum, mut k) = (z, Integer::new(), 1u32);
    while !term.is_zero() {
        sum += Integer::from(&term / k);
        term = (term * &square) >> bits;
        // Shifting a negative number rounds it down, so it stays at -1 and never reaches 0.
        if term == -1 {
            break;
        }
        k += 2;
    }
    Rational::from((sum << 1, Integer::from(1) << bits))
}

/// Returns `value^(s / q)` for a positive number, cut off after `bits` bits if it is irrational.
#[must_use]
pub fn power(value: &Rational, exponent: &Rational, bits: u32) -> Rational {
    let (Some(s), Some(q)) = (exponent.numer().to_i32(), exponent.denom().to_u32()) else {
        return Rational::new();
    };
    let whole = value.clone().pow(s.unsigned_abs());
    let whole = if s < 0 { whole.recip() } else { whole };
    if q == 1 {
        return whole;
    }
    let size = i64::from(whole.denom().significant_bits()) - i64::from(whole.numer().significant_bits());
    let bits = q * (bits + (size.max(0) as u32) / q + 2);
    let scaled = Integer::from(whole.numer() << bits) / whole.denom();
    Rational::from((scaled.root(q), Integer::from(1) << (bits / q)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use evenhand_problem::number::to_f64;

    #[test]
    fn logarithms_agree_with_doubles_and_are_consistent() {
        for (p, q) in
            [(1, 3), (2, 1), (7, 5), (1_000_003, 1_000_000), (123_456_789, 7), (1, 123_456_789), (1, 1)]
        {
            let value = Rational::from((p, q));
            let found = to_f64(&ln(&value));
            assert!((found - to_f64(&value).ln()).abs() <= 1e-14 * found.abs().max(1e-2), "{value}: {found}");
            let square = ln(&Rational::from(&value * &value)) - ln(&value) * 2u32;
            assert!(to_f64(&square).abs() < 1e-50, "{value}");
        }
        // This threshold is far below the precision of a double near 1.
        let tiny = Rational::from((1, Integer::from(10).pow(60)));
        let found = ln(&(Rational::from(1) + &tiny));
        assert!(to_f64(&(found / &tiny - 1u32)).abs() < 1e-50);
    }

    #[test]
    fn powers_are_inverse_to_roots() {
        for (p, q) in [(1u32, 3u32), (9, 4), (1_000_003, 7), (1, 1_000_000_007)] {
            let value = Rational::from((p, q));
            for (s, r) in [(1, 2), (-1, 2), (2, 3), (-5, 1), (3, 1)] {
                let there = power(&value, &Rational::from((s, r)), 200);
                let back = power(&there, &Rational::from((r, s)), 200);
                assert!(to_f64(&(back / &value - 1u32)).abs() < 1e-40, "{value}^({s}/{r})");
            }
        }
        assert_eq!(power(&Rational::from((9, 4)), &Rational::from((1, 2)), 200), Rational::from((3, 2)));
    }
}

//! `w / U^alpha`, between two numbers where it is irrational (theory, section 7).
//!
//! A number of 192 bits has a mantissa of so many bits and a power of two; every operation rounds its result
//! to one, down or up as it is told. For `alpha = s / q` the power `U^s` is taken by squaring, from the
//! highest bit of `s` on, then the `q`-th root, then the quotient, each rounded in the direction that makes
//! the result the end of the enclosure that is asked for. After at most 20 roundings more than 50 decimal
//! digits agree.

use rug::{Integer, Rational};

/// Bits of a mantissa.
const BITS: i32 = 192;

/// The power of two that a positive number is next to.
fn magnitude(value: &Rational) -> i32 {
    value.numer().significant_bits() as i32 - value.denom().significant_bits() as i32
}

/// A positive number, rounded to 192 bits.
pub fn rounded(value: &Rational, up: bool) -> Rational {
    // The mantissa has a bit less, or as many.
    let shift = BITS - magnitude(value);
    let mut mantissa = Rational::from(value << shift);
    let over = mantissa >= Integer::from(1) << BITS as u32;
    mantissa >>= i32::from(over);
    let mantissa = if up { mantissa.ceil() } else { mantissa.floor() };
    mantissa >> (shift - i32::from(over))
}

fn power(value: &Rational, exponent: u32, up: bool) -> Rational {
    let mut result = value.clone();
    for bit in (0..exponent.ilog2()).rev() {
        result = rounded(&Rational::from(result.square_ref()), up);
        if exponent >> bit & 1 == 1 {
            result = rounded(&(result * value), up);
        }
    }
    result
}

fn rounded_root(value: &Rational, index: u32, up: bool) -> Rational {
    // Integers whose roots have more than 192 bits: those of a number that is not rounded are what is
    // rounded.
    let shift = BITS + 2 - magnitude(value).div_euclid(index as i32);
    let (part, whole) = Rational::from(value << (shift * index as i32)).fract_floor(Integer::new());
    let (root, rest) = whole.root_rem(Integer::new(), index);
    let is_above = up && !(rest.is_zero() && part.is_zero());
    rounded(&(Rational::from(root + u32::from(is_above)) >> shift), up)
}

/// `weight / level^alpha`, rounded; `alpha` as numerator and denominator.
pub fn end(weight: &Rational, level: &Rational, alpha: (u32, u32), up: bool) -> Rational {
    let power = power(&rounded(level, !up), alpha.0, !up);
    let root = if alpha.1 == 1 { power } else { rounded_root(&power, alpha.1, !up) };
    rounded(&Rational::from(weight / &root), up)
}

/// The root of a fraction, where it is rational.
pub fn root(value: &Rational, index: u32) -> Option<Rational> {
    let root = |value: &Integer| {
        let (root, rest) = value.clone().root_rem(Integer::new(), index);
        rest.is_zero().then_some(root)
    };
    Some(Rational::from((root(value.numer())?, root(value.denom())?)))
}

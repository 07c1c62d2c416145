//! Computes powers with rational exponents where they are rational, which the ratios of tasks in an equilibrium are
//! for `1/a` whole and sometimes elsewhere (docs/theory.md, section 3).

use evenhand_problem::Rational;
use rug::ops::Pow;
use rug::{Complete, Integer};

/// Bits of a power beyond which it is not computed: a million, 300,000 digits, more than a certificate may state.
const MOST_BITS: u64 = 1 << 20;

/// `value^exponent` for positive numbers; `None` where it is irrational or too long.
pub fn power(value: &Rational, exponent: &Rational) -> Option<Rational> {
    let (power, index) = (exponent.numer().to_u32()?, exponent.denom().to_u32()?);
    let bits = u64::from(value.numer().significant_bits().max(value.denom().significant_bits()));
    if bits * u64::from(power) > MOST_BITS {
        return None;
    }
    let of = |term: &Integer| {
        let (root, rest) = term.root_rem_ref(index).complete();
        rest.is_zero().then(|| root.pow(power))
    };
    Some(Rational::from((of(value.numer())?, of(value.denom())?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_are_exact_or_none() {
        let q = |a: u32, b: u32| Rational::from((a, b));
        assert_eq!(power(&q(4, 9), &q(3, 2)), Some(q(8, 27)));
        assert_eq!(power(&q(2, 9), &q(1, 2)), None);
        assert_eq!(power(&q(2, 3), &q(10, 1)), Some(q(1024, 59049)));
    }
}

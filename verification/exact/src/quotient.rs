//! Fractions that are not reduced. Comparing them takes two products and no greatest common divisor.

use std::cmp::Ordering;

use rug::{Integer, Rational};

/// The fraction `numerator / denominator` with a positive denominator, not necessarily in lowest terms.
///
/// Exact answers for real clusters have numbers of thousands of bits. Reducing every intermediate fraction would take
/// longer than all other work together.
#[derive(Debug, Clone)]
pub(crate) struct Quotient {
    pub numerator: Integer,
    pub denominator: Integer,
}

impl Quotient {
    /// Returns the fraction. The denominator must be positive.
    pub fn new(numerator: Integer, denominator: Integer) -> Self {
        debug_assert!(denominator > 0);
        Self { numerator, denominator }
    }

    /// Returns the number in lowest terms.
    pub fn to_rational(&self) -> Rational {
        Rational::from((&self.numerator, &self.denominator))
    }
}

impl From<&Rational> for Quotient {
    fn from(value: &Rational) -> Self {
        Self::new(value.numer().clone(), value.denom().clone())
    }
}

impl PartialEq for Quotient {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Quotient {}

impl PartialOrd for Quotient {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Quotient {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_sign = self.numerator.cmp0().cmp(&other.numerator.cmp0());
        if by_sign != Ordering::Equal {
            return by_sign;
        }
        if self.denominator == other.denominator {
            return self.numerator.cmp(&other.numerator);
        }
        let left = Integer::from(&self.numerator * &other.denominator);
        left.cmp(&Integer::from(&other.numerator * &self.denominator))
    }
}

/// Replaces `common` by the least common multiple of `common` and `denominator`.
///
/// Most denominators in one answer divide the same determinant, so the division is tried first.
pub(crate) fn absorb(common: &mut Integer, denominator: &Integer) {
    if !common.is_divisible(denominator) {
        common.lcm_mut(denominator);
    }
}

/// Returns `value * common` as an integer. `common` must be a multiple of the denominator of `value`.
pub(crate) fn scaled(value: &Rational, common: &Integer) -> Integer {
    if value.denom() == common {
        return value.numer().clone();
    }
    Integer::from(common.div_exact_ref(value.denom())) * value.numer()
}

//! Short numbers in the place of long ones.

use evenhand_problem::{Integer, Rational};

use super::rounds::LevelDual;
use crate::settings::LEVELS;

/// A number of [`Levels::bound_bits`](crate::settings::Levels::bound_bits) bits that is not above `value`.
pub fn below(value: &Rational) -> Rational {
    if value.is_zero() {
        return Rational::new();
    }
    let bits = |n: &Integer| i64::from(n.significant_bits());
    let shift = i32::try_from(LEVELS.bound_bits - bits(value.numer()) + bits(value.denom())).unwrap_or(0);
    Rational::from(value << shift).floor() >> shift
}

impl LevelDual {
    /// The same with short weights, none of which is above what it was: they prove as much but for rounding.
    #[must_use]
    pub fn short(mut self) -> Self {
        self.prices.user_weights.iter_mut().for_each(|(_, weight)| *weight = below(weight));
        self
    }
}

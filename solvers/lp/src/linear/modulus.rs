//! Arithmetic modulo the prime `2^61 - 1`.

use rug::Integer;

use super::lu::Field;

/// The prime.
pub const P: u64 = (1 << 61) - 1;

/// A number modulo `P`, below it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Residue(pub u64);

impl Residue {
    /// An integer modulo `P`.
    pub fn of(value: &Integer) -> Self {
        if let Some(value) = value.to_i64() {
            return Self::of_i64(value);
        }
        let rest = Integer::from(value % P);
        // The remainder has the sign of the value, and fits.
        Self::of_i64(rest.to_i64().unwrap_or_default())
    }

    /// A small integer modulo `P`.
    pub fn of_i64(value: i64) -> Self {
        let rest = value.unsigned_abs() % P;
        Self(if value < 0 && rest > 0 { P - rest } else { rest })
    }
}

impl Field for Residue {
    fn is_zero(&self) -> bool {
        self.0 == 0
    }

    fn inverse(&self) -> Self {
        // Fermat: a^(P - 2).
        let (mut power, mut result, mut exponent) = (*self, Self(1), P - 2);
        while exponent > 0 {
            if exponent & 1 == 1 {
                result = result.times(&power);
            }
            power = power.times(&power);
            exponent >>= 1;
        }
        result
    }

    #[inline]
    fn times(&self, other: &Self) -> Self {
        let product = u128::from(self.0) * u128::from(other.0);
        // 2^61 is 1 here: the high part is added to the low one. Both are below 2^61.
        let sum = (product & u128::from(P)) as u64 + (product >> 61) as u64;
        Self(if sum >= P { sum - P } else { sum })
    }

    #[inline]
    fn subtract(&mut self, a: &Self, b: &Self) {
        let product = a.times(b).0;
        self.0 = if self.0 >= product { self.0 - product } else { self.0 + P - product };
    }

    fn bits(&self) -> u32 {
        0
    }

    fn charge(&self, count: usize) {
        evenhand_budget::charge(2 * count as u64, "an elimination");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inverses_are_inverse() {
        for a in [1, 2, 3, 12_345_678_901, P - 1] {
            assert_eq!(Residue(a).times(&Residue(a).inverse()), Residue(1));
        }
        assert_eq!(Residue::of(&(Integer::from(-3) * Integer::from(P) - 5)), Residue(P - 5));
        assert_eq!(Residue::of_i64(-1), Residue(P - 1));
    }
}

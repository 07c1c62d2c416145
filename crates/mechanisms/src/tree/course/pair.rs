//! Numbers as sums of two doubles, where the second double is smaller than the last digit of the first. Such
//! a sum has 31 decimal digits.
//!
//! The operations and their error bounds are from Joldes, Muller and Popescu, Tight and Rigorous Error Bounds
//! for Basic Building Blocks of Double-Word Arithmetic, 2017: algorithms 6, 11 and 17.

use std::ops::{Add, Div, Mul, Neg};

use evenhand_problem::Rational;
use rug::Integer;

/// The number of values of half a word: 2^32.
const HALF_WORD: f64 = 4_294_967_296.0;
/// The bits of half a word.
const HALF_BITS: i32 = 32;
/// The number of leading words of an integer that are used. The first word may have a single significant bit,
/// so at least 129 bits are used.
const WORDS: usize = 3;
/// The largest difference in words that is distinguished. It exceeds the range of doubles: a power of 2 of
/// half as many words is infinite or 0.
const MOST_WORDS: i32 = 64;

/// A sum of two doubles.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Pair {
    /// The first double.
    pub value: f64,
    /// The second double: the difference of the number from the first.
    rest: f64,
}

/// Returns the exact sum of two doubles.
fn sum(a: f64, b: f64) -> Pair {
    let value = a + b;
    let of_b = value - a;
    Pair { value, rest: (a - (value - of_b)) + (b - of_b) }
}

/// Returns the exact sum of two doubles. The first must not be smaller in magnitude than the second.
fn sum_in_order(a: f64, b: f64) -> Pair {
    let value = a + b;
    Pair { value, rest: b - (value - a) }
}

/// Returns the exact product of two doubles.
fn product(a: f64, b: f64) -> Pair {
    let value = a * b;
    Pair { value, rest: a.mul_add(b, -value) }
}

impl Pair {
    /// A bound on relative errors: 64 * 2^-106. One operation has an error of at most 15 * 2^-106, and all
    /// operations of a quotient of integers together have an error of at most 33 * 2^-106.
    pub const ROUNDED: f64 = 16.0 * f64::EPSILON * f64::EPSILON;

    /// Approximates a quotient of integers. The result is infinite or 0 outside the range of doubles.
    pub fn of(numerator: &Integer, denominator: &Integer) -> Self {
        let ((above, more), (below, less)) = (first_digits(numerator), first_digits(denominator));
        let found = above / below;
        if more == less {
            return found;
        }
        // Scale in two steps, so that intermediate results stay in the range of doubles if the result is in it.
        let scale = f64::from((more - less).clamp(-MOST_WORDS, MOST_WORDS) * HALF_BITS).exp2();
        Self { value: found.value * scale * scale, rest: found.rest * scale * scale }
    }

    /// Returns the exact sum of both doubles, or 0 if it is not finite.
    pub fn exactly(self) -> Rational {
        let exactly = |x: f64| Rational::from_f64(x).unwrap_or_default();
        exactly(self.value) + exactly(self.rest)
    }

    /// Returns the number multiplied by a double.
    fn times(self, factor: f64) -> Self {
        let all = product(self.value, factor);
        let most = sum_in_order(all.value, self.rest * factor);
        sum_in_order(most.value, most.rest + all.rest)
    }
}

/// Returns the leading words of an integer, and the number of words that follow.
fn first_digits(x: &Integer) -> (Pair, i32) {
    let words = x.as_limbs();
    let after = words.len().saturating_sub(WORDS);
    let mut all = Pair::default();
    for word in words[after..].iter().rev() {
        for half in [word >> HALF_BITS, word & u64::from(u32::MAX)] {
            let half = Pair { value: half as f64, rest: 0.0 };
            all = Pair { value: all.value * HALF_WORD, rest: all.rest * HALF_WORD } + half;
        }
    }
    (if *x < 0 { -all } else { all }, i32::try_from(after).unwrap_or(i32::MAX))
}

impl Add for Pair {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        let (most, least) = (sum(self.value, other.value), sum(self.rest, other.rest));
        let most = sum_in_order(most.value, most.rest + least.value);
        sum_in_order(most.value, least.rest + most.rest)
    }
}

impl Neg for Pair {
    type Output = Self;

    fn neg(self) -> Self {
        Self { value: -self.value, rest: -self.rest }
    }
}

impl Mul for Pair {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        let all = product(self.value, other.value);
        let crossed = self.rest.mul_add(other.value, self.value * other.rest);
        sum_in_order(all.value, all.rest + crossed)
    }
}

impl Div for Pair {
    type Output = Self;

    fn div(self, other: Self) -> Self {
        let first = self.value / other.value;
        let all = other.times(first);
        let left = (self.value - all.value) + (self.rest - all.rest);
        sum_in_order(first, left / other.value)
    }
}

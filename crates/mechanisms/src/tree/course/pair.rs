//! Numbers as sums of two doubles, the second of which is less than the last digit of the first: 31 digits.
//!
//! The operations and what they are off by are those of Joldes, Muller and Popescu, Tight and Rigorous Error Bounds for Basic
//! Building Blocks of Double-Word Arithmetic, 2017: algorithms 6, 11 and 17.

use std::ops::{Add, Div, Mul, Neg};

use evenhand_problem::Rational;
use rug::Integer;

/// One more than the most that half a word of a whole number holds: 2^32.
const HALF_WORD: f64 = 4_294_967_296.0;
/// Bits of half a word.
const HALF_BITS: i32 = 32;
/// Words of a whole number that are looked at: the first may hold a single bit, so that 129 bits are seen at least.
const WORDS: usize = 3;
/// Words that a number has more than doubles have: with half of them a power of 2 is infinite, or 0.
const MOST_WORDS: i32 = 64;

/// Such a number.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Pair {
    pub value: f64,
    /// By how much the number is larger.
    rest: f64,
}

/// The sum of two doubles.
fn sum(a: f64, b: f64) -> Pair {
    let value = a + b;
    let of_b = value - a;
    Pair { value, rest: (a - (value - of_b)) + (b - of_b) }
}

/// The same where the first one is not the smaller one.
fn sum_in_order(a: f64, b: f64) -> Pair {
    let value = a + b;
    Pair { value, rest: b - (value - a) }
}

/// The product of two doubles.
fn product(a: f64, b: f64) -> Pair {
    let value = a * b;
    Pair { value, rest: a.mul_add(b, -value) }
}

impl Pair {
    /// A relative error of one operation, 15 of 2^-106 at most, or of all that makes a quotient of whole numbers, 33 of them.
    pub const ROUNDED: f64 = 16.0 * f64::EPSILON * f64::EPSILON;

    /// A quotient of whole numbers. What is beyond doubles is infinite, or 0.
    pub fn of(numerator: &Integer, denominator: &Integer) -> Self {
        let ((above, more), (below, less)) = (first_digits(numerator), first_digits(denominator));
        let found = above / below;
        if more == less {
            return found;
        }
        // Half a word at a time, so that what is within doubles is so on the way.
        let scale = f64::from((more - less).clamp(-MOST_WORDS, MOST_WORDS) * HALF_BITS).exp2();
        Self { value: found.value * scale * scale, rest: found.rest * scale * scale }
    }

    /// The sum of both; 0 where that is not finite.
    pub fn exactly(self) -> Rational {
        let exactly = |x: f64| Rational::from_f64(x).unwrap_or_default();
        exactly(self.value) + exactly(self.rest)
    }

    /// Times a double.
    fn times(self, factor: f64) -> Self {
        let all = product(self.value, factor);
        let most = sum_in_order(all.value, self.rest * factor);
        sum_in_order(most.value, most.rest + all.rest)
    }
}

/// The first words of a whole number, and how many follow.
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

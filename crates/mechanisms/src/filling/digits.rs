//! Exact numbers of a filling: machine integers where they suffice, and GMP's numbers otherwise.

use std::cmp::Ordering;

use rug::{Integer, Rational};

/// The kind of numbers that a filling uses.
pub(super) trait Digits {
    /// An amount of a resource in units of its common denominator. The default is 0.
    type Amount: Clone + Ord + Default;
    /// A score or a mismatch.
    type Ratio: Clone + Ord;

    /// Converts an amount. The caller must ensure that it is narrow enough.
    fn amount(value: &Integer) -> Self::Amount;

    /// Converts a ratio. The caller must ensure that it is narrow enough.
    fn ratio(value: &Rational) -> Self::Ratio;

    /// Returns the score 0.
    fn zero() -> Self::Ratio {
        Self::ratio(&Rational::new())
    }

    /// Subtracts `amount` from `left`, which must be at least as large.
    fn take(left: &mut Self::Amount, amount: &Self::Amount);

    /// Adds `amount` to `left`, from which it was subtracted before.
    fn give(left: &mut Self::Amount, amount: &Self::Amount);

    /// Returns `unit * steps`.
    fn times(unit: &Self::Ratio, steps: u64) -> Self::Ratio;

    /// Returns `max_r d_r / c_r * steps / weight` over the demanded resources. A positive amount of every
    /// demanded resource must be left.
    fn residual_score(
        steps: u64,
        weight: &Self::Amount,
        d: &[Self::Amount],
        c: &[Self::Amount],
    ) -> Self::Ratio;

    /// Returns `H = sum_r F_r |d_r c_f - c_r d_f| / (F_f d_f c_f)`, where `f` is the first demanded resource and the
    /// factor `F_r` is one over the total of resource `r`. Some of resource `f` must be free.
    fn mismatch(factors: &[Self::Amount], f: usize, d: &[Self::Amount], c: &[Self::Amount]) -> Self::Ratio;

    /// Returns the amount itself as a ratio. The ratio is the mismatch of a server that has a single
    /// resource, if `amount` of this resource is left.
    fn whole(amount: &Self::Amount) -> Self::Ratio;

    /// Returns `factor * amount` divided by the product of `unit`, which must not be 0, in floating point. The error
    /// is below eight units in the last place plus [`Digits::TINY`]. The result is infinite outside the range of
    /// doubles.
    fn proportion(of: [&Self::Amount; 2], unit: [&Self::Amount; 2]) -> f64;

    /// Returns `amount / unit` in floating point, and 0 for a unit of 0. The error is below four units in the last
    /// place plus [`Digits::TINY`]. The result is infinite or 0 outside the range of doubles.
    fn quotient(amount: &Self::Amount, unit: &Self::Amount) -> f64;

    /// Returns the ratio in floating point, as accurately as [`Digits::quotient`].
    fn to_f64(ratio: &Self::Ratio) -> f64;

    /// The largest error that underflow can cause in a sum of products of quotients.
    const TINY: f64;

    /// The maximum number of steps of all users together: a minute's work.
    const MOST_STEPS: u64;
}

/// The bits of [`Digits::MOST_STEPS`].
const STEP_BITS: u32 = 27;
/// The maximum number of bits of an amount or a weight in machine integers.
const AMOUNT_BITS: u32 = 63;

/// The maximum sizes of the numbers of a filling.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Widths {
    /// The bits of an amount or a weight.
    pub amount: u32,
    /// The bits of the numerator of a step's score.
    pub numerator: u32,
    /// The bits of the denominator of a step's score.
    pub denominator: u32,
    /// The bits of a factor of the mismatch.
    pub factor: u32,
    /// The number of resources.
    pub resources: usize,
}

impl Widths {
    /// Returns whether [`Narrow`] never overflows.
    pub fn are_narrow(self) -> bool {
        let terms = usize::BITS - self.resources.leading_zeros();
        self.amount <= AMOUNT_BITS
            && self.numerator + STEP_BITS <= 127
            && self.denominator <= 127
            && self.factor <= AMOUNT_BITS
            && self.factor.saturating_add(2 * self.amount) + terms < 127
    }
}

/// The arithmetic of machine integers.
pub(super) struct Narrow;

/// A fraction of machine integers with a positive denominator.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fraction {
    numerator: u128,
    denominator: u128,
}

impl Ord for Fraction {
    fn cmp(&self, other: &Self) -> Ordering {
        let all = self.numerator | self.denominator | other.numerator | other.denominator;
        if all >> 64 == 0 {
            return (self.numerator * other.denominator).cmp(&(other.numerator * self.denominator));
        }
        product(self.numerator, other.denominator).cmp(&product(other.numerator, self.denominator))
    }
}

impl PartialOrd for Fraction {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Fraction {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Fraction {}

/// Returns the product in 256 bits, with the high half first.
fn product(a: u128, b: u128) -> (u128, u128) {
    const LOW: u128 = u64::MAX as u128;
    let (a1, a0, b1, b0) = (a >> 64, a & LOW, b >> 64, b & LOW);
    let (low, left, right) = (a0 * b0, a1 * b0, a0 * b1);
    let middle = (low >> 64) + (left & LOW) + (right & LOW);
    let high = a1 * b1 + (left >> 64) + (right >> 64) + (middle >> 64);
    (high, (low & LOW) | ((middle & LOW) << 64))
}

impl Digits for Narrow {
    type Amount = u64;
    type Ratio = Fraction;
    const MOST_STEPS: u64 = 100_000_000;

    fn amount(value: &Integer) -> u64 {
        value.to_u64().unwrap_or(u64::MAX)
    }

    fn ratio(value: &Rational) -> Fraction {
        let wide = |part: &Integer| part.to_u128().unwrap_or(u128::MAX);
        Fraction { numerator: wide(value.numer()), denominator: wide(value.denom()) }
    }

    fn take(left: &mut u64, amount: &u64) {
        *left -= amount;
    }

    fn give(left: &mut u64, amount: &u64) {
        *left += amount;
    }

    fn times(unit: &Fraction, steps: u64) -> Fraction {
        Fraction { numerator: unit.numerator * u128::from(steps), denominator: unit.denominator }
    }

    fn residual_score(steps: u64, weight: &u64, d: &[u64], c: &[u64]) -> Fraction {
        let mut most = (0, 1);
        for (&d, &c) in d.iter().zip(c) {
            if d > 0 && u128::from(d) * u128::from(most.1) > u128::from(most.0) * u128::from(c) {
                most = (d, c);
            }
        }
        Fraction {
            numerator: u128::from(steps) * u128::from(most.0),
            denominator: u128::from(*weight) * u128::from(most.1),
        }
    }

    fn mismatch(factors: &[u64], f: usize, d: &[u64], c: &[u64]) -> Fraction {
        let (df, cf) = (u128::from(d[f]), u128::from(c[f]));
        let mut sum = 0;
        for (r, &factor) in factors.iter().enumerate() {
            let (wanted, there) = (u128::from(d[r]) * cf, u128::from(c[r]) * df);
            sum += u128::from(factor) * wanted.abs_diff(there);
        }
        Fraction { numerator: sum, denominator: u128::from(factors[f]) * df * cf }
    }

    fn whole(amount: &u64) -> Fraction {
        Fraction { numerator: u128::from(*amount), denominator: 1 }
    }

    fn proportion([factor, amount]: [&u64; 2], [unit_factor, unit]: [&u64; 2]) -> f64 {
        (*factor as f64 * *amount as f64) / (*unit_factor as f64 * *unit as f64)
    }

    fn quotient(amount: &u64, unit: &u64) -> f64 {
        if *unit == 0 { 0.0 } else { *amount as f64 / *unit as f64 }
    }

    fn to_f64(ratio: &Fraction) -> f64 {
        // A single machine instruction converts 64 bits. Longer numbers need a function call.
        let float = |part: u128| u64::try_from(part).map_or(part as f64, |part| part as f64);
        float(ratio.numerator) / float(ratio.denominator)
    }

    // Quotients of 64-bit numbers, and of products of two 64-bit numbers, are far from underflow.
    const TINY: f64 = 0.0;
}

/// The arithmetic of GMP's numbers.
pub(super) struct Wide;

impl Digits for Wide {
    type Amount = Integer;
    type Ratio = Rational;
    const MOST_STEPS: u64 = 2_000_000;

    fn amount(value: &Integer) -> Integer {
        value.clone()
    }

    fn ratio(value: &Rational) -> Rational {
        value.clone()
    }

    fn take(left: &mut Integer, amount: &Integer) {
        *left -= amount;
    }

    fn give(left: &mut Integer, amount: &Integer) {
        *left += amount;
    }

    fn times(unit: &Rational, steps: u64) -> Rational {
        Rational::from(unit * steps)
    }

    fn residual_score(steps: u64, weight: &Integer, d: &[Integer], c: &[Integer]) -> Rational {
        let demanded = d.iter().zip(c).filter(|(d, _)| !d.is_zero());
        let most = demanded.map(|(d, c)| ratio(d.clone(), c)).max().unwrap_or_default();
        most * steps / weight
    }

    fn mismatch(factors: &[Integer], f: usize, d: &[Integer], c: &[Integer]) -> Rational {
        let mut sum = Integer::new();
        for (r, factor) in factors.iter().enumerate() {
            let difference = Integer::from(&d[r] * &c[f]) - Integer::from(&c[r] * &d[f]);
            sum += difference.abs() * factor;
        }
        ratio(sum, &(Integer::from(&factors[f] * &d[f]) * &c[f]))
    }

    fn whole(amount: &Integer) -> Rational {
        Rational::from(amount)
    }

    fn proportion([factor, amount]: [&Integer; 2], [unit_factor, unit]: [&Integer; 2]) -> f64 {
        ratio(Integer::from(factor * amount), &Integer::from(unit_factor * unit)).to_f64()
    }

    fn quotient(amount: &Integer, unit: &Integer) -> f64 {
        if unit.is_zero() { 0.0 } else { Rational::from((amount, unit)).to_f64() }
    }

    fn to_f64(ratio: &Rational) -> f64 {
        ratio.to_f64()
    }

    const TINY: f64 = 1e-280;
}

/// Returns a quotient of integers. A denominator of 0 counts as 1.
fn ratio(numerator: Integer, denominator: &Integer) -> Rational {
    if denominator.is_zero() { Rational::from(numerator) } else { Rational::from((numerator, denominator)) }
}

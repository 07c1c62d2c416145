//! What ends a check early, and what a check may cost.
//!
//! A small file can state numbers that would keep a reader busy for hours. Whatever costs more than its place
//! in the file is charged here before it is done; when nothing is left the answer is "too large", which is no
//! verdict.

use std::cell::Cell;

use rug::Rational;

/// Why a check ends without the word "valid".
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// The text is no certificate (or no problem, or no allocation): what is wrong at this byte of it.
    Malformed { at: usize, what: String },
    /// The certificate states something that is false, or that its evidence does not show.
    False(String),
    /// Deciding would take more than is allowed.
    TooLarge(String),
}

/// A result, or why there is none.
pub type Checked<T> = Result<T, Fault>;

/// The certificate states something that is false.
pub fn refuse<T>(what: impl Into<String>) -> Checked<T> {
    Err(Fault::False(what.into()))
}

/// [`refuse`], unless `holds`.
pub fn ensure(holds: bool, what: &str) -> Checked<()> {
    if holds { Ok(()) } else { refuse(what) }
}

/// Steps that are allowed; a step is some nanoseconds, so that all of them take about a minute.
const STEPS: u64 = 10_000_000_000;
/// Digits that all numbers of the files may have together, exponents written out: about 110 MB of numbers.
const DIGITS: u64 = 1 << 28;

/// What is left of the steps and digits.
pub struct Work {
    steps: Cell<u64>,
    digits: Cell<u64>,
    /// Words of 64 bits of the widest number that was read.
    widest: Cell<u64>,
}

impl Default for Work {
    fn default() -> Self {
        Self { steps: Cell::new(STEPS), digits: Cell::new(DIGITS), widest: Cell::new(1) }
    }
}

impl Work {
    /// Charges the digits of a number before it is made.
    pub fn digits(&self, digits: u64) -> Checked<()> {
        // A word holds more than 19 decimal digits.
        self.widest.set(self.widest.get().max(digits / 19 + 1));
        take(&self.digits, digits, || format!("the numbers have more than {DIGITS} digits together"))
    }

    /// Charges so many steps.
    pub fn steps(&self, steps: u64) -> Checked<()> {
        take(&self.steps, steps, || format!("judging this needs more than {STEPS} steps of work"))
    }

    /// Charges so many operations on fractions as wide as the widest number that was read.
    pub fn spend(&self, operations: usize) -> Checked<()> {
        self.steps(cost(self.widest.get()).saturating_mul(operations as u64))
    }

    /// The sum, added up in pairs so that wide denominators meet late.
    pub fn sum(&self, mut values: Vec<Rational>) -> Checked<Rational> {
        while values.len() > 1 {
            let mut sums = Vec::with_capacity(values.len().div_ceil(2));
            let mut rest = values.into_iter();
            while let Some(a) = rest.next() {
                let Some(b) = rest.next() else {
                    sums.push(a);
                    break;
                };
                self.steps(cost(words(&a) + words(&b)))?;
                sums.push(a + b);
            }
            values = sums;
        }
        Ok(values.pop().unwrap_or_default())
    }
}

fn take(left: &Cell<u64>, amount: u64, why: impl Fn() -> String) -> Checked<()> {
    match left.get().checked_sub(amount) {
        Some(rest) => left.set(rest),
        None => return Err(Fault::TooLarge(format!("too large: {}", why()))),
    }
    Ok(())
}

/// Words of 64 bits that a fraction takes.
pub fn words(value: &Rational) -> u64 {
    u64::from(value.numer().significant_bits() + value.denom().significant_bits()) / 64 + 1
}

/// Steps of an operation on fractions of so many words: their common factors are looked for, which grows with
/// the square.
pub fn cost(words: u64) -> u64 {
    20 + words.saturating_mul(4).saturating_add(words.saturating_mul(words) / 4)
}

//! Faults, which end a check early, and the budget of a check.
//!
//! A small file can state numbers that would keep a reader busy for hours. Therefore every operation that costs more
//! than its text in the file is charged to a budget before it is done. When the budget is used up the answer is "too
//! large", which is not a verdict. A check runs on one thread and begins with a full budget.

use std::cell::Cell;

use rug::{Integer, Rational};

/// The reason why a check ends without the verdict "valid".
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// The text is not a certificate (or not a problem, or not an allocation). `at` is the byte offset of the defect,
    /// and `what` describes the defect.
    Malformed { at: usize, what: String },
    /// A statement of the certificate is false, or its evidence does not prove it.
    False(String),
    /// The verdict would cost more than the budget allows.
    TooLarge(String),
}

/// A result, or the fault that prevents the result.
pub type Checked<T> = Result<T, Fault>;

/// Returns the fault that a statement of the certificate is false.
pub fn refuse<T>(what: impl Into<String>) -> Checked<T> {
    Err(Fault::False(what.into()))
}

/// Rejects the certificate with [`refuse`], unless `holds` is true.
pub fn ensure(holds: bool, what: &str) -> Checked<()> {
    if holds { Ok(()) } else { refuse(what) }
}

/// Returns the value. Rejects the certificate with [`refuse`] if there is no value.
pub fn require<T>(value: Option<T>, what: &str) -> Checked<T> {
    value.map_or_else(|| refuse(what), Ok)
}

/// Returns the fault "too large", unless `holds` is true.
pub fn ensure_small(holds: bool, what: &str) -> Checked<()> {
    if holds { Ok(()) } else { Err(Fault::TooLarge(format!("too large: {what}"))) }
}

/// Returns the same result, with the context `what` put in front of the message of a fault.
pub fn context<T>(what: &str, result: Checked<T>) -> Checked<T> {
    result.map_err(|fault| match fault {
        Fault::False(reason) => Fault::False(format!("{what}: {reason}")),
        Fault::TooLarge(reason) => Fault::TooLarge(format!("{what}: {reason}")),
        malformed @ Fault::Malformed { .. } => malformed,
    })
}

impl Fault {
    /// Returns the message, without the location.
    pub fn what(self) -> String {
        let (Self::Malformed { what, .. } | Self::False(what) | Self::TooLarge(what)) = self;
        what
    }
}

/// The part of the budget that is left.
#[derive(Clone, Copy)]
struct Budget {
    /// The steps of work. A step takes some nanoseconds, so the full budget takes about a minute.
    steps: u64,
    /// The digits of all numbers in the files together, with exponents written out. The full budget is about 110 MB of
    /// numbers.
    digits: u64,
    /// The width, in words of 64 bits, of the widest number read so far.
    widest: u64,
    /// The width, in words of 64 bits, of the widest number of the problem.
    stated: u64,
}

const FULL: Budget = Budget { steps: 10_000_000_000, digits: 1 << 28, widest: 1, stated: 1 };

/// The steps charged for one digit: a number of 100,000 digits is read or written in about 2 ms, and this happens
/// several times.
const STEPS_OF_A_DIGIT: u64 = 10;

thread_local! {
    static LEFT: Cell<Budget> = const { Cell::new(FULL) };
}

/// Begins a check with a full budget.
pub fn begin() {
    LEFT.set(FULL);
}

fn charge(left: u64, amount: u64, most: u64, what: &str) -> Checked<u64> {
    let too_large = || Fault::TooLarge(format!("too large: it takes more than {most} {what}"));
    left.checked_sub(amount).ok_or_else(too_large)
}

/// Charges the digits of a number before the number is computed. The steps cover reading the number, and writing the
/// number again in hashes and in the report.
pub fn digits(count: u64) -> Checked<()> {
    steps(count.saturating_mul(STEPS_OF_A_DIGIT))?;
    let left = LEFT.get();
    let digits = charge(left.digits, count, FULL.digits, "digits of numbers")?;
    // A word has space for more than 19 decimal digits.
    LEFT.set(Budget { digits, widest: left.widest.max(count / 19 + 1), ..left });
    Ok(())
}

/// Charges this number of steps.
pub fn steps(count: u64) -> Checked<()> {
    let left = LEFT.get();
    LEFT.set(Budget { steps: charge(left.steps, count, FULL.steps, "steps of work")?, ..left });
    Ok(())
}

/// Charges this number of operations on fractions as wide as the widest number read so far.
pub fn spend(operations: usize) -> Checked<()> {
    steps(cost(LEFT.get().widest).saturating_mul(operations as u64))
}

/// Charges this number of operations on each of the values, by its own width.
pub fn spend_on(operations: u64, values: &[Rational]) -> Checked<()> {
    let all = values.iter().map(|value| cost(words(value))).fold(0, u64::saturating_add);
    steps(all.saturating_mul(operations))
}

/// Records that all numbers of the problem have been read. [`spend_stated`] then charges by their width.
pub fn has_problem() {
    LEFT.set(Budget { stated: LEFT.get().widest, ..LEFT.get() });
}

/// Charges this number of operations on numbers of the problem only.
pub fn spend_stated(operations: usize) -> Checked<()> {
    steps(cost(LEFT.get().stated).saturating_mul(operations as u64))
}

/// Returns `a b`, and charges for the width of both.
pub fn times(a: &Rational, b: &Rational) -> Checked<Rational> {
    steps((words(a) + 4).saturating_mul(words(b) + 4) + 4)?;
    Ok(Rational::from(a * b))
}

/// Returns `a / b` for a `b` that is not 0, and charges for the width of both.
pub fn over(a: &Rational, b: &Rational) -> Checked<Rational> {
    steps((words(a) + 4).saturating_mul(words(b) + 4) + 4)?;
    Ok(Rational::from(a / b))
}

/// Returns `a + b`, and charges for its multiplications: each numerator by the other denominator, and the two
/// denominators.
pub fn plus(a: &Rational, b: &Rational) -> Checked<Rational> {
    let parts = [a.numer(), a.denom(), b.numer(), b.denom()];
    let [over_a, a_words, over_b, b_words] = parts.map(|part| u64::from(part.significant_bits()) / 64 + 1);
    steps(20 + 4 * (over_a + over_b) + (over_a + a_words + 4) * b_words + (over_b + 4) * a_words)?;
    Ok(Rational::from(a + b))
}

/// Returns the sum of fractions. Values whose denominator divides the widest denominator are added over that
/// denominator and reduced once. The result and the other values are added in pairs, so that wide denominators meet
/// late.
pub fn sum(values: Vec<Rational>) -> Checked<Rational> {
    let widest = values.iter().map(Rational::denom).max().unwrap_or(Integer::ONE).clone();
    // A division by a denominator costs the width of the denominator times the width of the quotient. The quotient is
    // multiplied by the numerator, and the product is added to a number that may be as wide as the widest product.
    let width = |integer: &Integer| u64::from(integer.significant_bits()) / 64 + 1;
    let quotient = |value: &Rational| (width(&widest) + 1).saturating_sub(width(value.denom())) + 1;
    let product = |value: &Rational| width(value.numer()) + quotient(value);
    let addition = values.iter().map(product).max().unwrap_or(0) / 8 + 8;
    let cost = |value: &Rational| {
        addition + quotient(value).saturating_mul(width(value.denom()) + width(value.numer()))
    };
    steps(values.iter().map(cost).fold(self::cost(width(&widest)), u64::saturating_add))?;
    let (over, mut values): (Vec<_>, Vec<_>) =
        values.into_iter().partition(|v| widest.is_divisible(v.denom()));
    let over: Integer = over.iter().map(|v| Integer::from(widest.div_exact_ref(v.denom())) * v.numer()).sum();
    values.push(Rational::from((over, widest)));
    while values.len() > 1 {
        let add = |pair: &[Rational]| pair.get(1).map_or_else(|| Ok(pair[0].clone()), |b| plus(&pair[0], b));
        values = values.chunks(2).map(add).collect::<Checked<_>>()?;
    }
    Ok(values.pop().unwrap_or_default())
}

/// Returns the number of words of 64 bits that a fraction occupies.
pub fn words(value: &Rational) -> u64 {
    u64::from(value.numer().significant_bits() + value.denom().significant_bits()) / 64 + 1
}

/// Returns the number of steps of an operation on fractions of this many words. The cost of common factors grows with
/// the square of the width.
pub fn cost(words: u64) -> u64 {
    20 + words.saturating_mul(4).saturating_add(words.saturating_mul(words) / 4)
}

/// Returns the steps that a comparison of fractions of this many words takes. Each numerator is multiplied by the other
/// denominator, and no common factor is computed.
pub fn comparison(words: u64) -> u64 {
    20 + words + words.saturating_mul(words) / 16
}

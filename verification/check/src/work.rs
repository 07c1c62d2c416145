//! What ends a check early, and what a check may cost.
//!
//! A small file can state numbers that would keep a reader busy for hours. Whatever costs more than its place
//! in the file is charged here before it is done; when nothing is left the answer is "too large", which is no
//! verdict. What is judged is judged on one thread, which begins with a full budget.

use std::cell::Cell;

use rug::{Integer, Rational};

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

/// The value, or [`refuse`] where there is none.
pub fn some<T>(value: Option<T>, what: &str) -> Checked<T> {
    value.map_or_else(|| refuse(what), Ok)
}

/// That it is too large, unless `holds`.
pub fn ensure_small(holds: bool, what: &str) -> Checked<()> {
    if holds { Ok(()) } else { Err(Fault::TooLarge(format!("too large: {what}"))) }
}

/// The same result, with what it is about where it is none.
pub fn about<T>(what: &str, result: Checked<T>) -> Checked<T> {
    result.map_err(|fault| match fault {
        Fault::False(reason) => Fault::False(format!("{what}: {reason}")),
        Fault::TooLarge(reason) => Fault::TooLarge(format!("{what}: {reason}")),
        malformed @ Fault::Malformed { .. } => malformed,
    })
}

impl Fault {
    /// What is wrong, without where.
    pub fn what(self) -> String {
        let (Self::Malformed { what, .. } | Self::False(what) | Self::TooLarge(what)) = self;
        what
    }
}

#[derive(Clone, Copy)]
struct Budget {
    /// A step is some nanoseconds, so that all of them take about a minute.
    steps: u64,
    /// Of all numbers of the files together, exponents written out: about 110 MB of numbers.
    digits: u64,
    /// Words of 64 bits of the widest number that was read, and of the widest one of the problem.
    widest: u64,
    stated: u64,
}

const FULL: Budget = Budget { steps: 10_000_000_000, digits: 1 << 28, widest: 1, stated: 1 };

/// A number of 100,000 digits is read or written in about 2 ms, several times.
const STEPS_OF_A_DIGIT: u64 = 10;

thread_local! {
    static LEFT: Cell<Budget> = const { Cell::new(FULL) };
}

/// Begins a check.
pub fn begin() {
    LEFT.set(FULL);
}

fn take(left: u64, amount: u64, most: u64, what: &str) -> Checked<u64> {
    let too_large = || Fault::TooLarge(format!("too large: it takes more than {most} {what}"));
    left.checked_sub(amount).ok_or_else(too_large)
}

/// Charges the digits of a number before it is made, and the steps of reading them and of writing them again: in
/// hashes, in the report.
pub fn digits(count: u64) -> Checked<()> {
    steps(count.saturating_mul(STEPS_OF_A_DIGIT))?;
    let left = LEFT.get();
    let digits = take(left.digits, count, FULL.digits, "digits of numbers")?;
    // A word holds more than 19 decimal digits.
    LEFT.set(Budget { digits, widest: left.widest.max(count / 19 + 1), ..left });
    Ok(())
}

/// Charges so many steps.
pub fn steps(count: u64) -> Checked<()> {
    let left = LEFT.get();
    LEFT.set(Budget { steps: take(left.steps, count, FULL.steps, "steps of work")?, ..left });
    Ok(())
}

/// Charges so many operations on fractions as wide as the widest number that was read.
pub fn spend(operations: usize) -> Checked<()> {
    steps(cost(LEFT.get().widest).saturating_mul(operations as u64))
}

/// Notes that all numbers of the problem have been read.
pub fn has_problem() {
    LEFT.set(Budget { stated: LEFT.get().widest, ..LEFT.get() });
}

/// Charges so many operations on numbers of the problem alone.
pub fn look(operations: usize) -> Checked<()> {
    steps(cost(LEFT.get().stated).saturating_mul(operations as u64))
}

/// `a b`, charged by what both take.
pub fn times(a: &Rational, b: &Rational) -> Checked<Rational> {
    steps((words(a) + 4).saturating_mul(words(b) + 4) + 4)?;
    Ok(Rational::from(a * b))
}

/// `a + b`, charged by what is multiplied: each by the other's denominator, and the denominators.
pub fn plus(a: &Rational, b: &Rational) -> Checked<Rational> {
    let parts = [a.numer(), a.denom(), b.numer(), b.denom()];
    let [over_a, a_words, over_b, b_words] = parts.map(|part| u64::from(part.significant_bits()) / 64 + 1);
    steps(20 + 4 * (over_a + over_b) + (over_a + a_words + 4) * b_words + (over_b + 4) * a_words)?;
    Ok(Rational::from(a + b))
}

/// The sum: of all whose denominator divides the widest one over that one, reduced once; with the others in pairs, so
/// that wide denominators meet late.
pub fn sum(values: Vec<Rational>) -> Checked<Rational> {
    let widest = values.iter().map(Rational::denom).max().unwrap_or(Integer::ONE).clone();
    // Every value is multiplied, and added to what may be as wide as the widest.
    let most = values.iter().map(words).max().unwrap_or(0) / 8 + words(&Rational::from(&widest)) + 8;
    steps(values.iter().map(|value| (words(value) + 8).saturating_mul(most)).fold(0, u64::saturating_add))?;
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

/// Words of 64 bits that a fraction takes.
pub fn words(value: &Rational) -> u64 {
    u64::from(value.numer().significant_bits() + value.denom().significant_bits()) / 64 + 1
}

/// Steps of an operation on fractions of so many words: their common factors are looked for, which grows with
/// the square.
pub fn cost(words: u64) -> u64 {
    20 + words.saturating_mul(4).saturating_add(words.saturating_mul(words) / 4)
}

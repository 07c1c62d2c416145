//! Exact numbers: how text becomes a [`Rational`] and back.
//!
//! Accepted are decimals (`-0.5`, `1e-3`) and quotients of integers (`3/7`), and for quantities the suffixes of
//! Kubernetes (`64000m`, `1007Gi`). Their lengths are limited, so that a file of a few bytes cannot ask for
//! gigabytes of digits. The limits for one number are [`MAX_DIGITS`] for inputs and [`MAX_RESULT_DIGITS`] for
//! results. [`DigitBudget`] limits all numbers of a document together.

mod stated;

use std::cell::Cell;

use rug::{Integer, Rational, ops::Pow};
use thiserror::Error;

pub(crate) use stated::{between_doubles, format_hashed};
pub use stated::{format_stated, stated};

/// The maximum number of digits of an input number. Digits before and after the point count together, and so
/// do the digits of numerator and denominator.
pub const MAX_DIGITS: usize = 400;
/// The maximum number of digits of a computed number (in an allocation or in the evidence of a certificate).
/// The exact answer for a real cluster has thousands of digits.
pub const MAX_RESULT_DIGITS: usize = 100_000;
/// Largest absolute decimal exponent of an input number.
pub const MAX_EXPONENT: u32 = 400;
/// Largest absolute decimal exponent of a computed number. Without its exponent, a number within this limit
/// has no more zeros than the number of digits that it may have.
pub const MAX_RESULT_EXPONENT: u32 = 100_000;

/// The limits for one number: its digits and its absolute decimal exponent.
#[derive(Clone, Copy)]
struct NumberLimits {
    digits: usize,
    exponent: u32,
}

/// The reason why a text is not an exact number.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum NumberError {
    /// The text is neither a decimal nor a quotient of integers.
    #[error("`{0}` is not a number: expected a decimal such as 0.25 or a quotient such as \"3/7\"")]
    Syntax(String),
    /// The number has more digits than the limit.
    #[error("a number with {found} digits: at most {limit} are accepted")]
    TooManyDigits {
        /// Number of digits in the text.
        found: usize,
        /// The largest allowed number of digits, [`MAX_DIGITS`] or [`MAX_RESULT_DIGITS`].
        limit: usize,
    },
    /// The exponent exceeds the limit.
    #[error("the exponent of `{text}` is out of range: at most {limit} in absolute value")]
    ExponentTooLarge {
        /// The beginning of the number.
        text: String,
        /// The largest allowed exponent, [`MAX_EXPONENT`] or [`MAX_RESULT_EXPONENT`].
        limit: u32,
    },
    /// The denominator of a quotient is zero.
    #[error("`{0}` has a zero denominator: expected a denominator of at least 1")]
    ZeroDenominator(String),
}

/// Reads a decimal or a quotient exactly. `0.1` is 1/10, not the nearest binary number.
///
/// # Errors
/// Returns a [`NumberError`] if the text is neither, or exceeds a limit.
///
/// # Examples
/// ```
/// use evenhand_problem::number::parse;
/// assert_eq!(parse("0.1").unwrap(), parse("1/10").unwrap());
/// assert!(parse("1e999999999").is_err());
/// ```
pub fn parse(text: &str) -> Result<Rational, NumberError> {
    parse_within(text, NumberLimits { digits: MAX_DIGITS, exponent: MAX_EXPONENT })
}

/// Reads a number that a solver computed like [`parse`], but with up to [`MAX_RESULT_DIGITS`] digits.
///
/// # Errors
/// Returns an error in the same cases as [`parse`].
pub fn parse_result(text: &str) -> Result<Rational, NumberError> {
    parse_within(text, NumberLimits { digits: MAX_RESULT_DIGITS, exponent: MAX_RESULT_EXPONENT })
}

fn parse_within(text: &str, limits: NumberLimits) -> Result<Rational, NumberError> {
    if text.len() <= SHORT && is_digits(text) {
        return Ok(Rational::from(short(text.bytes())));
    }
    match text.split_once('/') {
        Some((numerator, denominator)) => parse_quotient(text, numerator, denominator, limits),
        None => parse_decimal(text, limits),
    }
}

/// Decimal suffixes, each with its power of ten.
const DECIMAL: [(&str, i32); 9] =
    [("n", -9), ("u", -6), ("m", -3), ("k", 3), ("M", 6), ("G", 9), ("T", 12), ("P", 15), ("E", 18)];
/// Binary suffixes, each with its power of two.
const BINARY: [(&str, u32); 6] = [("Ki", 10), ("Mi", 20), ("Gi", 30), ("Ti", 40), ("Pi", 50), ("Ei", 60)];

/// Reads a number like [`parse`], or a decimal with a suffix (n u m k M G T P E Ki Mi Gi Ti Pi Ei). `1E3` is a
/// thousand, `1E` an exa.
///
/// # Errors
/// Returns an error in the same cases as [`parse`].
///
/// # Examples
/// ```
/// use evenhand_problem::number::{parse, parse_quantity};
/// assert_eq!(parse_quantity("64000m").unwrap(), 64);
/// assert_eq!(parse_quantity("1.5Ki").unwrap(), 1536);
/// assert_eq!(parse_quantity("1E3").unwrap(), 1000);
/// assert_eq!(parse_quantity("1E").unwrap(), parse("1e18").unwrap());
/// assert!(parse_quantity("1e3Ki").is_err());
/// ```
pub fn parse_quantity(text: &str) -> Result<Rational, NumberError> {
    let Some((decimal, factor)) = split_suffix(text) else { return parse(text) };
    // A quotient or an exponent with a suffix is more likely a mistake than intended.
    if decimal.contains(['/', 'e', 'E']) {
        return Err(NumberError::Syntax(excerpt(text)));
    }
    let value = parse(decimal).map_err(|error| match error {
        NumberError::Syntax(_) => NumberError::Syntax(excerpt(text)),
        other => other,
    })?;
    Ok(value * factor)
}

/// Returns the number before a suffix, and the factor that the suffix means.
fn split_suffix(text: &str) -> Option<(&str, Rational)> {
    for (suffix, power) in BINARY {
        if let Some(decimal) = text.strip_suffix(suffix) {
            return Some((decimal, Rational::from(Integer::from(2).pow(power))));
        }
    }
    for (suffix, power) in DECIMAL {
        if let Some(decimal) = text.strip_suffix(suffix) {
            let scale = Rational::from(Integer::from(10).pow(power.unsigned_abs()));
            return Some((decimal, if power < 0 { scale.recip() } else { scale }));
        }
    }
    None
}

/// Returns a rational as the formats write it: `7` or `5/7`, in lowest terms.
#[must_use]
pub fn format(value: &Rational) -> String {
    match value.numer().to_u64() {
        Some(short) if *value.denom() == 1 => short.to_string(),
        _ => value.to_string(),
    }
}

/// Returns the nearest floating-point number, with ties to even. It is infinite when out of range.
#[must_use]
pub fn to_f64(value: &Rational) -> f64 {
    /// Whole numbers up to this number are doubles, so dividing two of them in floating point gives the
    /// nearest double to their quotient.
    const DOUBLES: u64 = 1 << f64::MANTISSA_DIGITS;
    if let (Some(numerator), Some(denominator)) = (value.numer().to_i64(), value.denom().to_u64())
        && numerator.unsigned_abs().max(denominator) <= DOUBLES
    {
        return numerator as f64 / denominator as f64;
    }
    // GMP rounds towards zero, so the nearest double is `inner` or its neighbour away from zero.
    let inner = value.to_f64();
    let negative = *value < 0;
    let outer = if negative { inner.next_down() } else { inner.next_up() };
    let (Some(inner_value), Some(outer_value)) = (Rational::from_f64(inner), Rational::from_f64(outer))
    else {
        return inner;
    };
    let to_inner = (value - inner_value).abs();
    let to_outer = (outer_value - value).abs();
    let outer_is_even = outer.to_bits() & 1 == 0;
    if to_outer < to_inner || (to_outer == to_inner && outer_is_even) { outer } else { inner }
}

/// Returns a double within two units in the last place of `value`, in a tenth of the time of [`to_f64`].
#[must_use]
pub fn near(value: &Rational) -> f64 {
    /// Number of bits up to which integers, and hence their quotients, are in the range of doubles.
    const BITS: u32 = 1000;
    let (numerator, denominator) = (value.numer(), value.denom());
    if numerator.significant_bits() < BITS && denominator.significant_bits() < BITS {
        numerator.to_f64() / denominator.to_f64()
    } else {
        value.to_f64()
    }
}

/// Returns the decimal as which a floating-point number is printed (0.1 is 1/10), or `None` for NaN and infinities.
///
/// Reading a result from a file gives this decimal. A solver that returns it instead of the binary value therefore
/// returns the same number as its file.
#[must_use]
pub fn from_f64(value: f64) -> Option<Rational> {
    if value.is_finite() { parse(&format!("{value:e}")).ok() } else { None }
}

fn parse_quotient(
    text: &str,
    numerator: &str,
    denominator: &str,
    limits: NumberLimits,
) -> Result<Rational, NumberError> {
    let (negative, numerator) = split_sign(numerator);
    if !is_digits(numerator) || !is_digits(denominator) {
        return Err(NumberError::Syntax(excerpt(text)));
    }
    check_digits(numerator.len() + denominator.len(), limits.digits)?;
    let denominator_value = integer(denominator);
    if denominator_value.is_zero() {
        return Err(NumberError::ZeroDenominator(excerpt(text)));
    }
    Ok(signed(negative, Rational::from((integer(numerator), denominator_value))))
}

fn parse_decimal(text: &str, limits: NumberLimits) -> Result<Rational, NumberError> {
    let syntax = || NumberError::Syntax(excerpt(text));
    let (negative, unsigned) = split_sign(text);
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (unsigned, None),
    };
    let (whole, fraction) = mantissa.split_once('.').map_or((mantissa, None), |(w, f)| (w, Some(f)));
    if !is_digits(whole) || fraction.is_some_and(|f| !is_digits(f)) {
        return Err(syntax());
    }
    let fraction = fraction.unwrap_or("");
    check_digits(whole.len() + fraction.len(), limits.digits)?;
    let shift = match exponent {
        None => 0,
        Some(exponent) => parse_exponent(exponent, limits.exponent)
            .ok_or_else(syntax)?
            .ok_or_else(|| NumberError::ExponentTooLarge { text: excerpt(text), limit: limits.exponent })?,
    };
    let mantissa = joined(whole, fraction);
    let power = shift - i32::try_from(fraction.len()).unwrap_or(i32::MAX);
    let scale = || power_of_ten(power.unsigned_abs());
    let value = match power {
        0 => Rational::from(mantissa),
        1.. => Rational::from(mantissa * scale()),
        _ => Rational::from((mantissa, scale())),
    };
    Ok(signed(negative, value))
}

/// Number of digits that always fit into a machine word. Most numbers have no more digits.
const SHORT: usize = 19;

/// Returns the digits of both texts as one integer. Both texts must consist of ASCII digits.
fn joined(whole: &str, fraction: &str) -> Integer {
    if whole.len() + fraction.len() > SHORT {
        return integer(&format!("{whole}{fraction}"));
    }
    Integer::from(short(whole.bytes().chain(fraction.bytes())))
}

/// Returns the value of at most [`SHORT`] ASCII digits.
fn short(digits: impl Iterator<Item = u8>) -> u64 {
    digits.fold(0, |value, digit| 10 * value + u64::from(digit - b'0'))
}

fn power_of_ten(exponent: u32) -> Integer {
    if exponent as usize <= SHORT {
        return Integer::from(10_u64.pow(exponent));
    }
    Integer::from(10).pow(exponent)
}

/// Reads an exponent. Returns `None` if the text is not an exponent, and `Some(None)` if the exponent is out
/// of range.
fn parse_exponent(text: &str, limit: u32) -> Option<Option<i32>> {
    let (negative, digits) = match text.strip_prefix('+') {
        Some(rest) => (false, rest),
        None => split_sign(text),
    };
    if !is_digits(digits) {
        return None;
    }
    let digits = digits.trim_start_matches('0');
    let value: Option<i32> = if digits.is_empty() { Some(0) } else { digits.parse().ok() };
    let value = value.filter(|value| value.unsigned_abs() <= limit);
    Some(value.map(|value| if negative { -value } else { value }))
}

fn split_sign(text: &str) -> (bool, &str) {
    text.strip_prefix('-').map_or((false, text), |rest| (true, rest))
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

fn check_digits(found: usize, limit: usize) -> Result<(), NumberError> {
    if found > limit { Err(NumberError::TooManyDigits { found, limit }) } else { Ok(()) }
}

/// Returns the value of a text that consists of ASCII digits.
fn integer(digits: &str) -> Integer {
    digits.parse().unwrap_or_default()
}

fn signed(negative: bool, value: Rational) -> Rational {
    if negative { -value } else { value }
}

fn excerpt(text: &str) -> String {
    const LONGEST: usize = 40;
    if text.chars().count() <= LONGEST {
        return text.to_owned();
    }
    let head: String = text.chars().take(LONGEST).collect();
    format!("{head}...")
}

/// The maximum number of digits of all numbers of one document together, with exponents written out as zeros.
/// So many digits take about 110 MB. A million users with five demands of ten digits use a fifth of this
/// budget.
pub const MAX_TOTAL_DIGITS: u64 = 1 << 28;

/// The error that the numbers of a document have more digits than the reader's budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("too large: the numbers have more than {limit} digits together, the budget of the reader")]
pub struct TooManyDigitsTogether {
    /// The largest allowed number of digits, [`MAX_TOTAL_DIGITS`] or the limit with which the budget was
    /// created.
    pub limit: u64,
}

/// The number of digits that a reader may still convert to numbers. A number is charged before it is created.
#[derive(Debug, Clone)]
pub struct DigitBudget {
    limit: u64,
    left: Cell<u64>,
}

impl DigitBudget {
    /// Creates a budget of `limit` decimal digits.
    #[must_use]
    pub fn new(limit: u64) -> Self {
        Self { limit, left: Cell::new(limit) }
    }

    /// Takes the digits that the number written as `text` needs from the budget, with its exponent written
    /// out as zeros.
    ///
    /// # Errors
    /// Returns [`TooManyDigitsTogether`] if fewer digits are left. The budget is empty from then on.
    pub fn charge(&self, text: &str) -> Result<(), TooManyDigitsTogether> {
        let left = self.left.get().checked_sub(cost(text));
        self.left.set(left.unwrap_or(0));
        left.map(|_| ()).ok_or(TooManyDigitsTogether { limit: self.limit })
    }

    pub(crate) fn left(&self) -> u64 {
        self.left.get()
    }

    /// Takes `digits` from the budget if at least so many are left. Returns whether they were left.
    pub(crate) fn takes(&self, digits: u64) -> bool {
        let left = self.left.get().checked_sub(digits);
        left.is_some_and(|left| {
            self.left.set(left);
            true
        })
    }
}

impl Default for DigitBudget {
    fn default() -> Self {
        Self::new(MAX_TOTAL_DIGITS)
    }
}

/// Returns the number of digits of the number `text` when its exponent is written out.
pub(crate) fn cost(text: &str) -> u64 {
    let Some(e) = text.bytes().position(|byte| matches!(byte, b'e' | b'E')) else { return text.len() as u64 };
    let exponent = &text[e + 1..];
    // The parser rejects an exponent that is out of range, so its zeros need not be counted.
    let exponent = exponent.trim_start_matches(['+', '-']).parse().unwrap_or(0u32);
    let written_out = if exponent > MAX_RESULT_EXPONENT { 0 } else { exponent };
    text.len() as u64 + u64::from(written_out)
}

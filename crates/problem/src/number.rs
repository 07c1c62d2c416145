//! Exact numbers: how text becomes a [`Rational`] and back.
//!
//! Accepted are a decimal (`-0.5`, `1e-3`) and a quotient of integers (`3/7`). Both are bounded, so
//! that a file of a few bytes cannot ask for gigabytes of digits.

use rug::{Integer, Rational, ops::Pow};
use thiserror::Error;

/// Most digits of a number that somebody states, before and after the point (or in numerator and
/// denominator) together.
pub const MAX_DIGITS: usize = 400;
/// Most digits of a number that was computed (in an allocation or in the evidence of a
/// certificate): the exact answer of a real cluster has thousands.
pub const MAX_RESULT_DIGITS: usize = 200_000;
/// Largest absolute decimal exponent.
pub const MAX_EXPONENT: u32 = 400;

/// Why a text is not an exact number.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum NumberError {
    /// Neither a decimal nor a quotient of integers.
    #[error("`{0}` is not a number: expected a decimal such as 0.25 or a quotient such as \"3/7\"")]
    Syntax(String),
    /// More digits than the limit.
    #[error("a number with {found} digits: at most {limit} are accepted")]
    TooManyDigits {
        /// Digits in the text.
        found: usize,
        /// [`MAX_DIGITS`] or [`MAX_RESULT_DIGITS`].
        limit: usize,
    },
    /// The exponent exceeds [`MAX_EXPONENT`].
    #[error("the exponent of `{0}` is out of range: at most {MAX_EXPONENT} in absolute value")]
    ExponentTooLarge(String),
    /// The denominator of a quotient is zero.
    #[error("`{0}` has a zero denominator")]
    ZeroDenominator(String),
}

/// Reads a decimal or a quotient exactly: `0.1` is 1/10, never the nearest binary number.
///
/// # Errors
/// [`NumberError`] when the text is neither, or is out of bounds.
///
/// # Examples
/// ```
/// use evenhand_problem::number::parse;
/// assert_eq!(parse("0.1").unwrap(), parse("1/10").unwrap());
/// assert!(parse("1e999999999").is_err());
/// ```
pub fn parse(text: &str) -> Result<Rational, NumberError> {
    parse_bounded(text, MAX_DIGITS)
}

/// [`parse`] for numbers that a solver computed: up to [`MAX_RESULT_DIGITS`] digits.
///
/// # Errors
/// As [`parse`].
pub fn parse_result(text: &str) -> Result<Rational, NumberError> {
    parse_bounded(text, MAX_RESULT_DIGITS)
}

fn parse_bounded(text: &str, limit: usize) -> Result<Rational, NumberError> {
    match text.split_once('/') {
        Some((numerator, denominator)) => parse_quotient(text, numerator, denominator, limit),
        None => parse_decimal(text, limit),
    }
}

/// A rational as the formats write it: `7` or `5/7`, in lowest terms.
#[must_use]
pub fn format(value: &Rational) -> String {
    value.to_string()
}

/// A stated number such that [`parse`] reads it again: [`format`](fn@format), or a decimal where the quotient has
/// more than [`MAX_DIGITS`] digits, which only a quotient that was read as a decimal can have.
///
/// # Examples
/// ```
/// use evenhand_problem::number::{format_stated, parse};
/// let long = parse(&format!("0.{}", "7".repeat(399))).unwrap();
/// assert_eq!(parse(&format_stated(&long)).unwrap(), long);
/// assert_eq!(format_stated(&parse("0.5").unwrap()), "1/2");
/// ```
#[must_use]
pub fn format_stated(value: &Rational) -> String {
    let quotient = format(value);
    if quotient.bytes().filter(u8::is_ascii_digit).count() <= MAX_DIGITS {
        return quotient;
    }
    decimal_digits(value).unwrap_or(quotient)
}

/// `value` as `d.ddde-X` or `0.ddde-X` without trailing zeros; `None` when it is no decimal.
fn decimal_digits(value: &Rational) -> Option<String> {
    let (mut denominator, mut twos, mut fives) = (value.denom().clone(), 0u32, 0u32);
    while denominator.is_divisible_u(2) {
        denominator /= 2u32;
        twos += 1;
    }
    while denominator.is_divisible_u(5) {
        denominator /= 5u32;
        fives += 1;
    }
    if denominator != 1 {
        return None;
    }
    let shift = twos.max(fives);
    let mut mantissa = value.numer().clone() * Integer::from(10).pow(shift) / value.denom();
    let mut exponent = -i64::from(shift);
    while !mantissa.is_zero() && mantissa.is_divisible_u(10) {
        mantissa /= 10u32;
        exponent += 1;
    }
    let sign = if mantissa < 0 { "-" } else { "" };
    let digits = mantissa.abs().to_string();
    let scientific = exponent + i64::try_from(digits.len()).ok()? - 1;
    Some(if scientific >= -i64::from(MAX_EXPONENT) {
        let (first, rest) = digits.split_at(1);
        let rest = if rest.is_empty() { String::new() } else { format!(".{rest}") };
        format!("{sign}{first}{rest}e{scientific}")
    } else {
        format!("{sign}0.{digits}e{}", scientific + 1)
    })
}

/// The nearest floating-point number, ties to even; infinite when out of range.
#[must_use]
pub fn to_f64(value: &Rational) -> f64 {
    // GMP rounds towards zero, so the nearest is this or its neighbour away from zero.
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

/// The decimal that a floating-point number prints as (0.1 is 1/10); `None` for NaN and infinities.
///
/// A result read back from a file is this number, so a solver that hands on this one and not the
/// binary value gives what its file gives.
#[must_use]
pub fn from_f64(value: f64) -> Option<Rational> {
    if value.is_finite() { parse(&format!("{value:e}")).ok() } else { None }
}

fn parse_quotient(
    text: &str,
    numerator: &str,
    denominator: &str,
    limit: usize,
) -> Result<Rational, NumberError> {
    let (negative, numerator) = split_sign(numerator);
    if !is_digits(numerator) || !is_digits(denominator) {
        return Err(NumberError::Syntax(excerpt(text)));
    }
    check_digits(numerator.len() + denominator.len(), limit)?;
    let denominator_value = integer(denominator);
    if denominator_value.is_zero() {
        return Err(NumberError::ZeroDenominator(excerpt(text)));
    }
    Ok(signed(negative, Rational::from((integer(numerator), denominator_value))))
}

fn parse_decimal(text: &str, limit: usize) -> Result<Rational, NumberError> {
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
    check_digits(whole.len() + fraction.len(), limit)?;
    let shift = match exponent {
        None => 0,
        Some(exponent) => parse_exponent(exponent)
            .ok_or_else(syntax)?
            .ok_or_else(|| NumberError::ExponentTooLarge(excerpt(text)))?,
    };
    let mut value = Rational::from(integer(&format!("{whole}{fraction}")));
    let power = shift - i32::try_from(fraction.len()).unwrap_or(i32::MAX);
    let scale = Integer::from(10).pow(power.unsigned_abs());
    if power >= 0 {
        value *= scale;
    } else {
        value /= scale;
    }
    Ok(signed(negative, value))
}

/// `None`: not an exponent; `Some(None)`: out of range.
fn parse_exponent(text: &str) -> Option<Option<i32>> {
    let (negative, digits) = match text.strip_prefix('+') {
        Some(rest) => (false, rest),
        None => split_sign(text),
    };
    if !is_digits(digits) {
        return None;
    }
    let digits = digits.trim_start_matches('0');
    if digits.len() > 4 {
        return Some(None);
    }
    let value = digits.bytes().fold(0u32, |v, b| v * 10 + u32::from(b - b'0'));
    if value > MAX_EXPONENT {
        return Some(None);
    }
    let value = value.cast_signed();
    Some(Some(if negative { -value } else { value }))
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

/// Only called on text made of ASCII digits.
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

//! Writing of input numbers so that they can be read again.

use rug::{Integer, Rational, ops::Pow};

use super::{MAX_DIGITS, MAX_EXPONENT, format, from_f64};

/// Returns an input number in a form that [`parse`](super::parse) reads again: [`format`](fn@format), or a decimal if
/// the quotient has more than [`MAX_DIGITS`] digits. Returns `None` when neither form is within the limits, which never
/// happens to a number that was read.
///
/// # Examples
/// ```
/// use evenhand_problem::{Rational, number::{parse, stated}};
/// let long = parse(&format!("0.{}", "7".repeat(399))).unwrap();
/// assert_eq!(parse(&stated(&long).unwrap()).unwrap(), long);
/// assert_eq!(stated(&parse("0.5").unwrap()).unwrap(), "1/2");
/// assert_eq!(stated(&parse("31e400").unwrap()).unwrap(), "31e400");
/// assert_eq!(stated(&(long / 11u32)), None);
/// ```
#[must_use]
pub fn stated(value: &Rational) -> Option<String> {
    let quotient = format(value);
    if digits(&quotient) <= MAX_DIGITS {
        return Some(quotient);
    }
    decimal(value).filter(|text| digits(text.split('e').next().unwrap_or_default()) <= MAX_DIGITS)
}

/// Returns the text of [`stated`], or the quotient, however long it is, if [`stated`] returns `None`.
#[must_use]
pub fn format_stated(value: &Rational) -> String {
    stated(value).unwrap_or_else(|| format(value))
}

/// Returns the form that is hashed and never read. It is [`format`](fn@format), or `d.ddd` with an exponent of any size
/// if the quotient has more than [`MAX_DIGITS`] digits.
///
/// The hash of a problem is written into files that later releases read. This form must therefore not change, even if
/// the form that [`stated`] writes does.
#[must_use]
pub(crate) fn format_hashed(value: &Rational) -> String {
    let quotient = format(value);
    if digits(&quotient) <= MAX_DIGITS {
        return quotient;
    }
    let Some((mantissa, exponent)) = mantissa(value) else { return quotient };
    let sign = if mantissa < 0 { "-" } else { "" };
    let digits = mantissa.abs().to_string();
    let (first, rest) = digits.split_at(1);
    // A text always has fewer digits than an `i64` can count.
    let scientific = exponent + i64::try_from(rest.len()).unwrap_or(i64::MAX);
    if scientific < -i64::from(MAX_EXPONENT) {
        return format!("{sign}0.{digits}e{}", scientific + 1);
    }
    let point = if rest.is_empty() { "" } else { "." };
    format!("{sign}{first}{point}{rest}e{scientific}")
}

/// Returns a decimal that has a few digits more than a double, such as a small multiple of a printed double.
/// Returns `None` for all other numbers. `nearest` is the double nearest to `value`.
pub(crate) fn between_doubles(value: &Rational, nearest: f64) -> Option<String> {
    /// Number of digits up to which the nearest double prints as the number itself.
    const OF_ANY_DOUBLE: usize = 15;
    /// Number of digits of the product of a double and a 64-bit number, the longest decimal that is returned.
    const FEW: usize = 37;
    /// Number of bits of the denominator of any such decimal down to `10^-(37 + 20)`. Smaller decimals are
    /// not returned.
    const BITS: u32 = 190;
    let denominator = value.denom().significant_bits();
    if denominator <= 1 || denominator > BITS || from_f64(nearest).as_ref() == Some(value) {
        return None;
    }
    let text = decimal(value)?;
    let n_digits = digits(text.split('e').next().unwrap_or_default());
    (OF_ANY_DOUBLE < n_digits && n_digits <= FEW).then_some(text)
}

fn digits(text: &str) -> usize {
    text.bytes().filter(u8::is_ascii_digit).count()
}

/// Returns `value` as a decimal with an exponent in range, or `None` if it is not such a decimal.
fn decimal(value: &Rational) -> Option<String> {
    let (mantissa, exponent) = mantissa(value)?;
    let sign = if mantissa < 0 { "-" } else { "" };
    let digits = mantissa.abs().to_string();
    let limit = i64::from(MAX_EXPONENT);
    let scientific = exponent + i64::try_from(digits.len()).ok()? - 1;
    Some(if (-limit..=limit).contains(&scientific) {
        let (first, rest) = digits.split_at(1);
        let rest = if rest.is_empty() { String::new() } else { format!(".{rest}") };
        format!("{sign}{first}{rest}e{scientific}")
    } else if scientific > limit {
        // All digits are before the point, followed by the zeros that the exponent cannot express.
        let zeros = usize::try_from(exponent - limit).unwrap_or(0);
        format!("{sign}{digits}{}e{}", "0".repeat(zeros), exponent.min(limit))
    } else {
        let zeros = usize::try_from(-limit - scientific - 1).ok()?;
        format!("{sign}0.{}{digits}e-{limit}", "0".repeat(zeros))
    })
}

/// Returns `value` as `mantissa * 10^exponent`, where the mantissa has no trailing zeros. Returns `None` when
/// `value` is not a decimal.
fn mantissa(value: &Rational) -> Option<(Integer, i64)> {
    let mut denominator = value.denom().clone();
    let twos = denominator.remove_factor_mut(&Integer::from(2));
    let fives = denominator.remove_factor_mut(&Integer::from(5));
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
    Some((mantissa, exponent))
}

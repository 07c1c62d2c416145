//! Exact numbers: reads decimals, quotients and quantities with a suffix, and writes numbers.

use rug::ops::Pow;
use rug::{Integer, Rational};

use crate::json::{Json, Kind};
use crate::work::{self, Checked};

/// The largest number of digits, and the largest absolute decimal exponent, of a number that a person states.
pub const STATED: u64 = 400;
/// The largest number of digits, and the largest absolute decimal exponent, of a computed number.
const COMPUTED: u64 = 100_000;

impl Json<'_> {
    /// Reads a number that a person states.
    pub fn number(&self) -> Checked<Rational> {
        self.parsed(|text| parse(text, STATED))
    }

    /// Reads a computed number.
    pub fn computed(&self) -> Checked<Rational> {
        self.parsed(|text| parse(text, COMPUTED))
    }

    /// Reads a computed number. Returns `None` if the value is missing or null.
    pub fn computed_or_null(&self) -> Checked<Option<Rational>> {
        if matches!(self.kind, Kind::Absent | Kind::Null) { Ok(None) } else { self.computed().map(Some) }
    }

    /// Reads a stated number that is at least 0.
    pub fn amount(&self) -> Checked<Rational> {
        let number = self.number()?;
        if number < 0 { self.wrong("expected a number of at least 0") } else { Ok(number) }
    }

    /// Reads a stated number that is above 0.
    pub fn positive(&self) -> Checked<Rational> {
        let number = self.number()?;
        if number <= 0 { self.wrong("expected a number above 0") } else { Ok(number) }
    }

    /// Reads a stated number that is at least 0. The number may have a suffix if it is a string.
    pub fn quantity(&self) -> Checked<Rational> {
        let number = self.parsed(|text| match suffix(text) {
            Some((bare, _)) if bare.contains(['/', 'e', 'E']) => {
                Err("a suffix cannot follow a quotient or an exponent")
            }
            Some((bare, factor)) => Ok(parse(bare, STATED)? * factor),
            None => parse(text, STATED),
        })?;
        if number < 0 { self.wrong("expected a number of at least 0") } else { Ok(number) }
    }

    /// Reads a whole number from `least` to `most`.
    pub fn count(&self, least: u64, most: u64) -> Checked<u64> {
        let value = self.number()?;
        let whole = if value.is_integer() { value.numer().to_u64() } else { None };
        let whole = whole.filter(|whole| (least..=most).contains(whole));
        whole.map_or_else(|| self.wrong(format!("expected an integer from {least} to {most}")), Ok)
    }

    fn parsed(&self, parse: impl Fn(&str) -> Result<Rational, &'static str>) -> Checked<Rational> {
        let text = match &self.kind {
            Kind::Number(text) => text,
            Kind::Text(text) => &**text,
            _ => return self.wrong("expected a number"),
        };
        let exponent = text.split_once(['e', 'E']).map_or("", |(_, exponent)| exponent);
        let zeros = exponent.trim_start_matches(['+', '-']).parse().unwrap_or(0);
        work::digits(text.len() as u64 + if zeros > COMPUTED { 0 } else { zeros })?;
        parse(text).or_else(|what| self.wrong(format!("`{text:.40}`: {what}")))
    }
}

/// Splits off a suffix of Kubernetes. Returns the text before the suffix, and the factor that the suffix means.
fn suffix(text: &str) -> Option<(&str, Rational)> {
    // Binary suffixes go up from 2^10 in steps of 2^10. Decimal suffixes go up from 10^-9 in steps of 10^3, and 10^0
    // has no letter.
    let (text, letters, base, first, step) = match text.strip_suffix('i') {
        Some(text) => (text, "KMGTPE", 2, 10, 10),
        None => (text, "num-kMGTPE", 10, -9, 3),
    };
    let letter = text.chars().next_back().filter(char::is_ascii_alphabetic)?;
    let power = first + step * letters.find(letter)? as i32;
    Some((text.strip_suffix(letter)?, Rational::from(base).pow(power)))
}

/// Parses a decimal or a quotient. The number has at most `most` digits, and an exponent of at most `most` in absolute
/// value.
pub fn parse(text: &str, most: u64) -> Result<Rational, &'static str> {
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let integer = |text: &str| match text.parse::<Integer>() {
        Ok(integer) if is_digits(text) => Ok(integer),
        _ => Err("expected a number, such as 0.25 or \"3/7\""),
    };
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let (mantissa, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
    if mantissa.bytes().filter(u8::is_ascii_digit).count() as u64 > most {
        return Err("the number has too many digits");
    }
    let value = if let Some((above, below)) = unsigned.split_once('/') {
        let (above, below) = (integer(above)?, integer(below)?);
        if below.is_zero() {
            return Err("the denominator is 0");
        }
        Rational::from((above, below))
    } else if is_digits(unsigned) {
        Rational::from(integer(unsigned)?)
    } else {
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, "0"));
        let parts = Integer::from(10).pow(fraction.len() as u32);
        let value = Rational::from((integer(fraction)?, parts)) + integer(whole)?;
        let size = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
        let size = if is_digits(size) { size.parse::<u64>().ok().filter(|size| *size <= most) } else { None };
        let power = size.ok_or("the exponent is missing or out of range")? as i32;
        value * Rational::from(10).pow(if exponent.starts_with('-') { -power } else { power })
    };
    Ok(if unsigned == text { value } else { -value })
}

/// Returns the form of a number of at least 0 that is hashed: a quotient in lowest terms. If the quotient has more
/// than 400 digits and the number is a decimal, the form is its digits with an exponent.
pub fn hashed(value: &Rational) -> String {
    let quotient = value.to_string();
    let digits = quotient.bytes().filter(u8::is_ascii_digit).count() as u64;
    if digits <= STATED {
        return quotient;
    }
    let mut rest = value.denom().clone();
    let places = rest.remove_factor_mut(&Integer::from(5)).max(rest.remove_factor_mut(&Integer::from(2)));
    if rest != 1 {
        return quotient;
    }
    let digits = (Integer::from(10).pow(places) / value.denom() * value.numer()).to_string();
    // The number is written as d.ddd, so this is the exponent of the first digit.
    let exponent = digits.len() as i64 - 1 - i64::from(places);
    match digits.trim_end_matches('0').split_at(1) {
        (first, rest) if exponent < -(STATED as i64) => format!("0.{first}{rest}e{}", exponent + 1),
        (first, "") => format!("{first}e{exponent}"),
        (first, rest) => format!("{first}.{rest}e{exponent}"),
    }
}

/// Returns a number for people. Only its first digits are shown if the number is long.
pub fn short(value: &Rational) -> String {
    let text = value.to_string();
    if text.len() <= 60 { text } else { format!("{}... ({} characters)", &text[..40], text.len()) }
}

/// Returns the largest integer that is at most a fraction.
pub fn floor(value: Rational) -> Integer {
    value.floor().into_numer_denom().0
}

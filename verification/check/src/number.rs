//! Exact numbers: decimals, quotients, quantities with a suffix; how they are written.

use rug::ops::Pow;
use rug::{Integer, Rational};

use crate::json::{Json, Kind};
use crate::work::{self, Checked};

/// Digits, and the absolute decimal exponent, of a number that somebody states.
const STATED: u64 = 400;
/// The same of a number that was computed.
const COMPUTED: u64 = 100_000;

/// Suffixes of Kubernetes with the number that a power is taken of, and the power; the longer ones first.
const SUFFIXES: [(&str, u32, i32); 15] = [
    ("Ki", 2, 10),
    ("Mi", 2, 20),
    ("Gi", 2, 30),
    ("Ti", 2, 40),
    ("Pi", 2, 50),
    ("Ei", 2, 60),
    ("n", 10, -9),
    ("u", 10, -6),
    ("m", 10, -3),
    ("k", 10, 3),
    ("M", 10, 6),
    ("G", 10, 9),
    ("T", 10, 12),
    ("P", 10, 15),
    ("E", 10, 18),
];

impl Json<'_> {
    /// A number that somebody states.
    pub fn number(&self) -> Checked<Rational> {
        self.parsed(|text| parse(text, STATED))
    }

    /// A number that was computed.
    pub fn computed(&self) -> Checked<Rational> {
        self.parsed(|text| parse(text, COMPUTED))
    }

    /// A number that somebody states, which may have a suffix where it is a string.
    pub fn quantity(&self) -> Checked<Rational> {
        let is_text = matches!(self.kind, Kind::Text(_));
        self.parsed(|text| {
            let suffix = SUFFIXES.iter().find(|(suffix, _, _)| is_text && text.ends_with(suffix));
            let Some((suffix, base, power)) = suffix else { return parse(text, STATED) };
            let bare = text.strip_suffix(suffix).filter(|bare| !bare.contains(['/', 'e', 'E']));
            let bare = bare.ok_or("a suffix stands beside no quotient and no exponent")?;
            Ok(parse(bare, STATED)? * Rational::from(*base).pow(*power))
        })
    }

    /// A whole number from `least` to `most`.
    pub fn count(&self, least: u64, most: u64) -> Checked<u64> {
        let value = self.number()?;
        let whole = if value.is_integer() { value.numer().to_u64() } else { None };
        match whole.filter(|whole| (least..=most).contains(whole)) {
            Some(whole) => Ok(whole),
            None => self.wrong(format!("expected an integer from {least} to {most}")),
        }
    }

    fn parsed(&self, parse: impl Fn(&str) -> Result<Rational, &'static str>) -> Checked<Rational> {
        let text = match &self.kind {
            Kind::Number(text) => text,
            Kind::Text(text) => &**text,
            _ => return self.wrong("expected a number"),
        };
        let exponent = text.split_once(['e', 'E']).map_or("", |(_, exponent)| exponent);
        let zeros = exponent.trim_start_matches(['+', '-']).parse::<u64>().unwrap_or(0);
        work::digits(text.len() as u64 + if zeros > COMPUTED { 0 } else { zeros })?;
        parse(text).or_else(|what| self.wrong(format!("`{text:.40}`: {what}")))
    }
}

/// A decimal or a quotient with at most `most` digits, and an exponent of at most that.
pub fn parse(text: &str, most: u64) -> Result<Rational, &'static str> {
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let syntax = "expected a number, such as 0.25 or \"3/7\"";
    let integer = |digits: &str| digits.parse::<Integer>().map_err(|_| syntax);
    let (sign, unsigned) = text.strip_prefix('-').map_or((1, text), |rest| (-1, rest));
    if let Some((numerator, denominator)) = unsigned.split_once('/') {
        if !is_digits(numerator) || !is_digits(denominator) {
            return Err(syntax);
        }
        if (numerator.len() + denominator.len()) as u64 > most {
            return Err("a number with too many digits");
        }
        let denominator = integer(denominator)?;
        if denominator.is_zero() {
            return Err("a quotient with a zero denominator");
        }
        return Ok(Rational::from((integer(numerator)? * sign, denominator)));
    }
    let (mantissa, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, "0"));
    let (down, exponent) = exponent.strip_prefix('-').map_or((1, exponent), |rest| (-1, rest));
    let exponent = if down < 0 { exponent } else { exponent.strip_prefix('+').unwrap_or(exponent) };
    if !is_digits(whole) || !is_digits(fraction) || !is_digits(exponent) {
        return Err(syntax);
    }
    let fraction = if mantissa.contains('.') { fraction } else { "" };
    if (whole.len() + fraction.len()) as u64 > most {
        return Err("a number with too many digits");
    }
    let exponent = exponent.trim_start_matches('0');
    let exponent = if exponent.is_empty() { Some(0) } else { exponent.parse::<i32>().ok() };
    let Some(exponent) = exponent.filter(|exponent| i64::from(*exponent) <= most as i64) else {
        return Err("an exponent that is out of range");
    };
    let power = down * exponent - fraction.len() as i32;
    Ok(Rational::from(integer(&format!("{whole}{fraction}"))? * sign) * Rational::from(10).pow(power))
}

/// The form that is hashed: a quotient in lowest terms; where that has more than 400 digits and the number is
/// a decimal, its digits with an exponent.
pub fn hashed(value: &Rational) -> String {
    let quotient = value.to_string();
    if quotient.bytes().filter(u8::is_ascii_digit).count() as u64 <= STATED {
        return quotient;
    }
    let mut rest = value.denom().clone();
    let fives = rest.remove_factor_mut(&Integer::from(5));
    let twos = rest.remove_factor_mut(&Integer::from(2));
    if rest != 1 {
        return quotient;
    }
    let shift = twos.max(fives);
    let mut digits = (Integer::from(10).pow(shift) / value.denom() * value.numer()).to_string();
    let sign = if digits.starts_with('-') { digits.remove(0).to_string() } else { String::new() };
    let all = digits.len();
    digits.truncate(digits.trim_end_matches('0').len());
    // As d.ddd: the exponent of the first digit.
    let exponent = all as i64 - 1 - i64::from(shift);
    if exponent < -(STATED as i64) {
        return format!("{sign}0.{digits}e{}", exponent + 1);
    }
    let (first, rest) = digits.split_at(1);
    format!("{sign}{first}{}{rest}e{exponent}", if rest.is_empty() { "" } else { "." })
}

/// A number for people: as it is, or its beginning.
pub fn short(value: &Rational) -> String {
    let text = value.to_string();
    if text.len() <= 60 { text } else { format!("{}... ({} characters)", &text[..40], text.len()) }
}

/// The largest of the integers that are not above a fraction.
pub fn floor(value: Rational) -> Integer {
    value.floor().into_numer_denom().0
}

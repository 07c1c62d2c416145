//! Quantities with the suffixes of Kubernetes: `64000m`, `1007Gi`.

use rug::{Integer, Rational, ops::Pow};

use super::{NumberError, parse};

/// Decimal suffixes and the powers of ten that they stand for.
const DECIMAL: [(&str, i32); 9] =
    [("n", -9), ("u", -6), ("m", -3), ("k", 3), ("M", 6), ("G", 9), ("T", 12), ("P", 15), ("E", 18)];
/// Binary suffixes and the powers of two that they stand for.
const BINARY: [(&str, u32); 6] = [("Ki", 10), ("Mi", 20), ("Gi", 30), ("Ti", 40), ("Pi", 50), ("Ei", 60)];

/// [`parse`], or a decimal with a suffix (n u m k M G T P E Ki Mi Gi Ti Pi Ei). `1E3` is a thousand,
/// `1E` an exa.
///
/// # Errors
/// [`NumberError`] as [`parse`].
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
    let Some((decimal, factor)) = split(text) else { return parse(text) };
    // A quotient or an exponent beside a suffix is more likely a slip than meant.
    if decimal.contains(['/', 'e', 'E']) {
        return Err(NumberError::Syntax(super::excerpt(text)));
    }
    let value = parse(decimal).map_err(|error| match error {
        NumberError::Syntax(_) => NumberError::Syntax(super::excerpt(text)),
        other => other,
    })?;
    Ok(value * factor)
}

/// The number before a suffix, and what the suffix stands for.
fn split(text: &str) -> Option<(&str, Rational)> {
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

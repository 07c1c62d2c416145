//! Entries: published values next to computed ones, and their comparison.

use evenhand_problem::{Rational, number};
use evenhand_report::text::decimal;

/// A published value next to the computed value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The name of the entry. The part before the first dot is its section, by which [`crate::entries`] selects.
    pub id: String,
    /// The paper, and the place of the value in the paper.
    pub source: &'static str,
    /// The published value. Empty if the paper prints no value.
    pub paper: String,
    /// The computed value. Empty if the value was not computed. The note then gives the reason.
    pub ours: String,
    /// True if both values agree to the printed digits. `None` if there is no value to compare, or if the
    /// value was not checked.
    pub agrees: Option<bool>,
    /// A note for the reader.
    pub note: String,
}

impl Entry {
    /// Returns `true` if the value was computed. If it was not, the note names the missing data.
    #[must_use]
    pub const fn is_checked(&self) -> bool {
        !self.ours.is_empty()
    }
}

/// Returns `true` if an id is `whole` or a part of it: `drfh.figure-3.tasks` is a part of `drfh.figure-3`.
#[must_use]
pub fn is_part(id: &str, whole: &str) -> bool {
    id.strip_prefix(whole).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

pub(crate) fn list(values: &[Rational]) -> String {
    values.iter().map(Rational::to_string).collect::<Vec<_>>().join(", ")
}

pub(crate) fn decimals(values: &[Rational]) -> String {
    values.iter().map(decimal).collect::<Vec<_>>().join(", ")
}

/// Returns `true` if every value, rounded to the printed digits, equals the printed text.
pub(crate) fn agree(printed: &[&str], values: &[Rational]) -> bool {
    printed.len() == values.len() && printed.iter().zip(values).all(|(text, value)| rounds_to(value, text))
}

/// Returns `true` if `value` lies within half a unit of the last digit of `text`.
pub(crate) fn rounds_to(value: &Rational, text: &str) -> bool {
    let Ok(printed) = number::parse(text) else { return false };
    if text.contains('/') {
        return *value == printed;
    }
    let digits = text.split_once('.').map_or(0, |(_, fraction)| fraction.len());
    let unit = Rational::from((1, 10)).pow_digits(digits);
    let distance = (value - printed).abs();
    distance * 2u32 <= unit
}

trait PowDigits {
    fn pow_digits(self, digits: usize) -> Self;
}

impl PowDigits for Rational {
    fn pow_digits(self, digits: usize) -> Self {
        (0..digits).fold(Rational::from(1), |value, _| value * &self)
    }
}

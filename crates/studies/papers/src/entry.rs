//! A published value beside ours, and how the two are compared.

use evenhand_problem::{Rational, number};
use evenhand_report::text::decimal;

/// One published value beside ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Name of the entry; its part before the first point is what [`crate::entries`] selects by.
    pub id: String,
    /// Paper and place in it.
    pub source: &'static str,
    /// The published value; empty where nothing is printed.
    pub paper: String,
    /// What the engine gets; empty where it was not computed, and the note says why.
    pub ours: String,
    /// Whether both agree to the printed digits; `None`: nothing to compare, or not checked.
    pub agrees: Option<bool>,
    /// What a reader should know.
    pub note: String,
}

impl Entry {
    /// Whether ours was computed. Where it was not, data is missing that the note names.
    #[must_use]
    pub const fn is_checked(&self) -> bool {
        !self.ours.is_empty()
    }
}

/// Whether an id is `whole`, or names a part of it: `drfh.figure-3.tasks` is one of `drfh.figure-3`.
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

/// Whether every value, rounded to the printed digits, is the printed text.
pub(crate) fn agree(printed: &[&str], values: &[Rational]) -> bool {
    printed.len() == values.len() && printed.iter().zip(values).all(|(text, value)| rounds_to(value, text))
}

/// Whether `value` lies within half a unit of the last digit of `text`.
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

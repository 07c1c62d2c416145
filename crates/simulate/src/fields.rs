//! Reads the fields of JSON objects in scenarios.

use std::borrow::Cow;
use std::ops::RangeInclusive;

use evenhand_problem::format::{Document, FormatError, Object};
use evenhand_problem::{Rational, number};
use serde_json::value::RawValue;

use crate::duration::Duration;

/// The largest time, rate or reward of a simulation. Sums of such numbers and of their squares are still doubles.
pub(crate) const LARGEST: f64 = 1e100;
pub(crate) const TOO_LARGE: &str = "expected a number of at most 1e100";
/// The largest number of tasks of a job, of drawn servers, and of slots.
const MOST: u64 = 1_000_000_000_000;

/// A value that was read, or an error with its place.
pub(crate) type Read<T> = Result<T, FormatError>;

/// An object of a document, together with the document.
pub(crate) struct Fields<'d, 't> {
    pub document: &'d Document<'t>,
    pub object: Object<'t>,
}

impl<'d, 't> Fields<'d, 't> {
    /// Reads an object that may have only the fields in `known`.
    pub fn of(document: &'d Document<'t>, raw: &'t RawValue, known: &[&str]) -> Read<Self> {
        let object = document.object(raw)?;
        object.only(document, known)?;
        Ok(Self { document, object })
    }

    /// Reads the top object of a document of the kind `kind`. It may have only the fields in `known`.
    pub fn of_kind(document: &'d Document<'t>, kind: &str, known: &[&str]) -> Read<Self> {
        let object = document.object(document.root())?;
        object.of_kind(document, kind)?;
        object.only_at_top(document, known)?;
        Ok(Self { document, object })
    }

    /// Returns a field, or `None` if it does not exist.
    pub fn get(&self, name: &str) -> Option<&'t RawValue> {
        self.object.get(name)
    }

    /// Returns a field that must exist.
    pub fn need(&self, name: &str) -> Read<&'t RawValue> {
        self.object.need(self.document, name)
    }

    /// Reads a field that must exist.
    pub fn needed<T>(
        &self,
        name: &str,
        read: impl FnOnce(&'d Document<'t>, &'t RawValue) -> Read<T>,
    ) -> Read<T> {
        read(self.document, self.need(name)?)
    }

    /// Reads a field, or returns `None` if it does not exist.
    pub fn optional<T>(
        &self,
        name: &str,
        read: impl FnOnce(&'d Document<'t>, &'t RawValue) -> Read<T>,
    ) -> Read<Option<T>> {
        self.get(name).map(|raw| read(self.document, raw)).transpose()
    }

    /// Returns the elements of a list. The result is empty if the field does not exist.
    pub fn list(&self, name: &str) -> Read<Vec<&'t RawValue>> {
        self.optional(name, Document::list).map(Option::unwrap_or_default)
    }

    /// Returns the place for an error about a field: the field, or the whole object if the field does not exist.
    pub fn place(&self, name: &str) -> &'t RawValue {
        self.get(name).unwrap_or(self.object.raw())
    }

    /// Returns an error about the whole object.
    pub fn error(&self, message: impl Into<String>) -> FormatError {
        self.document.error(self.object.raw(), message)
    }

    /// Rejects an existing field that has no meaning here, if `is_refused` is true.
    pub fn refuse(&self, name: &str, is_refused: bool, why: &str) -> Read<()> {
        match self.get(name) {
            Some(raw) if is_refused => Err(self.document.error_on_key(raw, why)),
            _ => Ok(()),
        }
    }
}

/// Reads a string.
pub(crate) fn text(document: &Document<'_>, raw: &RawValue) -> Read<String> {
    document.string(raw).map(Cow::into_owned)
}

/// Reads a list of strings.
pub(crate) fn texts<'t>(document: &Document<'t>, raw: &'t RawValue) -> Read<Vec<String>> {
    document.list(raw)?.into_iter().map(|raw| text(document, raw)).collect()
}

fn stated(document: &Document<'_>, raw: &RawValue, expected: &str, is: fn(&Rational) -> bool) -> Read<f64> {
    let value = document.number(raw)?;
    let double = number::to_f64(&value);
    if double > LARGEST {
        return Err(document.error(raw, TOO_LARGE));
    }
    if !is(&value) {
        let found = number::format_stated(&value);
        return Err(document.error(raw, format!("found {found}: expected {expected}")));
    }
    Ok(double)
}

pub(crate) fn not_negative(document: &Document<'_>, raw: &RawValue) -> Read<f64> {
    stated(document, raw, "a number of at least 0", |value| *value >= 0)
}

pub(crate) fn positive(document: &Document<'_>, raw: &RawValue) -> Read<f64> {
    // A positive number far below the smallest double would become 0.
    stated(document, raw, "a number above 0", |value| *value > 0 && number::to_f64(value) > 0.0)
}

/// Reads a count of at least 1 and at most [`MOST`].
pub(crate) fn count(document: &Document<'_>, raw: &RawValue) -> Read<u64> {
    whole(document, raw, 1..=MOST)
}

/// Reads a whole number within the given bounds.
pub(crate) fn whole(document: &Document<'_>, raw: &RawValue, bounds: RangeInclusive<u64>) -> Read<u64> {
    let stated = document.number(raw)?;
    let whole = if stated.is_integer() { stated.numer().to_u64() } else { None };
    let (least, most) = (bounds.start(), bounds.end());
    // The message shows the number as it is written, but at most its first 60 characters.
    let found = raw.get().trim_matches('"');
    let message = || format!("found {found:.60}: expected a whole number from {least} to {most}");
    whole.filter(|count| bounds.contains(count)).ok_or_else(|| document.error(raw, message()))
}

/// Checks that a time is not before the previous time.
pub(crate) fn not_before(document: &Document<'_>, raw: &RawValue, before: f64, at: f64) -> Read<f64> {
    if at < before {
        return Err(document.error(raw, format!("time goes back from {before} to {at}")));
    }
    Ok(at)
}

/// Reads the running time of tasks, or the delay of messages.
pub(crate) fn duration<'t>(document: &Document<'t>, raw: &'t RawValue) -> Read<Duration> {
    if !raw.get().starts_with('{') {
        return Ok(Duration::Constant(not_negative(document, raw)?));
    }
    let of = Fields::of(document, raw, &["exponential", "uniform"])?;
    match (of.get("exponential"), of.get("uniform")) {
        (Some(mean), None) => Ok(Duration::Exponential(positive(document, mean)?)),
        (None, Some(range)) => match document.list(range)?[..] {
            [from, to] => {
                let (low, high) = (not_negative(document, from)?, not_negative(document, to)?);
                if high < low {
                    return Err(document.error(to, format!("{high} is below {low}, where the range begins")));
                }
                Ok(Duration::Uniform(low, high))
            }
            _ => Err(document.error(range, "expected two numbers, from and to")),
        },
        _ => Err(of.error("expected a number, or one of `exponential` and `uniform`")),
    }
}

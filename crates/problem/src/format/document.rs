//! A JSON document that is read level by level, without a tree of the document in memory.
//!
//! Every value stays a slice of the text ([`RawValue`]) until it is read as an object, list, string or
//! number. An error refers to the slice of its value. The path to an error is computed afterwards, by walking
//! down from the root. Reading itself stores no path.

use std::{borrow::Cow, collections::HashSet, fmt};

use evenhand_budget::both;
use rug::Rational;
use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, Visitor},
};
use serde_json::{error::Category, value::RawValue};

use super::{FormatError, MAX_DEPTH, Source, text::too_deep};
use crate::{
    names::hint,
    number::{self, DigitBudget, NumberError},
    place::{Place, PlaceStep},
    problem::ProblemError,
};

/// Number of bytes that are scanned in about the time of one visit (see [`both`]).
const BYTES_PER_VISIT: usize = 1 << 8;

/// A JSON document, or a value inside one, that is being read.
#[derive(Debug, Clone)]
pub struct Document<'t> {
    source: Source<'t>,
    root: &'t RawValue,
    at: Place,
    budget: DigitBudget,
}

/// The fields of a JSON object, in the order of the text. No name occurs twice.
#[derive(Debug, Clone)]
pub struct Object<'t> {
    raw: &'t RawValue,
    fields: Vec<(Cow<'t, str>, &'t RawValue)>,
}

impl<'a> Source<'a> {
    /// Reads the text as one JSON document.
    ///
    /// # Errors
    /// Returns a [`FormatError`] if the text is empty, truncated, nested deeper than [`MAX_DEPTH`], or not
    /// JSON.
    pub fn document(&self) -> Result<Document<'a>, FormatError> {
        let error =
            |offset, length, message: &str| Err(self.error_on(offset, length, Place::root(), message));
        if self.text.starts_with('\u{feff}') {
            return error(0, 3, "found a byte order mark: expected UTF-8 text without one");
        }
        if self.text.trim().is_empty() {
            return error(self.text.len(), 0, "the file is empty: expected a JSON document");
        }
        let visits = self.text.len() / BYTES_PER_VISIT;
        let deep = || too_deep(self.text, MAX_DEPTH);
        let (root, deep) = both(visits, || serde_json::from_str::<&RawValue>(self.text), deep);
        if let Some(offset) = deep {
            return error(offset, 1, &nested_too_deeply());
        }
        match root {
            Ok(root) => {
                Ok(Document { source: *self, root, at: Place::root(), budget: DigitBudget::default() })
            }
            Err(fault) => Err(self.syntax_error(&fault)),
        }
    }

    /// Reads a value of this text as a document of its own. The value is at `at` in the document.
    ///
    /// # Errors
    /// Returns a [`FormatError`] if the value is nested deeper than [`MAX_DEPTH`].
    pub fn document_in(&self, raw: &'a RawValue, at: &Place) -> Result<Document<'a>, FormatError> {
        match too_deep(raw.get(), MAX_DEPTH) {
            None => Ok(Document { source: *self, root: raw, at: at.clone(), budget: DigitBudget::default() }),
            Some(offset) => {
                let offset = self.span(raw.get()).0 + offset;
                Err(self.error_on(offset, 1, at.clone(), nested_too_deeply()))
            }
        }
    }

    fn syntax_error(&self, fault: &serde_json::Error) -> FormatError {
        let text = fault.to_string();
        let what = text.split(" at line ").next().unwrap_or_default();
        if fault.classify() == Category::Eof {
            let what = what.trim_start_matches("EOF while parsing ");
            let message = format!("the file ends inside {what}: expected the rest of it");
            return self.error_on(self.text.len(), 0, Place::root(), message);
        }
        let offset = self.offset_of(fault.line(), fault.column());
        let rest = &self.text[offset..];
        let token: String = rest
            .chars()
            .enumerate()
            .take_while(|(i, c)| *i == 0 || (*i < 20 && !c.is_whitespace() && !",:[]{}\"".contains(*c)))
            .map(|(_, c)| c)
            .collect();
        let expected = match what {
            "trailing characters" => "the end of the file",
            "key must be a string" => "the name of a field in double quotes",
            "expected value" => "a value",
            _ => what.strip_prefix("expected ").unwrap_or_default(),
        };
        let message = match expected {
            "" => format!("this is not JSON: found `{token}`: {what}"),
            _ => format!("this is not JSON: found `{token}`: expected {expected}"),
        };
        self.error_on(offset, token.len(), Place::root(), message)
    }
}

impl<'t> Document<'t> {
    /// Returns the whole value.
    #[must_use]
    pub fn root(&self) -> &'t RawValue {
        self.root
    }

    /// Returns the text that the document is part of.
    #[must_use]
    pub fn source(&self) -> Source<'t> {
        self.source
    }

    /// Reads a value as an object.
    ///
    /// # Errors
    /// Returns a [`FormatError`] if the value is not an object, or names a field twice.
    pub fn object(&self, raw: &'t RawValue) -> Result<Object<'t>, FormatError> {
        if !raw.get().starts_with('{') {
            return Err(self.wrong_type(raw, "an object"));
        }
        let fields = members(raw).map_err(|fault| self.error(raw, fault.to_string()))?;
        if let Some(repeated) = first_repeated(&fields) {
            let (key, value) = &fields[repeated];
            return Err(self.error_on_key(value, format!("the field `{key}` is given twice")));
        }
        Ok(Object { raw, fields })
    }

    /// Reads a value as a list and returns its elements.
    ///
    /// # Errors
    /// Returns a [`FormatError`] if the value is not a list.
    pub fn list(&self, raw: &'t RawValue) -> Result<Vec<&'t RawValue>, FormatError> {
        if !raw.get().starts_with('[') {
            return Err(self.wrong_type(raw, "a list"));
        }
        elements(raw).map_err(|fault| self.error(raw, fault.to_string()))
    }

    /// Reads a value as a string.
    ///
    /// # Errors
    /// Returns a [`FormatError`] if the value is not a string.
    pub fn string(&self, raw: &'t RawValue) -> Result<Cow<'t, str>, FormatError> {
        let inner = raw.get().strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
        match inner {
            None => Err(self.wrong_type(raw, "a string")),
            Some(inner) if !inner.contains('\\') => Ok(Cow::Borrowed(inner)),
            Some(_) => serde_json::from_str(raw.get())
                .map(Cow::Owned)
                .map_err(|_| self.error(raw, "this string holds an escape that stands for no character")),
        }
    }

    /// Reads a value as `true` or `false`.
    ///
    /// # Errors
    /// Returns a [`FormatError`] if the value is neither `true` nor `false`.
    pub fn boolean(&self, raw: &'t RawValue) -> Result<bool, FormatError> {
        match raw.get() {
            "true" => Ok(true),
            "false" => Ok(false),
            _ => Err(self.wrong_type(raw, "true or false")),
        }
    }

    /// Reads an input number: a JSON number, read exactly as the written decimal, or a string such as
    /// `"3/7"`.
    ///
    /// # Errors
    /// Returns a [`FormatError`] if the value is not a number or has more than [`number::MAX_DIGITS`] digits.
    /// The field `is_too_large` of the error is set if all numbers read so far have more than
    /// [`number::MAX_TOTAL_DIGITS`] digits together.
    pub fn number(&self, raw: &'t RawValue) -> Result<Rational, FormatError> {
        self.number_by(raw, number::parse)
    }

    /// Reads an input number, or a string with a suffix such as `"64000m"` or `"1007Gi"`.
    ///
    /// # Errors
    /// Returns an error in the same cases as [`Document::number`].
    pub fn quantity(&self, raw: &'t RawValue) -> Result<Rational, FormatError> {
        let is_string = raw.get().starts_with('"');
        self.number_by(raw, if is_string { number::parse_quantity } else { number::parse })
    }

    /// Reads a computed number of up to [`number::MAX_RESULT_DIGITS`] digits.
    ///
    /// # Errors
    /// Returns an error in the same cases as [`Document::number`], with this larger limit.
    pub fn result_number(&self, raw: &'t RawValue) -> Result<Rational, FormatError> {
        self.number_by(raw, number::parse_result)
    }

    /// Returns a value as a document of its own, whose numbers may have `digits` digits together. Places in errors
    /// are relative to the value, and computing them takes time in proportion to the value's length.
    pub(super) fn apart(&self, raw: &'t RawValue, digits: u64) -> Self {
        let source = Source { text: raw.get(), ..self.source };
        Document { source, root: raw, at: Place::root(), budget: DigitBudget::new(digits) }
    }

    /// Returns how many digits all numbers that are still to be read may have together.
    pub(super) fn digits_left(&self) -> u64 {
        self.budget.left()
    }

    /// Takes digits from the budget for numbers that were read elsewhere. Returns whether enough digits were
    /// left.
    pub(super) fn takes_digits(&self, digits: u64) -> bool {
        self.budget.takes(digits)
    }

    /// Checks that no object in a value names a field twice. The value is not read for any other purpose.
    ///
    /// # Errors
    /// Returns a [`FormatError`] at the field that is repeated.
    pub fn decoration(&self, raw: &'t RawValue) -> Result<(), FormatError> {
        match raw.get().as_bytes().first() {
            Some(b'{') => self.object(raw)?.fields.iter().try_for_each(|(_, value)| self.decoration(value)),
            Some(b'[') => self.list(raw)?.into_iter().try_for_each(|value| self.decoration(value)),
            _ => Ok(()),
        }
    }

    /// Returns an error about a value of this document.
    #[must_use]
    pub fn error(&self, raw: &RawValue, message: impl Into<String>) -> FormatError {
        let (offset, length) = self.source.span(raw.get());
        self.source.error_on(offset, length, self.place_of(offset), message.into())
    }

    /// Returns an error about the key of a field, given the value of the field.
    #[must_use]
    pub fn error_on_key(&self, value: &RawValue, message: impl Into<String>) -> FormatError {
        let (value_offset, _) = self.source.span(value.get());
        let (offset, length) = key_span(self.source.text, value_offset);
        self.source.error_on(offset, length, self.place_of(value_offset), message.into())
    }

    /// Converts a fault in the stated problem to an error at its place in the text.
    #[must_use]
    pub fn problem_error(&self, error: &ProblemError) -> FormatError {
        let raw = self.locate(&error.place);
        self.source.error_at(raw, &self.at.join(&error.place), error.kind.to_string())
    }

    /// Returns the value at a place of this document, or the innermost existing value around that place.
    #[must_use]
    pub fn locate(&self, place: &Place) -> &'t RawValue {
        let mut here = self.root;
        for step in place.steps() {
            match parts(here).into_iter().find(|(of, _)| of == step) {
                Some((_, value)) => here = value,
                None => break,
            }
        }
        here
    }

    /// Returns the place of the innermost value around a byte of the text.
    fn place_of(&self, offset: usize) -> Place {
        let mut place = self.at.clone();
        let mut here = self.root;
        let holds = |raw: &RawValue| {
            let (start, length) = self.source.span(raw.get());
            (start..start + length).contains(&offset)
        };
        while let Some((step, value)) = parts(here).into_iter().find(|(_, value)| holds(value)) {
            place = place.step(step);
            here = value;
        }
        place
    }

    fn number_by(
        &self,
        raw: &'t RawValue,
        parse: impl Fn(&str) -> Result<Rational, NumberError>,
    ) -> Result<Rational, FormatError> {
        let text = self.text_of_number(raw)?;
        if let Err(fault) = self.budget.charge(&text) {
            return Err(FormatError { is_too_large: true, ..self.error(raw, fault.to_string()) });
        }
        parse(&text).map_err(|fault| self.error(raw, fault.to_string()))
    }

    fn text_of_number(&self, raw: &'t RawValue) -> Result<Cow<'t, str>, FormatError> {
        match raw.get().as_bytes().first() {
            Some(b'-' | b'0'..=b'9') => Ok(Cow::Borrowed(raw.get())),
            Some(b'"') => self.string(raw),
            _ => Err(self.wrong_type(raw, "a number")),
        }
    }

    /// Returns how many digits a number takes from the budget.
    pub(super) fn digits_of(&self, raw: &'t RawValue) -> Result<u64, FormatError> {
        Ok(number::cost(&self.text_of_number(raw)?))
    }

    fn wrong_type(&self, raw: &RawValue, expected: &str) -> FormatError {
        self.error(raw, format!("found {}: expected {expected}", describe(raw)))
    }
}

impl<'t> Object<'t> {
    /// Returns the fields in the order of the text.
    #[must_use]
    pub fn fields(&self) -> &[(Cow<'t, str>, &'t RawValue)] {
        &self.fields
    }

    pub(super) fn into_fields(self) -> Vec<(Cow<'t, str>, &'t RawValue)> {
        self.fields
    }

    /// Returns the text of the object.
    #[must_use]
    pub fn raw(&self) -> &'t RawValue {
        self.raw
    }

    /// Returns the value of a field, or `None` if the object does not have the field.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&'t RawValue> {
        self.fields.iter().find(|(key, _)| key == name).map(|(_, value)| *value)
    }

    /// Returns the value of a required field.
    ///
    /// # Errors
    /// Returns a [`FormatError`] if the field is missing.
    pub fn need(&self, document: &Document<'t>, name: &str) -> Result<&'t RawValue, FormatError> {
        self.get(name).ok_or_else(|| document.error(self.raw, format!("the field `{name}` is missing")))
    }

    /// Checks that the object has no fields other than `known`.
    ///
    /// # Errors
    /// Returns a [`FormatError`] at the first unknown field.
    pub fn only(&self, document: &Document<'t>, known: &[&str]) -> Result<(), FormatError> {
        self.only_and(document, known, &[])
    }

    /// Checks like [`Object::only`], with the known names in two lists.
    pub(super) fn only_of(&self, document: &Document<'t>, known: &[&[&str]; 2]) -> Result<(), FormatError> {
        let is_known = |(key, _): &(Cow<'t, str>, &RawValue)| known.iter().any(|list| list.contains(&&**key));
        if self.fields.iter().all(is_known) { Ok(()) } else { self.only(document, &known.concat()) }
    }

    /// Checks like [`Object::only`] at the top of a document, where `$schema` and `description` are also allowed. These two
    /// fields are for other programs and for people.
    ///
    /// # Errors
    /// Returns an error in the same cases as [`Object::only`].
    pub fn only_at_top(&self, document: &Document<'t>, known: &[&str]) -> Result<(), FormatError> {
        self.only_and(document, known, &["$schema", "description"])
    }

    fn only_and(&self, document: &Document<'t>, known: &[&str], more: &[&str]) -> Result<(), FormatError> {
        match self.fields.iter().find(|(key, _)| !known.contains(&&**key) && !more.contains(&&**key)) {
            None => Ok(()),
            Some((key, value)) => {
                let near = hint(key, known.iter().copied());
                let expected = match known {
                    [] => "no field".to_owned(),
                    known => format!("one of {}", known.join(", ")),
                };
                let message = format!("unknown field `{}`{near}: expected {expected}", shorten(key));
                Err(document.error_on_key(value, message))
            }
        }
    }

    /// Checks that the field `kind` has the value `kind`.
    ///
    /// # Errors
    /// Returns a [`FormatError`] if the field is missing or has another value.
    pub fn of_kind(&self, document: &Document<'t>, kind: &str) -> Result<(), FormatError> {
        let Some(raw) = self.get("kind") else {
            let message = format!("the field `kind` is missing: expected \"kind\": \"{kind}\"");
            return Err(document.error(self.raw, message));
        };
        let found = document.string(raw)?;
        if found == kind {
            return Ok(());
        }
        Err(document.error(raw, format!("this file is of the kind `{}`: expected `{kind}`", shorten(&found))))
    }
}

/// Returns a name, cut if it is too long for a message.
pub(super) fn shorten(name: &str) -> String {
    const LONGEST: usize = 60;
    match name.char_indices().nth(LONGEST) {
        None => name.to_owned(),
        Some((end, _)) => format!("{}...", &name[..end]),
    }
}

fn nested_too_deeply() -> String {
    format!("nested too deeply: expected at most {MAX_DEPTH} levels")
}

fn describe(raw: &RawValue) -> String {
    match raw.get().as_bytes().first() {
        Some(b'{') => "an object".to_owned(),
        Some(b'[') => "a list".to_owned(),
        Some(b'"') => "a string".to_owned(),
        Some(b'-' | b'0'..=b'9') => "a number".to_owned(),
        _ => format!("`{}`", raw.get()),
    }
}

fn elements(raw: &RawValue) -> Result<Vec<&RawValue>, serde_json::Error> {
    serde_json::from_str(raw.get())
}

fn members(raw: &RawValue) -> Result<Vec<(Cow<'_, str>, &RawValue)>, serde_json::Error> {
    serde_json::from_str::<Members<'_>>(raw.get()).map(|members| members.0)
}

/// Returns the values in an object or a list, each with the step that leads to it.
fn parts(raw: &RawValue) -> Vec<(PlaceStep, &RawValue)> {
    if let Ok(fields) = members(raw) {
        return fields.into_iter().map(|(key, value)| (PlaceStep::Key(key.into_owned()), value)).collect();
    }
    let list = elements(raw).unwrap_or_default().into_iter().enumerate();
    list.map(|(index, value)| (PlaceStep::Index(index), value)).collect()
}

fn first_repeated(fields: &[(Cow<'_, str>, &RawValue)]) -> Option<usize> {
    const FEW: usize = 12;
    if fields.len() <= FEW {
        return (1..fields.len()).find(|&i| fields[..i].iter().any(|(key, _)| *key == fields[i].0));
    }
    let mut seen = HashSet::with_capacity(fields.len());
    fields.iter().position(|(key, _)| !seen.insert(&**key))
}

/// Returns the offset and the length of the key before a value, with its quotes. The key is searched for
/// backwards from the value.
fn key_span(text: &str, value_offset: usize) -> (usize, usize) {
    let bytes = text.as_bytes();
    let Some(end) = bytes[..value_offset].iter().rposition(|&byte| byte == b'"') else {
        return (value_offset, 0);
    };
    let mut start = end;
    while let Some(quote) = bytes[..start].iter().rposition(|&byte| byte == b'"') {
        start = quote;
        let escapes = bytes[..quote].iter().rev().take_while(|&&byte| byte == b'\\').count();
        if escapes % 2 == 0 {
            break;
        }
    }
    (start, end + 1 - start)
}

struct Members<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(MembersVisitor)
    }
}

struct MembersVisitor;

impl<'de> Visitor<'de> for MembersVisitor {
    type Value = Members<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut fields = Vec::new();
        while let Some(key) = map.next_key::<Key<'de>>()? {
            fields.push((key.0, map.next_value()?));
        }
        Ok(Members(fields))
    }
}

/// The name of a field, borrowed from the text if it contains no escape.
#[derive(Deserialize)]
#[serde(transparent)]
struct Key<'a>(#[serde(borrow)] Cow<'a, str>);

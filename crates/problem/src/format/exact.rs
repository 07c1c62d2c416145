//! Pieces for readers that use serde.
//!
//! Exact numbers read the text of the number itself. serde can hand that over only where it does
//! not buffer values first: not inside `#[serde(flatten)]`, nor in untagged or internally tagged
//! enumerations.

use std::{collections::HashSet, fmt, marker::PhantomData};

use rug::Rational;
use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{Error as _, MapAccess, Visitor},
};
use serde_json::value::RawValue;

use crate::number::{self, NumberError};

/// A number that somebody states, at most [`number::MAX_DIGITS`] digits: a JSON number, taken as
/// the decimal it is written as, or a string. Written as a string, `"7"` or `"5/7"`.
///
/// # Examples
/// ```
/// use evenhand_problem::{Rational, format::Exact};
/// let values: Vec<Exact> = serde_json::from_str(r#"[0.1, "1/10", "1e-1"]"#).unwrap();
/// assert!(values.iter().all(|value| value.0 == Rational::from((1, 10))));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Exact(pub Rational);

/// [`Exact`] for numbers that were computed, at most [`number::MAX_RESULT_DIGITS`] digits.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct ExactResult(pub Rational);

/// An object with any keys, in the order of the text; a key given twice is an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entries<V>(pub Vec<(String, V)>);

impl<'de> Deserialize<'de> for Exact {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        read(deserializer, number::parse).map(Self)
    }
}

impl<'de> Deserialize<'de> for ExactResult {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        read(deserializer, number::parse_result).map(Self)
    }
}

impl Serialize for Exact {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

impl Serialize for ExactResult {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

fn read<'de, D: Deserializer<'de>>(
    deserializer: D,
    parse: impl Fn(&str) -> Result<Rational, NumberError>,
) -> Result<Rational, D::Error> {
    let raw = Box::<RawValue>::deserialize(deserializer)?;
    let value = match raw.get().as_bytes().first() {
        Some(b'-' | b'0'..=b'9') => parse(raw.get()),
        Some(b'"') => parse(&serde_json::from_str::<String>(raw.get()).map_err(D::Error::custom)?),
        _ => return Err(D::Error::custom("expected a number")),
    };
    value.map_err(D::Error::custom)
}

impl<V> Default for Entries<V> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<V> Entries<V> {
    /// The value of a key, by a search from the front.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&V> {
        self.0.iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }
}

impl<V> IntoIterator for Entries<V> {
    type Item = (String, V);
    type IntoIter = std::vec::IntoIter<(String, V)>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<V> FromIterator<(String, V)> for Entries<V> {
    fn from_iter<I: IntoIterator<Item = (String, V)>>(entries: I) -> Self {
        Self(entries.into_iter().collect())
    }
}

impl<V: Serialize> Serialize for Entries<V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, value)| (key, value)))
    }
}

impl<'de, V: Deserialize<'de>> Deserialize<'de> for Entries<V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(EntriesVisitor(PhantomData))
    }
}

struct EntriesVisitor<V>(PhantomData<V>);

impl<'de, V: Deserialize<'de>> Visitor<'de> for EntriesVisitor<V> {
    type Value = Entries<V>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut entries = Vec::new();
        let mut seen = HashSet::new();
        while let Some(key) = map.next_key::<String>()? {
            if !seen.insert(key.clone()) {
                return Err(A::Error::custom(format_args!("the field `{key}` is given twice")));
            }
            entries.push((key, map.next_value()?));
        }
        Ok(Entries(entries))
    }
}

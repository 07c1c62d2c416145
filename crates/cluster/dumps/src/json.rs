//! A reader of dumps in JSON. A file has one or more documents. The elements of long lists are passed on one
//! by one, so that a long list is never in memory as a whole.

use std::collections::HashSet;
use std::io::Read;

use evenhand_problem::Place;
use evenhand_problem::format::MAX_DEPTH;
use serde::de::{DeserializeSeed, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::error::Category;

use super::source::{Bytes, Feed};
use super::tree::Tree;
use evenhand_import::ImportError;

/// Reads all documents of a file.
pub(super) fn read(bytes: &mut Bytes, feed: &mut Feed<'_>) -> Result<(), ImportError> {
    let mut documents = 0;
    while bytes.skip_blanks()? {
        let mut deserializer = serde_json::Deserializer::from_reader(bytes.by_ref());
        feed.kind.clear();
        let seed = Document { feed, path: Vec::new() };
        let read = seed.deserialize(&mut deserializer);
        drop(deserializer);
        match read {
            Ok(Some(rest)) => feed.hand(Place::root(), rest)?,
            Ok(None) => {}
            Err(fault) => return Err(feed.failure.take().unwrap_or_else(|| explained(bytes, &fault))),
        }
        documents += 1;
    }
    if documents == 0 { Err(bytes.error(0, "the file is empty: expected a dump")) } else { Ok(()) }
}

/// Converts an error of the JSON parser to an error of the importer.
fn explained(bytes: &mut Bytes, fault: &serde_json::Error) -> ImportError {
    if let Some(failure) = bytes.failure.take() {
        return failure;
    }
    let text = fault.to_string();
    let what = text.split(" at line ").next().unwrap_or_default().trim_start_matches("EOF while parsing ");
    match fault.classify() {
        Category::Eof => {
            bytes.error(bytes.line, format!("the file is cut off: it ends while reading {what}"))
        }
        _ => bytes.error(bytes.line, format!("this is not JSON: {what}")),
    }
}

/// The parser of a document, or of an object in it that contains a long list.
struct Document<'d, 'f> {
    feed: &'d mut Feed<'f>,
    path: Vec<String>,
}

impl<'de> DeserializeSeed<'de> for Document<'_, '_> {
    type Value = Option<Tree>;

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Document<'_, '_> {
    /// The document without the long lists that have been passed on.
    type Value = Option<Tree>;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an object or a list")
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        if self.path.is_empty() { Err(E::custom("expected an object or a list")) } else { Ok(None) }
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let place = self.path.iter().fold(Place::root(), |place, key| place.key(key));
        let mut position = 0;
        while let Some(tree) = list.next_element_seed(Whole { depth: 1, skip: self.feed.skip })? {
            self.feed.hand(place.index(position), tree).map_err(|failure| self.feed.stop(failure))?;
            position += 1;
        }
        Ok(None)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut rest: Vec<(Box<str>, Tree)> = Vec::new();
        let mut seen: HashSet<Box<str>> = HashSet::new();
        let mut path = self.path;
        while let Some(key) = map.next_key::<String>()? {
            if !seen.insert(key.as_str().into()) {
                return Err(A::Error::custom(format!("the field `{key}` is given twice")));
            }
            path.push(key);
            let value = if self.feed.leads_to_list(&path) {
                map.next_value_seed(Document { feed: &mut *self.feed, path: path.clone() })?
            } else {
                Some(map.next_value_seed(Whole { depth: path.len(), skip: self.feed.skip })?)
            };
            if let Some(value) = &value {
                self.feed.read_field(&path, value);
            }
            let key = path.pop().unwrap_or_default();
            rest.push((key.into(), value.unwrap_or_else(Tree::null)));
        }
        Ok(Some(Tree::Map(rest)))
    }
}

/// The parser of a whole value, without fields that no importer uses.
struct Whole {
    depth: usize,
    skip: &'static [&'static str],
}

/// The parser of a field that no importer uses. Only scalars are kept.
struct Skipped;

impl<'de> DeserializeSeed<'de> for Whole {
    type Value = Tree;

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<Tree, D::Error> {
        if self.depth > MAX_DEPTH {
            return Err(D::Error::custom(format!("nested too deeply: expected at most {MAX_DEPTH} levels")));
        }
        deserializer.deserialize_any(self)
    }
}

impl<'de> DeserializeSeed<'de> for Skipped {
    type Value = Tree;

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<Tree, D::Error> {
        deserializer.deserialize_any(self)
    }
}

/// The methods for scalars, which the visitors of `Whole` and `Skipped` share.
macro_rules! scalars {
    () => {
        type Value = Tree;

        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("a value")
        }

        fn visit_unit<E>(self) -> Result<Tree, E> {
            Ok(Tree::null())
        }

        fn visit_bool<E>(self, value: bool) -> Result<Tree, E> {
            Ok(Tree::Bare(value.to_string().into()))
        }

        fn visit_u64<E>(self, value: u64) -> Result<Tree, E> {
            Ok(Tree::Bare(value.to_string().into()))
        }

        fn visit_i64<E>(self, value: i64) -> Result<Tree, E> {
            Ok(Tree::Bare(value.to_string().into()))
        }

        fn visit_f64<E>(self, value: f64) -> Result<Tree, E> {
            Ok(Tree::Bare(format!("{value:e}").into()))
        }

        fn visit_str<E>(self, value: &str) -> Result<Tree, E> {
            Ok(Tree::Text(value.into()))
        }
    };
}

impl<'de> Visitor<'de> for Whole {
    scalars!();

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Tree, A::Error> {
        let mut elements = Vec::new();
        while let Some(element) = list.next_element_seed(Self { depth: self.depth + 1, ..self })? {
            elements.push(element);
        }
        Ok(Tree::List(elements))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Tree, A::Error> {
        let mut fields: Vec<(Box<str>, Tree)> = Vec::new();
        while let Some(key) = map.next_key::<String>()? {
            let value = if self.skip.contains(&key.as_str()) {
                map.next_value_seed(Skipped)?
            } else {
                map.next_value_seed(Self { depth: self.depth + 1, ..self })?
            };
            fields.push((key.into(), value));
        }
        match super::source::repeated(&fields) {
            Some(key) => Err(A::Error::custom(format!("the field `{key}` is given twice"))),
            None => Ok(Tree::Map(fields)),
        }
    }
}

impl<'de> Visitor<'de> for Skipped {
    scalars!();

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Tree, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Tree::null())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Tree, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Tree::null())
    }
}

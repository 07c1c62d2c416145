//! A value of a dump in JSON or YAML: an object, a list or a scalar. Messages name its path in the dump.
//!
//! Values do not store their paths. The path of a value is computed by a search from the root when a message
//! needs it.

use evenhand_problem::number::{self, MAX_DIGITS};
use evenhand_problem::{Place, printable};
use rug::Rational;

use evenhand_import::ImportError;

/// A value of a dump.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Tree {
    /// A number, `true`, `false` or `null`, stored as text.
    Bare(Box<str>),
    Text(Box<str>),
    List(Vec<Tree>),
    /// The fields in the order of the text. Each name occurs once.
    Map(Vec<(Box<str>, Tree)>),
}

/// A value that is passed on separately: a whole document, or an element of a long list.
#[derive(Debug, Clone)]
pub(super) struct Item<'f> {
    /// The name of the file.
    pub file: &'f str,
    /// The text of the field `kind` of the document. Empty if the field has not been read yet.
    pub kind: &'f str,
    /// The path of the value in its document.
    pub place: Place,
    pub tree: Tree,
}

/// A value inside an item.
#[derive(Clone, Copy)]
pub(super) struct At<'a> {
    item: &'a Item<'a>,
    tree: &'a Tree,
}

type Found<T> = Result<T, ImportError>;

/// The largest number of characters of a value in a message.
const SHOWN: usize = 60;
/// The largest length of a name in bytes. It is four times the largest limit of any scheduler. The snapshot
/// may repeat a name many times.
pub(super) const LONGEST_NAME: usize = 1024;

impl Tree {
    pub fn null() -> Self {
        Self::Bare("null".into())
    }

    fn is_null(&self) -> bool {
        matches!(self, Self::Bare(text) if &**text == "null")
    }
}

impl<'f> Item<'f> {
    pub fn at(&self) -> At<'_> {
        At { item: self, tree: &self.tree }
    }
}

impl<'a> At<'a> {
    /// Returns the kind of the document that contains this value.
    pub fn document_kind(self) -> &'a str {
        self.item.kind
    }

    /// Returns `true` if the value belongs to a whole document and not to an element of a list.
    pub fn is_document(self) -> bool {
        self.item.place.steps().is_empty()
    }

    /// Returns an error about this value.
    pub fn error(self, message: impl Into<String>) -> ImportError {
        let mut place = self.item.place.clone();
        descend(&self.item.tree, self.tree, &mut place);
        let file = self.item.file.to_owned();
        ImportError::Dump { file, place: place.to_string(), message: printable(&message.into()) }
    }

    /// Returns the value of a field. Returns `None` if the field is missing or null.
    pub fn get(self, name: &str) -> Found<Option<At<'a>>> {
        let Tree::Map(fields) = self.tree else { return Err(self.expected("an object")) };
        let found = fields.iter().find(|(key, value)| &**key == name && !value.is_null());
        Ok(found.map(|(_, tree)| At { tree, ..self }))
    }

    /// Returns `true` if a field exists. Its value may be a list whose elements have already been passed on.
    pub fn names(self, name: &str) -> bool {
        matches!(self.tree, Tree::Map(fields) if fields.iter().any(|(key, _)| &**key == name))
    }

    /// Returns the value of the first of these fields that exists. Versions of a system use different names
    /// for the same field.
    pub fn first(self, names: &[&str]) -> Found<Option<At<'a>>> {
        for name in names {
            if let Some(found) = self.get(name)? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// Returns the value at a path of fields. Returns `None` if a field of the path is missing.
    pub fn path(self, names: &[&str]) -> Found<Option<At<'a>>> {
        let mut here = self;
        for name in names {
            match here.get(name)? {
                Some(found) => here = found,
                None => return Ok(None),
            }
        }
        Ok(Some(here))
    }

    /// Returns the value of a field that must exist.
    pub fn need(self, name: &str) -> Found<At<'a>> {
        self.get(name)?.ok_or_else(|| self.error(format!("the field `{name}` is missing")))
    }

    /// Returns the text of a field. Returns `None` if the field is missing.
    pub fn text_of(self, name: &str) -> Found<Option<&'a str>> {
        self.get(name)?.map(At::text).transpose()
    }

    pub fn text(self) -> Found<&'a str> {
        match self.tree {
            Tree::Text(text) => Ok(text),
            _ => Err(self.expected("a string")),
        }
    }

    /// Returns the text of a name, which must be neither empty nor too long.
    pub fn name(self) -> Found<&'a str> {
        match self.text()? {
            "" => Err(self.error("the name is empty")),
            name if name.len() > LONGEST_NAME => {
                Err(self.error(format!("a name of {} bytes: expected at most {LONGEST_NAME}", name.len())))
            }
            name => Ok(name),
        }
    }

    pub fn boolean(self) -> Found<bool> {
        match self.tree {
            Tree::Bare(text) if &**text == "true" => Ok(true),
            Tree::Bare(text) if &**text == "false" => Ok(false),
            _ => Err(self.expected("true or false")),
        }
    }

    pub fn is_true(self, name: &str) -> Found<bool> {
        self.get(name)?.map_or(Ok(false), At::boolean)
    }

    pub fn list(self) -> Found<impl Iterator<Item = At<'a>>> {
        match self.tree {
            Tree::List(list) => Ok(list.iter().map(move |tree| At { tree, ..self })),
            _ => Err(self.expected("a list")),
        }
    }

    /// Returns the elements of the list in a field. Returns no elements if the field is missing.
    pub fn list_of(self, name: &str) -> Found<impl Iterator<Item = At<'a>>> {
        Ok(self.get(name)?.map(At::list).transpose()?.into_iter().flatten())
    }

    /// Returns the fields of an object that are not null.
    pub fn entries(self) -> Found<impl Iterator<Item = (&'a str, At<'a>)>> {
        match self.tree {
            Tree::Map(fields) => {
                let stated = fields.iter().filter(|(_, tree)| !tree.is_null());
                Ok(stated.map(move |(key, tree)| (&**key, At { tree, ..self })))
            }
            _ => Err(self.expected("an object")),
        }
    }

    /// Returns the fields of the object in a field. Returns no fields if the field is missing.
    pub fn entries_of(self, name: &str) -> Found<impl Iterator<Item = (&'a str, At<'a>)>> {
        Ok(self.get(name)?.map(At::entries).transpose()?.into_iter().flatten())
    }

    pub fn is_map(self) -> bool {
        matches!(self.tree, Tree::Map(_))
    }

    pub fn is_list(self) -> bool {
        matches!(self.tree, Tree::List(_))
    }

    pub fn is_text(self) -> bool {
        matches!(self.tree, Tree::Text(_))
    }

    /// Returns the text of a number, which may be in quotes.
    pub fn scalar(self) -> Found<&'a str> {
        match self.tree {
            Tree::Text(text) | Tree::Bare(text) => Ok(text),
            _ => Err(self.expected("a number")),
        }
    }

    /// Reads a number of at least 0 without a unit.
    pub fn number(self) -> Found<Rational> {
        let text = self.scalar()?;
        if text.contains('/') {
            return Err(self.expected("a decimal number"));
        }
        let value = number::parse(text).map_err(|error| self.error(error.to_string()))?;
        if value < 0 {
            return Err(self.error(format!("{} is negative: expected a quantity of at least 0", shown(text))));
        }
        // The number will be written again without an exponent, so the number of its digits is bounded.
        if number::stated(&value).is_none() {
            return Err(self.error(format!("a number of more than {MAX_DIGITS} digits")));
        }
        Ok(value)
    }

    /// Reads a whole number of at least 0.
    pub fn whole(self) -> Found<u64> {
        let value = self.number()?;
        let whole = if value.is_integer() { value.numer().to_u64() } else { None };
        whole.ok_or_else(|| self.expected("a whole number of at least 0"))
    }

    /// Reads a whole number, which may be negative.
    pub fn integer(self) -> Found<i64> {
        self.scalar()?.parse().map_err(|_| self.expected("a whole number"))
    }

    /// Returns an error with a message that states the value and what was expected.
    fn expected(self, what: &str) -> ImportError {
        let found = match self.tree {
            Tree::Map(_) => "an object".to_owned(),
            Tree::List(_) => "a list".to_owned(),
            Tree::Text(text) | Tree::Bare(text) => format!("`{}`", shown(text)),
        };
        self.error(format!("found {found}: expected {what}"))
    }
}

/// Returns the beginning of a text, for use in messages.
pub(super) fn shown(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}...", &text[..end]),
    }
}

/// Searches for the value `to` inside `from`, and extends `place` to its path. Returns `true` if the value
/// was found.
fn descend(from: &Tree, to: &Tree, place: &mut Place) -> bool {
    if std::ptr::eq(from, to) {
        return true;
    }
    let start = place.clone();
    let mut into = |inner: &Tree, here: Place| {
        *place = here;
        descend(inner, to, place)
    };
    match from {
        Tree::Map(fields) => fields.iter().any(|(key, inner)| into(inner, start.key(key))),
        Tree::List(list) => list.iter().enumerate().any(|(i, inner)| into(inner, start.index(i))),
        Tree::Bare(_) | Tree::Text(_) => false,
    }
}

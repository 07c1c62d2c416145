//! A part of a dump, whatever language it is written in: objects, lists and scalars, that know where they stand.
//!
//! Reading keeps no path: the place of an error is found by walking down to the value afterwards.

use evenhand_problem::number::{self, MAX_DIGITS};
use evenhand_problem::{Place, printable};
use rug::Rational;

use evenhand_import::ImportError;

/// A value of a dump.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Tree {
    /// A number, `true`, `false` or `null`, as it is written.
    Bare(Box<str>),
    Text(Box<str>),
    List(Vec<Tree>),
    /// In the order of the text, each name once.
    Map(Vec<(Box<str>, Tree)>),
}

/// A value that is handed over by itself: a whole document, or an element of a long list.
#[derive(Debug, Clone)]
pub(super) struct Item<'f> {
    /// Name of the file.
    pub file: &'f str,
    /// The text of the field `kind` of its document, as far as that has been read.
    pub kind: &'f str,
    /// Where the value stands in its document.
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

/// Most characters of a value in a message.
const SHOWN: usize = 60;
/// Most bytes of a name, which the snapshot may repeat many times: four times what any scheduler accepts.
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
    /// The kind of the document that this value is from.
    pub fn document_kind(self) -> &'a str {
        self.item.kind
    }

    /// Whether the value is a whole document.
    pub fn is_document(self) -> bool {
        self.item.place.steps().is_empty()
    }

    /// An error about this value.
    pub fn error(self, message: impl Into<String>) -> ImportError {
        let mut place = self.item.place.clone();
        descend(&self.item.tree, self.tree, &mut place);
        let file = self.item.file.to_owned();
        ImportError::Dump { file, place: place.to_string(), message: printable(&message.into()) }
    }

    /// A field, where it is there and not null.
    pub fn get(self, name: &str) -> Found<Option<At<'a>>> {
        let Tree::Map(fields) = self.tree else { return Err(self.expected("an object")) };
        let found = fields.iter().find(|(key, value)| &**key == name && !value.is_null());
        Ok(found.map(|(_, tree)| At { tree, ..self }))
    }

    /// Whether there is a field, also a list that was handed on element by element.
    pub fn names(self, name: &str) -> bool {
        matches!(self.tree, Tree::Map(fields) if fields.iter().any(|(key, _)| &**key == name))
    }

    /// The first of some fields that is there, of which different versions have different ones.
    pub fn first(self, names: &[&str]) -> Found<Option<At<'a>>> {
        for name in names {
            if let Some(found) = self.get(name)? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// A field of a field, and so on.
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

    pub fn need(self, name: &str) -> Found<At<'a>> {
        self.get(name)?.ok_or_else(|| self.error(format!("the field `{name}` is missing")))
    }

    /// The text of a field, where it is there.
    pub fn text_of(self, name: &str) -> Found<Option<&'a str>> {
        self.get(name)?.map(At::text).transpose()
    }

    pub fn text(self) -> Found<&'a str> {
        match self.tree {
            Tree::Text(text) => Ok(text),
            _ => Err(self.expected("a string")),
        }
    }

    /// A text that names something.
    pub fn name(self) -> Found<&'a str> {
        match self.text()? {
            "" => Err(self.error("a name that is empty")),
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

    /// The elements of a field; none where it is not there.
    pub fn list_of(self, name: &str) -> Found<impl Iterator<Item = At<'a>>> {
        Ok(self.get(name)?.map(At::list).transpose()?.into_iter().flatten())
    }

    /// The fields of an object that are not null.
    pub fn entries(self) -> Found<impl Iterator<Item = (&'a str, At<'a>)>> {
        match self.tree {
            Tree::Map(fields) => {
                let stated = fields.iter().filter(|(_, tree)| !tree.is_null());
                Ok(stated.map(move |(key, tree)| (&**key, At { tree, ..self })))
            }
            _ => Err(self.expected("an object")),
        }
    }

    /// The fields of a field; none where it is not there.
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

    /// A number, or a text that is one, as it is written.
    pub fn scalar(self) -> Found<&'a str> {
        match self.tree {
            Tree::Text(text) | Tree::Bare(text) => Ok(text),
            _ => Err(self.expected("a number")),
        }
    }

    /// A number of at least 0 without a unit.
    pub fn number(self) -> Found<Rational> {
        let text = self.scalar()?;
        if text.contains('/') {
            return Err(self.expected("a decimal number"));
        }
        let value = number::parse(text).map_err(|error| self.error(error.to_string()))?;
        if value < 0 {
            return Err(self.error(format!("{} is negative: expected a quantity of at least 0", shown(text))));
        }
        // What is read has to be written again, with the exponents written out.
        if number::stated(&value).is_none() {
            return Err(self.error(format!("a number of more than {MAX_DIGITS} digits")));
        }
        Ok(value)
    }

    /// A whole number of at least 0.
    pub fn whole(self) -> Found<u64> {
        let value = self.number()?;
        let whole = if value.is_integer() { value.numer().to_u64() } else { None };
        whole.ok_or_else(|| self.expected("a whole number of at least 0"))
    }

    /// A whole number, which may be negative.
    pub fn integer(self) -> Found<i64> {
        self.scalar()?.parse().map_err(|_| self.expected("a whole number"))
    }

    fn expected(self, what: &str) -> ImportError {
        let found = match self.tree {
            Tree::Map(_) => "an object".to_owned(),
            Tree::List(_) => "a list".to_owned(),
            Tree::Text(text) | Tree::Bare(text) => format!("`{}`", shown(text)),
        };
        self.error(format!("found {found}: expected {what}"))
    }
}

/// The beginning of a text, for messages.
pub(super) fn shown(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}...", &text[..end]),
    }
}

/// Walks from a value down to one inside it.
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

//! A reader of dumps in YAML. It returns the same values as the reader of JSON. The elements of long lists
//! are passed on one by one.
//!
//! The parser yields events. A value with an anchor is stored, and copied for each alias. Copies are charged
//! to the budget, and their total size is bounded, so that a few lines cannot take gigabytes of memory.

use std::collections::HashMap;

use evenhand_budget::charge;
use evenhand_problem::Place;
use evenhand_problem::format::MAX_DEPTH;
use saphyr_parser::{BufferedInput, Event, Parser, ScalarStyle, ScanError};

use super::source::{Bytes, Feed, repeated};
use super::tree::{Tree, shown};
use evenhand_import::ImportError;

/// The largest number of values in all copies of a file. Configurations have dozens of aliases, and dumps
/// have no aliases.
const MOST_COPIES: usize = 100_000;
/// The largest number of bytes of the texts in all copies of a file.
const MOST_COPIED_BYTES: usize = 1 << 24;

/// Reads all documents of a file.
pub(super) fn read(bytes: &mut Bytes, feed: &mut Feed<'_>) -> Result<(), ImportError> {
    let parsed = Events::new(bytes).documents(feed);
    match parsed {
        // For the parser, a failure of the reader looks like the end of the file.
        _ if bytes.failure.is_some() => bytes.failure.take().map_or(Ok(()), Err),
        Ok(documents) if documents > 0 => Ok(()),
        Ok(_) => Err(bytes.error(0, "the file is empty: expected a dump")),
        Err(Fault::Import(failure)) => Err(failure),
        Err(Fault::Scan(fault)) => {
            let line = fault.marker().line() as u64;
            Err(bytes.error(line, format!("this is not YAML: {}", fault.info())))
        }
        Err(Fault::Invalid(line, message)) => Err(bytes.error(line, message)),
    }
}

enum Fault {
    Import(ImportError),
    Scan(ScanError),
    /// An invalid value: its line and a message.
    Invalid(u64, String),
}

impl From<ImportError> for Fault {
    fn from(failure: ImportError) -> Self {
        Self::Import(failure)
    }
}

type Source<'b> = BufferedInput<Chars<'b>>;

struct Events<'b> {
    parser: Parser<'b, Source<'b>>,
    line: u64,
    /// The values with anchors, keyed by the number of the anchor.
    anchored: HashMap<usize, Tree>,
    /// The size of all copies so far.
    copies: Size,
}

impl<'b> Events<'b> {
    fn new(bytes: &'b mut Bytes) -> Self {
        let parser = Parser::new_from_iter(Chars { bytes });
        Self { parser, line: 0, anchored: HashMap::new(), copies: Size::default() }
    }

    fn next(&mut self) -> Result<Event<'b>, Fault> {
        match self.parser.next_event() {
            Some(Ok((event, span))) => {
                self.line = span.start.line() as u64;
                Ok(event)
            }
            Some(Err(fault)) => Err(Fault::Scan(fault)),
            None => Ok(Event::StreamEnd),
        }
    }

    fn documents(&mut self, feed: &mut Feed<'_>) -> Result<usize, Fault> {
        let mut documents = 0;
        loop {
            match self.next()? {
                Event::StreamEnd => return Ok(documents),
                Event::StreamStart | Event::Nothing | Event::DocumentStart(_) | Event::DocumentEnd => {}
                event => {
                    // A document between two markers may be empty.
                    if matches!(&event, Event::Scalar(text, ..) if text.is_empty()) {
                        continue;
                    }
                    feed.kind.clear();
                    let rest = self.document(event, &mut Vec::new(), feed)?;
                    if let Some(rest) = rest {
                        feed.hand(Place::root(), rest)?;
                    }
                    documents += 1;
                }
            }
        }
    }

    /// Reads a document, or an object of a document that contains a long list. Returns the rest without the
    /// long lists.
    fn document(
        &mut self,
        event: Event<'b>,
        path: &mut Vec<String>,
        feed: &mut Feed<'_>,
    ) -> Result<Option<Tree>, Fault> {
        match event {
            Event::SequenceStart(0, _) => {
                let place = path.iter().fold(Place::root(), |place, key| place.key(key));
                let mut position = 0;
                loop {
                    match self.next()? {
                        Event::SequenceEnd => return Ok(None),
                        event => {
                            let tree = self.whole(event, 1, feed.skip)?;
                            feed.hand(place.index(position), tree)?;
                            position += 1;
                        }
                    }
                }
            }
            Event::MappingStart(0, _) => {
                let mut rest: Vec<(Box<str>, Tree)> = Vec::new();
                loop {
                    let key = match self.next()? {
                        Event::MappingEnd => return Ok(Some(Tree::Map(self.without_repeats(rest)?))),
                        event => self.key(event)?,
                    };
                    path.push(key.clone().into());
                    let event = self.next()?;
                    let value = if feed.leads_to_list(path) {
                        self.document(event, path, feed)?.unwrap_or_else(Tree::null)
                    } else {
                        self.whole(event, path.len(), feed.skip)?
                    };
                    feed.read_field(path, &value);
                    path.pop();
                    rest.push((key, value));
                }
            }
            event if path.is_empty() => match self.whole(event, 1, feed.skip)? {
                Tree::Bare(text) | Tree::Text(text) => {
                    Err(self.invalid(format!("found `{}`: expected a dump in JSON or YAML", shown(&text))))
                }
                tree => Ok(Some(tree)),
            },
            event => Ok(Some(self.whole(event, path.len(), feed.skip)?)),
        }
    }

    /// Reads a whole value, without fields that no importer uses.
    fn whole(&mut self, event: Event<'b>, depth: usize, skip: &[&str]) -> Result<Tree, Fault> {
        if depth > MAX_DEPTH {
            return Err(self.invalid(format!("nested too deeply: expected at most {MAX_DEPTH} levels")));
        }
        let (anchor, tree) = match event {
            Event::Alias(anchor) => return self.copy(anchor),
            Event::Scalar(text, style, anchor, _) => (anchor, scalar(&text, style)),
            Event::SequenceStart(anchor, _) => {
                let mut list = Vec::new();
                loop {
                    match self.next()? {
                        Event::SequenceEnd => break (anchor, Tree::List(list)),
                        event => list.push(self.whole(event, depth + 1, skip)?),
                    }
                }
            }
            Event::MappingStart(anchor, _) => {
                let mut fields: Vec<(Box<str>, Tree)> = Vec::new();
                loop {
                    let key = match self.next()? {
                        Event::MappingEnd => break,
                        event => self.key(event)?,
                    };
                    let event = self.next()?;
                    let value = self.whole(event, depth + 1, skip)?;
                    let is_kept = matches!(value, Tree::Bare(_) | Tree::Text(_)) || !skip.contains(&&*key);
                    fields.push((key, if is_kept { value } else { Tree::null() }));
                }
                (anchor, Tree::Map(self.without_repeats(fields)?))
            }
            _ => return Err(self.invalid("the file ends inside a value".to_owned())),
        };
        if anchor != 0 {
            self.count(size(&tree))?;
            self.anchored.insert(anchor, tree.clone());
        }
        Ok(tree)
    }

    /// Returns a copy of the value with the anchor `anchor`.
    fn copy(&mut self, anchor: usize) -> Result<Tree, Fault> {
        let Some(tree) = self.anchored.get(&anchor) else {
            return Err(self.invalid("an alias refers to a value that is not complete".to_owned()));
        };
        let size = size(tree);
        self.count(size)?;
        match self.anchored.get(&anchor) {
            Some(tree) => Ok(tree.clone()),
            None => Err(self.invalid("an alias refers to a value that is not complete".to_owned())),
        }
    }

    /// Counts a copy. Refuses the file if its copies are too large in total.
    fn count(&mut self, size: Size) -> Result<(), Fault> {
        self.copies.values += size.values;
        self.copies.bytes += size.bytes;
        charge((size.values + size.bytes / 16) as u64, "the processing of the aliases of a YAML file");
        let too_many = |most: usize, what: &str| {
            format!("its aliases stand for more than {most} {what}, the most that is accepted")
        };
        if self.copies.values > MOST_COPIES {
            return Err(self.invalid(too_many(MOST_COPIES, "values")));
        }
        if self.copies.bytes > MOST_COPIED_BYTES {
            return Err(self.invalid(too_many(MOST_COPIED_BYTES, "bytes")));
        }
        Ok(())
    }

    fn key(&mut self, event: Event<'b>) -> Result<Box<str>, Fault> {
        match event {
            Event::Scalar(text, ..) => Ok(text.into_owned().into()),
            _ => Err(self.invalid("the name of a field is not a text".to_owned())),
        }
    }

    /// Returns the fields. Returns an error if a name occurs twice.
    fn without_repeats(&self, fields: Vec<(Box<str>, Tree)>) -> Result<Vec<(Box<str>, Tree)>, Fault> {
        match repeated(&fields) {
            Some(key) => Err(self.invalid(format!("the field `{}` is given twice", shown(key)))),
            None => Ok(fields),
        }
    }

    fn invalid(&self, message: String) -> Fault {
        Fault::Invalid(self.line, message)
    }
}

/// The size of a tree.
#[derive(Clone, Copy, Default)]
struct Size {
    /// The number of values.
    values: usize,
    /// The number of bytes of texts and field names.
    bytes: usize,
}

fn size(tree: &Tree) -> Size {
    let add = |sum: Size, of: Size| Size { values: sum.values + of.values, bytes: sum.bytes + of.bytes };
    let one = |bytes: usize| Size { values: 1, bytes };
    match tree {
        Tree::Bare(text) | Tree::Text(text) => one(text.len()),
        Tree::List(list) => list.iter().map(size).fold(one(0), add),
        Tree::Map(fields) => {
            let of_fields =
                fields.iter().map(|(key, value)| add(Size { values: 0, bytes: key.len() }, size(value)));
            of_fields.fold(one(0), add)
        }
    }
}

/// Returns a scalar by the core schema of YAML 1.2. A scalar in quotes is a text.
fn scalar(text: &str, style: ScalarStyle) -> Tree {
    let is_plain = style == ScalarStyle::Plain;
    match text {
        "" | "~" | "null" | "Null" | "NULL" if is_plain => Tree::null(),
        "true" | "True" | "TRUE" if is_plain => Tree::Bare("true".into()),
        "false" | "False" | "FALSE" if is_plain => Tree::Bare("false".into()),
        _ if is_plain && is_number(text) => Tree::Bare(text.into()),
        _ => Tree::Text(text.into()),
    }
}

/// Returns `true` if a plain scalar is a decimal number.
fn is_number(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    digits.starts_with(|c: char| c.is_ascii_digit())
        && evenhand_problem::number::parse(text).is_ok()
        && !text.contains('/')
}

/// An iterator over the characters of a file. Bytes that are not UTF-8 end it with a failure.
struct Chars<'b> {
    bytes: &'b mut Bytes,
}

impl Iterator for Chars<'_> {
    type Item = char;

    fn next(&mut self) -> Option<char> {
        self.bytes.next_char()
    }
}

//! The bytes of a dump, with limits, and how values of it are handed on.

use std::cell::Cell;
use std::collections::HashSet;
use std::io::{self, Read};
use std::rc::Rc;

use evenhand_budget::{self as budget, charge};
use evenhand_problem::{Place, printable};
use sha2::{Digest, Sha256};

use super::tree::{Item, Tree};
use evenhand_import::ImportError;
use evenhand_import::{Input, MAX_LINE_BYTES, broken_limit};

/// Bytes that are unpacked at once.
const CHUNK: usize = 1 << 16;
/// Steps for a byte of a dump: it is looked at, and what it belongs to is kept or dropped.
const BYTE: u64 = 2;

/// The unpacked bytes of a dump.
pub(super) struct Bytes {
    pub file: String,
    reader: Box<dyn Read>,
    packed: Rc<Cell<u64>>,
    /// Bytes of the stored file that the budget knows of.
    budgeted: u64,
    unpacked: u64,
    chunk: Box<[u8]>,
    at: usize,
    end: usize,
    /// The line that is being read, from 1.
    pub line: u64,
    /// Why nothing more can be read.
    pub failure: Option<ImportError>,
    hash: Sha256,
}

impl Bytes {
    pub fn new(input: Input) -> Self {
        let (file, reader, packed) = input.parts();
        Self {
            file,
            reader,
            packed,
            budgeted: 0,
            unpacked: 0,
            chunk: vec![0; CHUNK].into(),
            at: 0,
            end: 0,
            line: 1,
            failure: None,
            hash: Sha256::new(),
        }
    }

    /// The SHA-256 of the unpacked bytes, of the whole file: what follows the dump is read as well.
    pub fn sha256(&mut self) -> String {
        while self.fill() {
            self.at = self.end;
        }
        let digest = std::mem::take(&mut self.hash).finalize();
        digest.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// An error on a line, or about the whole file where that is 0.
    pub fn error(&self, line: u64, message: impl Into<String>) -> ImportError {
        let (file, message) = (self.file.clone(), printable(&message.into()));
        match line {
            0 => ImportError::Dump { file, place: String::new(), message },
            _ => ImportError::Record { file, line, message },
        }
    }

    /// Makes sure that there is a byte; at the end, or at a failure, there is none.
    fn fill(&mut self) -> bool {
        if self.at < self.end {
            return true;
        }
        if self.failure.is_some() {
            return false;
        }
        match self.reader.read(&mut self.chunk) {
            Ok(read) => {
                (self.at, self.end) = (0, read);
                self.unpacked += read as u64;
                self.hash.update(&self.chunk[..read]);
                let stored = self.packed.get();
                budget::read(stored.saturating_sub(std::mem::replace(&mut self.budgeted, stored)));
                charge(BYTE * read as u64, "the dump");
            }
            Err(source) if source.kind() == io::ErrorKind::Interrupted => return self.fill(),
            Err(source) => {
                let file = format!("{}:{}", self.file, self.line);
                self.failure = Some(ImportError::Io { file, source });
                return false;
            }
        }
        if let Some(limit) = broken_limit(self.packed.get(), self.unpacked) {
            self.failure = Some(ImportError::TooLarge { file: self.file.clone(), line: self.line, limit });
            return false;
        }
        self.end > 0
    }

    fn next_byte(&mut self) -> Option<u8> {
        if self.at == self.end && !self.fill() {
            return None;
        }
        let byte = self.chunk[self.at];
        self.at += 1;
        self.line += u64::from(byte == b'\n');
        Some(byte)
    }

    /// Goes to the next byte that is no blank; false at the end.
    pub fn skip_blanks(&mut self) -> Result<bool, ImportError> {
        Ok(self.first()?.is_some())
    }

    /// The next byte that is no blank, which stays to be read.
    pub fn first(&mut self) -> Result<Option<u8>, ImportError> {
        while self.fill() {
            let byte = self.chunk[self.at];
            if !byte.is_ascii_whitespace() {
                return Ok(Some(byte));
            }
            self.next_byte();
        }
        self.failure.take().map_or(Ok(None), Err)
    }

    /// The next character. What is none ends the text, with the failure kept.
    pub fn next_char(&mut self) -> Option<char> {
        let first = self.next_byte()?;
        if first == 0 {
            return self.no_text("a character 0");
        }
        if first < 0x80 {
            return Some(first.into());
        }
        let length = match first {
            0xc2..=0xdf => 2,
            0xe0..=0xef => 3,
            0xf0..=0xf4 => 4,
            _ => return self.no_text("what is no UTF-8"),
        };
        let mut bytes = [first, 0, 0, 0];
        for byte in &mut bytes[1..length] {
            *byte = self.next_byte().unwrap_or(0);
        }
        let decoded = std::str::from_utf8(&bytes[..length]).ok().and_then(|text| text.chars().next());
        decoded.or_else(|| self.no_text("what is no UTF-8"))
    }

    fn no_text(&mut self, found: &str) -> Option<char> {
        let message = format!("found {found}: expected a text");
        self.failure.get_or_insert(ImportError::Record { file: self.file.clone(), line: self.line, message });
        None
    }

    /// The next line without its end; `None` after the last.
    pub fn next_line(&mut self) -> Result<Option<(u64, String)>, ImportError> {
        let line = self.line;
        let mut bytes = Vec::new();
        let mut ended = false;
        while let Some(byte) = self.next_byte() {
            if byte == b'\n' {
                ended = true;
                break;
            }
            bytes.push(byte);
            if bytes.len() as u64 > MAX_LINE_BYTES {
                let limit = format!("more than {MAX_LINE_BYTES} bytes, the most that a line may have");
                return Err(ImportError::TooLarge { file: self.file.clone(), line, limit });
            }
        }
        if let Some(failure) = self.failure.take() {
            return Err(failure);
        }
        if bytes.is_empty() && !ended {
            return Ok(None);
        }
        let text = String::from_utf8(bytes).map_err(|_| self.error(line, "this line is not UTF-8 text"))?;
        Ok(Some((line, text.trim_end_matches('\r').to_owned())))
    }
}

impl Read for Bytes {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match buffer {
            [] => Ok(0),
            [first, ..] => match self.next_byte() {
                Some(byte) => {
                    *first = byte;
                    Ok(1)
                }
                None if self.failure.is_some() => Err(io::Error::other("the dump cannot be read")),
                None => Ok(0),
            },
        }
    }
}

/// Takes one value after another.
pub(super) type Receive<'r> = dyn FnMut(Item<'_>) -> Result<(), ImportError> + 'r;

/// Which parts of a dump are handed on by themselves, and to whom.
pub(super) struct Feed<'f> {
    pub file: &'f str,
    /// Paths of the lists of which every element is handed on; the rest of a document follows them. The elements of a
    /// document that is a list are too.
    pub lists: &'static [&'static [&'static str]],
    /// Names of fields that no reader looks at. Where such a name has a text or a number it is kept: it may be a label.
    pub skip: &'static [&'static str],
    pub receive: &'f mut Receive<'f>,
    /// The text of the field `kind` of the document that is read, if it has come.
    pub kind: String,
    /// An error of the receiver while a parser is at work.
    pub failure: Option<ImportError>,
}

impl Feed<'_> {
    pub fn hand(&mut self, place: Place, tree: Tree) -> Result<(), ImportError> {
        (self.receive)(Item { file: self.file, kind: &self.kind, place, tree })
    }

    /// Keeps the kind of a document.
    pub fn read_field(&mut self, path: &[String], value: &Tree) {
        if let ([name], Tree::Text(kind)) = (path, value)
            && name == "kind"
        {
            self.kind = kind.to_string();
        }
    }

    /// Keeps an error, for a parser that has its own.
    pub fn stop<E: serde::de::Error>(&mut self, failure: ImportError) -> E {
        self.failure = Some(failure);
        E::custom("stopped")
    }

    /// Whether a path is one of a long list, or leads to one.
    pub fn leads_to_list(&self, path: &[String]) -> bool {
        self.lists
            .iter()
            .any(|list| path.len() <= list.len() && path.iter().zip(*list).all(|(key, known)| key == known))
    }
}

/// The first name that is given twice.
pub(super) fn repeated(fields: &[(Box<str>, Tree)]) -> Option<&str> {
    const FEW: usize = 16;
    if fields.len() <= FEW {
        let mut later = (1..fields.len()).filter(|&i| fields[..i].iter().any(|(key, _)| *key == fields[i].0));
        return later.next().map(|i| &*fields[i].0);
    }
    let mut seen = HashSet::with_capacity(fields.len());
    fields.iter().map(|(key, _)| &**key).find(|key| !seen.insert(*key))
}

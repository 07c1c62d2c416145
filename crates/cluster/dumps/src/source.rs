//! The bytes of a dump, with limits, and the interface by which parsers pass on its values.

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

/// The number of bytes that are unpacked at once.
const CHUNK: usize = 1 << 16;
/// The steps of work that are charged for each byte of a dump: one step for the byte, and one step for the
/// value that contains the byte.
const BYTE: u64 = 2;

/// The unpacked bytes of a dump.
pub(super) struct Bytes {
    pub file: String,
    reader: Box<dyn Read>,
    packed: Rc<Cell<u64>>,
    /// The number of bytes of the file that have been charged to the budget.
    budgeted: u64,
    unpacked: u64,
    chunk: Box<[u8]>,
    at: usize,
    end: usize,
    /// The number of the line that is being read. The first line has number 1.
    pub line: u64,
    /// The error that ends the reading of the file.
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

    /// Reads the rest of the file, and returns the SHA-256 of all its unpacked bytes.
    pub fn sha256(&mut self) -> String {
        while self.fill() {
            self.at = self.end;
        }
        let digest = std::mem::take(&mut self.hash).finalize();
        digest.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Returns an error about a line, or about the whole file if `line` is 0.
    pub fn error(&self, line: u64, message: impl Into<String>) -> ImportError {
        let (file, message) = (self.file.clone(), printable(&message.into()));
        match line {
            0 => ImportError::Dump { file, place: String::new(), message },
            _ => ImportError::Record { file, line, message },
        }
    }

    /// Reads the next chunk if the current chunk is used up. Returns `true` if another byte is available.
    /// Returns `false` at the end of the file and after a failure.
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

    /// Skips blanks. Returns `true` if another byte follows.
    pub fn skip_blanks(&mut self) -> Result<bool, ImportError> {
        Ok(self.first()?.is_some())
    }

    /// Skips blanks, and returns the next byte without consuming it.
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

    /// Returns the next character. Bytes that are not UTF-8 and null characters end the text with a failure.
    pub fn next_char(&mut self) -> Option<char> {
        let first = self.next_byte()?;
        if first == 0 {
            return self.no_text("a null character");
        }
        if first < 0x80 {
            return Some(first.into());
        }
        let length = match first {
            0xc2..=0xdf => 2,
            0xe0..=0xef => 3,
            0xf0..=0xf4 => 4,
            _ => return self.no_text("bytes that are not UTF-8"),
        };
        let mut bytes = [first, 0, 0, 0];
        for byte in &mut bytes[1..length] {
            *byte = self.next_byte().unwrap_or(0);
        }
        let decoded = std::str::from_utf8(&bytes[..length]).ok().and_then(|text| text.chars().next());
        decoded.or_else(|| self.no_text("bytes that are not UTF-8"))
    }

    /// Records a failure, and returns `None`.
    fn no_text(&mut self, found: &str) -> Option<char> {
        let message = format!("found {found}: expected a text");
        self.failure.get_or_insert(ImportError::Record { file: self.file.clone(), line: self.line, message });
        None
    }

    /// Returns the number and the text of the next line, without its line feed. Returns `None` after the last
    /// line.
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

/// A function that receives the values one by one.
pub(super) type Receive<'r> = dyn FnMut(Item<'_>) -> Result<(), ImportError> + 'r;

/// The receiver of the values of a dump, and the lists whose elements it receives one by one.
pub(super) struct Feed<'f> {
    pub file: &'f str,
    /// The paths of lists whose elements are passed on one by one. The rest of the document is passed on
    /// after them. If a document itself is a list, its elements are passed on in the same way.
    pub lists: &'static [&'static [&'static str]],
    /// The names of fields that no importer uses. Objects and lists in these fields are dropped. Texts and
    /// numbers are kept, because a label may have such a name.
    pub skip: &'static [&'static str],
    pub receive: &'f mut Receive<'f>,
    /// The text of the field `kind` of the current document. Empty until the field has been read.
    pub kind: String,
    /// An error that the receiver returned during parsing.
    pub failure: Option<ImportError>,
}

impl Feed<'_> {
    /// Passes a value to the receiver.
    pub fn hand(&mut self, place: Place, tree: Tree) -> Result<(), ImportError> {
        (self.receive)(Item { file: self.file, kind: &self.kind, place, tree })
    }

    /// Records the value of a field of the document if the field is `kind`.
    pub fn read_field(&mut self, path: &[String], value: &Tree) {
        if let ([name], Tree::Text(kind)) = (path, value)
            && name == "kind"
        {
            self.kind = kind.to_string();
        }
    }

    /// Records an error of the receiver, and returns an error that stops the parser.
    pub fn stop<E: serde::de::Error>(&mut self, failure: ImportError) -> E {
        self.failure = Some(failure);
        E::custom("stopped")
    }

    /// Returns `true` if a path is the path of a long list, or a beginning of such a path.
    pub fn leads_to_list(&self, path: &[String]) -> bool {
        self.lists
            .iter()
            .any(|list| path.len() <= list.len() && path.iter().zip(*list).all(|(key, known)| key == known))
    }
}

/// Returns the first field name that occurs twice. Returns `None` if all names are different.
pub(super) fn repeated(fields: &[(Box<str>, Tree)]) -> Option<&str> {
    const FEW: usize = 16;
    if fields.len() <= FEW {
        let mut later = (1..fields.len()).filter(|&i| fields[..i].iter().any(|(key, _)| *key == fields[i].0));
        return later.next().map(|i| &*fields[i].0);
    }
    let mut seen = HashSet::with_capacity(fields.len());
    fields.iter().map(|(key, _)| &**key).find(|key| !seen.insert(*key))
}

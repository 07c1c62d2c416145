//! Rows of tables, plain or compressed. There are limits on the unpacked size, because a few kilobytes of compressed data
//! can unpack to any size.

use std::{
    cell::Cell,
    fs::File,
    io::{self, BufRead, BufReader, Read},
    path::Path,
    rc::Rc,
};

use csv::StringRecord;
use evenhand_budget::charge;
use evenhand_problem::printable;
use flate2::CrcReader;
use flate2::bufread::{DeflateDecoder, MultiGzDecoder};
use ruzstd::decoding::StreamingDecoder;

use super::ImportError;

/// The largest length of a line, in bytes. The longest line of the traces has fewer than 1,000 bytes.
pub const MAX_LINE_BYTES: u64 = 1 << 20;
/// The largest size of a file after unpacking, in bytes. A file of the Google trace has about 10^8 bytes.
pub const MAX_UNPACKED_BYTES: u64 = 1 << 30;
/// The largest number of unpacked bytes for each compressed byte, for files of more than [`FREE_BYTES`]
/// unpacked bytes. Tables compress to between a tenth and a fiftieth of their size. Repeated bytes compress
/// to a ten-thousandth.
pub const MAX_EXPANSION: u64 = 1_000;
/// The unpacked size up to which any compression ratio is accepted, in bytes.
pub const FREE_BYTES: u64 = 1 << 24;
/// Steps for a row, for its fields and numbers, in addition to one step for each byte.
const ROW: u64 = 50;

/// A table to import. It may be plain, gzip, zstd, or the only file of a zip archive. Its first bytes decide
/// its format.
pub struct Input {
    name: String,
    reader: Box<dyn Read>,
    /// The number of stored (perhaps compressed) bytes that have been read.
    packed: Rc<Cell<u64>>,
}

impl Input {
    /// Opens a file.
    ///
    /// # Errors
    /// Returns [`ImportError::Io`] if the file cannot be opened or its compression is damaged.
    pub fn open(path: &Path) -> Result<Self, ImportError> {
        let name = path.to_string_lossy().into_owned();
        match File::open(path) {
            Ok(file) => Self::new(name, file),
            Err(source) => Err(ImportError::Io { file: name, source }),
        }
    }

    /// Takes bytes from any reader. `name` is the name of the file in messages.
    ///
    /// # Errors
    /// Returns an error in the same cases as [`Input::open`].
    pub fn new(name: impl Into<String>, reader: impl Read + 'static) -> Result<Self, ImportError> {
        let name = name.into();
        let (reader, packed) = Counted::new(reader);
        match decompressed(BufReader::new(Box::new(reader))) {
            Ok(reader) => Ok(Self { name, reader, packed }),
            Err(source) => Err(ImportError::Io { file: name, source }),
        }
    }

    /// Returns the name, a reader of the unpacked bytes, and the number of stored bytes that have been read.
    #[must_use]
    pub fn parts(self) -> (String, Box<dyn Read>, Rc<Cell<u64>>) {
        (self.name, self.reader, self.packed)
    }

    /// Returns the rows. If there is no row, the error message says that `expected` was expected.
    pub(super) fn rows(self, expected: impl Into<String>) -> Records {
        Records {
            name: self.name,
            reader: BufReader::new(self.reader),
            packed: self.packed,
            unpacked: 0,
            line: 0,
            bytes: Vec::new(),
            record: StringRecord::new(),
            expected: Some(expected.into()),
        }
    }

    /// Returns the rows after a header with the columns `columns`. `kind` is the name of the kind of table in
    /// messages.
    pub(super) fn rows_of(self, kind: &str, columns: &[&str]) -> Result<Records, ImportError> {
        let expected = format!("{kind} `{}`", columns.join(","));
        let mut rows = self.rows(&expected);
        let header = rows.first()?;
        if header.is(columns) {
            return Ok(rows);
        }
        Err(header.error(format!("found another header: expected {expected}")))
    }
}

type Bytes = BufReader<Box<dyn Read>>;

fn decompressed(bytes: Bytes) -> io::Result<Box<dyn Read>> {
    // The first read may return fewer bytes than the magic number has, so it is read completely and put back.
    let mut bytes = bytes;
    let mut magic = Vec::with_capacity(4);
    bytes.by_ref().take(4).read_to_end(&mut magic)?;
    let whole: Box<dyn Read> = Box::new(io::Cursor::new(magic.clone()).chain(bytes));
    let bytes = BufReader::new(whole);
    match *magic {
        [0x1f, 0x8b, ..] => Ok(Box::new(MultiGzDecoder::new(bytes))),
        [0x28, 0xb5, 0x2f, 0xfd] => Ok(Box::new(Zstd { frame: Some(frame(bytes)?) })),
        [b'P', b'K', 3, 4] => Ok(Box::new(Zip::open(bytes)?)),
        _ => Ok(Box::new(bytes)),
    }
}

/// The only file of a zip archive, as servers write it (APPNOTE 6.3, sections 4.3.7 and 4.3.9).
struct Zip {
    file: CrcReader<DeflateDecoder<Bytes>>,
    /// The checksum of the header, or `None` if the checksum follows the file.
    checksum: Option<u32>,
    is_read: bool,
}

impl Zip {
    fn open(mut bytes: Bytes) -> io::Result<Self> {
        let mut header = [0; 30];
        bytes.read_exact(&mut header)?;
        let number = |at: usize| u16::from_le_bytes([header[at], header[at + 1]]);
        let (flags, method) = (number(6), number(8));
        if method != 8 || flags & 1 != 0 {
            return Err(io::Error::other(
                "the zip archive is encrypted or not compressed by deflate: unpack it first",
            ));
        }
        let names = u64::from(number(26)) + u64::from(number(28));
        if io::copy(&mut bytes.by_ref().take(names), &mut io::sink())? < names {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let checksum = (flags & 8 == 0).then(|| u32::from_le_bytes([14, 15, 16, 17].map(|at| header[at])));
        Ok(Self { file: CrcReader::new(DeflateDecoder::new(bytes)), checksum, is_read: false })
    }

    /// Compares the checksum, and checks that no other file follows.
    fn end(&mut self) -> io::Result<()> {
        let found = self.file.crc().sum();
        let rest = self.file.get_mut().get_mut();
        let mut word = || {
            let mut word = [0; 4];
            rest.read_exact(&mut word).map(|()| u32::from_le_bytes(word))
        };
        const DESCRIPTOR: u32 = 0x0807_4b50;
        const FILE: u32 = 0x0403_4b50;
        let mut next = word()?;
        let stated = match self.checksum {
            Some(checksum) => checksum,
            None if next == DESCRIPTOR => word()?,
            None => next,
        };
        if stated != found {
            return Err(io::Error::other("the zip archive is damaged: its checksum does not match its file"));
        }
        // After the checksum come two sizes of four or eight bytes each, and then the list of all files.
        for _ in 0..if self.checksum.is_none() { 5 } else { 0 } {
            if matches!(next, LIST | FILE) {
                break;
            }
            next = word()?;
        }
        match next {
            LIST => Ok(()),
            FILE => Err(io::Error::other("the zip archive has several files: expected one")),
            _ => Err(io::Error::other("the zip archive is damaged: the list of its files is missing")),
        }
    }
}

/// The signature at the beginning of the list of files of a zip archive.
const LIST: u32 = 0x0201_4b50;

impl Read for Zip {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.is_read {
            return Ok(0);
        }
        let read = self.file.read(buffer)?;
        if read == 0 && !buffer.is_empty() {
            self.is_read = true;
            self.end()?;
        }
        Ok(read)
    }
}

type Frame = StreamingDecoder<Bytes, ruzstd::decoding::FrameDecoder>;

/// All zstd frames of a file, one after another.
struct Zstd {
    frame: Option<Frame>,
}

fn frame(bytes: Bytes) -> io::Result<Frame> {
    StreamingDecoder::new(bytes).map_err(io::Error::other)
}

impl Read for Zstd {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while let Some(current) = &mut self.frame {
            let read = current.read(buffer)?;
            if read > 0 || buffer.is_empty() {
                return Ok(read);
            }
            if let Some(ended) = self.frame.take() {
                let mut rest = ended.into_inner();
                if !rest.fill_buf()?.is_empty() {
                    self.frame = Some(frame(rest)?);
                }
            }
        }
        Ok(0)
    }
}

/// A reader that counts the stored bytes that are read.
struct Counted<R> {
    inner: R,
    read: Rc<Cell<u64>>,
}

impl<R> Counted<R> {
    fn new(inner: R) -> (Self, Rc<Cell<u64>>) {
        let read = Rc::new(Cell::new(0));
        (Self { inner, read: Rc::clone(&read) }, read)
    }
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.read.set(self.read.get() + read as u64);
        evenhand_budget::read(read as u64);
        Ok(read)
    }
}

/// Returns a description of the limit that `unpacked` bytes from `packed` stored bytes exceed, or `None` if
/// they exceed no limit.
#[must_use]
pub fn broken_limit(packed: u64, unpacked: u64) -> Option<String> {
    if unpacked > MAX_UNPACKED_BYTES {
        return Some(format!("more than {MAX_UNPACKED_BYTES} bytes, the most that a file may unpack to"));
    }
    let is_bomb = unpacked > FREE_BYTES && unpacked / MAX_EXPANSION > packed;
    is_bomb.then(|| {
        format!("it unpacks to more than {MAX_EXPANSION} times its {packed} bytes, the most that is accepted")
    })
}

/// The rows of a table. Each line is one row.
///
/// This type counts lines itself, because the csv crate miscounts blank lines and `\r\n`.
pub(super) struct Records {
    name: String,
    reader: Bytes,
    packed: Rc<Cell<u64>>,
    unpacked: u64,
    line: u64,
    bytes: Vec<u8>,
    record: StringRecord,
    /// A description of the expected first row, or `None` once the first row has been read.
    expected: Option<String>,
}

/// A row, with its file and line for messages.
#[derive(Clone, Copy)]
pub(super) struct Record<'a> {
    file: &'a str,
    line: u64,
    record: &'a StringRecord,
}

impl Records {
    pub(super) fn next(&mut self) -> Result<Option<Record<'_>>, ImportError> {
        loop {
            self.bytes.clear();
            let read = (&mut self.reader).take(MAX_LINE_BYTES + 1).read_until(b'\n', &mut self.bytes);
            // A truncated compressed file fails in the middle of a row, so the error names the row.
            let at = || format!("{}:{}", self.name, self.line + 1);
            let read = read.map_err(|source| ImportError::Io { file: at(), source })? as u64;
            if read == 0 {
                let Some(expected) = self.expected.take() else { return Ok(None) };
                return Err(self.error_at(1, format!("the file is empty: expected {expected}")));
            }
            self.line += 1;
            self.unpacked += read;
            charge(ROW + read, "the processing of the rows of the table");
            if read > MAX_LINE_BYTES {
                let limit = format!("more than {MAX_LINE_BYTES} bytes, the most that a line may have");
                return Err(self.too_large(limit));
            }
            if let Some(limit) = broken_limit(self.packed.get(), self.unpacked) {
                return Err(self.too_large(limit));
            }
            if !self.bytes.trim_ascii_end().is_empty() {
                break;
            }
        }
        self.expected = None;
        match std::str::from_utf8(&self.bytes) {
            Ok(line) => split(line.trim_end_matches(['\n', '\r']), &mut self.record),
            Err(_) => return Err(self.error_at(self.line, "this line is not UTF-8 text".to_owned())),
        }
        Ok(Some(Record { file: &self.name, line: self.line, record: &self.record }))
    }

    /// Returns the first row, which must exist.
    pub(super) fn first(&mut self) -> Result<Record<'_>, ImportError> {
        let empty = self.error_at(1, "the file is empty".to_owned());
        self.next()?.ok_or(empty)
    }

    fn too_large(&self, limit: String) -> ImportError {
        ImportError::TooLarge { file: self.name.clone(), line: self.line, limit }
    }

    pub(super) fn error_at(&self, line: u64, message: String) -> ImportError {
        ImportError::Record { file: self.name.clone(), line, message }
    }
}

/// Splits a line of a CSV file into its fields.
pub fn split(line: &str, record: &mut StringRecord) {
    record.clear();
    if line.contains('"') {
        let mut quoted = csv::ReaderBuilder::new().has_headers(false).from_reader(line.as_bytes());
        // Reading from memory cannot fail, and a line is one record.
        let _ = quoted.read_record(record);
    } else {
        line.split(',').for_each(|field| record.push_field(field));
    }
}

impl<'a> Record<'a> {
    /// Returns a column by its position, counted from 0. The result is empty if the row is shorter.
    pub(super) fn field(&self, column: usize) -> &'a str {
        self.record.get(column).unwrap_or_default()
    }

    /// Returns whether the row consists of the fields `fields`.
    pub(super) fn is(&self, fields: &[&str]) -> bool {
        self.record.iter().eq(fields.iter().copied())
    }

    pub(super) fn line(&self) -> u64 {
        self.line
    }

    pub(super) fn len(&self) -> usize {
        self.record.len()
    }

    pub(super) fn error(&self, message: impl Into<String>) -> ImportError {
        ImportError::Record { file: self.file.to_owned(), line: self.line, message: message.into() }
    }

    pub(super) fn column_error(&self, column: usize, name: &str, expected: &str) -> ImportError {
        let found: String = self.field(column).chars().take(40).collect();
        self.error(format!("{name}: found `{}`: expected {expected}", printable(&found)))
    }

    pub(super) fn expect_columns(&self, columns: usize) -> Result<(), ImportError> {
        if self.len() == columns {
            return Ok(());
        }
        Err(self.error(format!("found {} columns: expected {columns}", self.len())))
    }

    /// Reads a whole number of at least 0.
    pub(super) fn whole(&self, column: usize, name: &str) -> Result<u64, ImportError> {
        let text = self.field(column);
        let number = if text.bytes().all(|byte| byte.is_ascii_digit()) { text.parse().ok() } else { None };
        number.ok_or_else(|| self.column_error(column, name, "a whole number"))
    }

    /// Reads a time, which must not be before `last`, the time of the row above.
    pub(super) fn time(&self, column: usize, name: &str, last: &mut u64) -> Result<u64, ImportError> {
        let now = self.whole(column, name)?;
        if now < *last {
            return Err(self.error(format!("time goes back from {last} to {now}")));
        }
        *last = now;
        Ok(now)
    }
}

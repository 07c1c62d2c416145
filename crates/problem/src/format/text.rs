//! Files as text: reading, lines and columns.

use std::{
    fs,
    io::{self, Read},
    path::Path,
};

use serde_json::value::RawValue;

use super::{FormatError, MAX_FILE_BYTES, ReadError, Source};
use crate::place::Place;
use crate::printable;

/// Reads a file, or standard input when the path is `-`.
///
/// # Errors
/// Returns a [`ReadError`] if the file cannot be read, has more than [`MAX_FILE_BYTES`], or is not UTF-8. In
/// the last case the error names line and column.
pub fn read_text(path: &Path) -> Result<String, ReadError> {
    let file = path.to_string_lossy();
    let bytes = if path.as_os_str() == "-" {
        read_bounded(io::stdin().lock(), 0)
    } else {
        fs::File::open(path).and_then(read_file)
    };
    let bytes = bytes.map_err(|source| ReadError::Io { file: file.clone().into_owned(), source })?;
    let Some(bytes) = bytes else {
        return Err(ReadError::TooLarge { file: file.into_owned(), limit: MAX_FILE_BYTES });
    };
    evenhand_budget::read(bytes.len() as u64);
    String::from_utf8(bytes).map_err(|error| {
        let valid_up_to = error.utf8_error().valid_up_to();
        let bytes = error.as_bytes();
        let text = String::from_utf8_lossy(&bytes[..valid_up_to]);
        let source = Source { name: &file, text: &text };
        let byte = bytes.get(valid_up_to).copied().unwrap_or_default();
        let compressed = bytes.starts_with(&[0x1f, 0x8b]) || bytes.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]);
        let hint = if compressed { " (the file is compressed: decompress it first)" } else { "" };
        let message = format!("found the byte 0x{byte:02x}, which is not UTF-8: expected UTF-8 text{hint}");
        let mut error = source.error_on(valid_up_to, 0, Place::root(), message);
        error.length = 1;
        error.into()
    })
}

/// Reads a file like [`read_bounded`], but returns `None` without reading if its stated length exceeds the
/// limit.
fn read_file(file: fs::File) -> io::Result<Option<Vec<u8>>> {
    let length = file.metadata().ok().filter(fs::Metadata::is_file).map_or(0, |of_file| of_file.len());
    if length > MAX_FILE_BYTES {
        return Ok(None);
    }
    // The additional byte lets a single read reach the end of the file.
    read_bounded(file, usize::try_from(length).unwrap_or(0) + 1)
}

/// Reads everything up to [`MAX_FILE_BYTES`]. Returns `None` if the input is longer. `room` is the number of
/// bytes to reserve first.
fn read_bounded(reader: impl Read, room: usize) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::with_capacity(room);
    let mut reader = reader.take(MAX_FILE_BYTES / 4);
    reader.read_to_end(&mut bytes)?;
    if reader.limit() == 0 {
        let left = MAX_FILE_BYTES + 1 - bytes.len() as u64;
        if room <= bytes.len() {
            // The input is longer than expected. Growing the buffer step by step would store the bytes in
            // memory twice. If this reservation fails, the buffer still grows step by step.
            let _ = bytes.try_reserve_exact(usize::try_from(left).unwrap_or(0));
        }
        reader.set_limit(left);
        reader.read_to_end(&mut bytes)?;
    }
    Ok((bytes.len() as u64 <= MAX_FILE_BYTES).then_some(bytes))
}

impl<'a> Source<'a> {
    /// Returns an error about a value of this text. The value is at `at` in the document.
    #[must_use]
    pub fn error_at(&self, raw: &RawValue, at: &Place, message: impl Into<String>) -> FormatError {
        let (offset, length) = self.span(raw.get());
        self.error_on(offset, length, at.clone(), message.into())
    }

    /// Returns byte offset and length of a slice of the text. Returns `(0, 0)` for a string that is not a slice of the
    /// text.
    pub(super) fn span(&self, part: &str) -> (usize, usize) {
        let offset = (part.as_ptr() as usize).checked_sub(self.text.as_ptr() as usize);
        match offset {
            Some(offset) if offset + part.len() <= self.text.len() => (offset, part.len()),
            _ => (0, 0),
        }
    }

    pub(super) fn error_on(
        &self,
        offset: usize,
        length: usize,
        place: Place,
        message: impl AsRef<str>,
    ) -> FormatError {
        let (line, column) = self.line_column(offset);
        let message = on_one_line(message.as_ref());
        let file = self.name.to_owned();
        FormatError { file, line, column, offset, length, place, message, is_too_large: false }
    }

    fn line_column(&self, offset: usize) -> (usize, usize) {
        let before = self.text.get(..offset).unwrap_or(self.text);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let line = before.bytes().filter(|&byte| byte == b'\n').count() + 1;
        (line, before[line_start..].chars().count() + 1)
    }

    /// Returns the byte offset of a position that `serde_json` reports. The columns that it reports count
    /// bytes.
    pub(super) fn offset_of(&self, line: usize, column: usize) -> usize {
        let line_start = match line {
            0 | 1 => 0,
            _ => self.text.match_indices('\n').nth(line - 2).map_or(self.text.len(), |(i, _)| i + 1),
        };
        let mut offset = (line_start + column.saturating_sub(1)).min(self.text.len());
        while !self.text.is_char_boundary(offset) {
            offset -= 1;
        }
        offset
    }
}

/// Returns the message on one line, cut if it is too long. A message may quote names with line breaks.
fn on_one_line(message: &str) -> String {
    const LONGEST: usize = 600;
    match message.char_indices().nth(LONGEST) {
        None => printable(message),
        Some((end, _)) => printable(&message[..end]) + "...",
    }
}

/// Returns the offset at which the nesting of lists and objects first exceeds the limit, or `None` if it
/// never does.
pub(super) fn too_deep(text: &str, limit: usize) -> Option<usize> {
    let (mut depth, mut in_string, mut escaped) = (0usize, false, false);
    for (offset, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b'[' | b'{' => {
                depth += 1;
                if depth > limit {
                    return Some(offset);
                }
            }
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    None
}

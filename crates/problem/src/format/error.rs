//! Errors in a file: what is wrong, and where.

use std::{fmt, io};

use thiserror::Error;

use crate::place::Place;

/// A fault in the text of a file.
///
/// It prints as one line, `FILE:LINE:COLUMN: PLACE: message`. The place is left out when the error is about the
/// whole document.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub struct FormatError {
    /// Name of the file. The name `-` means standard input.
    pub file: String,
    /// Line of the offending text, from 1.
    pub line: usize,
    /// Column of the offending text, from 1, in characters.
    pub column: usize,
    /// Byte offset of the offending text in the file.
    pub offset: usize,
    /// Length of the offending text in bytes. It is 0 at the end of the file.
    pub length: usize,
    /// Place of the offending value in the document.
    pub place: Place,
    /// The text that was found and what was expected instead.
    pub message: String,
    /// `true` if the text is valid but asks for more work or memory than the reader's budget allows. The message then
    /// names the budget.
    pub is_too_large: bool,
}

impl fmt::Display for FormatError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}: ", self.file, self.line, self.column)?;
        if !self.place.steps().is_empty() {
            write!(f, "{}: ", self.place)?;
        }
        f.write_str(&self.message)
    }
}

/// The reason why a file cannot be read as text.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The file cannot be opened or read.
    #[error("{file}: {source}")]
    Io {
        /// Name of the file.
        file: String,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The file is longer than a reader accepts.
    #[error("{file}: too large: more than {limit} bytes, the most that a file may have")]
    TooLarge {
        /// Name of the file.
        file: String,
        /// The largest allowed number of bytes, [`MAX_FILE_BYTES`](super::MAX_FILE_BYTES).
        limit: u64,
    },
    /// The file is not UTF-8 text.
    #[error(transparent)]
    Format(#[from] FormatError),
}

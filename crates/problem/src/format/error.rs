//! What is wrong with a file, and where.

use std::{fmt, io};

use thiserror::Error;

use crate::place::Place;

/// A fault in the text of a file.
///
/// It prints as one line, `FILE:LINE:COLUMN: PLACE: message`, without the place when it is the
/// whole document.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub struct FormatError {
    /// Name of the file; `-` is standard input.
    pub file: String,
    /// Line of the offending text, from 1.
    pub line: usize,
    /// Column of the offending text, from 1, in characters.
    pub column: usize,
    /// Where the offending text begins, in bytes from the start of the file.
    pub offset: usize,
    /// Length of the offending text in bytes; 0 at the end of the file.
    pub length: usize,
    /// Where in the document.
    pub place: Place,
    /// What was found and what was expected.
    pub message: String,
    /// Whether the text breaks no rule of its format but asks for more work or memory than the
    /// reader's budget, which the message names.
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

/// Why a file cannot be read as text.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The file cannot be opened or read.
    #[error("{file}: {source}")]
    Io {
        /// Name of the file.
        file: String,
        /// What the system said.
        source: io::Error,
    },
    /// The file is longer than a reader takes.
    #[error("{file}: too large: more than {limit} bytes, the most that a file may have")]
    TooLarge {
        /// Name of the file.
        file: String,
        /// [`MAX_FILE_BYTES`](super::MAX_FILE_BYTES).
        limit: u64,
    },
    /// The file is not UTF-8 text.
    #[error(transparent)]
    Format(#[from] FormatError),
}

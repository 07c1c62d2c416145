//! Reads a linear programme from a file in one of three formats: JSON, MPS (fixed or free) and LP.

use evenhand_problem::format::{FormatError, Source};
use thiserror::Error;

use crate::model::Model;
use crate::mps::FormatError as LineError;
use crate::{json, lp_format, mps};

/// The reason why a text is not a linear programme. The message contains the name of the file and the position in it.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ReadError {
    /// A JSON document does not follow the format.
    #[error(transparent)]
    Json(#[from] FormatError),
    /// A line of an MPS or LP file does not follow the format.
    #[error("{file}:{line}: {message}")]
    Line {
        /// Name of the file.
        file: String,
        /// The line, from 1.
        line: u64,
        /// What is wrong, and what was expected.
        message: String,
    },
}

/// Reads a programme. A text that begins with `{` is JSON. A text that begins with a comment of the LP format, or with
/// a keyword for minimising or maximising, is an LP file. Any other text is an MPS file.
///
/// # Errors
/// [`ReadError`] with the place of the error and what was expected there.
///
/// # Examples
/// ```
/// use evenhand_lp::read::read;
///
/// let model = read("small.lp", "maximize\n 3 x + 2 y\nsubject to\n sum: x + y <= 4\nend")?;
/// assert_eq!((model.rows.len(), model.columns.len()), (1, 2));
/// # Ok::<(), evenhand_lp::read::ReadError>(())
/// ```
pub fn read(file: &str, text: &str) -> Result<Model, ReadError> {
    let start = text.trim_start();
    if start.starts_with('{') {
        return Ok(json::read(Source { name: file, text })?);
    }
    let word =
        start.split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or_default().to_ascii_lowercase();
    let is_lp = start.starts_with('\\') || word.starts_with("min") || word.starts_with("max");
    let model = if is_lp { lp_format::read(text) } else { mps::read(text.as_bytes()) };
    model.map_err(|error| {
        let (line, message) = match error {
            LineError::Line { line, message } => (line, message),
            LineError::Io(error) => (0, error.to_string()),
        };
        ReadError::Line { file: file.to_owned(), line, message }
    })
}

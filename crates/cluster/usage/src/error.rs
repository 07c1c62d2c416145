//! Errors of histories and of settings.

use evenhand_import::ImportError;
use thiserror::Error;

/// The reason why a history or a setting cannot be used.
#[derive(Debug, Error)]
pub enum UsageError {
    /// A file cannot be read or unpacked, or is too large.
    #[error(transparent)]
    Import(#[from] ImportError),
    /// A row of a history does not follow the format.
    #[error("{file}:{line}: {message}")]
    Row {
        /// The name of the file.
        file: String,
        /// The line in the unpacked file. The first line is 1.
        line: u64,
        /// The text that was found, and the text that was expected.
        message: String,
    },
    /// A time or a duration cannot be read.
    #[error("{0}")]
    Time(String),
    /// A setting is missing, or does not fit the law or the history.
    #[error("{0}")]
    Setting(String),
}

//! Why an entry cannot be made.

use std::fmt;

/// Whatever kept an entry from being made: no caller tells its kinds apart, so there are none.
///
/// Every error becomes one with `?`; it is no [`Error`](std::error::Error) itself, as that would make the
/// conversion ambiguous.
#[derive(Debug)]
pub struct PaperError(Box<dyn std::error::Error + Send + Sync>);

impl<E: Into<Box<dyn std::error::Error + Send + Sync>>> From<E> for PaperError {
    fn from(error: E) -> Self {
        Self(error.into())
    }
}

impl fmt::Display for PaperError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

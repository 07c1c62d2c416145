//! The error of entries that cannot be made.

use std::fmt;

/// Any error that prevented an entry. No caller distinguishes kinds of errors, so there are none.
///
/// Every error converts to this type with `?`. It does not implement [`Error`](std::error::Error) itself, since the
/// conversion would then be ambiguous.
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

//! The error of an entry that cannot be computed.

use std::fmt;

/// Any error because of which an entry cannot be computed. The type has no variants, because no caller
/// distinguishes errors.
///
/// Every error converts to this type with `?`. The type does not implement [`Error`](std::error::Error)
/// itself, because the conversion would then be ambiguous.
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

//! A table or figure of a paper.

use crate::data::{Data, Missing};
use crate::entry::{Entry, is_part};
use crate::error::PaperError;

/// A function that draws a figure as an SVG document.
type Draw = fn() -> Result<String, PaperError>;

/// A table or figure of a paper.
#[derive(Debug, Clone, Copy)]
pub struct Exhibit {
    /// The name, such as `drfh.figure-2`.
    pub id: &'static str,
    /// A title that describes the content of the table or figure.
    pub title: &'static str,
    /// The prefixes of the ids of the entries in the table or figure.
    values: &'static [&'static str],
    draw: Option<Draw>,
    /// The external data that the values and the picture need, if any.
    data: Option<Data>,
}

impl Exhibit {
    pub(super) const fn new(id: &'static str, title: &'static str, values: &'static [&'static str]) -> Self {
        Self { id, title, values, draw: None, data: None }
    }

    pub(super) const fn drawn(self, draw: Draw) -> Self {
        Self { draw: Some(draw), ..self }
    }

    pub(super) const fn of(self, data: Data) -> Self {
        Self { data: Some(data), ..self }
    }

    /// Returns the missing data if the exhibit cannot be reproduced here.
    #[must_use]
    pub fn missing(&self) -> Option<Missing> {
        self.data.and_then(|data| data.folder().err())
    }

    /// Returns `true` if the entry belongs to the table or figure.
    #[must_use]
    pub fn holds(&self, entry: &Entry) -> bool {
        self.values.iter().any(|value| is_part(&entry.id, value))
    }

    /// Returns the prefixes of the ids of the entries in the table or figure.
    #[must_use]
    pub const fn values(&self) -> &'static [&'static str] {
        self.values
    }

    /// Returns `true` if the table or figure has computed values.
    #[must_use]
    pub const fn has_values(&self) -> bool {
        !self.values.is_empty()
    }

    /// Returns `true` if the table or figure has a picture.
    #[must_use]
    pub const fn is_drawn(&self) -> bool {
        self.draw.is_some()
    }

    /// Returns the picture as SVG. Returns `None` if the exhibit has no picture, or if its data is missing.
    ///
    /// # Errors
    /// A solver or the drawing library failed.
    pub fn picture(&self) -> Result<Option<String>, PaperError> {
        let draw = self.draw.filter(|_| self.missing().is_none());
        draw.map(|draw| draw()).transpose()
    }
}

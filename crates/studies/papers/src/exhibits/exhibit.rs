//! A table or figure of a paper.

use crate::data::{Data, Missing};
use crate::entry::{Entry, is_part};
use crate::error::PaperError;

/// How a figure is drawn: an SVG document.
type Draw = fn() -> Result<String, PaperError>;

/// A table or figure of a paper.
#[derive(Debug, Clone, Copy)]
pub struct Exhibit {
    /// Its name, such as `drfh.figure-2`.
    pub id: &'static str,
    /// What it shows.
    pub title: &'static str,
    /// With what the ids of its entries begin.
    values: &'static [&'static str],
    draw: Option<Draw>,
    /// What its values and its picture are made of.
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

    /// Why it cannot be reproduced here, if so.
    #[must_use]
    pub fn missing(&self) -> Option<Missing> {
        self.data.and_then(|data| data.folder().err())
    }

    /// Whether the value is one of the table or figure.
    #[must_use]
    pub fn holds(&self, entry: &Entry) -> bool {
        self.values.iter().any(|value| is_part(&entry.id, value))
    }

    /// With what the ids of its values begin.
    #[must_use]
    pub const fn values(&self) -> &'static [&'static str] {
        self.values
    }

    /// Whether it has values beside those of the paper.
    #[must_use]
    pub const fn has_values(&self) -> bool {
        !self.values.is_empty()
    }

    /// Whether it is drawn.
    #[must_use]
    pub const fn is_drawn(&self) -> bool {
        self.draw.is_some()
    }

    /// The picture as SVG; none where there is none, or the data is not here that it shows.
    ///
    /// # Errors
    /// A solver failed, or the drawing library.
    pub fn picture(&self) -> Result<Option<String>, PaperError> {
        let draw = self.draw.filter(|_| self.missing().is_none());
        draw.map(|draw| draw()).transpose()
    }
}

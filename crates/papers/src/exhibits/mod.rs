//! The tables and figures of the papers: which values belong to each, and how it is drawn.

mod drfh;
mod njc;
mod ps_dsf;
mod reservation;
mod system;

use crate::{Data, Entry, Missing, PaperError};

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
    const fn new(id: &'static str, title: &'static str, values: &'static [&'static str]) -> Self {
        Self { id, title, values, draw: None, data: None }
    }

    const fn drawn(self, draw: Draw) -> Self {
        Self { draw: Some(draw), ..self }
    }

    const fn of(self, data: Data) -> Self {
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
        self.values.iter().any(|value| crate::is_part(&entry.id, value))
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

/// All tables and figures of the five papers, in their order, and the theorems.
#[must_use]
pub fn exhibits() -> Vec<Exhibit> {
    let all = [drfh::EXHIBITS, ps_dsf::EXHIBITS, njc::EXHIBITS, KESIDIS, reservation::EXHIBITS, THEOREMS];
    all.concat()
}

/// The theorems beyond the papers, with what tries to refute them.
const THEOREMS: &[Exhibit] = &[
    Exhibit::new("theorems.a", "Every problem has a PS-DSF allocation", &["theorems.a"]),
    Exhibit::new(
        "theorems.b",
        "Time-shared PS-DSF is strategy-proof in bundles",
        &[
            "theorems.b",
            "ps-dsf.table-1.ps-dsf-tdm.strategy-proof",
            "ps-dsf.table-1.ps-dsf.strategy-proof.instance",
        ],
    ),
    Exhibit::new("theorems.c", "What greedy packing earns at least", &["theorems.c"]),
];

const KESIDIS: &[Exhibit] = &[
    Exhibit::new(
        "kesidis.table-2",
        "Tasks by user and server under progressive filling",
        &["kesidis.table-2", "simulation.kesidis.table-2"],
    ),
    Exhibit::new("kesidis.table-3", "Deviations of the tasks over 200 trials", &["kesidis.table-3"]),
    Exhibit::new("kesidis.table-4", "Unused capacities under progressive filling", &["kesidis.table-4"]),
    Exhibit::new(
        "kesidis.table-5",
        "Deviations of the unused capacities over 200 trials",
        &["kesidis.table-5"],
    ),
];

//! Compares the Kesidis paper with exact results: the definition of max-min fairness, and the example (19),
//! (20) under proportional fairness and progressive filling.

mod batches;
pub(super) mod example;
mod max_min;
mod proportional;
mod steps;
mod tables;

use crate::entry::Entry;
use crate::error::PaperError;

pub(super) fn entries() -> Result<Vec<Entry>, PaperError> {
    let mut entries = max_min::entries()?;
    entries.extend(proportional::entries()?);
    entries.extend(steps::entries()?);
    entries.extend(tables::entries()?);
    Ok(entries)
}

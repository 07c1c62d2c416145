//! Experiments that try to refute the theorems of docs/theory.md, and the instances where they are sharp.

mod bundles;
mod existence;
mod greedy;

use crate::{Entry, PaperError};

pub(super) fn entries() -> Result<Vec<Entry>, PaperError> {
    let mut entries = existence::entries()?;
    entries.extend(bundles::entries()?);
    entries.extend(greedy::entries()?);
    Ok(entries)
}

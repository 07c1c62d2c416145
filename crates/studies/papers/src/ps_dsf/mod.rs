//! PS-DSF: figures, tables, and the properties claimed in its Table I.

use crate::entry::Entry;
use crate::error::PaperError;

pub(super) mod figures;
mod lies;
mod properties;
pub(super) mod random;
pub(super) mod tables;

pub(super) use tables::figure_5;

pub(super) fn entries() -> Result<Vec<Entry>, PaperError> {
    let mut entries = figures::entries()?;
    entries.extend(tables::entries()?);
    entries.extend(properties::entries()?);
    entries.extend(lies::entries()?);
    Ok(entries)
}

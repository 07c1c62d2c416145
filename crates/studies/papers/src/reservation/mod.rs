//! The Reservation paper: greedy and optimal packing of job types into identical servers.

mod appendix_c;
pub(super) mod cases;
mod catalogue;
mod guarantees;
mod introduction;
pub(super) mod section_7;

use crate::entry::Entry;
use crate::error::PaperError;

pub(super) fn entries() -> Result<Vec<Entry>, PaperError> {
    let mut entries = introduction::entries()?;
    entries.extend(appendix_c::entries()?);
    entries.extend(section_7::entries()?);
    entries.extend(guarantees::entries()?);
    entries.extend(catalogue::entries()?);
    Ok(entries)
}

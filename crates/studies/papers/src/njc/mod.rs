//! Compares the examples and claims of the NJC paper with exact results.
//!
//! The exact crate judges every allocation. Sets of answers are enumerated, so that uniqueness is a computed
//! result and not an assumption.

use crate::entry::Entry;
use crate::error::PaperError;

mod batch;
mod choice;
mod definition;
pub(super) mod drf;
pub(super) mod optimum;
mod promises;
mod reduction;
pub(super) mod setting;
mod surd;
mod trajectory;
pub(super) mod two_users;

pub(super) fn entries() -> Result<Vec<Entry>, PaperError> {
    let parts = [
        definition::entries,
        drf::entries,
        promises::entries,
        reduction::entries,
        two_users::entries,
        trajectory::entries,
        choice::entries,
        batch::entries,
    ];
    let mut entries = Vec::new();
    for part in parts {
        entries.extend(part()?);
    }
    Ok(entries)
}

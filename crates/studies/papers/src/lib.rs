//! Compares tables, figures and examples of the papers with the results of the engine.
//!
//! An entry has the published value as printed, and the computed value. It says whether the two values agree
//! to the printed digits. If they differ, the note gives the reason.
#![forbid(unsafe_code)]

mod album;
mod data;
mod drfh;
mod entry;
mod error;
mod exhibits;
mod instance;
mod kesidis;
mod njc;
mod ps_dsf;
mod render;
mod reservation;
mod simulation;
mod snapshots;
mod theorems;

pub use album::{AlbumFile, album, unchecked_exhibits};
pub use data::{Data, Missing};
pub use entry::{Entry, is_part};
pub use error::PaperError;
pub use exhibits::{Exhibit, exhibits};
pub use render::{document, document_of_exhibits, list_of_exhibits, table, words};

use std::sync::atomic::{AtomicUsize, Ordering};

use evenhand_budget::handle;
use rayon::prelude::*;

/// Entries that are computed together.
struct Part {
    /// The prefixes of the ids of the entries: a section, or parts of a section.
    starts: &'static [&'static str],
    make: fn() -> Result<Vec<Entry>, PaperError>,
}

static PARTS: [Part; 13] = [
    Part { starts: &["drfh"], make: drfh::entries },
    Part { starts: &["ps-dsf"], make: ps_dsf::entries },
    Part { starts: &["njc"], make: njc::entries },
    Part { starts: &["kesidis"], make: kesidis::entries },
    Part { starts: &["reservation"], make: reservation::entries },
    Part { starts: &["snapshots"], make: snapshots::entries },
    Part { starts: &["simulation.drfh.figure-4"], make: simulation::dynamic::entries },
    Part { starts: simulation::google::STARTS, make: simulation::google::entries },
    Part { starts: &["simulation.ps-dsf"], make: simulation::distributed::entries },
    Part { starts: simulation::admission::STARTS, make: simulation::admission::entries },
    Part { starts: simulation::priorities::STARTS, make: simulation::priorities::entries },
    Part { starts: &["simulation.kesidis"], make: simulation::confidence::entries },
    Part { starts: &["theorems"], make: theorems::entries },
];

/// Returns the names of the sections that can be requested.
#[must_use]
pub fn sections() -> Vec<&'static str> {
    let mut sections: Vec<&str> = starts().filter_map(|start| start.split('.').next()).collect();
    sections.dedup();
    sections
}

/// Returns the prefixes of the ids of entries.
pub fn starts() -> impl Iterator<Item = &'static str> {
    PARTS.iter().flat_map(|part| part.starts.iter().copied())
}

/// Returns the entries of the sections or parts with these ids, and all entries that are computed together
/// with them. If there are no ids, all entries are returned.
///
/// # Errors
/// A solver failed.
pub fn entries(ids: &[&str]) -> Result<Vec<Entry>, PaperError> {
    entries_with(ids, &|_, _| ())
}

/// Computes [`entries`], and reports the progress. `progress` is called from any thread with the number of
/// finished parts and the number of all parts.
///
/// # Errors
/// The errors of [`entries`].
pub fn entries_with(
    ids: &[&str],
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Result<Vec<Entry>, PaperError> {
    let is_asked_for =
        |start: &&str| ids.is_empty() || ids.iter().any(|id| is_part(id, start) || is_part(start, id));
    let parts: Vec<&Part> = PARTS.iter().filter(|part| part.starts.iter().any(is_asked_for)).collect();
    let budget = handle();
    let done = AtomicUsize::new(0);
    progress(0, parts.len());
    let make = |part: &&Part| {
        let made = budget.enter(part.make);
        progress(done.fetch_add(1, Ordering::Relaxed) + 1, parts.len());
        made
    };
    let made: Vec<_> = parts.par_iter().map(make).collect();
    Ok(made.into_iter().collect::<Result<Vec<_>, _>>()?.concat())
}

//! Tables, figures and examples of the papers beside what the engine gets.
//!
//! An entry holds the published value as it is printed and ours, and says whether they agree to the
//! printed digits. Where they do not, the note says why.
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

/// Entries that are made together.
struct Part {
    /// With what their ids begin: a section, or parts of one.
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

/// The names that can be asked for.
#[must_use]
pub fn sections() -> Vec<&'static str> {
    let mut sections: Vec<&str> = starts().filter_map(|start| start.split('.').next()).collect();
    sections.dedup();
    sections
}

/// With what the ids of entries begin.
pub fn starts() -> impl Iterator<Item = &'static str> {
    PARTS.iter().flat_map(|part| part.starts.iter().copied())
}

/// The entries among which those are that the ids name: sections, or parts of them; all where there is no id. No more is
/// computed than is made together with them.
///
/// # Errors
/// A solver failed.
pub fn entries(ids: &[&str]) -> Result<Vec<Entry>, PaperError> {
    entries_with(ids, &|_, _| ())
}

/// As [`entries`]. `progress` is told how many of how many parts are done, from any thread.
///
/// # Errors
/// As [`entries`].
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

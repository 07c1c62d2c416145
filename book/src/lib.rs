//! Makes the pages of the book: those of docs/ with their formulas rendered, and a page for every mechanism, axiom and
//! paper from what the library knows of them, so that they cannot be stale.
#![forbid(unsafe_code)]

mod audits;
mod axioms;
mod generated;
mod links;
mod markdown;
mod mechanisms;
mod papers;
mod stage;

pub use audits::Audits;
pub use axioms::axioms;
pub use generated::{Generated, Picture};
pub use links::dead_links;
pub use mechanisms::mechanisms;
pub use papers::papers;
pub use stage::{Chapters, stage};

/// Why there is no book, with its place.
pub type Fault = Box<dyn std::error::Error + Send + Sync>;

//! Makes the pages of the book: the pages of docs/ with rendered formulas, and a page for every mechanism, axiom and paper.
//! The latter pages are generated from the library, so they cannot be out of date.
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

/// The reason why the book could not be made, with the place of the fault.
pub type Fault = Box<dyn std::error::Error + Send + Sync>;

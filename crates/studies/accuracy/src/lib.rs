//! Measurements: the answers of solvers compared with exact answers ([`accuracy`]), and the running times of the
//! mechanisms ([`speed`]).
//!
//! Problems are made from a seed and are the same on every machine. Running times differ between machines.
//! All answers are judged in rational arithmetic.
#![forbid(unsafe_code)]

pub mod accuracy;
pub mod case;
pub mod configurations;
pub mod contenders;
pub mod document;
mod inside;
pub mod judge;
pub mod keeper;
mod memory;
pub mod outside;
pub mod page;
pub mod pictures;
pub mod profile;
pub mod programmes;
pub mod record;
pub mod references;
pub mod speed;
pub mod suite;
pub mod text;
mod timing;
pub mod utility;
pub mod worker;

use thiserror::Error;

pub use timing::Effort;

/// An error that prevents a measurement.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum BenchError {
    /// The numbers of an instance do not form a valid problem.
    #[error("instance `{instance}`: {what}")]
    Instance {
        /// The name of the instance.
        instance: String,
        /// The reason why the problem is not valid.
        what: String,
    },
    /// The reference cannot be computed.
    #[error("instance `{instance}`: no reference: {source}")]
    Reference {
        /// The name of the instance.
        instance: String,
        /// The underlying error.
        source: Box<references::ReferenceError>,
    },
    /// The problem or its reference is not the one whose hash is committed.
    #[error("instance `{0}`: the hash of the problem or of the reference differs from the committed hash")]
    Hash(String),
    /// A picture could not be drawn.
    #[error(transparent)]
    Plot(#[from] evenhand_report::plot::PlotError),
}

//! Measurements: solvers against exact answers ([`accuracy`]), and how long the mechanisms take ([`speed`]).
//!
//! Problems are made from a seed, the same on every machine; times are not. Whatever a solver returns is judged in rational
//! arithmetic.
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

/// Why there is no measurement.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum BenchError {
    /// The numbers of an instance are not those of a problem.
    #[error("instance `{instance}`: {what}")]
    Instance {
        /// Name of the instance.
        instance: String,
        /// What is wrong.
        what: String,
    },
    /// There is no reference.
    #[error("instance `{instance}`: no reference: {source}")]
    Reference {
        /// Name of the instance.
        instance: String,
        /// What stood in the way.
        source: Box<references::ReferenceError>,
    },
    /// The reference is not the one that is committed.
    #[error("instance `{0}`: problem or reference is not the one whose hash is committed")]
    Hash(String),
    /// A picture could not be drawn.
    #[error(transparent)]
    Plot(#[from] evenhand_report::plot::PlotError),
}

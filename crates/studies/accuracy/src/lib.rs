//! Measurements: floating-point solvers against the exact answer ([`accuracy`]), and how long the
//! mechanisms take ([`speed`]).
//!
//! Instances are made from a seed, the same on every machine; times are not. Whatever a solver
//! returns is judged in rational arithmetic.
#![forbid(unsafe_code)]

pub mod accuracy;
mod columns;
mod conic;
pub mod contenders;
pub mod document;
pub mod instances;
mod judge;
pub mod pictures;
pub mod reference;
mod rounding;
pub mod speed;
pub mod text;
mod timing;

use thiserror::Error;

pub use timing::Effort;

/// Why there is no measurement.
#[derive(Debug, Clone, PartialEq, Error)]
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
        source: reference::ReferenceError,
    },
    /// A picture could not be drawn.
    #[error(transparent)]
    Plot(#[from] evenhand_report::plot::PlotError),
}

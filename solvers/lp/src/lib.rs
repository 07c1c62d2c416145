//! Linear programmes: HiGHS proposes a basis in floating point, and exact fractions prove or repair it.
#![warn(missing_docs)]

pub mod canonical;
pub mod error;
pub mod exact_lp;
pub mod highs;
pub mod json;
pub mod judge;
pub mod linear;
pub mod lp_format;
pub mod mip;
pub mod model;
pub mod mps;
pub mod read;
pub mod refine;
mod refinement;
pub mod settings;
pub mod solve;
pub mod stated;
mod vertex;
pub mod vipr;

pub use error::LpError;

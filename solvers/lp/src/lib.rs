//! Linear programmes: HiGHS proposes a basis in floating point, exact fractions prove or repair it.
#![warn(missing_docs)]

pub mod error;
pub mod exact_lp;
pub mod highs;
pub mod linear;
pub mod mip;
pub mod refine;
pub mod settings;

pub use error::LpError;

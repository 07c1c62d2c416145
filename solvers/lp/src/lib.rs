//! Linear programmes of fair allocation.
//!
//! HiGHS proposes an answer in floating point. Exact rational arithmetic then proves or repairs it.
#![warn(missing_docs)]

pub mod error;
pub mod exact_lp;
pub mod groups;
pub mod highs;
pub mod level;
pub mod linear;
pub mod mip;
pub mod nearest;
pub mod njc;
pub mod own_part;
pub mod placement;
pub mod refine;
pub mod settings;
pub mod weighted_sum;

pub use error::LpError;

//! Allocations by linear programmes: lexicographic max-min levels, allocations without justified complaints, placements
//! of given numbers of tasks on server classes, and weighted sums of tasks.
#![warn(missing_docs)]

pub mod error;
pub mod groups;
pub mod level;
pub mod nearest;
pub mod njc;
pub mod own_part;
pub mod placement;
pub mod settings;
pub mod weighted_sum;

pub use error::{FaceError, LevelsError};

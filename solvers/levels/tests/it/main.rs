//! All integration tests of this crate in one program, so that it is linked once.

mod budget;
mod clusters;
mod common;
mod evidence;
mod intervals;
mod lexicographic;
mod nearest;
mod njc;
mod njc_random;
mod placements;
mod published;
mod rises;
mod weighted_sum;

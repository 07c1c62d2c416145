//! All integration tests of this crate in one program, so that it is linked once.

mod allocation_files;
mod dedicated;
mod group_files;
mod limits;
mod names;
mod numbers;
mod problem_files;
mod reservation_files;
mod round_trips;
mod schemas;
mod snapshot_files;
mod sparse;
mod text_files;
mod utilisation;

//! All integration tests of this crate in one program, so that it is linked once.

mod budget;
mod clarabel;
mod cluster;
mod path;
mod pool;
mod trajectory;

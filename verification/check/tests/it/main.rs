//! All integration tests of this crate, in one program so that it is linked once.

mod bounded;
mod cli;
mod defects;
mod fixtures;
mod promises;
mod sha256;
mod size;

//! All integration tests of this crate. They are in one program, which is linked only once.

mod bounded;
mod cli;
mod defects;
mod fixtures;
mod promises;
mod sha256;
mod size;

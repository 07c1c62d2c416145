//! All integration tests of this crate in one program, so that it is linked once.

mod document;
mod groups;
mod numbers;
mod plot;
mod tables;

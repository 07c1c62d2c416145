//! All integration tests of this crate in one program, so that it is linked once.

mod coq;
mod problem;
mod reader;
mod vipr;
mod written;

//! What the tests of the workspace share; no crate depends on it but for its tests.
//!
//! Integration tests use it. Unit tests inside `src` of a crate that this one depends on cannot: they would
//! see every type of that crate twice.
#![forbid(unsafe_code)]

pub mod certificates;
pub mod patch;

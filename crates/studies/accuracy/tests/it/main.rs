//! Tests of the results of the measurements. No test depends on times.
#![allow(missing_docs)]

mod contenders;
mod outside;
mod programmes;
mod references;
mod suite;
mod workers;

//! Tests of the results of the measurements. Times are never tested.
#![allow(missing_docs)]

mod contenders;
mod outside;
mod programmes;
mod references;
mod suite;
mod workers;

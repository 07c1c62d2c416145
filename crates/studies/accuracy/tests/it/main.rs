//! What the measurements say. Times are never judged.
#![allow(missing_docs)]

mod contenders;
mod outside;
mod references;
mod suite;
mod workers;

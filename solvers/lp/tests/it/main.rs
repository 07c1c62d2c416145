//! All integration tests of this crate in one program, so that it is linked once.

mod budget;
mod common;
mod exact_lp;
mod files;
mod highs;
mod mip;
mod netlib;
mod reports;
mod solve;

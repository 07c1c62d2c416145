//! All tests of this crate in one program, so that it is linked once.

mod common;
mod day;
mod histories;
mod month;
mod rounds;
mod serving;

//! All integration tests of this crate in one program, so that it is linked once.

mod google;
mod openb;
mod plain;
mod streams;

//! All integration tests of this crate in one program, so that the crate is linked only once.

mod google;
mod openb;
mod plain;
mod streams;

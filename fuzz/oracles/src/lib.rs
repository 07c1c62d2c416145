//! What has to be true of any input, whoever sends it.
//!
//! Every function takes the bytes of one input and panics when something is not as it should be. The
//! fuzz targets call them with what they make up, and a test calls them with the corpus.
//!
//! | function | an input is | what has to be true |
//! |---|---|---|
//! | [`readers`] | a text | every reader takes it or says in one line what is wrong and where; what it takes is written and read back as the same |
//! | [`certificates`] | a certificate of any kind | the same; and what is found valid is true for a second, plain checker, and the other way round |
//! | [`importers`] | files of a cluster trace, plain or packed | the same as of readers |
//! | [`pipeline`] | a small problem | what a mechanism answers is written, read, certified and checked, and keeps its promises |
#![forbid(unsafe_code)]

mod certificates;
pub mod grammar;
mod importers;
pub mod outside;
mod pipeline;
mod readers;
mod said;
mod small;

pub use certificates::certificates;
pub use evenhand_testkit::damage::{crossed, mutated};
pub use importers::importers;
pub use pipeline::pipeline;
pub use readers::readers;
pub use small::random_problem;

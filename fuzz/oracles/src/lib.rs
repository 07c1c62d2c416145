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
//! | [`tree`] | a small problem with groups | the same, by every rule that schedulers compare siblings by |
//! | [`scenarios`] | a scenario of any kind | it ends, or says in one line why not; from a checkpoint on it ends as without |
//! | [`checkpoints`] | a scenario and a checkpoint that somebody changed | the same; nothing in it makes the run fail otherwise |
//! | [`audit`] | a mechanism, a seed and sizes | what is found is certified, and refutes no guarantee |
//! | [`export`] | a certificate or a problem | the files have plain names, and a plain checker accepts those that hold proofs |
//! | [`command_line`] | arguments, one a line | the program ends with a status of docs/formats.md, and says why |
//! | [`pipeline`] | a small problem | what a mechanism answers is written, read, certified and checked, and keeps its promises |
#![forbid(unsafe_code)]

mod arguments;
mod audits;
mod certificates;
mod exports;
pub mod grammar;
mod importers;
pub mod outside;
mod pipeline;
mod readers;
mod said;
mod scenarios;
mod small;
mod tree;

use evenhand_budget::Limits;

pub use arguments::command_line;
pub use audits::audit;
pub use certificates::certificates;
pub use evenhand_testkit::damage::{crossed, mutated};
pub use evenhand_testkit::dumps::mutated_dump;
pub use exports::export;
pub use importers::importers;
pub use pipeline::pipeline;
pub use readers::readers;
pub use scenarios::{checkpoints, other_checkpoint, random_checkpoint, scenarios};
pub use small::random_problem;
pub use tree::tree;

/// What one input may take: a few seconds, and what `scripts/fuzz.sh` allows.
const LIMITS: Limits =
    Limits { work: Some(Limits::A_MINUTE / 20), memory: Some(1 << 28), time: None, grows: false };

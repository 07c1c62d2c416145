//! Properties that must hold for every input, including malicious ones.
//!
//! Every function takes the bytes of an input, and panics if the input violates a property. The fuzz targets
//! call these functions with generated inputs, and a test calls them with the corpus.
//!
//! | function | input | property |
//! |---|---|---|
//! | [`readers`] | a text | every reader accepts it, or says in one line what is wrong and where; an accepted text is written and read back as the same |
//! | [`certificates`] | a certificate of any kind | as for readers; and the kernel and a second, plain checker agree on its validity |
//! | [`importers`] | files of a cluster trace, plain or packed | as for readers |
//! | [`tree`] | a small problem with groups | the properties of `pipeline`, by every rule by which schedulers compare siblings |
//! | [`scenarios`] | a scenario of any kind | it ends, or the error says why not in one line; a run from a checkpoint ends as one without |
//! | [`checkpoints`] | a scenario and a changed checkpoint | as for scenarios; no change makes the run fail in another way |
//! | [`audit`] | a mechanism, a seed and sizes | every violation is certified, and refutes no guarantee |
//! | [`export`] | a certificate or a problem | the files have plain names, and a plain checker accepts those with proofs |
//! | [`command_line`] | arguments, one a line | the program ends with a status of docs/formats.md, and says why |
//! | [`pipeline`] | a small problem | the answer of a mechanism is written, read, certified and checked, and has the guaranteed axioms |
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

/// The limits for an input: a few seconds, and the memory that `scripts/fuzz.sh` allows.
const LIMITS: Limits =
    Limits { work: Some(Limits::A_MINUTE / 20), memory: Some(1 << 28), time: None, grows: false };

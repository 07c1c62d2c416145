//! Reading and writing of the engine's JSON files.
//!
//! Numbers are read exactly, from the text as it is written, and never through binary floating point. Every fault
//! in a file is a [`FormatError`] that names file, line, column and [`Place`](crate::Place) of the offending text.
//!
//! | to | use |
//! |---|---|
//! | read a file or standard input | [`read_text`] |
//! | read a problem or an allocation | [`Source::problem`], [`Source::allocation`] |
//! | read a problem or an allocation inside another document | [`Source::problem_in`], [`Source::allocation_in`] |
//! | read other JSON with the same limits and errors | [`Document`] |
//! | read a server class, a user or groups in other JSON | [`server_spec`], [`user_spec`], [`groups_spec`], [`member_spec`] |
//! | read a reservation problem | [`Source::reservation`], [`Source::reservation_in`] |
//! | read a snapshot of a cluster | [`Source::snapshot`] |
//! | write | [`problem_to_json`], [`reservation_to_json`], [`AllocationDocument`], [`snapshot_to_json`] |
//!
//! # Examples
//! ```
//! use evenhand_problem::format::Source;
//!
//! let text = r#"{"kind": "allocation-problem", "resources": ["cpu"],
//!   "servers": [{"name": "pool", "count": 2, "capacity": {"cpu": 4}}],
//!   "users": [{"name": "a", "demand": {"cpu": -1}}]}"#;
//! let error = Source { name: "p.json", text }.problem().unwrap_err();
//! assert_eq!(
//!     error.to_string(),
//!     "p.json:3:45: users[0].demand.cpu: -1 is negative: expected a number of at least 0",
//! );
//! ```

mod allocation;
mod canonical;
mod document;
mod error;
mod fields;
mod output;
mod problem;
mod snapshot;
mod text;
mod users;
mod writer;

pub use allocation::AllocationFile;
pub use canonical::{problem_sha256, problem_to_json, reservation_to_json};
pub use document::{Document, Object};
pub use error::{FormatError, ReadError};
pub use fields::{MEMBER_FIELDS, groups_spec, member_spec, server_spec, user_spec};
pub use output::{AllocationDocument, NumberText};
pub use snapshot::snapshot_to_json;
pub use text::read_text;

/// Deepest nesting of lists and objects that a file may have.
pub const MAX_DEPTH: usize = 100;

/// Length in bytes of the longest text that is read. A problem of a million users takes about 150 MB.
pub const MAX_FILE_BYTES: u64 = 1 << 30;

/// The text of a file, with the name that messages use for it.
#[derive(Debug, Clone, Copy)]
pub struct Source<'a> {
    /// File name. The name `-` means standard input.
    pub name: &'a str,
    /// The whole text.
    pub text: &'a str,
}

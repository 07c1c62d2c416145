//! Many problems under many mechanisms.
//!
//! A [`Grid`] is a file that names problems, parameters that are varied, mechanisms with their settings and axioms. Every
//! problem and mechanism makes a [`Line`] of JSON, which says what came of it, also where nothing did. The program and the
//! Python package both take their lines from here, so that they write the same bytes.
//!
//! Nothing here prints, and a line needs no other: whoever works through a part of a grid gets these lines of the whole.
#![forbid(unsafe_code)]

mod fault;
mod grid;
mod line;
mod setting;
mod solve;
mod table;
mod text;
mod vary;

pub use fault::{Cause, Fault};
pub use grid::{Grid, MOST_LINES, MOST_PATHS};
pub use line::{Found, Head, Line, ReadLine, Verdict};
pub use solve::{Judging, Subject, Task, judged, solved};
pub use table::{Rows, TableError};
pub use text::spaced;

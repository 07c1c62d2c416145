//! Solves many problems by many mechanisms.
//!
//! A [`Grid`] is a file with problems, varied parameters, mechanisms with their settings, and axioms. Every
//! combination of a problem and a mechanism gives a [`Line`] of JSON. The line contains the result, or the
//! reason why there is no result. Both the program and the Python package use this crate, so they write the
//! same bytes.
//!
//! This crate prints no text. A line does not depend on other lines, so a run over a part of a grid gives
//! exactly the same lines as a run over the whole grid.
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

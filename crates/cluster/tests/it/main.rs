//! Tests of verdicts, changes and moves, as the library gives them.

mod changes;
mod common;
mod damaged;
mod moves;
mod rules;
mod verdicts;

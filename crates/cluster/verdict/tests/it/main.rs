//! Tests of verdicts, changes and moves through the interface of the library.

mod changes;
mod claims;
mod common;
mod damaged;
mod fair_tree;
mod migrations;
mod moves;
mod plan;
mod promises;
mod published;
mod rules;
mod settings;
mod starts;
mod stopped;
mod value;
mod verdicts;
mod waits;
mod why_not;

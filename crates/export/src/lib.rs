//! Certificates and problems in the formats of other programs.
//!
//! | from | to | function |
//! |---|---|---|
//! | a certificate of an allocation | VIPR: a file for each linear programme | [`of_certificate`] |
//! | a ratio certificate | VIPR: the configuration programme, a file for each pricing tree | [`of_ratio`] |
//! | a worst-load certificate | VIPR: a file for each pricing tree | [`of_worst_load`] |
//! | a certificate of an allocation | Coq: a theorem for each claim | [`coq_of_certificate`] |
//! | a problem | MPS or LP, in integers | [`of_problem`] |
//!
//! VIPR is the certificate format for integer programmes of Cheung, Gleixner and Steffy (Verifying Integer
//! Programming Results, IPCO 2017), version 1.0, which several checkers read, formally verified ones among
//! them. What each file states, and how a claim follows from it, is in `docs/export.md`.
//!
//! Nothing is solved here, and nothing is rounded: every number of a file is one of the certificate, or
//! follows from some by exact arithmetic. A certificate that does not check is not exported.
//!
//! # Examples
//! ```
//! use evenhand_export::{Form, of_problem};
//! use evenhand_problem::format::Source;
//!
//! let problem = Source { name: "one server", text: r#"{"kind": "allocation-problem",
//!     "resources": ["cpu"], "servers": [{"name": "a", "capacity": {"cpu": "1/3"}}],
//!     "users": [{"name": "u", "demand": {"cpu": 0.5}, "weight": 2}]}"# }.problem()?;
//! let export = of_problem(&problem, Form::Lp)?;
//! assert!(export.to_string().contains("r1_1: 3 x1_1 <= 2"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

mod allocation;
mod configurations;
mod coq;
mod pricing;
mod problem;
mod region;
mod reservation;
mod vipr;

use std::fmt::Display;

use thiserror::Error;

pub use allocation::of_certificate;
pub use coq::{Theorems, coq_of_certificate};
pub use problem::{Form, Programme, of_problem};
pub use reservation::{of_ratio, of_worst_load};

/// What has been written.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Export {
    /// Names of the files, in the order of the certificate: lower-case letters, digits, `-` and one `.`.
    pub files: Vec<String>,
    /// What has no such form.
    pub left_out: Vec<LeftOut>,
}

/// Writes a file: its name, and its text, which is made while it is written.
pub type Write<'w> = &'w mut dyn FnMut(&str, &dyn Display);

/// Something that was not exported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// A claim, or the part of one.
    pub what: String,
    /// Why there is no file about it.
    pub why: String,
}

/// Why nothing is exported.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ExportError {
    /// The certificate is false.
    #[error("the certificate is not valid: {0}")]
    NotValid(String),
    /// Judging the certificate would take more than a checker is allowed.
    #[error("the certificate cannot be judged: {0}")]
    TooLarge(String),
    /// The Coq file would hold more numbers than Coq computes with in reasonable time.
    #[error(
        "the Coq file would hold {numbers} numbers: at most {limit} are written, and they take Coq hours"
    )]
    TooLong {
        /// How many, at least.
        numbers: usize,
        /// How many are written at most.
        limit: usize,
    },
    /// No user can run anywhere, so that there is no variable.
    #[error("there is nothing to write: no user can be given anything")]
    Nothing,
    /// The checker that is proved in Coq does not read this claim.
    #[error("the claim `{what}` has no theorem: {why}")]
    NotProved {
        /// The claim, as `--axiom` names it.
        what: String,
        /// Why not.
        why: String,
    },
}

/// Hands on one file after the other, so that no more than one programme is in memory.
struct Exporter<'w> {
    found: Export,
    write: Write<'w>,
}

impl<'w> Exporter<'w> {
    fn new(write: Write<'w>) -> Self {
        Self { found: Export::default(), write }
    }

    fn add(&mut self, name: &str, programme: &vipr::Programme) {
        let name = format!("{name}.vipr");
        (self.write)(&name, programme);
        self.found.files.push(name);
    }

    fn leave_out(&mut self, what: impl Into<String>, why: impl Into<String>) {
        self.found.left_out.push(LeftOut { what: what.into(), why: why.into() });
    }
}

/// What the numbers in names stand for: `type 1: small`.
fn numbered<'n>(what: &str, names: impl Iterator<Item = &'n str>) -> impl Iterator<Item = String> {
    names.enumerate().map(move |(at, name)| format!("{what} {}: {name}", at + 1))
}

/// Only what checks is exported.
fn valid(verdict: evenhand_exact::Verdict) -> Result<(), ExportError> {
    match verdict.reason {
        None => Ok(()),
        Some(reason) if verdict.too_large => Err(ExportError::TooLarge(reason)),
        Some(reason) => Err(ExportError::NotValid(reason)),
    }
}

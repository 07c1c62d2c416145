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
//! VIPR is a certificate format for integer programmes (Cheung, Gleixner and Steffy, Verifying Integer Programming
//! Results, IPCO 2017), version 1.0. Several checkers read it, and some of them are formally verified. `docs/export.md`
//! defines what each file states, and how a claim follows from it.
//!
//! This crate solves no programmes and rounds no numbers. Every number of a file is in the certificate, or
//! follows from it by exact arithmetic. A certificate that the kernel rejects is not exported.
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

use evenhand_problem::Problem;
use thiserror::Error;

pub use allocation::of_certificate;
pub use coq::{Theorems, coq_of_certificate};
pub use problem::{Form, Programme, of_problem};
pub use reservation::{of_ratio, of_worst_load};

/// The result of an export.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Export {
    /// The names of the files, in the order of the certificate. They consist of lower-case letters, digits,
    /// `-` and a single `.`.
    pub files: Vec<String>,
    /// The claims that were left out because the format cannot express them.
    pub left_out: Vec<LeftOut>,
}

/// A function that writes a file. Its arguments are the name of the file and the text, which is computed
/// while it is written.
pub type Write<'w> = &'w mut dyn FnMut(&str, &dyn Display);

/// A claim that was not exported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// The claim or a part of the claim.
    pub what: String,
    /// The reason why the claim has no file.
    pub why: String,
}

/// The reason why an export failed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ExportError {
    /// The kernel rejects the certificate.
    #[error("the certificate is not valid: {0}")]
    NotValid(String),
    /// Checking the certificate would exceed the checker's limits.
    #[error("the certificate cannot be judged: {0}")]
    TooLarge(String),
    /// The Coq file would contain more numbers than Coq can process in a reasonable time.
    #[error(
        "the Coq file would hold {numbers} numbers: at most {limit} are written, and they take Coq hours"
    )]
    TooLong {
        /// A lower bound on the number of numbers in the file.
        numbers: usize,
        /// The largest number of numbers in a file.
        limit: usize,
    },
    /// Users state rates, which the formats do not cover.
    #[error("users state `rates`, which are not exported")]
    Rates,
    /// No user can run on any server, so there are no variables.
    #[error("no user can have tasks, so there is nothing to write")]
    Nothing,
    /// The checker that is verified in Coq does not support this claim.
    #[error("the claim `{what}` has no theorem: {why}")]
    NotProved {
        /// The claim in the form of the option `--axiom`.
        what: String,
        /// The reason.
        why: String,
    },
}

/// A writer that passes on the files one by one, so that only one programme is in memory at a time.
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

/// Returns lines that explain the numbers in names, such as `type 1: small`.
fn numbered<'n>(what: &str, names: impl Iterator<Item = &'n str>) -> impl Iterator<Item = String> {
    names.enumerate().map(move |(at, name)| format!("{what} {}: {name}", at + 1))
}

/// Returns an error if users state rates. A file without the limits of accelerators would state a different
/// problem.
fn without_rates(problem: &Problem) -> Result<(), ExportError> {
    if problem.has_rates() { Err(ExportError::Rates) } else { Ok(()) }
}

/// Returns an error unless the certificate was accepted.
fn valid(verdict: evenhand_exact::Verdict) -> Result<(), ExportError> {
    match verdict.reason {
        None => Ok(()),
        Some(reason) if verdict.too_large => Err(ExportError::TooLarge(reason)),
        Some(reason) => Err(ExportError::NotValid(reason)),
    }
}

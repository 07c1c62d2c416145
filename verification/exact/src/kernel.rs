//! The kernel's word on a certificate that was written here.
//!
//! This crate derives evidence and writes it down; whether it shows what it claims is for `evenhand-check` to say,
//! which reads the text that anybody else would read.

use evenhand_check::{File, Options, Unusable};
use evenhand_problem::Sharing;

use crate::certificate::Certificate;
use crate::ratio::RatioCertificate;
use crate::ratio::worst_load::WorstLoadCertificate;

/// A certificate of any kind, as it is written.
pub trait Document {
    /// As a file holds it.
    fn text(&self) -> String;

    /// How it says that servers are shared; absent where it is about no allocation.
    fn sharing(&self) -> Option<Sharing> {
        None
    }
}

impl Document for Certificate {
    fn text(&self) -> String {
        self.to_json()
    }

    fn sharing(&self) -> Option<Sharing> {
        Some(self.allocation.sharing)
    }
}

impl Document for RatioCertificate {
    fn text(&self) -> String {
        self.to_json()
    }
}

impl Document for WorstLoadCertificate {
    fn text(&self) -> String {
        self.to_json()
    }
}

/// What the kernel says of a certificate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// Whether everything that it states is true, and proven in it.
    pub valid: bool,
    /// Number of claims in it; 0 where it cannot be read.
    pub claims: usize,
    /// What is false or malformed, or why nothing was decided.
    pub reason: Option<String>,
    /// Whether nothing was found false: judging it would take more than the kernel allows.
    pub too_large: bool,
    /// Whether it is no certificate.
    pub malformed: bool,
}

/// What the kernel says of a certificate, of which nothing is asked but that it is true.
#[must_use]
pub fn check<D: Document + ?Sized>(certificate: &D) -> Verdict {
    check_written(certificate.text(), certificate.sharing()).0
}

/// The same of its text, and of how it says that servers are shared.
#[must_use]
pub fn check_text(text: &str, sharing: Option<Sharing>) -> Verdict {
    check_written(text.to_owned(), sharing).0
}

/// [`check_text`], which hands the text back: texts may be large.
#[must_use]
pub fn check_written(text: String, sharing: Option<Sharing>) -> (Verdict, String) {
    // Of a ratio nothing can be asked; of an allocation any tolerance is accepted.
    let options = sharing.map_or_else(Options::default, |sharing| Options {
        max_tolerance: Some(format!("0.{}", "9".repeat(MOST_DIGITS))),
        sharing: Some(sharing.name().to_owned()),
        ..Options::default()
    });
    let file = File { name: "certificate".to_owned(), text };
    let verdict = match evenhand_check::check(&file, &options) {
        Ok(report) => Verdict {
            valid: report.reason.is_none(),
            claims: report.claims.len(),
            reason: report.reason,
            too_large: false,
            malformed: false,
        },
        Err(Unusable { status, what }) => {
            let too_large = status == TOO_LARGE;
            Verdict { valid: false, claims: 0, reason: Some(what), too_large, malformed: !too_large }
        }
    };
    (verdict, file.text)
}

/// Digits of a number that a reader may state.
const MOST_DIGITS: usize = 399;
/// The kernel's exit status for a certificate that is too large.
const TOO_LARGE: u8 = 3;

//! The verdict of the kernel on a certificate that this crate wrote.
//!
//! This crate derives evidence and writes it. `evenhand-check` decides whether the evidence proves the claims. The
//! kernel reads the same text as any other reader.

use evenhand_check::{File, Options, Unusable};
use evenhand_problem::Sharing;

use crate::certificate::Certificate;
use crate::ratio::RatioCertificate;
use crate::ratio::worst_load::WorstLoadCertificate;

/// A certificate of any kind that can be written.
pub trait Document {
    /// Returns the text of the file.
    fn text(&self) -> String;

    /// Returns how servers are shared according to the certificate. `None` if the certificate is not about an
    /// allocation.
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

/// The verdict of the kernel on a certificate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// True if all statements of the certificate are true and proven.
    pub valid: bool,
    /// The number of claims. It is 0 if the certificate cannot be read.
    pub claims: usize,
    /// The statement that is false or malformed, or the reason why there is no verdict.
    pub reason: Option<String>,
    /// True if judging would exceed the budget of the kernel, so that there is no verdict.
    pub too_large: bool,
    /// True if the text is not a certificate.
    pub malformed: bool,
}

/// Returns the verdict of the kernel on a certificate, without further requirements.
#[must_use]
pub fn check<D: Document + ?Sized>(certificate: &D) -> Verdict {
    check_written(certificate.text(), certificate.sharing()).0
}

/// Returns the verdict on the text of a certificate, given how servers are shared according to it.
#[must_use]
pub fn check_text(text: &str, sharing: Option<Sharing>) -> Verdict {
    check_written(text.to_owned(), sharing).0
}

/// Returns the same verdict as [`check_text`], together with the text, since the text may be large.
#[must_use]
pub fn check_written(text: String, sharing: Option<Sharing>) -> (Verdict, String) {
    // Options do not apply to ratio certificates. For an allocation, any tolerance is accepted here.
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

/// The largest number of digits of a number that the kernel reads.
const MOST_DIGITS: usize = 399;
/// The exit status of the kernel for a certificate that is too large.
const TOO_LARGE: u8 = 3;

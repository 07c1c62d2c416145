//! Runs the kernel and the plain judges on one certificate. Every certificate that a test makes or damages
//! goes through both.
//!
//! The kernel and the plain judges are written independently, from the definitions. The kernel is trusted.
//! The plain judges of this kit are simple loops, used if a certificate is small enough for them. The kernel
//! must accept nothing that the plain judges find false, and refuse nothing that they find true.
//!
//! One difference between refused and malformed is tolerated. The reader of `exact` reads the whole file
//! before anything is judged, while the kernel reads evidence as it judges it. A false statement can
//! therefore keep the kernel from reaching a later malformed part.

use std::panic::{AssertUnwindSafe, catch_unwind};

use evenhand_exact::ratio::RatioCertificate;
use evenhand_exact::ratio::worst_load::WorstLoadCertificate;
use evenhand_exact::{Certificate, Claim, Document, Verdict, check_text, ratio};
use evenhand_problem::format::Source;
use evenhand_problem::{Allocation, Problem, Rational, Sharing};

use crate::{examples, judges};

/// The verdict on a text, with the reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Finding {
    /// Everything that the certificate states is true.
    Accepted,
    /// A statement is false, or the evidence does not show it.
    Refused(String),
    /// The text is not a certificate.
    Malformed(String),
    /// Judging the certificate would exceed a limit.
    TooLarge(String),
    /// The judge panicked, which no input may cause.
    Crashed(String),
}

impl Finding {
    /// Returns the exit status of a program with this verdict.
    #[must_use]
    pub const fn status(&self) -> u8 {
        match self {
            Self::Accepted => 0,
            Self::Refused(_) => 1,
            Self::Malformed(_) => 2,
            Self::TooLarge(_) => 3,
            Self::Crashed(_) => 101,
        }
    }

    /// Returns the reason why the certificate is not accepted.
    #[must_use]
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Accepted => None,
            Self::Refused(why) | Self::Malformed(why) | Self::TooLarge(why) | Self::Crashed(why) => Some(why),
        }
    }
}

/// A certificate that was read from a text, by kind.
pub enum Read {
    /// A certificate of an allocation.
    Allocation(Box<Certificate>),
    /// A certificate of greedy and the optimum at given loads.
    Ratio(Box<RatioCertificate>),
    /// A certificate of the worst loads.
    WorstLoad(Box<WorstLoadCertificate>),
}

impl Read {
    /// Reads a certificate of any kind.
    ///
    /// # Errors
    /// The verdict of `exact` on a text that is not a certificate.
    pub fn parse(text: &str) -> Result<Self, Finding> {
        let source = Source { name: "certificate", text };
        let read = if ratio::is_ratio_certificate(&source) {
            RatioCertificate::parse(&source).map(|it| Self::Ratio(Box::new(it)))
        } else if ratio::worst_load::is_worst_load_certificate(&source) {
            WorstLoadCertificate::parse(&source).map(|it| Self::WorstLoad(Box::new(it)))
        } else {
            Certificate::parse(&source).map(|it| Self::Allocation(Box::new(it)))
        };
        read.map_err(|error| match error.is_too_large {
            true => Finding::TooLarge(error.to_string()),
            false => Finding::Malformed(error.to_string()),
        })
    }

    /// Returns how the certificate says that servers are shared.
    #[must_use]
    pub fn sharing(&self) -> Option<Sharing> {
        match self {
            Self::Allocation(it) => it.sharing(),
            Self::Ratio(_) | Self::WorstLoad(_) => None,
        }
    }

    /// Returns `true` if the certificate is true. Returns `None` if it is too large for plain loops. `length`
    /// is the length of its text in bytes.
    #[must_use]
    pub fn truth(&self, length: usize) -> Option<bool> {
        match self {
            Self::Allocation(it) => judges::fault(it, length).map(|fault| fault.is_none()),
            Self::Ratio(it) => judges::is_true(it, length),
            Self::WorstLoad(it) => judges::is_worst(it, length),
        }
    }
}

impl From<&Verdict> for Finding {
    fn from(verdict: &Verdict) -> Self {
        match verdict.reason.clone() {
            None => Self::Accepted,
            Some(why) if verdict.too_large => Self::TooLarge(why),
            Some(why) if verdict.malformed => Self::Malformed(why),
            Some(why) => Self::Refused(why),
        }
    }
}

/// Returns the kernel's verdict on whether the certificate is true.
#[must_use]
pub fn of_kernel(text: &str, sharing: Option<Sharing>) -> Finding {
    match catch_unwind(AssertUnwindSafe(|| check_text(text, sharing))) {
        Ok(verdict) => Finding::from(&verdict),
        Err(panic) => {
            let said = panic.downcast_ref::<String>().cloned();
            let said = said.or_else(|| panic.downcast_ref::<&str>().map(|&s| s.into()));
            Finding::Crashed(said.unwrap_or_default())
        }
    }
}

/// The verdicts on one text.
#[derive(Debug)]
pub struct Judged {
    /// The verdict of the kernel.
    pub kernel: Finding,
    /// The verdict of the reader of `exact`, if it cannot read the text.
    pub unread: Option<Finding>,
    /// True if the plain judges find nothing false. `None` if the text is not a certificate, or is too large
    /// for the plain judges.
    pub truth: Option<bool>,
    /// The kind of sharing that the certificate states.
    pub sharing: Option<Sharing>,
}

impl Judged {
    /// Runs all judges on a text.
    #[must_use]
    pub fn of(text: &str) -> Self {
        Self::with(text, |sharing| of_kernel(text, sharing))
    }

    /// Runs the reader and the plain judges on a text, and calls `kernel` for the kernel's verdict.
    fn with(text: &str, kernel: impl FnOnce(Option<Sharing>) -> Finding) -> Self {
        let read = Read::parse(text);
        let sharing = read.as_ref().ok().and_then(Read::sharing);
        let truth = read.as_ref().ok().and_then(|read| read.truth(text.len()));
        Self { kernel: kernel(sharing), unread: read.err(), truth, sharing }
    }

    /// Returns the kind of disagreement between the judges, if there is one.
    #[must_use]
    pub fn failure(&self) -> Option<&'static str> {
        let status = self.kernel.status();
        if status == 101 {
            return Some("crash");
        }
        if let Some(unread) = &self.unread {
            let is_alike = unread.status() == status || unread.status() == 2 && status == 1;
            return (!is_alike).then_some("disagreement");
        }
        // The plain judge computes margins with roots to 40 digits only.
        let digit = "claim `proportional`: the margin is stated as";
        let is_digit = || self.kernel.reason().is_some_and(|why| why.starts_with(digit));
        match (self.truth, status) {
            (Some(false), 0) => Some("lie"),
            (Some(true), 1 | 2) if !is_digit() => Some("truth-refused"),
            _ => None,
        }
    }
}

/// Returns the kernel's verdict on a certificate, and checks that the plain judges agree.
///
/// # Panics
/// When the judges disagree.
#[track_caller]
pub fn agreed(certificate: &impl Document) -> Verdict {
    let text = certificate.text();
    let verdict = check_text(&text, certificate.sharing());
    let judged = Judged::with(&text, |_| Finding::from(&verdict));
    assert!(judged.failure().is_none(), "{judged:?}\n{text}");
    verdict
}

/// Returns the kernel's verdict on a certificate with only this claim, and checks that the plain judges
/// agree.
///
/// # Panics
/// When the judges disagree.
#[track_caller]
pub fn agreed_claim(
    problem: &Problem,
    allocation: &Allocation,
    claim: &Claim,
    tolerance: &Rational,
) -> Verdict {
    let alone = examples::certificate(problem, allocation, vec![claim.clone()]);
    agreed(&Certificate { tolerance: tolerance.clone(), ..alone })
}

/// Checks that the kernel accepts a certificate with only this claim, and that the plain judges agree. For an
/// infeasible allocation it may refuse the claim, since only the infeasibility may be claimed.
///
/// # Panics
/// When the kernel refuses the claim for another reason, or the judges disagree.
#[track_caller]
pub fn assert_shown(problem: &Problem, allocation: &Allocation, claim: &Claim, tolerance: &Rational) {
    let reason = agreed_claim(problem, allocation, claim, tolerance).reason;
    assert!(reason.as_ref().is_none_or(|why| why.contains("infeasible")), "{claim:?}: {reason:?}");
}

/// Returns the kernel's verdict on a text, and checks that the plain judges agree.
///
/// # Panics
/// When the judges disagree.
#[track_caller]
#[must_use]
pub fn agreed_text(text: &str) -> Finding {
    let judged = Judged::of(text);
    assert!(judged.failure().is_none(), "{judged:?}\n{text}");
    judged.kernel
}

/// Returns the kernel's verdict on a possibly damaged certificate of an allocation, and whether it could be read.
/// The plain judge must agree, whatever the size of the certificate.
///
/// # Panics
/// When the judges disagree.
#[track_caller]
pub fn agreed_by_all(text: &str) -> (Finding, bool) {
    let judged = Judged::of(text);
    assert!(judged.failure().is_none(), "{judged:?}\n{text}");
    let Judged { kernel, truth, .. } = judged;
    // Certificates that are too large for most tests are still judged here.
    let of_large = || match Read::parse(text) {
        Ok(Read::Allocation(certificate)) => Some(crate::plain::fault(&certificate).is_none()),
        _ => None,
    };
    let truth = truth.or_else(of_large);
    assert!(truth.is_none_or(|truth| truth == (kernel == Finding::Accepted)), "{truth:?} {kernel:?}\n{text}");
    (kernel, truth.is_some())
}

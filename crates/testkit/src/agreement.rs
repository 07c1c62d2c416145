//! The kernel and the plain judges on one certificate: whatever a test makes or damages goes through both.
//!
//! They are written apart, from the definitions: the kernel is trusted, the plain judges of this kit are loops that are
//! used where a certificate is small enough for them. The kernel accepts nothing in which they find something false,
//! and refuses nothing in which they find nothing false. One difference is tolerated, between refused and malformed:
//! the reader of `exact` reads a file before anything is judged, while the kernel reads evidence as it judges it, so
//! that something false can keep it from reading what is malformed behind.

use std::panic::{AssertUnwindSafe, catch_unwind};

use evenhand_exact::ratio::RatioCertificate;
use evenhand_exact::ratio::worst_load::WorstLoadCertificate;
use evenhand_exact::{Certificate, Claim, Document, Verdict, check_text, ratio};
use evenhand_problem::format::Source;
use evenhand_problem::{Allocation, Problem, Rational, Sharing};

use crate::{examples, judges};

/// What is said of a text, with the reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Finding {
    /// Everything that it states is true.
    Accepted,
    /// Something is false, or not shown.
    Refused(String),
    /// It is no certificate.
    Malformed(String),
    /// Judging it would take more than is allowed.
    TooLarge(String),
    /// It panicked, which nothing that is read may cause.
    Crashed(String),
}

impl Finding {
    /// The exit status of a program that finds this.
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

    /// Why it is not accepted.
    #[must_use]
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Accepted => None,
            Self::Refused(why) | Self::Malformed(why) | Self::TooLarge(why) | Self::Crashed(why) => Some(why),
        }
    }
}

/// A certificate that was read from a text.
pub enum Read {
    /// Of an allocation.
    Allocation(Box<Certificate>),
    /// Of greedy and the optimum at given loads.
    Ratio(Box<RatioCertificate>),
    /// Of the worst loads.
    WorstLoad(Box<WorstLoadCertificate>),
}

impl Read {
    /// Reads a certificate of any kind.
    ///
    /// # Errors
    /// What `exact` says of a text that is none.
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

    /// How it says that servers are shared.
    #[must_use]
    pub fn sharing(&self) -> Option<Sharing> {
        match self {
            Self::Allocation(it) => it.sharing(),
            Self::Ratio(_) | Self::WorstLoad(_) => None,
        }
    }

    /// Whether nothing in it is false; `None` where it is too large for plain loops. Its text has so many bytes.
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

/// What the kernel finds when nothing is asked but that the certificate is true.
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

/// What is said of one text.
#[derive(Debug)]
pub struct Judged {
    /// By the kernel.
    pub kernel: Finding,
    /// By the reader of `exact`, where it cannot read it.
    pub unread: Option<Finding>,
    /// Whether the plain judges find nothing false; `None` where it is no certificate, or too large for them.
    pub truth: Option<bool>,
    /// How it says that servers are shared.
    pub sharing: Option<Sharing>,
}

impl Judged {
    /// Asks all of them.
    #[must_use]
    pub fn of(text: &str) -> Self {
        Self::with(text, |sharing| of_kernel(text, sharing))
    }

    /// Asks the others, and the kernel by `kernel`.
    fn with(text: &str, kernel: impl FnOnce(Option<Sharing>) -> Finding) -> Self {
        let read = Read::parse(text);
        let sharing = read.as_ref().ok().and_then(Read::sharing);
        let truth = read.as_ref().ok().and_then(|read| read.truth(text.len()));
        Self { kernel: kernel(sharing), unread: read.err(), truth, sharing }
    }

    /// What is wrong with what they say.
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
        // The plain judge knows margins with roots in them to 40 digits only.
        let digit = "claim `proportional`: the margin is stated as";
        let is_digit = || self.kernel.reason().is_some_and(|why| why.starts_with(digit));
        match (self.truth, status) {
            (Some(false), 0) => Some("lie"),
            (Some(true), 1 | 2) if !is_digit() => Some("truth-refused"),
            _ => None,
        }
    }
}

/// What the kernel says of a certificate, with which the plain judges agree.
///
/// # Panics
/// When they disagree.
#[track_caller]
pub fn agreed(certificate: &impl Document) -> Verdict {
    let text = certificate.text();
    let verdict = check_text(&text, certificate.sharing());
    let judged = Judged::with(&text, |_| Finding::from(&verdict));
    assert!(judged.failure().is_none(), "{judged:?}\n{text}");
    verdict
}

/// What the kernel says of one claim, alone in a certificate, with which the plain judges agree.
///
/// # Panics
/// When they disagree.
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

/// The kernel accepts one claim, alone in a certificate, and the plain judges agree; of an infeasible allocation it
/// refuses every claim but that.
///
/// # Panics
/// When it refuses the claim itself, or they disagree.
#[track_caller]
pub fn assert_shown(problem: &Problem, allocation: &Allocation, claim: &Claim, tolerance: &Rational) {
    let reason = agreed_claim(problem, allocation, claim, tolerance).reason;
    assert!(reason.as_ref().is_none_or(|why| why.contains("infeasible")), "{claim:?}: {reason:?}");
}

/// What the kernel says of a text, with which the plain judges agree.
///
/// # Panics
/// When they disagree.
#[track_caller]
#[must_use]
pub fn agreed_text(text: &str) -> Finding {
    let judged = Judged::of(text);
    assert!(judged.failure().is_none(), "{judged:?}\n{text}");
    judged.kernel
}

/// The same of a certificate of an allocation that may be damaged, which the plain judge takes whatever its size; and
/// whether it could be read.
///
/// # Panics
/// Where they differ.
#[track_caller]
pub fn agreed_by_all(text: &str) -> (Finding, bool) {
    let judged = Judged::of(text);
    assert!(judged.failure().is_none(), "{judged:?}\n{text}");
    let Judged { kernel, truth, .. } = judged;
    // What is too large for most tests is not for this one.
    let of_large = || match Read::parse(text) {
        Ok(Read::Allocation(certificate)) => Some(crate::plain::fault(&certificate).is_none()),
        _ => None,
    };
    let truth = truth.or_else(of_large);
    assert!(truth.is_none_or(|truth| truth == (kernel == Finding::Accepted)), "{truth:?} {kernel:?}\n{text}");
    (kernel, truth.is_some())
}

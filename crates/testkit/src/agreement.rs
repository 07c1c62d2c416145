//! `exact` and the kernel on one certificate: whatever a test makes or damages goes through both.
//!
//! They are two programs, written apart: `exact` is fast, the kernel is trusted. What one accepts and the other
//! does not is a fault of one of them, and so is what only one of them calls too large. One difference is
//! tolerated, between refused and malformed: `exact` reads a file before it judges anything, while the kernel
//! reads evidence as it judges it, so that something false can keep it from reading what is malformed behind.

use std::panic::{AssertUnwindSafe, catch_unwind};

use evenhand_check::{File, Options, Unusable};
use evenhand_exact::{Certificate, Claim, Verdict, check, ratio};
use evenhand_problem::format::Source;
use evenhand_problem::{Allocation, Problem, Rational, Sharing};

use crate::{examples, plain};

/// What one of them says of a text, with its reason.
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

    /// What `judge` finds; that it crashed, where it panics.
    fn of(judge: impl FnOnce() -> Self) -> Self {
        catch_unwind(AssertUnwindSafe(judge)).unwrap_or_else(|panic| {
            let said = panic.downcast_ref::<String>().cloned();
            Self::Crashed(
                said.or_else(|| panic.downcast_ref::<&str>().map(|&s| s.into())).unwrap_or_default(),
            )
        })
    }

    /// Whether two findings about one text are the same, up to the difference that is tolerated.
    #[must_use]
    pub const fn agrees_with(&self, other: &Self) -> bool {
        match (self.status(), other.status()) {
            (101, _) | (_, 101) => false,
            (a, b) => a == b || matches!((a, b), (1, 2) | (2, 1)),
        }
    }
}

impl From<&Verdict> for Finding {
    fn from(verdict: &Verdict) -> Self {
        match verdict.reason.clone() {
            None => Self::Accepted,
            Some(why) if verdict.too_large => Self::TooLarge(why),
            Some(why) => Self::Refused(why),
        }
    }
}

/// A certificate of any kind, as `exact` holds it.
pub trait Document {
    /// As it is written.
    fn text(&self) -> String;
    /// What `exact` finds.
    fn verdict(&self) -> Verdict;
    /// How it says that servers are shared.
    fn sharing(&self) -> Option<Sharing> {
        None
    }
}

impl Document for Certificate {
    fn text(&self) -> String {
        self.to_json()
    }

    fn verdict(&self) -> Verdict {
        check(self)
    }

    fn sharing(&self) -> Option<Sharing> {
        Some(self.allocation.sharing)
    }
}

impl Document for ratio::RatioCertificate {
    fn text(&self) -> String {
        self.to_json()
    }

    fn verdict(&self) -> Verdict {
        ratio::check(self)
    }
}

impl Document for ratio::worst_load::WorstLoadCertificate {
    fn text(&self) -> String {
        self.to_json()
    }

    fn verdict(&self) -> Verdict {
        ratio::worst_load::check(self)
    }
}

/// A certificate that was read from a text.
pub enum Read {
    /// Of an allocation.
    Allocation(Box<Certificate>),
    /// Of greedy and the optimum at given loads.
    Ratio(Box<ratio::RatioCertificate>),
    /// Of the worst loads.
    WorstLoad(Box<ratio::worst_load::WorstLoadCertificate>),
}

impl Read {
    /// Reads a certificate of any kind.
    ///
    /// # Errors
    /// What `exact` says of a text that is none.
    pub fn parse(text: &str) -> Result<Self, Finding> {
        let source = Source { name: "certificate", text };
        let read = if ratio::is_ratio_certificate(&source) {
            ratio::RatioCertificate::parse(&source).map(|it| Self::Ratio(Box::new(it)))
        } else if ratio::worst_load::is_worst_load_certificate(&source) {
            ratio::worst_load::WorstLoadCertificate::parse(&source).map(|it| Self::WorstLoad(Box::new(it)))
        } else {
            Certificate::parse(&source).map(|it| Self::Allocation(Box::new(it)))
        };
        read.map_err(|error| match error.is_too_large() {
            true => Finding::TooLarge(error.to_string()),
            false => Finding::Malformed(error.to_string()),
        })
    }

    fn document(&self) -> &dyn Document {
        match self {
            Self::Allocation(it) => &**it,
            Self::Ratio(it) => &**it,
            Self::WorstLoad(it) => &**it,
        }
    }

    /// What `exact` finds of it.
    #[must_use]
    pub fn finding(&self) -> Finding {
        Finding::of(|| Finding::from(&self.document().verdict()))
    }

    /// How it says that servers are shared.
    #[must_use]
    pub fn sharing(&self) -> Option<Sharing> {
        self.document().sharing()
    }
}

/// What the kernel finds when nothing is asked but that the certificate is true.
#[must_use]
pub fn of_kernel(text: &str, sharing: Option<Sharing>) -> Finding {
    let options = match sharing {
        None => Options::default(),
        Some(sharing) => Options {
            max_tolerance: Some(format!("0.{}", "9".repeat(399))),
            sharing: Some(sharing.name().to_owned()),
            ..Options::default()
        },
    };
    let file = File { name: "certificate".to_owned(), text: text.to_owned() };
    Finding::of(|| match evenhand_check::check(&file, &options) {
        Ok(report) => report.reason.map_or(Finding::Accepted, Finding::Refused),
        Err(Unusable { status: 3, what }) => Finding::TooLarge(what),
        Err(Unusable { what, .. }) => Finding::Malformed(what),
    })
}

/// What both find of a certificate, in the words of `exact`.
///
/// # Panics
/// When they disagree.
#[track_caller]
pub fn agreed(certificate: &impl Document) -> Verdict {
    let verdict = certificate.verdict();
    let text = certificate.text();
    agree(&Finding::from(&verdict), &of_kernel(&text, certificate.sharing()), &text);
    verdict
}

/// What both find of one claim, alone in a certificate.
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

/// What both find of a text, in the words of `exact`.
///
/// # Panics
/// When they disagree.
#[track_caller]
#[must_use]
pub fn agreed_text(text: &str) -> Finding {
    let read = Read::parse(text);
    let sharing = read.as_ref().ok().and_then(Read::sharing);
    let exact = read.map_or_else(|malformed| malformed, |read| read.finding());
    agree(&exact, &of_kernel(text, sharing), text);
    exact
}

#[track_caller]
fn agree(exact: &Finding, kernel: &Finding, text: &str) {
    assert!(exact.agrees_with(kernel), "exact: {exact:?}\nkernel: {kernel:?}\n{text}");
}

/// What the two say of a certificate of an allocation that may be damaged, and whether it could be read; then the third
/// judge says the same.
///
/// # Panics
/// Where they differ.
#[track_caller]
pub fn agreed_by_all(text: &str) -> (Finding, bool) {
    let finding = agreed_text(text);
    let Ok(Read::Allocation(certificate)) = Read::parse(text) else { return (finding, false) };
    let fault = plain::fault(&certificate);
    assert_eq!(fault.is_none(), finding == Finding::Accepted, "{fault:?} {finding:?}\n{text}");
    (finding, true)
}

//! Certificates of every kind, read, written and checked.

use evenhand_exact::{
    Budget, Certificate, Conditions, Evidence, Tasks, Verdict, check_on, check_within, ratio,
};
use evenhand_problem::format::{FormatError, Source};
use evenhand_problem::{Placement, printable};

use evenhand_testkit::judges;

use crate::said;

/// Steps of work that judging one input may take: well below a second.
const STEPS: u64 = 50_000_000;

/// What every kind of certificate can do.
trait Document: PartialEq + std::fmt::Debug + Sized {
    fn read(source: &Source<'_>) -> Result<Self, FormatError>;
    fn written(&self) -> String;
    /// What is said with fewest words: zeros are left out.
    fn in_short(self) -> Self {
        self
    }
}

impl Document for Certificate {
    fn in_short(mut self) -> Self {
        without_zeros(&mut self.allocation.tasks);
        placed_without_zeros(self.allocation.placements.iter_mut().flatten());
        for claim in &mut self.claims {
            *claim = claim.as_read();
            evidence_without_zeros(&mut claim.evidence);
        }
        self
    }

    fn read(source: &Source<'_>) -> Result<Self, FormatError> {
        Self::parse(source)
    }

    fn written(&self) -> String {
        self.to_json()
    }
}

fn evidence_without_zeros(evidence: &mut Evidence) {
    match evidence {
        Evidence::Dominating(tasks) | Evidence::Better(tasks) | Evidence::Rise { allocation: tasks, .. } => {
            without_zeros(tasks);
        }
        Evidence::DominatingPlacements(placements) => placed_without_zeros(placements.iter_mut()),
        Evidence::Enclosed { evidence, .. } => evidence_without_zeros(evidence),
        _ => {}
    }
}

impl Document for ratio::RatioCertificate {
    fn read(source: &Source<'_>) -> Result<Self, FormatError> {
        Self::parse(source)
    }

    fn written(&self) -> String {
        self.to_json()
    }
}

impl Document for ratio::worst_load::WorstLoadCertificate {
    fn read(source: &Source<'_>) -> Result<Self, FormatError> {
        Self::parse(source)
    }

    fn written(&self) -> String {
        self.to_json()
    }
}

fn without_zeros(tasks: &mut Tasks) {
    tasks.iter_mut().for_each(|row| row.retain(|(_, x)| !x.is_zero()));
}

fn placed_without_zeros<'a>(placements: impl Iterator<Item = &'a mut Placement>) {
    placements.for_each(|placement| placement.tasks.retain(|(_, x)| !x.is_zero()));
}

/// Reads, writes and checks a certificate of any kind.
pub fn certificates(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let source = Source { name: "certificate.json", text };
    if ratio::is_ratio_certificate(&source) {
        let Some(certificate) = round_trip::<ratio::RatioCertificate>(&source) else { return };
        let verdict = ratio::check_within(&certificate, STEPS);
        said_well(&verdict);
        agree_if_judged(&verdict, judges::is_true(&certificate, text.len()));
    } else if ratio::worst_load::is_worst_load_certificate(&source) {
        let Some(certificate) = round_trip::<ratio::worst_load::WorstLoadCertificate>(&source) else {
            return;
        };
        let verdict = ratio::worst_load::check_within(&certificate, STEPS);
        said_well(&verdict);
        agree_if_judged(&verdict, judges::is_worst(&certificate, text.len()));
    } else if let Some(certificate) = round_trip::<Certificate>(&source) {
        judged(&certificate, text.len());
    }
}

/// A certificate of any kind, read only.
pub fn read(source: &Source<'_>) {
    round_trip::<Certificate>(source);
    round_trip::<ratio::RatioCertificate>(source);
    round_trip::<ratio::worst_load::WorstLoadCertificate>(source);
}

fn round_trip<D: Document>(source: &Source<'_>) -> Option<D> {
    let certificate = match D::read(source) {
        Ok(certificate) => certificate,
        Err(error) => {
            said::format_error(&error, source);
            return None;
        }
    };
    Some(written_and_read(certificate))
}

/// The certificate, which is the same when it is read again.
fn written_and_read<D: Document>(certificate: D) -> D {
    let text = certificate.written();
    let read = D::read(&Source { name: "written", text: &text });
    let read = read.unwrap_or_else(|error| panic!("what was written cannot be read: {error}\n{text}"));
    // Evidence that is not read is not written again; what is read is written as it was.
    let written = read.written();
    let again = D::read(&Source { name: "written again", text: &written });
    assert_eq!(again.map(|again| again.written()).ok(), Some(written));
    let (read, made) = (read.in_short(), certificate.in_short());
    assert!(read == made, "another certificate is read: {read:?}\nin place of {made:?}");
    made
}

/// A certificate that was made is written, read, and true for both checkers as far as they go.
pub fn made(certificate: Certificate) {
    let length = certificate.to_json().len();
    let verdict = judged(&written_and_read(certificate), length);
    assert!(verdict.valid || verdict.too_large, "{:?}", verdict.reason);
}

/// Both checkers find the same, and a certificate is about what is in it.
fn judged(certificate: &Certificate, length: usize) -> Verdict {
    let verdict = check_within(certificate, Budget::of(STEPS));
    said_well(&verdict);
    if verdict.too_large {
        return verdict;
    }
    if let Some(fault) = judges::fault(certificate, length) {
        assert!(agree(&verdict, fault.as_deref()), "{:?}, but plainly {fault:?}", verdict.reason);
    }
    if verdict.valid {
        let itself = Conditions {
            problem: Some(&certificate.problem),
            allocation: Some(&certificate.allocation),
            ..Conditions::anything()
        };
        assert!(check_on(certificate, &itself).valid, "it is about something else than itself");
    }
    verdict
}

fn agree_if_judged(verdict: &Verdict, truth: Option<bool>) {
    if let Some(truth) = truth.filter(|_| !verdict.too_large) {
        assert_eq!(verdict.valid, truth, "{:?}", verdict.reason);
    }
}

/// The plain checker knows margins with roots in them to 40 digits only: a digit beyond those is for the
/// other one to refuse.
fn agree(verdict: &Verdict, fault: Option<&str>) -> bool {
    let digit = "claim `proportional`: the margin is stated as";
    let refuses_a_digit = || verdict.reason.as_ref().is_some_and(|why| why.starts_with(digit));
    verdict.valid == fault.is_none() || fault.is_none() && refuses_a_digit()
}

fn said_well(verdict: &Verdict) {
    assert_eq!(verdict.valid, verdict.reason.is_none());
    assert!(!(verdict.valid && verdict.too_large));
    if let Some(reason) = &verdict.reason {
        said::one_line(&printable(reason));
    }
}

//! The oracle for certificates of every kind, which are read, written and checked.

use evenhand_exact::{Certificate, Evidence, Tasks, ratio};
use evenhand_problem::format::{FormatError, Source};
use evenhand_problem::{Placement, printable};

use evenhand_testkit::agreement::{Finding, Judged};

use crate::said;

/// The operations on every kind of certificate.
trait Document: PartialEq + std::fmt::Debug + Sized {
    fn read(source: &Source<'_>) -> Result<Self, FormatError>;
    fn written(&self) -> String;
    /// Returns the shortest equal document. It contains no zeros.
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

/// Reads, writes and checks a certificate of any kind. The kernel and the plain judges must give the same
/// answer.
pub fn certificates(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    read(&Source { name: "certificate.json", text });
    judged(text);
}

/// Reads a certificate of any kind.
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

/// Writes a certificate and reads it again. The two certificates must be equal.
fn written_and_read<D: Document>(certificate: D) -> D {
    let text = certificate.written();
    let read = D::read(&Source { name: "written", text: &text });
    let read = read.unwrap_or_else(|error| panic!("what was written cannot be read: {error}\n{text}"));
    // Evidence that is not read is not written again. All other evidence is written unchanged.
    let written = read.written();
    let again = D::read(&Source { name: "written again", text: &written });
    assert_eq!(again.map(|again| again.written()).ok(), Some(written));
    let (read, made) = (read.in_short(), certificate.in_short());
    assert!(read == made, "another certificate is read: {read:?}\nin place of {made:?}");
    made
}

/// Checks a new certificate. It is written and read. If it has claims, the kernel must accept it.
pub fn made(certificate: Certificate) {
    let made = written_and_read(certificate);
    let kernel = judged(&made.written()).kernel;
    assert!(matches!(kernel, Finding::Accepted | Finding::TooLarge(_)), "{kernel:?}");
}

/// Returns the judgement of a text. The reason of the judgement must be a single printable line.
fn judged(text: &str) -> Judged {
    let judged = Judged::of(text);
    assert!(judged.failure().is_none(), "{judged:?}");
    if let Some(reason) = judged.kernel.reason() {
        said::one_line(&printable(reason));
    }
    judged
}

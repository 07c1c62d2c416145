//! The self-test of what is written: the kernel reads every certificate before anybody else does.
//!
//! Evidence is found with the help of solvers, margins are computed by `evenhand-exact`, and neither is believed: a
//! certificate that the kernel refuses is a fault of this program, and is not handed out. Where the kernel says that
//! judging a certificate takes more than it is allowed, that is no verdict: the certificate is handed out with the
//! kernel's reason beside it.

use std::sync::mpsc::channel;
use std::time::Duration;

use evenhand_exact::{Document, Verdict, check, check_written};
use evenhand_problem::Sharing;
use thiserror::Error;

/// Stack of the kernel's thread, in bytes: as a main thread has.
const STACK: usize = 1 << 23;

/// The kernel refuses a certificate that was made here.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("internal error: the kernel refuses the certificate that was made ({0}); nothing is written")]
pub struct Refused(String);

/// A certificate that the kernel has accepted, or was too large for it.
#[derive(Debug, Clone, PartialEq)]
pub struct Checked<C> {
    /// The certificate.
    pub certificate: C,
    /// Why the kernel gave no verdict: judging the certificate would take more than it is allowed.
    pub unchecked: Option<String>,
}

impl<C: Document> Checked<C> {
    /// Asks the kernel.
    ///
    /// # Errors
    /// [`Refused`] where it says no.
    pub fn of(certificate: C) -> Result<Self, Refused> {
        let unchecked = self_test(&certificate)?;
        Ok(Self { certificate, unchecked })
    }
}

/// Asks the kernel about a certificate that was made here: why it gave no verdict, if it gave none.
///
/// # Errors
/// [`Refused`] where it says no.
pub fn self_test(certificate: &impl Document) -> Result<Option<String>, Refused> {
    said(check(certificate))
}

/// The same of a certificate whose text is kept.
///
/// # Errors
/// [`Refused`] where it says no.
pub(crate) fn self_test_of_text(text: String, sharing: Sharing) -> Result<Tested, Refused> {
    let (verdict, text) = check_written(text, Some(sharing));
    Ok(Tested { unchecked: said(verdict)?, text })
}

/// The text of a certificate, and why the kernel gave no verdict on it, if it gave none.
pub(crate) struct Tested {
    pub text: String,
    pub unchecked: Option<String>,
}

/// The same within a time: a kernel that has no verdict by then is left alone, and runs until it has one, or until the
/// process ends.
///
/// # Errors
/// [`Refused`] where it says no in time.
pub(crate) fn self_test_within(text: String, sharing: Sharing, time: Duration) -> Result<Tested, Refused> {
    let (sender, receiver) = channel();
    let read = text.clone();
    let run = move || {
        // The receiver is gone where the time has run out.
        let _ = sender.send(check_written(read, Some(sharing)).0);
    };
    let started = std::thread::Builder::new().stack_size(STACK).spawn(run);
    let verdict = started.ok().and_then(|_| receiver.recv_timeout(time).ok());
    let late = || Ok(Some("the time was up before it had a verdict".to_owned()));
    Ok(Tested { unchecked: verdict.map_or_else(late, said)?, text })
}

fn said(verdict: Verdict) -> Result<Option<String>, Refused> {
    match verdict.reason {
        Some(reason) if !verdict.too_large => Err(Refused(reason)),
        too_large => Ok(too_large),
    }
}

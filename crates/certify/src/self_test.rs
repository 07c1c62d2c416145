//! The self-test of certificates: the kernel checks every certificate before it is returned.
//!
//! Evidence comes from solvers and margins from `evenhand-exact`, and neither is trusted. If the kernel rejects a
//! certificate, this is a bug in this program, and the certificate is not returned. If checking a certificate would
//! exceed the kernel's limits, there is no verdict. The certificate is then returned together with the kernel's reason.

use std::sync::mpsc::channel;
use std::time::Duration;

use evenhand_exact::{Document, Verdict, check, check_written};
use evenhand_problem::Sharing;
use thiserror::Error;

/// The stack size of the kernel's thread: 8 MiB, the same as for a main thread.
const STACK: usize = 1 << 23;

/// The error that the kernel rejects a certificate made by this program.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("internal error: the kernel refuses the certificate that was made ({0}); nothing is written")]
pub struct Refused(String);

/// A certificate that the kernel has accepted, or that was too large for the kernel.
#[derive(Debug, Clone, PartialEq)]
pub struct Checked<C> {
    /// The certificate.
    pub certificate: C,
    /// The reason why the kernel gave no verdict: checking the certificate would exceed the kernel's limits.
    pub unchecked: Option<String>,
}

impl<C: Document> Checked<C> {
    /// Asks the kernel about a certificate.
    ///
    /// # Errors
    /// [`Refused`] if the kernel rejects the certificate.
    pub fn of(certificate: C) -> Result<Self, Refused> {
        let unchecked = self_test(&certificate)?;
        Ok(Self { certificate, unchecked })
    }
}

/// Asks the kernel about a certificate. Returns the reason if the kernel gave no verdict, and `None` if it accepted the
/// certificate.
///
/// # Errors
/// [`Refused`] if the kernel rejects the certificate.
pub fn self_test(certificate: &impl Document) -> Result<Option<String>, Refused> {
    unchecked_reason(check(certificate))
}

/// Asks the kernel about a certificate that is given as text. Returns the same text with the result.
///
/// # Errors
/// [`Refused`] if the kernel rejects the certificate.
pub(crate) fn self_test_of_text(text: String, sharing: Sharing) -> Result<Tested, Refused> {
    let (verdict, text) = check_written(text, Some(sharing));
    Ok(Tested { unchecked: unchecked_reason(verdict)?, text })
}

/// The text of a certificate, and the reason if the kernel gave no verdict on it.
pub(crate) struct Tested {
    pub text: String,
    pub unchecked: Option<String>,
}

/// Asks the kernel like [`self_test_of_text`], but within a time limit. If the kernel has no verdict in time, its
/// thread keeps running until it has a verdict or the process ends.
///
/// # Errors
/// [`Refused`] if the kernel rejects the certificate in time.
pub(crate) fn self_test_within(text: String, sharing: Sharing, time: Duration) -> Result<Tested, Refused> {
    let (sender, receiver) = channel();
    let read = text.clone();
    let run = move || {
        // The receiver no longer exists if the time has run out.
        let _ = sender.send(check_written(read, Some(sharing)).0);
    };
    let started = std::thread::Builder::new().stack_size(STACK).spawn(run);
    let verdict = started.ok().and_then(|_| receiver.recv_timeout(time).ok());
    let late = || Ok(Some("the time was up before it had a verdict".to_owned()));
    Ok(Tested { unchecked: verdict.map_or_else(late, unchecked_reason)?, text })
}

fn unchecked_reason(verdict: Verdict) -> Result<Option<String>, Refused> {
    match verdict.reason {
        Some(reason) if !verdict.too_large => Err(Refused(reason)),
        too_large => Ok(too_large),
    }
}

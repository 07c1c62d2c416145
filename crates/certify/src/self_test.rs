//! The self-test of certificates: the kernel reads every certificate before it is handed out.
//!
//! Evidence comes from solvers and margins from `evenhand-exact`, and neither is trusted. A certificate that the
//! kernel refuses is a fault of this program and is not handed out. If judging it would exceed the kernel's limits,
//! there is no verdict. The certificate is then handed out together with the kernel's reason.

use std::sync::mpsc::channel;
use std::time::Duration;

use evenhand_exact::{Document, Verdict, check, check_written};
use evenhand_problem::Sharing;
use thiserror::Error;

/// Stack size of the kernel's thread, in bytes, as a main thread has.
const STACK: usize = 1 << 23;

/// The error that the kernel refuses a certificate made by this program.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("internal error: the kernel refuses the certificate that was made ({0}); nothing is written")]
pub struct Refused(String);

/// A certificate that the kernel has accepted, or that was too large for it.
#[derive(Debug, Clone, PartialEq)]
pub struct Checked<C> {
    /// The certificate.
    pub certificate: C,
    /// The reason why the kernel gave no verdict: judging the certificate would exceed the kernel's limits.
    pub unchecked: Option<String>,
}

impl<C: Document> Checked<C> {
    /// Asks the kernel about a certificate.
    ///
    /// # Errors
    /// [`Refused`] where the kernel refuses it.
    pub fn of(certificate: C) -> Result<Self, Refused> {
        let unchecked = self_test(&certificate)?;
        Ok(Self { certificate, unchecked })
    }
}

/// Asks the kernel about a certificate. Returns the reason why it gave no verdict, if it gave none.
///
/// # Errors
/// [`Refused`] where the kernel refuses it.
pub fn self_test(certificate: &impl Document) -> Result<Option<String>, Refused> {
    unchecked_reason(check(certificate))
}

/// Asks the kernel about a certificate that is given as text, and returns the text again.
///
/// # Errors
/// [`Refused`] where the kernel refuses it.
pub(crate) fn self_test_of_text(text: String, sharing: Sharing) -> Result<Tested, Refused> {
    let (verdict, text) = check_written(text, Some(sharing));
    Ok(Tested { unchecked: unchecked_reason(verdict)?, text })
}

/// The text of a certificate, and the reason why the kernel gave no verdict on it, if it gave none.
pub(crate) struct Tested {
    pub text: String,
    pub unchecked: Option<String>,
}

/// Asks the kernel like [`self_test_of_text`], but within a time limit. A kernel without a verdict by then keeps
/// running until it has one, or until the process ends.
///
/// # Errors
/// [`Refused`] where the kernel refuses it in time.
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

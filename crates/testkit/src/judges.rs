//! Applies the plain checkers to certificates that are small enough for them.

use evenhand_exact::{Certificate, ratio};
use evenhand_problem::{Integer, Rational};

use crate::plain;

/// The largest product of users, classes and resources for which dense loops are used.
const MOST_CELLS: usize = 300;
/// The length of the longest certificate that is judged, in bytes.
const LONGEST: usize = 20_000;
/// The number of bits by which numerator and denominator may differ if roots are judged. Weights and tasks
/// are then between about 1e-20 and 1e20.
const MODERATE_BITS: u32 = 66;
/// The largest number of job types for which all configurations are listed.
const MOST_TYPES: usize = 4;

/// Returns the false statement in the certificate, or `Some(None)` if everything in it is true. Returns
/// `None` if the certificate is too large for plain loops.
pub fn fault(certificate: &Certificate, length: usize) -> Option<Option<String>> {
    let problem = &certificate.problem;
    let cells = problem.n_users() * problem.n_servers() * problem.n_resources();
    let has_roots =
        certificate.claims.iter().any(|claim| claim.alpha.as_ref().is_some_and(|a| !a.is_integer()));
    let small = cells <= MOST_CELLS && length <= LONGEST && (!has_roots || is_moderate(certificate));
    small.then(|| plain::fault(certificate))
}

/// Returns `true` if roots with 200 digits after the point are precise enough for this problem.
fn is_moderate(certificate: &Certificate) -> bool {
    let Certificate { problem, allocation, .. } = certificate;
    let far = |value: &Rational| {
        let digits = |part: &Integer| part.significant_bits();
        digits(value.numer()).abs_diff(digits(value.denom())) > MODERATE_BITS
    };
    let users = problem.users().iter().enumerate();
    users.into_iter().all(|(n, user)| !far(user.weight()) && !far(&allocation.total(n)))
}

/// Returns `true` if everything in a ratio certificate is true. Returns `None` if the certificate is too
/// large.
pub fn is_true(certificate: &ratio::RatioCertificate, length: usize) -> Option<bool> {
    let small = certificate.problem.n_types() <= MOST_TYPES && length <= LONGEST;
    if small { plain::ratio::is_true(certificate) } else { None }
}

/// Returns `true` if everything in a worst-load certificate is true. Returns `None` if the certificate is too
/// large.
pub fn is_worst(certificate: &ratio::worst_load::WorstLoadCertificate, length: usize) -> Option<bool> {
    let small = certificate.problem.n_types() <= MOST_TYPES && length <= LONGEST;
    if small { plain::worst_load::is_true(certificate) } else { None }
}

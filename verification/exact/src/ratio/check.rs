//! The checker of certificates about reservation problems.
//!
//! It believes the problem, and recomputes or proves everything else. What it runs is bounded: sums
//! over the file, each tree walked once, dynamic programmes of at most
//! [`MOST_CELLS`](super::MOST_CELLS) cells, all within a fixed number of steps and of bits.

use evenhand_problem::{Rational, Reservation};

use super::work::MOST_STEPS;
use crate::refusal::Refusal;
use crate::verdict::Verdict;

/// A certificate about a reservation problem.
pub trait AboutReservations {
    /// How many sentences it claims.
    fn n_claims(&self) -> usize;

    /// Judges it in at most so many steps of work, each an addition of machine words.
    ///
    /// # Errors
    /// [`Refusal`] that names what is false, or not proven.
    fn judge(&self, steps: u64) -> Result<(), Refusal>;

    /// Whether it is about `problem`, as far as what it claims depends on it, whatever the title and the
    /// spelling.
    fn is_about(&self, problem: &Reservation) -> bool;
}

/// Whether everything that the certificate states is true, and proven in it.
#[must_use]
pub fn check(certificate: &impl AboutReservations) -> Verdict {
    check_within(certificate, MOST_STEPS)
}

/// [`check`] with so many steps of work, each an addition of machine words.
#[must_use]
pub fn check_within(certificate: &impl AboutReservations, steps: u64) -> Verdict {
    Verdict::new(certificate.n_claims(), Rational::new(), certificate.judge(steps))
}

/// [`check`], and whether the certificate is about `problem`.
#[must_use]
pub fn check_against(certificate: &impl AboutReservations, problem: &Reservation) -> Verdict {
    if certificate.is_about(problem) {
        return check(certificate);
    }
    let other = Refusal::new("the certificate is about another problem");
    Verdict::new(certificate.n_claims(), Rational::new(), Err(other))
}

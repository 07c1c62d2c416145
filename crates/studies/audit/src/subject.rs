//! A mechanism with its flags, as searches for counterexamples use it.

use evenhand_mechanisms::{Flags, Mechanism, MechanismError, Status};
use evenhand_problem::{Allocation, Problem, Rational};

use crate::TOLERANCE;

/// A mechanism for which counterexamples are searched.
#[derive(Clone)]
pub struct Subject {
    /// The mechanism.
    pub mechanism: &'static Mechanism,
    /// The other settings of the mechanism.
    pub flags: Flags,
    /// The largest difference between two answers that is ignored, as a numerator and denominator. The
    /// difference is relative to the user's tasks plus one.
    pub tolerance: (u32, u32),
}

impl Subject {
    /// Returns the allocation of the mechanism. Returns `None` if the mechanism ends without an answer.
    ///
    /// # Errors
    /// The mechanism is not defined for the problem, or its settings are wrong.
    pub fn allocated(&self, problem: &Problem) -> Result<Option<Allocation>, MechanismError> {
        match self.mechanism.allocate_with(problem, &self.flags) {
            Ok(outcome) if outcome.findings.status.is_none_or(|status| status == Status::Solved) => {
                Ok(Some(outcome.allocation))
            }
            Err(
                error @ (MechanismError::NotApplicable { .. }
                | MechanismError::NeedsOption { .. }
                | MechanismError::BadOption { .. }
                | MechanismError::Unreadable { .. }
                | MechanismError::DoesNotTake { .. }),
            ) => Err(error),
            Ok(_) | Err(_) => Ok(None),
        }
    }

    /// Returns the allocation of the mechanism, if it has an answer.
    pub fn solved(&self, problem: &Problem) -> Option<Allocation> {
        self.allocated(problem).ok().flatten()
    }

    /// Returns the allocation of the mechanism, and the tolerance of its certificate. For exact answers the tolerance
    /// is 0.
    pub fn certifiable(&self, problem: &Problem) -> Option<(Allocation, Rational)> {
        let outcome = self.mechanism.allocate_with(problem, &self.flags).ok()?;
        let has_gap = outcome.findings.gap.is_some_and(|gap| gap > 0);
        let is_final = outcome.findings.status.is_none_or(|status| status == Status::Solved);
        let tolerance = if has_gap { Rational::from(TOLERANCE) } else { Rational::new() };
        is_final.then_some((outcome.allocation, tolerance))
    }

    /// Returns the vertices of the set of all answers of the mechanism on a small problem. Returns `None` if the
    /// mechanism cannot list them.
    pub fn answers(&self, problem: &Problem) -> Option<Vec<Allocation>> {
        if !self.mechanism.takes("faces") {
            return None;
        }
        let outcome = self.mechanism.allocate_with(problem, &self.flags.clone().with("faces", "")).ok()?;
        let faces = outcome.findings.faces?;
        let of = |tasks| Allocation { tasks, placements: None, ..outcome.allocation.clone() };
        Some(faces.extreme_points.into_iter().map(of).collect())
    }
}

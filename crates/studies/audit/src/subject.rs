//! A mechanism with its flags, as searches ask it.

use evenhand_mechanisms::{Flags, Mechanism, MechanismError, Status};
use evenhand_problem::{Allocation, Problem, Rational};

use crate::TOLERANCE;

/// What is searched for problems.
#[derive(Clone)]
pub struct Subject {
    /// The mechanism.
    pub mechanism: &'static Mechanism,
    /// What else is set of it.
    pub flags: Flags,
    /// What is no difference yet between two answers, as a part of a user's tasks and one more.
    pub tolerance: (u32, u32),
}

impl Subject {
    /// What the mechanism gives; nothing where it ends without an answer.
    ///
    /// # Errors
    /// Where it is not defined for the problem, or what is set of it is wrong.
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

    /// What the mechanism gives, where it gives something.
    pub fn solved(&self, problem: &Problem) -> Option<Allocation> {
        self.allocated(problem).ok().flatten()
    }

    /// What the mechanism gives, and the tolerance within which that is certified: none for an exact answer.
    pub fn certifiable(&self, problem: &Problem) -> Option<(Allocation, Rational)> {
        let outcome = self.mechanism.allocate_with(problem, &self.flags).ok()?;
        let has_gap = outcome.findings.gap.is_some_and(|gap| gap > 0);
        let is_final = outcome.findings.status.is_none_or(|status| status == Status::Solved);
        let tolerance = if has_gap { Rational::from(TOLERANCE) } else { Rational::new() };
        is_final.then_some((outcome.allocation, tolerance))
    }

    /// By user the tasks of every answer that the mechanism allows on a small problem, by the extreme ones; `None` where
    /// they are not listed.
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

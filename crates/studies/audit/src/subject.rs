//! A mechanism with its flags, as searches ask it.

use evenhand_mechanisms::{Flags, Mechanism, MechanismError, Status};
use evenhand_problem::{Allocation, Problem};

/// What is searched for problems.
#[derive(Clone)]
pub struct Subject {
    /// The mechanism.
    pub mechanism: &'static Mechanism,
    /// What else is set of it.
    pub flags: Flags,
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
}

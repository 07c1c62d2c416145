//! `--faces`: all allocations without justified complaints, as polytopes, next to the answer that is returned without
//! this option.

use evenhand_levels::njc::{EnumerationLimits, enumerate};
use evenhand_problem::Constraints;

use super::Settings;
use super::answer::INFO;
use crate::error::MechanismError;
use crate::mechanism::Outcome;

/// Computes the polytopes of all answers, and one answer.
pub fn allocate(
    constraints: &Constraints<'_>,
    settings: &Settings,
) -> Option<Result<Outcome, MechanismError>> {
    settings.faces.then(|| {
        let solver = |source| MechanismError::Solver { mechanism: INFO.id, source };
        let faces = enumerate(constraints, &EnumerationLimits::default()).map_err(solver)?;
        let settings = Settings { faces: false, ..settings.clone() };
        let mut outcome = super::allocate(constraints.problem(), &settings)?;
        outcome.findings.faces = Some(faces);
        Ok(outcome)
    })
}

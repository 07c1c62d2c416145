//! `--select`: the best allocation without justified complaints for a goal (docs/theory.md, section 3).

use evenhand_levels::LevelsError;
use evenhand_levels::njc::{EnumerationLimits, Goal, SelectSettings, best_above, select};
use evenhand_lp::mip::MipStatus;
use evenhand_problem::{Arithmetic, Constraints, Rational};

use super::Settings;
use super::answer::{INFO, accept};
use crate::error::MechanismError;
use crate::mechanism::{Bound, Outcome, Selected, Status};

/// The maximum number of choices of bottlenecks and witnesses that the proof may examine. Each choice needs an exact
/// linear programme, and all of them together take seconds.
const CHOICES: usize = 2_000;

/// Computes the best allocation for the goal of the settings.
pub fn allocate(
    constraints: &Constraints<'_>,
    settings: &Settings,
) -> Option<Result<Outcome, MechanismError>> {
    settings.select.map(|goal| best_for(constraints, goal, settings.arithmetic))
}

/// Computes the best allocation for a goal.
///
/// HiGHS selects one of all faces, and exact arithmetic computes the best allocation on this face. If the
/// exact search over all faces is small enough, it proves that no allocation is better, or finds a better
/// allocation. Otherwise the bound is only a claim of HiGHS.
fn best_for(
    constraints: &Constraints<'_>,
    goal: Goal,
    arithmetic: Arithmetic,
) -> Result<Outcome, MechanismError> {
    let solver = |source| MechanismError::Solver { mechanism: INFO.id, source };
    let limits = EnumerationLimits { choices: CHOICES, ..EnumerationLimits::default() };
    let search = |value: &Rational| best_above(constraints, goal, value, &limits);
    let (tasks, value, bound, status) = match select(constraints, goal, &SelectSettings::default()) {
        Ok(found) => match search(&found.value) {
            Ok(None) => (found.tasks, found.value, Bound::Proven, Status::Solved),
            Ok(Some(best)) => (best.tasks, best.value, Bound::Proven, Status::Solved),
            Err(LevelsError::Budget { .. }) => {
                let status = match found.status {
                    MipStatus::Optimal => Status::Solved,
                    MipStatus::TimeLimit => Status::Limit,
                };
                let bound = found.bound.map_or(Bound::Found, Bound::Claimed);
                (found.tasks, found.value, bound, status)
            }
            Err(error) => return Err(solver(error)),
        },
        // Numbers of very different sizes can be too difficult for HiGHS, but not for the exact search.
        Err(error) => match search(&Rational::from(-1)) {
            Ok(Some(best)) => (best.tasks, best.value, Bound::Proven, Status::Solved),
            _ => return Err(solver(error)),
        },
    };
    let mut outcome = accept(constraints.problem(), tasks).ok_or_else(|| MechanismError::NotFound {
        mechanism: INFO.id,
        why: "the allocation that was selected does not pass the exact check".to_owned(),
    })?;
    outcome.allocation.arithmetic = arithmetic;
    outcome.findings.selected = Some(Selected { goal, value, bound });
    outcome.findings.status = Some(status);
    Ok(outcome)
}

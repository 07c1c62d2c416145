//! The limit of the trajectory of NJC, computed directly: the weighted proportionally fair allocation
//! (docs/theory.md, section 3, facts 1 and 2).
//!
//! Methods of `fair_sum` compute the limit in floating point. The answer in exact arithmetic is a rational
//! allocation at the limit or near it (`exact.rs`).

use evenhand_problem::number::near;
use evenhand_problem::{Arithmetic, Constraints, Rational};

use super::answer::{INFO, in_floating_point};
use super::{Settings, exact};
use crate::error::MechanismError;
use crate::fair_sum::ladder::{Objective, leaving};
use crate::fair_sum::{FairPoint, pool};
use crate::mechanism::{Outcome, Status};

/// The inverse of the fraction of the remaining work that exact arithmetic must leave for an answer in
/// doubles.
const REST_OF_WORK: u64 = 8;

/// Computes the answer at the maximum of the weighted sum of logarithms. This method is used if the settings
/// choose no other method.
pub fn allocate(
    constraints: &Constraints<'_>,
    settings: &Settings,
) -> Option<Result<Outcome, MechanismError>> {
    let alpha = Rational::from(1);
    let objective = Objective { constraints, alpha: &alpha, share: None };
    let optima = objective.optima().map(|optimum| {
        let continuous = |source| MechanismError::Continuous { mechanism: INFO.id, source };
        optimum.map(|optimum| optimum.point).map_err(continuous)
    });
    Some(first_answer(constraints, settings.arithmetic, optima))
}

/// Computes the answer of `--barrier`: the limit of the central path with other weights of the barrier (NJC,
/// section 5.5).
pub fn with_barrier(
    constraints: &Constraints<'_>,
    settings: &Settings,
) -> Option<Result<Outcome, MechanismError>> {
    let limit = end_of_path(constraints, settings.barrier.as_ref()?);
    Some(first_answer(constraints, settings.arithmetic, std::iter::once(limit)))
}

/// Returns the exact answer near the first point that has an exact answer nearby.
///
/// If weights differ by 10^9, different methods are inaccurate for different users. There may be an exact
/// answer near the point of a later method even if there is none near the first point. A point with more
/// digits also distinguishes saturated rows from nearly saturated rows.
fn first_answer(
    constraints: &Constraints<'_>,
    arithmetic: Arithmetic,
    mut points: impl Iterator<Item = Result<FairPoint, MechanismError>>,
) -> Result<Outcome, MechanismError> {
    let first = first_success(&mut points, Ok)?;
    if arithmetic == Arithmetic::Float {
        return Ok(in_floating_point(constraints, &first));
    }
    let exact = leaving(REST_OF_WORK, || {
        let points = std::iter::once(Ok(first.clone())).chain(points);
        first_success(points, |point| exact::answer_near(constraints, &point))
    });
    exact.unwrap_or_else(|| {
        let mut outcome = in_floating_point(constraints, &first);
        outcome.findings.status = Some(Status::Limit);
        Ok(outcome)
    })
}

/// Returns the result of the first point for which `answer` succeeds, or else the first error.
fn first_success<T>(
    points: impl IntoIterator<Item = Result<FairPoint, MechanismError>>,
    answer: impl Fn(FairPoint) -> Result<T, MechanismError>,
) -> Result<T, MechanismError> {
    let mut first_error = None;
    for point in points {
        match point.and_then(&answer) {
            Ok(result) => return Ok(result),
            Err(error) => first_error = first_error.or(Some(error)),
        }
    }
    let why = "no method supports this problem".to_owned();
    Err(first_error.unwrap_or(MechanismError::NotFound { mechanism: INFO.id, why }))
}

/// Computes the limit of the central path with a barrier in which the resources have the weights of the
/// settings.
fn end_of_path(
    constraints: &Constraints<'_>,
    weights: &[(String, Rational)],
) -> Result<FairPoint, MechanismError> {
    let problem = constraints.problem();
    let bad = |why: String| MechanismError::BadOption { mechanism: INFO.id, option: "barrier", why };
    if problem.n_servers() != 1 {
        return Err(bad("the barrier is defined only for problems with one server".to_owned()));
    }
    let mut by_resource = vec![1.0; problem.n_resources()];
    for (name, weight) in weights {
        let resource = problem.resources().iter().position(|resource| resource == name);
        let resource = resource.ok_or_else(|| bad(format!("there is no resource `{name}`")))?;
        if *weight <= 0 {
            return Err(bad(format!("the weight of `{name}` should be positive")));
        }
        by_resource[resource] = near(weight);
    }
    pool::maximise(constraints, Some(&by_resource)).ok_or_else(|| MechanismError::NotFound {
        mechanism: INFO.id,
        why: "with these weights the path does not come close to its limit in floating point".to_owned(),
    })
}

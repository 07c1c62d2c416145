//! The step from a floating-point optimum to an answer without justified complaints. In doubles, the rounded optimum
//! is the answer; in exact arithmetic, it is a member of a face near the optimum.

use evenhand_exact::Instance;
use evenhand_exact::axiom::feasible;
use evenhand_exact::axiom::njc::examine;
use evenhand_levels::LevelsError;
use evenhand_levels::njc::{Face, Tasks, Witness, entitlements, member};
use evenhand_problem::{Allocation, Arithmetic, Constraints, Problem, Rational, Row};
use thiserror::Error;

use super::onto_face::{read_face, round_onto};
use crate::error::MechanismError;
use crate::fair_sum::FairPoint;
use crate::fair_sum::answer::in_doubles;
use crate::fair_sum::polish::polish;
use crate::lift::lift;
use crate::mechanism::{Findings, Info, Outcome};
use crate::rounding::{short, simple};
use crate::{fisher, proportional};

pub static INFO: Info = Info {
    id: "njc",
    aliases: &[],
    title: "No Justified Complaints",
    equalises: "no share; every user has all its tasks or its entitlement of a saturated resource",
    guarantees: "Pareto optimal on one pool; sharing incentive on one pool",
    reference: "NJC, sections 3 to 5; on clusters THEORY, section 3",
};

/// The fractions of a row that may be free for the row to count as saturated, in the order in which they are tried.
///
/// The first is nearly always right, since a saturated row without a price has slack of about the square root of the
/// accuracy. The last three are for points in long numbers: if a tie is missed by 1e-12, rows that are not saturated
/// may have only 1e-24 left.
const TOLERANCES: [f64; 11] = [1e-7, 1e-6, 1e-9, 1e-11, 1e-13, 1e-10, 1e-5, 1e-3, 1e-18, 1e-23, 1e-28];

/// Returns the point as an answer in doubles.
pub fn in_floating_point(constraints: &Constraints<'_>, point: &FairPoint) -> Outcome {
    let problem = constraints.problem();
    let mut outcome = in_doubles(constraints, point, |tasks| {
        let allocation = Allocation { mechanism: Some(INFO.id.to_owned()), tasks, ..Allocation::default() };
        let findings = proportional::findings(problem, &allocation, &Rational::from(1), None, point);
        Outcome { findings, ..Outcome::of(allocation) }
    });
    let entitlements = entitlements(constraints);
    let face = TOLERANCES.iter().find_map(|t| read_face(constraints, point, &entitlements, *t).ok());
    outcome.findings.bottlenecks = face.as_ref().map(|face| face.bottlenecks.clone());
    outcome.findings.witnesses = face.map(|face| face.witnesses);
    outcome
}

/// The reason for which a face gave no answer.
#[derive(Debug, Clone, PartialEq, Error)]
enum NoMember {
    /// The face is empty, or has no allocation near the point.
    #[error("the face has no member")]
    Empty,
    /// The exact check refused the member of the face.
    #[error("the member of the face is no answer")]
    Refused,
    /// The exact linear programme over the face failed.
    #[error(transparent)]
    Solver(#[from] LevelsError),
}

/// Computes an exact answer on a face near `point`, by rounding the point onto a face or else by an exact linear
/// programme over one.
pub fn exactly(constraints: &Constraints<'_>, point: &FairPoint) -> Result<Outcome, MechanismError> {
    let entitlements = entitlements(constraints);
    let judge = |tasks| Ok((accept(constraints.problem(), tasks).ok_or(NoMember::Refused)?, Rational::new()));
    let read = |tolerance: &f64| read_face(constraints, point, &entitlements, *tolerance).ok();
    // If the proportionally fair optimum is rational, it is the answer.
    let one = Rational::from(1);
    let optimum = fisher::best(constraints, &one, point).filter(|found| found.gap.is_zero());
    let optimum = optimum.or_else(|| polish(constraints, &one, point).filter(|found| found.gap.is_zero()));
    if let Some(outcome) = optimum.and_then(|found| accept(constraints.problem(), found.tasks)) {
        return Ok(outcome);
    }
    let mut faces = Vec::new();
    for number in [simple, short] {
        let rounded =
            |face: &Face| round_onto(constraints, point, face, &entitlements, number).ok_or(NoMember::Empty);
        match lift(TOLERANCES.iter().filter_map(read), rounded, judge) {
            Ok(outcome) => return Ok(outcome),
            Err(refused) => faces = refused.candidates,
        }
    }
    // The programme decides whether a face has a member. Rows that are no user's witness need not be saturated.
    let polytopes = faces.iter().flat_map(|face| {
        let smaller = Face { bottlenecks: witness_rows(&face.witnesses), ..face.clone() };
        [face.clone(), smaller]
    });
    let found = lift(polytopes, |face| member(constraints, face, None)?.ok_or(NoMember::Empty), judge);
    found.map_err(|refused| {
        let failed = refused.reasons.into_iter().find_map(|reason| match reason {
            NoMember::Solver(source) => Some(MechanismError::Solver { mechanism: INFO.id, source }),
            NoMember::Empty | NoMember::Refused => None,
        });
        let why =
            format!("none of the {} faces near the optimum could be lifted to exact numbers", faces.len());
        failed.unwrap_or(MechanismError::NotFound { mechanism: INFO.id, why })
    })
}

/// Returns the allocation as an answer if the exact check accepts it.
pub fn accept(problem: &Problem, tasks: Tasks) -> Option<Outcome> {
    let allocation = Allocation {
        mechanism: Some(INFO.id.to_owned()),
        arithmetic: Arithmetic::Exact,
        tasks,
        ..Allocation::default()
    };
    let instance = Instance::new(problem, &allocation).ok()?;
    let feasible = feasible::tightest(&instance).is_none_or(|(_, margin)| margin >= 0);
    let examined = examine(&instance);
    if !feasible || examined.as_ref().is_some_and(|found| found.margin < 0) {
        return None;
    }
    let witnesses = examined.map_or_else(|| vec![None; problem.n_users()], |found| found.witnesses);
    let bottlenecks = Some(saturated(&instance, &Rational::new()));
    let findings = Findings { bottlenecks, witnesses: Some(witnesses), ..Findings::default() };
    Some(Outcome { findings, ..Outcome::of(allocation) })
}

/// Returns the rows of which at most the fraction `part` is free, in ascending order.
pub fn saturated(instance: &Instance<'_>, part: &Rational) -> Vec<usize> {
    let rows = instance.constraints().rows().iter().enumerate();
    let full = |(row, at): &(usize, &Row)| {
        !at.capacity.is_zero() && instance.slack(*row) <= Rational::from(&at.capacity * part)
    };
    rows.filter(full).map(|(row, _)| row).collect()
}

/// Returns the rows that witnesses name, in ascending order.
fn witness_rows(witnesses: &[Option<Witness>]) -> Vec<usize> {
    let rows = witnesses.iter().filter_map(|witness| match witness {
        Some(Witness::Row(row)) => Some(*row),
        _ => None,
    });
    let mut rows: Vec<usize> = rows.collect();
    rows.sort_unstable();
    rows.dedup();
    rows
}

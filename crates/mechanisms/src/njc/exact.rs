//! The steps from a floating-point optimum to an exact answer, in the order in which they are tried.
//!
//! | step | problems that need it |
//! |---|---|
//! | [`Lift::RationalOptimum`] | problems with a rational proportionally fair optimum, which is then the answer |
//! | [`Lift::SimpleFractions`] | |
//! | [`Lift::ShortDecimals`] | |
//! | [`Lift::Programme`] | |
//!
//! All steps except the first search for a member of a face near the optimum (docs/theory.md, section 3, fact
//! 4). An exact check judges every result, so a step can fail but cannot return a wrong answer.

use evenhand_levels::LevelsError;
use evenhand_levels::njc::{Face, Tasks, Witness, entitlements, member};
use evenhand_problem::{Constraints, Rational};
use thiserror::Error;

use super::answer::{INFO, accept};
use super::face::{faces_near, round_onto};
use crate::error::MechanismError;
use crate::fair_sum::FairPoint;
use crate::fair_sum::polish::polish;
use crate::fisher;
use crate::lift::{Refused, lift};
use crate::mechanism::Outcome;
use crate::rounding::{short, simple};

/// The steps in the order in which they are tried.
const LIFTS: [Lift; 4] = [Lift::RationalOptimum, Lift::SimpleFractions, Lift::ShortDecimals, Lift::Programme];

/// A step from a floating-point optimum to an exact answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lift {
    /// The proportionally fair optimum itself, if it is rational and its gap is proven to be 0.
    RationalOptimum,
    /// Rounding onto a face, with free numbers rounded to fractions with small denominators.
    SimpleFractions,
    /// Rounding onto a face, with free numbers rounded to short decimals.
    ShortDecimals,
    /// An exact linear programme over a face.
    Programme,
}

/// A floating-point optimum.
struct Optimum<'a> {
    constraints: &'a Constraints<'a>,
    point: &'a FairPoint,
    entitlements: Vec<Rational>,
}

/// The reason why a face gave no answer.
#[derive(Debug, Clone, PartialEq, Error)]
enum NoMember {
    /// The face is empty, or has no allocation near the point.
    #[error("the face contains no point")]
    Empty,
    /// The exact check refused the member of the face.
    #[error("the point of the face is not an answer")]
    Refused,
    /// The exact linear programme over the face failed.
    #[error(transparent)]
    Solver(#[from] LevelsError),
}

/// Computes an exact answer at or near `point`, a floating-point optimum.
///
/// # Errors
/// Returns a [`MechanismError`] if no step leads to an answer.
pub fn answer_near(constraints: &Constraints<'_>, point: &FairPoint) -> Result<Outcome, MechanismError> {
    let optimum = Optimum { constraints, point, entitlements: entitlements(constraints) };
    for step in LIFTS {
        let outcome = step.answer(&optimum);
        let outcome = outcome.map_err(|source| MechanismError::Solver { mechanism: INFO.id, source })?;
        if let Some(outcome) = outcome {
            return Ok(outcome);
        }
    }
    let mut faces: Vec<Face> = optimum.faces().collect();
    faces.sort_unstable();
    faces.dedup();
    let why = format!("none of the {} faces near the optimum could be lifted to exact numbers", faces.len());
    Err(MechanismError::NotFound { mechanism: INFO.id, why })
}

impl Lift {
    /// Runs the step. Returns `None` if it leads to no answer.
    fn answer(self, optimum: &Optimum<'_>) -> Result<Option<Outcome>, LevelsError> {
        match self {
            Self::RationalOptimum => Ok(optimum.rational()),
            Self::SimpleFractions => Ok(optimum.rounded(simple)),
            Self::ShortDecimals => Ok(optimum.rounded(short)),
            Self::Programme => optimum.member_of_face(),
        }
    }
}

impl<'a> Optimum<'a> {
    fn faces(&self) -> impl Iterator<Item = Face> {
        faces_near(self.constraints, self.point, &self.entitlements)
    }

    fn judge(&self, tasks: Tasks) -> Result<(Outcome, Rational), NoMember> {
        let outcome = accept(self.constraints.problem(), tasks).ok_or(NoMember::Refused)?;
        Ok((outcome, Rational::new()))
    }

    /// Returns the optimum itself if it is rational.
    fn rational(&self) -> Option<Outcome> {
        let one = Rational::from(1);
        let optimum = fisher::best(self.constraints, &one, self.point).filter(|found| found.gap.is_zero());
        let optimum = optimum
            .or_else(|| polish(self.constraints, &one, self.point).filter(|found| found.gap.is_zero()));
        accept(self.constraints.problem(), optimum?.tasks)
    }

    /// Rounds the point onto a face. `number` rounds the numbers that the face leaves free.
    fn rounded(&self, number: fn(f64) -> Rational) -> Option<Outcome> {
        let round = |face: &Face| {
            let tasks = round_onto(self.constraints, self.point, face, &self.entitlements, number);
            tasks.ok_or(NoMember::Empty)
        };
        lift(self.faces(), round, |tasks| self.judge(tasks)).ok()
    }

    /// Computes a member of a face by an exact linear programme. The programme also decides whether the face
    /// has a member.
    fn member_of_face(&self) -> Result<Option<Outcome>, LevelsError> {
        // A row that is no user's witness need not be saturated.
        let polytopes = self.faces().flat_map(|face| {
            let larger = Face { bottlenecks: witness_rows(&face.witnesses), ..face.clone() };
            [face, larger]
        });
        let solve = |face: &Face| member(self.constraints, face, None)?.ok_or(NoMember::Empty);
        let Refused { reasons, .. } = match lift(polytopes, solve, |tasks| self.judge(tasks)) {
            Ok(outcome) => return Ok(Some(outcome)),
            Err(refused) => refused,
        };
        let failed = reasons.into_iter().find_map(|reason| match reason {
            NoMember::Solver(error) => Some(error),
            NoMember::Empty | NoMember::Refused => None,
        });
        failed.map_or(Ok(None), Err)
    }
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

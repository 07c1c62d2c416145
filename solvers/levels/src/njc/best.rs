//! The best NJC allocation of a small problem and its proof, by branch and bound in exact arithmetic.

use evenhand_problem::{Constraints, Rational};

use super::choices::{Choices, Visitor};
use super::face::Face;
use super::faces::EnumerationLimits;
use super::goal::Goal;
use super::market::{Candidate, ClusterModel, Tasks};
use super::polytope::FaceProgramme;
use crate::error::LevelsError;
use crate::settings::FACES;
use evenhand_lp::exact_lp::{ExactOptimum, Feasibility, Variable};

/// A best NJC allocation.
#[derive(Debug, Clone, PartialEq)]
pub struct BestMember {
    /// A face that contains the allocation, which is the best allocation of this face.
    pub face: Face,
    /// The allocation, a vertex of that face.
    pub tasks: Tasks,
    /// The value of the allocation.
    pub value: Rational,
}

/// Computes the best NJC allocation that is worth more than `value`. `None` proves, in exact arithmetic, that there is
/// none.
///
/// Given the value of a [`Selection`](super::Selection), the search decides whether HiGHS was right. Given a negative
/// value, it computes the best allocation without HiGHS. All faces are searched, and each choice is bounded by an exact
/// linear programme, so the method suits only small problems. The work at most doubles with every row, and with every
/// user whose witness is open. [`EnumerationLimits::choices`] applies.
///
/// # Errors
/// [`LevelsError::Budget`] when the limit does not suffice. Nothing is proven in that case.
pub fn best_above(
    constraints: &Constraints<'_>,
    goal: Goal,
    value: &Rational,
    limits: &EnumerationLimits,
) -> Result<Option<BestMember>, LevelsError> {
    let market = ClusterModel::new(constraints);
    let search = FaceSearch { market: &market, goal, value: value.clone(), best: None };
    let mut choices = Choices::new(&market, search, limits.choices);
    choices.visit()?;
    Ok(choices.visitor.best)
}

struct FaceSearch<'a> {
    market: &'a ClusterModel<'a>,
    goal: Goal,
    /// The value to exceed.
    value: Rational,
    best: Option<BestMember>,
}

impl FaceSearch<'_> {
    /// Computes the optimum over a choice. Returns `None` if it is not worth more than the best allocation so far.
    fn bound(
        &self,
        face: &Face,
        floors: &[Candidate],
        basis: &[Variable],
    ) -> Result<Option<(ExactOptimum, Rational)>, LevelsError> {
        let mut programme = FaceProgramme::new(self.market, face, floors);
        programme.aim(self.market, face, self.goal);
        let Feasibility::Feasible(optimum) = programme.lp.solve(basis, FACES.max_pivots)? else {
            return Ok(None);
        };
        let costs = programme.lp.columns.iter().map(|column| &column.cost);
        let value: Rational = costs.zip(&optimum.x).map(|(cost, x)| Rational::from(cost * x)).sum();
        Ok((value > self.value).then_some((optimum, value)))
    }
}

impl Visitor for FaceSearch<'_> {
    fn partial(
        &mut self,
        face: &Face,
        floors: &[Candidate],
        basis: &[Variable],
    ) -> Result<Option<Vec<Variable>>, LevelsError> {
        Ok(self.bound(face, floors, basis)?.map(|(optimum, _)| optimum.basis))
    }

    fn complete(&mut self, face: &Face, floors: &[Candidate], basis: &[Variable]) -> Result<(), LevelsError> {
        if let Some((optimum, value)) = self.bound(face, floors, basis)? {
            let tasks = self.market.tasks(&optimum.x);
            self.value.clone_from(&value);
            self.best = Some(BestMember { face: face.clone(), tasks, value });
        }
        Ok(())
    }

    fn tells_satisfied_users(&self) -> bool {
        self.goal == Goal::MaxMinShare
    }
}

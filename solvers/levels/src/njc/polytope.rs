//! An exact point of one polytope of the NJC set.

use evenhand_problem::{Constraints, Rational};

use super::face::{Face, Witness};
use super::goal::{Goal, Shares};
use super::market::{Candidate, ClusterModel, Tasks};
use crate::error::LevelsError;
use crate::settings::FACES;
use evenhand_lp::exact_lp::{ExactColumn, ExactLp, Feasibility, Sense, Variable};
use evenhand_lp::refine::{self, StartingPoint};

/// Computes a vertex of the polytope of `face`. If there is an `objective`, the vertex maximises it.
///
/// HiGHS guesses a basis, and exact arithmetic finishes. Returns `None` if the polytope is empty, which is proven by
/// Farkas' multipliers in rationals.
///
/// [`Goal::MaxMinShare`] counts only users whose witness is a row.
///
/// # Errors
/// [`LevelsError::Face`] when the face does not fit the problem.
/// [`LpError::PivotLimit`](evenhand_lp::LpError::PivotLimit) when exact arithmetic does not finish.
pub fn member(
    constraints: &Constraints<'_>,
    face: &Face,
    objective: Option<Goal>,
) -> Result<Option<Tasks>, LevelsError> {
    let market = ClusterModel::new(constraints);
    best(&market, face, objective)
}

/// Computes [`member`], given the market.
pub fn best(
    market: &ClusterModel<'_>,
    face: &Face,
    objective: Option<Goal>,
) -> Result<Option<Tasks>, LevelsError> {
    let floors = face.floors(market)?;
    let mut programme = FaceProgramme::new(market, face, &floors);
    if let Some(goal) = objective {
        programme.aim(market, face, goal);
    }
    let start = StartingPoint::default();
    Ok(match refine::solve(&programme.lp, &programme.units, start, FACES.max_pivots)? {
        Feasibility::Feasible(optimum) => Some(market.tasks(&optimum.x)),
        Feasibility::Infeasible(_) => None,
    })
}

/// A polytope as a linear programme: one column for each placement, and rows for the capacities,
/// the users' tasks and the floors, in this order.
pub struct FaceProgramme {
    pub lp: ExactLp,
    /// For each column, roughly its largest possible value.
    units: Vec<f64>,
}

impl FaceProgramme {
    /// Builds the programme of a face, without an objective.
    pub fn new(market: &ClusterModel<'_>, face: &Face, floors: &[Candidate]) -> Self {
        let mut lp = ExactLp::default();
        let sense = |row: usize| if face.bottlenecks.contains(&row) { Sense::Equal } else { Sense::AtMost };
        let rows = market.constraints.rows().iter().enumerate();
        lp.rows.extend(rows.map(|(row, limits)| (sense(row), limits.capacity.clone())));
        lp.columns.extend(
            market
                .placements
                .iter()
                .map(|placement| ExactColumn { cost: Rational::new(), entries: placement.usage.clone() }),
        );
        let one = || Rational::from(1);
        for &n in &market.users {
            if let Some(tasks) = market.limit(n) {
                let is_satisfied = face.witnesses[n] == Some(Witness::Satisfied);
                let row = lp.rows.len();
                lp.rows.push((if is_satisfied { Sense::Equal } else { Sense::AtMost }, tasks.clone()));
                for k in market.placements_of(n) {
                    lp.columns[k].entries.push((row, one()));
                }
            }
        }
        for floor in floors {
            lp.columns[floor.placement].entries.push((lp.rows.len(), one()));
            lp.rows.push((Sense::AtLeast, floor.floor.clone()));
        }
        let units = market.placements.iter().map(|placement| placement.most.to_f64()).collect();
        Self { lp, units }
    }

    /// Returns the basis at which the search for a feasible point ended. `None` if there is no feasible point.
    pub fn feasible_basis(&self, start: &[Variable]) -> Result<Option<Vec<Variable>>, LevelsError> {
        Ok(match self.lp.solve(start, FACES.max_pivots)? {
            Feasibility::Feasible(optimum) => Some(optimum.basis),
            Feasibility::Infeasible(_) => None,
        })
    }

    /// Adds the objective.
    pub fn aim(&mut self, market: &ClusterModel<'_>, face: &Face, goal: Goal) {
        let mut is_sum = true;
        for k in 0..market.placements.len() {
            match goal.worth(market, k) {
                Some(worth) => self.lp.columns[k].cost = worth,
                None => is_sum = false,
            }
        }
        if !is_sum {
            self.raise_least_share(market, face);
        }
    }

    /// Adds a column `t` for the least share, with `t <= x_n u_n / w_n` for every user that counts.
    fn raise_least_share(&mut self, market: &ClusterModel<'_>, face: &Face) {
        let shares = Shares::new(market);
        let mut entries = vec![(self.lp.rows.len(), Rational::from(1))];
        self.lp.rows.push((Sense::AtMost, shares.largest.clone()));
        for &n in &market.users {
            let Some(share) = &shares.by_user[n] else { continue };
            // Users that have all their tasks, or may still turn out to have them, do not count.
            if !matches!(face.witnesses[n], Some(Witness::Row(_))) {
                continue;
            }
            let row = self.lp.rows.len();
            self.lp.rows.push((Sense::AtLeast, Rational::new()));
            entries.push((row, Rational::from(-1)));
            for k in market.placements_of(n) {
                self.lp.columns[k].entries.push((row, share.clone()));
            }
        }
        self.units.push(shares.largest.to_f64());
        self.lp.columns.push(ExactColumn { cost: Rational::from(1), entries });
    }
}

//! One polytope of the NJC set: its saturated rows, and a witness for each user.

pub use evenhand_exact::axiom::njc::Witness;
use evenhand_problem::Constraints;

use super::market::{Candidate, ClusterModel, Tasks, tasks_on};
use crate::error::FaceError;

/// A set of saturated rows and a witness for each user. The allocations that have these rows saturated and satisfy
/// these witnesses form one polytope.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Face {
    /// The saturated capacity rows, in any order.
    pub bottlenecks: Vec<usize>,
    /// Witness of each user. `None` exactly for users that are not active.
    pub witnesses: Vec<Option<Witness>>,
}

impl Face {
    /// Returns true if `tasks` lies exactly in the polytope: it is feasible, the bottlenecks are saturated, and every
    /// user satisfies its witness.
    ///
    /// # Errors
    /// [`FaceError`] when the face or the number of users does not fit the problem.
    pub fn contains(&self, constraints: &Constraints<'_>, tasks: &Tasks) -> Result<bool, FaceError> {
        let market = ClusterModel::new(constraints);
        let floors = self.floors(&market)?;
        if tasks.len() != self.witnesses.len() {
            return Err(FaceError::Users { expected: self.witnesses.len(), found: tasks.len() });
        }
        Ok(self.holds(&market, &floors, tasks))
    }

    /// Returns the result of [`Face::contains`] for a face that fits the problem, given its floors.
    pub(super) fn holds(&self, market: &ClusterModel<'_>, floors: &[Candidate], tasks: &Tasks) -> bool {
        let problem = market.constraints.problem();
        let is_possible = |n: usize| {
            let total: rug::Rational = tasks[n].iter().map(|(_, x)| x).sum();
            let within = match (self.witnesses[n], market.limit(n)) {
                (Some(Witness::Satisfied), limit) => limit.is_some_and(|limit| total == *limit),
                (_, limit) => limit.is_none_or(|limit| total <= *limit),
            };
            within
                && tasks[n].iter().all(|(i, x)| *x >= 0 && *i < problem.n_servers() && problem.can_run(n, *i))
        };
        let holds = |floor: &Candidate| {
            let placement = &market.placements[floor.placement];
            tasks_on(&tasks[placement.n], placement.i) >= floor.floor
        };
        let loads = market.loads(tasks);
        (0..tasks.len()).all(is_possible)
            && loads.iter().enumerate().all(|(row, load)| load <= market.capacity(row))
            && self.bottlenecks.iter().all(|&row| loads[row] == *market.capacity(row))
            && floors.iter().all(holds)
    }

    /// Returns the floors (least numbers of tasks) that the witnesses require.
    pub(super) fn floors(&self, market: &ClusterModel<'_>) -> Result<Vec<Candidate>, FaceError> {
        let expected = market.constraints.problem().n_users();
        if self.witnesses.len() != expected {
            return Err(FaceError::Users { expected, found: self.witnesses.len() });
        }
        let n_rows = market.constraints.rows().len();
        if let Some(&row) = self.bottlenecks.iter().find(|&&row| row >= n_rows) {
            return Err(FaceError::NoRow { row });
        }
        let mut floors = Vec::new();
        for (user, witness) in self.witnesses.iter().enumerate() {
            let is_active = market.constraints.problem().is_active(user);
            match (witness, is_active) {
                (None, true) => return Err(FaceError::NoWitness { user }),
                (Some(_), false) => return Err(FaceError::NotActive { user }),
                (None, false) => {}
                (Some(Witness::Satisfied), true) => {
                    market.limit(user).ok_or(FaceError::Unlimited { user })?;
                }
                (Some(Witness::Row(row)), true) => {
                    let row = *row;
                    let candidate = market.candidate(user, row).filter(|_| self.bottlenecks.contains(&row));
                    floors.push(candidate.ok_or(FaceError::NotWitness { user, row })?);
                }
            }
        }
        Ok(floors)
    }
}

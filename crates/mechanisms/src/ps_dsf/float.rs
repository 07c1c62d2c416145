//! Solves PS-DSF in floating point only, for experiments and benchmarks: by path following from where a few
//! sweeps end, or by plain sweeps from an empty cluster until they converge (docs/theory.md, section 4).

use evenhand_problem::{Constraints, Sharing};

use super::candidates::{Candidates, Spent};
use super::pairs::PairModel;
use super::strategy;
use super::sweep::sweeps;
use crate::mechanism::Status;

/// How a problem is solved.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// Residual at which a point counts as solved.
    pub tolerance: f64,
    /// Most sweeps of all kinds together.
    pub sweeps: usize,
    /// Plain sweeps from the empty cluster and nothing else.
    pub plain: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self { tolerance: 1e-10, sweeps: 20_000, plain: false }
    }
}

/// How a solution was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// It is the limit of the sweeps from the empty cluster.
    Sweeps,
    /// It is the end of a homotopy from where a few sweeps end.
    Homotopy,
}

/// A point and how it was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Solution {
    /// `x_ni` by user, those that are not 0.
    pub tasks: Vec<Vec<(usize, f64)>>,
    /// The violation of Theorem 1.
    pub residual: f64,
    /// [`Status::Solved`] or [`Status::Limit`].
    pub status: Status,
    /// How it was found.
    pub way: Way,
    /// Sweeps over all classes.
    pub sweeps: usize,
    /// Active sets that homotopies went through.
    pub steps: usize,
}

/// A PS-DSF point of `constraints` in floating point.
#[must_use]
pub fn solve(constraints: &Constraints<'_>, settings: &Settings) -> Solution {
    let model = PairModel::<f64>::new(constraints);
    let order: Vec<usize> = (0..model.n_classes()).collect();
    if !settings.plain {
        let mut spent = Spent { most: strategy::BUDGET.without, ..Spent::default() };
        let mut candidates = Candidates::new(&model, &order, model.empty(), &mut spent);
        if let Some(found) = candidates.find(|found| found.residual <= settings.tolerance) {
            return Solution {
                tasks: model.tasks_by_user(&found.point),
                residual: found.residual,
                status: Status::Solved,
                way: Way::Homotopy,
                sweeps: spent.sweeps,
                steps: spent.active_sets,
            };
        }
    }
    let swept = sweeps(&model, &order, model.empty(), settings.tolerance, settings.sweeps);
    Solution {
        tasks: model.tasks_by_user(&swept.point),
        residual: swept.residual,
        status: if swept.residual <= settings.tolerance { Status::Solved } else { Status::Limit },
        way: Way::Sweeps,
        sweeps: swept.sweeps,
        steps: 0,
    }
}

/// The violation of Theorem 1 by tasks `(class, x_ni)` of every user: the largest over all users of
/// what they lack of their task limit, as a part of it, or if that is more the largest over the
/// classes of the least `v` such that of some resource that the user demands there at most the part
/// `v` is free or held by users whose level exceeds `1 + v` times its own; and the largest part by
/// which a row or a limit is overfilled. Entries where a user cannot run are ignored.
#[must_use]
pub fn residual(constraints: &Constraints<'_>, tasks: &[Vec<(usize, f64)>]) -> f64 {
    let model = PairModel::<f64>::new(constraints);
    let point = model.point_of(tasks, |x| *x);
    super::residual::residual(&model, &point)
}

/// The constraints of `problem` with divided resources: what [`solve`] is for.
#[must_use]
pub fn constraints(problem: &evenhand_problem::Problem) -> Constraints<'_> {
    Constraints::new(problem, Sharing::Rdm)
}

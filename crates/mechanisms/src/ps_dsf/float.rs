//! Solves PS-DSF in floating point only, for experiments and benchmarks: by path following from where a few
//! sweeps end, or by plain sweeps from an empty cluster until they converge (docs/theory.md, section 4).

use evenhand_problem::{Constraints, Sharing};

use super::candidates::{Candidates, Spent};
use super::pairs::{PairModel, Point};
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
    /// The classes in the order of a sweep; those that are not named follow in theirs.
    pub order: Vec<usize>,
}

impl Default for Settings {
    fn default() -> Self {
        Self { tolerance: 1e-10, sweeps: 20_000, plain: false, order: Vec::new() }
    }
}

/// How a solution was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// It is the limit of the sweeps from the empty cluster.
    Sweeps,
    /// By a path of active sets from where a few sweeps end, which leads to some solution.
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
    /// Pieces of paths.
    pub steps: usize,
}

/// A PS-DSF point of `constraints` in floating point.
#[must_use]
pub fn solve(constraints: &Constraints<'_>, settings: &Settings) -> Solution {
    let model = PairModel::<f64>::new(constraints);
    let (point, mut solution) = find(&model, settings);
    solution.tasks = model.tasks_by_user(&point);
    solution
}

/// The violation of Theorem 1 by tasks `(class, x_ni)` of every user: the largest over all users of
/// what they lack of their task limit, as a part of it, or if that is more the largest over the
/// classes of the least `v` such that of some resource that the user demands there at most the part
/// `v` is free or held by users whose level exceeds `1 + v` times its own; and the largest part by
/// which a row or a limit is overfilled. Entries where a user cannot run are ignored.
#[must_use]
pub fn residual(constraints: &Constraints<'_>, tasks: &[Vec<(usize, f64)>]) -> f64 {
    let model = PairModel::<f64>::new(constraints);
    let on = |pair: &super::pairs::Pair<f64>| {
        let list = tasks.get(pair.user).into_iter().flatten();
        list.filter(|(class, _)| *class == pair.class).map(|(_, x)| x).sum()
    };
    let by_place = model.pairs.iter().map(on).collect();
    super::residual::residual(&model, &model.point(by_place))
}

/// [`solve`]; the point is by pair, and the solution's tasks are left out.
fn find(model: &PairModel<f64>, settings: &Settings) -> (Point<f64>, Solution) {
    let order = complete(&settings.order, model.n_classes());
    if !settings.plain {
        let mut spent = Spent { most: strategy::BUDGET.without, ..Spent::default() };
        let mut candidates = Candidates::new(model, &order, model.empty(), &mut spent);
        if let Some(found) = candidates.find(|found| found.residual <= settings.tolerance) {
            let solution = Solution {
                tasks: Vec::new(),
                residual: found.residual,
                status: Status::Solved,
                way: Way::Homotopy,
                sweeps: spent.sweeps,
                steps: spent.active_sets,
            };
            return (found.point, solution);
        }
    }
    let swept = sweeps(model, &order, model.empty(), settings.tolerance, settings.sweeps);
    let status = if swept.residual <= settings.tolerance { Status::Solved } else { Status::Limit };
    let solution = Solution {
        tasks: Vec::new(),
        residual: swept.residual,
        status,
        way: Way::Sweeps,
        sweeps: swept.sweeps,
        steps: 0,
    };
    (swept.point, solution)
}

/// The order of a sweep: the classes that are named, then all others.
fn complete(named: &[usize], n_classes: usize) -> Vec<usize> {
    let mut order: Vec<usize> = Vec::with_capacity(n_classes);
    for class in named.iter().copied().filter(|i| *i < n_classes).chain(0..n_classes) {
        if !order.contains(&class) {
            order.push(class);
        }
    }
    order
}

/// The constraints of `problem` with divided resources: what [`solve`] is for.
#[must_use]
pub fn constraints(problem: &evenhand_problem::Problem) -> Constraints<'_> {
    Constraints::new(problem, Sharing::Rdm)
}

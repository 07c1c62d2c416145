//! PS-DSF in floating point: the limit of the sweeps from an empty cluster, or a solution that is
//! found faster.

use evenhand_problem::{Constraints, Sharing};

use super::market::{Market, Point};
use super::settle::settle;
use super::sweep::{End, Sweeps, sweeps};
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
        Self { tolerance: 1e-12, sweeps: 20_000, plain: false, order: Vec::new() }
    }
}

/// How a solution was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// It is the limit of the sweeps from the empty cluster.
    Sweeps,
    /// By exchanges from the regime of a sweep, which leads to some solution.
    Exchanges,
    /// By sweeps from elsewhere, or damped ones: some solution.
    OtherSweeps,
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
    /// Regimes that were solved in between.
    pub steps: usize,
}

/// Problems with at most so many places get as many sweeps from the empty cluster as they need, within
/// reason: the limit of the sweeps is what is promised for them.
const SMALL: usize = 1000;
/// Places that may be filled in those sweeps.
const WORK: usize = 400_000;
/// Sweeps from the empty cluster of larger ones.
const FEWEST: usize = 10;
/// Sweeps after which exchanges must be worth more to be accepted, and start again.
const BOLD: usize = 60;

/// A PS-DSF point of `constraints` in floating point.
#[must_use]
pub fn solve(constraints: &Constraints<'_>, settings: &Settings) -> Solution {
    let market = Market::<f64>::new(constraints);
    let (point, mut solution) = find(&market, settings);
    solution.tasks = market.lists(&point);
    solution
}

/// The violation of Theorem 1 by tasks `(class, x_ni)` of every user: the largest over all users of
/// what they lack of their task limit, as a part of it, or if that is more the largest over the
/// classes of the least `v` such that of some resource that the user demands there at most the part
/// `v` is free or held by users whose level exceeds `1 + v` times its own; and the largest part by
/// which a row or a limit is overfilled. Entries where a user cannot run are ignored.
#[must_use]
pub fn residual(constraints: &Constraints<'_>, tasks: &[Vec<(usize, f64)>]) -> f64 {
    let market = Market::<f64>::new(constraints);
    let on = |place: &super::market::Place<f64>| {
        let list = tasks.get(place.user).into_iter().flatten();
        list.filter(|(class, _)| *class == place.class).map(|(_, x)| x).sum()
    };
    let by_place = market.places.iter().map(on).collect();
    super::residual::residual(&market, &market.point(by_place))
}

/// [`solve`] for a market; the point is by place, and the solution's tasks are left out.
pub(super) fn find(market: &Market<f64>, settings: &Settings) -> (Point<f64>, Solution) {
    let order = complete(&settings.order, market.n_classes());
    let how =
        Sweeps { tolerance: settings.tolerance, most: settings.sweeps, jumps: !settings.plain, part: 1.0 };
    let budget = if settings.plain {
        settings.sweeps
    } else {
        let places = market.places.len().max(1);
        if places <= SMALL { (WORK / places).min(settings.sweeps) } else { FEWEST.min(settings.sweeps) }
    };
    let first = sweeps(market, &order, market.nothing(), &Sweeps { most: budget, ..how });
    let mut solution = Solution {
        tasks: Vec::new(),
        residual: first.residual,
        status: Status::Solved,
        way: Way::Sweeps,
        sweeps: first.sweeps,
        steps: 0,
    };
    let mut point = first.point;
    let first_point = point.clone();
    if first.end == End::Solved {
        return (point, solution);
    }
    solution.status = Status::Limit;
    if settings.plain {
        return (point, solution);
    }
    let mut improve = |found: Point<f64>, residual: f64, way: Way, solution: &mut Solution| {
        if residual < solution.residual {
            point = found;
            (solution.residual, solution.way) = (residual, way);
        }
        if solution.residual <= settings.tolerance {
            solution.status = Status::Solved;
        }
    };
    for (worth, most) in [(0.5, BOLD), (0.01, settings.sweeps)] {
        if solution.status == Status::Limit {
            let most = most.min(settings.sweeps.saturating_sub(solution.sweeps) / 2);
            let settled = settle(market, &order, first_point.clone(), (settings.tolerance, worth), most);
            solution.sweeps += settled.sweeps;
            solution.steps += settled.solves;
            improve(settled.point, settled.residual, Way::Exchanges, &mut solution);
        }
    }
    for part in [0.5, 0.2] {
        if solution.status == Status::Limit {
            let most = settings.sweeps.saturating_sub(solution.sweeps) / 2;
            let next = sweeps(market, &order, market.nothing(), &Sweeps { most, part, ..how });
            solution.sweeps += next.sweeps;
            improve(next.point, next.residual, Way::OtherSweeps, &mut solution);
        }
    }
    (point, solution)
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

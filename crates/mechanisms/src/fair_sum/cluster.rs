//! The maximum of a sum of utilities for several servers and any exponent.

use evenhand_budget::each;
use evenhand_exact::ShareCoefficients;
use evenhand_ode::cluster::{self, ClassUse, Cluster, ClusterError, ClusterPoint, UserModel};
use evenhand_problem::Constraints;
use evenhand_problem::number::near;

use super::rows::Rows;
use super::{FairPoint, OnClass};

/// Computes the optimum of any cluster by an interior point method.
///
/// # Errors
/// Returns [`ClusterError`] if the numbers leave the range of floating point or there are too many rows.
pub fn maximise(
    constraints: &Constraints<'_>,
    alpha: f64,
    share: Option<&ShareCoefficients>,
) -> Result<FairPoint, ClusterError> {
    let view = View::new(constraints, share);
    let cluster = Cluster::new(view.capacity.len(), &view.users, alpha)?;
    Ok(view.point(cluster::solve(&cluster, &cluster::Settings::default())))
}

/// Computes the same optimum by Newton's method on the prices (the dual problem), or `None` if that method does not
/// reach it.
///
/// # Errors
/// Returns an error in the same cases as [`maximise`].
pub fn maximise_by_prices(
    constraints: &Constraints<'_>,
    alpha: f64,
    share: Option<&ShareCoefficients>,
) -> Result<Option<FairPoint>, ClusterError> {
    let view = View::new(constraints, share);
    let cluster = Cluster::new(view.capacity.len(), &view.users, alpha)?;
    Ok(cluster::solve_by_prices(&cluster).map(|point| view.point(point)))
}

/// The problem in floating point.
struct View {
    n_users: usize,
    /// The capacity of each of the [`Rows`].
    capacity: Vec<f64>,
    /// The users that can run a task.
    active: Vec<usize>,
    /// The classes on which a user can run, for each active user in the order of `active`.
    classes: Vec<Vec<usize>>,
    /// The models of the active users, in the order of `active`.
    users: Vec<UserModel>,
}

impl View {
    fn new(constraints: &Constraints<'_>, share: Option<&ShareCoefficients>) -> Self {
        let problem = constraints.problem();
        let rows = Rows::new(constraints);
        let capacity: Vec<f64> = (0..rows.len()).map(|row| near(rows.capacity(row))).collect();
        let active: Vec<usize> = (0..problem.n_users()).filter(|&n| problem.is_active(n)).collect();
        let user = |&n: &usize| {
            let classes: Vec<usize> = (0..problem.n_servers()).filter(|&i| problem.can_run(n, i)).collect();
            let placement = |&i: &usize| {
                let usage = rows.of_task(n, i);
                ClassUse {
                    worth: share.map_or(1.0, |share| near(share.of(n, i))),
                    usage: usage.iter().map(|(row, d)| (*row, near(d) / capacity[*row])).collect(),
                }
            };
            let stated = &problem.users()[n];
            let user = UserModel {
                weight: near(stated.weight()),
                limit: stated.tasks().map_or(f64::INFINITY, near),
                placements: classes.iter().map(placement).collect(),
            };
            (classes, user)
        };
        let (classes, users): (Vec<Vec<usize>>, Vec<UserModel>) =
            each(active.len(), problem.n_servers(), |k| user(&active[k])).into_iter().unzip();
        Self { n_users: problem.n_users(), capacity, active, classes, users }
    }

    fn point(&self, point: ClusterPoint) -> FairPoint {
        let prices = point.row_prices.iter().zip(&self.capacity);
        let mut found = FairPoint {
            places: vec![Vec::new(); self.n_users],
            row_prices: prices.map(|(p, c)| if *c > 0.0 { p / c } else { 0.0 }).collect(),
            row_slack: point.row_slack,
            user_prices: vec![0.0; self.n_users],
            user_slack: vec![f64::INFINITY; self.n_users],
            iterations: point.iterations,
        };
        for (k, &n) in self.active.iter().enumerate() {
            let places = self.classes[k].iter().zip(point.tasks[k].iter().zip(&point.reduced[k]));
            found.places[n] =
                places.map(|(&class, (&tasks, &excess))| OnClass { class, tasks, excess }).collect();
            found.user_prices[n] = point.user_prices[k];
            found.user_slack[n] = point.user_slack[k];
        }
        found
    }
}

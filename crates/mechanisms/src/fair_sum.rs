//! The greatest `sum_n w_n g_a(U_n)` in floating point: where proportional and alpha fairness, NJC
//! and the linear Fisher market start from.

use evenhand_exact::ShareCoefficients;
use evenhand_ode::cluster::{self, Cluster, ClusterError, Placement, Status, User};
use evenhand_problem::{Constraints, Rational};
use rayon::prelude::*;

/// A user's place on a class at the optimum.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Place {
    /// Server class `i`.
    pub server: usize,
    /// `x_ni`, positive, however small.
    pub tasks: f64,
    /// What the class costs more than it is worth to the user, as a part of its worth: 0 where the
    /// user may be, positive where it must not.
    pub excess: f64,
}

/// The optimum and its prices.
#[derive(Debug, Clone, PartialEq)]
pub struct FairPoint {
    /// By user: classes on which it can run; empty for users that can be given nothing.
    pub places: Vec<Vec<Place>>,
    /// By row: price of one unit of the row, in units of `w_n U_n^(1-a)`.
    pub row_prices: Vec<f64>,
    /// By row: free part of the row, at most 1.
    pub row_slack: Vec<f64>,
    /// By user: price of one task of its limit.
    pub user_prices: Vec<f64>,
    /// By user: free part of its limit; infinite without one.
    pub user_slack: Vec<f64>,
    /// How the method ended.
    pub status: Status,
    /// Newton steps.
    pub iterations: usize,
}

impl FairPoint {
    /// `x_ni` by user, without what is nothing but the method's distance from the wall.
    pub fn tasks(&self) -> Vec<Vec<(usize, f64)>> {
        let used = |place: &&Place| place.excess < NOTHING || place.tasks.is_normal() && place.excess < 1e-3;
        self.places
            .iter()
            .map(|places| places.iter().filter(used).map(|p| (p.server, p.tasks)).collect())
            .collect()
    }
}

/// Relative excess of a cost below which a user may be on a class.
const NOTHING: f64 = 1e-9;

/// Maximises `sum_n w_n g_a(U_n)`, `U_n = x_n` or, with a share, `U_n = sum_i u_ni x_ni`.
///
/// # Errors
/// [`ClusterError`] when the numbers leave the range of floating point, or there are too many rows.
pub fn maximise(
    constraints: &Constraints<'_>,
    alpha: f64,
    share: Option<&ShareCoefficients>,
) -> Result<FairPoint, ClusterError> {
    let problem = constraints.problem();
    let capacity: Vec<f64> = constraints.rows().iter().map(|row| near(&row.capacity)).collect();
    let active: Vec<usize> = (0..problem.n_users()).filter(|&n| problem.is_active(n)).collect();
    let user = |&n: &usize| {
        let classes: Vec<usize> = (0..problem.n_servers()).filter(|&i| problem.can_run(n, i)).collect();
        let placement = |&i: &usize| {
            let usage = constraints.usage(n, i).unwrap_or_default();
            let parts = constraints.class_rows(i).zip(usage.iter()).filter(|(_, d)| !d.is_zero());
            Placement {
                worth: share.map_or(1.0, |share| near(share.of(n, i))),
                usage: parts.map(|(row, d)| (row, near(d) / capacity[row])).collect(),
            }
        };
        let stated = &problem.users()[n];
        let user = User {
            weight: near(stated.weight()),
            limit: stated.tasks().map_or(f64::INFINITY, near),
            placements: classes.iter().map(placement).collect(),
        };
        (classes, user)
    };
    let (classes, users): (Vec<Vec<usize>>, Vec<User>) = active.par_iter().map(user).unzip();
    let point = cluster::solve(&Cluster::new(capacity.len(), &users, alpha)?, &cluster::Settings::default());
    let n_users = problem.n_users();
    let mut found = FairPoint {
        places: vec![Vec::new(); n_users],
        row_prices: point
            .row_prices
            .iter()
            .zip(&capacity)
            .map(|(p, c)| if *c > 0.0 { p / c } else { 0.0 })
            .collect(),
        row_slack: point.row_slack,
        user_prices: vec![0.0; n_users],
        user_slack: vec![f64::INFINITY; n_users],
        status: point.status,
        iterations: point.iterations,
    };
    for (k, &n) in active.iter().enumerate() {
        let places = classes[k].iter().zip(point.tasks[k].iter().zip(&point.reduced[k]));
        found.places[n] =
            places.map(|(&server, (&tasks, &excess))| Place { server, tasks, excess }).collect();
        found.user_prices[n] = point.user_prices[k];
        found.user_slack[n] = point.user_slack[k];
    }
    Ok(found)
}

/// A double within two units of the last place.
pub fn near(value: &Rational) -> f64 {
    let (numerator, denominator) = (value.numer(), value.denom());
    if numerator.significant_bits() < 1000 && denominator.significant_bits() < 1000 {
        numerator.to_f64() / denominator.to_f64()
    } else {
        value.to_f64()
    }
}

//! Several servers, any exponent.

use evenhand_exact::ShareCoefficients;
use evenhand_ode::cluster::{self, Cluster, ClusterError, Placement, User};
use evenhand_problem::Constraints;
use rayon::prelude::*;

use super::{FairPoint, Place, near};

/// [`maximise`](super::maximise) on any cluster.
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

//! One server in floating point: the dense matrix of the users' demands.

use evenhand_budget::each;
use evenhand_ode::pool::{Pool, PoolError};
use evenhand_problem::number::near;
use evenhand_problem::{Constraints, Rational};
use ndarray::{Array1, Array2};

/// The users of one server that can run a task, and its rows with a positive capacity.
///
/// The unit of each user's tasks is the number of its tasks that fit on the server. Every request is then at most 1,
/// whatever the magnitudes of the stated numbers.
pub struct DenseView {
    /// The index of each active user in the problem.
    pub active: Vec<usize>,
    /// The index of each row in the problem.
    pub rows: Vec<usize>,
    /// The capacity of each row.
    pub capacity: Array1<f64>,
    /// The fraction of each row that one unit of a user takes (users x rows).
    pub requests: Array2<f64>,
    /// The number of tasks in one unit of each user.
    pub fits: Vec<f64>,
    /// The weight of each user.
    pub weights: Vec<f64>,
    /// The task limit of each user in units, infinite without a limit.
    pub limits: Vec<f64>,
}

impl DenseView {
    pub fn new(constraints: &Constraints<'_>) -> Self {
        let problem = constraints.problem();
        let active: Vec<usize> = (0..problem.n_users()).filter(|&n| problem.is_active(n)).collect();
        let rows = constraints.rows().iter().enumerate();
        let rows: Vec<usize> = rows.filter(|(_, row)| !row.capacity.is_zero()).map(|(row, _)| row).collect();
        let of_user = |&n: &usize| {
            let usage = constraints.usage(n, 0).unwrap_or_default();
            let part = |row: &usize| Rational::from(&usage[*row] / &constraints.rows()[*row].capacity);
            let parts: Vec<Rational> = rows.iter().map(part).collect();
            let most = parts.iter().max().cloned().unwrap_or_default();
            let fits = if most.is_zero() { Rational::new() } else { most.recip() };
            let requests: Vec<f64> = parts.iter().map(|part| near(&Rational::from(part * &fits))).collect();
            (requests, fits)
        };
        let (requests, fits): (Vec<Vec<f64>>, Vec<Rational>) =
            each(active.len(), rows.len(), |k| of_user(&active[k])).into_iter().unzip();
        let limit = |(&n, fits): (&usize, &Rational)| {
            problem.users()[n].tasks().map_or(f64::INFINITY, |tasks| near(&Rational::from(tasks / fits)))
        };
        Self {
            capacity: rows.iter().map(|row| near(&constraints.rows()[*row].capacity)).collect(),
            requests: Array2::from_shape_fn((active.len(), rows.len()), |(k, r)| requests[k][r]),
            limits: active.iter().zip(&fits).map(limit).collect(),
            weights: active.iter().map(|&n| near(problem.users()[n].weight())).collect(),
            fits: fits.iter().map(near).collect(),
            active,
            rows,
        }
    }

    /// Returns the pool of these users for the solvers of one server.
    ///
    /// # Errors
    /// Returns [`PoolError`] if there are no users or the numbers leave the range of the pool's solvers.
    pub fn pool(&self) -> Result<Pool, PoolError> {
        let requests = self.requests.iter().copied().collect();
        Pool::new(self.rows.len(), requests, self.weights.clone(), self.limits.clone())
    }
}

//! One server in floating point: the dense matrix of what users ask for.

use evenhand_budget::each;
use evenhand_ode::pool::{Pool, PoolError};
use evenhand_problem::number::near;
use evenhand_problem::{Constraints, Rational};
use ndarray::{Array1, Array2};

/// The users of one server that can be given anything, and its rows that have a capacity. Tasks are in
/// units of what fits on the server, so that every request is at most 1 whatever the magnitudes stated.
pub struct DenseView {
    /// Users, by position.
    pub active: Vec<usize>,
    /// Rows, by position.
    pub rows: Vec<usize>,
    /// Capacity of every row.
    pub capacity: Array1<f64>,
    /// Users x rows: the part of a row that one unit of a user takes.
    pub requests: Array2<f64>,
    /// Tasks in one unit of every user.
    pub fits: Vec<f64>,
    /// Weights of the users.
    pub weights: Vec<f64>,
    /// Task limits in units; infinite without one.
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

    /// The pool of these users.
    ///
    /// # Errors
    /// [`PoolError`] when there are no users, or numbers leave the range of the pool's solvers.
    pub fn pool(&self) -> Result<Pool, PoolError> {
        let requests = self.requests.iter().copied().collect();
        Pool::new(self.rows.len(), requests, self.weights.clone(), self.limits.clone())
    }
}

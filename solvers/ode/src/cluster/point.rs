//! A point of the method, in scaled numbers.

use super::model::{Cluster, Scaled};
use super::newton::dot;

/// A user's part of the point, in scaled numbers.
#[derive(Debug, Clone, Default)]
pub(super) struct UserPoint {
    pub y: Vec<f64>,
    pub z: Vec<f64>,
    pub lambda: f64,
    /// `v . y`.
    pub utility: f64,
    /// Price and slack of the task limit.
    pub q: f64,
    pub h: f64,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Point {
    pub users: Vec<UserPoint>,
    pub price: Vec<f64>,
    pub slack: Vec<f64>,
}

/// `A y` by row.
pub(super) fn load(cluster: &Cluster, y: &[Vec<f64>]) -> Vec<f64> {
    let mut load = vec![0.0; cluster.n_rows];
    for (user, y) in cluster.users.iter().zip(y) {
        for (usage, y) in user.usage.iter().zip(y) {
            for (row, a) in usage {
                load[*row] += a * y;
            }
        }
    }
    load
}

/// Complementary pairs.
pub(super) fn count(cluster: &Cluster) -> f64 {
    let pairs = |user: &Scaled| user.worth.len() + usize::from(!user.part.is_empty());
    (cluster.n_rows + cluster.users.iter().map(pairs).sum::<usize>()) as f64
}

pub(super) fn complementarity(point: &Point) -> f64 {
    let users = point.users.iter().map(|at| dot(&at.y, &at.z) + at.q * at.h);
    dot(&point.price, &point.slack) + users.sum::<f64>()
}

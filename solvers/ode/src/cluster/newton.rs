//! The factored Newton matrix: blocks by user, eliminated down to the capacity rows.
//!
//! The block of user `n` over its placements is `D + c v v'`. Here `D = z/y`, `v` is the worth, and `c` is the
//! curvature of the user's utility and, if the task limit is proportional to the utility, of its task limit. `D` is
//! tiny on the placements that are used, so inverting this block directly would lose all digits by cancellation.
//! Instead, the utility itself replaces one *key* placement: the placement with the least `D / v^2` (docs/theory.md,
//! fact 0, uses the same key). In these coordinates the block is `diag + D_k u u'` with a small `D_k`, and no digits
//! cancel.

use evenhand_budget::{each, for_a_thread};
use nalgebra::{DMatrix, DVector};
use rayon::prelude::*;

use super::model::{Cluster, Scaled};
use crate::dense::{self, Factored};
use crate::settings::INTERIOR;

/// The number of users whose low-rank terms are multiplied at a time.
const BLOCK: usize = 256;
/// A user that uses at most one row in this many is sparse: its outer products are added directly.
///
/// For all other users, multiplying many vectors at once uses each loaded number several times.
const SPARSE: usize = 4;
/// The number of partial sums over users. It is fixed, so the order of summation does not depend on
/// threads.
pub(super) const PARTS: usize = 8;

/// The step of one user.
///
/// Sums over the placements are stored as the solution of the equations gives them. Adding the placements up again
/// would lose all digits when a user moves between classes.
pub(super) struct BlockStep {
    /// The change of the tasks on each placement.
    pub y: Vec<f64>,
    /// The change of the utility, `v . dy`.
    pub utility: f64,
    /// The change of the price of the task limit, `(q / h) t . dy`.
    pub limit_price: f64,
    /// The change of the used fraction of the task limit, `t . dy`.
    pub part: f64,
}

/// The block of a user, in coordinates in which the utility replaces the key placement.
pub(super) struct UserBlock {
    key: usize,
    /// The inverse of the transformed diagonal, with one entry for each placement. The entry of the key belongs to the
    /// utility.
    inverse: Vec<f64>,
    /// The direction `u`.
    direction: Vec<f64>,
    /// The scale `1/D_k + u' diag^-1 u`. Infinite if the key is the only placement.
    scale: f64,
    /// The ratio `q / h` of the task limit. 0 without a limit.
    price_over_slack: f64,
    /// The term of the task limit if the limit is not a multiple of the worth: `H^-1 t` and `1/kappa + t' H^-1 t` with
    /// `kappa = q / h`.
    limit: Option<(Vec<f64>, f64)>,
}

impl UserBlock {
    /// Computes the block of user `n` at a point.
    fn new(user: &Scaled, at: &Point, n: usize, alpha: f64) -> Self {
        let here = &at.users[n];
        let weight = |i: usize| here.z[i] / here.y[i];
        let price_over_slack = if user.part.is_empty() { 0.0 } else { here.q / here.h };
        let shared = user.part_per_worth.map_or(0.0, |part| price_over_slack * part * part);
        let curvature = alpha * here.lambda / here.utility + shared;
        let count = user.worth.len();
        let per_worth = |i: usize| weight(i) / (user.worth[i] * user.worth[i]);
        let key = (0..count).min_by(|&a, &b| per_worth(a).total_cmp(&per_worth(b))).unwrap_or(0);
        let key_worth = user.worth[key];
        let mut block = Self {
            key,
            inverse: (0..count).map(|i| weight(i).recip()).collect(),
            direction: user.worth.iter().map(|v| -v / key_worth).collect(),
            scale: f64::INFINITY,
            price_over_slack,
            limit: None,
        };
        block.direction[key] = key_worth.recip();
        if count == 1 {
            block.inverse[key] = (curvature + per_worth(key)).recip();
            return block;
        }
        block.inverse[key] = curvature.recip();
        let sum: f64 = block.direction.iter().zip(&block.inverse).map(|(u, inverse)| u * u * inverse).sum();
        block.scale = weight(key).recip() + sum;
        if !user.part.is_empty() && user.part_per_worth.is_none() {
            let part = block.transform(user, user.part.clone());
            let solved = block.solve_low_rank(&part);
            let denominator = price_over_slack.recip() + dot(&part, &solved);
            block.limit = Some((solved, denominator));
        }
        block
    }

    /// Computes `P' g`: the gradient over the placements, converted to the block's coordinates.
    pub(super) fn transform(&self, user: &Scaled, mut gradient: Vec<f64>) -> Vec<f64> {
        let at_key = gradient[self.key] / user.worth[self.key];
        for (g, v) in gradient.iter_mut().zip(&user.worth) {
            *g -= at_key * v;
        }
        gradient[self.key] = at_key;
        gradient
    }

    /// Computes `H^-1 b`, for `b` in the block's coordinates.
    pub(super) fn solve(&self, user: &Scaled, right: &[f64]) -> BlockStep {
        let mut step = self.solve_low_rank(right);
        let mut limit_price = match user.part_per_worth {
            Some(part) => self.price_over_slack * part * step[self.key],
            None => 0.0,
        };
        if let Some((solved, denominator)) = &self.limit {
            let part = self.transform(user, user.part.clone());
            limit_price = dot(&part, &step) / denominator;
            for (x, s) in step.iter_mut().zip(solved) {
                *x -= limit_price * s;
            }
        }
        let utility = step[self.key];
        let others: f64 = (0..step.len()).filter(|&i| i != self.key).map(|i| user.worth[i] * step[i]).sum();
        step[self.key] = (utility - others) / user.worth[self.key];
        let part = if limit_price == 0.0 { 0.0 } else { limit_price / self.price_over_slack };
        BlockStep { y: step, utility, limit_price, part }
    }

    fn solve_low_rank(&self, right: &[f64]) -> Vec<f64> {
        let mut solution: Vec<f64> =
            right.iter().zip(&self.inverse).map(|(b, inverse)| b * inverse).collect();
        if self.scale.is_finite() {
            let factor = dot(&self.direction, &solution) / self.scale;
            for ((x, u), inverse) in solution.iter_mut().zip(&self.direction).zip(&self.inverse) {
                *x -= factor * u * inverse;
            }
        }
        solution
    }

    /// Computes the sparse column of the capacity rows that belongs to coordinate `i`.
    fn column(&self, user: &Scaled, i: usize, into: &mut Vec<(usize, f64)>) {
        into.clear();
        let key_worth = user.worth[self.key];
        if i == self.key {
            into.extend(user.usage[i].iter().map(|(row, a)| (*row, a / key_worth)));
            return;
        }
        into.extend(user.usage[i].iter().copied());
        let ratio = user.worth[i] / key_worth;
        for (row, a) in &user.usage[self.key] {
            match into.iter_mut().find(|(at, _)| at == row) {
                Some((_, value)) => *value -= ratio * a,
                None => into.push((*row, -ratio * a)),
            }
        }
    }
}

pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The factored matrix at a point.
pub(super) struct Newton {
    pub blocks: Vec<UserBlock>,
    rows: Factored,
}

impl Newton {
    /// Factors the matrix at a point.
    ///
    /// Returns `None` if the matrix is not positive definite even after regularisation, because some number has over-
    /// or underflowed.
    pub fn new(cluster: &Cluster, at: &Point, alpha: f64) -> Option<Self> {
        let users = &cluster.users;
        let blocks = each(users.len(), cluster.n_rows, |n| UserBlock::new(&users[n], at, n, alpha));
        let part = users.len().div_ceil(PARTS).max(1);
        let of_part = |k: usize| normal_matrix(cluster, &blocks, k * part..((k + 1) * part).min(users.len()));
        let parts = 0..users.len().div_ceil(part);
        let parts: Vec<DMatrix<f64>> = if users.len() < for_a_thread(cluster.n_rows) {
            parts.map(of_part).collect()
        } else {
            parts.into_par_iter().map(of_part).collect()
        };
        let mut matrix = DMatrix::zeros(cluster.n_rows, cluster.n_rows);
        for part in parts {
            matrix += part;
        }
        for row in 0..cluster.n_rows {
            matrix[(row, row)] += at.slack[row] / at.price[row];
        }
        dense::factor(matrix, &INTERIOR.ridges).map(|rows| Self { blocks, rows })
    }

    /// Solves for the prices: `M dp = right`.
    pub fn prices(&self, right: &DVector<f64>) -> DVector<f64> {
        self.rows.solve(right)
    }
}

/// Computes `sum_n A_n H_n^-1 A_n'` over a range of users.
fn normal_matrix(cluster: &Cluster, blocks: &[UserBlock], users: std::ops::Range<usize>) -> DMatrix<f64> {
    let (n_rows, n_users) = (cluster.n_rows, users.len());
    let mut matrix = DMatrix::zeros(n_rows, n_rows);
    let mut column = Vec::new();
    // Each user contributes two vectors, whose outer products are subtracted. The vectors of users
    // with many rows are multiplied in batches.
    let mut dense = DMatrix::zeros(0, 0);
    let mut position = 0;
    let mut low_rank = [vec![0.0; n_rows], vec![0.0; n_rows]];
    let mut rows: Vec<usize> = Vec::new();
    for n in users {
        let (user, block) = (&cluster.users[n], &blocks[n]);
        rows.clear();
        for i in 0..user.worth.len() {
            block.column(user, i, &mut column);
            for (a, x) in &column {
                for (b, y) in &column {
                    matrix[(*a, *b)] += block.inverse[i] * x * y;
                }
                rows.push(*a);
                if block.scale.is_finite() {
                    let factor = block.inverse[i] * block.direction[i] / block.scale.sqrt();
                    low_rank[0][*a] += factor * x;
                }
                if let Some((solved, denominator)) = &block.limit {
                    low_rank[1][*a] += solved[i] / denominator.sqrt() * x;
                }
            }
        }
        rows.sort_unstable();
        rows.dedup();
        let is_sparse = rows.len() * SPARSE <= n_rows;
        if !is_sparse && dense.is_empty() {
            dense = DMatrix::zeros(n_rows, 2 * BLOCK.min(n_users));
        }
        for (k, vector) in low_rank.iter_mut().enumerate() {
            if is_sparse {
                for &a in rows.iter().filter(|a| vector[**a] != 0.0) {
                    rows.iter().for_each(|b| matrix[(*b, a)] -= vector[*b] * vector[a]);
                }
            } else {
                rows.iter().for_each(|a| dense[(*a, 2 * position + k)] = vector[*a]);
            }
            rows.iter().for_each(|a| vector[*a] = 0.0);
        }
        position += usize::from(!is_sparse);
        if position == BLOCK {
            matrix.gemm(-1.0, &dense, &dense.transpose(), 1.0);
            dense.fill(0.0);
            position = 0;
        }
    }
    if position > 0 {
        let dense = dense.columns(0, 2 * position);
        matrix.gemm(-1.0, &dense, &dense.transpose(), 1.0);
    }
    matrix
}

/// The variables of one user at a point, in scaled numbers.
#[derive(Debug, Clone, Default)]
pub(super) struct UserPoint {
    pub y: Vec<f64>,
    pub z: Vec<f64>,
    pub lambda: f64,
    /// The utility `v . y`.
    pub utility: f64,
    /// The price of the task limit.
    pub q: f64,
    /// The slack of the task limit.
    pub h: f64,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Point {
    pub users: Vec<UserPoint>,
    pub price: Vec<f64>,
    pub slack: Vec<f64>,
}

/// Computes the load `A y` of each row.
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

/// Returns the number of complementary pairs.
pub(super) fn count(cluster: &Cluster) -> f64 {
    let pairs = |user: &Scaled| user.worth.len() + usize::from(!user.part.is_empty());
    (cluster.n_rows + cluster.users.iter().map(pairs).sum::<usize>()) as f64
}

pub(super) fn complementarity(point: &Point) -> f64 {
    let users = point.users.iter().map(|at| dot(&at.y, &at.z) + at.q * at.h);
    dot(&point.price, &point.slack) + users.sum::<f64>()
}

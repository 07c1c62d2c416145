//! The `L U` factors of a basis, and the values and prices that follow from them.

use super::{Column, Keys};
use crate::settings::KEYS;

/// A factored basis.
pub struct Factors {
    /// The factors, row by row of the basis matrix, with the rows in the order `order`.
    lu: Vec<f64>,
    order: Vec<usize>,
    /// For each column, the number by which it was multiplied before factoring.
    scale: Vec<f64>,
    /// `(column, row)` of the basic columns that are slacks.
    free: Vec<(usize, usize)>,
    /// The position of the level in the basis.
    pub level: usize,
    /// Value of each column of the basis.
    pub values: Vec<f64>,
    /// Price of the capacity of each row.
    pub prices: Vec<f64>,
}

impl Factors {
    /// Factors a basis. Returns `None` if it is nearly singular.
    pub fn of(keys: &Keys<'_>) -> Option<Self> {
        let n = keys.basis.len();
        let (mut lu, mut scale) = (vec![0.0; n * n], vec![0.0; n]);
        for (at, column) in keys.basis.iter().enumerate() {
            let entries = keys.column(*column);
            // Columns of small groups have small entries.
            scale[at] = 1.0 / entries.iter().fold(0.0, |most: f64, entry| most.max(entry.abs()));
            for (row, entry) in entries.into_iter().enumerate() {
                lu[row * n + at] = entry * scale[at];
            }
        }
        let order = factor(&mut lu, n)?;
        let level = keys.basis.iter().position(|column| *column == Column::Level)?;
        let free = keys.basis.iter().enumerate().filter_map(|(at, column)| match column {
            Column::Slack(row) => Some((at, *row)),
            _ => None,
        });
        let free = free.collect();
        let mut factors = Self { lu, order, scale, free, level, values: Vec::new(), prices: Vec::new() };
        let left: Vec<f64> = keys.fixed_load.iter().map(|load| 1.0 - load).collect();
        factors.values = factors.solve(&left);
        factors.prices = factors.transposed(keys.basis.iter().map(|column| keys.worth(*column)).collect());
        factors.free.iter().for_each(|(_, row)| factors.prices[*row] = 0.0);
        let mut all = factors.values.iter().chain(&factors.prices);
        all.all(|value| value.is_finite()).then_some(factors)
    }

    /// Solves `B x = b`. `x` is indexed by column of the basis `B`.
    fn solve(&self, b: &[f64]) -> Vec<f64> {
        let n = self.order.len();
        let mut x: Vec<f64> = self.order.iter().map(|row| b[*row]).collect();
        for k in 0..n {
            let done: f64 = self.lu[k * n..][..k].iter().zip(&x).map(|(l, x)| l * x).sum();
            x[k] -= done;
        }
        for k in (0..n).rev() {
            let right = &self.lu[k * n + k + 1..(k + 1) * n];
            let done: f64 = right.iter().zip(&x[k + 1..]).map(|(u, x)| u * x).sum();
            x[k] = (x[k] - done) / self.lu[k * n + k];
        }
        x.iter_mut().zip(&self.scale).for_each(|(x, scale)| *x *= scale);
        x
    }

    /// Returns a row of the inverse of the basis, indexed by row of the programme.
    pub fn row(&self, at: usize) -> Vec<f64> {
        let mut one = vec![0.0; self.order.len()];
        one[at] = 1.0;
        let mut row = self.transposed(one);
        // Free rows keep the price 0 exactly, without rounding errors.
        self.free.iter().filter(|(slack, _)| *slack != at).for_each(|(_, free)| row[*free] = 0.0);
        row
    }

    /// Solves `p B = c`. `p` is indexed by row of the programme.
    fn transposed(&self, mut c: Vec<f64>) -> Vec<f64> {
        let n = self.order.len();
        c.iter_mut().zip(&self.scale).for_each(|(c, scale)| *c *= scale);
        let first = c.iter().position(|entry| *entry != 0.0).unwrap_or(n);
        for k in first..n {
            c[k] /= self.lu[k * n + k];
            for j in k + 1..n {
                c[j] -= self.lu[k * n + j] * c[k];
            }
        }
        for k in (0..n).rev() {
            for j in 0..k {
                c[j] -= self.lu[k * n + j] * c[k];
            }
        }
        let mut p = vec![0.0; n];
        self.order.iter().zip(c).for_each(|(row, entry)| p[*row] = entry);
        p
    }
}

/// Factors a matrix of `n` rows in place, with the largest pivot of each column. Returns the
/// resulting order of its rows.
fn factor(lu: &mut [f64], n: usize) -> Option<Vec<usize>> {
    let mut order: Vec<usize> = (0..n).collect();
    for k in 0..n {
        let pivot = (k..n).max_by(|a, b| lu[a * n + k].abs().total_cmp(&lu[b * n + k].abs()))?;
        if lu[pivot * n + k].is_nan() || lu[pivot * n + k].abs() <= KEYS.singular {
            return None;
        }
        if pivot != k {
            order.swap(k, pivot);
            (0..n).for_each(|j| lu.swap(k * n + j, pivot * n + j));
        }
        let (above, below) = lu.split_at_mut((k + 1) * n);
        let pivot_row = &above[k * n..];
        for row in below.chunks_mut(n).filter(|row| row[k] != 0.0) {
            row[k] /= pivot_row[k];
            let factor = row[k];
            for (entry, of) in row[k + 1..].iter_mut().zip(&pivot_row[k + 1..]) {
                *entry -= factor * of;
            }
        }
    }
    Some(order)
}

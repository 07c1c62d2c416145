//! Dense systems of equations.
//!
//! Small systems with dependent equations are solved by elimination with complete pivoting. The
//! symmetric systems of Newton's method are scaled to a unit diagonal and solved by Cholesky
//! factorisation.

use nalgebra::{Cholesky, DMatrix, DVector, Dyn, FullPivLU};

/// Pivots below this fraction of the first pivot count as 0, because the remaining equations then depend on the
/// equations before.
const LEAST_PIVOT: f64 = 1e-11;

/// Solves `matrix x = right`.
///
/// Unknowns that the equations do not determine are 0. Equations that contradict the others are
/// ignored. Returns `None` if a number is not finite or the sizes do not match.
#[must_use]
pub fn solve(matrix: DMatrix<f64>, right: Vec<f64>) -> Option<Vec<f64>> {
    let (rows, columns) = matrix.shape();
    if right.len() != rows || !matrix.iter().chain(&right).all(|value| value.is_finite()) {
        return None;
    }
    let (p, l, u, q) = FullPivLU::new(matrix).unpack();
    let rank = rank(&u, LEAST_PIVOT);
    let mut right = DVector::from_vec(right);
    p.permute_rows(&mut right);
    let mut solution = DVector::zeros(columns);
    solution.rows_mut(0, rank).copy_from(&right.rows(0, rank));
    let mut determined = solution.rows_mut(0, rank);
    l.view((0, 0), (rank, rank)).solve_lower_triangular_with_diag_mut(&mut determined, 1.0);
    u.view((0, 0), (rank, rank)).solve_upper_triangular_mut(&mut determined);
    q.inv_permute_rows(&mut solution);
    solution.iter().all(|value| value.is_finite()).then(|| solution.data.into())
}

/// Returns the rows and columns of the pivots that exceed the fraction `least` of the first pivot.
#[must_use]
pub fn pivots(matrix: DMatrix<f64>, least: f64) -> (Vec<usize>, Vec<usize>) {
    let (n_rows, n_columns) = matrix.shape();
    let (p, _, u, q) = FullPivLU::new(matrix).unpack();
    let rank = rank(&u, least);
    let mut rows = DVector::from_fn(n_rows, |row, _| row);
    p.permute_rows(&mut rows);
    let mut columns = DVector::from_fn(n_columns, |column, _| column).transpose();
    q.permute_columns(&mut columns);
    (rows.iter().take(rank).copied().collect(), columns.iter().take(rank).copied().collect())
}

/// Returns the number of pivots that exceed the fraction `least` of the first pivot.
fn rank(upper: &DMatrix<f64>, least: f64) -> usize {
    let (rows, columns) = upper.shape();
    let pivots = || (0..rows.min(columns)).map(|k| upper[(k, k)].abs());
    let first = pivots().next().unwrap_or_default();
    pivots().take_while(|pivot| *pivot > least * first).count()
}

/// A factored matrix `diag(scale)^-1 (L L^T) diag(scale)^-1`.
pub(crate) struct Factored {
    scale: DVector<f64>,
    factor: Cholesky<f64, Dyn>,
}

/// Factors a positive semidefinite matrix, of which only the lower triangle is read.
///
/// The first of the `ridges` that makes the matrix positive definite in doubles is added to the
/// unit diagonal. Rows that depend on each other make the matrix singular, and then any solution is
/// acceptable. Returns `None` if no ridge is enough, or a number is not finite.
pub(crate) fn factor(mut matrix: DMatrix<f64>, ridges: &[f64]) -> Option<Factored> {
    let size = matrix.nrows();
    let scale = DVector::from_fn(size, |j, _| {
        let diagonal = matrix[(j, j)];
        if diagonal > 0.0 { diagonal.sqrt().recip() } else { 1.0 }
    });
    for k in 0..size {
        for j in k..size {
            matrix[(j, k)] *= scale[j] * scale[k];
        }
    }
    if !matrix.lower_triangle().iter().all(|value| value.is_finite()) {
        return None;
    }
    let factor = ridges.iter().find_map(|ridge| {
        let mut regular = matrix.clone();
        regular.fill_diagonal(1.0 + ridge);
        Cholesky::new(regular)
    })?;
    Some(Factored { scale, factor })
}

impl Factored {
    /// Returns the solution of the system for a right-hand side.
    pub fn solve(&self, right: &DVector<f64>) -> DVector<f64> {
        self.factor.solve(&right.component_mul(&self.scale)).component_mul(&self.scale)
    }
}

#[cfg(test)]
mod tests {
    use approx::assert_relative_eq;
    use nalgebra::dmatrix;

    use super::*;

    #[test]
    fn solves_regular_and_refuses_singular_systems() {
        let x = solve(dmatrix![0.0, 2.0; 3.0, 1.0], vec![4.0, 5.0]).unwrap();
        assert_relative_eq!(x[0], 1.0, max_relative = 1e-15);
        assert_relative_eq!(x[1], 2.0, max_relative = 1e-15);
        let x = solve(dmatrix![1.0, 1.0, 0.0; 2.0, 2.0, 0.0], vec![3.0, 6.0]).unwrap();
        assert_relative_eq!(x[0] + x[1], 3.0, max_relative = 1e-15);
        assert_eq!(solve(dmatrix![f64::NAN], vec![1.0]), None);
        assert_eq!(solve(dmatrix![1.0], vec![]), None);
    }
}

//! The symmetric systems of Newton's method, scaled to a unit diagonal.

use nalgebra::{Cholesky, DMatrix, DVector, Dyn};

/// A factored matrix `diag(scale)^-1 (L L^T) diag(scale)^-1`.
pub(crate) struct Factored {
    scale: DVector<f64>,
    factor: Cholesky<f64, Dyn>,
}

/// Factors a positive semidefinite matrix, whose lower triangle is read. The first of the `ridges` that makes it positive
/// definite in doubles is added to the unit diagonal: rows that depend on each other make it singular, and any of the
/// solutions will do. `None` if there is none, or a number is not finite.
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
    /// The solution for this right-hand side.
    pub fn solve(&self, right: &DVector<f64>) -> DVector<f64> {
        self.factor.solve(&right.component_mul(&self.scale)).component_mul(&self.scale)
    }
}

//! The small symmetric systems of Newton's method, scaled to a unit diagonal.

use nalgebra::{Cholesky, DMatrix, DVector, Dyn};

/// Added to the unit diagonal: bottlenecks that depend on each other make the matrix singular, and
/// any of the solutions will do. Newton's method repeats, so this costs no accuracy.
const LEAST_REGULARISATION: f64 = 1e-14;

/// A factored matrix `diag(scale)^-1 (L L^T) diag(scale)^-1`.
pub(super) struct Factored {
    scale: DVector<f64>,
    factor: Cholesky<f64, Dyn>,
}

/// Factors the positive semidefinite matrix with the given entries `(j, k)`, `k <= j`. `None` if
/// it is not finite.
pub(super) fn factor(size: usize, entry: impl Fn(usize, usize) -> f64) -> Option<Factored> {
    let scale = DVector::from_fn(size, |j, _| {
        let diagonal = entry(j, j);
        if diagonal > 0.0 { 1.0 / diagonal.sqrt() } else { 1.0 }
    });
    let mut regularisation = LEAST_REGULARISATION;
    while regularisation < 1.0 {
        let matrix = DMatrix::from_fn(size, size, |j, k| {
            if k < j {
                entry(j, k) * scale[j] * scale[k]
            } else if k == j {
                1.0 + regularisation
            } else {
                0.0
            }
        });
        if matrix.iter().any(|value| !value.is_finite()) {
            return None;
        }
        if let Some(factor) = Cholesky::new(matrix) {
            return Some(Factored { scale, factor });
        }
        regularisation *= 100.0;
    }
    None
}

impl Factored {
    /// Solves in place.
    pub fn solve(&self, rhs: &mut [f64]) {
        let mut scaled = DVector::from_fn(rhs.len(), |j, _| rhs[j] * self.scale[j]);
        self.factor.solve_mut(&mut scaled);
        for (j, value) in rhs.iter_mut().enumerate() {
            *value = scaled[j] * self.scale[j];
        }
    }
}

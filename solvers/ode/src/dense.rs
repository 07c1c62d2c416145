//! Small dense systems of equations, some of which may say the same.

use ndarray::Array2;

/// Pivots below this part of the first count as 0: what is left of the equations depends on the others.
const LEAST_PIVOT: f64 = 1e-11;

/// A solution of `matrix x = right` by elimination with complete pivoting; unknowns that the equations
/// do not tell are 0, equations that contradict the others are left. `None` where a number is not finite
/// or the sizes do not fit.
#[must_use]
pub fn solve(mut matrix: Array2<f64>, mut right: Vec<f64>) -> Option<Vec<f64>> {
    let (rows, columns) = matrix.dim();
    if right.len() != rows || !matrix.iter().chain(&right).all(|value| value.is_finite()) {
        return None;
    }
    let mut pivots: Vec<(usize, usize)> = Vec::new();
    let (mut row_is_free, mut column_is_free) = (vec![true; rows], vec![true; columns]);
    let mut first = 0.0;
    for _ in 0..rows.min(columns) {
        let mut best = (0.0_f64, 0, 0);
        for ((r, c), value) in matrix.indexed_iter() {
            if row_is_free[r] && column_is_free[c] && value.abs() > best.0 {
                best = (value.abs(), r, c);
            }
        }
        let (size, row, column) = best;
        first = if pivots.is_empty() { size } else { first };
        if size <= LEAST_PIVOT * first {
            break;
        }
        (row_is_free[row], column_is_free[column]) = (false, false);
        let pivot = matrix.row(row).to_owned();
        for r in (0..rows).filter(|r| row_is_free[*r]) {
            let factor = matrix[(r, column)] / pivot[column];
            if factor != 0.0 {
                matrix.row_mut(r).scaled_add(-factor, &pivot);
                right[r] -= factor * right[row];
            }
        }
        pivots.push((row, column));
    }
    let mut solution = vec![0.0; columns];
    for (row, column) in pivots.into_iter().rev() {
        let known: f64 = matrix.row(row).iter().zip(&solution).map(|(a, x)| a * x).sum();
        solution[column] = (right[row] - known) / matrix[(row, column)];
    }
    solution.iter().all(|value| value.is_finite()).then_some(solution)
}

#[cfg(test)]
mod tests {
    use approx::assert_relative_eq;
    use ndarray::array;

    use super::*;

    #[test]
    fn regular_and_singular_systems() {
        let x = solve(array![[0.0, 2.0], [3.0, 1.0]], vec![4.0, 5.0]).unwrap();
        assert_relative_eq!(x[0], 1.0, max_relative = 1e-15);
        assert_relative_eq!(x[1], 2.0, max_relative = 1e-15);
        let x = solve(array![[1.0, 1.0, 0.0], [2.0, 2.0, 0.0]], vec![3.0, 6.0]).unwrap();
        assert_relative_eq!(x[0] + x[1], 3.0, max_relative = 1e-15);
        assert_eq!(solve(array![[f64::NAN]], vec![1.0]), None);
        assert_eq!(solve(array![[1.0]], vec![]), None);
    }
}

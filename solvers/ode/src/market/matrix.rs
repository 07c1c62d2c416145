//! Solves `A x = b` for a symmetric `A` whose elements off the diagonal are at most 0 and whose rows have sums above 0, without
//! a single subtraction in the elimination: every element is as accurate as those of `A`, however far apart they are
//! (the elimination of Grassmann, Taksar and Heyman for Markov chains).

/// `coupling` holds the negatives of the elements above the diagonal, rows in turn; `surplus` the sums of the rows.
/// `None` where a pivot is not positive or leaves the range of doubles.
pub fn solve(mut coupling: Vec<f64>, mut surplus: Vec<f64>, mut right: Vec<f64>) -> Option<Vec<f64>> {
    let size = surplus.len();
    for i in 0..size {
        for j in 0..i {
            coupling[i * size + j] = coupling[j * size + i];
        }
        coupling[i * size + i] = 0.0;
    }
    let mut pivots = vec![0.0; size];
    for k in 0..size {
        let (done, rest) = coupling.split_at_mut((k + 1) * size);
        let row = &done[k * size..];
        let pivot = surplus[k] + row[k + 1..].iter().sum::<f64>();
        if !(pivot.is_finite() && pivot > 0.0) {
            return None;
        }
        pivots[k] = pivot;
        for i in k + 1..size {
            let factor = row[i] / pivot;
            if factor > 0.0 {
                let other = &mut rest[(i - k - 1) * size..(i - k) * size];
                for (a, b) in other[k + 1..].iter_mut().zip(&row[k + 1..]) {
                    *a += factor * b;
                }
                other[i] = 0.0;
                surplus[i] += factor * surplus[k];
                right[i] += factor * right[k];
            }
        }
    }
    let mut solution = right;
    for k in (0..size).rev() {
        let row = &coupling[k * size..(k + 1) * size];
        let sum: f64 = row[k + 1..].iter().zip(&solution[k + 1..]).map(|(a, x)| a * x).sum();
        solution[k] = (solution[k] + sum) / pivots[k];
    }
    solution.iter().all(|x| x.is_finite()).then_some(solution)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearly_singular_systems_keep_their_digits() {
        // [1 + e, -1; -1, 1 + e] x = (e, e) has the solution (1, 1), however small e is.
        let e = 1e-30;
        let x = solve(vec![0.0, 1.0, 0.0, 0.0], vec![e, e], vec![e, e]).unwrap();
        assert!(x.iter().all(|x| (x - 1.0).abs() < 1e-14), "{x:?}");
        assert_eq!(solve(vec![0.0], vec![0.0], vec![1.0]), None);
    }

    #[test]
    fn a_chain_is_solved() {
        // -2, -3 between neighbours, sums 1, 0, 4; x = (1, 2, 3).
        let coupling = vec![0.0, 2.0, 0.0, 0.0, 0.0, 3.0, 0.0, 0.0, 0.0];
        let x = solve(coupling, vec![1.0, 0.0, 4.0], vec![-1.0, -1.0, 15.0]).unwrap();
        for (x, right) in x.iter().zip([1.0, 2.0, 3.0]) {
            assert!((x - right).abs() < 1e-14, "{x} {right}");
        }
    }
}

//! Sparse linear equations in doubles.

use super::super::elimination::{Equation, eliminate};

/// Relative size of a pivot that counts as none.
const NO_PIVOT: f64 = 1e-11;
/// Relative size of a right-hand side that contradicts an equation without coefficients.
const CONTRADICTION: f64 = 1e-9;

/// A solution of `equations` in `n` unknowns, their numbers on the right-hand side. What the equations
/// leave free is 0, if `free` allows any. `None` when they contradict each other.
pub fn solve(equations: Vec<Equation>, n: usize, free: bool) -> Option<Vec<f64>> {
    let mut rows: Vec<Equation> = equations.into_iter().filter_map(scaled).collect();
    let pivots = eliminate(&mut rows, n, NO_PIVOT, |rhs| rhs.abs() <= CONTRADICTION).ok()?;
    if pivots.len() < n && !free {
        return None;
    }
    let mut x = vec![0.0; n];
    for (k, column) in pivots.into_iter().rev() {
        let (entries, rhs) = &rows[k];
        let (mut rest, mut pivot) = (*rhs, 1.0);
        for (c, v) in entries {
            if *c == column {
                pivot = *v;
            } else {
                rest -= v * x[*c];
            }
        }
        x[column] = rest / pivot;
    }
    x.iter().all(|x| x.is_finite()).then_some(x)
}

/// The equation with a largest coefficient of 1; `None` without one.
fn scaled((mut entries, mut rhs): Equation) -> Option<Equation> {
    let size = entries.iter().fold(0.0_f64, |size, (_, v)| size.max(v.abs()));
    if size == 0.0 {
        return None;
    }
    entries.iter_mut().for_each(|(_, v)| *v /= size);
    entries.retain(|(_, v)| *v != 0.0);
    rhs /= size;
    Some((entries, rhs))
}

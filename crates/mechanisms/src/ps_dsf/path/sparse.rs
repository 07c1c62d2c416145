//! Sparse linear equations in doubles with one unknown more than equations.

use super::super::elimination::{Equation, eliminate};
use super::equations::Moving;

/// A pivot below this is none, where columns and equations have a largest entry of 1.
const NO_PIVOT: f64 = 1e-10;

/// The line on which `equations` in one unknown more hold: the unknowns as they move with the one that
/// no equation determines, which stands at `free_at`. The number of an equation makes the sum 0.
///
/// # Errors
/// An equation that depends on others, where the solutions are more than a line.
pub fn line(equations: Vec<Equation>, free_at: impl Fn(usize) -> f64) -> Result<Vec<Moving>, usize> {
    let n = equations.len() + 1;
    let mut size = vec![0.0_f64; n];
    for (column, value) in equations.iter().flat_map(|(entries, _)| entries) {
        size[*column] = size[*column].max(value.abs());
    }
    size.iter_mut().filter(|size| **size == 0.0).for_each(|size| *size = 1.0);
    let mut rows: Vec<Equation> = equations.into_iter().map(|equation| scaled(equation, &size)).collect();
    let pivots = eliminate(&mut rows, n, NO_PIVOT, |_| false)?;
    let mut is_free = vec![true; n];
    pivots.iter().for_each(|(_, column)| is_free[*column] = false);
    let free = is_free.iter().position(|free| *free).unwrap_or(n - 1);
    let mut x = vec![Moving::default(); n];
    x[free] = Moving { at: free_at(free) * size[free], by: size[free] };
    for (row, column) in pivots.into_iter().rev() {
        let (entries, constant) = &rows[row];
        let (mut sum, mut pivot) = (Moving { at: *constant, by: 0.0 }, 1.0);
        for (c, value) in entries {
            if *c == column {
                pivot = *value;
            } else {
                sum.at += value * x[*c].at;
                sum.by += value * x[*c].by;
            }
        }
        x[column] = Moving { at: -sum.at / pivot, by: -sum.by / pivot };
    }
    x.iter_mut().zip(&size).for_each(|(x, size)| *x = Moving { at: x.at / size, by: x.by / size });
    if x.iter().all(|x| x.at.is_finite() && x.by.is_finite()) { Ok(x) } else { Err(0) }
}

/// Columns by their size, and the equation so that its largest coefficient is 1.
fn scaled((mut entries, constant): Equation, size: &[f64]) -> Equation {
    entries.iter_mut().for_each(|(column, value)| *value /= size[*column]);
    let largest = entries.iter().fold(0.0_f64, |largest, (_, value)| largest.max(value.abs()));
    let factor = if largest > 0.0 { largest } else { 1.0 };
    entries.iter_mut().for_each(|(_, value)| *value /= factor);
    entries.retain(|(_, value)| *value != 0.0);
    (entries, constant / factor)
}

//! Solution of sparse linear equations in doubles with one unknown more than there are equations.

use super::piece::Affine;

/// An equation: coefficients with their columns (each column at most once), and a constant. The sum of all
/// terms is 0.
pub type Equation = (Vec<(usize, f64)>, f64);

/// The size below which a coefficient counts as a rounding error and is no pivot. Columns and equations are scaled to
/// a largest coefficient of 1.
const NO_PIVOT: f64 = 1e-10;

/// Returns the line of solutions of `equations`, which have one unknown more than there are equations. The
/// unknowns are functions of the free unknown, which has the value `free_at` of its column.
///
/// # Errors
/// Returns an equation that depends on other equations, if the solutions are more than a line.
pub fn line(equations: Vec<Equation>, free_at: impl Fn(usize) -> f64) -> Result<Vec<Affine>, usize> {
    let n = equations.len() + 1;
    let mut size = vec![0.0_f64; n];
    for (column, value) in equations.iter().flat_map(|(entries, _)| entries) {
        size[*column] = size[*column].max(value.abs());
    }
    size.iter_mut().filter(|size| **size == 0.0).for_each(|size| *size = 1.0);
    let mut rows: Vec<Equation> = equations.into_iter().map(|equation| in_units(equation, &size)).collect();
    let pivots = eliminate(&mut rows, n)?;
    let mut is_free = vec![true; n];
    pivots.iter().for_each(|(_, column)| is_free[*column] = false);
    let free = is_free.iter().position(|free| *free).unwrap_or(n - 1);
    let mut x = vec![Affine::default(); n];
    x[free] = Affine { value: free_at(free) * size[free], slope: size[free] };
    for (row, column) in pivots.into_iter().rev() {
        let (entries, constant) = &rows[row];
        let (mut sum, mut pivot) = (Affine::constant(*constant), 1.0);
        for (c, value) in entries {
            if *c == column {
                pivot = *value;
            } else {
                sum = sum + x[*c] * *value;
            }
        }
        x[column] = sum / -pivot;
    }
    x.iter_mut().zip(&size).for_each(|(x, size)| *x = *x / *size);
    if x.iter().all(|x| x.value.is_finite() && x.slope.is_finite()) { Ok(x) } else { Err(0) }
}

/// Returns an equation with the columns divided by their sizes, and the equation divided by its largest
/// coefficient.
fn in_units((mut entries, constant): Equation, size: &[f64]) -> Equation {
    entries.iter_mut().for_each(|(column, value)| *value /= size[*column]);
    let largest = entries.iter().fold(0.0_f64, |largest, (_, value)| largest.max(value.abs()));
    let factor = if largest > 0.0 { largest } else { 1.0 };
    entries.iter_mut().for_each(|(_, value)| *value /= factor);
    entries.retain(|(_, value)| *value != 0.0);
    (entries, constant / factor)
}

/// Eliminates `n` columns in place by Gaussian elimination. The next equation is always the shortest
/// (Markowitz' rule by rows), and its largest coefficient is the pivot. Returns the pairs
/// `(equation, column)` of the pivots in order.
///
/// # Errors
/// Returns an equation that depends on the equations before it.
fn eliminate(rows: &mut [Equation], n: usize) -> Result<Vec<(usize, usize)>, usize> {
    let mut of_column: Vec<Vec<usize>> = vec![Vec::new(); n];
    for (k, (entries, _)) in rows.iter().enumerate() {
        entries.iter().for_each(|(column, _)| of_column[*column].push(k));
    }
    let mut left: Vec<usize> = (0..rows.len()).collect();
    let mut done = vec![false; rows.len()];
    let mut dense = vec![0.0; n];
    let mut pivots = Vec::with_capacity(rows.len());
    while let Some(at) = (0..left.len()).min_by_key(|at| (rows[left[*at]].0.len(), left[*at])) {
        let k = left.swap_remove(at);
        done[k] = true;
        let (entries, number) = std::mem::take(&mut rows[k]);
        let largest = entries.iter().copied().max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()));
        let Some((column, pivot)) = largest.filter(|(_, value)| value.abs() >= NO_PIVOT) else {
            return Err(k);
        };
        for other in std::mem::take(&mut of_column[column]) {
            if done[other] {
                continue;
            }
            let Some(position) = rows[other].0.iter().position(|(c, _)| *c == column) else { continue };
            let factor = rows[other].0.swap_remove(position).1 / pivot;
            let (target, target_number) = &mut rows[other];
            entries.iter().for_each(|(c, value)| dense[*c] = factor * value);
            dense[column] = 0.0;
            for (c, value) in target.iter_mut() {
                *value -= std::mem::take(&mut dense[*c]);
            }
            for (c, _) in &entries {
                let value = std::mem::take(&mut dense[*c]);
                if value != 0.0 {
                    target.push((*c, -value));
                    of_column[*c].push(other);
                }
            }
            target.retain(|(_, value)| *value != 0.0);
            *target_number -= factor * number;
        }
        pivots.push((k, column));
        rows[k] = (entries, number);
    }
    Ok(pivots)
}

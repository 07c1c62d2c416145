//! Sparse linear equations in doubles.

/// An equation: coefficients by column, and the right-hand side.
pub type Equation = (Vec<(usize, f64)>, f64);

/// Relative size of a pivot that counts as none.
const NO_PIVOT: f64 = 1e-11;
/// Relative size of a right-hand side that contradicts an equation without coefficients.
const CONTRADICTION: f64 = 1e-9;

/// A solution of `equations` in `n` unknowns by elimination: the shortest equation next, its largest
/// coefficient as the pivot. What the equations leave free is 0, if `free` allows any. `None` when
/// they contradict each other.
pub fn solve(equations: Vec<Equation>, n: usize, free: bool) -> Option<Vec<f64>> {
    let mut rows: Vec<Equation> = equations.into_iter().filter_map(scaled).collect();
    let mut of_column: Vec<Vec<usize>> = vec![Vec::new(); n];
    for (k, (entries, _)) in rows.iter().enumerate() {
        entries.iter().for_each(|(column, _)| of_column[*column].push(k));
    }
    let mut left: Vec<usize> = (0..rows.len()).collect();
    let mut pivots: Vec<(usize, usize)> = Vec::with_capacity(n);
    let mut done = vec![false; rows.len()];
    let mut dense = vec![0.0; n];
    while let Some(at) = (0..left.len()).min_by_key(|at| (rows[left[*at]].0.len(), left[*at])) {
        let k = left.swap_remove(at);
        done[k] = true;
        let (entries, rhs) = std::mem::take(&mut rows[k]);
        let largest = entries.iter().copied().max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()));
        let Some((column, pivot)) = largest.filter(|(_, v)| v.abs() >= NO_PIVOT) else {
            if rhs.abs() > CONTRADICTION {
                return None;
            }
            continue;
        };
        for other in std::mem::take(&mut of_column[column]) {
            if done[other] {
                continue;
            }
            let Some(position) = rows[other].0.iter().position(|(c, _)| *c == column) else { continue };
            let factor = rows[other].0.swap_remove(position).1 / pivot;
            let (target, target_rhs) = &mut rows[other];
            entries.iter().for_each(|(c, v)| dense[*c] = factor * v);
            dense[column] = 0.0;
            for (c, v) in target.iter_mut() {
                *v -= dense[*c];
                dense[*c] = 0.0;
            }
            for (c, _) in &entries {
                if dense[*c] != 0.0 {
                    target.push((*c, -dense[*c]));
                    of_column[*c].push(other);
                    dense[*c] = 0.0;
                }
            }
            target.retain(|(_, v)| *v != 0.0);
            *target_rhs -= factor * rhs;
        }
        pivots.push((k, column));
        rows[k] = (entries, rhs);
    }
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

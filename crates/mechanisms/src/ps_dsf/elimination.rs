//! Elimination in sparse linear equations in doubles.

/// An equation: coefficients by column, no column twice, and a number, on whichever side.
pub type Equation = (Vec<(usize, f64)>, f64);

/// Eliminates in place, the shortest equation next, with its largest coefficient as the pivot;
/// `(equation, column)` of the pivots in their order. A coefficient below `no_pivot` is none: of an
/// equation that has no other, `dependent` decides by what is left of its number whether it is left out.
///
/// # Errors
/// The equation that is not.
pub fn eliminate(
    rows: &mut [Equation],
    n: usize,
    no_pivot: f64,
    dependent: impl Fn(f64) -> bool,
) -> Result<Vec<(usize, usize)>, usize> {
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
        let Some((column, pivot)) = largest.filter(|(_, value)| value.abs() >= no_pivot) else {
            if dependent(number) {
                continue;
            }
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

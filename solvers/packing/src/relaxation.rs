//! Resource prices that bound the value of a knapsack: the dual of its relaxation, in floating point.
//!
//! The dual of `max p x` over `d x <= c`, `x >= 0` is `min m c` over `m d_j >= p_j`, `m >= 0`. A dense simplex tableau
//! with one row for each resource solves it in a few pivots. Rounding errors cause no wrong bound: the callers round
//! the prices up to integers that satisfy the inequalities exactly.

use crate::settings::PACKING;
/// Computes the prices `m` of the resources, and the optimal basis.
///
/// `types` lists the profit and the demands `(p_j, d_j)` of each type. `capacity` lists the capacities `c`. An entry of
/// the basis is a type, or the number of types plus `r` for the slack of resource `r`.
pub fn prices(types: &[(f64, &[f64])], capacity: &[f64]) -> (Vec<f64>, Vec<usize>) {
    let (n_rows, n_types) = (capacity.len(), types.len());
    // A row contains the entries of the types, then the entries of the slacks, then the right-hand side.
    let width = n_types + n_rows + 1;
    let mut rows: Vec<Vec<f64>> = (0..n_rows)
        .map(|r| {
            let mut row = vec![0.0; width];
            for (entry, (_, demand)) in row.iter_mut().zip(types) {
                *entry = demand[r];
            }
            row[n_types + r] = 1.0;
            row[width - 1] = capacity[r];
            row
        })
        .collect();
    let mut basis: Vec<usize> = (n_types..n_types + n_rows).collect();
    let mut costs = vec![0.0; width];
    for (cost, (profit, _)) in costs.iter_mut().zip(types) {
        *cost = *profit;
    }
    for _ in 0..50 * (n_rows + 1) {
        // Dantzig's rule, then the ratio test.
        let mut entering = None;
        let mut most = PACKING.tolerance;
        for (k, cost) in costs[..width - 1].iter().enumerate() {
            if *cost > most {
                (entering, most) = (Some(k), *cost);
            }
        }
        let Some(entering) = entering else { break };
        let mut leaving: Option<(f64, usize)> = None;
        for (r, row) in rows.iter().enumerate() {
            if row[entering] > 1e-12 {
                let ratio = row[width - 1] / row[entering];
                if leaving.is_none_or(|(least, _)| ratio < least) {
                    leaving = Some((ratio, r));
                }
            }
        }
        let Some((_, leaving)) = leaving else { break };
        let mut pivot_row = std::mem::take(&mut rows[leaving]);
        let pivot = pivot_row[entering];
        pivot_row.iter_mut().for_each(|entry| *entry /= pivot);
        for row in rows.iter_mut().chain([&mut costs]).filter(|row| !row.is_empty()) {
            let factor = row[entering];
            if factor != 0.0 {
                row.iter_mut().zip(&pivot_row).for_each(|(entry, pivot)| *entry -= factor * pivot);
            }
        }
        rows[leaving] = pivot_row;
        basis[leaving] = entering;
    }
    (costs[n_types..width - 1].iter().map(|cost| (-cost).max(0.0)).collect(), basis)
}

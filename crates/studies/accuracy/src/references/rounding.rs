//! Rationals with a bounded number of bits, and a solver of linear systems for them.

use evenhand_problem::Rational;
use rug::Integer;
use rug::ops::Pow;

/// The number of bits to which iterates are rounded, relative to each number. This gives some 300 digits. The
/// error of a level is the square root of the gap, so half of these digits remain, and 100 of them are
/// needed.
pub(super) const BITS: u32 = 1024;
/// An equation that loses this number of bits by cancellation counts as dependent on other equations. Which
/// equations are dependent follows from the classes on which users run, whatever the iterate is. The
/// remainder of a dependent equation is only rounding error.
const DEPENDENT: f64 = 300.0;

/// Rounds a number towards 0 to `BITS` bits.
pub(super) fn rounded(value: &Rational) -> Rational {
    if value.is_zero() {
        return Rational::new();
    }
    let size = i64::from(value.numer().significant_bits()) - i64::from(value.denom().significant_bits());
    let shift = i64::from(BITS) - size;
    let scaled = if shift >= 0 {
        Integer::from(value.numer() << shift as u32) / value.denom()
    } else {
        value.numer() / Integer::from(value.denom() << shift.unsigned_abs() as u32)
    };
    let power = Rational::from(2).pow(shift.unsigned_abs() as u32);
    if shift >= 0 { Rational::from(scaled) / power } else { Rational::from(scaled) * power }
}

/// Solves a linear system with the right-hand sides in the last column. Unknowns that the equations do not
/// determine are set to 0. Such unknowns are prices of dependent bottlenecks, or tasks of users that have a
/// choice of classes, and every value of them is equally good.
pub(super) fn eliminate(mut rows: Vec<Vec<Rational>>) -> Vec<Rational> {
    let size = rows.len();
    // The logarithm of the largest entry of every row, and of every column after each row was divided by its largest
    // entry.
    let largest = |entries: &mut dyn Iterator<Item = f64>| entries.fold(f64::MIN, f64::max);
    let of_rows: Vec<f64> = rows.iter().map(|row| largest(&mut row[..size].iter().map(log2))).collect();
    let of_column =
        |k: usize| largest(&mut rows.iter().zip(&of_rows).map(|(row, scale)| log2(&row[k]) - scale));
    let of_columns: Vec<f64> = (0..size).map(of_column).collect();
    let mut order: Vec<(usize, usize)> = Vec::with_capacity(size);
    let mut left: Vec<usize> = (0..size).collect();
    let mut open: Vec<usize> = (0..size).collect();
    loop {
        let entries = left.iter().flat_map(|&j| open.iter().map(move |&k| (j, k)));
        let entries = entries.filter(|(j, k)| !rows[*j][*k].is_zero());
        let entries = entries.map(|(j, k)| (log2(&rows[j][k]) - of_rows[j] - of_columns[k], j, k));
        let Some((kept, pivot, column)) = entries.max_by(|a, b| a.0.total_cmp(&b.0)) else { break };
        if kept < -DEPENDENT {
            break;
        }
        left.retain(|&j| j != pivot);
        open.retain(|&k| k != column);
        let pivot_row = rows[pivot].clone();
        for &j in &left {
            if rows[j][column].is_zero() {
                continue;
            }
            let factor = rounded(&Rational::from(&rows[j][column] / &pivot_row[column]));
            for &k in open.iter().chain([&size]).filter(|k| !pivot_row[**k].is_zero()) {
                rows[j][k] = rounded(&(&rows[j][k] - Rational::from(&factor * &pivot_row[k])));
            }
        }
        order.push((pivot, column));
    }
    let mut solution = vec![Rational::new(); size];
    for (done, &(pivot, column)) in order.iter().enumerate().rev() {
        let known = order[done + 1..].iter().map(|(_, k)| Rational::from(&rows[pivot][*k] * &solution[*k]));
        let known: Rational = known.sum();
        solution[column] = rounded(&((&rows[pivot][size] - known) / &rows[pivot][column]));
    }
    solution
}

/// Returns the binary logarithm of the absolute value, with an error of at most 1. Returns a very small number for 0.
fn log2(value: &Rational) -> f64 {
    if value.is_zero() {
        return f64::MIN / 4.0;
    }
    f64::from(value.numer().significant_bits()) - f64::from(value.denom().significant_bits())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_keeps_the_leading_bits() {
        for (p, q) in [(1, 3), (-22, 7), (1_000_000_007, 3), (5, 1), (0, 1)] {
            for shift in [0, 700, 3000] {
                for value in [
                    Rational::from((Integer::from(p) << shift, q)),
                    Rational::from((Integer::from(p), Integer::from(q) << shift)),
                ] {
                    let error = (&value - rounded(&value)).abs();
                    assert!(error <= value.clone().abs() / (Integer::from(1) << (BITS - 2)));
                    assert!(rounded(&value).abs() <= value.abs());
                }
            }
        }
    }
}

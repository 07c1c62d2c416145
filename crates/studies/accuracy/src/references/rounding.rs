//! Rationals of a bounded number of bits: exact where they need not be short, short where they need
//! not be exact.

use evenhand_problem::Rational;
use rug::Integer;
use rug::ops::Pow;

/// Bits to which iterates are rounded, relative to each number.
pub(super) const BITS: u32 = 512;
/// Bits of cancellation at which bottlenecks count as dependent.
const DEPENDENT: u32 = 150;

/// The nearest number with [`BITS`] bits, towards 0.
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

/// Solves a symmetric positive semidefinite system, right-hand sides last, pivots on the diagonal.
/// Unknowns on which the others leave nothing to decide are 0: prices of dependent bottlenecks are
/// not unique, and those of the start are as good as any.
pub(super) fn eliminate(mut rows: Vec<Vec<Rational>>) -> Option<Vec<Rational>> {
    let size = rows.len();
    let negligible = Rational::from((1, Integer::from(1) << DEPENDENT));
    let scale: Vec<Rational> = (0..size).map(|j| rows[j][j].clone()).collect();
    let mut left: Vec<usize> = (0..size).filter(|&j| scale[j] > 0).collect();
    let mut order = Vec::with_capacity(size);
    loop {
        let kept = |j: usize| Rational::from(&rows[j][j] / &scale[j]);
        let Some(pivot) = left.iter().copied().max_by_key(|&j| kept(j)) else { break };
        if kept(pivot) <= negligible {
            break;
        }
        left.retain(|&j| j != pivot);
        let pivot_row = rows[pivot].clone();
        for &j in &left {
            let factor = rounded(&Rational::from(&rows[j][pivot] / &pivot_row[pivot]));
            for (entry, above) in rows[j].iter_mut().zip(&pivot_row) {
                *entry = rounded(&(&*entry - Rational::from(&factor * above)));
            }
        }
        order.push(pivot);
    }
    let mut solution = vec![Rational::new(); size];
    for (done, &pivot) in order.iter().enumerate().rev() {
        let known = order[done + 1..].iter().map(|&k| Rational::from(&rows[pivot][k] * &solution[k]));
        let known: Rational = known.sum();
        solution[pivot] = rounded(&((&rows[pivot][size] - known) / &rows[pivot][pivot]));
    }
    (!order.is_empty() || size == 0 || rows.iter().all(|row| row[size].is_zero())).then_some(solution)
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

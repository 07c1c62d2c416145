//! Short rationals near doubles, and equations that may leave some numbers free.

use evenhand_exact::linear::{Lu, SparseRow};
use evenhand_problem::Rational;

/// Relative distance of a free number from the limit.
const NEAR: f64 = 1e-9;

/// Solves the equations in `values`, whose entries stay where the equations leave them free. Equations
/// that depend on others are left out: whether they hold is for the caller to check.
pub fn solve_rows(rows: Vec<(SparseRow, Rational)>, values: &mut [Rational]) {
    let mut kept: Vec<(SparseRow, Rational)> =
        rows.into_iter().filter(|(entries, _)| entries.iter().any(|(_, value)| *value != 0)).collect();
    loop {
        let matrix = kept.iter().map(|(entries, _)| entries.clone()).collect();
        match Lu::factor(matrix, values.len()) {
            Ok(lu) => {
                let rhs = kept.into_iter().map(|(_, rhs)| rhs).collect();
                return lu.solve(rhs, values);
            }
            Err(singular) => {
                kept.remove(singular.row);
            }
        }
    }
}

/// The rational with the least denominator within [`NEAR`] of a double, relative to it.
pub fn simplest_near(value: f64) -> Rational {
    let centre = Rational::from_f64(value).unwrap_or_default();
    if centre <= 0 {
        return Rational::new();
    }
    let width = Rational::from_f64(value * NEAR).unwrap_or_default();
    simplest_between(Rational::from(&centre - &width), Rational::from(&centre + &width))
}

/// The simplest rational between two positive ones, by their continued fractions.
fn simplest_between(mut low: Rational, mut high: Rational) -> Rational {
    let mut quotients = Vec::new();
    loop {
        let whole = low.clone().floor();
        if whole == low || Rational::from(&whole + 1) <= high {
            let last = if whole == low { whole } else { whole + 1 };
            return quotients.into_iter().rev().fold(last, |value, q: Rational| q + value.recip());
        }
        let (a, b) = (high - &whole, low - &whole);
        (low, high) = (a.recip(), b.recip());
        quotients.push(whole);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_simplest_rational() {
        for (p, q) in [(1, 3), (22, 7), (355, 113), (5, 1), (1, 1000), (83, 249)] {
            let value = Rational::from((p, q));
            assert_eq!(simplest_near(value.to_f64()), value);
        }
        assert_eq!(simplest_near(0.0), 0);
        assert_eq!(simplest_near(-1.0), 0);
        assert_eq!(
            simplest_between(Rational::from((3, 10)), Rational::from((4, 10))),
            Rational::from((1, 3))
        );
    }
}

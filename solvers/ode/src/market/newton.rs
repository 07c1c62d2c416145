//! Newton's method with a line search for the prices of a market, in the logarithms of the prices.

use super::{Market, Totals};
use crate::settings::MARKET;

/// The result of [`minimise`].
#[derive(Debug, Clone, PartialEq)]
pub struct Ended {
    /// The number of Newton steps.
    pub steps: usize,
    /// True if no price would change by more than the precision or by more than rounding errors.
    pub converged: bool,
    /// For each good, the money of the buyers that spend all their money.
    pub paid: Vec<f64>,
}

/// The function at one point.
struct Point {
    shift: Vec<f64>,
    totals: Totals,
    /// For each good, the derivative with respect to the logarithm of its price.
    slope: Vec<f64>,
}

/// Moves the logarithms of the prices, relative to the centre, to the minimum for `tau`.
///
/// `barrier` lists a positive amount of money for each good, which is spent on the good whatever it costs. The method
/// ends when no price changes by more than `precision`, when only rounding errors remain, or after `most_steps` steps.
/// Returns `None` if numbers leave the range of doubles.
pub fn minimise(
    market: &Market,
    shift: &mut Vec<f64>,
    barrier: &[f64],
    tau: f64,
    precision: f64,
    most_steps: usize,
) -> Option<Ended> {
    let mut point = market.point(std::mem::take(shift), barrier, tau);
    let (mut steps, mut idle, mut least, mut converged) = (0, 0, f64::INFINITY, false);
    while steps < most_steps {
        market.charge_step();
        let step = market.step(&point, barrier)?;
        let descent: f64 = point.slope.iter().zip(&step).map(|(g, d)| g * d).sum();
        let change = step.iter().fold(0.0, |most, d| d.abs().max(most));
        if descent >= 0.0 || !descent.is_finite() {
            converged = change < tau;
            break;
        }
        idle = if change < 0.5 * least || change > tau { 0 } else { idle + 1 };
        least = least.min(change);
        point = market.search(point, barrier, &step, descent, change, tau);
        steps += 1;
        if change <= precision || idle >= MARKET.idle {
            converged = true;
            break;
        }
    }
    let paid = market.money.iter().zip(&point.totals.spent).map(|(money, spent)| money + spent).collect();
    *shift = point.shift;
    shift.iter().all(|q| q.is_finite()).then_some(Ended { steps, converged, paid })
}

impl Market {
    /// Evaluates the function and its slopes.
    fn point(&self, shift: Vec<f64>, barrier: &[f64], tau: f64) -> Point {
        let totals = self.totals(&shift, tau);
        let slope = (0..shift.len()).map(|i| {
            let bought = totals.spent[i] + totals.satisfied[i] + barrier[i];
            // Near the centre, the stored spare supply is more accurate than the difference of supply and money.
            let offered = if shift[i].abs() < 0.5 {
                self.spare[i] + self.worth[i] * libm::expm1(shift[i])
            } else {
                self.worth[i] * libm::exp(shift[i]) - self.money[i]
            };
            offered - bought
        });
        let slope = slope.collect();
        Point { shift, totals, slope }
    }

    /// Computes Newton's step. Returns `None` if numbers leave the range of doubles.
    fn step(&self, point: &Point, barrier: &[f64]) -> Option<Vec<f64>> {
        let surplus = (0..point.shift.len()).map(|i| {
            let money = self.money[i] + point.totals.spent[i] + barrier[i];
            let left = self.worth[i] * libm::exp(point.shift[i]) - point.totals.satisfied[i];
            // The logarithmic mean of supply and money makes the step exact for a good that is coupled to no other
            // good.
            let alone = if left > 0.0 && money > 0.0 {
                let log = libm::log(left / money);
                if log.abs() < 1e-3 { 0.5 * (left + money) } else { (left - money) / log }
            } else {
                money
            };
            alone.max(point.slope[i].abs() / MARKET.longest_alone).max(f64::MIN_POSITIVE)
        });
        let right = point.slope.iter().map(|g| -g).collect();
        solve_diagonally_dominant(point.totals.coupling.clone(), surplus.collect(), right)
    }

    /// Searches along a line for a point where the slope is at most half of the slope at the start,
    /// in absolute value.
    ///
    /// The slope can jump, because many buyers may switch to other goods at the same price.
    fn search(
        &self,
        from: Point,
        barrier: &[f64],
        step: &[f64],
        descent: f64,
        change: f64,
        tau: f64,
    ) -> Point {
        let start = from.shift;
        let mut length = (MARKET.longest / change).min(1.0);
        // The function falls at `low` and rises at `high`.
        let (mut low, mut low_slope, mut high) = (0.0, descent, None);
        let mut point = None;
        for _ in 0..MARKET.points {
            let shift = start.iter().zip(step).map(|(q, d)| q + length * d).collect();
            let there = self.point(shift, barrier, tau);
            let slope: f64 = there.slope.iter().zip(step).map(|(g, d)| g * d).sum();
            point = Some(there);
            if slope > -0.5 * descent {
                high = Some((length, slope));
            } else if slope < 0.5 * descent && high.is_some() {
                (low, low_slope) = (length, slope);
            } else {
                break;
            }
            let Some((end, end_slope)) = high else { break };
            let part: f64 = -low_slope / (end_slope - low_slope);
            length = low + (end - low) * part.clamp(0.1, 0.7);
        }
        point.unwrap_or_else(|| self.point(start, barrier, tau))
    }
}

/// Solves `A x = b` for a symmetric diagonally dominant `A`. The elimination contains no subtraction.
///
/// The elements of `A` off the diagonal are at most 0, and its row sums are at least 0. Every
/// computed element is as accurate as the elements of `A`, however different their magnitudes (the
/// elimination of Grassmann, Taksar and Heyman for Markov chains).
///
/// `coupling` contains the negatives of the elements above the diagonal, row by row, and `surplus`
/// contains the row sums. Returns `None` if a pivot is not positive or leaves the range of doubles.
fn solve_diagonally_dominant(
    mut coupling: Vec<f64>,
    mut surplus: Vec<f64>,
    mut right: Vec<f64>,
) -> Option<Vec<f64>> {
    let size = surplus.len();
    for i in 0..size {
        for j in 0..i {
            coupling[i * size + j] = coupling[j * size + i];
        }
        coupling[i * size + i] = 0.0;
    }
    // A pivot is the sum of the remaining couplings and the surplus of its row, so it needs no
    // subtraction.
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
        let x = solve_diagonally_dominant(vec![0.0, 1.0, 0.0, 0.0], vec![e, e], vec![e, e]).unwrap();
        assert!(x.iter().all(|x| (x - 1.0).abs() < 1e-14), "{x:?}");
        assert_eq!(solve_diagonally_dominant(vec![0.0], vec![0.0], vec![1.0]), None);
    }

    #[test]
    fn a_chain_is_solved() {
        // -2 and -3 between neighbours, row sums 1, 0 and 4; the solution is (1, 2, 3).
        let coupling = vec![0.0, 2.0, 0.0, 0.0, 0.0, 3.0, 0.0, 0.0, 0.0];
        let x = solve_diagonally_dominant(coupling, vec![1.0, 0.0, 4.0], vec![-1.0, -1.0, 15.0]).unwrap();
        for (x, right) in x.iter().zip([1.0, 2.0, 3.0]) {
            assert!((x - right).abs() < 1e-14, "{x} {right}");
        }
    }
}

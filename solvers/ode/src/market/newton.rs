//! Newton's method with a search along its lines, in the logarithms of the prices.

use super::{Market, Totals, matrix};
use crate::settings::MARKET;

/// How [`minimise`] ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Ended {
    /// Newton steps.
    pub steps: usize,
    /// Whether no price would change by more than the precision, or by more than rounding.
    pub converged: bool,
    /// By good: money of those that spend all of theirs.
    pub paid: Vec<f64>,
}

/// The function at one point.
struct Point {
    shift: Vec<f64>,
    totals: Totals,
    /// By good: the derivative by the logarithm of the price.
    slope: Vec<f64>,
}

/// Moves the logarithms of the prices, relative to the centre, to the minimum for `tau`; `barrier` is money that is spent on
/// every good whatever it costs, positive. Ends when no price changes by more than `precision`, when rounding is all that
/// is left, or after so many steps; `None` where numbers leave the range of doubles.
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
    fn point(&self, shift: Vec<f64>, barrier: &[f64], tau: f64) -> Point {
        let totals = self.totals(&shift, tau);
        let slope = (0..shift.len()).map(|i| {
            let bought = totals.spent[i] + totals.satisfied[i] + barrier[i];
            // Near the centre what is spare is known better than what it is the difference of.
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

    fn step(&self, point: &Point, barrier: &[f64]) -> Option<Vec<f64>> {
        let surplus = (0..point.shift.len()).map(|i| {
            let money = self.money[i] + point.totals.spent[i] + barrier[i];
            let left = self.worth[i] * libm::exp(point.shift[i]) - point.totals.satisfied[i];
            // A price that stands alone is told exactly: by the logarithmic mean of what is left and what is paid.
            let alone = if left > 0.0 && money > 0.0 {
                let log = libm::log(left / money);
                if log.abs() < 1e-3 { 0.5 * (left + money) } else { (left - money) / log }
            } else {
                money
            };
            alone.max(point.slope[i].abs() / MARKET.longest_alone).max(f64::MIN_POSITIVE)
        });
        let right = point.slope.iter().map(|g| -g).collect();
        matrix::solve(point.totals.coupling.clone(), surplus.collect(), right)
    }

    /// Along a line to where the function no longer falls by half as much as at the start, or rises by that much at most:
    /// beyond a corner money moves to other goods all at once.
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

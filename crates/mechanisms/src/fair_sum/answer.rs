//! The answer of proportional and alpha fairness: of all that can be made of floating-point optima, what
//! is proven best.

use evenhand_exact::ShareCoefficients;
use evenhand_ode::cluster::ClusterError;
use evenhand_problem::{Allocation, Arithmetic, Constraints, Problem, Rational};

use super::polish::{self, polish};
use super::wide::{self, WideOptimum};
use super::{FairPoint, OnClass, cluster, maximise, near};
use crate::fisher::{self, Equilibrium};
use crate::mechanism::{Findings, Outcome, Status};
use crate::{proportional, rounding};

/// What is maximised.
pub struct Sum<'a> {
    pub problem: &'a Problem,
    pub constraints: &'a Constraints<'a>,
    pub alpha: &'a Rational,
    pub share: Option<&'a ShareCoefficients>,
    /// What the answer says beside its tasks.
    pub template: Allocation,
}

/// Gap relative to the sum above which the numbers of double precision give way to longer ones.
const SHORT_IS_ENOUGH: (u32, u64) = (1, 1_000_000_000_000);

/// Decimal digits that every double holds.
const DIGITS_OF_DOUBLE: u32 = 15;

impl Sum<'_> {
    /// The answer: with gap 0 where the optimum is rational and was found, else with the least gap that
    /// was proven. Its status is `solved` only within [`proportional::SOLVED`].
    ///
    /// # Errors
    /// [`ClusterError`] when the numbers leave the range of floating point, or there are too many rows.
    pub fn answer(&self) -> Result<Outcome, ClusterError> {
        let alpha = near(self.alpha);
        let first = self.best_near(&maximise(self.constraints, alpha, self.share)?);
        if first.findings.status == Some(Status::Solved) {
            return Ok(first);
        }
        // Another method, which errs elsewhere.
        let other = cluster::maximise_by_prices(self.constraints, alpha, self.share)?;
        let best = better(first, other.map(|point| self.best_near(&point)));
        if best.findings.status == Some(Status::Solved) {
            return Ok(best);
        }
        // More digits.
        let Some(wide) = wide::maximise(self.constraints, self.alpha, self.share) else { return Ok(best) };
        let best = better(best, Some(self.cut_off(&wide)));
        Ok(better(best, Some(self.best_near(&wide.point))))
    }

    /// What wide numbers found, cut to the digits that are written.
    fn cut_off(&self, wide: &WideOptimum) -> Outcome {
        let digits = match self.template.arithmetic {
            Arithmetic::Exact => polish::DIGITS,
            Arithmetic::Float => DIGITS_OF_DOUBLE,
        };
        let short = |list: &Vec<(usize, Rational)>| {
            list.iter().map(|(i, x)| (*i, rounding::digits_below(x, digits))).collect()
        };
        let tasks = wide.tasks.iter().map(short).collect();
        let allocation = Allocation { tasks, ..self.template.clone() };
        let findings =
            proportional::findings_at(self.problem, &allocation, self.alpha, self.share, &wide.prices);
        let findings = Findings { iterations: Some(wide.point.iterations), ..findings };
        Outcome { findings, ..Outcome::of(allocation) }
    }

    /// The best answer near one point.
    fn best_near(&self, point: &FairPoint) -> Outcome {
        let is_exact = self.template.arithmetic == Arithmetic::Exact;
        let mut exact = Vec::new();
        if is_exact && self.share.is_none() {
            for attempt in [|s: &Self, p| fisher::best(s.constraints, s.alpha, p).ok(), Self::polished] {
                let found = attempt(self, point).map(|found| self.proven(found, point));
                match found {
                    Some(found) if found.findings.gap.as_ref().is_some_and(Rational::is_zero) => {
                        return found;
                    }
                    found => exact.extend(found),
                }
            }
        }
        let mut best = self.judged(rounding::feasible(self.constraints, point.tasks()), point);
        if is_exact {
            // In rational numbers what has run out can run out exactly; the gap must not suffer.
            let tight = proportional::tight(self.constraints, point).map(|tasks| self.judged(tasks, point));
            best = match (tight, &best.findings.gap) {
                (Some(tight), Some(gap))
                    if tight.findings.gap.as_ref().is_some_and(|g| *g <= Rational::from(gap * 16)) =>
                {
                    tight
                }
                _ => best,
            };
        }
        let is_enough = |gap: &Rational| *gap <= Rational::from(SHORT_IS_ENOUGH);
        if !is_exact && self.share.is_none() && best.findings.status != Some(Status::Solved) {
            // The digits that double precision holds of an answer of many more.
            let linear = fisher::best(self.constraints, self.alpha, point).ok();
            let found = linear.or_else(|| self.polished(point)).map(|found| point_of(&found, point));
            let found = found.map(|p| self.judged(rounding::feasible(self.constraints, p.tasks()), &p));
            exact.extend(found);
        }
        // The first is the linear one: its tasks are the optimum even where its prices are rounded.
        let linear = exact.iter().position(|found| {
            found.findings.relative_gap.as_ref().is_some_and(|g| *g < Rational::from((1, 1_u128 << 100)))
        });
        match linear {
            Some(k) => exact.swap_remove(k),
            None if best.findings.relative_gap.as_ref().is_some_and(is_enough) => best,
            None => exact
                .into_iter()
                .fold(best, |best, other| if is_better(&other, &best) { other } else { best }),
        }
    }

    fn polished(&self, point: &FairPoint) -> Option<Equilibrium> {
        polish(self.constraints, self.alpha, point)
    }

    fn judged(&self, tasks: Vec<Vec<(usize, Rational)>>, point: &FairPoint) -> Outcome {
        let allocation = Allocation { tasks, ..self.template.clone() };
        let findings = proportional::findings(self.problem, &allocation, self.alpha, self.share, point);
        Outcome { findings, ..Outcome::of(allocation) }
    }

    fn proven(&self, found: Equilibrium, point: &FairPoint) -> Outcome {
        let allocation = Allocation { tasks: found.tasks, ..self.template.clone() };
        let findings = proportional::of_proof(self.problem, &allocation, self.alpha, found.prices, found.gap);
        let findings = Findings { iterations: Some(point.iterations), ..findings };
        Outcome { findings, ..Outcome::of(allocation) }
    }
}

/// An equilibrium in floating point.
fn point_of(found: &Equilibrium, near_point: &FairPoint) -> FairPoint {
    let place = |(class, x): &(usize, Rational)| OnClass { class: *class, tasks: near(x), excess: 0.0 };
    FairPoint {
        places: found.tasks.iter().map(|list| list.iter().map(place).collect()).collect(),
        row_prices: found.prices.rows.iter().map(near).collect(),
        user_prices: found.prices.users.iter().map(near).collect(),
        ..near_point.clone()
    }
}

/// The one with the smaller proven gap.
fn better(first: Outcome, other: Option<Outcome>) -> Outcome {
    match other {
        Some(other) if is_better(&other, &first) => other,
        _ => first,
    }
}

/// Whether the proven gap of `a` is the smaller one.
fn is_better(a: &Outcome, b: &Outcome) -> bool {
    match (&a.findings.relative_gap, &b.findings.relative_gap) {
        (Some(a), Some(b)) => a < b,
        (a, b) => a.is_some() && b.is_none(),
    }
}

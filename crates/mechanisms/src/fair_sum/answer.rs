//! The answer of proportional and alpha fairness. Several allocations are derived from floating-point optima,
//! and the allocation with the smallest proven gap is returned.

use evenhand_problem::number::near;
use evenhand_problem::{Allocation, Arithmetic, Constraints, Problem, Rational};

use super::ladder::{Digits, Objective, Optimum, refined};
use super::polish::{self, polish};
use super::{FairPoint, OnClass};
use crate::error::MechanismError;
use crate::fisher::{self, Equilibrium};
use crate::mechanism::{Findings, Outcome, Status};
use crate::{proportional, rounding};

/// A sum of utilities to be maximised for a mechanism.
pub struct Sum<'a> {
    pub problem: &'a Problem,
    pub objective: Objective<'a>,
    /// The name of the mechanism.
    pub mechanism: &'static str,
    /// An allocation with all fields of the answer except its tasks.
    pub template: Allocation,
}

/// The gap, relative to the sum, above which longer numbers are used instead of double precision.
const SHORT_IS_ENOUGH: (u32, u64) = (1, 1_000_000_000_000);

/// The number of decimal digits that every double preserves.
const DIGITS_OF_DOUBLE: u32 = 15;

impl Sum<'_> {
    /// Returns the best answer.
    ///
    /// The gap of the answer is 0 if the optimum is rational and was computed. Otherwise the answer is the
    /// one with the smallest proven gap. Its status is `solved` only if the gap is at most
    /// [`proportional::SOLVED`].
    ///
    /// # Errors
    /// Returns [`MechanismError::Continuous`] if the numbers leave the range of floating point or there are
    /// too many rows.
    pub fn answer(&self) -> Result<Outcome, MechanismError> {
        let mechanism = self.mechanism;
        let why = "no method supports this problem".to_owned();
        let mut best = Err(MechanismError::NotFound { mechanism, why });
        let mut optima = self.objective.optima();
        let mut next = optima.next();
        while let Some(optimum) = next {
            let found = optimum.map(|optimum| self.best_near(&optimum));
            let found = found.map_err(|source| MechanismError::Continuous { mechanism, source });
            best = match (best, found) {
                (Ok(best), Ok(found)) => Ok(better(best, found)),
                (Ok(best), Err(_)) => Ok(best),
                (Err(_), found) => found,
            };
            if best.as_ref().is_ok_and(|best| best.findings.status == Some(Status::Solved)) {
                break;
            }
            // Skip a method that exceeds its limit of work.
            next = loop {
                if let Some(next) = refined(self.objective.constraints, || optima.next()) {
                    break next;
                }
            };
        }
        best
    }

    /// Returns the best answer near one optimum.
    fn best_near(&self, optimum: &Optimum) -> Outcome {
        let near = self.best_near_point(&optimum.point);
        match &optimum.digits {
            Some(digits) => better(self.cut_off(digits, &optimum.point), near),
            None => near,
        }
    }

    /// Returns the answer of an optimum in long numbers, cut to the number of digits that are written.
    fn cut_off(&self, found: &Digits, point: &FairPoint) -> Outcome {
        let digits = match self.template.arithmetic {
            Arithmetic::Exact => polish::DIGITS,
            Arithmetic::Float => DIGITS_OF_DOUBLE,
        };
        let short = |list: &Vec<(usize, Rational)>| {
            list.iter().map(|(i, x)| (*i, rounding::digits_below(x, digits))).collect()
        };
        let tasks = found.tasks.iter().map(short).collect();
        let allocation = Allocation { tasks, ..self.template.clone() };
        let Objective { alpha, share, .. } = self.objective;
        let findings = proportional::findings_at(self.problem, &allocation, alpha, share, &found.prices);
        let findings = Findings { iterations: Some(point.iterations), ..findings };
        Outcome { findings, ..Outcome::of(allocation) }
    }

    /// Returns the best answer near one point.
    fn best_near_point(&self, point: &FairPoint) -> Outcome {
        let is_exact = self.template.arithmetic == Arithmetic::Exact;
        let mut exact = Vec::new();
        if is_exact && self.objective.share.is_none() {
            for refinement in [Self::linear, Self::polished] {
                let found = refined(self.objective.constraints, || {
                    refinement(self, point).map(|found| self.proven(found, point))
                });
                match found.flatten() {
                    Some(found) if found.findings.gap.as_ref().is_some_and(Rational::is_zero) => {
                        return found;
                    }
                    found => exact.extend(found),
                }
            }
        }
        let best = self.rounded(point);
        if !is_exact && self.objective.share.is_none() && best.findings.status != Some(Status::Solved) {
            // The exact answer has many more digits. Even rounded to doubles, it can be more accurate than the point
            // itself.
            let found =
                refined(self.objective.constraints, || self.linear(point).or_else(|| self.polished(point)))
                    .flatten();
            exact.extend(found.map(|found| self.in_doubles(&point_of(&found, point))));
        }
        let is_within = |found: &Outcome, bound: &Rational| {
            found.findings.relative_gap.as_ref().is_some_and(|gap| gap <= bound)
        };
        // The linear method comes first, because the tasks of its answer are optimal even if the prices are
        // rounded.
        let nothing = Rational::from((1, 1_u128 << 100));
        match exact.iter().position(|found| is_within(found, &nothing)) {
            Some(k) => exact.swap_remove(k),
            None if is_within(&best, &Rational::from(SHORT_IS_ENOUGH)) => best,
            None => exact.into_iter().fold(best, better),
        }
    }

    /// Rounds the point to a feasible allocation.
    ///
    /// In exact arithmetic, saturated rows are saturated exactly if this does not make the gap much larger.
    fn rounded(&self, point: &FairPoint) -> Outcome {
        let best = self.in_doubles(point);
        if self.template.arithmetic == Arithmetic::Float {
            return best;
        }
        if self.problem.has_at_most() {
            return best;
        }
        let tight = refined(self.objective.constraints, || {
            let Objective { constraints, alpha, share } = self.objective;
            let (tasks, instance) = proportional::tight(constraints, self.template.sharing, point)?;
            let findings = proportional::findings_of(&instance, alpha, share, point);
            let allocation = Allocation { tasks, ..self.template.clone() };
            Some(Outcome { findings, ..Outcome::of(allocation) })
        });
        match (tight.flatten(), &best.findings.gap) {
            (Some(tight), Some(gap))
                if tight.findings.gap.as_ref().is_some_and(|g| *g <= Rational::from(gap * 16)) =>
            {
                tight
            }
            _ => best,
        }
    }

    fn in_doubles(&self, point: &FairPoint) -> Outcome {
        in_doubles(self.objective.constraints, point, |tasks| self.judged(tasks, point))
    }

    fn linear(&self, point: &FairPoint) -> Option<Equilibrium> {
        // A linear market has no limits on single buyers.
        if self.problem.has_at_most() {
            return None;
        }
        fisher::best(self.objective.constraints, self.objective.alpha, point)
    }

    fn polished(&self, point: &FairPoint) -> Option<Equilibrium> {
        polish(self.objective.constraints, self.objective.alpha, point)
    }

    fn judged(&self, tasks: Vec<Vec<(usize, Rational)>>, point: &FairPoint) -> Outcome {
        let allocation = Allocation { tasks, ..self.template.clone() };
        let findings = proportional::findings(
            self.problem,
            &allocation,
            self.objective.alpha,
            self.objective.share,
            point,
        );
        Outcome { findings, ..Outcome::of(allocation) }
    }

    fn proven(&self, found: Equilibrium, point: &FairPoint) -> Outcome {
        let allocation = Allocation { tasks: found.tasks, ..self.template.clone() };
        let findings = proportional::findings_of_proof(
            self.problem,
            &allocation,
            self.objective.alpha,
            found.prices,
            found.gap,
        );
        let findings = Findings { iterations: Some(point.iterations), ..findings };
        Outcome { findings, ..Outcome::of(allocation) }
    }
}

/// Rounds the point to a feasible allocation. Drops small amounts, unless the proven gap is then too large.
pub fn in_doubles(
    constraints: &Constraints<'_>,
    point: &FairPoint,
    judged: impl Fn(Vec<Vec<(usize, Rational)>>) -> Outcome,
) -> Outcome {
    let plain = judged(rounding::feasible(constraints, point.tasks()));
    if plain.findings.status == Some(Status::Solved) {
        return plain;
    }
    better(plain, judged(rounding::feasible(constraints, point.nearly_all_tasks())))
}

/// Converts an equilibrium to floating point.
fn point_of(found: &Equilibrium, near_point: &FairPoint) -> FairPoint {
    let place = |(class, x): &(usize, Rational)| OnClass { class: *class, tasks: near(x), excess: 0.0 };
    FairPoint {
        places: found.tasks.iter().map(|list| list.iter().map(place).collect()).collect(),
        row_prices: found.prices.rows.iter().map(near).collect(),
        user_prices: found.prices.users.iter().map(near).collect(),
        ..near_point.clone()
    }
}

/// Returns the outcome with the smaller proven gap.
fn better(first: Outcome, other: Outcome) -> Outcome {
    if is_better(&other, &first) { other } else { first }
}

/// Returns whether the proven gap of `a` is smaller than that of `b`.
fn is_better(a: &Outcome, b: &Outcome) -> bool {
    match (&a.findings.relative_gap, &b.findings.relative_gap) {
        (Some(a), Some(b)) => a < b,
        (a, b) => a.is_some() && b.is_none(),
    }
}

//! Judges an answer in exact numbers: its violations of the constraints, and its distance from the optimum.

use rug::Rational;

use crate::model::{Direction, Model, Position};
use crate::solve::objective_bound;
use crate::stated::StatedAnswer;

/// A violation of a row or column.
#[derive(Debug, Clone, PartialEq)]
pub struct Violation {
    /// The violated row or column.
    pub at: Position,
    /// The amount of the violation, in the units of the row or column.
    pub by: Rational,
}

/// The bound that the prices of an answer prove, and how far the answer is from it.
#[derive(Debug, Clone, PartialEq)]
pub struct ByPrices {
    /// The bound on the objective of every feasible point that the prices prove. `None` if a price refers to an
    /// infinite bound.
    pub bound: Option<Rational>,
    /// The distance from the objective of the answer to that bound, in the direction of the optimum. It is negative if
    /// the answer is better than any feasible point, which is possible only because of violations.
    pub gap: Option<Rational>,
    /// The row or column with the largest price or reduced cost that refers to an infinite bound.
    pub dual_violation: Option<Violation>,
    /// The largest product of a price and the distance of its row or column from the bound to which the price refers.
    pub complementarity: Option<Violation>,
}

/// The judgement on an answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Judgement {
    /// The exact objective value of the answer.
    pub objective: Rational,
    /// The difference between the stated and the exact objective value.
    pub objective_error: Option<Rational>,
    /// The largest violation of a row.
    pub row: Option<Violation>,
    /// The largest violation of a bound of a column.
    pub bound: Option<Violation>,
    /// The largest distance of an integer column from an integer.
    pub integrality: Option<Violation>,
    /// The results from the prices, if the answer has prices.
    pub prices: Option<ByPrices>,
}

fn largest(violations: impl Iterator<Item = Violation>) -> Option<Violation> {
    let violated = violations.filter(|violation| violation.by > 0);
    violated.fold(None, |most: Option<Violation>, next| match most {
        Some(most) if most.by >= next.by => Some(most),
        _ => Some(next),
    })
}

/// Judges an answer: computes its violations, its exact objective and what its prices prove.
#[must_use]
pub fn judge(model: &Model, answer: &StatedAnswer) -> Judgement {
    let objective = model.objective(&answer.x);
    let activities = model.activities(&answer.x);
    let rows = model.rows.iter().zip(&activities).enumerate();
    let row = largest(
        rows.map(|(i, (row, value))| Violation { at: Position::Row(i), by: row.bounds.violation(value) }),
    );
    let columns = || model.columns.iter().zip(&answer.x).enumerate();
    let of_column = |j: usize, by: Rational| Violation { at: Position::Column(j), by };
    let bound = largest(columns().map(|(j, (column, value))| of_column(j, column.bounds.violation(value))));
    let integrality =
        largest(columns().filter(|(_, (column, _))| column.is_integer).map(|(j, (_, value))| {
            let rounded = Rational::from(value.round_ref());
            of_column(j, (rounded - value).abs())
        }));
    let prices = answer.y.as_ref().map(|y| by_prices(model, answer, y, &activities, &objective));
    let objective_error = answer.objective.as_ref().map(|stated| Rational::from(stated - &objective));
    Judgement { objective, objective_error, row, bound, integrality, prices }
}

fn by_prices(
    model: &Model,
    answer: &StatedAnswer,
    y: &[Rational],
    activities: &[Rational],
    objective: &Rational,
) -> ByPrices {
    let reduced = model.reduced_costs(y);
    let rows = model.rows.iter().map(|row| &row.bounds).zip(y).zip(activities).enumerate();
    let rows = rows.map(|(i, ((bounds, price), value))| (Position::Row(i), bounds, price, value));
    let columns = model.columns.iter().map(|column| &column.bounds).zip(&reduced).zip(&answer.x).enumerate();
    let columns = columns.map(|(j, ((bounds, price), value))| (Position::Column(j), bounds, price, value));
    let all = || rows.clone().chain(columns.clone()).filter(|(_, _, price, _)| !price.is_zero());
    let dual_violation = largest(all().filter_map(|(at, bounds, price, _)| {
        let is_infinite = bounds.for_price(*price > 0).is_none();
        is_infinite.then(|| Violation { at, by: price.clone().abs() })
    }));
    let complementarity = largest(all().filter_map(|(at, bounds, price, value)| {
        let end = bounds.for_price(*price > 0)?;
        Some(Violation { at, by: (Rational::from(value - end) * price).abs() })
    }));
    let bound = model.proven_bound_at(y, &reduced).map(|bound| objective_bound(model, &bound));
    let gap = bound.as_ref().map(|bound| match model.direction {
        Direction::Minimise => Rational::from(objective - bound),
        Direction::Maximise => Rational::from(bound - objective),
    });
    ByPrices { bound, gap, dual_violation, complementarity }
}

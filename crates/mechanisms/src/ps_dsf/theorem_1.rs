//! Theorem 1 of PS-DSF (docs/theory.md, section 4), decided exactly for an allocation in rationals.

use evenhand_problem::Rational;
use thiserror::Error;

use super::pairs::{PairModel, Point};

/// The reason why an allocation is not PS-DSF.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum Violation {
    /// A number of tasks is negative.
    #[error("a user has a negative number of tasks")]
    Negative,
    /// The usage of a row exceeds its capacity.
    #[error("the tasks use more of a resource than its capacity")]
    Overfilled,
    /// A user has more than `T_n` tasks.
    #[error("a user has more than all its tasks")]
    AboveLimit,
    /// A user that lacks tasks has no bottleneck on a class on which it may run.
    #[error("user {} has no bottleneck on class {}", user + 1, class + 1)]
    NoBottleneck {
        /// The user `n`, in canonical order.
        user: usize,
        /// The class `i`, in canonical order.
        class: usize,
    },
}

/// Returns for each pair a row that is the bottleneck of its user, or `None` if the user has all its tasks.
///
/// # Errors
/// Returns the first [`Violation`].
pub fn bottlenecks(
    model: &PairModel<Rational>,
    point: &Point<Rational>,
) -> Result<Vec<Option<usize>>, Violation> {
    if point.tasks.iter().any(|tasks| *tasks < 0) {
        return Err(Violation::Negative);
    }
    let used = model.used(point);
    let saturated: Vec<bool> = used.iter().zip(&model.capacity).map(|(used, c)| used == c).collect();
    if used.iter().zip(&model.capacity).any(|(used, c)| used > c) {
        return Err(Violation::Overfilled);
    }
    let mut satisfied = Vec::with_capacity(model.n_users());
    for (limit, total) in model.limits.iter().zip(&point.totals) {
        if limit.as_ref().is_some_and(|limit| total > limit) {
            return Err(Violation::AboveLimit);
        }
        satisfied.push(limit.as_ref() == Some(total));
    }
    // The highest level of the users that use each row.
    let mut highest: Vec<Option<Rational>> = vec![None; used.len()];
    let levels: Vec<Rational> = (0..model.pairs.len()).map(|p| model.level(point, p)).collect();
    for (p, pair) in model.pairs.iter().enumerate().filter(|(p, _)| point.tasks[*p] > 0) {
        for (row, _) in pair.usage.iter().filter(|(row, _)| saturated[*row]) {
            if highest[*row].as_ref().is_none_or(|level| *level < levels[p]) {
                highest[*row] = Some(levels[p].clone());
            }
        }
    }
    let bottleneck = |(pair, level): (&super::pairs::Pair<Rational>, &Rational)| {
        if satisfied[pair.user] {
            return Ok(None);
        }
        let is_bottleneck =
            |row: &usize| saturated[*row] && highest[*row].as_ref().is_none_or(|highest| highest <= level);
        let row = pair.usage.iter().map(|(row, _)| *row).find(is_bottleneck);
        row.map(Some).ok_or(Violation::NoBottleneck { user: pair.user, class: pair.class })
    };
    model.pairs.iter().zip(&levels).map(bottleneck).collect()
}

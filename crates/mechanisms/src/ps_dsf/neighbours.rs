//! The search for an answer among active sets that are neighbours of a candidate.
//!
//! If two rows are tied except for the last digits of a double, a path may end on an active set with the
//! wrong row of the two. The exact solution of this active set overfills a row, or leaves a little of a row
//! free, by an amount of the size of those digits. The search then tries the active sets that differ in one
//! row or pair of a class where Theorem 1 fails, then the active sets that differ from these, and so on.

use std::collections::VecDeque;

use evenhand_problem::Rational;

use super::candidates::{Candidate, Spent};
use super::homotopy::{ActiveSet, ScaledModel, solve};
use super::pairs::{PairModel, Point};
use super::theorem_1::Violation;

/// The maximum number of active sets that are tried. The measurement used 21 problems with at most 12 users
/// and near ties of 1e-12, which had no answer without this search. With this number, 17 of these problems
/// have an answer. Trying three times as many active sets finds no more answers.
const MOST: usize = 1000;
/// The maximum number of pairs of a user and a class for this search. The search stores as many active sets
/// as it tries, each with about 25 bytes for a pair, and every pair of a class leads to another active set.
const MOST_PAIRS: usize = 1000;

/// Returns the first answer among the neighbours of `from` that `judge` accepts.
pub fn first_answer_near<A>(
    model: &PairModel<Rational>,
    scaled: &ScaledModel,
    from: &Candidate,
    spent: &mut Spent,
    judge: impl Fn(Point<Rational>) -> Result<A, Violation>,
) -> Option<A> {
    if model.pairs.len() > MOST_PAIRS {
        return None;
    }
    let mut seen = vec![from.set.clone()];
    let mut next = VecDeque::from([from.set.clone()]);
    while let Some(set) = next.pop_front().filter(|_| !spent.is_over()) {
        spent.spend(from.work());
        let point = solve(model, &set, &from.highest, &from.point);
        let violation = match judge(point.clone()) {
            Ok(answer) => return Some(answer),
            Err(violation) => violation,
        };
        for class in at_fault(model, &point, violation) {
            for other in changed(model, scaled, &set, class) {
                if seen.len() < MOST && !seen.contains(&other) {
                    seen.push(other.clone());
                    next.push_back(other);
                }
            }
        }
    }
    None
}

/// Returns the classes on which a point violates Theorem 1.
fn at_fault(model: &PairModel<Rational>, point: &Point<Rational>, violation: Violation) -> Vec<usize> {
    let with = |is_wrong: &dyn Fn(usize) -> bool| {
        (0..model.pairs.len()).filter(|p| is_wrong(*p)).map(|p| model.pairs[p].class).collect::<Vec<_>>()
    };
    let mut classes = match violation {
        Violation::NoBottleneck { class, .. } => vec![class],
        Violation::Negative => with(&|p| point.tasks[p] < 0),
        Violation::AboveLimit => with(&|p| {
            let user = model.pairs[p].user;
            point.tasks[p] > 0 && model.limits[user].as_ref().is_some_and(|most| point.totals[user] > *most)
        }),
        Violation::Overfilled => {
            let used = model.used(point);
            let is_overfilled = |class: &usize| {
                model.rows_of_class[*class].clone().any(|row| used[row] > model.capacity[row])
            };
            (0..model.n_classes()).filter(is_overfilled).collect()
        }
    };
    classes.dedup();
    classes
}

/// Returns the active sets that differ from `set` on one class.
///
/// There are two kinds of differences. A row may become full (alone or instead of another row), be no longer full, or
/// block users instead of another full row. A user may start or stop running on the class.
fn changed(
    model: &PairModel<Rational>,
    scaled: &ScaledModel,
    set: &ActiveSet,
    class: usize,
) -> Vec<ActiveSet> {
    let mut all = Vec::new();
    let mut add = |change: &dyn Fn(&mut ActiveSet)| {
        let mut set = set.clone();
        change(&mut set);
        // A user that these rows do not block is blocked by another full row that it demands, if such a row
        // exists.
        for p in model.of_class[class].clone() {
            if set.runs[p] && set.bottleneck[p].is_none() {
                let mut rows = model.pairs[p].usage.iter().map(|(row, _)| *row);
                set.bottleneck[p] = rows.find(|row| set.full[*row]);
            }
        }
        all.push(set);
    };
    let rows = || model.rows_of_class[class].clone();
    for row in rows().filter(|row| set.full[*row]) {
        for other in rows().filter(|other| *other != row) {
            if set.full[other] {
                add(&|set| set.cross(scaled, row, other));
            } else {
                add(&|set| {
                    set.free(scaled, row);
                    set.fill(scaled, other);
                });
            }
        }
        add(&|set| set.free(scaled, row));
    }
    rows().filter(|row| !set.full[*row]).for_each(|row| add(&|set| set.fill(scaled, row)));
    let levels = vec![0.0; set.full.len()];
    for p in model.of_class[class].clone() {
        if !set.runs[p] {
            add(&|set| set.enter(scaled, &levels, p));
        } else if set.support[model.pairs[p].user].len() > 1 {
            add(&|set| set.leave(scaled, p));
        }
    }
    all
}

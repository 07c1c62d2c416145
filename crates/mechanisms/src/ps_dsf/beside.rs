//! From an active set that is the answer as far as doubles tell to one beside it.
//!
//! Where ties are missed by the last digits of a double, paths end on an active set with another row of the tie: its exact
//! solution overfills a row, or leaves something of one, by as little. So those active sets are tried that differ from it in
//! a row of a class where Theorem 1 fails, then those that differ from these, and so on.

use std::collections::VecDeque;

use evenhand_problem::Rational;

use super::candidates::{Candidate, Spent};
use super::homotopy::{ActiveSet, ScaledModel, solve};
use super::pairs::{PairModel, Point};
use super::theorem_1::Violation;

/// Active sets that are tried, at most. Of 21 problems of at most 12 users with ties that are missed by 1e-12, which had no answer
/// without, 17 have one by then, and no more after three times as many.
const MOST: usize = 1000;
/// Pairs of a user and a class beyond which none is tried: so many active sets are held at a time as there are tried, each of
/// some 25 bytes for a pair, and every pair of a class makes another one.
const MOST_PAIRS: usize = 1000;

/// The first answer beside `from`, as `judge` says.
pub fn beside<A>(
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

/// The classes where a point fails.
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

/// The active sets that differ on a class: a row is full in place of another or besides, or is full no longer, or blocks in
/// place of another that is full too; or a user runs there, or runs there no longer.
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
        // Whom none of these rows blocks is blocked by another full one that it demands, if there is one.
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

//! The exact PS-DSF allocation of an active set, in rationals.
//!
//! At the end of a path, where `t = 0`, the equations of an active set are those of Theorem 1 (docs/theory.md, section
//! 4). Full rows are full, and the level of a user's bottleneck gives the user the same total on every class on which
//! it runs. These equations are solved exactly. Placements that the equations leave free, because moving them changes
//! no level, are rounded from floating point to the simplest rational nearby.

use evenhand_lp::linear::{Lu, SparseRow};
use evenhand_problem::Rational;

use super::super::pairs::{PairModel, Point};
use super::active_set::ActiveSet;

/// Computes the allocation of an active set. Placements that its equations leave free are taken from `near`.
/// `highest` is the level of rows that are not full, for each class.
pub fn solve(
    model: &PairModel<Rational>,
    set: &ActiveSet,
    highest: &[f64],
    near: &Point<f64>,
) -> Point<Rational> {
    let rows: Vec<usize> = (0..set.full.len()).filter(|row| set.full[*row]).collect();
    let others: Vec<usize> = set.support.iter().flat_map(|pairs| pairs.iter().skip(1).copied()).collect();
    let mut equation_of_row = vec![usize::MAX; set.full.len()];
    rows.iter().enumerate().for_each(|(k, row)| equation_of_row[*row] = k);
    let mut column_of_pair = vec![usize::MAX; model.pairs.len()];
    others.iter().enumerate().for_each(|(k, p)| column_of_pair[*p] = rows.len() + k);
    // The total that the level at a pair gives its user, as a column with its coefficient, or as a constant.
    let offer = |p: usize| match set.bottleneck[p] {
        Some(row) => (Some((equation_of_row[row], model.pairs[p].tasks_per_level.clone())), Rational::new()),
        None => {
            let level = Rational::from_f64(highest[model.pairs[p].class]).unwrap_or_default();
            (None, level * &model.pairs[p].tasks_per_level)
        }
    };
    let mut equations: Vec<(Vec<(usize, Rational)>, Rational)> =
        rows.iter().map(|row| (Vec::new(), model.capacity[*row].clone())).collect();
    for (user, pairs) in set.support.iter().enumerate() {
        let Some((&main, rest)) = pairs.split_first() else { continue };
        let (total, fixed) = match &model.limits[user] {
            Some(limit) if set.satisfied[user] => (None, limit.clone()),
            _ => offer(main),
        };
        for (row, d) in model.pairs[main].usage.iter().filter(|(row, _)| set.full[*row]) {
            let (entries, rhs) = &mut equations[equation_of_row[*row]];
            if let Some((column, tasks_per_level)) = &total {
                entries.push((*column, Rational::from(d * tasks_per_level)));
            }
            *rhs -= Rational::from(d * &fixed);
            entries.extend(rest.iter().map(|q| (column_of_pair[*q], Rational::from(-d))));
        }
        for q in rest {
            for (row, d) in model.pairs[*q].usage.iter().filter(|(row, _)| set.full[*row]) {
                equations[equation_of_row[*row]].0.push((column_of_pair[*q], d.clone()));
            }
            let ((here, a), (there, b)) = (offer(main), offer(*q));
            let there = there.map(|(column, tasks_per_level)| (column, -tasks_per_level));
            equations.push((here.into_iter().chain(there).collect(), b - a));
        }
    }
    for (entries, _) in &mut equations {
        merge(entries);
    }
    let mut values = vec![Rational::new(); rows.len()];
    values.extend(others.iter().map(|p| simplest_near(near.tasks[*p])));
    solve_rows(equations, &mut values);
    let mut tasks = vec![Rational::new(); model.pairs.len()];
    others.iter().for_each(|p| tasks[*p] = values[column_of_pair[*p]].clone());
    for (user, pairs) in set.support.iter().enumerate() {
        let Some((&main, rest)) = pairs.split_first() else { continue };
        let total = match &model.limits[user] {
            Some(limit) if set.satisfied[user] => limit.clone(),
            _ => match offer(main) {
                (Some((column, tasks_per_level)), _) => tasks_per_level * &values[column],
                (None, fixed) => fixed,
            },
        };
        tasks[main] = rest.iter().fold(total, |left, q| left - &tasks[*q]);
    }
    model.point(tasks)
}

/// Adds up the entries of each column.
fn merge(entries: &mut Vec<(usize, Rational)>) {
    entries.sort_by_key(|(column, _)| *column);
    let mut merged: Vec<(usize, Rational)> = Vec::with_capacity(entries.len());
    for (column, value) in entries.drain(..) {
        match merged.last_mut() {
            Some((last, sum)) if *last == column => *sum += value,
            _ => merged.push((column, value)),
        }
    }
    merged.retain(|(_, value)| !value.is_zero());
    *entries = merged;
}

/// The relative distance within which a double is taken for a rational. Rounding errors of doubles are smaller.
const NEAR: f64 = 1e-9;

/// Solves the equations for `values`. Entries that the equations leave free keep their values. Equations that
/// depend on other equations are left out, and the caller checks whether they hold.
fn solve_rows(rows: Vec<(SparseRow, Rational)>, values: &mut [Rational]) {
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

/// Returns the rational with the smallest denominator within the relative distance [`NEAR`] of a double.
fn simplest_near(value: f64) -> Rational {
    let centre = Rational::from_f64(value).unwrap_or_default();
    if centre <= 0 {
        return Rational::new();
    }
    let width = Rational::from_f64(value * NEAR).unwrap_or_default();
    simplest_between(Rational::from(&centre - &width), Rational::from(&centre + &width))
}

/// Returns the simplest rational between two positive rationals, computed from their continued fractions.
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
    fn computes_the_simplest_rational() {
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

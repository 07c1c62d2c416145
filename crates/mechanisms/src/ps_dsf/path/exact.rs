//! The equations of an active set at `t = 0`, in rationals.

use evenhand_problem::Rational;

use super::super::market::{Market, Point};
use super::super::rounding::{simplest_near, solve_rows};
use super::active::ActiveSet;
use super::model::Model;

/// The allocation of an active set, where `near` decides what its equations leave free.
pub fn solve(
    market: &Market<Rational>,
    model: &Model,
    set: &ActiveSet,
    near: &Point<f64>,
) -> Point<Rational> {
    let rows: Vec<usize> = (0..set.full.len()).filter(|row| set.full[*row]).collect();
    let others: Vec<usize> = set.support.iter().flat_map(|places| places.iter().skip(1).copied()).collect();
    let mut equation_of_row = vec![usize::MAX; set.full.len()];
    rows.iter().enumerate().for_each(|(k, row)| equation_of_row[*row] = k);
    let mut column_of_place = vec![usize::MAX; market.places.len()];
    others.iter().enumerate().for_each(|(k, p)| column_of_place[*p] = rows.len() + k);
    // `pace l` at a place: a column with its coefficient, or a constant.
    let offer = |p: usize| match set.bottleneck[p] {
        Some(row) => (Some((equation_of_row[row], market.places[p].pace.clone())), Rational::new()),
        None => (None, Rational::from(&market.places[p].pace * &model.highest_level(market.places[p].class))),
    };
    let mut equations: Vec<(Vec<(usize, Rational)>, Rational)> =
        rows.iter().map(|row| (Vec::new(), market.capacity[*row].clone())).collect();
    for (user, places) in set.support.iter().enumerate() {
        let Some((&main, rest)) = places.split_first() else { continue };
        let (total, fixed) = match &market.limits[user] {
            Some(limit) if set.satisfied[user] => (None, limit.clone()),
            _ => offer(main),
        };
        for (row, d) in market.places[main].usage.iter().filter(|(row, _)| set.full[*row]) {
            let (entries, rhs) = &mut equations[equation_of_row[*row]];
            if let Some((column, pace)) = &total {
                entries.push((*column, Rational::from(d * pace)));
            }
            *rhs -= Rational::from(d * &fixed);
            entries.extend(rest.iter().map(|q| (column_of_place[*q], Rational::from(-d))));
        }
        for q in rest {
            for (row, d) in market.places[*q].usage.iter().filter(|(row, _)| set.full[*row]) {
                equations[equation_of_row[*row]].0.push((column_of_place[*q], d.clone()));
            }
            let ((here, a), (there, b)) = (offer(main), offer(*q));
            let there = there.map(|(column, pace)| (column, -pace));
            equations.push((here.into_iter().chain(there).collect(), b - a));
        }
    }
    for (entries, _) in &mut equations {
        merge(entries);
    }
    let mut values = vec![Rational::new(); rows.len()];
    values.extend(others.iter().map(|p| simplest_near(near.tasks[*p])));
    solve_rows(equations, &mut values);
    let mut tasks = vec![Rational::new(); market.places.len()];
    others.iter().for_each(|p| tasks[*p] = values[column_of_place[*p]].clone());
    for (user, places) in set.support.iter().enumerate() {
        let Some((&main, rest)) = places.split_first() else { continue };
        let total = match &market.limits[user] {
            Some(limit) if set.satisfied[user] => limit.clone(),
            _ => match offer(main) {
                (Some((column, pace)), _) => pace * &values[column],
                (None, fixed) => fixed,
            },
        };
        tasks[main] = rest.iter().fold(total, |left, q| left - &tasks[*q]);
    }
    market.point(tasks)
}

/// Entries of one column added up.
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

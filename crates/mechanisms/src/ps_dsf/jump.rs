//! From a point to the solution of its regime, in floating point.

use super::market::{Market, Point};
use super::regime::{Reading, Regime, Unknown};
use super::solver::Dense;

/// Relative size of a pivot that counts as none.
const NO_PIVOT: f64 = 1e-11;
/// Relative size of negative tasks that are rounding.
const ROUNDING: f64 = 1e-11;
/// More unknowns cost too much.
const MOST_UNKNOWNS: usize = 1000;

/// The solution of the regime at `point`, if it has one without negative tasks.
pub fn jump(market: &Market<f64>, point: &Point<f64>, reading: Reading) -> Option<(Regime, Point<f64>)> {
    let regime = Regime::read(market, point, reading).ok()?;
    let landed = solve(market, point, &regime)?;
    Some((regime, landed))
}

/// The only solution of `regime`.
fn solve(market: &Market<f64>, point: &Point<f64>, regime: &Regime) -> Option<Point<f64>> {
    let mut landed = solve_signed(market, point, regime, false)?;
    for (user, places) in market.of_user.iter().enumerate() {
        for &p in places {
            if landed.tasks[p] < -ROUNDING * landed.totals[user] {
                return None;
            }
            landed.tasks[p] = landed.tasks[p].max(0.0);
        }
    }
    market.refresh_totals(&mut landed);
    Some(landed)
}

/// The point without negative tasks.
pub fn clamped(market: &Market<f64>, mut point: Point<f64>) -> Point<f64> {
    point.tasks.iter_mut().for_each(|tasks| *tasks = tasks.max(0.0));
    market.refresh_totals(&mut point);
    point
}

/// [`solve`], negative tasks included. With `forest` the tasks stay where they are that
/// [`Regime::forest`] leaves out.
pub fn solve_signed(
    market: &Market<f64>,
    point: &Point<f64>,
    regime: &Regime,
    forest: bool,
) -> Option<Point<f64>> {
    let system = regime.system(market);
    let unknowns = system.unknowns.clone();
    // Unknowns in units of what they are, so that all are about 1, and as differences from it.
    let mut values: Vec<f64> = unknowns.iter().map(|u| u.value(market, regime, point)).collect();
    let keep = if forest { regime.forest(market, point, &unknowns) } else { vec![true; unknowns.len()] };
    let (system, kept) = system.pinned(&keep, &values);
    let n = kept.len();
    if n > MOST_UNKNOWNS {
        return None;
    }
    let unit: Vec<f64> = (kept.iter())
        .map(|k| match unknowns[*k] {
            Unknown::Tasks(p) => point.totals[market.places[p].user],
            Unknown::Level(_) => values[*k],
        })
        .collect();
    let mut rows = Vec::with_capacity(system.rows.len());
    for (entries, rhs) in &system.rows {
        let mut row = vec![0.0; n + 1];
        row[n] = *rhs;
        for (k, value) in entries {
            row[n] -= value * values[kept[*k]];
            row[*k] = value * unit[*k];
        }
        let size = row[..n].iter().fold(0.0_f64, |size, v| size.max(v.abs()));
        if size > 0.0 {
            row.iter_mut().for_each(|value| *value /= size);
            rows.push(row);
        }
    }
    let change = match square(&rows, n) {
        Some(change) => change,
        None => least_pivots(rows, n, forest)?,
    };
    for ((k, change), unit) in kept.iter().zip(&change).zip(&unit) {
        values[*k] += change * unit;
    }
    Some(regime.point(market, &unknowns, &values)).filter(|p| p.tasks.iter().all(|x| x.is_finite()))
}

/// The only solution of as many equations as unknowns.
fn square(rows: &[Vec<f64>], n: usize) -> Option<Vec<f64>> {
    if rows.len() != n {
        return None;
    }
    let mut matrix = Dense::zero(n);
    for (k, row) in rows.iter().enumerate() {
        row[..n].iter().enumerate().filter(|(_, v)| **v != 0.0).for_each(|(j, v)| matrix.add(k, j, *v));
    }
    matrix.solve(rows.iter().map(|row| row[n]).collect())
}

/// A solution of the equations (right-hand sides last) by elimination with complete pivoting; what
/// they leave free is 0, if that is allowed. `None` when they contradict each other.
fn least_pivots(mut rows: Vec<Vec<f64>>, n: usize, free: bool) -> Option<Vec<f64>> {
    let mut columns: Vec<usize> = (0..n).collect();
    let mut rank = 0;
    while rank < rows.len().min(n) {
        let mut best = (0.0_f64, rank, rank);
        for (k, row) in rows.iter().enumerate().skip(rank) {
            for (j, column) in columns.iter().enumerate().skip(rank) {
                if row[*column].abs() > best.0 {
                    best = (row[*column].abs(), k, j);
                }
            }
        }
        if best.0 < NO_PIVOT {
            break;
        }
        rows.swap(rank, best.1);
        columns.swap(rank, best.2);
        let (done, rest) = rows.split_at_mut(rank + 1);
        let pivot_row = &done[rank];
        let pivot_column = columns[rank];
        for row in rest {
            let factor = row[pivot_column] / pivot_row[pivot_column];
            if factor != 0.0 {
                row.iter_mut().zip(pivot_row).for_each(|(value, pivot)| *value -= factor * pivot);
                row[pivot_column] = 0.0;
            }
        }
        rank += 1;
    }
    if rank < n && !free {
        return None;
    }
    if rows[rank..].iter().any(|row| row[n].abs() > 1e-9) {
        return None;
    }
    let mut x = vec![0.0; n];
    for k in (0..rank).rev() {
        let known: f64 = columns[k + 1..rank].iter().map(|column| rows[k][*column] * x[*column]).sum();
        x[columns[k]] = (rows[k][n] - known) / rows[k][columns[k]];
    }
    Some(x)
}

//! Newton's method in multiple precision, from the end of the path.

use evenhand_ode::path::{PathSettings, follow};
use evenhand_ode::polish::{Polished, polish};
use evenhand_ode::pool::Pool;
use evenhand_problem::{Constraints, Rational};
use rug::Integer;
use rug::ops::Pow;

use super::ManyDigits;
use crate::fair_sum::near;

/// Digits beyond those asked for.
const GUARD: u32 = 6;

/// The proportionally fair allocation of a problem with one server.
///
/// # Errors
/// In words: there is not one server, or the method did not reach the digits.
pub fn proportional(constraints: &Constraints<'_>, digits: u32) -> Result<ManyDigits, String> {
    let problem = constraints.problem();
    if problem.n_servers() != 1 {
        return Err("many digits are for problems of one server".to_owned());
    }
    let active: Vec<usize> = (0..problem.n_users()).filter(|&n| problem.is_active(n)).collect();
    let rows: Vec<usize> =
        (0..constraints.rows().len()).filter(|&row| !constraints.rows()[row].capacity.is_zero()).collect();
    let capacity = |row: usize| &constraints.rows()[row].capacity;
    let requests: Vec<Vec<Rational>> = active
        .iter()
        .map(|&n| {
            let usage = constraints.usage(n, 0).unwrap_or_default();
            rows.iter().map(|&row| Rational::from(&usage[row] / capacity(row))).collect()
        })
        .collect();
    let weights: Vec<Rational> = active.iter().map(|&n| problem.users()[n].weight().clone()).collect();
    let limits: Vec<Option<Rational>> = active.iter().map(|&n| problem.users()[n].tasks().cloned()).collect();
    let mut found = ManyDigits {
        tasks: vec![Vec::new(); problem.n_users()],
        row_prices: vec![Rational::new(); constraints.rows().len()],
        user_prices: vec![Rational::new(); problem.n_users()],
    };
    if active.is_empty() {
        return Ok(found);
    }
    let pool = Pool::new(
        rows.len(),
        requests.iter().flatten().map(near).collect(),
        weights.iter().map(near).collect(),
        limits.iter().map(|limit| limit.as_ref().map_or(f64::INFINITY, near)).collect(),
    )
    .map_err(|error| error.to_string())?;
    let start = follow(&pool, &PathSettings::default());
    let Polished { x, prices, user_prices, .. } =
        polish(&requests, &weights, &limits, &start, digits + GUARD).map_err(|error| error.to_string())?;
    for (k, &n) in active.iter().enumerate() {
        let tasks = match &limits[k] {
            Some(limit) if x[k] == *limit => limit.clone(),
            _ => rounded_down(&x[k], digits + GUARD),
        };
        found.tasks[n] = vec![(0, tasks)];
        found.user_prices[n].clone_from(&user_prices[k]);
    }
    for (row, price) in rows.into_iter().zip(prices) {
        found.row_prices[row] = price / capacity(row);
    }
    Ok(found)
}

/// The largest decimal of so many significant digits that is not above `value`, for `value > 0`.
fn rounded_down(value: &Rational, digits: u32) -> Rational {
    let size = value.numer().significant_bits() as i64 - value.denom().significant_bits() as i64;
    // One digit is a little more than 3.3 bits.
    let before = size * 301 / 1000 - 1;
    let shift = i64::from(digits) - before;
    let power = Integer::from(10).pow(u32::try_from(shift.unsigned_abs()).unwrap_or(u32::MAX));
    let scale = if shift >= 0 { Rational::from(power) } else { Rational::from((1, power)) };
    Rational::from(Rational::from(value * &scale).floor_ref()) / scale
}

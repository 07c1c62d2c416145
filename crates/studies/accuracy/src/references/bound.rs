//! Bounds that prices prove, in plain rationals. They bound the distance of the sum of utilities from the optimum, and
//! the distance of every level from its optimal value.
//!
//! Let the value of a task of user `n` be `v_n = w_n / x_n^a`, and let its cost be at least `v_n` on every class.
//! Utilities are concave. So for feasible `y` the sum grows by at most `sum_n v_n (y_n - x_n) <= gap = sum_r
//! p_r C_r + sum_n q_n T_n - sum_n v_n x_n`. An irrational `v_n` is enclosed in an interval. The end of the
//! interval that gives the larger gap is used.

use evenhand_exact::{Prices, Tasks};
use evenhand_problem::number::to_f64;
use evenhand_problem::{Constraints, Integer, Problem, Rational, Sharing};
use rug::ops::Pow;

use super::rounding::{BITS, rounded};
use crate::utility::power;

/// The bounds that prices prove.
#[derive(Debug, Clone, PartialEq)]
pub struct Bound {
    /// The largest distance of the sum of utilities from the optimum. For logarithms the sum is `sum_n w_n log x_n`.
    pub gap: Rational,
    /// The largest relative distance of any level from its optimal value, rounded up.
    pub error: f64,
    /// The interval that contains `w_n / x_n^a`, for each user that can run anywhere.
    pub worth: Vec<(usize, [Rational; 2])>,
}

/// Returns an interval that contains `w / x^a`. If `a` is 1, both ends equal this number. Otherwise the ends
/// are numbers with few bits.
pub(super) fn worth(weight: &Rational, level: &Rational, alpha: &Rational) -> [Rational; 2] {
    if *alpha == 1 {
        return [Rational::from(weight / level), Rational::from(weight / level)];
    }
    let least = rounded(&(weight * power(level, &Rational::from(-alpha), BITS)));
    // The power and the product are cut off after this number of bits. A few more bits are kept as a reserve.
    let most = Rational::from(1) + Rational::from((1, Integer::from(1) << (BITS - 8)));
    [least.clone(), least * most]
}

/// Computes the bounds that prices prove for the tasks. There is a price for every row, and for every user
/// with a limit.
///
/// # Errors
/// The reason why the prices prove no bound.
pub fn prove(
    problem: &Problem,
    sharing: Sharing,
    alpha: &Rational,
    tasks: &Tasks,
    prices: &Prices,
) -> Result<Bound, &'static str> {
    let constraints = Constraints::new(problem, sharing);
    let rows = constraints.rows();
    let (Some(s), Some(q)) = (alpha.numer().to_u32(), alpha.denom().to_u32()) else {
        return Err("the exponent is too long");
    };
    if (tasks.len(), prices.rows.len(), prices.users.len())
        != (problem.n_users(), rows.len(), problem.n_users())
    {
        return Err("expected one number for every user and row");
    }
    if prices.rows.iter().chain(&prices.users).any(|price| *price < 0) {
        return Err("a price is negative");
    }
    // The gap starts with the value of all capacities at their prices. The loop below adds the value of each user's
    // limit and subtracts the user's payment.
    let mut used = vec![Rational::new(); rows.len()];
    let mut gap: Rational =
        rows.iter().zip(&prices.rows).map(|(row, p)| Rational::from(&row.capacity * p)).sum();
    let mut least: Option<Rational> = None;
    let mut enclosed = Vec::new();
    for (n, placed) in tasks.iter().enumerate() {
        let user = &problem.users()[n];
        if placed.iter().any(|(i, x)| *x < 0 || !problem.can_run(n, *i)) {
            return Err("a user has a negative number of tasks, or tasks where it cannot run");
        }
        let total: Rational = placed.iter().map(|(_, x)| x).sum();
        for (i, x) in placed {
            let start = constraints.class_rows(*i).start;
            for (at, amount) in constraints.usage(n, *i).iter().flat_map(|usage| usage.entries()) {
                used[start + at] += Rational::from(amount * x);
            }
        }
        match user.tasks() {
            Some(limit) if total > *limit => return Err("a user has more than all its tasks"),
            Some(limit) => gap += Rational::from(limit * &prices.users[n]),
            None if prices.users[n].is_zero() => {}
            None => return Err("a price is stated for a limit that does not exist"),
        }
        if !problem.is_active(n) {
            continue;
        }
        if total <= 0 {
            return Err("a user has no tasks");
        }
        let ends = worth(user.weight(), &total, alpha);
        // Check the interval by comparing `q`-th powers, independently of the method that computed the
        // interval.
        let level = Rational::from((&total).pow(s));
        let weight = Rational::from(user.weight().pow(q));
        let [below, above] = ends.each_ref().map(|end| Rational::from(end.pow(q)) * &level);
        if below > weight || above < weight {
            return Err("the bounds do not enclose the worth of a task");
        }
        // A task must cost at least its value on every class on which the user can run. Otherwise the prices prove no
        // bound.
        for i in problem.classes_of(n) {
            let start = constraints.class_rows(i).start;
            let usage = constraints.usage(n, i);
            let entries = usage.iter().flat_map(|usage| usage.entries());
            let cost: Rational =
                entries.map(|(at, amount)| Rational::from(amount * &prices.rows[start + at])).sum();
            if cost + &prices.users[n] < ends[1] {
                return Err("a task costs less than it is worth");
            }
        }
        let spent = Rational::from(&ends[0] * &total);
        gap -= &spent;
        least = Some(least.map_or_else(|| spent.clone(), |least| least.min(spent.clone())));
        enclosed.push((n, ends));
    }
    if rows.iter().zip(&used).any(|(row, used)| *used > row.capacity) {
        return Err("the tasks exceed the capacity of a row");
    }
    let error = least.map_or(0.0, |least| distance(alpha, &(&gap / least)));
    Ok(Bound { gap, error, worth: enclosed })
}

/// Returns the largest relative distance of a level from its optimal value, rounded up. `part` is the gap
/// divided by the least `w x^(1 - a)`.
///
/// Let `c` be `part`, and `t` the optimal level divided by the present level. The gap and the optimality of
/// the other point together give `(1 - t^-a) (t - 1) <= c` for every user, since each term of the sum is
/// nonnegative. For `a >= 1` this implies `|t - 1| <= sqrt(c) + c`. For `a < 1` it implies the same
/// inequality with `c / a` instead of `c`.
fn distance(alpha: &Rational, part: &Rational) -> f64 {
    let part = if *alpha < 1 { Rational::from(part / alpha) } else { part.clone() };
    if part.is_zero() {
        return 0.0;
    }
    let unit = Integer::from(10).pow(ROOT_DIGITS);
    let whole = (Rational::from(&part * &unit) * &unit).ceil().into_numer_denom().0;
    let root = Rational::from((whole.sqrt() + 1u32, unit));
    to_f64(&(root + part)) * (1.0 + f64::EPSILON) + f64::MIN_POSITIVE
}

/// The number of decimals of a root. It is larger than the exponent of the smallest double.
const ROOT_DIGITS: u32 = 400;

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that the bound is above `|t - 1|` for known `(1 - t^-a) (t - 1)`.
    #[test]
    fn distances_of_levels_are_within_the_bound() {
        for (s, q) in [(1, 2), (1, 1), (2, 1), (3, 1), (5, 2)] {
            let alpha = Rational::from((s, q));
            for t in [0.2, 0.9, 1.0 - 1e-6, 1.0 + 1e-6, 1.1, 3.0, 50.0] {
                let part = (1.0 - f64::powf(t, -to_f64(&alpha))) * (t - 1.0);
                let bound = distance(&alpha, &Rational::from_f64(part).unwrap());
                assert!(bound >= (t - 1.0).abs() * (1.0 - 1e-9), "{alpha} {t}: {bound}");
            }
        }
        let tiny = Rational::from((1, Integer::from(10).pow(420u32)));
        assert!((1e-210..1.01e-210).contains(&distance(&1.into(), &tiny)));
    }
}

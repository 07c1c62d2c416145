//! Checks that planted tasks are the optimum of a sum of utilities. Every condition is checked exactly. The code is
//! short and independent of the code for certificates.
//!
//! With `a = s / q`, `x` maximises `sum_n w_n g_a(x_n)` under the following conditions. It is feasible. Every row with
//! a price is full, and every limit with a price is reached. A task costs a user at least `w_n / x_n^a` on every class,
//! and exactly this on the classes on which the user runs. The last two conditions are compared as `q`-th powers, which
//! are rational.

use evenhand_problem::{Constraints, Problem, Rational, Sharing};
use rug::ops::Pow;

use crate::case::Planted;

/// Checks all conditions.
///
/// # Errors
/// The first condition that does not hold.
pub fn verify(problem: &Problem, alpha: &Rational, planted: &Planted) -> Result<(), &'static str> {
    let constraints = Constraints::new(problem, Sharing::Rdm);
    let (Some(s), Some(q)) = (alpha.numer().to_u32(), alpha.denom().to_u32()) else {
        return Err("the exponent is too long");
    };
    let mut used = vec![Rational::new(); constraints.rows().len()];
    if planted.prices.rows.iter().chain(&planted.prices.users).any(|price| *price < 0) {
        return Err("a price is negative");
    }
    for n in 0..problem.n_users() {
        let user = &problem.users()[n];
        let tasks = &planted.tasks[n];
        let total: Rational = tasks.iter().map(|(_, x)| x).sum();
        if tasks.iter().any(|(i, x)| *x < 0 || !problem.can_run(n, *i)) || total <= 0 {
            return Err("a user has no tasks, a negative number of tasks, or tasks where it cannot run");
        }
        let own = &planted.prices.users[n];
        match user.tasks() {
            Some(limit) if total > *limit => return Err("a user has more than all its tasks"),
            Some(limit) if total < *limit && !own.is_zero() => {
                return Err("a limit with a price is not reached");
            }
            None if !own.is_zero() => return Err("a price is stated for a limit that does not exist"),
            _ => {}
        }
        let worth = Rational::from(user.weight().pow(q)) / Rational::from((&total).pow(s));
        for i in problem.classes_of(n) {
            let usage = constraints.usage(n, i).ok_or("a user has tasks on a class where it cannot run")?;
            let start = constraints.class_rows(i).start;
            let x = tasks.iter().find(|(class, _)| *class == i).map(|(_, x)| x);
            let mut cost = own.clone();
            for (at, amount) in usage.entries() {
                cost += Rational::from(&planted.prices.rows[start + at] * amount);
                if let Some(x) = x {
                    used[start + at] += Rational::from(amount * x);
                }
            }
            let cost = cost.pow(q);
            if cost < worth {
                return Err("a task costs less than it is worth");
            }
            if x.is_some_and(|x| *x > 0) && cost != worth {
                return Err("a user has tasks on a class where a task costs more than it is worth");
            }
        }
    }
    for ((row, used), price) in constraints.rows().iter().zip(&used).zip(&planted.prices.rows) {
        if *used > row.capacity {
            return Err("the tasks exceed the capacity of a row");
        }
        if *used < row.capacity && !price.is_zero() {
            return Err("a row with a price is not full");
        }
    }
    Ok(())
}

//! Prices that follow from the allocation itself. In an optimum, no user runs on a class where its task costs more than
//! on another class. A user that runs on several classes therefore gives equations for the prices of the full rows of
//! these classes.
//!
//! At a vertex there is one such equation fewer than there are full rows, and the solution of the equations is the dual
//! of the level. No linear programme has to be solved again. The resulting prices are only a guess. The crate
//! `evenhand-exact` computes what they prove.

use evenhand_exact::{Instance, Prices};
use evenhand_problem::Rational;

/// The largest number of full rows. The cost of the elimination grows with the cube of this number.
const MOST_ROWS: usize = 200;

/// Returns prices of the full rows at which a task of each user costs the same on all classes on which the user runs.
/// An active user's weight is the cost of its task on the cheapest class. Returns `None` if the prices are not unique
/// or a price is negative.
pub(super) fn prices(instance: &Instance<'_>) -> Option<Prices> {
    let rows: Vec<usize> = (0..instance.constraints().rows().len())
        .filter(|&row| instance.slack(row).is_zero())
        .take(MOST_ROWS + 1)
        .collect();
    if rows.is_empty() || rows.len() > MOST_ROWS {
        return None;
    }
    let mut prices = Prices::zero(instance);
    for (row, price) in rows.iter().zip(null_vector(equations(instance, &rows)?, rows.len())?) {
        prices.rows[*row] = price;
    }
    for n in (0..prices.users.len()).filter(|&n| instance.is_active(n)) {
        let classes = instance.problem().classes_of(n);
        prices.user_weights[n] = classes.filter_map(|i| cost(instance, &prices.rows, n, i)).min()?;
    }
    Some(prices)
}

/// Returns the cost of a task of user `n` on class `i`.
fn cost(instance: &Instance<'_>, prices: &[Rational], n: usize, i: usize) -> Option<Rational> {
    let start = instance.constraints().class_rows(i).start;
    let usage = instance.constraints().usage(n, i)?;
    Some(usage.entries().map(|(at, d)| Rational::from(&prices[start + at] * d)).sum())
}

/// Returns one equation for each class of a user except its first class. The coefficients of the equation, one for each
/// full row, are the differences between the costs of a task on this class and on the first class.
fn equations(instance: &Instance<'_>, rows: &[usize]) -> Option<Vec<Vec<Rational>>> {
    let mut equations = Vec::new();
    for n in 0..instance.problem().n_users() {
        let mut classes = instance.used_classes(n);
        let Some(first) = classes.next() else { continue };
        for i in classes {
            let mut equation = vec![Rational::new(); rows.len()];
            for (class, sign) in [(i, 1), (first, -1)] {
                let start = instance.constraints().class_rows(class).start;
                for (at, d) in instance.constraints().usage(n, class)?.entries() {
                    if let Ok(column) = rows.binary_search(&(start + at)) {
                        equation[column] += Rational::from(d * sign);
                    }
                }
            }
            equations.push(equation);
            if equations.len() > 2 * MOST_ROWS {
                return None;
            }
        }
    }
    Some(equations)
}

/// Returns the vector that all equations map to 0, up to scaling. Returns `None` unless there is exactly one such
/// vector and none of its entries is negative.
fn null_vector(mut equations: Vec<Vec<Rational>>, columns: usize) -> Option<Vec<Rational>> {
    let mut pivots: Vec<usize> = Vec::new();
    let mut free = None;
    for column in 0..columns {
        let done = pivots.len();
        let Some(found) = (done..equations.len()).find(|&row| !equations[row][column].is_zero()) else {
            if free.replace(column).is_some() {
                return None;
            }
            continue;
        };
        equations.swap(done, found);
        let scale = equations[done][column].clone();
        equations[done].iter_mut().for_each(|value| *value /= &scale);
        let pivot = equations[done].clone();
        for (row, equation) in equations.iter_mut().enumerate() {
            let factor = equation[column].clone();
            if row != done && !factor.is_zero() {
                for (value, own) in equation.iter_mut().zip(&pivot).filter(|(_, own)| !own.is_zero()) {
                    *value -= Rational::from(&factor * own);
                }
            }
        }
        pivots.push(column);
    }
    let free = free?;
    let mut vector = vec![Rational::new(); columns];
    vector[free] = Rational::from(1);
    for (row, column) in pivots.into_iter().enumerate() {
        vector[column] = -equations[row][free].clone();
    }
    vector.iter().all(|value| *value >= 0).then_some(vector)
}

#[cfg(test)]
mod tests {
    use super::{Rational, null_vector};

    fn rows(rows: &[&[i32]]) -> Vec<Vec<Rational>> {
        rows.iter().map(|row| row.iter().map(|value| Rational::from(*value)).collect()).collect()
    }

    #[test]
    fn null_vectors_must_be_unique() {
        assert_eq!(null_vector(rows(&[&[1, -2, 0], &[0, 1, -3]]), 3), Some(rows(&[&[6, 3, 1]]).remove(0)));
        assert_eq!(null_vector(rows(&[&[1, 2]]), 2), None, "of both signs");
        assert_eq!(null_vector(rows(&[&[1, -1, 0]]), 3), None, "a plane");
        assert_eq!(null_vector(rows(&[&[1, -1], &[1, 1]]), 2), None, "a point");
        assert_eq!(null_vector(Vec::new(), 1), Some(rows(&[&[1]]).remove(0)));
    }
}

//! Exact solutions of systems with small integer coefficients: factors modulo one prime, and lifting.
//!
//! With `B` the inverse of `A` modulo `p`, `d = B r` is a digit of the solution of `A x = r` to the base `p`,
//! and `(r - A d) / p` leaves the rest. Fractions are read off when there are digits enough, with one
//! denominator for all, and count when they satisfy the equations exactly (Dixon, "Exact solution of linear
//! equations using p-adic expansions", Numerische Mathematik 40, 1982). No number grows in the factors, and no
//! fraction is reduced on the way.

use std::collections::BTreeSet;

use rug::{Assign, Integer};

use super::modulus::{self, P};
use super::reconstruct::fractions;

/// Coefficients up to this many bits: sums of their products with digits fit into 128 bits.
const MOST_BITS: u32 = 40;
/// Digits before the first attempt to read off fractions.
const FIRST_DIGITS: usize = 4;
/// Bits of a digit, rounded down.
const DIGIT_BITS: u64 = 60;
/// Bits beyond the bound of what a solution can have.
const SPARE_BITS: u64 = 256;

/// A matrix with full row rank and one column more than rows, or as many; factored modulo `p`.
pub struct Modular {
    /// `(column, value)` by row, without the free column.
    rows: Vec<Vec<(usize, i64)>>,
    /// `(row, value)` by column; none for the free one.
    columns: Vec<Vec<(usize, i64)>>,
    /// `(row, value)` of the free column.
    free_column: Vec<(usize, i64)>,
    free: Option<usize>,
    steps: Vec<Step>,
}

struct Step {
    row: usize,
    column: usize,
    /// Inverse of the pivot.
    inverse: u64,
    lower: Vec<(usize, u64)>,
    upper: Vec<(usize, u64)>,
}

/// Fractions over one denominator, which is positive.
pub struct Fractions {
    pub numerators: Vec<Integer>,
    pub denominator: Integer,
}

impl Modular {
    /// Factors the matrix with these rows; `None` where a coefficient is not small, the rank is less
    /// modulo `p`, or there are other than `n` or `n + 1` columns for `n` rows.
    pub fn factor(rows: &[Vec<(usize, Integer)>], n_columns: usize) -> Option<Self> {
        if n_columns < rows.len() || n_columns > rows.len() + 1 {
            return None;
        }
        let small =
            |value: &Integer| (value.significant_bits() <= MOST_BITS).then(|| value.to_i64()).flatten();
        let mut whole: Vec<Vec<(usize, i64)>> = Vec::with_capacity(rows.len());
        for row in rows {
            let mut sums: Vec<(usize, i64)> = Vec::with_capacity(row.len());
            for (column, value) in row {
                let value = small(value)?;
                match sums.iter_mut().find(|(other, _)| other == column) {
                    Some((_, sum)) => *sum += value,
                    None => sums.push((*column, value)),
                }
            }
            sums.retain(|(_, value)| *value != 0);
            whole.push(sums);
        }
        let (steps, used) = eliminate(&whole, n_columns)?;
        let free = used.iter().position(|used| !used);
        let mut columns = vec![Vec::new(); n_columns];
        for (row, entries) in whole.iter().enumerate() {
            for &(column, value) in entries {
                columns[column].push((row, value));
            }
        }
        let free_column = free.map(|free| std::mem::take(&mut columns[free])).unwrap_or_default();
        for row in &mut whole {
            row.retain(|(column, _)| Some(*column) != free);
        }
        Some(Self { rows: whole, columns, free_column, free, steps })
    }

    /// A vector of the null space, by column, whose entry at the free column is the denominator.
    pub fn null_vector(&self) -> Option<Vec<Integer>> {
        let free = self.free?;
        let mut b = vec![Integer::new(); self.rows.len()];
        for &(row, value) in &self.free_column {
            b[row].assign(-value);
        }
        let found = self.lift(&b, &self.rows, self.columns.len(), |r| self.solve(r))?;
        let mut vector = found.numerators;
        vector[free] = found.denominator;
        Some(vector)
    }

    /// `y` with `A' y = c`, by row, where `A'` is the transpose; what `c` has at the free column is ignored.
    pub fn solve_transposed(&self, mut c: Vec<Integer>) -> Option<Fractions> {
        if let Some(free) = self.free {
            c[free].assign(0);
        }
        self.lift(&c, &self.columns, self.rows.len(), |r| self.solve_mod_transposed(r))
    }

    /// Digits of the solution of `matrix x = b` until they are fractions that satisfy it.
    fn lift(
        &self,
        b: &[Integer],
        matrix: &[Vec<(usize, i64)>],
        n_unknowns: usize,
        solve: impl Fn(Vec<u64>) -> Vec<u64>,
    ) -> Option<Fractions> {
        let prime = Integer::from(P);
        let mut rest = b.to_vec();
        let mut sums = vec![Integer::new(); n_unknowns];
        let mut power = Integer::from(1);
        let mut next = FIRST_DIGITS;
        let most = most_digits(matrix, b);
        let n_entries: usize = matrix.iter().map(Vec::len).sum();
        for digits in 1..=most {
            // Two systems of sparse factors, and sums that grow by a word with every digit.
            let each = n_entries as u64 + (b.len() + n_unknowns) as u64 * (10 + digits as u64 / 4);
            evenhand_budget::charge(each, "the exact solution of equations");
            let digit = solve(rest.iter().map(modulus::of).collect());
            for (row, rest) in matrix.iter().zip(&mut rest) {
                let product: i128 = row.iter().map(|&(k, a)| i128::from(a) * i128::from(digit[k])).sum();
                *rest -= product;
                rest.div_exact_mut(&prime);
            }
            for (sum, digit) in sums.iter_mut().zip(digit) {
                *sum += Integer::from(&power * digit);
            }
            power *= P;
            let is_whole = rest.iter().all(Integer::is_zero);
            if digits == next || digits == most || is_whole {
                next = digits + digits / 2;
                if let Some(found) = fractions(&sums, &power)
                    && satisfies(matrix, &found, b)
                {
                    return Some(found);
                }
            }
        }
        None
    }

    /// `A x = b` modulo `p`, with 0 for the free column.
    fn solve(&self, mut b: Vec<u64>) -> Vec<u64> {
        let mut x = vec![0; self.columns.len()];
        for step in &self.steps {
            let value = b[step.row];
            if value != 0 {
                for &(row, multiplier) in &step.lower {
                    b[row] = modulus::sub(b[row], modulus::mul(multiplier, value));
                }
            }
        }
        for step in self.steps.iter().rev() {
            let mut value = b[step.row];
            for &(column, entry) in &step.upper {
                value = modulus::sub(value, modulus::mul(entry, x[column]));
            }
            x[step.column] = modulus::mul(value, step.inverse);
        }
        x
    }

    /// `A' y = c` modulo `p`, without the equation of the free column.
    fn solve_mod_transposed(&self, mut c: Vec<u64>) -> Vec<u64> {
        let mut y = vec![0; self.rows.len()];
        for step in &self.steps {
            let value = modulus::mul(c[step.column], step.inverse);
            if value != 0 {
                for &(column, entry) in &step.upper {
                    c[column] = modulus::sub(c[column], modulus::mul(entry, value));
                }
            }
            y[step.row] = value;
        }
        for step in self.steps.iter().rev() {
            let mut value = y[step.row];
            for &(row, multiplier) in &step.lower {
                value = modulus::sub(value, modulus::mul(multiplier, y[row]));
            }
            y[step.row] = value;
        }
        y
    }
}

/// Digits that the fractions of any solution can have: numerators and denominator are determinants, at most
/// the product of the rows' sums (Hadamard), and each may have half of the digits.
fn most_digits(matrix: &[Vec<(usize, i64)>], b: &[Integer]) -> usize {
    let bits = |row: &Vec<(usize, i64)>| {
        let sum: u128 = row.iter().map(|(_, a)| u128::from(a.unsigned_abs())).sum();
        u64::from(u128::BITS - sum.leading_zeros())
    };
    let determinant: u64 = matrix.iter().map(bits).sum();
    let right = b.iter().map(|b| u64::from(b.significant_bits())).max().unwrap_or(0);
    let most = 2 * (determinant + right + SPARE_BITS) / DIGIT_BITS;
    usize::try_from(most).unwrap_or(usize::MAX)
}

/// Whether `matrix x = b` holds exactly.
fn satisfies(matrix: &[Vec<(usize, i64)>], x: &Fractions, b: &[Integer]) -> bool {
    let mut sum = Integer::new();
    matrix.iter().zip(b).all(|(row, b)| {
        sum.assign(b * &x.denominator);
        for &(k, a) in row {
            sum -= &x.numerators[k] * a;
        }
        sum.is_zero()
    })
}

/// Elimination modulo `p`: the shortest row next, on its rarest column. Also which columns have a pivot.
fn eliminate(whole: &[Vec<(usize, i64)>], n_columns: usize) -> Option<(Vec<Step>, Vec<bool>)> {
    let mut rows: Vec<Vec<(usize, u64)>> = whole
        .iter()
        .map(|row| row.iter().map(|&(column, value)| (column, modulus::of_i64(value))).collect())
        .collect();
    let mut in_column: Vec<Vec<usize>> = vec![Vec::new(); n_columns];
    for (row, entries) in rows.iter().enumerate() {
        for &(column, _) in entries {
            in_column[column].push(row);
        }
    }
    let mut open: BTreeSet<(usize, usize)> =
        rows.iter().enumerate().map(|(row, list)| (list.len(), row)).collect();
    let mut used = vec![false; n_columns];
    let mut place = vec![usize::MAX; n_columns];
    let mut steps = Vec::with_capacity(rows.len());
    while let Some((_, row)) = open.pop_first() {
        let entries = std::mem::take(&mut rows[row]);
        let &(column, pivot) =
            entries.iter().min_by_key(|(column, _)| (in_column[*column].len(), *column))?;
        let inverse = modulus::inverse(pivot);
        let upper: Vec<(usize, u64)> = entries.into_iter().filter(|(other, _)| *other != column).collect();
        used[column] = true;
        for &(other, _) in &upper {
            in_column[other].retain(|&r| r != row);
        }
        let mut lower = Vec::new();
        for target in std::mem::take(&mut in_column[column]) {
            if target == row {
                continue;
            }
            let list = &mut rows[target];
            open.remove(&(list.len(), target));
            let Some(at) = list.iter().position(|(other, _)| *other == column) else { continue };
            let multiplier = modulus::mul(list.swap_remove(at).1, inverse);
            evenhand_budget::charge((list.len() + upper.len()) as u64, "an elimination");
            for (k, (other, _)) in list.iter().enumerate() {
                place[*other] = k;
            }
            for &(other, value) in &upper {
                let change = modulus::mul(multiplier, value);
                match list.get_mut(place[other]).filter(|(column, _)| *column == other) {
                    Some((_, value)) => *value = modulus::sub(*value, change),
                    None => {
                        place[other] = list.len();
                        list.push((other, modulus::sub(0, change)));
                        in_column[other].push(target);
                    }
                }
            }
            list.retain(|&(other, value)| {
                if value == 0 {
                    in_column[other].retain(|&r| r != target);
                }
                value != 0
            });
            open.insert((list.len(), target));
            lower.push((target, multiplier));
        }
        steps.push(Step { row, column, inverse, lower, upper });
    }
    Some((steps, used))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers that look random.
    fn noise(seed: u64) -> impl FnMut() -> u64 {
        let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
        move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        }
    }

    #[test]
    fn solutions_satisfy_their_equations() {
        let mut regular = 0;
        for seed in 1..200_u64 {
            let mut next = noise(seed);
            let n = 1 + usize::try_from(seed % 14).unwrap();
            let rows: Vec<Vec<(usize, Integer)>> = (0..n)
                .map(|_| {
                    let entries = (0..=n).map(|c: usize| (c, Integer::from(next() % 19) - 9_i32));
                    entries.filter(|(c, v): &(usize, Integer)| !v.is_zero() && (c + 3 * n) % 5 != 0).collect()
                })
                .collect();
            let Some(factors) = Modular::factor(&rows, n + 1) else { continue };
            regular += 1;
            let null = factors.null_vector().unwrap();
            assert!(null.iter().any(|v| !v.is_zero()));
            for row in &rows {
                let sum: Integer = row.iter().map(|(c, v)| Integer::from(v * &null[*c])).sum();
                assert_eq!(sum, 0);
            }
            let c: Vec<Integer> =
                (0..=n).map(|_| Integer::from(next()) * Integer::from(next()) - 5).collect();
            let y = factors.solve_transposed(c.clone()).unwrap();
            for (column, c) in c.iter().enumerate().filter(|(column, _)| Some(*column) != factors.free) {
                let entries = rows.iter().zip(&y.numerators);
                let sum: Integer = entries
                    .flat_map(|(row, y)| {
                        row.iter().filter(|(k, _)| *k == column).map(move |(_, v)| Integer::from(v * y))
                    })
                    .sum();
                assert_eq!(sum, Integer::from(c * &y.denominator));
            }
        }
        assert!(regular > 60, "only {regular} regular matrices");
    }

    #[test]
    fn dependent_rows_have_no_factors() {
        let row = |a: i32| vec![(0, Integer::from(a)), (1, Integer::from(2 * a))];
        assert!(Modular::factor(&[row(1), row(2)], 2).is_none());
        assert!(Modular::factor(&[vec![]], 1).is_none());
        assert!(Modular::factor(&[vec![(0, Integer::from(1) << 60)]], 1).is_none());
    }
}

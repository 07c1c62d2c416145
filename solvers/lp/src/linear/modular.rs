//! Exact solutions of systems with small integer coefficients: factors modulo one prime, and lifting.
//!
//! With `B` the inverse of `A` modulo `p`, `d = B r` is a digit of the solution of `A x = r` to the base `p`,
//! and `(r - A d) / p` leaves the rest. Fractions are read off when there are digits enough, with one
//! denominator for all, and count when they satisfy the equations exactly (Dixon, "Exact solution of linear
//! equations using p-adic expansions", Numerische Mathematik 40, 1982). No number grows in the factors, and no
//! fraction is reduced on the way.

use rug::{Assign, Integer};

use super::lu::Lu;
use super::modulus::{P, Residue};
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
    factors: Lu<Residue>,
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
        let residues = |row: &Vec<(usize, i64)>| row.iter().map(|(c, a)| (*c, Residue::of_i64(*a))).collect();
        let factors = Lu::factor(whole.iter().map(residues).collect(), n_columns).ok()?;
        let free = factors.free_columns().first().copied();
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
        Some(Self { rows: whole, columns, free_column, free, factors })
    }

    /// A vector of the null space, by column, whose entry at the free column is the denominator.
    pub fn null_vector(&self) -> Option<Vec<Integer>> {
        let free = self.free?;
        let mut b = vec![Integer::new(); self.rows.len()];
        for &(row, value) in &self.free_column {
            b[row].assign(-value);
        }
        let found = self.lift(&b, &self.rows, self.columns.len(), |rest| {
            let mut digit = vec![Residue::default(); self.columns.len()];
            self.factors.solve(rest, &mut digit);
            digit
        })?;
        let mut vector = found.numerators;
        vector[free] = found.denominator;
        Some(vector)
    }

    /// `y` with `A' y = c`, by row, where `A'` is the transpose; what `c` has at the free column is ignored.
    pub fn solve_transposed(&self, mut c: Vec<Integer>) -> Option<Fractions> {
        if let Some(free) = self.free {
            c[free].assign(0);
        }
        self.lift(&c, &self.columns, self.rows.len(), |rest| self.factors.solve_transposed(rest))
    }

    /// Digits of the solution of `matrix x = b` until they are fractions that satisfy it.
    fn lift(
        &self,
        b: &[Integer],
        matrix: &[Vec<(usize, i64)>],
        n_unknowns: usize,
        solve: impl Fn(Vec<Residue>) -> Vec<Residue>,
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
            let digit = solve(rest.iter().map(Residue::of).collect());
            for (row, rest) in matrix.iter().zip(&mut rest) {
                let product: i128 = row.iter().map(|&(k, a)| i128::from(a) * i128::from(digit[k].0)).sum();
                *rest -= product;
                rest.div_exact_mut(&prime);
            }
            for (sum, digit) in sums.iter_mut().zip(digit) {
                *sum += Integer::from(&power * digit.0);
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

//! Sparse LU factors of a rational matrix, pivots chosen by Markowitz' count.
//!
//! Row and column singletons cost nothing by that count, so a basis that is triangular but for a
//! small kernel is factored in time proportional to its entries, and numbers grow in the kernel
//! alone.

use std::collections::BTreeMap;

use evenhand_budget::{charge, operations, words_of_bits};
use rug::Rational;
use thiserror::Error;

/// What is charged here.
const WHAT: &str = "exact equations";

/// `(column, value)` of the entries of one row that are not 0, in any order, no column twice.
pub type SparseRow = Vec<(usize, Rational)>;

/// The rows of a matrix are linearly dependent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("row {row} of the matrix depends on other rows")]
pub struct Singular {
    /// Index of a row that elimination reduced to zero.
    pub row: usize,
}

/// Factors of a matrix with at least as many columns as rows and full row rank.
///
/// With more columns than rows some columns stay without a pivot: [`Lu::free_columns`].
#[derive(Debug, Clone)]
pub struct Lu {
    n_rows: usize,
    n_columns: usize,
    steps: Vec<Step>,
    free_columns: Vec<usize>,
}

/// One elimination step.
#[derive(Debug, Clone)]
struct Step {
    row: usize,
    column: usize,
    pivot: Rational,
    /// `(row, multiplier)`: rows from which `multiplier` times the pivot row was subtracted.
    lower: Vec<(usize, Rational)>,
    /// `(column, value)` of the pivot row right of the pivot.
    upper: Vec<(usize, Rational)>,
}

impl Lu {
    /// Factors the matrix with the given rows.
    ///
    /// # Errors
    /// [`Singular`] when the rows are linearly dependent (always so with more rows than columns).
    pub fn factor(rows: Vec<SparseRow>, n_columns: usize) -> Result<Self, Singular> {
        let n_rows = rows.len();
        let mut active = Active::new(rows, n_columns);
        let mut steps = Vec::with_capacity(n_rows);
        for _ in 0..n_rows {
            let (row, column) = active.choose_pivot()?;
            steps.push(active.eliminate(row, column));
        }
        let free_columns = (0..n_columns).filter(|&c| !active.column_done[c]).collect();
        Ok(Self { n_rows, n_columns, steps, free_columns })
    }

    /// Columns that have no pivot, in ascending order; empty for a square matrix.
    #[must_use]
    pub fn free_columns(&self) -> &[usize] {
        &self.free_columns
    }

    /// `x` with `A x = b`, by column. Free columns take the values that `x` holds on entry.
    ///
    /// # Panics
    /// When `b` has not one entry for each row or `x` not one for each column.
    pub fn solve(&self, mut b: Vec<Rational>, x: &mut [Rational]) {
        assert_eq!((b.len(), x.len()), (self.n_rows, self.n_columns));
        for step in &self.steps {
            if b[step.row].is_zero() {
                continue;
            }
            let value = std::mem::take(&mut b[step.row]);
            charge_products(step.lower.len(), bits(&value));
            for (row, multiplier) in &step.lower {
                b[*row] -= Rational::from(multiplier * &value);
            }
            b[step.row] = value;
        }
        for step in self.steps.iter().rev() {
            let mut value = std::mem::take(&mut b[step.row]);
            let others = step.upper.iter().map(|(column, _)| &x[*column]).filter(|x| !x.is_zero());
            let (count, widest) = others.fold((0, 0), |(count, most), x| (count + 1, bits(x).max(most)));
            charge_products(count, widest);
            for (column, entry) in &step.upper {
                if !x[*column].is_zero() {
                    value -= Rational::from(entry * &x[*column]);
                }
            }
            if !value.is_zero() {
                value /= &step.pivot;
            }
            x[step.column] = value;
        }
    }

    /// `y` with `A' y = c`, by row, where `A'` is the transpose without the free columns; entries
    /// of `c` at free columns are ignored.
    ///
    /// # Panics
    /// When `c` has not one entry for each column.
    #[must_use]
    pub fn solve_transposed(&self, mut c: Vec<Rational>) -> Vec<Rational> {
        assert_eq!(c.len(), self.n_columns);
        let mut y = vec![Rational::new(); self.n_rows];
        for step in &self.steps {
            let mut value = std::mem::take(&mut c[step.column]);
            if value.is_zero() {
                continue;
            }
            value /= &step.pivot;
            charge_products(step.upper.len(), bits(&value));
            for (column, entry) in &step.upper {
                c[*column] -= Rational::from(entry * &value);
            }
            y[step.row] = value;
        }
        for step in self.steps.iter().rev() {
            let mut value = std::mem::take(&mut y[step.row]);
            let others = step.lower.iter().map(|(row, _)| &y[*row]).filter(|y| !y.is_zero());
            let (count, widest) = others.fold((0, 0), |(count, most), y| (count + 1, bits(y).max(most)));
            charge_products(count, widest);
            for (row, multiplier) in &step.lower {
                if !y[*row].is_zero() {
                    value -= Rational::from(multiplier * &y[*row]);
                }
            }
            y[step.row] = value;
        }
        y
    }
}

/// Bits of both halves of a fraction.
fn bits(value: &Rational) -> u64 {
    u64::from(value.numer().significant_bits()) + u64::from(value.denom().significant_bits())
}

/// Charges so many products with a fraction of so many bits, or with narrower ones, before they are made.
fn charge_products(count: usize, bits: u64) {
    if count > 0 {
        operations(count as u64, words_of_bits(bits), WHAT);
    }
}

/// The part of the matrix that has no pivot yet.
struct Active {
    rows: Vec<BTreeMap<usize, Rational>>,
    /// Rows with an entry in each column; may name rows that are done or lost the entry.
    column_rows: Vec<Vec<usize>>,
    column_count: Vec<usize>,
    row_done: Vec<bool>,
    column_done: Vec<bool>,
    /// Rows and columns that may have a single entry left.
    row_singletons: Vec<usize>,
    column_singletons: Vec<usize>,
}

impl Active {
    fn new(rows: Vec<SparseRow>, n_columns: usize) -> Self {
        let mut column_rows = vec![Vec::new(); n_columns];
        let mut column_count = vec![0; n_columns];
        for (row, entries) in rows.iter().enumerate() {
            for (column, _) in entries {
                column_rows[*column].push(row);
                column_count[*column] += 1;
            }
        }
        let row_singletons = (0..rows.len()).rev().filter(|&r| rows[r].len() <= 1).collect();
        let column_singletons = (0..n_columns).rev().filter(|&c| column_count[c] == 1).collect();
        Self {
            row_done: vec![false; rows.len()],
            column_done: vec![false; n_columns],
            rows: rows.into_iter().map(|r| r.into_iter().filter(|(_, v)| !v.is_zero()).collect()).collect(),
            column_rows,
            column_count,
            row_singletons,
            column_singletons,
        }
    }

    fn choose_pivot(&mut self) -> Result<(usize, usize), Singular> {
        while let Some(column) = self.column_singletons.pop() {
            if self.column_done[column] || self.column_count[column] != 1 {
                continue;
            }
            let row = self.column_rows[column]
                .iter()
                .copied()
                .find(|&r| !self.row_done[r] && self.rows[r].contains_key(&column));
            if let Some(row) = row {
                return Ok((row, column));
            }
        }
        while let Some(row) = self.row_singletons.pop() {
            if self.row_done[row] {
                continue;
            }
            match self.rows[row].len() {
                0 => return Err(Singular { row }),
                1 => {
                    let column = *self.rows[row].keys().next().ok_or(Singular { row })?;
                    return Ok((row, column));
                }
                _ => {}
            }
        }
        self.choose_in_kernel()
    }

    /// The entry with the least Markowitz count, then the smallest number, then the lowest index.
    fn choose_in_kernel(&self) -> Result<(usize, usize), Singular> {
        charge(self.rows.iter().map(|entries| entries.len() as u64).sum(), WHAT);
        let mut best: Option<((usize, u64), usize, usize)> = None;
        for (row, entries) in self.rows.iter().enumerate() {
            if self.row_done[row] {
                continue;
            }
            if entries.is_empty() {
                return Err(Singular { row });
            }
            for (column, value) in entries {
                let count = (entries.len() - 1) * (self.column_count[*column] - 1);
                let size = (count, bits(value));
                if best.as_ref().is_none_or(|(least, _, _)| size < *least) {
                    best = Some((size, row, *column));
                }
            }
        }
        best.map(|(_, row, column)| (row, column)).ok_or(Singular { row: 0 })
    }

    fn eliminate(&mut self, row: usize, column: usize) -> Step {
        let mut entries = std::mem::take(&mut self.rows[row]);
        self.row_done[row] = true;
        self.column_done[column] = true;
        let pivot = entries.remove(&column).unwrap_or_default();
        let upper: Vec<(usize, Rational)> = entries.into_iter().collect();
        for (other, _) in &upper {
            self.lose(*other);
        }
        let mut lower = Vec::new();
        for target in std::mem::take(&mut self.column_rows[column]) {
            if self.row_done[target] {
                continue;
            }
            let Some(entry) = self.rows[target].remove(&column) else { continue };
            let multiplier = entry / &pivot;
            self.subtract(target, &multiplier, &upper);
            lower.push((target, multiplier));
        }
        Step { row, column, pivot, lower, upper }
    }

    fn subtract(&mut self, target: usize, multiplier: &Rational, upper: &[(usize, Rational)]) {
        let widest = upper.iter().map(|(_, value)| bits(value)).max().unwrap_or(0);
        charge_products(upper.len(), widest.max(bits(multiplier)));
        for (column, value) in upper {
            let change = Rational::from(multiplier * value);
            match self.rows[target].entry(*column) {
                std::collections::btree_map::Entry::Vacant(slot) => {
                    slot.insert(-change);
                    self.column_rows[*column].push(target);
                    self.column_count[*column] += 1;
                }
                std::collections::btree_map::Entry::Occupied(mut slot) => {
                    *slot.get_mut() -= change;
                    if slot.get().is_zero() {
                        slot.remove();
                        self.column_rows[*column].retain(|&r| r != target);
                        self.lose(*column);
                    }
                }
            }
        }
        if self.rows[target].len() <= 1 {
            self.row_singletons.push(target);
        }
    }

    fn lose(&mut self, column: usize) {
        self.column_count[column] -= 1;
        if self.column_count[column] == 1 && !self.column_done[column] {
            self.column_singletons.push(column);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matrix(n: usize, seed: u64, dense: u64) -> Vec<SparseRow> {
        let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
        let mut next = move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        };
        (0..n)
            .map(|_| {
                (0..n)
                    .filter_map(|c| {
                        let value = i64::try_from(next() % 19).unwrap_or(0) - 9;
                        (next() % 10 < dense && value != 0).then(|| (c, Rational::from((value, 7))))
                    })
                    .collect()
            })
            .collect()
    }

    #[test]
    fn solutions_satisfy_their_equations() {
        let mut regular = 0;
        for seed in 1..200 {
            let n = 1 + usize::try_from(seed % 12).unwrap();
            let rows = matrix(n, seed, 3 + seed % 6);
            let Ok(lu) = Lu::factor(rows.clone(), n) else { continue };
            regular += 1;
            let b: Vec<Rational> = (0..n).map(|k| Rational::from((k as i64 + 1, 3))).collect();
            let mut x = vec![Rational::new(); n];
            lu.solve(b.clone(), &mut x);
            for (row, b) in rows.iter().zip(&b) {
                let sum: Rational = row.iter().map(|(c, v)| Rational::from(v * &x[*c])).sum();
                assert_eq!(sum, *b);
            }
            let y = lu.solve_transposed(b.clone());
            let mut sums = vec![Rational::new(); n];
            for (row, y) in rows.iter().zip(&y) {
                for (c, v) in row {
                    sums[*c] += Rational::from(v * y);
                }
            }
            assert_eq!(sums, b);
        }
        assert!(regular > 60, "only {regular} regular matrices");
    }

    #[test]
    fn a_free_column_takes_the_value_it_is_given() {
        // x0 + 2 x1 + x2 = 0, x1 - x2 = 0: one free column, and (-3, 1, 1) spans the null space.
        let one = || Rational::from(1);
        let rows = vec![vec![(0, one()), (1, Rational::from(2)), (2, one())], vec![(1, one()), (2, -one())]];
        let lu = Lu::factor(rows, 3).unwrap();
        let [free] = lu.free_columns() else { panic!("one free column") };
        let mut x = vec![Rational::new(); 3];
        x[*free] = one();
        lu.solve(vec![Rational::new(); 2], &mut x);
        assert_eq!(&x[0] + Rational::from(&x[1] * 3u32), 0);
        assert_eq!(x[1], x[2]);
        assert_ne!(x[1], 0);
    }

    #[test]
    fn dependent_rows_are_singular() {
        let row = vec![(0, Rational::from(1)), (1, Rational::from(2))];
        let twice = vec![(0, Rational::from(2)), (1, Rational::from(4))];
        assert!(Lu::factor(vec![row, twice], 2).is_err());
        assert!(Lu::factor(vec![Vec::new()], 1).is_err());
    }
}

//! Linear algebra: sparse LU factors in rational numbers, and Cholesky factors in doubles.
//!
//! Columns with one entry come first as pivots. After them, each pivot is in the shortest row, in the column of that
//! row with the fewest entries. A basis that is triangular except for a small kernel is factored in time proportional
//! to its entries. Numbers grow only in the kernel.

mod cholesky;

pub use cholesky::Cholesky;

use std::collections::BTreeSet;

use evenhand_problem::Sums;
use rug::{Integer, Rational};
use thiserror::Error;

/// The entries of one row that are not 0: `(column, value)`, in any order. No column is listed twice.
pub type SparseRow = Vec<(usize, Rational)>;

/// The error that the rows of a matrix are linearly dependent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("row {row} of the matrix depends on other rows")]
pub struct Singular {
    /// The index of a row that elimination reduced to 0.
    pub row: usize,
}

/// The factors of a matrix with at least as many columns as rows and full row rank.
///
/// With more columns than rows, some columns have no pivot. [`Lu::free_columns`] returns them.
#[derive(Debug, Clone)]
pub struct Lu {
    n_rows: usize,
    n_columns: usize,
    steps: Vec<Step>,
    free_columns: Vec<usize>,
}

/// An elimination step.
#[derive(Debug, Clone)]
struct Step {
    row: usize,
    column: usize,
    /// The factor of the pivot and of the entries to its right.
    factor: Rational,
    pivot: Integer,
    /// The rows from which a multiple of the pivot row was subtracted: `(row, multiplier)`.
    lower: SparseRow,
    /// The entries of the pivot row to the right of the pivot: `(column, value)`.
    upper: Vec<(usize, Integer)>,
}

impl Lu {
    /// Factors the matrix with the given rows.
    ///
    /// # Errors
    /// [`Singular`] when the rows are linearly dependent, which is always the case with more rows than columns.
    pub fn factor(rows: Vec<SparseRow>, n_columns: usize) -> Result<Self, Singular> {
        let n_rows = rows.len();
        let mut active = Active::new(rows, n_columns);
        let mut steps = Vec::with_capacity(n_rows);
        while let Some((row, column)) = active.choose_pivot()? {
            steps.push(active.eliminate(row, column));
        }
        let free_columns = (0..n_columns).filter(|&c| !active.column_done[c]).collect();
        Ok(Self { n_rows, n_columns, steps, free_columns })
    }

    /// Returns the columns that have no pivot, in ascending order. The list is empty for a square matrix.
    #[must_use]
    pub fn free_columns(&self) -> &[usize] {
        &self.free_columns
    }

    /// Solves `A x = b`. `x` is indexed by column. Free columns keep the values that `x` has on entry.
    ///
    /// # Panics
    /// When `b` does not have one entry for each row, or `x` does not have one entry for each column.
    pub fn solve(&self, mut b: Vec<Rational>, x: &mut [Rational]) {
        assert_eq!((b.len(), x.len()), (self.n_rows, self.n_columns));
        for step in &self.steps {
            let value = std::mem::take(&mut b[step.row]);
            if !value.is_zero() {
                charge(&value, step.lower.len());
                step.lower
                    .iter()
                    .for_each(|(row, multiplier)| b[*row] -= Rational::from(multiplier * &value));
            }
            b[step.row] = value;
        }
        for step in self.steps.iter().rev() {
            let right = &step.upper;
            charge_widest(right.iter().map(|(column, _)| &x[*column]).filter(|x| !x.is_zero()));
            let mut sum = Sums::of(&[std::mem::take(&mut b[step.row]) / &step.factor]);
            for (column, entry) in right.iter().filter(|(column, _)| !x[*column].is_zero()) {
                sum.add_over(&Integer::from(-entry), x[*column].numer(), x[*column].denom());
            }
            x[step.column] = sum.first() / &step.pivot;
        }
    }

    /// Solves `A' y = c`. `y` is indexed by row, and `A'` is the transpose without the free columns.
    ///
    /// Entries of `c` at free columns are ignored.
    ///
    /// # Panics
    /// When `c` does not have one entry for each column.
    #[must_use]
    pub fn solve_transposed(&self, mut c: Vec<Rational>) -> Vec<Rational> {
        assert_eq!(c.len(), self.n_columns);
        let mut y = vec![Rational::new(); self.n_rows];
        let mut sums: Vec<Option<Sums>> = vec![None; self.n_columns];
        for step in &self.steps {
            let value = match sums[step.column].take() {
                Some(sum) => sum.first(),
                None => std::mem::take(&mut c[step.column]),
            };
            if !value.is_zero() {
                let value = value / &step.pivot;
                charge(&value, step.upper.len());
                for (column, entry) in &step.upper {
                    let sum =
                        sums[*column].get_or_insert_with(|| Sums::of(&[std::mem::take(&mut c[*column])]));
                    sum.add_over(&Integer::from(-entry), value.numer(), value.denom());
                }
                y[step.row] = value / &step.factor;
            }
        }
        for step in self.steps.iter().rev().filter(|step| !step.lower.is_empty()) {
            charge_widest(step.lower.iter().map(|(row, _)| &y[*row]).filter(|y| !y.is_zero()));
            let mut sum = Sums::of(&[std::mem::take(&mut y[step.row])]);
            for (row, multiplier) in step.lower.iter().filter(|(row, _)| !y[*row].is_zero()) {
                sum.add_product(&y[*row], &Rational::from(-multiplier));
            }
            y[step.row] = sum.first();
        }
        y
    }
}

/// Charges the multiplications with these numbers before they are done. Each multiplication is charged with the length
/// of the longest number.
fn charge_widest<'n>(numbers: impl Iterator<Item = &'n Rational> + Clone) {
    if let Some(widest) = numbers.clone().max_by_key(|number| bits(number)) {
        charge(widest, numbers.count());
    }
}

/// Charges `count` multiplications with this number before they are done.
fn charge(number: &Rational, count: usize) {
    let bits = number.numer().significant_bits().max(number.denom().significant_bits());
    let words = evenhand_budget::words_of_bits(u64::from(bits));
    evenhand_budget::operations(count as u64, words, "exact factors of a matrix");
}

fn bits(number: &Rational) -> u32 {
    number.numer().significant_bits() + number.denom().significant_bits()
}

/// A row of whole numbers times a factor.
///
/// Sums of such rows need no common denominator, which would take longer to compute than the sums.
#[derive(Default)]
struct WholeRow {
    factor: Rational,
    entries: Vec<(usize, Integer)>,
}

impl WholeRow {
    fn new(row: &SparseRow) -> Self {
        let mut common = Integer::from(1);
        row.iter().for_each(|(_, value)| common.lcm_mut(value.denom()));
        let whole = |value: &Rational| Integer::from(common.div_exact_ref(value.denom())) * value.numer();
        let entries = row.iter().map(|(column, value)| (*column, whole(value))).collect();
        let mut row = Self { factor: Rational::from((1, common)), entries };
        row.shorten();
        row
    }

    /// Moves the common divisor of all entries into the factor.
    fn shorten(&mut self) {
        let Some((_, first)) = self.entries.first() else { return };
        let mut common = Integer::from(first.abs_ref());
        for (_, value) in &self.entries {
            if common == 1 {
                return;
            }
            if !value.is_divisible(&common) {
                common.gcd_mut(value);
            }
        }
        if common > 1 {
            self.entries.iter_mut().for_each(|(_, value)| value.div_exact_mut(&common));
            self.factor *= common;
        }
    }
}

/// Charges the multiplication of each of these whole numbers with a number of `bits` bits before it is done. Such a
/// product needs no greatest common divisor, so its cost depends only on the two lengths.
fn charge_whole<'n>(bits: u32, numbers: impl ExactSizeIterator<Item = &'n (usize, Integer)>) {
    let other = evenhand_budget::words_of_bits(u64::from(bits));
    let steps = numbers.map(|(_, value)| {
        let words = evenhand_budget::words_of_bits(u64::from(value.significant_bits()));
        20 + 4 * (words + other) + words.saturating_mul(other) / 4
    });
    evenhand_budget::charge(steps.sum(), "exact factors of a matrix");
}

/// The submatrix that has no pivot yet.
struct Active {
    rows: Vec<WholeRow>,
    /// For each column, the rows that have an entry in the column.
    in_column: Vec<Vec<usize>>,
    column_done: Vec<bool>,
    /// `(length, row)` of the rows without a pivot.
    open: BTreeSet<(usize, usize)>,
    /// The columns that may have only one entry left.
    singletons: Vec<usize>,
    /// Position of each column in the row that was processed last.
    position_of: Vec<usize>,
}

impl Active {
    fn new(rows: Vec<SparseRow>, n_columns: usize) -> Self {
        let mut in_column = vec![Vec::new(); n_columns];
        let whole = |(row, mut entries): (usize, SparseRow)| {
            entries.retain(|(_, value)| !value.is_zero());
            entries.iter().for_each(|(column, _)| in_column[*column].push(row));
            WholeRow::new(&entries)
        };
        let rows: Vec<WholeRow> = rows.into_iter().enumerate().map(whole).collect();
        Self {
            column_done: vec![false; n_columns],
            open: rows.iter().enumerate().map(|(row, whole)| (whole.entries.len(), row)).collect(),
            singletons: (0..n_columns).rev().filter(|c| in_column[*c].len() == 1).collect(),
            position_of: vec![usize::MAX; n_columns],
            rows,
            in_column,
        }
    }

    /// Returns the next pivot: a column with a single entry, or the column with the fewest entries of the shortest row.
    fn choose_pivot(&mut self) -> Result<Option<(usize, usize)>, Singular> {
        while let Some(column) = self.singletons.pop() {
            if let (false, [row]) = (self.column_done[column], self.in_column[column].as_slice()) {
                return Ok(Some((*row, column)));
            }
        }
        let Some(&(_, row)) = self.open.first() else { return Ok(None) };
        // Among otherwise equal pivots, the shortest number is preferred.
        let rank = |(c, value): &&(usize, Integer)| (self.in_column[*c].len(), value.significant_bits(), *c);
        let rarest = self.rows[row].entries.iter().min_by_key(rank);
        rarest.map(|(column, _)| Some((row, *column))).ok_or(Singular { row })
    }

    /// Eliminates the column of a pivot from all other rows.
    fn eliminate(&mut self, row: usize, column: usize) -> Step {
        let WholeRow { factor, entries: mut upper } = std::mem::take(&mut self.rows[row]);
        self.open.remove(&(upper.len(), row));
        self.column_done[column] = true;
        let pivot = upper.iter().position(|(other, _)| *other == column).map(|at| upper.swap_remove(at).1);
        let pivot = pivot.unwrap_or_default();
        let inverse = Rational::from(&factor * &pivot).recip();
        upper.iter().for_each(|(other, _)| self.remove_from_column(row, *other));
        let mut lower = Vec::new();
        for target in std::mem::take(&mut self.in_column[column]) {
            let entries = &mut self.rows[target].entries;
            let Some(at) = entries.iter().position(|(other, _)| *other == column) else { continue };
            self.open.remove(&(entries.len(), target));
            let entry = entries.swap_remove(at).1;
            let multiplier = Rational::from(&self.rows[target].factor * &entry) * &inverse;
            self.subtract(target, (&pivot, &entry), &upper);
            self.open.insert((self.rows[target].entries.len(), target));
            lower.push((target, multiplier));
        }
        Step { row, column, factor, pivot, lower, upper }
    }

    /// Subtracts a multiple of the pivot row from another row, so that the entry below the pivot
    /// becomes 0.
    fn subtract(&mut self, target: usize, (pivot, entry): (&Integer, &Integer), upper: &[(usize, Integer)]) {
        let common = Integer::from(pivot.gcd_ref(entry));
        let (mut times, mut taken) =
            (Integer::from(pivot.div_exact_ref(&common)), Integer::from(entry.div_exact_ref(&common)));
        if times < 0 {
            (times, taken) = (-times, -taken);
        }
        let mut row = std::mem::take(&mut self.rows[target]);
        charge_whole(times.significant_bits(), row.entries.iter());
        charge_whole(taken.significant_bits(), upper.iter());
        let is_scaled = times != 1;
        for (at, (column, value)) in row.entries.iter_mut().enumerate() {
            self.position_of[*column] = at;
            if is_scaled {
                *value *= &times;
            }
        }
        for (column, value) in upper {
            match row.entries.get_mut(self.position_of[*column]).filter(|(other, _)| other == column) {
                Some((_, entry)) => *entry -= &taken * value,
                None => {
                    self.position_of[*column] = row.entries.len();
                    row.entries.push((*column, -Integer::from(&taken * value)));
                    self.in_column[*column].push(target);
                }
            }
        }
        row.entries.retain(|(column, value)| {
            let is_zero = value.is_zero();
            if is_zero {
                self.remove_from_column(target, *column);
            }
            !is_zero
        });
        if is_scaled {
            row.factor /= times;
            row.shorten();
        }
        self.rows[target] = row;
    }

    /// Records that a row no longer has an entry in a column.
    fn remove_from_column(&mut self, row: usize, column: usize) {
        let rows = &mut self.in_column[column];
        rows.retain(|other| *other != row);
        if rows.len() == 1 {
            self.singletons.push(column);
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
    fn a_free_column_takes_its_given_value() {
        // The equations x0 + 2 x1 + x2 = 0 and x1 - x2 = 0 leave one free column. The vector (-3, 1, 1) spans the null
        // space.
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

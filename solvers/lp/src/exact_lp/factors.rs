//! Factors of a basis that are updated at each pivot: the product form of the inverse.
//!
//! A pivot multiplies the basis by a matrix that differs from the identity in one column, the direction of the entering
//! variable (Dantzig and Orchard-Hays, 1954). These columns are stored. The basis is factored again when there are many
//! such columns.

use crate::linear::{Lu, Singular, SparseRow};
use crate::settings::EXACT;
use rug::Rational;

/// The factors of the basis `B`, whose columns are the columns of the basic variables.
pub struct Factors {
    lu: Lu,
    updates: Vec<Update>,
    /// The size in bits of the numbers in the factored basis. `update_bits` is the size of the numbers in all later
    /// updates.
    basis_bits: u64,
    update_bits: u64,
}

/// A column by which the basis was multiplied.
struct Update {
    position: usize,
    pivot: Rational,
    /// The other entries of the column that are not 0, indexed by position in the basis.
    others: SparseRow,
}

impl Factors {
    /// Factors the basis with these columns. The entries of a column are `(row of the programme, value)`.
    ///
    /// There may be fewer columns than rows: see [`Factors::free_rows`].
    pub fn new(columns: Vec<SparseRow>, n_rows: usize) -> Result<Self, Singular> {
        let basis_bits = columns.iter().flatten().map(|(_, value)| bits(value)).sum();
        // The rows of the factored matrix are the basic variables, so a linearly dependent variable
        // is reported as a dependent row.
        let lu = Lu::factor(columns, n_rows)?;
        Ok(Self { lu, updates: Vec::new(), basis_bits, update_bits: 0 })
    }

    /// Returns the rows for which there is no basic variable.
    pub fn free_rows(&self) -> &[usize] {
        self.lu.free_columns()
    }

    /// Replaces the variable at `position` of the basis by the variable whose column is `B
    /// direction`.
    pub fn update(&mut self, position: usize, direction: &[Rational]) {
        let entries = direction.iter().enumerate();
        let others: SparseRow =
            entries.filter(|(k, v)| *k != position && !v.is_zero()).map(|(k, v)| (k, v.clone())).collect();
        let pivot = direction[position].clone();
        self.update_bits += bits(&pivot) + others.iter().map(|(_, value)| bits(value)).sum::<u64>();
        self.updates.push(Update { position, pivot, others });
    }

    /// Returns true if factoring the basis again is likely to cost less than solving with all updates.
    pub fn are_worn(&self) -> bool {
        self.updates.len() >= EXACT.most_updates || self.update_bits > EXACT.most_growth * self.basis_bits
    }

    /// Solves `B z = b`. `z` is indexed by position in the basis.
    pub fn solve(&self, b: Vec<Rational>) -> Vec<Rational> {
        let mut z = self.lu.solve_transposed(b);
        for Update { position, pivot, others } in &self.updates {
            if z[*position].is_zero() {
                continue;
            }
            let value = std::mem::take(&mut z[*position]) / pivot;
            for (k, entry) in others {
                z[*k] -= Rational::from(entry * &value);
            }
            z[*position] = value;
        }
        z
    }

    /// Solves `y B = c`. `y` is indexed by row, and `c` by position in the basis.
    pub fn solve_transposed(&self, mut c: Vec<Rational>) -> Vec<Rational> {
        for Update { position, pivot, others } in self.updates.iter().rev() {
            let mut value = std::mem::take(&mut c[*position]);
            for (k, entry) in others {
                if !c[*k].is_zero() {
                    value -= Rational::from(entry * &c[*k]);
                }
            }
            if !value.is_zero() {
                value /= pivot;
            }
            c[*position] = value;
        }
        // The basis is square here, so every entry is set.
        let mut y = vec![Rational::new(); c.len()];
        self.lu.solve(c, &mut y);
        y
    }
}

fn bits(value: &Rational) -> u64 {
    u64::from(value.numer().significant_bits()) + u64::from(value.denom().significant_bits())
}

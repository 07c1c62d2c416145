//! Products of a row vector with every column, in integers.
//!
//! Most of the arithmetic of a pivot computes reduced costs of columns that do not enter the basis.
//! With a common denominator such a product is a sum of integers, while rationals would be reduced
//! at every addition.

use rug::{Integer, Rational};

use super::{ExactLp, Variable};

/// The variables of a programme, slacks first. Each column and its cost are made integer by a
/// factor.
pub struct Columns(Vec<Column>);

struct Column {
    factor: Integer,
    cost: Integer,
    entries: Vec<(usize, Integer)>,
}

/// A row vector over one denominator.
pub struct Multipliers {
    numerators: Vec<Integer>,
    denominator: Integer,
}

impl Columns {
    pub fn new(lp: &ExactLp) -> Self {
        let slacks = (0..lp.rows.len()).map(|row| Column {
            factor: Integer::from(1),
            cost: Integer::new(),
            entries: vec![(row, lp.slack_sign(row).numer().clone())],
        });
        let columns = lp.columns.iter().map(|column| {
            let mut factor = column.cost.denom().clone();
            for (_, value) in &column.entries {
                factor.lcm_mut(value.denom());
            }
            let scaled =
                |value: &Rational| value.numer() * Integer::from(factor.div_exact_ref(value.denom()));
            let entries = column.entries.iter().map(|(row, value)| (*row, scaled(value))).collect();
            Column { cost: scaled(&column.cost), entries, factor }
        });
        Self(slacks.chain(columns).collect())
    }

    /// Returns the number of variables.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns the numerator of `y a_k`. The denominator is positive: the denominator of `y` times [`Columns::factor`].
    pub fn product(&self, y: &Multipliers, k: usize) -> Integer {
        let mut sum = Integer::new();
        for (row, value) in &self.0[k].entries {
            sum += value * &y.numerators[*row];
        }
        sum
    }

    /// Returns the numerator of `c_k - y a_k`. The denominator is that of [`Columns::product`].
    pub fn reduced_cost(&self, y: &Multipliers, k: usize) -> Integer {
        Integer::from(&self.0[k].cost * &y.denominator) - self.product(y, k)
    }

    /// Returns the factor by which column `k` was multiplied.
    pub fn factor(&self, k: usize) -> &Integer {
        &self.0[k].factor
    }

    /// Returns the rational value of a product with column `k`, given its numerator.
    pub fn value(&self, y: &Multipliers, k: usize, numerator: Integer) -> Rational {
        Rational::from((numerator, Integer::from(&y.denominator * &self.0[k].factor)))
    }

    /// Returns the number of a variable. Variables are numbered in the order of [`Variable`].
    pub fn number(lp: &ExactLp, variable: Variable) -> usize {
        match variable {
            Variable::Slack(row) => row,
            Variable::Column(j) => lp.rows.len() + j,
        }
    }

    /// Returns the variable with the number `k`.
    pub fn variable(lp: &ExactLp, k: usize) -> Variable {
        match k.checked_sub(lp.rows.len()) {
            None => Variable::Slack(k),
            Some(j) => Variable::Column(j),
        }
    }
}

impl Multipliers {
    pub fn new(values: &[Rational]) -> Self {
        let mut denominator = Integer::from(1);
        for value in values {
            denominator.lcm_mut(value.denom());
        }
        let scaled = |value: &Rational| {
            if value.is_zero() {
                return Integer::new();
            }
            Integer::from(denominator.div_exact_ref(value.denom())) * value.numer()
        };
        Self { numerators: values.iter().map(scaled).collect(), denominator }
    }

    pub fn numerator(&self, row: usize) -> &Integer {
        &self.numerators[row]
    }

    pub fn denominator(&self) -> &Integer {
        &self.denominator
    }
}

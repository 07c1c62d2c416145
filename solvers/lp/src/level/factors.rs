//! The equations of a kernel, factored: modulo a prime where coefficients are small, else in rationals.

use evenhand_problem::{Integer, Rational};

use crate::linear::{Lu, Modular};

/// Factors of equations in small integers, with one column more than rows.
pub enum Factors {
    /// Solutions are lifted; no number in the factors is large.
    Modular(Modular),
    Rational(Lu),
}

impl Factors {
    /// `None` where the equations depend on each other.
    pub fn new(rows: Vec<Vec<(usize, Integer)>>, n_columns: usize) -> Option<Self> {
        if let Some(factors) = Modular::factor(&rows, n_columns) {
            return Some(Self::Modular(factors));
        }
        let rational =
            |row: Vec<(usize, Integer)>| row.into_iter().map(|(k, v)| (k, Rational::from(v))).collect();
        let rows = rows.into_iter().map(rational).collect();
        Lu::factor(rows, n_columns).ok().map(Self::Rational)
    }

    /// A vector of the null space, by column; `None` where it has more dimensions than one.
    pub fn null_vector(&self, n_columns: usize) -> Option<Vec<Integer>> {
        let lu = match self {
            Self::Modular(factors) => return factors.null_vector(),
            Self::Rational(lu) => lu,
        };
        let [free] = lu.free_columns() else { return None };
        let mut null = vec![Rational::new(); n_columns];
        null[*free] = Rational::from(1);
        lu.solve(vec![Rational::new(); n_columns - 1], &mut null);
        Some(over_one_denominator(&null).0)
    }

    /// `y`, by row, with `A' y = c`, over one denominator, which is positive. One of the equations, that of
    /// the free column, is left out.
    pub fn solve_transposed(&self, c: Vec<Integer>) -> Option<(Vec<Integer>, Integer)> {
        match self {
            Self::Modular(factors) => {
                let found = factors.solve_transposed(c)?;
                Some((found.numerators, found.denominator))
            }
            Self::Rational(lu) => {
                Some(over_one_denominator(&lu.solve_transposed(c.into_iter().map(Rational::from).collect())))
            }
        }
    }
}

/// Rationals as integers over their least common denominator.
pub fn over_one_denominator(values: &[Rational]) -> (Vec<Integer>, Integer) {
    let mut common = Integer::from(1);
    for value in values {
        if !common.is_divisible(value.denom()) {
            common.lcm_mut(value.denom());
        }
    }
    let scaled = |value: &Rational| {
        if value.is_zero() {
            return Integer::new();
        }
        Integer::from(common.div_exact_ref(value.denom())) * value.numer()
    };
    (values.iter().map(scaled).collect(), common)
}

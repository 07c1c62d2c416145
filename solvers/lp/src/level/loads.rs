//! What groups use at a common level, summed exactly.

use evenhand_problem::{Integer, Rational};

use super::integers::{Integers, scaled};
use super::part::Part;

/// A sum over groups of `amount * usage`, over one denominator that grows as needed.
pub struct LoadSum<'a> {
    /// `(amount, group, class)` of each group.
    terms: Vec<(&'a Rational, usize, usize)>,
    denominator: Integer,
}

/// What a sum of loads is.
pub struct Loads {
    /// By capacity row.
    pub rows: Vec<Rational>,
    /// The amounts at the groups' prices.
    pub value: Rational,
}

impl<'a> LoadSum<'a> {
    pub fn new() -> Self {
        Self { terms: Vec::new(), denominator: Integer::from(1) }
    }

    pub fn add(&mut self, amount: &'a Rational, g: usize, i: usize) {
        self.denominator.lcm_mut(amount.denom());
        self.terms.push((amount, g, i));
    }

    pub fn finish(self, part: &Part<'_>, integers: &Integers, group_prices: &[Integer]) -> Loads {
        let mut rows = vec![Integer::new(); part.rows.len()];
        let mut value = Integer::new();
        for (amount, g, i) in self.terms {
            let amount = scaled(amount, &self.denominator);
            for (row, usage) in integers.usage(part, g, i) {
                rows[row] += &amount * &*usage;
            }
            value += amount * &group_prices[g];
        }
        let over = |n: Integer| Rational::from((n, self.denominator.clone()));
        let rows = rows.into_iter().map(|n| if n == 0 { Rational::new() } else { over(n) }).collect();
        Loads { value: over(value), rows }
    }
}

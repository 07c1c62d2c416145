//! Bounds on totals of tasks. They prove that no further tasks of some users fit, and follow from prices by weak
//! duality.
//!
//! Let `p >= 0` be prices of the capacity rows and of limits on server classes. Let `worth_n` be the least cost of a
//! task of user `n` on the classes where it can run and to which no limit of 0 applies. Then all totals `T` that can be
//! placed satisfy
//!
//! $$\sum_n worth_n T_n \le \sum_{ir} p_{ir} C_{ir} + \sum_l p_l L_l.$$
//!
//! If both sides are equal, no further task of a user with a positive worth fits while all other users keep their
//! tasks.

use evenhand_problem::{Constraints, Rational};
use rug::Integer;

use super::forest::ClassLimits;

/// An inequality that all totals that can be placed satisfy: `sum_n worth_n T_n <= most`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bound {
    /// The prices `(row, price of a unit)` that prove the bound, ascending by row and positive. Limits on server
    /// classes follow the rows.
    pub prices: Vec<(usize, Integer)>,
    /// The least costs `(user, cost of one of its tasks)`, ascending by user and positive, in an arbitrary unit.
    pub worth: Vec<(usize, Integer)>,
    /// The value of all rows, in the same unit as the costs.
    pub most: Rational,
}

impl Bound {
    /// Returns the slack of the bound for `totals`. It is negative if the totals violate the bound.
    #[must_use]
    pub fn left(&self, totals: &[Rational]) -> Rational {
        let held: Rational = self.worth.iter().map(|(n, worth)| Rational::from(worth * &totals[*n])).sum();
        &self.most - held
    }

    /// Computes the bound that follows from `prices`, one for each row. Negative prices count as 0. The function
    /// `costs` gets prices as whole numbers. It returns the least positive cost of a task of each user, ascending by
    /// user, and the value of all rows.
    #[must_use]
    pub fn new(
        prices: &[Rational],
        costs: impl FnOnce(&[Integer]) -> (Vec<(usize, Rational)>, Rational),
    ) -> Self {
        let priced = |price: &&Rational| **price > 0;
        let common = prices.iter().filter(priced).fold(Integer::from(1), |common, p| common.lcm(p.denom()));
        let whole = |price: &Rational| {
            if *price > 0 {
                Integer::from(common.div_exact_ref(price.denom())) * price.numer()
            } else {
                Integer::new()
            }
        };
        let prices: Vec<Integer> = prices.iter().map(whole).collect();
        let (worth, most) = costs(&prices);
        // Whole numbers are added faster. They are made as small as possible.
        let scale = worth.iter().fold(Integer::from(1), |scale, (_, worth)| scale.lcm(worth.denom()));
        let mut worth: Vec<(usize, Integer)> = worth
            .into_iter()
            .map(|(n, worth)| (n, Integer::from(scale.div_exact_ref(worth.denom())) * worth.numer()))
            .collect();
        let divisor = worth.iter().fold(Integer::new(), |divisor, (_, worth)| divisor.gcd(worth));
        worth.iter_mut().for_each(|(_, worth)| worth.div_exact_mut(&divisor));
        let most = if divisor.is_zero() { most } else { most * scale / divisor };
        let prices = prices.into_iter().enumerate().filter(|(_, price)| !price.is_zero()).collect();
        Self { prices, worth, most }
    }

    /// Computes the bound that follows from prices of the capacity rows, followed by prices of the limits on server
    /// classes.
    #[must_use]
    pub fn of_rows(constraints: &Constraints<'_>, limits: &ClassLimits, prices: &[Rational]) -> Self {
        Self::new(prices, |prices| {
            let problem = constraints.problem();
            let of_limits = &prices[constraints.rows().len()..];
            let mut worth = Vec::new();
            for n in 0..problem.n_users() {
                let cost = |i: usize| -> Rational {
                    let usage = constraints.usage(n, i).unwrap_or_default();
                    let of_class = &prices[constraints.class_rows(i)];
                    let costs = usage.entries().map(|(at, usage)| Rational::from(usage * &of_class[at]));
                    let counted = limits.counts(problem, n, i);
                    costs.chain(counted.map(|(at, d)| Rational::from(d * &of_limits[at]))).sum()
                };
                let least = limits.allowed(problem, n).map(cost).min();
                worth.extend(least.filter(|least| *least > 0).map(|least| (n, least)));
            }
            let rows = constraints.rows().iter().map(|row| &row.capacity);
            let all = rows.chain(limits.list.iter().map(|limit| &limit.most)).zip(prices);
            (worth, all.map(|(most, price)| Rational::from(most * price)).sum())
        })
    }
}

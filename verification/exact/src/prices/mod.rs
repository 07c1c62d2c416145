//! Prices: the dual evidence that no allocation is better.
//!
//! Let `a_ni` be coefficients: the contribution of a task of user `n` on class `i` to a sum that is to be bounded.
//! Prices `p >= 0` of the capacity rows and `q >= 0` of the users' task limits prove a bound if
//!
//! $$a_{ni} \le \sum_r p_{ir} d_{nir} + q_n$$
//!
//! for every class `i` where `n` can run. Then, by weak duality, every feasible `y` has
//!
//! $$\sum_{ni} a_{ni} y_{ni} \le \sum_{ir} p_{ir} C_{ir} + \sum_n q_n T_n.$$
//!
//! For a feasible `x` it follows that $\sum_{ni} a_{ni} (y_{ni} - x_{ni}) \le \varepsilon$, where $\varepsilon$ is the
//! same bound minus $\sum_{ni} a_{ni} x_{ni}$. It is computed as the sum
//!
//! $$\varepsilon = \sum_{ir} p_{ir} (C_{ir} - \mathrm{load}_{ir}) + \sum_n q_n (T_n - x_n) + \sum_{ni} \Bigl(\sum_r
//! p_{ir} d_{nir} + q_n - a_{ni}\Bigr) x_{ni}$$
//!
//! $\varepsilon$ is 0 if `x` is optimal and `p`, `q` are the dual optimum.
//!
//! [Limits of groups](crate::LimitRows) are also rows. They follow the rows of the classes.

mod dual;
mod vector;

use rayon::prelude::*;
use rug::Rational;

use self::dual::Dual;
pub use self::vector::PriceVector;
use crate::costs::{Excess, check_signs};
use crate::instance::Instance;
use crate::refusal::Refusal;
use crate::share::ShareCoefficients;
use crate::sparse::entries;

/// Weights of the users, and prices of the capacity rows and of the users' task limits.
///
/// All numbers are exact. All lists have the length of the problem, and zeros are stored.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Prices {
    /// Weight `l_n` of each user.
    pub user_weights: Vec<Rational>,
    /// Price `p` per unit of each row of [`Constraints`](evenhand_problem::Constraints), followed by the prices of the
    /// limits of the groups.
    pub rows: Vec<Rational>,
    /// Price `q_n` per task of each user.
    pub users: Vec<Rational>,
}

impl Prices {
    /// Returns prices of 0 for all users and rows of `instance`.
    #[must_use]
    pub fn zero(instance: &Instance<'_>) -> Self {
        let n_users = instance.problem().n_users();
        Self {
            user_weights: vec![Rational::new(); n_users],
            rows: vec![Rational::new(); instance.n_rows()],
            users: vec![Rational::new(); n_users],
        }
    }

    /// Returns the `eps` of the module's documentation for `a_ni = l_n u_ni / w_n`, or for `a_ni = l_n` without a
    /// share.
    ///
    /// # Errors
    /// Returns [`Refusal`] if a number is negative, an inequality fails, or a user with unlimited tasks has a price on
    /// them.
    pub fn gap(
        &self,
        instance: &Instance<'_>,
        share: Option<&ShareCoefficients>,
    ) -> Result<Rational, Refusal> {
        let dual = self.dual(instance, share)?;
        let users = (0..instance.problem().n_users()).into_par_iter();
        let excess = users.map(|n| dual.excess(n)).try_reduce(Excess::default, |a, b| Ok(a.plus(b)))?;
        Ok(dual.costs.of_slacks() + excess.total(&dual.costs))
    }

    /// Returns the inequalities that the prices have to satisfy.
    ///
    /// # Errors
    /// Returns [`Refusal`] if a list has the wrong length or a price is negative.
    fn dual<'a, 'b>(
        &self,
        instance: &'a Instance<'b>,
        share: Option<&ShareCoefficients>,
    ) -> Result<Dual<'a, 'b>, Refusal> {
        let problem = instance.problem();
        if self.user_weights.len() != problem.n_users() {
            return Err(Refusal::new("the prices have another shape than the problem"));
        }
        if let Some(n) = self.user_weights.iter().position(|l| *l < 0) {
            let name = problem.users()[n].name();
            return Err(Refusal::new(format!("the weight of user `{name}` is negative")));
        }
        check_signs(instance, &self.rows, &self.users)?;
        Ok(Dual::new(
            instance,
            entries(&self.user_weights),
            entries(&self.rows),
            entries(&self.users),
            share,
        )?)
    }
}

impl Prices {
    /// Adds the weights and prices in `other`, for the same users and rows.
    pub fn add(&mut self, other: &PriceVector) {
        for (sums, added) in [
            (&mut self.user_weights, &other.user_weights),
            (&mut self.rows, &other.rows),
            (&mut self.users, &other.users),
        ] {
            added.iter().for_each(|(at, value)| sums[*at] += value);
        }
    }
}

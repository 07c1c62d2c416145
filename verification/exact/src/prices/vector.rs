//! Sparse prices, such as the prices of a single level.

use rug::Rational;

use super::{Dual, Prices};
use crate::costs::check_signs_of;
use crate::instance::Instance;
use crate::refusal::Refusal;
use crate::share::ShareCoefficients;
use crate::sparse::{at, listed};

/// [`Prices`] without zeros, each list in ascending order. This form is used for evidence that consists of many such
/// vectors.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PriceVector {
    /// The weights `(user, l_n)`.
    pub user_weights: Vec<(usize, Rational)>,
    /// The prices `(row, p)` per unit of the row. Limits of groups follow the rows of the classes.
    pub rows: Vec<(usize, Rational)>,
    /// The prices `(user, q_n)` per task.
    pub users: Vec<(usize, Rational)>,
}

impl PriceVector {
    /// Converts `prices`, and drops zeros.
    #[must_use]
    pub fn of(prices: &Prices) -> Self {
        let sparse = |values: &[Rational]| {
            let entries = values.iter().enumerate().filter(|(_, value)| !value.is_zero());
            entries.map(|(at, value)| (at, value.clone())).collect()
        };
        Self {
            user_weights: sparse(&prices.user_weights),
            rows: sparse(&prices.rows),
            users: sparse(&prices.users),
        }
    }

    /// Returns `l_n`, which is 0 if no weight is stated for the user.
    #[must_use]
    pub fn weight(&self, user: usize) -> Rational {
        at(&self.user_weights, user).cloned().unwrap_or_default()
    }

    /// Returns `sum p C + sum q T`: a bound on `sum_ni a_ni y_ni` over the feasible `y`, for `a_ni = l_n u_ni / w_n`,
    /// or for `a_ni = l_n` without a share. The work depends on the length of the lists, not on the size of the
    /// problem.
    ///
    /// # Errors
    /// Returns [`Refusal`] if the lists have the wrong length, a number is negative, an inequality fails, or a user
    /// with unlimited tasks has a price on them.
    pub fn bound(
        &self,
        instance: &Instance<'_>,
        share: Option<&ShareCoefficients>,
    ) -> Result<Rational, Refusal> {
        let problem = instance.problem();
        let n_users = problem.n_users();
        let fits = |list: &[(usize, Rational)], length: usize| {
            let in_order = list.windows(2).all(|pair| pair[0].0 < pair[1].0);
            in_order && list.last().is_none_or(|(at, _)| *at < length)
        };
        let shapes = [(&self.user_weights, n_users), (&self.rows, instance.n_rows()), (&self.users, n_users)];
        if !shapes.into_iter().all(|(list, length)| fits(list, length)) {
            return Err(Refusal::new("the prices have another shape than the problem"));
        }
        let (weights, rows, users) = (listed(&self.user_weights), listed(&self.rows), listed(&self.users));
        if let Some((n, _)) = weights.clone().find(|(_, l)| **l < 0) {
            let name = problem.users()[n].name();
            return Err(Refusal::new(format!("the weight of user `{name}` is negative")));
        }
        check_signs_of(instance, rows.clone(), users.clone())?;
        let dual = Dual::new(instance, weights, rows.clone(), users.clone(), share)?;
        dual.check_all()?;
        let rows = rows.map(|(row, p)| Rational::from(instance.most(row) * p));
        let tasks = users.filter_map(|(n, q)| Some(Rational::from(problem.users()[n].tasks()? * q)));
        Ok(rows.chain(tasks).sum())
    }
}

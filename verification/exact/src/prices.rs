//! Prices: the dual evidence that no allocation does better.
//!
//! For coefficients `a_ni` (what a task of user `n` on class `i` adds to what is being bounded),
//! prices `p >= 0` of the capacity rows and `q >= 0` of the users' task limits prove a bound when
//!
//! `a_ni <= sum_r p_ir d_nir + q_n` for every class `i` that `n` can run on.
//!
//! Then every feasible `y` has `sum_ni a_ni (y_ni - x_ni) <= eps`, with
//!
//! `eps = sum_rows p |C - usage| + sum_n q_n |T_n - x_n| + sum_ni (sum_r p_ir d_nir + q_n - a_ni) |x_ni|`
//!
//! (weak duality; with `x` feasible and optimal and `p`, `q` the dual optimum, `eps` is 0).

use rayon::prelude::*;
use rug::{Integer, Rational};

use crate::claim::Refusal;
use crate::instance::{Instance, InstanceError};
use crate::quotient::{absorb, scaled};
use crate::scaled::check_width;
use crate::share::ShareCoefficients;

/// Weights of the users, prices of the capacity rows and of the users' task limits.
///
/// All exact, and all of the length of the problem: zeros are stored.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Prices {
    /// `l_n` by user.
    pub user_weights: Vec<Rational>,
    /// `p` by row of [`Constraints`](evenhand_problem::Constraints), per unit of the row.
    pub rows: Vec<Rational>,
    /// `q_n` by user, per task.
    pub users: Vec<Rational>,
}

impl Prices {
    /// All zero, for the users and rows of `instance`.
    #[must_use]
    pub fn zero(instance: &Instance<'_>) -> Self {
        let n_users = instance.problem().n_users();
        Self {
            user_weights: vec![Rational::new(); n_users],
            rows: vec![Rational::new(); instance.constraints().rows().len()],
            users: vec![Rational::new(); n_users],
        }
    }

    /// The `eps` of the module's documentation for `a_ni = l_n u_ni / w_n`, or `a_ni = l_n` when
    /// there is no share.
    ///
    /// # Errors
    /// [`Refusal`] when something is negative, an inequality fails, or a user with unlimited tasks
    /// has a price on them.
    pub fn gap(
        &self,
        instance: &Instance<'_>,
        share: Option<&ShareCoefficients>,
    ) -> Result<Rational, Refusal> {
        self.check_signs(instance)?;
        let dual = Dual::new(self, instance, share)?;
        let users = (0..instance.problem().n_users()).into_par_iter();
        let excess = users.map(|n| dual.excess(n)).collect::<Result<Vec<_>, _>>()?;
        Ok(dual.unused() + excess.into_iter().flatten().sum::<Rational>())
    }

    fn check_signs(&self, instance: &Instance<'_>) -> Result<(), Refusal> {
        let problem = instance.problem();
        let n_rows = instance.constraints().rows().len();
        let n_users = problem.n_users();
        if (self.user_weights.len(), self.rows.len(), self.users.len()) != (n_users, n_rows, n_users) {
            return Err(Refusal::new("the prices have another shape than the problem"));
        }
        let name = |n: usize| problem.users()[n].name();
        if let Some(n) = self.user_weights.iter().position(|l| *l < 0) {
            return Err(Refusal::new(format!("the weight of user `{}` is negative", name(n))));
        }
        if let Some(row) = self.rows.iter().position(|p| *p < 0) {
            let server = problem.servers()[instance.constraints().rows()[row].server].name();
            return Err(Refusal::new(format!("a price on server `{server}` is negative")));
        }
        if let Some(n) = self.users.iter().position(|q| *q < 0) {
            return Err(Refusal::new(format!("the price on the tasks of user `{}` is negative", name(n))));
        }
        let endless = |n: &usize| !self.users[*n].is_zero() && problem.users()[*n].tasks().is_none();
        if let Some(n) = (0..n_users).find(endless) {
            return Err(Refusal::new(format!(
                "user `{}` has a price on its tasks, which are unlimited",
                name(n)
            )));
        }
        Ok(())
    }
}

/// Prices as integers over one denominator `M`.
struct Dual<'a, 'b> {
    instance: &'a Instance<'b>,
    denominator: Integer,
    /// `l_n M`.
    weights: Vec<Integer>,
    /// By class: `(r or 0, row, p M)` of the rows with a price, those of resources also times
    /// `common_scale / resource_scale[r]`, so that times a scaled demand they are over
    /// `M common_scale`.
    priced: Vec<Vec<(usize, usize, Integer)>>,
    /// `q_n M`.
    users: Vec<Integer>,
    coefficients: Option<crate::share::ScaledShare>,
}

impl<'a, 'b> Dual<'a, 'b> {
    fn new(
        prices: &Prices,
        instance: &'a Instance<'b>,
        share: Option<&ShareCoefficients>,
    ) -> Result<Self, InstanceError> {
        let all = || prices.user_weights.iter().chain(&prices.rows).chain(&prices.users);
        let entries = all().filter(|value| !value.is_zero()).count() as u64;
        let mut denominator = Integer::from(1);
        for value in all() {
            absorb(&mut denominator, value.denom());
            check_width(&denominator, entries)?;
        }
        let integers = |values: &[Rational]| values.iter().map(|v| scaled(v, &denominator)).collect();
        let mut priced = vec![Vec::new(); instance.problem().n_servers()];
        for (row, (at, price)) in instance.constraints().rows().iter().zip(&prices.rows).enumerate() {
            if price.is_zero() {
                continue;
            }
            let mut value = scaled(price, &denominator);
            if let Some(scale) = instance.scaled.row_scale(at.kind) {
                value *= Integer::from(instance.scaled.common_scale.div_exact_ref(scale));
            }
            let position = row - instance.constraints().class_rows(at.server).start;
            priced[at.server].push((position, row, value));
        }
        Ok(Self {
            weights: integers(&prices.user_weights),
            users: integers(&prices.users),
            priced,
            coefficients: share.map(|share| share.scaled(instance)).transpose()?,
            instance,
            denominator,
        })
    }

    /// `sum_r p_ir d_nir` times `M`, as a numerator and a denominator.
    fn cost(&self, n: usize, i: usize) -> (Integer, Integer) {
        let scaled = &self.instance.scaled;
        if self.instance.constraints().is_time_shared(i) {
            let Some((_, _, price)) = self.priced[i].first() else {
                return (Integer::new(), Integer::from(1));
            };
            let gamma = scaled.problem().unconstrained_gamma(n, i);
            return (Integer::from(price * gamma.denom()), gamma.numer().clone());
        }
        let demand = scaled.demand(n, i);
        let sum = self.priced[i].iter().map(|(r, _, price)| Integer::from(price * &demand[*r])).sum();
        (sum, scaled.common_scale.clone())
    }

    /// `(cost + q_n - a_ni) M` as a numerator and a denominator.
    fn reduced_cost(&self, n: usize, i: usize) -> (Integer, Integer) {
        let (mut cost, mut scale) = self.cost(n, i);
        cost += &self.users[n] * &scale;
        let gain = match &self.coefficients {
            None => Integer::from(&self.weights[n] * &scale),
            Some(share) => {
                let gain = Integer::from(&self.weights[n] * share.of(n, i)) * &scale;
                cost *= &share.denominator;
                scale *= &share.denominator;
                gain
            }
        };
        (cost - gain, scale)
    }

    /// Checks the inequalities of user `n` and returns what its tasks add to `eps`; `None`: nothing.
    fn excess(&self, n: usize) -> Result<Option<Rational>, Refusal> {
        let scaled = &self.instance.scaled;
        // Without a weight the inequalities say that nothing is at most a sum of what is not negative.
        if self.weights[n] > 0 {
            if let Some(i) = scaled.classes(n).find(|&i| self.reduced_cost(n, i).0 < 0) {
                let problem = scaled.problem();
                return Err(Refusal::new(format!(
                    "the prices on server `{}` are too low for user `{}`",
                    problem.servers()[i].name(),
                    problem.users()[n].name()
                )));
            }
        }
        let mut sum: Option<Rational> = None;
        for (i, x) in &self.instance.tasks[n] {
            let (cost, scale) = self.reduced_cost(n, *i);
            if cost.is_zero() {
                continue;
            }
            let value = Rational::from((cost * &*x.as_abs(), scale * &self.denominator));
            *sum.get_or_insert_default() += value;
        }
        let sum = sum.map(|sum| sum / &self.instance.denominator);
        if self.users[n].is_zero() {
            return Ok(sum);
        }
        let Some(left) = self.instance.tasks_left(n) else { return Ok(sum) };
        if left.numerator.is_zero() {
            return Ok(sum);
        }
        let idle =
            Rational::from((left.numerator.abs() * &self.users[n], left.denominator * &self.denominator));
        Ok(Some(sum.unwrap_or_default() + idle))
    }

    /// `sum_rows p |C - usage|`.
    fn unused(&self) -> Rational {
        let mut sum = Rational::new();
        for (_, row, price) in self.priced.iter().flatten() {
            let slack = self.instance.scaled_slack(*row);
            if slack.is_zero() {
                continue;
            }
            let kind = self.instance.constraints().rows()[*row].kind;
            // A price of resource r already carries common_scale / resource_scale[r].
            let scale = match self.instance.scaled.row_scale(kind) {
                Some(_) => &self.instance.scaled.common_scale,
                None => self.instance.row_scale(*row),
            };
            sum += Rational::from((
                Integer::from(price * slack).abs(),
                Integer::from(scale * &self.denominator),
            ));
        }
        sum / &self.instance.denominator
    }
}

//! Prices: the dual evidence that no allocation does better.
//!
//! For coefficients `a_ni` (what a task of user `n` on class `i` adds to what is being bounded),
//! prices `p >= 0` of the capacity rows and `q >= 0` of the users' task limits prove a bound when
//!
//! $$a_{ni} \le \sum_r p_{ir} d_{nir} + q_n$$
//!
//! for every class `i` that `n` can run on. Then every feasible `y` has (weak duality)
//!
//! $$\sum_{ni} a_{ni} y_{ni} \le \sum_{ir} p_{ir} C_{ir} + \sum_n q_n T_n,$$
//!
//! and with a feasible `x` $\sum_{ni} a_{ni} (y_{ni} - x_{ni}) \le \varepsilon$, the same bound less
//! $\sum_{ni} a_{ni} x_{ni}$, added up as
//!
//! $$\varepsilon = \sum_{ir} p_{ir} (C_{ir} - \mathrm{load}_{ir}) + \sum_n q_n (T_n - x_n)
//!   + \sum_{ni} \Bigl(\sum_r p_{ir} d_{nir} + q_n - a_{ni}\Bigr) x_{ni}$$
//!
//!
//! (0 where `x` is optimal and `p`, `q` are the dual optimum).

use std::borrow::Cow;

use rayon::prelude::*;
use rug::{Integer, Rational};

use crate::costs::{Base, Costs, Excess, check_signs, too_low};
use crate::instance::Instance;
use crate::instance_error::InstanceError;
use crate::quotient::scaled;
use crate::refusal::Refusal;
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
        let dual = self.dual(instance, share)?;
        let users = (0..instance.problem().n_users()).into_par_iter();
        let excess = users.map(|n| dual.excess(n)).try_reduce(Excess::default, |a, b| Ok(a.plus(b)))?;
        Ok(dual.costs.of_slacks() + excess.total(&dual.costs))
    }

    /// `sum p C + sum q T`: a bound on `sum_ni a_ni y_ni` over the feasible `y`, for `a_ni` as in
    /// [`Prices::gap`].
    ///
    /// # Errors
    /// As [`Prices::gap`].
    pub fn bound(
        &self,
        instance: &Instance<'_>,
        share: Option<&ShareCoefficients>,
    ) -> Result<Rational, Refusal> {
        let dual = self.dual(instance, share)?;
        (0..instance.problem().n_users()).into_par_iter().try_for_each(|n| dual.check(n).map(|_| ()))?;
        let rows = instance.constraints().rows().iter().zip(&self.rows).filter(|(_, p)| !p.is_zero());
        let users = instance.problem().users().iter().zip(&self.users).filter(|(_, q)| !q.is_zero());
        let tasks = users.filter_map(|(user, q)| Some(Rational::from(user.tasks()? * q)));
        Ok(rows.map(|(row, p)| Rational::from(&row.capacity * p)).chain(tasks).sum())
    }

    /// The inequalities that they have to satisfy; none of them is negative.
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
        Ok(Dual::new(self, instance, share)?)
    }
}

impl Prices {
    /// Adds other prices and weights, of the same users and rows.
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

/// [`Prices`] without their zeros, each list ascending: evidence that is one of many.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PriceVector {
    /// `(user, l_n)`.
    pub user_weights: Vec<(usize, Rational)>,
    /// `(row, p)`, per unit of the row.
    pub rows: Vec<(usize, Rational)>,
    /// `(user, q_n)`, per task.
    pub users: Vec<(usize, Rational)>,
}

impl PriceVector {
    /// Without the zeros of `prices`.
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

    /// `l_n`, 0 where nothing is stated of the user.
    #[must_use]
    pub fn weight(&self, user: usize) -> Rational {
        let found = self.user_weights.binary_search_by_key(&user, |(n, _)| *n);
        found.map_or_else(|_| Rational::new(), |at| self.user_weights[at].1.clone())
    }

    /// With zeros, for the users and rows of `instance`.
    ///
    /// # Errors
    /// [`Refusal`] when a user or row is not there, or not in ascending order.
    pub(crate) fn dense(&self, instance: &Instance<'_>) -> Result<Prices, Refusal> {
        let fill = |length: usize, entries: &[(usize, Rational)]| {
            let in_order = entries.windows(2).all(|pair| pair[0].0 < pair[1].0);
            if !in_order || entries.last().is_some_and(|(at, _)| *at >= length) {
                return Err(Refusal::new("the prices have another shape than the problem"));
            }
            let mut values = vec![Rational::new(); length];
            for (at, value) in entries {
                values[*at].clone_from(value);
            }
            Ok(values)
        };
        let n_users = instance.problem().n_users();
        Ok(Prices {
            user_weights: fill(n_users, &self.user_weights)?,
            rows: fill(instance.constraints().rows().len(), &self.rows)?,
            users: fill(n_users, &self.users)?,
        })
    }
}

/// Prices with what they are compared with, over one denominator `M`.
struct Dual<'a, 'b> {
    instance: &'a Instance<'b>,
    /// `a_ni M` by user.
    worths: Vec<Worth>,
    costs: Costs<'a, 'b>,
}

/// What a task of one user is worth, `a_ni`: the same on every class that it can run on, or by class
/// in ascending order. As a fraction it is small where `l_n` and `u_ni` are not.
enum Worth<T = Integer> {
    Uniform(T),
    ByClass(Vec<(usize, T)>),
}

impl<T> Worth<T> {
    fn values(&self) -> impl Iterator<Item = &T> + Clone {
        let (uniform, by_class) = match self {
            Self::Uniform(value) => (Some(value), &[][..]),
            Self::ByClass(values) => (None, values.as_slice()),
        };
        uniform.into_iter().chain(by_class.iter().map(|(_, value)| value))
    }

    fn map<U>(&self, convert: impl Fn(&T) -> U) -> Worth<U> {
        match self {
            Self::Uniform(value) => Worth::Uniform(convert(value)),
            Self::ByClass(values) => {
                Worth::ByClass(values.iter().map(|(i, value)| (*i, convert(value))).collect())
            }
        }
    }
}

impl Worth<Rational> {
    fn new(n: usize, weight: &Rational, instance: &Instance<'_>, share: Option<&ShareCoefficients>) -> Self {
        let Some(share) = share.filter(|_| !weight.is_zero()) else { return Self::Uniform(weight.clone()) };
        let per_level = Rational::from(weight / instance.problem().users()[n].weight());
        match share.uniform(n) {
            Some(u) => Self::Uniform(per_level * u),
            None => {
                let classes = instance.scaled.classes(n);
                Self::ByClass(classes.map(|i| (i, Rational::from(&per_level * share.of(n, i)))).collect())
            }
        }
    }
}

impl<'a, 'b> Dual<'a, 'b> {
    fn new(
        prices: &Prices,
        instance: &'a Instance<'b>,
        share: Option<&ShareCoefficients>,
    ) -> Result<Self, InstanceError> {
        let weights = prices.user_weights.iter().enumerate();
        let worths: Vec<Worth<Rational>> =
            weights.map(|(n, weight)| Worth::new(n, weight, instance, share)).collect();
        let values = worths.iter().flat_map(Worth::values);
        let costs = Costs::new(instance, &prices.rows, &prices.users, values)?;
        let worths = worths.iter().map(|worth| worth.map(|a| scaled(a, &costs.denominator))).collect();
        Ok(Self { instance, worths, costs })
    }

    /// `(q_n - a_ni) M`.
    fn net(&self, n: usize, i: usize) -> Integer {
        let price = self.costs.user(n);
        match &self.worths[n] {
            Worth::Uniform(worth) => Integer::from(price - worth),
            Worth::ByClass(worths) => match worths.binary_search_by_key(&i, |(server, _)| *server) {
                Ok(at) => Integer::from(price - &worths[at].1),
                Err(_) => price.clone(),
            },
        }
    }

    /// Sets `cost` to the numerator of `(sum_r p_ir d_nir + q_n - a_ni) M` and returns the
    /// denominator, given `q_n - a_ni` when it is the same on all classes.
    fn reduced_cost(&self, cost: &mut Integer, n: usize, i: usize, net: Option<&Base>) -> Cow<'_, Integer> {
        match net {
            Some(net) => self.costs.of(cost, n, i, net),
            None => self.costs.of(cost, n, i, &self.costs.base(self.net(n, i))),
        }
    }

    /// Checks the inequalities of user `n`; returns `q_n - a_ni` when it is the same on all classes.
    fn check(&self, n: usize) -> Result<Option<Base>, Refusal> {
        let uniform = matches!(self.worths[n], Worth::Uniform(_));
        let net = uniform.then(|| self.costs.base(self.net(n, 0)));
        // Without a worth the inequalities say that nothing is at most a sum of what is not negative.
        let is_worth = self.worths[n].values().any(|worth| *worth > 0);
        let mut cost = Integer::new();
        let falls_short = |i: &usize| {
            self.reduced_cost(&mut cost, n, *i, net.as_ref());
            cost < 0
        };
        if let Some(i) = self.instance.scaled.classes(n).filter(|_| is_worth).find(falls_short) {
            return Err(too_low(self.instance, n, i));
        }
        Ok(net)
    }

    /// Checks the inequalities of user `n` and returns what its tasks add to `eps`.
    fn excess(&self, n: usize) -> Result<Excess, Refusal> {
        let net = self.check(n)?;
        let mut cost = Integer::new();
        let mut excess = Excess::default();
        for (i, x) in &self.instance.tasks[n] {
            let scale = self.reduced_cost(&mut cost, n, *i, net.as_ref());
            excess.add_cost(&self.costs, &cost, scale, x);
        }
        excess.apart += self.costs.of_tasks_left(n).unwrap_or_default();
        Ok(excess)
    }
}

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

use std::borrow::Cow;

use rayon::prelude::*;
use rug::{Assign, Integer, Rational};

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
        let mut gap = dual.unused();
        let mut common = Integer::new();
        for part in excess {
            common += part.common;
            gap += part.apart;
        }
        if !common.is_zero() {
            let scale = Integer::from(&dual.denominator * &instance.scaled.common_scale);
            gap += Rational::from((common, scale * &instance.denominator));
        }
        Ok(gap)
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
    /// `a_ni M` by user.
    worths: Vec<Worth>,
    /// `q_n M`.
    users: Vec<Integer>,
    /// By class: `(position in the class, row, p M)` of the rows with a price, those of resources
    /// also times `common_scale / resource_scale[r]`, so that times a scaled demand they are over
    /// `M common_scale`.
    priced: Vec<Vec<(usize, usize, Integer)>>,
}

/// What a task of one user is worth, `a_ni`: the same on every class that it can run on, or by class
/// in ascending order. As a fraction it is small where `l_n` and `u_ni` are not.
enum Worth<T = Integer> {
    Uniform(T),
    ByClass(Vec<(usize, T)>),
}

impl<T> Worth<T> {
    fn values(&self) -> impl Iterator<Item = &T> {
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

/// What one user adds to `eps`: `common / (M common_scale L) + apart`.
#[derive(Default)]
struct Excess {
    common: Integer,
    apart: Rational,
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
        let all = || worths.iter().flat_map(Worth::values).chain(&prices.rows).chain(&prices.users);
        let entries = all().filter(|value| !value.is_zero()).count() as u64;
        let mut denominator = Integer::from(1);
        for value in all() {
            absorb(&mut denominator, value.denom());
            check_width(&denominator, entries)?;
        }
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
            worths: worths.iter().map(|worth| worth.map(|a| scaled(a, &denominator))).collect(),
            users: prices.users.iter().map(|q| scaled(q, &denominator)).collect(),
            priced,
            instance,
            denominator,
        })
    }

    /// `(q_n - a_ni) M`.
    fn net(&self, n: usize, i: usize) -> Integer {
        match &self.worths[n] {
            Worth::Uniform(worth) => Integer::from(&self.users[n] - worth),
            Worth::ByClass(worths) => match worths.binary_search_by_key(&i, |(server, _)| *server) {
                Ok(at) => Integer::from(&self.users[n] - &worths[at].1),
                Err(_) => self.users[n].clone(),
            },
        }
    }

    /// Sets `cost` to the numerator of `(sum_r p_ir d_nir + q_n - a_ni) M` and returns the
    /// denominator, given `(q_n - a_ni) M common_scale` when it is the same on all classes.
    fn reduced_cost(
        &self,
        cost: &mut Integer,
        n: usize,
        i: usize,
        net: Option<&Integer>,
    ) -> Cow<'_, Integer> {
        let scaled = &self.instance.scaled;
        if self.instance.constraints().is_time_shared(i) {
            *cost = self.net(n, i);
            let Some((_, _, price)) = self.priced[i].first() else {
                return Cow::Owned(Integer::from(1));
            };
            let gamma = scaled.problem().unconstrained_gamma(n, i);
            *cost *= gamma.numer();
            *cost += price * gamma.denom();
            return Cow::Owned(gamma.numer().clone());
        }
        match net {
            Some(net) => cost.assign(net),
            None => *cost = self.net(n, i) * &scaled.common_scale,
        }
        let demand = scaled.demand(n, i);
        for (r, _, price) in &self.priced[i] {
            *cost += price * &demand[*r];
        }
        Cow::Borrowed(&scaled.common_scale)
    }

    /// Checks the inequalities of user `n` and returns what its tasks add to `eps`.
    fn excess(&self, n: usize) -> Result<Excess, Refusal> {
        let scaled = &self.instance.scaled;
        let uniform = matches!(self.worths[n], Worth::Uniform(_));
        let net = uniform.then(|| self.net(n, 0) * &scaled.common_scale);
        // Without a worth the inequalities say that nothing is at most a sum of what is not negative.
        let is_worth = self.worths[n].values().any(|worth| *worth > 0);
        let mut cost = Integer::new();
        let too_low = |i: &usize| {
            self.reduced_cost(&mut cost, n, *i, net.as_ref());
            cost < 0
        };
        if let Some(i) = scaled.classes(n).filter(|_| is_worth).find(too_low) {
            let problem = scaled.problem();
            return Err(Refusal::new(format!(
                "the prices on server `{}` are too low for user `{}`",
                problem.servers()[i].name(),
                problem.users()[n].name()
            )));
        }
        let mut excess = Excess::default();
        for (i, x) in &self.instance.tasks[n] {
            let scale = self.reduced_cost(&mut cost, n, *i, net.as_ref());
            if cost.is_zero() {
                continue;
            }
            let value = Integer::from(&cost * &*x.as_abs());
            if let Cow::Owned(scale) = scale {
                excess.apart +=
                    Rational::from((value, scale * &self.denominator)) / &self.instance.denominator;
            } else {
                excess.common += value;
            }
        }
        if self.users[n].is_zero() {
            return Ok(excess);
        }
        if let Some(left) = self.instance.tasks_left(n).filter(|left| !left.numerator.is_zero()) {
            let value = left.numerator.abs() * &self.users[n];
            excess.apart += Rational::from((value, left.denominator * &self.denominator));
        }
        Ok(excess)
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

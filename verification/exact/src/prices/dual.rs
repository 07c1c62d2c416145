//! The inequalities of prices, as integers over one denominator.

use std::borrow::Cow;

use rayon::prelude::*;
use rug::{Integer, Rational};

use crate::costs::{Base, Costs, Excess, too_low};
use crate::instance::Instance;
use crate::quotient::scaled;
use crate::refusal::{InstanceError, Refusal};
use crate::share::ShareCoefficients;
use crate::sparse::{Sparse, at};

/// Prices and the worths that they have to cover, over one denominator `M`.
pub(super) struct Dual<'a, 'b> {
    instance: &'a Instance<'b>,
    /// The worths `a_ni M` of users with a weight.
    worths: Sparse<Worth>,
    pub costs: Costs<'a, 'b>,
    /// For each shape of users, the least cost of a task on any class, times `M common_scale`. Empty if users of one
    /// shape can pay different costs, or if there are so few users that the list would not save work.
    cheapest: Vec<Integer>,
}

/// The worth `a_ni` of a task of one user: one number for all classes where it can run, or one for each class,
/// ascending by class. As a fraction, a worth can be short even if `l_n` and `u_ni` are long.
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
    /// Converts weights and prices. The iterators return only numbers that are not 0, in ascending order of their
    /// positions.
    pub fn new<'r>(
        instance: &'a Instance<'b>,
        weights: impl Iterator<Item = (usize, &'r Rational)>,
        rows: impl Iterator<Item = (usize, &'r Rational)> + Clone,
        users: impl Iterator<Item = (usize, &'r Rational)> + Clone,
        share: Option<&ShareCoefficients>,
    ) -> Result<Self, InstanceError> {
        let worths: Vec<(usize, Worth<Rational>)> =
            weights.map(|(n, weight)| (n, Worth::new(n, weight, instance, share))).collect();
        let values = worths.iter().flat_map(|(_, worth)| worth.values());
        let costs = Costs::new(instance, rows, users, values)?;
        costs.charge(worths.iter().map(|(n, _)| *n))?;
        let shapes = instance.scaled.first_of_shapes();
        let is_known = costs.are_of_shapes() && worths.len() >= 2 * shapes.len();
        let cheapest = if is_known { shapes } else { &[] };
        let cheapest = cheapest.par_iter().map(|n| costs.cheapest(*n)).collect();
        let worths = worths.iter().map(|(n, worth)| (*n, worth.map(|a| scaled(a, &costs.denominator))));
        Ok(Self { instance, worths: Sparse::new(worths.collect()), costs, cheapest })
    }

    /// Returns `(q_n - a_ni) M`.
    fn net(&self, n: usize, i: usize) -> Integer {
        let price = self.costs.user(n);
        match self.worths.get(n) {
            None => price.clone(),
            Some(Worth::Uniform(worth)) => Integer::from(price - worth),
            Some(Worth::ByClass(worths)) => {
                at(worths, i).map_or_else(|| price.clone(), |worth| Integer::from(price - worth))
            }
        }
    }

    /// Sets `cost` to the numerator of `(sum_r p_ir d_nir + q_n - a_ni) M`, and returns the denominator. `net` is
    /// `q_n - a_ni`, if it is the same on all classes.
    fn reduced_cost(&self, cost: &mut Integer, n: usize, i: usize, net: Option<&Base>) -> Cow<'_, Integer> {
        match net {
            Some(net) => self.costs.of(cost, n, i, net),
            None => self.costs.of(cost, n, i, &self.costs.base(self.net(n, i))),
        }
    }

    /// Returns an error unless the inequalities of user `n` are satisfied. Otherwise returns `q_n - a_ni`, if it is the
    /// same on all classes.
    fn check(&self, n: usize) -> Result<Option<Base>, Refusal> {
        let worth = self.worths.get(n);
        let uniform = !matches!(worth, Some(Worth::ByClass(_)));
        let net = uniform.then(|| self.costs.base(self.net(n, 0)));
        let cheapest = self.cheapest.get(self.instance.scaled.shape(n));
        if net.as_ref().zip(cheapest).is_some_and(|(net, cheapest)| net.covers(cheapest)) {
            return Ok(net);
        }
        // If no worth is positive, the inequalities are true, because the prices are not negative.
        let is_worth = worth.into_iter().flat_map(Worth::values).any(|worth| *worth > 0);
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

    /// Returns an error unless the inequalities of all users are satisfied. Users without a weight have no
    /// inequalities.
    pub fn check_all(&self) -> Result<(), Refusal> {
        self.worths.entries().par_iter().try_for_each(|(n, _)| self.check(*n).map(|_| ()))
    }

    /// Returns the contribution of the tasks of user `n` to `eps`.
    ///
    /// # Errors
    /// Returns [`Refusal`] if the inequalities of the user are not satisfied.
    pub fn excess(&self, n: usize) -> Result<Excess, Refusal> {
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

//! The cost of a task at given prices, `sum_r p_ir d_nir + q_n`, as integers over one denominator.

use std::borrow::Cow;

use evenhand_problem::RowKind;
use rug::{Assign, Integer, Rational};

use crate::budget::TooLarge;
use crate::instance::Instance;
use crate::limit_rows::{LimitOf, LimitRow};
use crate::quotient::{Quotient, absorb, scaled};
use crate::refusal::{InstanceError, Refusal};
use crate::scaled::check_width;
use crate::sparse::{Sparse, at, entries};

/// Prices as integers over one denominator `M`.
pub(crate) struct Costs<'a, 'b> {
    instance: &'a Instance<'b>,
    pub denominator: Integer,
    /// The prices `q_n M` that are not 0.
    users: Sparse<Integer>,
    /// For each class, the rows with a price, ascending by resource.
    priced: Sparse<Vec<Priced>>,
    /// For each limit of the groups, by position, its price in the form of row prices.
    limits: Sparse<Integer>,
    /// For each user with a price on its accelerators, `(class, cost)`: the cost of the accelerators of one task on
    /// each class, times `M`.
    of_accelerators: Sparse<Vec<(usize, Integer)>>,
    /// The unused amounts of the limits, times their prices.
    of_limits_left: Rational,
    zero: Integer,
}

/// A row with a price.
#[derive(Clone)]
struct Priced {
    /// The resource of the row. It is 0 for time.
    resource: usize,
    row: usize,
    /// The price `p M`. For a resource the price is also multiplied by `common_scale / resource_scale[r]`, so that the
    /// product with a scaled demand has the denominator `M common_scale`.
    price: Integer,
}

/// The cost of a task before the rows of its class are counted.
#[derive(Default)]
pub(crate) struct Base {
    /// The cost times `M`.
    plain: Integer,
    /// The cost times `M common_scale`.
    scaled: Integer,
}

impl Base {
    /// Returns true if the sum of this cost and the cost of `rows` is at least 0. `rows` is given times
    /// `M common_scale`.
    pub fn covers(&self, rows: &Integer) -> bool {
        Integer::from(&self.scaled + rows) >= 0
    }
}

impl<'a, 'b> Costs<'a, 'b> {
    /// Converts the prices of rows and users that are not 0, in ascending order. `M` is also a multiple of the
    /// denominators of `others`.
    pub fn new<'r, 'o>(
        instance: &'a Instance<'b>,
        rows: impl Iterator<Item = (usize, &'r Rational)> + Clone,
        users: impl Iterator<Item = (usize, &'r Rational)> + Clone,
        others: impl Iterator<Item = &'o Rational> + Clone,
    ) -> Result<Self, InstanceError> {
        let others = others.filter(|value| !value.is_zero());
        let prices = || rows.clone().chain(users.clone()).map(|(_, value)| value);
        let entries = (others.clone().count() + prices().count()) as u64;
        let mut denominator = Integer::from(1);
        let mut count_in = |value: &Rational| {
            absorb(&mut denominator, value.denom());
            check_width(&denominator, entries)
        };
        others.clone().try_for_each(&mut count_in)?;
        prices().try_for_each(&mut count_in)?;
        let all_rows = instance.constraints().rows();
        let limit_of = |row: usize| row.checked_sub(all_rows.len()).map(|at| &instance.limits().list()[at]);
        let mut paid_times = Vec::new();
        for (row, price) in rows.clone() {
            let Some(LimitRow { of: LimitOf::User(n), .. }) = limit_of(row) else { continue };
            let rates = instance.problem().users()[*n].rates();
            let times = rates.map_or(&[][..], |rates| rates.times());
            let paid: Vec<_> = times.iter().map(|(i, time)| (*i, Rational::from(time * price))).collect();
            paid.iter().try_for_each(|(_, paid)| count_in(paid))?;
            paid_times.push((*n, paid));
        }
        // The rows of a class are adjacent.
        let mut priced: Vec<(usize, Vec<Priced>)> = Vec::new();
        let (mut limits, mut of_limits_left) = (Vec::new(), Rational::new());
        for (row, price) in rows {
            let mut value = scaled(price, &denominator);
            let limit = row.checked_sub(all_rows.len()).map(|at| (at, &instance.limits().list()[at]));
            if let Some((_, of)) = limit {
                of_limits_left += Rational::from(&of.most - &of.held).abs() * price;
            }
            let kind = match limit.map(|(_, of)| &of.of) {
                None => all_rows[row].kind,
                Some(LimitOf::Group { resource, .. }) => RowKind::Resource(*resource),
                // The cost of accelerators was computed above.
                Some(LimitOf::User(_)) => continue,
            };
            if let Some(scale) = instance.scaled.row_scale(kind) {
                value *= Integer::from(instance.scaled.common_scale.div_exact_ref(scale));
            }
            if let Some((at, _)) = limit {
                limits.push((at, value));
                continue;
            }
            let at = &all_rows[row];
            let resource = if let RowKind::Resource(r) = at.kind { r } else { 0 };
            let priced_row = Priced { resource, row, price: value };
            match priced.last_mut() {
                Some((class, list)) if *class == at.server => list.push(priced_row),
                _ => priced.push((at.server, vec![priced_row])),
            }
        }
        let users = users.map(|(n, q)| (n, scaled(q, &denominator))).collect();
        let in_units = |paid: Vec<(usize, Rational)>| -> Vec<(usize, Integer)> {
            paid.into_iter().map(|(i, paid)| (i, scaled(&paid, &denominator))).collect()
        };
        let of_accelerators = paid_times.into_iter().map(|(n, paid)| (n, in_units(paid))).collect();
        let of_accelerators = Sparse::new(of_accelerators);
        let (users, priced, limits) = (Sparse::new(users), Sparse::new(priced), Sparse::new(limits));
        let zero = Integer::new();
        Ok(Self { instance, denominator, users, priced, limits, of_accelerators, of_limits_left, zero })
    }

    /// Charges the cost of limits for some users on all their classes, before it is computed.
    pub fn charge(&self, users: impl Iterator<Item = usize>) -> Result<(), TooLarge> {
        if self.limits.entries().is_empty() && self.of_accelerators.entries().is_empty() {
            return Ok(());
        }
        let (instance, problem) = (self.instance, self.instance.problem());
        let of_user = |n: usize| {
            let own = 1 + instance.limits().of_user(problem, n).count();
            own.saturating_mul(instance.scaled.classes(n).count())
        };
        let all = users.map(of_user).fold(0, usize::saturating_add) as u64;
        instance.budget().charge(instance.steps().saturating_mul(all))
    }

    /// Returns `q_n M`.
    pub fn user(&self, n: usize) -> &Integer {
        self.users.get(n).unwrap_or(&self.zero)
    }

    fn priced(&self, i: usize) -> &[Priced] {
        self.priced.get(i).map_or(&[], Vec::as_slice)
    }

    /// Returns true if all users of one shape pay the same for the rows of every class, over one denominator.
    pub fn are_of_shapes(&self) -> bool {
        let constraints = self.instance.constraints();
        let mut classes = 0..constraints.problem().n_servers();
        let has_limits = !(self.limits.entries().is_empty() && self.of_accelerators.entries().is_empty());
        !has_limits && !classes.any(|i| constraints.is_time_shared(i))
    }

    /// Returns the cost of the rows of the cheapest class for user `n`, times `M common_scale`. Requires
    /// [`are_of_shapes`](Self::are_of_shapes).
    pub fn cheapest(&self, n: usize) -> Integer {
        let (nothing, mut cost) = (Base::default(), Integer::new());
        let costs = self.instance.scaled.classes(n).map(|i| {
            self.of(&mut cost, n, i, &nothing);
            cost.clone()
        });
        costs.min().unwrap_or_default()
    }

    /// Returns the cost `plain / M` as a base to which the cost of rows is added.
    pub fn base(&self, plain: Integer) -> Base {
        Base { scaled: Integer::from(&plain * &self.instance.scaled.common_scale), plain }
    }

    /// Sets `cost` to the numerator of `M (base + sum_r p_ir d_nir)`, and returns the denominator.
    pub fn of(&self, cost: &mut Integer, n: usize, i: usize, base: &Base) -> Cow<'_, Integer> {
        let scaled = &self.instance.scaled;
        let of_accelerators = self.of_accelerators.get(n).and_then(|paid| at(paid, i));
        if self.instance.constraints().is_time_shared(i) {
            cost.assign(&base.plain);
            of_accelerators.into_iter().for_each(|paid| *cost += paid);
            let Some(Priced { price, .. }) = self.priced(i).first() else {
                return Cow::Owned(Integer::from(1));
            };
            let gamma = scaled.problem().unconstrained_gamma(n, i);
            *cost *= gamma.numer();
            *cost += price * gamma.denom();
            return Cow::Owned(gamma.into_numer_denom().0);
        }
        cost.assign(&base.scaled);
        if let Some(paid) = of_accelerators {
            *cost += Integer::from(paid * &scaled.common_scale);
        }
        let demand = scaled.demand(n, i);
        let priced = self.priced(i);
        if demand.len() < priced.len() {
            for (r, demand) in demand {
                if let Ok(at) = priced.binary_search_by_key(r, |priced| priced.resource) {
                    *cost += &priced[at].price * demand;
                }
            }
        } else {
            for Priced { resource, price, .. } in priced {
                if let Some(demand) = at(demand, *resource) {
                    *cost += price * demand;
                }
            }
        }
        if !self.limits.entries().is_empty() {
            let limits = self.instance.limits();
            for of in limits.of_user(scaled.problem(), n).filter(|of| limits.list()[*of].counts(i)) {
                let LimitOf::Group { on, resource, .. } = &limits.list()[of].of else { continue };
                let demand = if on.is_empty() { scaled.base_demand(n) } else { demand };
                if let Some((price, demand)) = self.limits.get(of).zip(at(demand, *resource)) {
                    *cost += price * demand;
                }
            }
        }
        Cow::Borrowed(&scaled.common_scale)
    }

    /// Returns `q_n |T_n - x_n|`, or `None` if the amount is 0.
    pub fn of_tasks_left(&self, n: usize) -> Option<Rational> {
        let price = self.users.get(n)?;
        let left = self.instance.tasks_left(n)?;
        let Quotient { numerator, denominator } = left;
        (!numerator.is_zero())
            .then(|| Rational::from((numerator.abs() * price, denominator * &self.denominator)))
    }

    /// Returns `sum_rows p |C - usage|`, including the unused amounts of limits of groups.
    pub fn of_slacks(&self) -> Rational {
        let mut sum = Rational::new();
        for &Priced { row, ref price, .. } in self.priced.values().flatten() {
            let slack = self.instance.scaled_slack(row);
            if slack.is_zero() {
                continue;
            }
            let kind = self.instance.constraints().rows()[row].kind;
            // The price of a resource r already has the factor common_scale / resource_scale[r].
            let scale = match self.instance.scaled.row_scale(kind) {
                Some(_) => &self.instance.scaled.common_scale,
                None => self.instance.row_scale(row),
            };
            let cost = Integer::from(price * slack).abs();
            sum += Rational::from((cost, Integer::from(scale * &self.denominator)));
        }
        sum / &self.instance.denominator + &self.of_limits_left
    }
}

/// The cost of the tasks of some users: `common / (M common_scale L) + apart`. `apart` collects the costs with other
/// denominators.
#[derive(Default)]
pub(crate) struct Excess {
    pub common: Integer,
    pub apart: Rational,
}

impl Excess {
    /// Adds `cost / (M scale)`, as returned by [`Costs::of`], for each of `|x| / L` tasks.
    pub fn add_cost(&mut self, costs: &Costs<'_, '_>, cost: &Integer, scale: Cow<'_, Integer>, x: &Integer) {
        if cost.is_zero() {
            return;
        }
        let value = Integer::from(cost * &*x.as_abs());
        if let Cow::Owned(scale) = scale {
            self.apart += Rational::from((value, scale * &costs.denominator)) / &costs.instance.denominator;
        } else {
            self.common += value;
        }
    }

    pub fn plus(mut self, other: Self) -> Self {
        self.common += other.common;
        self.apart += other.apart;
        self
    }

    pub fn total(self, costs: &Costs<'_, '_>) -> Rational {
        let scale = Integer::from(&costs.denominator * &costs.instance.scaled.common_scale);
        self.apart + Rational::from((self.common, scale * &costs.instance.denominator))
    }
}

/// Returns an error for lists of prices with the wrong length, negative prices, and prices on unlimited tasks.
pub(crate) fn check_signs(
    instance: &Instance<'_>,
    rows: &[Rational],
    users: &[Rational],
) -> Result<(), Refusal> {
    let problem = instance.problem();
    if (rows.len(), users.len()) != (instance.n_rows(), problem.n_users()) {
        return Err(Refusal::new("the prices have another shape than the problem"));
    }
    check_signs_of(instance, entries(rows), entries(users))
}

/// Checks signs like [`check_signs`], for lists of prices that are not 0. All positions in the lists must exist in the
/// problem.
pub(crate) fn check_signs_of<'r>(
    instance: &Instance<'_>,
    mut rows: impl Iterator<Item = (usize, &'r Rational)>,
    mut users: impl Iterator<Item = (usize, &'r Rational)> + Clone,
) -> Result<(), Refusal> {
    let problem = instance.problem();
    if let Some((row, _)) = rows.find(|(_, p)| **p < 0) {
        let row = instance.constraints().rows().get(row);
        let of = row.map_or("a limit of a group or user".to_owned(), |row| {
            format!("server `{}`", problem.servers()[row.server].name())
        });
        return Err(Refusal::new(format!("a price on {of} is negative")));
    }
    let name = |n: usize| problem.users()[n].name();
    if let Some((n, _)) = users.clone().find(|(_, q)| **q < 0) {
        return Err(Refusal::new(format!("the price on the tasks of user `{}` is negative", name(n))));
    }
    if let Some((n, _)) = users.find(|(n, _)| problem.users()[*n].tasks().is_none()) {
        return Err(Refusal::new(format!(
            "user `{}` has a price on its tasks, which are unlimited",
            name(n)
        )));
    }
    Ok(())
}

/// Returns the error that the prices on class `i` do not cover the worth of its tasks to user `n`.
pub(crate) fn too_low(instance: &Instance<'_>, n: usize, i: usize) -> Refusal {
    let problem = instance.problem();
    Refusal::new(format!(
        "the prices on server `{}` are too low for user `{}`",
        problem.servers()[i].name(),
        problem.users()[n].name()
    ))
}

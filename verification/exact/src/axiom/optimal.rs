//! `optimal-envy-free` and `optimal-equal`: no allocation that satisfies a condition has more tasks in total
//! (docs/theory.md, section 12). The condition of the first axiom is that no user envies another user. The condition of
//! the second axiom is that all active users have the same number of tasks over their weight.
//!
//! The margin is $\bigl(\sum_n x_n - \max_y \sum_n y_n\bigr) / \sum_n g_n$, where `y` ranges over the feasible
//! allocations that satisfy the condition. The margin can be positive, because the judged allocation need not satisfy
//! the condition. Whether it does is another question, which the axiom `envy-free` answers for the first condition.
//!
//! Prices bound the sum of every such `y` from above. A single `y` with more tasks refutes the axiom.
//!
//! - **Envy-free.** Freedom from envy is the rows $y_n \ge (w_n/w_m) \sum_i \rho_{nmi} y_{mi}$, where a task of `m` on
//!   class `i` is worth $\rho_{nmi}$ tasks to `n`. Let $e_{nm} \ge 0$ be prices of these rows, and $p \ge 0$ prices of
//!   the capacities. If $1 + \sum_m e_{nm} - \sum_m e_{mn} (w_m/w_n) \rho_{mni} \le \sum_r p_{ir} d_{nir}$ for every
//!   class `i` where `n` can run, then $\sum_n y_n \le \sum p C$. The rows exist only if tasks are unlimited.
//! - **Equal.** With $y_n = \lambda w_n$, values $l_n \ge 0$ and prices prove $\lambda \sum_n w_n l_n \le \sum p C + \sum
//!   q T + \sum t A$.

use evenhand_problem::format::{FormatError, Object};
use evenhand_problem::{Constraints, Problem, Rational};

use crate::axiom::rule::{Rule, wrong_form};
use crate::axiom::{envy_free, feasible};
use crate::costs::{check_signs_of, too_low};
use crate::evidence::{EnvyPrices, Evidence};
use crate::instance::{Instance, Tasks};
use crate::names::read::Reader;
use crate::names::write::{Json, Names, fields};
use crate::parameters::Parameters;
use crate::prices::PriceVector;
use crate::refusal::{Inapplicable, Refusal};
use crate::sparse::listed;

/// The condition that the compared allocations satisfy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Optimal {
    /// No user envies another user.
    EnvyFree,
    /// All active users have the same number of tasks over their weight.
    Equal,
}

/// Returns the number of tasks of user `n` that the resources of one task of user `m` on class `i` are worth. It is 0 if
/// one of the two users cannot run on the class.
#[must_use]
pub fn worth(constraints: &Constraints<'_>, n: usize, m: usize, i: usize) -> Rational {
    let (Some(own), Some(other)) = (constraints.usage(n, i), constraints.usage(m, i)) else {
        return Rational::new();
    };
    let per_row = own.entries().map(|(at, usage)| Rational::from(&other[at] / usage));
    per_row.min().unwrap_or_default()
}

/// Returns the bound on the sum of tasks of all envy-free allocations that the prices prove.
///
/// # Errors
/// Returns [`Refusal`] if a price is negative, if an inequality fails, or if the budget is exceeded.
fn bound_of_envy_free(instance: &Instance<'_>, prices: &EnvyPrices) -> Result<Rational, Refusal> {
    let (problem, constraints) = (instance.problem(), instance.constraints());
    let (n_users, n_classes) = (problem.n_users(), problem.n_servers());
    check_signs_of(instance, listed(&prices.rows), std::iter::empty())?;
    if prices.envy.iter().any(|(_, _, price)| *price < 0) {
        return Err(Refusal::new("a price of envy is negative"));
    }
    let each = n_classes.saturating_mul(problem.n_resources() + 2);
    let widest = prices.rows.iter().map(|(_, p)| p).chain(prices.envy.iter().map(|(_, _, price)| price));
    let widest = widest.max_by_key(|p| p.numer().significant_bits() + p.denom().significant_bits());
    if let Some(widest) = widest {
        instance.charge_wide((prices.envy.len() + n_users).saturating_mul(each), widest)?;
    }
    // The worth of a task of each user on each class: it counts as one task, and moves the rows of envy.
    let mut value = vec![vec![Rational::from(1); n_classes]; n_users];
    for (n, m, price) in &prices.envy {
        let ratio = Rational::from(problem.users()[*n].weight() / problem.users()[*m].weight()) * price;
        value[*n].iter_mut().for_each(|value| *value += price);
        for (i, value) in value[*m].iter_mut().enumerate() {
            *value -= worth(constraints, *n, *m, i) * &ratio;
        }
    }
    let mut by_row = vec![Rational::new(); constraints.rows().len()];
    prices.rows.iter().for_each(|(row, p)| by_row[*row] += p);
    for (n, value) in value.iter().enumerate() {
        for i in problem.classes_of(n) {
            let Some(usage) = constraints.usage(n, i) else { continue };
            let rows = constraints.class_rows(i).zip(usage.iter());
            let cost: Rational = rows.map(|(row, d)| Rational::from(&by_row[row] * d)).sum();
            if cost < value[i] {
                return Err(too_low(instance, n, i));
            }
        }
    }
    Ok(prices.rows.iter().map(|(row, p)| Rational::from(instance.most(*row) * p)).sum())
}

impl Optimal {
    /// Returns the bound on the sum of tasks that the evidence proves.
    fn bound(self, instance: &Instance<'_>, evidence: &Evidence) -> Result<Rational, Refusal> {
        match (self, evidence) {
            (Self::EnvyFree, Evidence::EnvyPrices(prices)) => bound_of_envy_free(instance, prices),
            (Self::Equal, Evidence::Prices(prices)) => {
                let problem = instance.problem();
                let active = (0..problem.n_users()).filter(|n| instance.is_active(*n));
                let (mut weights, mut priced) = (Rational::new(), Rational::new());
                for n in active {
                    let weight = problem.users()[n].weight();
                    weights += weight;
                    priced += Rational::from(weight * &prices.user_weights[n]);
                }
                let bound = PriceVector::of(prices).bound(instance, None)?;
                match priced > 0 {
                    true => Ok(bound * weights / priced),
                    // No user is compared.
                    false if weights == 0 => Ok(bound),
                    false => Err(Refusal::new("no active user has a weight above 0 in the evidence")),
                }
            }
            _ => Err(wrong_form()),
        }
    }

    /// Returns the sum of tasks of an allocation, which has to satisfy the condition.
    fn sum_of(self, instance: &Instance<'_>, tasks: &Tasks) -> Result<Rational, Refusal> {
        let better = instance.with_tasks(tasks)?;
        if !feasible::holds_exactly(&better) {
            return Err(Refusal::new("the allocation with more tasks is not feasible"));
        }
        let active: Vec<usize> =
            (0..instance.problem().n_users()).filter(|n| instance.is_active(*n)).collect();
        match self {
            Self::EnvyFree => {
                if envy_free::tightest(&better)?.is_some_and(|of| of.margin < 0) {
                    return Err(Refusal::new("the allocation with more tasks is not envy-free"));
                }
            }
            Self::Equal => {
                let level = |n: usize| better.total(n) / instance.problem().users()[n].weight();
                if active.windows(2).any(|pair| level(pair[0]) != level(pair[1])) {
                    let why = "in the allocation with more tasks, users have different tasks over weight";
                    return Err(Refusal::new(why));
                }
            }
        }
        Ok(active.into_iter().map(|n| better.total(n)).sum())
    }
}

impl Rule for Optimal {
    fn name(&self) -> &'static str {
        match self {
            Self::EnvyFree => "optimal-envy-free",
            Self::Equal => "optimal-equal",
        }
    }

    fn applies_to(&self, _: &Parameters, problem: &Problem) -> Result<(), Inapplicable> {
        if !problem.groups().list().is_empty() {
            let why = "users are in groups, and the axiom compares single users";
            return Err(Inapplicable::new(why.to_owned()));
        }
        let limited = problem.users().iter().find(|user| user.tasks().is_some());
        match limited.filter(|_| *self == Self::EnvyFree) {
            Some(user) => Err(Inapplicable::new(format!(
                "user `{}` limits its tasks, for which freedom from envy is not linear",
                user.name()
            ))),
            None => Ok(()),
        }
    }

    fn needs_evidence(&self) -> bool {
        true
    }

    fn judge(
        &self,
        instance: &Instance<'_>,
        _: &Parameters,
        evidence: &Evidence,
    ) -> Result<(bool, Option<Rational>), Refusal> {
        instance.charge_all_users()?;
        let active: Vec<usize> =
            (0..instance.problem().n_users()).filter(|n| instance.is_active(*n)).collect();
        let alone: Rational = active.iter().map(|n| instance.scale(*n)).sum();
        let tasks: Rational = active.iter().map(|n| instance.total(*n)).sum();
        let (holds, most) = match evidence {
            Evidence::Better(better) => (false, self.sum_of(instance, better)?),
            prices => (true, self.bound(instance, prices)?),
        };
        Ok((holds, (!active.is_empty()).then(|| (tasks - most) / alone)))
    }

    fn read<'t>(&self, reader: &Reader<'_, 't>, object: &Object<'t>) -> Result<Evidence, FormatError> {
        if let Some(raw) = object.get("better") {
            reader.only(object, &["better"])?;
            return Ok(Evidence::Better(reader.tasks(raw)?));
        }
        if *self == Self::Equal {
            reader.only(object, &["user_weights", "prices", "user_prices", "at_most_prices"])?;
            return Ok(Evidence::Prices(reader.prices(object)?));
        }
        reader.only(object, &["prices", "envy_prices"])?;
        let mut rows = reader.by_row(reader.need(object, "prices")?)?;
        rows.sort_by_key(|(row, _)| *row);
        let mut envy = Vec::new();
        for (user, raw) in reader.object(reader.need(object, "envy_prices")?)?.fields() {
            let n = reader.user(user, raw)?;
            envy.extend(reader.of_users(raw)?.into_iter().map(|(m, price)| (n, m, price)));
        }
        envy.sort_by_key(|(n, m, _)| (*n, *m));
        Ok(Evidence::EnvyPrices(EnvyPrices { rows, envy }))
    }

    fn write(&self, names: &Names<'_>, evidence: &Evidence) -> Option<Json> {
        match evidence {
            Evidence::Better(better) => Some(fields([("better", names.tasks(better))])),
            Evidence::Prices(prices) => Some(Json::Object(names.prices(prices))),
            Evidence::EnvyPrices(EnvyPrices { rows, envy }) => {
                let of_user = |pairs: &[(usize, usize, Rational)]| {
                    let prices = names.by_user(pairs.iter().map(|(_, m, price)| (*m, price)));
                    (names.user(pairs[0].0), prices)
                };
                let envy = envy.chunk_by(|a, b| a.0 == b.0).map(of_user).collect();
                let rows = names.by_row(rows.iter().map(|(row, price)| (*row, price)));
                Some(fields([("prices", rows), ("envy_prices", Json::Object(envy))]))
            }
            _ => None,
        }
    }
}

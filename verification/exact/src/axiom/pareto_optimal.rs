//! Pareto optimal: there is no feasible `y` with `y_n >= x_n` for every user and `y_n > x_n` for some user.
//!
//! The margin is minus the largest sum of `(y_n - x_n) / g_n` over the feasible `y` in which no user loses.
//!
//! The evidence that the axiom holds are [`Prices`] with $l_n \ge 1 / g_n$ for every active user, and $l_n \le \sum_r
//! p_{ir} d_{nir} + q_n$ on every class where `n` can run. Then every such `y` has
//!
//! $$\sum_n \frac{y_n - x_n}{g_n} \le \sum_n l_n (y_n - x_n) \le \sum_{ir} p_{ir} C_{ir} + \sum_n q_n T_n - \sum_n l_n
//! x_n.$$
//!
//! The right side is the [`Prices::gap`], and the margin is minus the gap. The best prices reach the largest sum, by
//! linear programming duality. So for every allocation there is evidence that the axiom holds, or that it is violated.
//!
//! If groups have limits, these limits are additional rows ([`LimitRows`](crate::LimitRows)).
//!
//! The evidence that the axiom is violated is a dominating `y` that is exactly feasible. The margin is then minus its
//! sum. This is a bound, because another `y` may gain more.

use rug::{Integer, Rational};

use crate::axiom::feasible;
use crate::axiom::rule::{Rule, wrong_form};
use crate::evidence::Evidence;
use crate::instance::{Instance, Tasks};
use crate::names::read::Reader;
use crate::names::write::{Json, Names, fields};
use crate::parameters::Parameters;
use crate::prices::Prices;
use crate::quotient::Quotient;
use crate::refusal::{Inapplicable, Refusal};
use evenhand_problem::format::{FormatError, Object};

/// Returns the margin that `prices` prove, or `None` if no user is active.
///
/// # Errors
/// Returns [`Refusal`] if the prices prove nothing.
pub fn margin_of_prices(instance: &Instance<'_>, prices: &Prices) -> Result<Option<Rational>, Refusal> {
    instance.can_be_compared()?;
    let gap = prices.gap(instance, None)?;
    let active = || prices.user_weights.iter().enumerate().filter(|(n, _)| instance.is_active(*n));
    if let Some((n, _)) = active().find(|(n, weight)| Rational::from(*weight * instance.scale(*n)) < 1) {
        let name = instance.problem().users()[n].name();
        return Err(Refusal::new(format!(
            "the weight of user `{name}` is below 1 over the number of tasks that it could run alone"
        )));
    }
    Ok(active().next().is_some().then_some(-gap))
}

/// Returns minus the sum of the gains in `dominating`, each over `g_n`. No user may lose anything, not even within the
/// tolerance. Otherwise a tiny loss could allow an arbitrary gain of another user with smaller tasks.
///
/// # Errors
/// Returns [`Refusal`] if the allocation is not feasible, or does not dominate.
pub fn margin_of_dominating(instance: &Instance<'_>, dominating: &Tasks) -> Result<Rational, Refusal> {
    let better = instance.with_tasks(dominating)?;
    if !feasible::holds_exactly(&better) {
        return Err(Refusal::new("the dominating allocation is not feasible"));
    }
    margin_of_better(instance, &better)
}

/// Returns minus the sum of the gains in `better`, each over `g_n`.
///
/// # Errors
/// Returns [`Refusal`] if some user loses tasks, or if limits are not respected.
pub(crate) fn margin_of_better(instance: &Instance<'_>, better: &Instance<'_>) -> Result<Rational, Refusal> {
    instance.can_be_compared()?;
    instance.limits().keep(better.limits())?;
    let mut sum = Rational::new();
    for n in 0..instance.problem().n_users() {
        let gain = gain(instance, better, n);
        if gain.numerator < 0 {
            let name = instance.problem().users()[n].name();
            return Err(Refusal::new(format!("user `{name}` loses tasks in the dominating allocation")));
        }
        if gain.numerator > 0 {
            sum += gain.to_rational() / instance.scale(n);
        }
    }
    if sum.is_zero() {
        return Err(Refusal::new("no user gains tasks in the dominating allocation"));
    }
    Ok(-sum)
}

/// Returns `y_n - x_n`. Only active users have tasks in a feasible allocation.
fn gain(x: &Instance<'_>, y: &Instance<'_>, n: usize) -> Quotient {
    let gain = Integer::from(&y.totals[n] * &x.denominator) - Integer::from(&x.totals[n] * &y.denominator);
    Quotient::new(gain, Integer::from(&x.denominator * &y.denominator))
}

/// The axiom `pareto-optimal`.
pub(crate) struct ParetoOptimal;

impl Rule for ParetoOptimal {
    fn name(&self) -> &'static str {
        "pareto-optimal"
    }

    fn applies(&self, instance: &Instance<'_>) -> Result<(), Inapplicable> {
        instance.can_be_compared()
    }

    fn needs_evidence(&self) -> bool {
        true
    }

    fn judge(
        &self,
        instance: &Instance<'_>,
        _parameters: &Parameters,
        evidence: &Evidence,
    ) -> Result<(bool, Option<Rational>), Refusal> {
        match evidence {
            Evidence::Prices(prices) => Ok((true, margin_of_prices(instance, prices)?)),
            Evidence::Dominating(better) => Ok((false, Some(margin_of_dominating(instance, better)?))),
            _ => Err(wrong_form()),
        }
    }

    fn read<'t>(&self, reader: &Reader<'_, 't>, object: &Object<'t>) -> Result<Evidence, FormatError> {
        if let Some(raw) = object.get("dominating") {
            reader.only(object, &["dominating"])?;
            return Ok(Evidence::Dominating(reader.tasks(raw)?));
        }
        reader.only(object, &["user_weights", "prices", "user_prices", "limit_prices", "at_most_prices"])?;
        Ok(Evidence::Prices(reader.prices(object)?))
    }

    fn write(&self, names: &Names<'_>, evidence: &Evidence) -> Option<Json> {
        match evidence {
            Evidence::Prices(prices) => Some(Json::Object(names.prices(prices))),
            Evidence::Dominating(better) => Some(fields([("dominating", names.tasks(better))])),
            _ => None,
        }
    }
}

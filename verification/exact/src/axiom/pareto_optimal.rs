//! Pareto optimal: no feasible `y` with `y_n >= x_n` for every user and `y_n > x_n` for one.
//!
//! Evidence of yes: [`Prices`] with `l_n > 0` for every active user and
//! `l_n <= sum_r p_ir d_nir + q_n` on every class that `n` can run on. With `eps` of
//! [`Prices::gap`] no user can gain more than `eps / min l_n` tasks unless another loses; the
//! margin is minus that, in tasks.
//!
//! Evidence of no: a dominating `y`, exactly feasible; the margin is minus the largest gain.

use rug::{Integer, Rational};

use crate::axiom::feasible;
use crate::claim::Refusal;
use crate::instance::{Instance, Tasks};
use crate::prices::Prices;
use crate::quotient::Quotient;

/// The margin that `prices` prove; `None` when no user is active.
///
/// # Errors
/// [`Refusal`] when the prices prove nothing.
pub fn margin_of_prices(instance: &Instance<'_>, prices: &Prices) -> Result<Option<Rational>, Refusal> {
    let gap = prices.gap(instance, None)?;
    let mut least: Option<&Rational> = None;
    for (n, weight) in prices.user_weights.iter().enumerate().filter(|(n, _)| instance.is_active(*n)) {
        if weight.is_zero() {
            let name = instance.problem().users()[n].name();
            return Err(Refusal::new(format!("user `{name}` has no weight in the evidence")));
        }
        if least.is_none_or(|least| weight < least) {
            least = Some(weight);
        }
    }
    Ok(least.map(|least| -gap / least))
}

/// Minus the largest gain of a user in `dominating`, in which nobody loses anything: a loss within
/// the tolerance could buy any gain of another user whose tasks are smaller.
///
/// # Errors
/// [`Refusal`] when it is not feasible, or does not dominate.
pub fn margin_of_dominating(instance: &Instance<'_>, dominating: &Tasks) -> Result<Rational, Refusal> {
    let better = instance.with_tasks(dominating)?;
    if !feasible::holds_exactly(&better) {
        return Err(Refusal::new("the dominating allocation is not feasible"));
    }
    margin_of_better(instance, &better)
}

/// Minus the largest gain of a user in `better`, in which nobody loses anything.
pub(crate) fn margin_of_better(instance: &Instance<'_>, better: &Instance<'_>) -> Result<Rational, Refusal> {
    let mut largest: Option<Quotient> = None;
    for n in 0..instance.problem().n_users() {
        let gain = gain(instance, better, n);
        if gain.numerator < 0 {
            let name = instance.problem().users()[n].name();
            return Err(Refusal::new(format!("user `{name}` loses in the dominating allocation")));
        }
        if largest.as_ref().is_none_or(|largest| gain > *largest) {
            largest = Some(gain);
        }
    }
    match largest {
        Some(gain) if gain.numerator > 0 => Ok(-gain.to_rational()),
        _ => Err(Refusal::new("nobody gains in the dominating allocation")),
    }
}

/// `y_n - x_n`.
fn gain(x: &Instance<'_>, y: &Instance<'_>, n: usize) -> Quotient {
    let gain = Integer::from(&y.totals[n] * &x.denominator) - Integer::from(&x.totals[n] * &y.denominator);
    Quotient::new(gain, Integer::from(&x.denominator * &y.denominator))
}

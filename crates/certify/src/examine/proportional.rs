//! Proportional and alpha fairness of any allocation. The evidence is prices with their exact gap, or an allocation
//! with a larger sum.

use evenhand_exact::axiom::proportional::{has_nothing, lift_prices, worth};
use evenhand_exact::{Axiom, Claim, Evidence, Instance, Parameters};
use evenhand_levels::weighted_sum::{SumGoal, maximise_sum, maximise_sum_float};
use evenhand_mechanisms::{FairOptimum, rounding};
use evenhand_problem::Rational;

use super::Undecided;

/// Returns the claim that the allocation is proportionally (or alpha) fair within the tolerance.
///
/// Prices of a floating-point optimum prove most fair allocations, and an allocation from the floating-point programme
/// refutes most others. If neither of them decides, the exact programme does. Its value is the least possible gap.
///
/// # Errors
/// [`Undecided`] if the axiom is neither proven nor refuted.
pub(super) fn claim(
    instance: &Instance<'_>,
    parameters: &Parameters,
    tolerance: &Rational,
) -> Result<Claim, Undecided> {
    let judge = |evidence| {
        Claim::with_evidence(Axiom::Proportional, parameters.clone(), evidence, instance, tolerance)
    };
    let problem = instance.problem();
    let alpha = parameters.alpha.clone().unwrap_or_else(|| Rational::from(1));
    let share = parameters.share.map(|share| share.coefficients(problem)).transpose()?;
    let is_due =
        |n: &usize| has_nothing(instance, share.as_ref(), *n) && instance.limits().leave(problem, *n);
    if let Some(user) = (0..problem.n_users()).find(is_due) {
        return Ok(judge(Evidence::Nothing { user })?);
    }
    let constraints = instance.constraints();
    let limits = Some(instance.limits());
    // The optimum keeps limits of accelerators, but ignores the limits of groups. A problem has limits of one kind.
    let optimum = match instance.limits().list().is_empty() || problem.has_at_most() {
        true => FairOptimum::find(constraints, &alpha, share.as_ref()),
        false => None,
    };
    if let Some(optimum) = optimum {
        if tolerance.is_zero()
            && share.is_none()
            && let Some(Ok(claim)) = optimum.exact_prices().map(|prices| judge(Evidence::Prices(prices)))
        {
            return Ok(claim);
        }
        if let Some(Ok(claim)) = optimum.prices(instance).map(|prices| judge(Evidence::Prices(prices))) {
            return Ok(claim);
        }
        if let Ok(claim) = judge(Evidence::Better(optimum.tasks())) {
            return Ok(claim);
        }
    }
    let share = share.as_ref();
    let worth: Vec<Rational> = worth(instance, &alpha, share)?
        .into_iter()
        .map(|enclosure| enclosure.map_or_else(Rational::new, |(_, upper)| upper))
        .collect();
    let goal = || SumGoal { share, limits, ..SumGoal::of(&worth) };
    if let Ok(tasks) = maximise_sum_float(constraints, goal())
        && let Ok(claim) = judge(Evidence::Better(rounding::feasible(constraints, tasks)))
    {
        return Ok(claim);
    }
    let optimum = maximise_sum(constraints, goal())?;
    let prices = lift_prices(instance, &alpha, share, &optimum.prices, &optimum.user_prices);
    if let Some(Ok(claim)) = prices.map(|prices| judge(Evidence::Prices(prices))) {
        return Ok(claim);
    }
    judge(Evidence::Better(optimum.tasks)).map_err(|refusal| Undecided::Last(refusal.to_string()))
}

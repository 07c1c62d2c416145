//! Integer Pareto optimal: no whole tasks on single servers give somebody more and nobody less. About the
//! tasks `x_n` of the users; applies where they are whole, as [`ef1`](super::ef1) does.
//!
//! Margin: 0, or minus the largest sum of `(y_n - x_n) / g_n` over the whole tasks `y` in which nobody
//! loses.
//!
//! Evidence of yes: [`Prices`] as for [`pareto_optimal`]. They bound what any allocation, whole or not,
//! gains by their gap. A whole task of user `n` alone is `l_n` of it: where the gap is less than every
//! `l_n` there is no room for one, and the margin is 0; else it is minus the gap. Not every optimum has
//! such prices: where dividing tasks would be worth a whole task, they show nothing.
//!
//! Evidence of no: placements of whole tasks that dominate, integer feasible exactly; the margin is minus
//! the sum of their gains over `g_n`.

use evenhand_problem::{Placement, Rational};

use crate::axiom::{ef1, integer_feasible, pareto_optimal};
use crate::instance::Instance;
use crate::prices::Prices;
use crate::refusal::Refusal;

/// The margin that `prices` prove; `None` when no user is active.
///
/// # Errors
/// [`Refusal`] when tasks are not whole, or the prices prove nothing.
pub fn margin_of_prices(instance: &Instance<'_>, prices: &Prices) -> Result<Option<Rational>, Refusal> {
    ef1::applies(instance).map_err(Refusal::new)?;
    let Some(margin) = pareto_optimal::margin_of_prices(instance, prices)? else { return Ok(None) };
    let gap = Rational::from(-&margin);
    let weights = prices.user_weights.iter().enumerate().filter(|(n, _)| instance.is_active(*n));
    let has_room = weights.map(|(_, weight)| weight).any(|weight| gap >= *weight);
    Ok(Some(if has_room { margin } else { Rational::new() }))
}

/// Minus the sum of the gains in `dominating`, each over `g_n`; nobody loses anything in it.
///
/// # Errors
/// [`Refusal`] when tasks are not whole, here or there, when the placements do not fit on the servers, or
/// when they do not dominate.
pub fn margin_of_dominating(instance: &Instance<'_>, dominating: &[Placement]) -> Result<Rational, Refusal> {
    ef1::applies(instance).map_err(Refusal::new)?;
    let better = instance.with_placements(dominating)?;
    let tightest = integer_feasible::tightest(&better).map_err(Refusal::new)?;
    if tightest.is_some_and(|(_, _, margin)| margin < 0) {
        return Err(Refusal::new("the dominating placements are not feasible"));
    }
    pareto_optimal::margin_of_better(instance, &better)
}

//! Integer Pareto optimal: no whole tasks on single servers give somebody more and nobody less. About the
//! tasks `x_n` of the users; applies where they are whole, as [`ef1`](super::ef1) does.
//!
//! Evidence of yes: [`Prices`] as for [`pareto_optimal`]. They bound what any allocation, whole or not,
//! gives a user that nobody pays for to `eps / min l_n` tasks more; whole users gain no more than its
//! floor, and the margin is minus that. Not every optimum has such prices: where dividing tasks would be
//! worth a whole task, they show nothing.
//!
//! Evidence of no: placements of whole tasks that dominate, integer feasible exactly; the margin is minus
//! the largest gain.

use evenhand_problem::{Placement, Rational};

use crate::axiom::{ef1, integer_feasible, pareto_optimal};
use crate::claim::Refusal;
use crate::instance::Instance;
use crate::prices::Prices;

/// The margin that `prices` prove; `None` when no user is active.
///
/// # Errors
/// [`Refusal`] when tasks are not whole, or the prices prove nothing.
pub fn margin_of_prices(instance: &Instance<'_>, prices: &Prices) -> Result<Option<Rational>, Refusal> {
    ef1::applies(instance).map_err(Refusal::new)?;
    let margin = pareto_optimal::margin_of_prices(instance, prices)?;
    Ok(margin.map(Rational::ceil))
}

/// Minus the largest gain of a user in `dominating`, in which nobody loses anything.
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

//! Integer Pareto optimal: no assignment of whole tasks to single servers gives some user more and no user less. The
//! axiom is about the tasks `x_n` of the users. Like EF1 ([`super::ef1`]), it applies if all tasks are whole.
//!
//! The margin is 0, or -1 if some user could have a whole task more. No tolerance reaches -1.
//!
//! The evidence that the axiom holds are [`Prices`] as for [`pareto_optimal`]. Their gap bounds the gain of any
//! allocation, whole or not. A whole task of user `n` contributes `l_n` to the gap. So if the gap is less than every
//! `l_n`, no further whole task fits. Not every optimum has such prices. If dividing tasks would gain as much as a
//! whole task, prices prove nothing.
//!
//! The evidence that the axiom is violated is an integer feasible placement of whole tasks that dominates.

use evenhand_problem::{Placement, Rational};

use crate::axiom::rule::{Rule, wrong_form};
use crate::axiom::{ef1, integer_feasible, pareto_optimal};
use crate::evidence::Evidence;
use crate::instance::Instance;
use crate::names::read::Reader;
use crate::names::write::{Json, Names, fields};
use crate::parameters::Parameters;
use crate::prices::Prices;
use crate::refusal::Inapplicable;
use crate::refusal::Refusal;
use evenhand_problem::format::{FormatError, Object};

/// Returns the margin that `prices` prove, or `None` if no user is active.
///
/// # Errors
/// Returns [`Refusal`] if tasks are not whole, or the prices prove nothing.
pub fn margin_of_prices(instance: &Instance<'_>, prices: &Prices) -> Result<Option<Rational>, Refusal> {
    ef1::applies(instance)?;
    let Some(margin) = pareto_optimal::margin_of_prices(instance, prices)? else { return Ok(None) };
    let gap = Rational::from(-&margin);
    let weights = prices.user_weights.iter().enumerate().filter(|(n, _)| instance.is_active(*n));
    match weights.map(|(_, weight)| weight).any(|weight| gap >= *weight) {
        true => Err(Refusal::new("the prices do not rule out that one more whole task fits")),
        false => Ok(Some(Rational::new())),
    }
}

/// Returns the margin -1 if some user gains in `dominating` and no user loses.
///
/// # Errors
/// Returns [`Refusal`] if tasks are not whole in either allocation, if the placements do not fit on the servers, or if
/// they do not dominate.
pub fn margin_of_dominating(instance: &Instance<'_>, dominating: &[Placement]) -> Result<Rational, Refusal> {
    ef1::applies(instance)?;
    let better = instance.with_placements(dominating)?;
    let tightest = integer_feasible::tightest(&better, true)?;
    if tightest.is_some_and(|(_, _, margin)| margin < 0) {
        return Err(Refusal::new("the dominating placements are not feasible"));
    }
    pareto_optimal::margin_of_better(instance, &better)?;
    Ok(Rational::from(-1))
}

/// The axiom `integer-pareto-optimal`.
pub(crate) struct IntegerParetoOptimal;

impl Rule for IntegerParetoOptimal {
    fn name(&self) -> &'static str {
        "integer-pareto-optimal"
    }

    fn applies(&self, instance: &Instance<'_>) -> Result<(), Inapplicable> {
        ef1::applies(instance)?;
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
            Evidence::DominatingPlacements(better) => {
                Ok((false, Some(margin_of_dominating(instance, better)?)))
            }
            _ => Err(wrong_form()),
        }
    }

    fn read<'t>(&self, reader: &Reader<'_, 't>, object: &Object<'t>) -> Result<Evidence, FormatError> {
        if let Some(raw) = object.get("dominating") {
            reader.only(object, &["dominating"])?;
            return Ok(Evidence::DominatingPlacements(reader.placements(raw)?));
        }
        reader.only(object, &["user_weights", "prices", "user_prices", "limit_prices", "at_most_prices"])?;
        Ok(Evidence::Prices(reader.prices(object)?))
    }

    fn write(&self, names: &Names<'_>, evidence: &Evidence) -> Option<Json> {
        match evidence {
            Evidence::Prices(prices) => Some(Json::Object(names.prices(prices))),
            Evidence::DominatingPlacements(better) => {
                Some(fields([("dominating", names.placements(better))]))
            }
            _ => None,
        }
    }
}

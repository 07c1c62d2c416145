//! Integer Pareto optimal: no whole tasks on single servers give some user more and no user less. About the
//! tasks `x_n` of the users; applies where they are whole, as EF1 does ([`super::ef1`]).
//!
//! Margin: 0, or -1 where somebody could have a whole task more: no tolerance reaches that.
//!
//! Evidence of yes: [`Prices`] as for [`pareto_optimal`]. They bound what any allocation, whole or not,
//! gains by their gap. A whole task of user `n` alone is `l_n` of it: where the gap is less than every
//! `l_n` there is no room for one. Not every optimum has such prices: where dividing tasks would be worth a whole
//! task, they show nothing.
//!
//! Evidence of no: placements of whole tasks that dominate, integer feasible exactly.

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

/// The margin that `prices` prove; `None` when no user is active.
///
/// # Errors
/// [`Refusal`] when tasks are not whole, or the prices prove nothing.
pub fn margin_of_prices(instance: &Instance<'_>, prices: &Prices) -> Result<Option<Rational>, Refusal> {
    ef1::applies(instance)?;
    let Some(margin) = pareto_optimal::margin_of_prices(instance, prices)? else { return Ok(None) };
    let gap = Rational::from(-&margin);
    let weights = prices.user_weights.iter().enumerate().filter(|(n, _)| instance.is_active(*n));
    match weights.map(|(_, weight)| weight).any(|weight| gap >= *weight) {
        true => Err(Refusal::new("the prices leave room for a whole task")),
        false => Ok(Some(Rational::new())),
    }
}

/// -1, where some user gains in `dominating`, and no user loses.
///
/// # Errors
/// [`Refusal`] when tasks are not whole, here or there, when the placements do not fit on the servers, or
/// when they do not dominate.
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

/// The axiom.
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
        reader.only(object, &["user_weights", "prices", "user_prices", "limit_prices"])?;
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

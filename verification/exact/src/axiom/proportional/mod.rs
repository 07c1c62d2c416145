//! Proportionally fair, and alpha-fair, within `eps`: every feasible `y` has
//!
//! $$\sum_{ni} a_{ni} (y_{ni} - x_{ni}) \le \varepsilon, \qquad a_{ni} = \frac{w_n u_{ni}}{U_n^\alpha}, \quad U_n =
//! \sum_i u_{ni} x_{ni}$$
//!
//! The sum is over the active users (docs/theory.md, section 3). Without a share `u_ni = 1` and `U_n = x_n`; with a
//! share this is the criterion of Kesidis, Corollary 1. For `eps = 0` the axiom says that `x` maximises
//! `sum_n w_n U_n^(1 - alpha) / (1 - alpha)` (`sum_n w_n log U_n` for `alpha = 1`).
//!
//! The margin is `-eps / sum_n w_n U_n^(1 - alpha)`. The divisor is the worth of all tasks at the marginal value that
//! each user gives them, so the margin has no unit, as elsewhere (docs/theory.md, section 7). The number `eps` itself
//! is in units of weight times `U^(1 - alpha)` (for `alpha = 1`, in units of weight).
//!
//! The evidence that the axiom holds are [`Prices`] with `a_ni <= sum_r p_ir d_nir + q_n` on every class where `n` can
//! run. Only users with finite tasks have a `q_n`, and the weights of the prices are not used. These prices prove
//!
//! $$\varepsilon = \sum_{ir} p_{ir} C_{ir} + \sum_n q_n T_n - \sum_n w_n U_n^{1 - \alpha}.$$
//!
//! The evidence that the axiom is violated has one of two forms. The first form is a feasible `y` for which the left
//! side is too large. The margin is then a bound, because another `y` may gain more. The second form is an active user
//! with `U_n = 0`. Then `a_ni` has no bound, and there is no margin.
//!
//! The number `U_n^alpha` can be irrational, and the denominator of an exact sum can grow with every user. For whole
//! `alpha`, numbers are exact as long as they are short. Otherwise the evidence states for every user two numbers of
//! more than 50 digits that enclose `w_n / U_n^alpha` ([`Evidence::Enclosed`]). These numbers are checked by comparing
//! powers, and the end that makes the claim harder to prove is used. `alpha` is positive, and its numerator and
//! denominator are at most [`MAX_ALPHA_TERM`].

mod lift;
mod rounded;
mod worth;

use evenhand_budget::{each, for_a_thread};
use rayon::prelude::*;
use rug::{Integer, Rational};

pub use self::lift::lift_prices;
use self::rounded::Towards;
use self::worth::Worths;
pub use self::worth::{MAX_ALPHA_TERM, check_alpha};
use crate::axiom::feasible;
use crate::axiom::rule::{Rule, wrong_form};
use crate::costs::{Costs, Excess, check_signs, too_low};
use crate::evidence::Evidence;
use crate::instance::{Instance, Tasks};
use crate::names::read::Reader;
use crate::names::write::{Json, Names, fields};
use crate::parameters::{ParameterError, Parameters};
use crate::prices::Prices;
use crate::refusal::Inapplicable;
use crate::refusal::Refusal;
use crate::share::Share;
use crate::share::ShareCoefficients;
use crate::sparse::entries;
use evenhand_problem::format::{FormatError, Object};
use evenhand_problem::{Problem, number};

/// Returns `eps`, the bound that `prices` prove.
///
/// # Errors
/// Returns [`Refusal`] if a number is negative, an inequality fails, a user with unlimited tasks has a price on them,
/// an active user has no tasks, or the numbers are too wide.
pub fn gap(
    instance: &Instance<'_>,
    alpha: &Rational,
    share: Option<&ShareCoefficients>,
    prices: &Prices,
) -> Result<Rational, Refusal> {
    gap_by_worths(instance, &Worths::new(instance, alpha, share)?, prices)
}

fn gap_by_worths(
    instance: &Instance<'_>,
    worths: &Worths<'_, '_>,
    prices: &Prices,
) -> Result<Rational, Refusal> {
    instance.can_be_compared()?;
    check_signs(instance, &prices.rows, &prices.users)?;
    let costs = Costs::new(instance, entries(&prices.rows), entries(&prices.users), std::iter::empty())?;
    costs.charge(0..instance.problem().n_users())?;
    let at_least = for_a_thread(instance.problem().n_servers());
    let users = (0..instance.problem().n_users()).into_par_iter().with_min_len(at_least);
    let excess = users.map(|n| {
        check_user(instance, worths, &costs, n)?;
        let base = costs.base(costs.user(n).clone());
        let mut cost = Integer::new();
        let mut excess = Excess { apart: -worths.spent(n, Towards::Zero), ..Excess::default() };
        for (i, x) in &instance.tasks[n] {
            let scale = costs.of(&mut cost, n, *i, &base);
            excess.add_cost(&costs, &cost, scale, x);
        }
        excess.apart += costs.of_tasks_left(n).unwrap_or_default();
        Ok(excess)
    });
    let excess = excess.try_reduce(Excess::default, |a, b| Ok::<_, Refusal>(a.plus(b)))?;
    Ok(costs.of_slacks() + excess.total(&costs))
}

/// Returns an error unless `a_ni <= sum_r p_ir d_nir + q_n` on every class of user `n`.
fn check_user(
    instance: &Instance<'_>,
    worths: &Worths<'_, '_>,
    costs: &Costs<'_, '_>,
    n: usize,
) -> Result<(), Refusal> {
    if !instance.is_active(n) {
        return Ok(());
    }
    let upper = worths.end(n, Towards::Infinity);
    let base = costs.base(costs.user(n).clone());
    let mut cost = Integer::new();
    for i in instance.scaled.classes(n) {
        let scale = costs.of(&mut cost, n, i, &base);
        let most = worths.most(&upper, n, i);
        if most.numerator * &costs.denominator * &*scale > &cost * most.denominator {
            return Err(too_low(instance, n, i));
        }
    }
    Ok(())
}

/// Returns `sum_n w_n U_n^(1 - alpha)` over the active users, or a lower bound that agrees with it to more than 50
/// digits. A gap is measured as a fraction of this number. The number is 0 if no user is active.
///
/// # Errors
/// Returns [`Refusal`] if an active user has no tasks, `alpha` is out of bounds, or the numbers are too wide.
pub fn total_worth(
    instance: &Instance<'_>,
    alpha: &Rational,
    share: Option<&ShareCoefficients>,
) -> Result<Rational, Refusal> {
    Ok(Worths::new(instance, alpha, share)?.all_spent(Towards::Zero).unwrap_or_default())
}

/// Returns the margin that `prices` prove, or a lower bound of it. Returns `None` if no user is active.
///
/// # Errors
/// Returns the same errors as [`gap`].
pub fn margin_of_prices(
    instance: &Instance<'_>,
    alpha: &Rational,
    share: Option<&ShareCoefficients>,
    prices: &Prices,
) -> Result<Option<Rational>, Refusal> {
    margin_by_worths(instance, &Worths::new(instance, alpha, share)?, prices)
}

fn margin_by_worths(
    instance: &Instance<'_>,
    worths: &Worths<'_, '_>,
    prices: &Prices,
) -> Result<Option<Rational>, Refusal> {
    let gap = gap_by_worths(instance, worths, prices)?;
    Ok(worths.all_spent(Towards::Zero).map(|spent| -(gap / spent)))
}

/// Returns minus the gain of `better`, `sum_ni a_ni (y_ni - x_ni)`, or minus a lower bound of it, as a fraction of
/// `sum_n w_n U_n^(1 - alpha)`.
///
/// # Errors
/// Returns [`Refusal`] if `better` is not feasible, an active user has no tasks in `x`, or the numbers are too wide.
pub fn margin_of_better(
    instance: &Instance<'_>,
    alpha: &Rational,
    share: Option<&ShareCoefficients>,
    better: &Tasks,
) -> Result<Rational, Refusal> {
    gain_by_worths(instance, &Worths::new(instance, alpha, share)?, better)
}

fn gain_by_worths(
    instance: &Instance<'_>,
    worths: &Worths<'_, '_>,
    better: &Tasks,
) -> Result<Rational, Refusal> {
    let other = instance.with_tasks(better)?;
    if !feasible::holds_exactly(&other) {
        return Err(Refusal::new("the allocation of the evidence is not feasible"));
    }
    instance.can_be_compared()?;
    instance.limits().keep(other.limits())?;
    let over = Integer::from(&instance.denominator * &other.denominator) * worths.denominator();
    let users = (0..instance.problem().n_users()).into_par_iter().with_min_len(for_a_thread(1));
    let gains = users.filter(|&n| instance.is_active(n)).map(|n| {
        let gain =
            worths.level(&other, n) * &instance.denominator - worths.level(instance, n) * &other.denominator;
        if gain.is_zero() {
            return Rational::new();
        }
        let worth = worths.summand(n, if gain > 0 { Towards::Zero } else { Towards::Infinity });
        Rational::from((worth.numerator * gain, worth.denominator))
    });
    let gain = gains.reduce(Rational::new, |a, b| a + b) / over;
    Ok(match worths.all_spent(if gain > 0 { Towards::Infinity } else { Towards::Zero }) {
        Some(spent) => -(gain / spent),
        None => Rational::new(),
    })
}

/// Returns true if user `n` is active and has `U_n <= 0`. If such a user exists, no prices prove a gap.
#[must_use]
pub fn has_nothing(instance: &Instance<'_>, share: Option<&ShareCoefficients>, n: usize) -> bool {
    if n >= instance.problem().n_users() || !instance.is_active(n) {
        return false;
    }
    let level: Rational = match share {
        None => instance.total(n),
        Some(share) => instance.tasks[n].iter().map(|(i, x)| Rational::from(share.of(n, *i) * x)).sum(),
    };
    level <= 0
}

/// Returns for every active user `(lower, upper)`, which enclose `w_n / U_n^alpha`. Returns `None` for other users.
/// Multiplied by `u_ni` (or 1 without a share), the two numbers enclose `a_ni`. For `alpha = 1` they are equal and
/// exact.
///
/// # Errors
/// Returns [`Refusal`] if an active user has no tasks, `alpha` is out of bounds, or the numbers are too wide.
pub fn worth(
    instance: &Instance<'_>,
    alpha: &Rational,
    share: Option<&ShareCoefficients>,
) -> Result<Vec<Option<(Rational, Rational)>>, Refusal> {
    let worths = Worths::new(instance, alpha, share)?;
    Ok(each(instance.problem().n_users(), 1, |n| {
        instance.is_active(n).then(|| {
            let end = |towards| worths.end(n, towards).to_rational();
            (end(Towards::Zero), end(Towards::Infinity))
        })
    }))
}

/// The largest number of claims in a certificate. Each claim involves all users, and there are a million exponents.
const MOST_CLAIMS: usize = 32;

/// The axiom `proportional`.
pub(crate) struct Proportional;

impl Rule for Proportional {
    fn name(&self) -> &'static str {
        "proportional"
    }

    fn parameters(&self, stated: Parameters) -> Result<Parameters, Refusal> {
        let alpha = stated.alpha.unwrap_or_else(|| Rational::from(1));
        check_alpha(&alpha)?;
        match stated.share {
            Some(Share::Generic) => {}
            share => drop(Parameters::from(share).without_share()?),
        }
        Ok(Parameters { share: stated.share, alpha: Some(alpha) })
    }

    fn parsed(&self, text: &str, _problem: &Problem) -> Result<Parameters, ParameterError> {
        let error = |error| ParameterError::Number { text: text.to_owned(), error };
        Ok(Parameters::alpha(number::parse(text).map_err(error)?))
    }

    fn most_claims(&self) -> usize {
        MOST_CLAIMS
    }

    fn applies_to(&self, parameters: &Parameters, problem: &Problem) -> Result<(), Inapplicable> {
        let Some(share) = parameters.share else { return Ok(()) };
        share.coefficients(problem).map(|_| ()).map_err(|error| Inapplicable::new(error.to_string()))
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
        parameters: &Parameters,
        evidence: &Evidence,
    ) -> Result<(bool, Option<Rational>), Refusal> {
        let share = parameters.share.map(|share| share.coefficients(instance.problem())).transpose()?;
        let (share, one) = (share.as_ref(), Rational::from(1));
        let alpha = parameters.alpha.as_ref().unwrap_or(&one);
        let values = if let Evidence::Enclosed { values, .. } = evidence { &values[..] } else { &[] };
        let worths = || Worths::stated(instance, alpha, share, values);
        match evidence.bare() {
            Evidence::Prices(prices) => Ok((true, margin_by_worths(instance, &worths()?, prices)?)),
            Evidence::Better(tasks) => Ok((false, Some(gain_by_worths(instance, &worths()?, tasks)?))),
            Evidence::Nothing { user } if has_nothing(instance, share, *user) => {
                instance.can_be_compared()?;
                match instance.limits().leave(instance.problem(), *user) {
                    true => Ok((false, None)),
                    false => Err(Refusal::new("limits of groups leave the user of the evidence nothing")),
                }
            }
            Evidence::Nothing { .. } => {
                Err(Refusal::new("the user of the evidence has tasks, or could get none in any allocation"))
            }
            _ => Err(wrong_form()),
        }
    }

    /// Removes the weights of the users from the evidence, because the problem already states them. Adds enclosures of
    /// numbers that are irrational or too long.
    fn complete(
        &self,
        instance: &Instance<'_>,
        parameters: &Parameters,
        mut evidence: Evidence,
    ) -> Result<Evidence, Refusal> {
        if let Evidence::Prices(prices) = &mut evidence {
            prices.user_weights.clear();
        }
        let is_of_yes = matches!(evidence, Evidence::Prices(_));
        if !is_of_yes && !matches!(evidence, Evidence::Better(_)) {
            return Ok(evidence);
        }
        let share = parameters.share.map(|share| share.coefficients(instance.problem())).transpose()?;
        let one = Rational::from(1);
        let worths = Worths::new(instance, parameters.alpha.as_ref().unwrap_or(&one), share.as_ref())?;
        let values = worths.values(is_of_yes);
        if values.is_empty() {
            return Ok(evidence);
        }
        Ok(Evidence::Enclosed { evidence: Box::new(evidence), values })
    }

    fn read<'t>(&self, reader: &Reader<'_, 't>, object: &Object<'t>) -> Result<Evidence, FormatError> {
        let values = object.get("values").map(|raw| reader.values(raw)).transpose()?;
        let enclosed = |evidence: Evidence| match values {
            Some(values) => Evidence::Enclosed { evidence: Box::new(evidence), values },
            None => evidence,
        };
        if let Some(raw) = object.get("better") {
            reader.only(object, &["better", "values"])?;
            return Ok(enclosed(Evidence::Better(reader.tasks(raw)?)));
        }
        if object.get("user").is_some() {
            reader.only(object, &["user"])?;
            return Ok(Evidence::Nothing { user: reader.named_user(object, "user")? });
        }
        reader.only(object, &["prices", "user_prices", "limit_prices", "at_most_prices", "values"])?;
        let (rows, users) = reader.unweighted_prices(object)?;
        Ok(enclosed(Evidence::Prices(Prices { user_weights: Vec::new(), rows, users })))
    }

    fn write(&self, names: &Names<'_>, evidence: &Evidence) -> Option<Json> {
        match evidence {
            Evidence::Prices(prices) => {
                Some(Json::Object(names.prices(prices).into_iter().skip(1).collect()))
            }
            Evidence::Better(tasks) => Some(fields([("better", names.tasks(tasks))])),
            Evidence::Nothing { user } => Some(fields([("user", names.user_name(*user))])),
            Evidence::Enclosed { evidence, values } => {
                let Json::Object(mut fields) = self.write(names, evidence)? else { return None };
                fields.push(("values".into(), names.values(values)));
                Some(Json::Object(fields))
            }
            _ => None,
        }
    }
}

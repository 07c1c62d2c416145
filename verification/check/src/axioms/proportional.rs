//! Proportional and alpha fairness within a gap (theory, section 3).
//!
//! Let `a_ni = w_n u_ni / U_n^alpha` and `U_n = sum_i u_ni x_ni` (without a share, `u_ni = 1`). Prices that cover `a`
//! prove `sum a_ni (y_ni - x_ni) <= gap = sum p C + sum q T - sum w_n U_n^(1 - alpha)` for every feasible `y`. The
//! margin is minus the gap, divided by that last sum. The evidence of a violation is a `y` for which the left side is
//! too large, or a user without tasks.
//!
//! If `alpha` is a whole number, these numbers are exact, unless the evidence states `values`. The `values` of a user
//! are a `least` and a `most` of `w_n / U_n^alpha`. They are accepted after a comparison of their powers. The end of
//! this interval that makes the claim harder to prove is used.

use rug::Rational;
use rug::ops::Pow;

use super::prices::Prices;
use crate::allocation::{Tasks, tasks};
use crate::case::{Case, Claim, Shown, total_of};
use crate::groups::within::Within;
use crate::json::Json;
use crate::names::at;
use crate::share::Coefficients;
use crate::work::{self, Checked, ensure, refuse};

/// Judges proportional fairness.
pub fn proportional(case: &Case<'_>, claim: &Claim<'_>) -> Checked<Shown> {
    let (raw, within) = (claim.required_evidence()?, Within::new(case)?);
    // If the share is not defined for the problem, the axiom does not apply, and `Claim::verify` refuses every
    // verdict about it.
    let u = claim.share.map(|share| Coefficients::new(share, case)).transpose()?.flatten();
    // Returns `U_n` by user.
    let levels = |tasks: &Tasks| -> Checked<Vec<Rational>> {
        let level = |(n, tasks)| u.as_ref().map_or_else(|| Ok(total_of(tasks)), |u| u.sum(n, tasks));
        tasks.iter().enumerate().map(level).collect()
    };
    let own = levels(&case.x)?;
    if raw.get("user").given().is_some() {
        let user = case.problem.user_names.named(raw.fields::<1>("user")?[0])?;
        let is_due = case.is_active(user) && own[user] <= 0 && !within.open(case, user)?.is_empty();
        ensure(is_due, "the user of the evidence is due nothing, or has something")?;
        return Ok((None, Some(false)));
    }
    if raw.get("better").given().is_some() {
        let [better, values] = raw.fields("better values?")?;
        let y = tasks(better, case.problem)?;
        within.allow(case, &y, None)?;
        let worths = Worths::new(case, claim, own, values)?;
        let levels = levels(&y)?;
        let mut parts = Vec::new();
        for n in case.active() {
            let gain = Rational::from(&levels[n] - &worths.levels[n]);
            parts.push(work::times(&worths.ends[n][usize::from(gain < 0)], &gain)?);
        }
        let gain = work::sum(parts)?;
        let spent = worths.spent(gain > 0)?;
        return Ok((Some(spent.map_or_else(Rational::new, |spent| -(gain / spent))), Some(false)));
    }
    let [rows, users, limits, values] = raw.fields("prices user_prices? limit_prices? values?")?;
    let prices = Prices::within(case, [rows, users, limits], &within)?;
    let bound = prices.bound(case)?;
    let worths = Worths::new(case, claim, own, values)?;
    let values = case.active().map(|n| (n, worths.ends[n][1].clone())).collect();
    prices.cover(case, &values, u.as_ref())?;
    let margin = worths.spent(false)?.map(|spent| 1 - bound / spent);
    Ok((margin, Some(true)))
}

/// The values of `w_n / U_n^alpha`, exact or as intervals.
struct Worths<'c, 'a> {
    case: &'c Case<'a>,
    /// The numbers `U_n`, by user.
    levels: Vec<Rational>,
    /// The ends of the interval that contains `w_n / U_n^alpha`, by user; 0 for users that cannot run any task.
    ends: Vec<[Rational; 2]>,
}

impl<'c, 'a> Worths<'c, 'a> {
    fn new(case: &'c Case<'a>, claim: &Claim<'_>, levels: Vec<Rational>, values: &Json<'_>) -> Checked<Self> {
        let (exponent, index) = claim.alpha.unwrap_or((1, 1));
        let stated = case.problem.user_names.map(values, |_, raw| {
            let [least, most] = raw.fields("least most")?;
            Ok([least.computed()?, most.computed()?])
        })?;
        let power = |value: &Rational, to: u32| {
            work::steps(work::cost(work::words(value).saturating_mul(u64::from(to))))?;
            Ok(Rational::from(value.pow(to)))
        };
        let mut ends = vec![[Rational::new(), Rational::new()]; levels.len()];
        for n in case.active() {
            let (name, weight) = (case.user(n), &case.problem.users[n].weight);
            if levels[n] <= 0 {
                return refuse(format!("user `{name}` has nothing"));
            }
            let level = power(&levels[n], exponent)?;
            ends[n] = match at(&stated, n) {
                Some([least, most]) => {
                    let weight = power(weight, index)?;
                    let below = work::times(&power(least, index)?, &level)?;
                    let above = work::times(&power(most, index)?, &level)?;
                    let is_so = *least > 0 && *most > 0 && below <= weight && weight <= above;
                    ensure(is_so, &format!("the values of user `{name}` do not enclose the power"))?;
                    [least.clone(), most.clone()]
                }
                None if index == 1 => std::array::from_fn(|_| Rational::from(weight / &level)),
                None => return refuse(format!("alpha is not whole, and `{name}` has no values")),
            };
        }
        Ok(Self { case, levels, ends })
    }

    /// Returns the lower or upper end of `sum w_n U_n^(1 - alpha)`, or `None` if there are no users.
    fn spent(&self, up: bool) -> Checked<Option<Rational>> {
        let parts = self.case.active().map(|n| work::times(&self.ends[n][usize::from(up)], &self.levels[n]));
        let sum = work::sum(parts.collect::<Checked<_>>()?)?;
        Ok(Some(sum).filter(|sum| !sum.is_zero()))
    }
}

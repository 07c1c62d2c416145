//! Proportional and alpha fairness within a gap (docs/theory.md, section 3).
//!
//! Let `a_ni = w_n u_ni / U_n^alpha` and `U_n = sum_i u_ni x_ni` (without a share, `u_ni = 1`). Prices that cover `a`
//! prove `sum a_ni (y_ni - x_ni) <= gap = sum p C + sum q T - sum w_n U_n^(1 - alpha)` for every feasible `y`. The
//! margin is minus the gap, divided by `sum w_n U_n^(1 - alpha)`. The evidence of a violation is a `y` for which the
//! left side of the inequality is too large, or a user without tasks.
//!
//! If `alpha` is a whole number, these numbers are exact, unless the evidence states `values`. The `values` of a user
//! are a `least` and a `most` of `w_n / U_n^alpha`. They are accepted after a comparison of their powers. Of the two
//! ends of this interval, the end that makes the claim harder to prove is used.

use rug::ops::Pow;
use rug::{Integer, Rational};

use super::feasible;
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
    // If the share is not defined for the problem, the axiom does not apply. `Claim::verify` then rejects every verdict
    // about the axiom.
    let u = claim.share.map(|share| Coefficients::new(share, case)).transpose()?.flatten();
    // Returns the level `U_n` of each user.
    let levels = |tasks: &Tasks| -> Checked<Vec<Rational>> {
        let level = |(n, tasks)| u.as_ref().map_or_else(|| Ok(total_of(tasks)), |u| u.sum(n, tasks));
        tasks.iter().enumerate().map(level).collect()
    };
    let own = levels(&case.x)?;
    if raw.get("user").given().is_some() {
        let user = case.problem.user_names.named(raw.fields::<1>("user")?[0])?;
        let is_due = case.is_active(user) && own[user] <= 0 && !within.open(case, user)?.is_empty();
        ensure(is_due, "the user of the evidence has tasks, or could get none in any allocation")?;
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
    let [rows, users, limits, accelerators, values] =
        raw.fields("prices user_prices? limit_prices? at_most_prices? values?")?;
    let prices = Prices::within(case, [rows, users, limits, accelerators], &within)?;
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
    /// The level `U_n` of each user.
    levels: Vec<Rational>,
    /// The lower and upper end of the interval that contains `w_n / U_n^alpha`, for each user. Both are 0 for users
    /// that cannot run any task.
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
                return refuse(format!("user `{name}` has no tasks"));
            }
            let level = power(&levels[n], exponent)?;
            ends[n] = match at(&stated, n) {
                Some([least, most]) => {
                    let weight = power(weight, index)?;
                    let below = work::times(&power(least, index)?, &level)?;
                    let above = work::times(&power(most, index)?, &level)?;
                    let is_so = *least > 0 && *most > 0 && below <= weight && weight <= above;
                    ensure(
                        is_so,
                        &format!(
                            "the values `least` and `most` of user `{name}` do not enclose the power of its level"
                        ),
                    )?;
                    [least.clone(), most.clone()]
                }
                None if index == 1 => std::array::from_fn(|_| Rational::from(weight / &level)),
                None => {
                    return refuse(format!(
                        "`alpha` is not a whole number, and the evidence states no values for user `{name}`"
                    ));
                }
            };
        }
        Ok(Self { case, levels, ends })
    }

    /// Returns the lower or upper end of `sum w_n U_n^(1 - alpha)`. Returns `None` if there are no active users.
    fn spent(&self, up: bool) -> Checked<Option<Rational>> {
        let parts = self.case.active().map(|n| work::times(&self.ends[n][usize::from(up)], &self.levels[n]));
        let sum = work::sum(parts.collect::<Checked<_>>()?)?;
        Ok(Some(sum).filter(|sum| !sum.is_zero()))
    }
}

/// Returns two factors that the gap proves (docs/theory.md, section 3). In the optimum, the level `U_n` of every active
/// user is at least the first factor times its level in the judged allocation, and at most the second factor times that
/// level. Also returns the user for which this interval is widest. Returns `None` for a claim without a gap, and for an
/// allocation that exceeds a capacity.
///
/// The optimum `y` and the gap `eps` satisfy `w_n (y_n - x_n) (x_n^-a - y_n^-a) <= eps` for every user `n`, because no
/// summand of the sum over the users is negative.
pub fn room(case: &Case<'_>, claim: &Claim<'_>) -> Checked<Option<(Rational, Rational, usize)>> {
    let gap = claim.margin.as_ref().filter(|margin| **margin < 0 && claim.holds == Some(true));
    let is_feasible = feasible::least(case)?.is_none_or(|margin| margin >= 0);
    let Some(gap) = gap.filter(|_| is_feasible) else { return Ok(None) };
    let u = claim.share.map(|share| Coefficients::new(share, case)).transpose()?.flatten();
    let level = |(n, tasks)| u.as_ref().map_or_else(|| Ok(total_of(tasks)), |u| u.sum(n, tasks));
    let levels = case.x.iter().enumerate().map(level).collect::<Checked<Vec<Rational>>>()?;
    let worths = Worths::new(case, claim, levels, claim.evidence.get("values"))?;
    let Some(spent) = worths.spent(true)? else { return Ok(None) };
    let gap = work::times(&Rational::from(-gap), &spent)?;
    let mut widest: Option<(Rational, usize)> = None;
    for n in case.active() {
        let own = work::times(&worths.ends[n][0], &worths.levels[n])?;
        let fraction = &gap / own;
        if widest.as_ref().is_none_or(|(most, _)| fraction > *most) {
            widest = Some((fraction, n));
        }
    }
    let Some((fraction, user)) = widest else { return Ok(None) };
    let (down, up) = relative(&short_above(&fraction), claim.alpha.unwrap_or((1, 1)))?;
    Ok(Some((1 - down, up + 1_u32, user)))
}

/// Returns a number with few digits that is at least the given number and larger by at most one part in 2^30.
fn short_above(value: &Rational) -> Rational {
    let bits = |part: &Integer| i64::from(part.significant_bits());
    let shift = (32 + bits(value.denom()) - bits(value.numer())) as i32;
    let ceil = (Rational::from(value << shift)).ceil();
    ceil >> shift
}

/// Returns bounds on the fractions by which a level in the optimum can be lower and higher. Each bound is the smallest
/// `d` (except for one part in 64) at which `d (1 - (1 + d)^-a)` exceeds the given fraction, for the exponent
/// `a = p/q`.
fn relative(fraction: &Rational, (p, q): (u32, u32)) -> Checked<(Rational, Rational)> {
    work::steps(1_000 * work::cost(2 * u64::from(p.max(q))))?;
    // A level that is lower by the fraction `s` is impossible if (1 - s)^p (1 + e / s)^q < 1.
    let is_too_low = |s: &Rational| {
        *s >= 1 || (Rational::from(1) - s).pow(p) * (Rational::from(fraction / s) + 1_u32).pow(q) < 1
    };
    // A level that is higher by the fraction `t` is impossible if (1 + t)^p > (t / (t - e))^q.
    let is_too_high =
        |t: &Rational| t > fraction && (t.clone() + 1_u32).pow(p) > (t / Rational::from(t - fraction)).pow(q);
    let least = |is_beyond: &dyn Fn(&Rational) -> bool| {
        let mut at = Rational::from((1, 1_u64 << 62));
        while !is_beyond(&at) {
            at *= 2;
        }
        // The bound is between half of this step and the whole step. Therefore the fractions 1/2, 33/64, 34/64, ... of
        // the step are tried.
        let part = Rational::from(&at / 64_u32);
        (32..64).map(|k| Rational::from(&part * k)).find(|s| is_beyond(s)).unwrap_or(at)
    };
    Ok((least(&is_too_low).min(Rational::from(1)), least(&is_too_high)))
}

//! Proportional and alpha fairness within a gap (theory, section 3).
//!
//! With `a_ni = w_n u_ni / U_n^alpha` and `U_n = sum_i u_ni x_ni` (without a share `u_ni = 1`), prices that
//! cover `a` prove `sum a_ni (y_ni - x_ni) <= gap = sum p C + sum q T - sum w_n U_n^(1 - alpha)` for every
//! feasible `y`; the margin is minus the gap over that last sum. Evidence of no: a `y` with a larger sum, or
//! a user with nothing.
//!
//! Numbers are exact for `alpha = 1`, and where `alpha` is whole, or all roots are rational, and the powers
//! of all users together take no more than 2^16 bits; else `w_n / U_n^alpha` is enclosed, and the end counts
//! that makes the claim harder to prove.

use rug::Rational;
use rug::ops::Pow;

use super::prices::Prices;
use super::{Shown, feasible, power};
use crate::allocation::{Tasks, tasks};
use crate::case::{Case, total_of};
use crate::claim::Claim;
use crate::groups::within::Within;
use crate::share::Coefficients;
use crate::work::{self, Checked, Fault, ensure, refuse};

/// Bits of the powers of all users together, up to which they are exact.
const EXACT_BITS: u64 = 1 << 16;
/// Magnitudes of powers beyond two to this are too large.
const MAGNITUDE: u64 = 1 << 16;
/// Users times the square of the denominator of `alpha`, about what their roots cost.
const ROOTS: u64 = 1 << 28;

pub fn proportional(case: &Case<'_>, claim: &Claim<'_>) -> Checked<Shown> {
    let (raw, within) = (claim.some()?, Within::new(case)?);
    // Where the share is not defined for the problem the axiom does not apply, and no claim of it stands.
    let u = claim.share.map(|share| Coefficients::new(share, case)).transpose()?.flatten();
    // `U_n`, by user.
    let levels = |tasks: &Tasks| -> Checked<Vec<Rational>> {
        let level = |(n, tasks)| u.as_ref().map_or_else(|| Ok(total_of(tasks)), |u| u.sum(n, tasks));
        tasks.iter().enumerate().map(level).collect()
    };
    let own = levels(&case.x)?;
    if !raw.get("user").is_absent() {
        let user = case.problem.user_names.named(raw.fields::<1>("user")?[0])?;
        let is_due = case.is_active(user) && own[user] <= 0 && within.leave(case, user)?;
        ensure(is_due, "the user of the evidence is due nothing, or has something")?;
        return Ok((None, Some(false)));
    }
    if !raw.get("better").is_absent() {
        let y = tasks(raw.fields::<1>("better")?[0], case.problem)?;
        ensure(feasible::is_feasible(case, &y, None)?, "the allocation of the evidence is not feasible")?;
        within.keep(case, &y)?;
        let worths = Worths::new(case, claim.alpha.unwrap_or((1, 1)), own)?;
        let levels = levels(&y)?;
        let mut parts = Vec::new();
        for n in case.active() {
            let gain = Rational::from(&levels[n] - &worths.levels[n].0);
            if !gain.is_zero() {
                parts.push(worths.summand(n, gain < 0) * gain);
            }
        }
        let gain = work::sum(parts)?;
        let spent = worths.spent(gain > 0)?;
        return Ok((Some(spent.map_or_else(Rational::new, |spent| -(gain / spent))), Some(false)));
    }
    let prices = raw.fields("prices user_prices? limit_prices?")?;
    let prices = Prices::within(case, prices, &within)?;
    let bound = prices.bound(case)?;
    let worths = Worths::new(case, claim.alpha.unwrap_or((1, 1)), own)?;
    for n in case.active() {
        let upper = worths.end(n, true);
        prices.cover(case, n, &upper, u.as_ref())?;
    }
    let margin = worths.spent(false)?.map(|spent| 1 - bound / spent);
    Ok((margin, Some(true)))
}

struct Worths<'c, 'a> {
    case: &'c Case<'a>,
    alpha: (u32, u32),
    /// `U_n`, and its exact power where numbers are exact.
    levels: Vec<(Rational, Option<Rational>)>,
    /// Whether they are short enough to be added up as they are.
    is_exact: bool,
}

impl<'c, 'a> Worths<'c, 'a> {
    fn new(case: &'c Case<'a>, alpha: (u32, u32), levels: Vec<Rational>) -> Checked<Self> {
        let too_large = |what: &str| Err(Fault::TooLarge(format!("too large: {what} of what users have")));
        if let Some(n) = case.active().find(|n| levels[*n] <= 0) {
            return refuse(format!("user `{}` has nothing", case.user(n)));
        }
        let bits = |n: usize| (levels[n].numer().significant_bits(), levels[n].denom().significant_bits());
        let magnitude = |n| u64::from(bits(n).0.abs_diff(bits(n).1)) + 1;
        if case.active().any(|n| magnitude(n) * u64::from(alpha.0) > MAGNITUDE * u64::from(alpha.1)) {
            return too_large("a power");
        }
        let (users, index) = (case.active().count() as u64, u64::from(alpha.1));
        if index > 1 && users.saturating_mul(index * index) > ROOTS {
            return too_large("the roots");
        }
        let all: u64 = case.active().map(|n| u64::from(bits(n).0.max(bits(n).1))).sum();
        let is_short = all.saturating_mul(u64::from(alpha.0)) <= EXACT_BITS;
        let root = |n: usize| Some((n, power::root(&levels[n], alpha.1)?.pow(alpha.0)));
        let powers: Option<Vec<(usize, Rational)>> =
            if alpha == (1, 1) || is_short { case.active().map(root).collect() } else { None };
        let is_exact = is_short && powers.is_some();
        let mut levels: Vec<_> = levels.into_iter().map(|level| (level, None)).collect();
        powers.into_iter().flatten().for_each(|(n, power)| levels[n].1 = Some(power));
        Ok(Self { case, alpha, levels, is_exact })
    }

    /// `w_n / U_n^alpha`, or the end of its enclosure.
    fn end(&self, n: usize, up: bool) -> Rational {
        let weight = &self.case.problem.users[n].weight;
        match &self.levels[n] {
            (_, Some(power)) => Rational::from(weight / power),
            (level, None) => power::end(weight, level, self.alpha, up),
        }
    }

    /// The same in a sum, which exact fractions of many users would make too wide.
    fn summand(&self, n: usize, up: bool) -> Rational {
        let end = self.end(n, up);
        if self.is_exact { end } else { power::rounded(&end, up) }
    }

    /// `sum w_n U_n^(1 - alpha)`, or an end of its enclosure; `None` without users.
    fn spent(&self, up: bool) -> Checked<Option<Rational>> {
        let of_user = |n: usize| match self.alpha {
            (1, 1) => self.case.problem.users[n].weight.clone(),
            _ => self.summand(n, up) * &self.levels[n].0,
        };
        let parts: Vec<Rational> = self.case.active().map(of_user).collect();
        if parts.is_empty() { Ok(None) } else { work::sum(parts).map(Some) }
    }
}

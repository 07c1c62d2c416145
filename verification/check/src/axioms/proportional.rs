//! Proportional and alpha fairness within a gap (theory, section 3).
//!
//! With `a_ni = w_n u_ni / U_n^alpha` and `U_n = sum_i u_ni x_ni` (without a share `u_ni = 1`), prices that cover
//! `a` prove `sum a_ni (y_ni - x_ni) <= gap = sum p C + sum q T - sum w_n U_n^(1 - alpha)` for every feasible `y`;
//! the margin is minus the gap over that last sum. Evidence of no: a `y` with a larger sum, or a user with nothing.
//!
//! Numbers are exact for `alpha = 1`, and where `alpha` is whole, or all roots are rational, and the powers of
//! all users together take no more than 2^16 bits; else `w_n / U_n^alpha` is enclosed, and the end counts that
//! makes the claim harder to prove.

use rug::Rational;
use rug::ops::Pow;

use crate::allocation::tasks;
use crate::axioms::power;
use crate::axioms::prices::Prices;
use crate::case::{Case, total};
use crate::claim::Claim;
use crate::problem::Amounts;
use crate::share::Coefficients;
use crate::work::{self, Checked, Fault, ensure, refuse};

/// Bits of the powers of all users together, up to which they are exact.
const EXACT_BITS: u64 = 1 << 16;
/// Magnitudes of powers beyond two to this are too large.
const MAGNITUDE: u64 = 1 << 16;
/// Users times the square of the denominator of `alpha`, about what their roots cost.
const ROOTS: u64 = 1 << 28;

struct Worths<'c, 'a> {
    case: &'c Case<'a>,
    alpha: (u32, u32),
    u: Option<Coefficients>,
    /// `U_n`, and its exact power where numbers are exact.
    levels: Vec<(Rational, Option<Rational>)>,
    /// Whether they are short enough to be added up as they are.
    is_exact: bool,
}

pub fn verify(case: &Case<'_>, claim: &Claim<'_>) -> Checked<()> {
    let limits = &case.limits;
    let raw = claim.evidence;
    let u = match claim.share {
        None => None,
        Some(share) => match Coefficients::new(share, limits)? {
            Some(u) => Some(u),
            None => return refuse("the share is not defined for the problem"),
        },
    };
    if !raw.get("user").is_absent() {
        let [user] = raw.fields(["user"])?;
        let user = limits.problem.user_names.named(user)?;
        claim.says(None)?;
        let nothing = limits.is_active(user) && level(&u, user, &case.x[user]) <= 0;
        return ensure(
            nothing && claim.holds == Some(false),
            "the user of the evidence is due nothing, or has something",
        );
    }
    let mut parts = Vec::new();
    if !raw.get("better").is_absent() {
        let [better] = raw.fields(["better"])?;
        let y = tasks(better, limits.problem)?;
        ensure(limits.is_feasible(&y)?, "the allocation of the evidence is not feasible")?;
        let worths = Worths::new(case, &claim.alpha, u)?;
        for n in limits.active() {
            let gain = level(&worths.u, n, &y[n]) - &worths.levels[n].0;
            if !gain.is_zero() {
                work::spend(1)?;
                parts.push(worths.summand(n, gain < 0) * gain);
            }
        }
        let gain = work::sum(parts)?;
        let margin = match worths.spent(gain > 0)? {
            Some(spent) => -(gain / spent),
            None => Rational::new(),
        };
        claim.says(Some(margin))?;
        return ensure(claim.holds == Some(false), "the evidence is not of the form that the verdict takes");
    }
    let [rows, users] = raw.fields(["prices", "user_prices?"])?;
    let prices = Prices::read(limits, rows, users)?;
    let bound = prices.bound(limits)?;
    let worths = Worths::new(case, &claim.alpha, u)?;
    for n in limits.active() {
        let upper = worths.end(n, true);
        prices.cover(limits, n, |i| {
            worths.u.as_ref().map_or(upper.clone(), |u| Rational::from(&upper * u.of(n, i)))
        })?;
    }
    let margin = worths.spent(false)?.map(|spent| -(Rational::from(&bound - &spent) / spent));
    claim.says(margin)?;
    ensure(claim.holds == Some(true), "the evidence is not of the form that the verdict takes")
}

fn level(u: &Option<Coefficients>, n: usize, tasks: &Amounts) -> Rational {
    u.as_ref().map_or_else(|| total(tasks), |u| u.sum(n, tasks))
}

impl<'c, 'a> Worths<'c, 'a> {
    fn new(case: &'c Case<'a>, alpha: &Rational, u: Option<Coefficients>) -> Checked<Self> {
        let limits = &case.limits;
        let alpha = (alpha.numer().to_u32().unwrap_or(1), alpha.denom().to_u32().unwrap_or(1));
        let mut levels: Vec<(Rational, Option<Rational>)> =
            case.x.iter().enumerate().map(|(n, tasks)| (level(&u, n, tasks), None)).collect();
        let mut bits = 0_u64;
        for n in limits.active() {
            let level = &levels[n].0;
            if *level <= 0 {
                return refuse(format!("user `{}` has nothing", limits.user(n)));
            }
            let (numerator, denominator) =
                (level.numer().significant_bits(), level.denom().significant_bits());
            bits += u64::from(numerator.max(denominator));
            let magnitude = u64::from(numerator.abs_diff(denominator)) + 1;
            if magnitude * u64::from(alpha.0) > MAGNITUDE * u64::from(alpha.1) {
                return Err(Fault::TooLarge("too large: a power of what a user has".to_owned()));
            }
        }
        let users = limits.active().count() as u64;
        if alpha.1 > 1 && users.saturating_mul(u64::from(alpha.1).pow(2)) > ROOTS {
            return Err(Fault::TooLarge("too large: the roots of what so many users have".to_owned()));
        }
        let mut is_exact = bits.saturating_mul(u64::from(alpha.0)) <= EXACT_BITS;
        if alpha == (1, 1) || is_exact {
            let root = |n: usize| power::root(&levels[n].0, alpha.1).map(|root| (n, root.pow(alpha.0)));
            let powers: Option<Vec<(usize, Rational)>> = limits.active().map(root).collect();
            is_exact &= powers.is_some();
            powers.into_iter().flatten().for_each(|(n, power)| levels[n].1 = Some(power));
        }
        Ok(Self { case, alpha, u, levels, is_exact })
    }

    /// `w_n / U_n^alpha`, or the end of its enclosure.
    fn end(&self, n: usize, up: bool) -> Rational {
        let weight = &self.case.limits.problem.users[n].weight;
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
        let limits = &self.case.limits;
        let of_user = |n: usize| match self.alpha {
            (1, 1) => limits.problem.users[n].weight.clone(),
            _ => self.summand(n, up) * &self.levels[n].0,
        };
        let parts: Vec<Rational> = limits.active().map(of_user).collect();
        if parts.is_empty() { Ok(None) } else { work::sum(parts).map(Some) }
    }
}

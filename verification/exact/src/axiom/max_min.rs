//! Weighted lexicographic max-min of a share `U_n = (1/w_n) sum_i u_ni x_ni`: no user can be given
//! more without taking from one that has a lower or equal `U` (THEORY, section 2).
//!
//! Evidence of yes: [`Level`]s. Each has weights `l`, positive on some users, and prices with
//! `l_n u_ni / w_n <= sum_r p_ir d_nir + q_n` on every class that `n` can run on; its level `t` is
//! the largest `U_n` among the users with `l_n > 0`. By [`Prices::gap`] every feasible `y` has
//! `sum_n l_n (U_n(y) - U_n(x)) <= eps`, so a user at `t` can gain at most `eps / l_n` as long as
//! none of the others with `l > 0`, all at `t` or below, loses. A user that is `t - U_n` below the level
//! counts that difference too.
//!
//! A user is covered when some level proves its bound, `(eps / l_n + t - U_n) w_n / u_n` tasks, or
//! when it is at its ceiling, `T_n max_i u_ni / w_n`. Everybody that is active and whose share is not
//! always 0 must be covered. Where `u_ni` depends on the class, `u_n` is the least that is not 0.
//! Margin: minus the worst of the bounds, in tasks.
//!
//! Evidence of no: a user and a feasible allocation `y` in which it has more, and every other user
//! with a lower or equal `U` in `x` has no less. Margin: minus the gain in tasks.

use rug::{Integer, Rational};

use crate::axiom::feasible;
use crate::claim::{Refusal, shorten};
use crate::instance::{Instance, Tasks};
use crate::prices::Prices;
use crate::quotient::Quotient;
use crate::share::{ScaledShare, ShareCoefficients};

/// One level of the evidence.
#[derive(Debug, Clone, PartialEq)]
pub struct Level {
    /// `t`: the largest `U_n` among the users with a weight.
    pub level: Rational,
    /// Weights and prices.
    pub prices: Prices,
}

/// The level of prices: the largest `U_n` among the users with `l_n > 0`; `None` without any.
///
/// # Errors
/// [`Refusal`] when the numbers are too wide.
pub fn level_of(
    instance: &Instance<'_>,
    share: &ShareCoefficients,
    prices: &Prices,
) -> Result<Option<Rational>, Refusal> {
    let levels = Levels::new(instance, share)?;
    Ok(levels.highest(prices).map(|n| levels.of(n).to_rational()))
}

/// `U_n` of every user, by `n`.
///
/// # Errors
/// [`Refusal`] when the numbers are too wide.
pub fn shares(instance: &Instance<'_>, share: &ShareCoefficients) -> Result<Vec<Rational>, Refusal> {
    let levels = Levels::new(instance, share)?;
    Ok((0..instance.problem().n_users()).map(|n| levels.of(n).to_rational()).collect())
}

/// The margin that `evidence` proves; `None` when there is no user to judge.
///
/// # Errors
/// [`Refusal`] when a level is false, or a user is not covered within `tolerance`.
pub fn margin_of_levels(
    instance: &Instance<'_>,
    share: &ShareCoefficients,
    evidence: &[Level],
    tolerance: &Rational,
) -> Result<Option<Rational>, Refusal> {
    let levels = Levels::new(instance, share)?;
    let mut bounds: Vec<Option<Rational>> = (0..instance.problem().n_users())
        .map(|n| levels.below_ceiling(n).filter(|b| b <= tolerance))
        .collect();
    for (position, stated) in evidence.iter().enumerate() {
        let number = position + 1;
        let gap = stated.prices.gap(instance, Some(share))?;
        let Some(highest) = levels.highest(&stated.prices) else {
            return Err(Refusal::new(format!("level {number} has no user with a weight")));
        };
        let top = &levels.scaled[highest];
        if levels.of(highest) != Quotient::from(&stated.level) {
            let truth = levels.of(highest).to_rational();
            return Err(Refusal::new(format!(
                "level {number} states {}, it is {}",
                shorten(&stated.level),
                shorten(&truth)
            )));
        }
        for (n, weight) in stated.prices.user_weights.iter().enumerate().filter(|(_, l)| !l.is_zero()) {
            let below = levels.in_tasks(n, &Integer::from(top - &levels.scaled[n]));
            let (Some(below), Some((least, _))) = (below, &levels.ranges[n]) else { continue };
            if below > *tolerance {
                continue;
            }
            let bound = if gap.is_zero() {
                below
            } else {
                below + Rational::from(&gap / weight) * &levels.share.denominator / least
            };
            if bounds[n].as_ref().is_none_or(|known| bound < *known) {
                bounds[n] = Some(bound);
            }
        }
    }
    let mut worst: Option<Rational> = None;
    for (n, bound) in bounds.into_iter().enumerate().filter(|(n, _)| levels.is_judged(*n)) {
        let Some(bound) = bound else {
            let name = instance.problem().users()[n].name();
            return Err(Refusal::new(format!("no level shows that user `{name}` cannot have more")));
        };
        if worst.as_ref().is_none_or(|worst| bound > *worst) {
            worst = Some(bound);
        }
    }
    Ok(worst.map(|worst| -worst))
}

/// Minus the gain, in tasks, of `user` in `allocation`, in which nobody with a lower or equal share
/// loses anything. With a tolerance, whoever loses must also end at or above the new share of `user`:
/// else shares that are equal but for rounding could be played off against each other.
///
/// # Errors
/// [`Refusal`] when the allocation is not feasible, the user does not gain, or another user with a
/// lower or equal share loses.
pub fn margin_of_rise(
    instance: &Instance<'_>,
    share: &ShareCoefficients,
    user: usize,
    allocation: &Tasks,
    tolerance: &Rational,
) -> Result<Rational, Refusal> {
    let other = instance.with_tasks(allocation)?;
    if !feasible::holds_exactly(&other) {
        return Err(Refusal::new("the allocation of the evidence is not feasible"));
    }
    let before = Levels::new(instance, share)?;
    let after = Levels::new(&other, share)?;
    let name = |n: usize| instance.problem().users()[n].name();
    if user >= before.scaled.len() || !before.is_judged(user) {
        return Err(Refusal::new("the user of the evidence has no share"));
    }
    // Both in units of 1 / (share denominator, L of x, L of y).
    let gain = |n: usize| {
        Integer::from(&after.scaled[n] * &instance.denominator)
            - Integer::from(&before.scaled[n] * &other.denominator)
    };
    let gained = gain(user);
    if gained <= 0 {
        return Err(Refusal::new(format!("user `{}` does not gain in the evidence", name(user))));
    }
    let judged = (0..before.scaled.len()).filter(|&n| n != user && before.is_judged(n));
    for n in judged.filter(|&n| before.scaled[n] <= before.scaled[user]) {
        if gain(n) < 0 {
            return Err(Refusal::new(format!(
                "user `{}` loses in the evidence although it has no more than `{}`",
                name(n),
                name(user)
            )));
        }
    }
    if !tolerance.is_zero() {
        let overtaken = |n: &usize| gain(*n) < 0 && after.scaled[*n] < after.scaled[user];
        if let Some(n) = (0..before.scaled.len()).filter(|&n| before.is_judged(n)).find(overtaken) {
            return Err(Refusal::new(format!(
                "user `{}` falls below `{}` in the evidence",
                name(n),
                name(user)
            )));
        }
    }
    let gained = before.in_tasks(user, &gained).unwrap_or_default() / &other.denominator;
    Ok(-gained)
}

/// `U_n` in integers, with what turns them into tasks.
struct Levels<'a, 'b> {
    instance: &'a Instance<'b>,
    share: ScaledShare,
    /// `U_n` times the denominator of the share and `L`.
    scaled: Vec<Integer>,
    /// Least positive and greatest `u_ni / w_n`, times the denominator of the share.
    ranges: Vec<Option<(Integer, Integer)>>,
}

impl<'a, 'b> Levels<'a, 'b> {
    fn new(instance: &'a Instance<'b>, share: &ShareCoefficients) -> Result<Self, Refusal> {
        let share = share.scaled(instance)?;
        let users = 0..instance.problem().n_users();
        let scaled = users.clone().map(|n| share.level(instance, n)).collect();
        let ranges =
            users.map(|n| instance.is_active(n).then(|| share.range(instance, n)).flatten()).collect();
        Ok(Self { instance, share, scaled, ranges })
    }

    /// Whether the axiom says anything about user `n`: it is active and its share can be above 0.
    fn is_judged(&self, n: usize) -> bool {
        self.ranges[n].is_some()
    }

    fn of(&self, n: usize) -> Quotient {
        Quotient::new(
            self.scaled[n].clone(),
            Integer::from(&self.share.denominator * &self.instance.denominator),
        )
    }

    fn highest(&self, prices: &Prices) -> Option<usize> {
        let weighted =
            prices.user_weights.iter().enumerate().filter(|(n, l)| **l > 0 && *n < self.scaled.len());
        weighted.map(|(n, _)| n).max_by(|&a, &b| self.scaled[a].cmp(&self.scaled[b]))
    }

    /// A difference of scaled shares of user `n` in tasks of its least valuable class.
    fn in_tasks(&self, n: usize, difference: &Integer) -> Option<Rational> {
        let (least, _) = self.ranges[n].as_ref()?;
        Some(if difference.is_zero() {
            Rational::new()
        } else {
            Rational::from((difference.clone(), Integer::from(least * &self.instance.denominator)))
        })
    }

    /// How many tasks user `n` is short of its ceiling; `None` when its tasks are unlimited.
    fn below_ceiling(&self, n: usize) -> Option<Rational> {
        let tasks = self.instance.problem().users()[n].tasks()?;
        let (least, most) = self.ranges[n].as_ref()?;
        // In units of 1 / (share denominator, L, denominator of T_n).
        let short = Integer::from(most * tasks.numer()) * &self.instance.denominator
            - Integer::from(&self.scaled[n] * tasks.denom());
        if short <= 0 {
            return Some(Rational::new());
        }
        Some(Rational::from((short, Integer::from(least * &self.instance.denominator) * tasks.denom())))
    }
}

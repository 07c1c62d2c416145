//! Weighted lexicographic max-min of a share
//!
//! $$U_n = \frac{1}{w_n} \sum_i u_{ni} x_{ni}:$$
//!
//! No user can get more unless another user loses and then has at most as much as the user that got more
//! (docs/theory.md, sections 2 and 7).
//!
//! The rise of user `n` is the largest `d` such that some feasible `y` has `U_n(y) >= L` with `L = U_n(x) + d`, and
//! `U_m(y) >= min(U_m(x), L)` for every other `m`. So a user that is above the new level of `n` may fall to this level,
//! and no other user loses. The margin is minus the largest rise, divided by the share that the user would have alone,
//! `G_n = max U_n` (`u_n g_n / w_n` if `u_ni = u_n` does not depend on the class).
//!
//! The evidence that the axiom holds are [`Level`]s. Each level has weights `l`, prices `p, q >= 0` with
//! `l_n u_ni / w_n <= sum_r p_ir d_nir + q_n` on every class where `n` can run, and a list of the users that it covers.
//! The covered users have `l_n > 0`. For a feasible `y` as above
//!
//! $$l_n L + \sum_{m \ne n} l_m \min(U_m(x), L) \le \sum_m l_m U_m(y) \le \sum_{ir} p_{ir} C_{ir} + \sum_m q_m T_m.$$
//!
//! The left side grows with `L`, so the `L` where both sides are equal bounds the rise. Every user with `U_n < G_n` is
//! covered exactly once. By duality there is such a level for each user. If the allocation is exact, one level covers
//! all users with the same share.
//!
//! The evidence that the axiom is violated is a user `n` and a feasible `y` that shows a rise. Here `L` is the least of
//! `U_n(y)` and of the `U_m(y)` of all users that lose. The margin is a bound, because another user, or the same user
//! in another `y`, may rise more.
//!
//! Users whose share is always 0, and inactive users, are not judged.

mod curve;
mod levels;

use rug::{Integer, Rational};

pub use self::curve::Curve;
use self::levels::Levels;
use crate::axiom::feasible;
use crate::axiom::rule::{Rule, of_user, wrong_form};
use crate::evidence::Evidence;
pub use crate::evidence::Level;
use crate::instance::{Instance, Tasks};
use crate::names::read::Reader;
use crate::names::write::{Json, Names, fields};
use crate::parameters::{ParameterError, Parameters};
use crate::prices::PriceVector;
use crate::refusal::Inapplicable;
use crate::refusal::Refusal;
use crate::share::Share;
use crate::share::ShareCoefficients;
use evenhand_problem::Problem;
use evenhand_problem::format::{FormatError, Object};

const NO_SHARE: &str = "max-min needs a share, such as drfh";

/// Returns `U_n` of every user, indexed by user.
///
/// # Errors
/// Returns [`Refusal`] if the numbers are too wide.
pub fn shares(instance: &Instance<'_>, share: &ShareCoefficients) -> Result<Vec<Rational>, Refusal> {
    let levels = Levels::new(instance, share)?;
    Ok((0..instance.problem().n_users()).map(|n| levels.of(n).to_rational()).collect())
}

/// Returns the users that the evidence for the axiom has to cover, ascending.
///
/// # Errors
/// Returns [`Refusal`] if the numbers are too wide.
pub fn uncovered(instance: &Instance<'_>, share: &ShareCoefficients) -> Result<Vec<usize>, Refusal> {
    Ok(Standing::new(instance, share)?.uncovered())
}

/// The shares of an allocation, prepared once for any number of levels. The cost of a level depends on its weights
/// and prices, not on the number of users.
pub struct Standing<'a, 'b> {
    levels: Levels<'a, 'b>,
    share: &'a ShareCoefficients,
}

impl<'a, 'b> Standing<'a, 'b> {
    /// Computes the shares of all users, and the shares that they would have alone.
    ///
    /// # Errors
    /// Returns [`Refusal`] if the numbers are too wide.
    pub fn new(instance: &'a Instance<'b>, share: &'a ShareCoefficients) -> Result<Self, Refusal> {
        Ok(Self { levels: Levels::new(instance, share)?, share })
    }

    /// Returns the users that the evidence for the axiom has to cover, ascending.
    #[must_use]
    pub fn uncovered(&self) -> Vec<usize> {
        (0..self.levels.scaled.len()).filter(|&n| self.levels.can_rise(n)).collect()
    }

    /// Returns the curve of `prices`, which bounds every rise.
    ///
    /// # Errors
    /// Returns [`Refusal`] if an inequality fails or a number is negative.
    pub fn curve(&self, prices: &PriceVector) -> Result<Curve<'_, 'a, 'b>, Refusal> {
        Curve::new(&self.levels, self.share, prices)
    }
}

/// Returns the margin that `evidence` proves, or `None` if there is no user to judge.
///
/// # Errors
/// Returns [`Refusal`] if a level is false, if it covers a user that needs no cover or that has no weight in it, or
/// if a user is not covered or is covered twice.
pub fn margin_of_levels(
    instance: &Instance<'_>,
    share: &ShareCoefficients,
    evidence: &[Level],
) -> Result<Option<Rational>, Refusal> {
    instance.can_be_compared()?;
    let levels = Levels::new(instance, share)?;
    let n_users = instance.problem().n_users();
    let mut missing: Vec<bool> = (0..n_users).map(|n| levels.can_rise(n)).collect();
    let mut worst = Rational::new();
    for (position, stated) in evidence.iter().enumerate() {
        let number = position + 1;
        let curve = Curve::new(&levels, share, &stated.prices)?;
        for &n in &stated.covers {
            let Some(missing) = missing.get_mut(n).filter(|missing| **missing) else {
                let name = instance.problem().users().get(n).map_or("", |user| user.name());
                return Err(Refusal::new(format!(
                    "level {number} covers user `{name}`, which an earlier level covers or which needs no level"
                )));
            };
            *missing = false;
            let is_within = curve.is_within(n, &worst).ok_or_else(|| {
                let name = instance.problem().users()[n].name();
                Refusal::new(format!("level {number} covers user `{name}` but states no weight for it"))
            })?;
            if !is_within {
                worst = curve.rise(n).unwrap_or(worst);
            }
        }
    }
    if let Some(n) = missing.iter().position(|missing| *missing) {
        let name = instance.problem().users()[n].name();
        return Err(Refusal::new(format!(
            "no level covers user `{name}`, so nothing proves that its share cannot rise"
        )));
    }
    Ok(levels.ceilings.iter().any(|ceiling| !ceiling.is_zero()).then_some(-worst))
}

/// Returns minus the rise of `user` that `allocation` shows, over `G_n`.
///
/// # Errors
/// Returns [`Refusal`] if the allocation is not feasible, if the user does not rise, or or if another user loses and
/// has at most the old level of `user`.
pub fn margin_of_rise(
    instance: &Instance<'_>,
    share: &ShareCoefficients,
    user: usize,
    allocation: &Tasks,
) -> Result<Rational, Refusal> {
    let other = instance.with_tasks(allocation)?;
    if !feasible::holds_exactly(&other) {
        return Err(Refusal::new("the allocation of the evidence is not feasible"));
    }
    instance.can_be_compared()?;
    instance.limits().keep(other.limits())?;
    let before = Levels::new(instance, share)?;
    let after = Levels::new(&other, share)?;
    let name = |n: usize| instance.problem().users()[n].name();
    if user >= before.scaled.len() || !before.is_judged(user) {
        return Err(Refusal::new("the user of the evidence has no share"));
    }
    let loses = |m: &usize| {
        Integer::from(&after.scaled[*m] * &instance.denominator)
            < Integer::from(&before.scaled[*m] * &other.denominator)
    };
    if loses(&user) {
        return Err(Refusal::new(format!("user `{}` does not gain in the evidence", name(user))));
    }
    let losers = (0..before.scaled.len()).filter(|&m| m != user && before.is_judged(m)).filter(loses);
    let lowest = losers.min_by(|&a, &b| after.scaled[a].cmp(&after.scaled[b]));
    let level = match lowest {
        Some(m) if after.scaled[m] < after.scaled[user] => after.of(m),
        _ => after.of(user),
    };
    let rise = level.to_rational() - before.of(user).to_rational();
    if rise <= 0 {
        return Err(Refusal::new(match lowest {
            Some(m) => format!(
                "the share of user `{}` falls in the evidence to the old share of user `{}`",
                name(m),
                name(user)
            ),
            None => format!("user `{}` does not gain in the evidence", name(user)),
        }));
    }
    Ok(-(rise / &before.ceilings[user]))
}

/// The axiom `max-min`.
pub(crate) struct MaxMin;

impl Rule for MaxMin {
    fn name(&self) -> &'static str {
        "max-min"
    }

    fn parameters(&self, stated: Parameters) -> Result<Parameters, Refusal> {
        if stated.share.is_none() {
            return Err(Refusal::new(NO_SHARE));
        }
        stated.without_alpha()
    }

    fn parsed(&self, text: &str, problem: &Problem) -> Result<Parameters, ParameterError> {
        Ok(Parameters::from(Some(Share::parse(text, problem)?)))
    }

    fn applies_to(&self, parameters: &Parameters, problem: &Problem) -> Result<(), Inapplicable> {
        let share = parameters.share.ok_or_else(|| Inapplicable::new(NO_SHARE))?;
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
        let share = parameters.share.ok_or_else(wrong_form)?;
        let coefficients = || share.coefficients(instance.problem());
        match evidence {
            Evidence::Levels(levels) => Ok((true, margin_of_levels(instance, &coefficients()?, levels)?)),
            Evidence::Rise { resource: None, user, allocation } => {
                Ok((false, Some(margin_of_rise(instance, &coefficients()?, *user, allocation)?)))
            }
            _ => Err(wrong_form()),
        }
    }

    fn in_tasks(
        &self,
        instance: &Instance<'_>,
        parameters: &Parameters,
        evidence: &Evidence,
        margin: &Rational,
    ) -> Option<Rational> {
        rise_in_tasks(instance, parameters.share?, evidence, margin)
    }

    fn read<'t>(&self, reader: &Reader<'_, 't>, object: &Object<'t>) -> Result<Evidence, FormatError> {
        match object.get("levels") {
            Some(raw) => {
                reader.only(object, &["levels"])?;
                Ok(Evidence::Levels(reader.levels(raw)?))
            }
            None => read_rise(reader, object, None),
        }
    }

    fn write(&self, names: &Names<'_>, evidence: &Evidence) -> Option<Json> {
        match evidence {
            Evidence::Levels(levels) => Some(fields([("levels", names.levels(levels))])),
            rise => write_rise(names, rise),
        }
    }
}

/// Returns the rise of a user in tasks. Returns `None` if the share is not proportional to tasks.
pub(super) fn rise_in_tasks(
    instance: &Instance<'_>,
    share: Share,
    evidence: &Evidence,
    margin: &Rational,
) -> Option<Rational> {
    let Evidence::Rise { user, .. } = evidence else { return None };
    share.coefficients(instance.problem()).ok()?.uniform(*user)?;
    of_user(instance, *user, margin)
}

/// Reads `{"user", "allocation"}`, and the resource if there is one.
pub(super) fn read_rise<'t>(
    reader: &Reader<'_, 't>,
    object: &Object<'t>,
    resource: Option<usize>,
) -> Result<Evidence, FormatError> {
    let of_resource: &[&str] = if resource.is_some() { &["resource"] } else { &[] };
    reader.only(object, &[of_resource, &["user", "allocation"]].concat())?;
    let user = reader.named_user(object, "user")?;
    let allocation = reader.tasks(reader.need(object, "allocation")?)?;
    Ok(Evidence::Rise { resource, user, allocation })
}

pub(super) fn write_rise(names: &Names<'_>, evidence: &Evidence) -> Option<Json> {
    let Evidence::Rise { resource, user, allocation } = evidence else { return None };
    let resource = resource.map(|r| ("resource", Json::Text(names.resource(r))));
    let rise = [("user", names.user_name(*user)), ("allocation", names.tasks(allocation))];
    Some(Json::object(resource.into_iter().chain(rise)))
}

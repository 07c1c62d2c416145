//! Weighted max-min of a share, and the bottleneck axioms, which are max-min on a resource (theory, sections 2
//! and 7).
//!
//! `U_n` is the share of user `n`, `G_n` what it would be if `n` were alone. A level of the evidence has weights
//! `l`, and prices for `a_ni = l_n u_ni / w_n`; so every feasible `y` has `sum l_m U_m(y) <= B = sum p C + sum q T`.
//! If in `y` user `n` had more than `L = U_n + rise` and everybody else at least `min(U_m, L)`, then
//! `F(L) = l_n L + sum over m other than n of l_m min(U_m, L)` would be less than `B`: a level covers `n`, with
//! `l_n > 0`, up to a rise with `F(L) >= B`. The margin is minus the largest `rise / G_n`.

use rug::Rational;

use crate::allocation::{Tasks, tasks};
use crate::axioms::prices::{Prices, weights};
use crate::case::Case;
use crate::claim::Claim;
use crate::json::Json;
use crate::problem::Amounts;
use crate::share::{Coefficients, Share, bottlenecks};
use crate::work::{self, Checked, ensure, refuse};

pub fn verify(case: &Case<'_>, claim: &Claim<'_>) -> Checked<()> {
    let limits = &case.limits;
    let raw = claim.evidence;
    let names = &limits.problem.resources;
    let resources = if claim.share.is_some() { None } else { bottlenecks(claim.axiom, limits) };
    if !raw.get("allocation").is_absent() {
        let resource = if claim.share.is_some() { "user" } else { "resource" };
        let [user, allocation, _] = raw.fields(["user", "allocation", resource])?;
        let resource = raw.get("resource");
        let user = limits.problem.user_names.named(user)?;
        let y = tasks(allocation, limits.problem)?;
        let resource = if resource.is_absent() { None } else { Some((names.named(resource)?, resource)) };
        let share = match (claim.share, &resources, resource) {
            (Some(share), _, None) => share,
            (None, Some(of), Some((r, _))) if of.contains(&r) => Share::Resource(r),
            _ => return refuse("the evidence is not about a resource that the axiom is about"),
        };
        return rise(case, claim, share, user, &y);
    }
    let mut parts: Vec<(Share, &Json<'_>)> = Vec::new();
    if let Some(share) = claim.share {
        let [levels] = raw.fields(["levels"])?;
        parts.push((share, levels));
    } else {
        let [levels] = raw.fields(["resources"])?;
        levels.object()?;
        let stated = names.map(levels, |r, levels| Ok((Share::Resource(r), levels)))?;
        let is_all = stated.iter().map(|(r, _)| r).eq(resources.iter().flatten());
        parts.extend(stated.into_iter().map(|(_, part)| part));
        let read = parts.iter().try_for_each(|(_, levels)| Level::read_all(case, levels).map(drop));
        read.and_then(|()| {
            ensure(
                is_all && resources.is_some(),
                "the resources of the evidence are not those that the axiom is about",
            )
        })?;
    }
    let mut shown = Shown::Nobody;
    for (share, levels) in parts {
        let levels = Level::read_all(case, levels)?;
        shown = shown.max(covered(case, claim, share, &levels)?);
    }
    let is_so = match (&claim.margin, shown) {
        (None, Shown::Nobody) => true,
        (Some(margin), Shown::Less) => margin.is_zero(),
        (Some(margin), Shown::Just) => *margin <= 0,
        _ => false,
    };
    ensure(is_so && claim.holds == Some(true), "the levels do not show the margin that is stated")
}

/// What levels show of a stated margin.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Shown {
    /// There is no user to judge.
    Nobody,
    /// Every rise is no more than the margin says.
    Less,
    /// The same, and one is just as much.
    Just,
}

struct Level {
    covers: Vec<usize>,
    weights: Amounts,
    prices: Prices,
}

impl Level {
    fn read_all(case: &Case<'_>, raw: &Json<'_>) -> Checked<Vec<Self>> {
        let limits = &case.limits;
        let read = |raw: &Json<'_>| {
            let [covers, user_weights, rows, users] =
                raw.fields(["covers", "user_weights", "prices", "user_prices?"])?;
            let named = covers.list()?.iter().map(|name| limits.problem.user_names.named(name));
            Ok(Self {
                covers: named.collect::<Checked<_>>()?,
                weights: weights(limits, user_weights)?,
                prices: Prices::read(limits, rows, users)?,
            })
        };
        raw.list()?.iter().map(read).collect()
    }
}

/// `U_n` and `G_n` by user; the latter is 0 for users whose share is always 0, who are not judged.
struct Shares {
    of: Vec<Rational>,
    alone: Vec<Rational>,
}

impl Shares {
    fn new(case: &Case<'_>, u: &Coefficients, tasks: &Tasks) -> Checked<Self> {
        let limits = &case.limits;
        work::spend(limits.problem.size())?;
        let users = || limits.problem.users.iter().enumerate();
        let of = users().map(|(n, user)| u.sum(n, &tasks[n]) / &user.weight).collect();
        let alone = users().map(|(n, user)| alone(case, u, n) / &user.weight).collect();
        Ok(Self { of, alone })
    }
}

/// The largest `sum_i u_ni x_ni` of user `n` alone: its tasks stand where they are worth most.
fn alone(case: &Case<'_>, u: &Coefficients, n: usize) -> Rational {
    let limits = &case.limits;
    let mut left = limits.g[n].clone();
    let mut classes: Vec<usize> = limits.problem.classes_of(n).filter(|_| limits.is_active(n)).collect();
    classes.sort_by(|a, b| u.of(n, *b).cmp(u.of(n, *a)));
    let mut sum = Rational::new();
    for i in classes {
        let tasks = limits.problem.gamma(n, i).min(left.clone());
        left -= &tasks;
        sum += tasks * u.of(n, i);
    }
    sum
}

fn coefficients(case: &Case<'_>, share: Share) -> Checked<Coefficients> {
    match Coefficients::new(share, &case.limits)? {
        Some(coefficients) => Ok(coefficients),
        None => refuse("the share is not defined for the problem"),
    }
}

/// Whether every user who has less than it would have alone is covered once, up to the stated margin.
fn covered(case: &Case<'_>, claim: &Claim<'_>, share: Share, levels: &[Level]) -> Checked<Shown> {
    let limits = &case.limits;
    let u = coefficients(case, share)?;
    let shares = Shares::new(case, &u, &case.x)?;
    let mut missing: Vec<bool> = shares.of.iter().zip(&shares.alone).map(|(of, alone)| of < alone).collect();
    let margin = claim.margin.clone().unwrap_or_default();
    let mut shown = Shown::Nobody;
    if shares.alone.iter().any(|alone| !alone.is_zero()) {
        shown = Shown::Less;
    }
    for level in levels {
        let bound = level.prices.bound(limits)?;
        for (n, l) in &level.weights {
            ensure(*l >= 0, "a weight is negative")?;
            let per_share = Rational::from(l / &limits.problem.users[*n].weight);
            level.prices.cover(limits, *n, |i| Rational::from(&per_share * u.of(*n, i)))?;
        }
        let curve = Curve::new(&shares, &level.weights)?;
        for n in &level.covers {
            let is_new = std::mem::replace(&mut missing[*n], false);
            ensure(is_new, "a user is covered that is covered already, or needs no cover")?;
            let rise = Rational::from(&margin * &shares.alone[*n]);
            let at_most = Rational::from(&shares.of[*n] - &rise);
            let Some(value) = curve.value(*n, &shares.of[*n], &at_most)? else {
                return refuse(format!(
                    "user `{}` is covered by a level in which it has no weight",
                    limits.user(*n)
                ));
            };
            if value < bound {
                return refuse(format!("no level shows that user `{}` cannot have more", limits.user(*n)));
            }
            if value == bound {
                shown = Shown::Just;
            }
        }
    }
    match missing.iter().position(|missing| *missing) {
        Some(n) => refuse(format!("no level shows that user `{}` cannot have more", limits.user(n))),
        None => Ok(shown),
    }
}

/// `sum_m l_m min(U_m, L)` as a function of `L`.
struct Curve<'s> {
    weights: &'s Amounts,
    /// `(U_m, sum of l U before it, sum of l from it on)`, ascending.
    points: Vec<(&'s Rational, Rational, Rational)>,
    /// The sum of all `l U`.
    all: Rational,
}

impl<'s> Curve<'s> {
    fn new(shares: &'s Shares, weights: &'s Amounts) -> Checked<Self> {
        let mut users: Vec<(&Rational, &Rational)> =
            weights.iter().map(|(n, l)| (&shares.of[*n], l)).collect();
        users.sort();
        let mut points = Vec::with_capacity(users.len());
        let mut below = Rational::new();
        let mut above = work::sum(users.iter().map(|(_, l)| (*l).clone()).collect())?;
        for (u, l) in users {
            work::steps(work::cost(work::words(&below) + work::words(u)))?;
            points.push((u, below.clone(), above.clone()));
            below += Rational::from(u * l);
            above -= l;
        }
        Ok(Self { weights, points, all: below })
    }

    /// `F(L)` of user `n`, which has `own`; `None` where it has no weight.
    fn value(&self, n: usize, own: &Rational, level: &Rational) -> Checked<Option<Rational>> {
        work::spend(8)?;
        let Some(weight) = crate::problem::at(self.weights, n).filter(|weight| **weight > 0) else {
            return Ok(None);
        };
        let at = self.points.partition_point(|(u, _, _)| **u < *level);
        let value = match self.points.get(at) {
            None => self.all.clone(),
            Some((_, below, above)) => Rational::from(above * level) + below,
        };
        // Its own part grows from what it has.
        Ok(Some(value + (level - own.clone().min(level.clone())) * weight))
    }
}

/// Evidence of no: in a feasible `y` the user rises to `L`, the least of its own share and the shares of those
/// who lose something.
fn rise(case: &Case<'_>, claim: &Claim<'_>, share: Share, user: usize, y: &Tasks) -> Checked<()> {
    let u = coefficients(case, share)?;
    ensure(case.limits.is_feasible(y)?, "the allocation of the evidence is not feasible")?;
    let before = Shares::new(case, &u, &case.x)?;
    let after = Shares::new(case, &u, y)?;
    let is_judged = |m: &usize| !before.alone[*m].is_zero();
    ensure(is_judged(&user), "the user of the evidence has no share")?;
    let losers = (0..case.limits.n_users()).filter(|m| is_judged(m) && after.of[*m] < before.of[*m]);
    let level = losers.chain([user]).map(|m| &after.of[m]).min().cloned().unwrap_or_default();
    let rise = level - &before.of[user];
    ensure(rise > 0, "the user of the evidence does not rise, or somebody falls to where it was")?;
    claim.says(Some(-(rise / &before.alone[user])))?;
    ensure(claim.holds == Some(false), "the evidence is not of the form that the verdict takes")
}

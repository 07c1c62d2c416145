//! Weighted max-min fairness of a share, and the bottleneck axioms, which are max-min fairness on a resource
//! (docs/theory.md, sections 2 and 7).
//!
//! `U_n` is the share of user `n`, and `G_n` is the share that `n` would have alone. A level of the evidence has
//! weights `l`, and prices that cover `a_ni = l_n u_ni / w_n`. Let `B` be the sum of the prices, each times the
//! capacity or the number of tasks that it prices. Then every feasible `y` has `sum l_m U_m(y) <= B`. Suppose that in
//! `y` user `n` had more than `L = U_n + rise`, and every other user at least `min(U_m, L)`. Then
//! `F(L) = l_n L + (the sum over all other m of l_m min(U_m, L))` would be less than `B`. So a level with a positive
//! `l_n` covers `n` up to a rise with `F(L) >= B`. The margin is minus the largest `rise / G_n`.

use rug::Rational;

use super::prices::Prices;
use crate::allocation::{Tasks, tasks};
use crate::case::{Case, Claim, Shown};
use crate::groups::within::Within;
use crate::json::Json;
use crate::names::{Amounts, at};
use crate::share::{Coefficients, Share, bottlenecks};
use crate::work::{self, Checked, ensure, refuse};

/// Judges all axioms of this module.
pub fn max_min(case: &Case<'_>, claim: &Claim<'_>) -> Checked<Shown> {
    let (raw, names, within) = (claim.required_evidence()?, &case.problem.resources, Within::new(case)?);
    let resources = if claim.share.is_some() { Vec::new() } else { bottlenecks(claim.axiom, case) };
    if raw.get("allocation").given().is_some() {
        let fields = if claim.share.is_some() { "user allocation" } else { "user allocation resource" };
        let [user, allocation, resource] = raw.fields(fields)?;
        let user = case.problem.user_names.named(user)?;
        let y = tasks(allocation, case.problem)?;
        let resource = if claim.share.is_some() { None } else { Some(names.named(resource)?) };
        ensure(
            resource.is_none_or(|r| resources.contains(&r)),
            "the evidence names a resource that the axiom is not about",
        )?;
        within.allow(case, &y, None)?;
        return rise(case, &Shares::new(case, claim.share.or(resource.map(Share::Resource)))?, user, &y);
    }
    let levels: Vec<(Share, &Json<'_>)> = match claim.share {
        Some(share) => vec![(share, raw.fields::<1>("levels")?[0])],
        None => {
            let stated = names.map(raw.fields::<1>("resources")?[0], |_, levels| Ok(levels))?;
            let is_all = stated.iter().map(|(r, _)| r).eq(&resources);
            ensure(is_all, "the resources of the evidence are not those that the axiom is about")?;
            stated.into_iter().map(|(r, levels)| (Share::Resource(r), levels)).collect()
        }
    };
    let margin = claim.margin.clone().unwrap_or_default();
    let (mut is_judged, mut is_tight) = (false, false);
    for (share, levels) in levels {
        let shares = Shares::new(case, Some(share))?;
        is_judged |= shares.alone.iter().any(|alone| !alone.is_zero());
        is_tight |= covers(case, &shares, levels, &margin, &within)?;
    }
    // No rise is larger than the margin. So the margin is right if some rise equals it, or if no rise is possible.
    ensure(
        margin.is_zero() || (is_tight && margin < 0),
        "the levels of the evidence do not show the stated margin",
    )?;
    Ok((is_judged.then_some(margin), Some(true)))
}

/// The shares of all users. `u` has the coefficients `u_ni`, `of` the shares `U_n`, and `alone` the shares `G_n`. `G_n`
/// is 0 for users whose share is always 0, and these users are not judged.
struct Shares {
    u: Coefficients,
    of: Vec<Rational>,
    alone: Vec<Rational>,
}

impl Shares {
    fn new(case: &Case<'_>, share: Option<Share>) -> Checked<Self> {
        let u = share.map(|share| Coefficients::new(share, case)).transpose()?.flatten();
        let Some(u) = u else { return refuse("the share is not defined for the problem") };
        let of = share_of(case, &u, &case.x)?;
        let alone = (0..of.len()).map(|n| alone(case, &u, n)).collect();
        Ok(Self { u, of, alone })
    }
}

fn share_of(case: &Case<'_>, u: &Coefficients, tasks: &Tasks) -> Checked<Vec<Rational>> {
    let users = case.problem.users.iter().zip(tasks).enumerate();
    users.map(|(n, (user, tasks))| Ok(u.sum(n, tasks)? / &user.weight)).collect()
}

/// Returns the largest share that user `n` could have alone: its tasks run on the classes where the share counts them
/// most.
fn alone(case: &Case<'_>, u: &Coefficients, n: usize) -> Rational {
    let (of_task, elsewhere) = &u.0[n];
    if elsewhere.is_empty() {
        // The share counts the tasks equally on all classes.
        return Rational::from(&case.g[n] * of_task) / &case.problem.users[n].weight;
    }
    let mut left = case.g[n].clone();
    let mut classes: Vec<usize> = case.problem.classes_of(n).filter(|_| case.is_active(n)).collect();
    classes.sort_by(|a, b| u.of(n, *b).cmp(u.of(n, *a)));
    let mut sum = Rational::new();
    for i in classes {
        let tasks = case.problem.gamma(n, i).min(left.clone());
        left -= &tasks;
        sum += tasks * u.of(n, i);
    }
    sum / &case.problem.users[n].weight
}

/// Checks that every user with a smaller share than it would have alone is covered exactly once, up to the stated
/// margin. Returns true if the level of some user shows exactly this margin.
fn covers(
    case: &Case<'_>,
    shares: &Shares,
    levels: &Json<'_>,
    margin: &Rational,
    within: &Within<'_>,
) -> Checked<bool> {
    let names = &case.problem.user_names;
    let mut missing: Vec<bool> = shares.of.iter().zip(&shares.alone).map(|(of, alone)| of < alone).collect();
    let mut is_tight = false;
    let fields = "covers user_weights prices user_prices? limit_prices? at_most_prices?";
    for [covers, weights, prices @ ..] in levels.rows::<_, 6>(fields, Ok)? {
        let weights = names.numbers(weights)?;
        let prices = Prices::within(case, prices, within)?;
        let bound = prices.bound(case)?;
        let per_share = |(n, l): &(usize, Rational)| (*n, Rational::from(l / &case.problem.users[*n].weight));
        prices.cover(case, &weights.iter().map(per_share).collect(), Some(&shares.u))?;
        let curve = Curve::new(shares, &weights)?;
        for name in covers.list()? {
            let n = names.named(name)?;
            let is_new = std::mem::replace(&mut missing[n], false);
            ensure(is_new, "a level covers a user that an earlier level covers, or that needs no level")?;
            let Some(l) = at(&weights, n) else {
                return refuse("a level covers a user for which it states no weight");
            };
            let of = &shares.of[n];
            let level = work::plus(of, &-work::times(margin, &shares.alone[n])?)?;
            // The term of the user itself grows from its current share.
            let own = work::plus(&level, &-of.min(&level).clone())?;
            let value = work::plus(&curve.at(&level)?, &work::times(&own, l)?)?;
            ensure(
                value >= bound,
                &format!("the level that covers user `{}` does not prove the stated margin", case.user(n)),
            )?;
            is_tight |= value == bound;
        }
    }
    match missing.iter().position(|missing| *missing) {
        Some(n) => refuse(format!(
            "no level covers user `{}`, so nothing proves that its share cannot rise",
            case.user(n)
        )),
        None => Ok(is_tight),
    }
}

/// The function `sum_m l_m min(U_m, L)` of `L`.
struct Curve<'s> {
    /// The distinct shares `U_m`, in ascending order.
    shares: Vec<&'s Rational>,
    /// For each position in `shares`, and for the end: the sum of `l U` over all smaller shares.
    below: Vec<Rational>,
    /// For each position in `shares`, and for the end: the sum of `l` over the shares from this position on.
    above: Vec<Rational>,
}

impl<'s> Curve<'s> {
    fn new(shares: &'s Shares, weights: &'s Amounts) -> Checked<Self> {
        let mut users: Vec<_> = weights.iter().map(|(n, l)| (&shares.of[*n], l)).collect();
        users.sort_by_key(|(share, _)| *share);
        let all = work::sum(weights.iter().map(|(_, l)| l.clone()).collect())?;
        let (mut shares, mut below, mut above) = (Vec::new(), vec![Rational::new()], vec![all]);
        for (at, equal) in users.chunk_by(|a, b| a.0 == b.0).enumerate() {
            let (u, l) = (equal[0].0, work::sum(equal.iter().map(|(_, l)| (*l).clone()).collect())?);
            below.push(work::plus(&below[at], &work::times(u, &l)?)?);
            above.push(work::plus(&above[at], &-l)?);
            shares.push(u);
        }
        Ok(Self { shares, below, above })
    }

    fn at(&self, level: &Rational) -> Checked<Rational> {
        let at = self.shares.partition_point(|share| *share < level);
        work::plus(&work::times(&self.above[at], level)?, &self.below[at])
    }
}

/// Judges evidence that the axiom is violated. The evidence is a feasible `y`, in which the share of the user rises to
/// `L`. The level `L` is the minimum of the user's share in `y` and the shares in `y` of all users that have a smaller
/// share than before.
fn rise(case: &Case<'_>, before: &Shares, user: usize, y: &Tasks) -> Checked<Shown> {
    let after = share_of(case, &before.u, y)?;
    let is_judged = |m: &usize| !before.alone[*m].is_zero();
    ensure(is_judged(&user), "the user of the evidence has no share")?;
    let losers = (0..case.problem.users.len()).filter(|m| is_judged(m) && after[*m] < before.of[*m]);
    let level = losers.chain([user]).map(|m| &after[m]).min().cloned().unwrap_or_default();
    let rise = level - &before.of[user];
    ensure(
        rise > 0,
        "the share of the user in the evidence does not rise, or another user's share falls to its old share",
    )?;
    Ok((Some(-(rise / &before.alone[user])), Some(false)))
}

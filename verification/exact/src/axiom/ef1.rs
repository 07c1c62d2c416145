//! Envy-free up to one task (weighted): for every other user `m` there is a task of `m` after whose removal
//! `n` does not envy what is left, `x_n >= min(T_n, v)` with
//! `v = (w_n / w_m) (sum_i x_mi rho_i - max over i with x_mi >= 1 of rho_i)`. A task of `m` on class `i`
//! is worth `rho_i = min over r with d_nir > 0 of d_mir / d_nir` tasks to `n`, as in
//! [`envy_free`](super::envy_free), which this axiom follows from; only classes count that `n` can run on,
//! and where time is shared `rho_i = gamma_ni / gamma_mi`. The removed task is the one that is worth most.
//! All tasks on a class are alike, so that it does not matter on which of its servers they are.
//!
//! Applies where tasks are whole: on every class, and on every server where placements are given.
//!
//! Margin: the least `(x_n - min(T_n, v)) / g_n` over the pairs `n != m` of active users; absent without a
//! pair. Users that are not active take no part.

use rayon::prelude::*;
use rug::Rational;

use crate::amounts::amount_of;
use crate::axiom::rule::{Found, Rule, loss};
use crate::budget::TooLarge;
use crate::evidence::Evidence;
use crate::instance::Instance;
use crate::names::write::{Json, Names, fields, number};
use crate::quotient::Quotient;
use crate::refusal::{Inapplicable, Refusal};

/// The pair with the least margin, and the margin.
#[derive(Debug, Clone, PartialEq)]
pub struct Tightest {
    /// The user that envies, or comes closest to it.
    pub user: usize,
    /// The user that it looks at.
    pub envied: usize,
    /// The class from which a task is removed: the first where it is worth most; `None` when none is worth
    /// anything.
    pub removed: Option<usize>,
    /// In units of `g_n`.
    pub margin: Rational,
}

/// Whether every task is whole.
///
/// # Errors
/// Which are not, in words.
pub fn applies(instance: &Instance<'_>) -> Result<(), Inapplicable> {
    let problem = instance.problem();
    let complain = |n: usize, i: usize| {
        let (user, server) = (problem.users()[n].name(), problem.servers()[i].name());
        Err(Inapplicable::new(format!("the tasks of user `{user}` on `{server}` are not whole")))
    };
    for (n, tasks) in instance.tasks.iter().enumerate() {
        if let Some((i, _)) = tasks.iter().find(|(_, x)| !x.is_divisible(&instance.denominator)) {
            return complain(n, *i);
        }
    }
    for placement in instance.placements().into_iter().flatten() {
        if let Some((n, _)) = placement.tasks.iter().find(|(_, x)| !x.is_integer()) {
            return complain(*n, placement.server);
        }
    }
    Ok(())
}

/// The tightest pair (lowest user, then lowest envied user among equals); `None` without a pair.
///
/// # Errors
/// [`TooLarge`] when the work is not left.
pub fn tightest(instance: &Instance<'_>) -> Result<Option<Tightest>, TooLarge> {
    let n_users = instance.problem().n_users();
    let held: usize = instance.tasks.iter().map(Vec::len).sum();
    let looks = (held * instance.problem().n_resources() * n_users) as u64;
    instance.budget().charge(looks.saturating_mul(instance.steps()))?;
    let of_user = |user: usize| -> Option<Tightest> {
        let mut least: Option<Tightest> = None;
        for envied in (0..n_users).filter(|&envied| envied != user && instance.is_active(envied)) {
            let (worth, removed) = worth(instance, user, envied);
            let margin = margin_of(instance, user, envied, worth);
            if least.as_ref().is_none_or(|least| margin < least.margin) {
                least = Some(Tightest { user, envied, removed, margin });
            }
        }
        least
    };
    let active = (0..n_users).into_par_iter().filter(|&n| instance.is_active(n));
    Ok(active.filter_map(of_user).min_by(|a, b| (&a.margin, a.user).cmp(&(&b.margin, b.user))))
}

/// The margin of one pair when a task on the class `removed` is taken away; `None` when there is none that
/// is worth anything, when there is one and none is taken away, or when the pair is none.
#[must_use]
pub fn margin(
    instance: &Instance<'_>,
    user: usize,
    envied: usize,
    removed: Option<usize>,
) -> Option<Rational> {
    let n_users = instance.problem().n_users();
    if user == envied || user >= n_users || envied >= n_users {
        return None;
    }
    if !instance.is_active(user) || !instance.is_active(envied) {
        return None;
    }
    let (most, best) = worth(instance, user, envied);
    let worth = match (best, removed) {
        (None, None) => most,
        (Some(best), Some(class)) => {
            let one = rate(instance, user, envied, class).filter(|one| one.numerator > 0)?;
            let best = rate(instance, user, envied, best)?;
            most + best.to_rational() - one.to_rational()
        }
        _ => return None,
    };
    Some(margin_of(instance, user, envied, worth))
}

/// What the bundle of `m` is worth to user `n` after the best removal, before the weights, and the class of
/// the removed task.
fn worth(instance: &Instance<'_>, n: usize, m: usize) -> (Rational, Option<usize>) {
    let mut worth = Rational::new();
    let mut best: Option<(Quotient, usize)> = None;
    for (i, x) in &instance.tasks[m] {
        let Some(rate) = rate(instance, n, m, *i).filter(|rate| rate.numerator > 0) else { continue };
        worth += Rational::from((x, &instance.denominator)) * rate.to_rational();
        if best.as_ref().is_none_or(|(best, _)| rate > *best) {
            best = Some((rate, *i));
        }
    }
    let Some((rate, removed)) = best else { return (worth, None) };
    (worth - rate.to_rational(), Some(removed))
}

/// Tasks of user `n` that a task of `m` on class `i` is worth; `None` when `m` has none there or `n` cannot
/// run there.
fn rate(instance: &Instance<'_>, n: usize, m: usize, i: usize) -> Option<Quotient> {
    let scaled = &instance.scaled;
    if i >= instance.problem().n_servers() || !scaled.can_run(n, i) {
        return None;
    }
    instance.tasks_on(m, i).filter(|x| **x > 0)?;
    if instance.constraints().is_time_shared(i) {
        let gamma = |n: usize| instance.problem().unconstrained_gamma(n, i);
        return Some(Quotient::from(&(gamma(n) / gamma(m))));
    }
    let theirs = scaled.demand(m, i);
    let rates = scaled.demand(n, i).iter().map(|(r, own)| {
        let theirs = amount_of(theirs, *r).cloned().unwrap_or_default();
        Quotient::new(theirs, own.clone())
    });
    rates.min()
}

fn margin_of(instance: &Instance<'_>, n: usize, m: usize, worth: Rational) -> Rational {
    let users = instance.problem().users();
    let value = worth * users[n].weight() / users[m].weight();
    let lead = match users[n].tasks() {
        Some(tasks) if *tasks < value => instance.total(n) - tasks,
        _ => instance.total(n) - value,
    };
    lead / instance.scale(n)
}

/// The axiom.
pub(crate) struct Ef1;

impl Rule for Ef1 {
    fn name(&self) -> &'static str {
        "ef1"
    }

    fn applies(&self, instance: &Instance<'_>) -> Result<(), Inapplicable> {
        applies(instance)
    }

    fn derive(&self, instance: &Instance<'_>) -> Result<Option<Found>, Refusal> {
        Ok(tightest(instance)?.map(|Tightest { user, envied, removed, margin }| {
            let evidence = |gain| Evidence::EnvyUpToOne { user, envied, removed, gain };
            Found { yes: evidence(None), no: Some(evidence(Some(loss(instance, user, &margin)))), margin }
        }))
    }

    fn write(&self, names: &Names<'_>, evidence: &Evidence) -> Option<Json> {
        let Evidence::EnvyUpToOne { user, envied, removed, gain } = evidence else { return None };
        let mut pair = vec![("user", names.user_name(*user)), ("envied", names.user_name(*envied))];
        pair.extend(removed.map(|i| ("server", names.server_name(i))));
        Some(match gain {
            None => fields([("tightest", Json::object(pair))]),
            Some(gain) => {
                pair.push(("gain", number(gain)));
                Json::object(pair)
            }
        })
    }
}

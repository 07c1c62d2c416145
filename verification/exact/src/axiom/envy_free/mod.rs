//! Envy-free (weighted): for every other user `m`
//!
//! $$x_n \ge \min(T_n, v_{nm}), \qquad
//!   v_{nm} = \sum_i \min_{r: d_{nir} > 0} \frac{w_n}{w_m} \frac{x_{mi} d_{mir}}{d_{nir}}.$$
//!
//! `v_nm` is what the bundle of `m`, scaled by the weights, is worth to `n`; only classes count that `n` can
//! run on, and where time is shared the row of time takes the place of the resources (THEORY, section 7).
//!
//! Margin: the least $(x_n - \min(T_n, v_{nm})) / g_n$ over the pairs $n \ne m$ of
//! active users; absent without a pair. Users that are not active take no part.
//!
//! Three ways to the same answer:
//! * [`envy_free_reference`]: the formula, in rationals, pair by pair. Tests compare with it.
//! * No demand depends on the class, no time is shared and several users may use the same classes:
//!   then `v_nm = w_n min_r q_mr / d_nr`, with `q_mr = d_mr / w_m` times the tasks of `m` on the
//!   classes of `n`, and only few bundles can be worth most to anybody: see the file `skyband`.
//! * Else every pair is compared in integers, of 128 bits where a bound says beforehand that they
//!   suffice: see the file `pairs`.

mod pairs;
mod skyband;
mod viewer;

use std::collections::BTreeMap;

use evenhand_problem::{Constraints, Problem};
use rayon::prelude::*;
use rug::{Integer, Rational};

use self::viewer::{Candidate, InverseWeights};
use crate::axiom::rule::{Found, Rule, loss};
use crate::budget::TooLarge;
use crate::evidence::Evidence;
use crate::instance::Instance;
use crate::instance_error::InstanceError;
use crate::names::write::{Json, Names, fields, number};
use crate::quotient::absorb;
use crate::refusal::Refusal;
use crate::scaled::check_width;

/// The pair `(user, envied)` with the least margin, and the margin.
#[derive(Debug, Clone, PartialEq)]
pub struct Tightest {
    /// The user that envies, or comes closest to it.
    pub user: usize,
    /// The user that it looks at.
    pub envied: usize,
    /// `(x_n - min(T_n, v_nm)) / g_n`.
    pub margin: Rational,
}

/// Users with the same set of classes from which on all bundles are compared at once: for fewer of them it is no
/// more work to look at every pair.
const LARGE_GROUP: usize = 4;

/// Most resources in which bundles are compared all at once. With more of them hardly a bundle is worth less
/// than another in each, and pairs are as quick.
const MOST_RESOURCES: usize = 16;

/// The tightest pair; `None` without a pair.
///
/// # Errors
/// [`TooLarge`] when the work is not left.
pub fn tightest(instance: &Instance<'_>) -> Result<Option<Tightest>, TooLarge> {
    let n_users = instance.problem().n_users();
    if n_users < 2 {
        return Ok(None);
    }
    let weights = InverseWeights::new(instance.problem());
    let mut groups: BTreeMap<&[u64], Vec<usize>> = BTreeMap::new();
    for n in (0..n_users).filter(|&n| instance.is_active(n)) {
        groups.entry(instance.scaled.class_set(n)).or_default().push(n);
    }
    // Every bundle is multiplied out, and every user's demands are inverted.
    let held: usize = instance.tasks.iter().map(Vec::len).sum();
    let looks = (held + n_users).saturating_mul(instance.problem().n_resources().min(MOST_RESOURCES)) as u64;
    instance.budget().charge(looks.saturating_mul(instance.steps()))?;
    let alike = instance.scaled.is_uniform() && instance.problem().n_resources() <= MOST_RESOURCES;
    let (large, small): (Vec<_>, Vec<_>) =
        groups.into_values().partition(|users| alike && users.len() >= LARGE_GROUP);
    let holdings = (!large.is_empty()).then(|| skyband::Holdings::new(instance, &weights));
    let of_group = |users: &Vec<usize>| match &holdings {
        Some(holdings) => skyband::tightest(holdings, users),
        None => Ok(None),
    };
    let found: Vec<Option<Candidate>> = large.par_iter().map(of_group).collect::<Result<_, _>>()?;
    let found =
        found.into_iter().flatten().chain(pairs::tightest(instance, &weights, &small.concat())?).min();
    Ok(found.map(|(margin, user, envied)| {
        let margin = margin.to_rational() / &instance.denominator;
        Tightest { user, envied, margin }
    }))
}

/// The margin of one pair; `None` when one of them is not active or both are the same.
#[must_use]
pub fn margin(instance: &Instance<'_>, user: usize, envied: usize) -> Option<Rational> {
    let n_users = instance.problem().n_users();
    if user == envied || user >= n_users || envied >= n_users {
        return None;
    }
    if !instance.is_active(user) || !instance.is_active(envied) {
        return None;
    }
    let holdings: Vec<(usize, Rational)> = instance.tasks[envied]
        .iter()
        .map(|(i, x)| (*i, Rational::from((x, &instance.denominator))))
        .collect();
    let value = bundle_value(instance.constraints(), user, envied, &holdings);
    Some(margin_of(instance.problem(), user, instance.total(user), value) / instance.scale(user))
}

/// [`tightest`] in the plainest way: rational numbers, pair by pair.
///
/// The reference that the fast ways are tested against; time `O(N^2 K m)` rational operations.
#[must_use]
pub fn envy_free_reference(instance: &Instance<'_>) -> Option<Tightest> {
    let n_users = instance.problem().n_users();
    let mut least: Option<Tightest> = None;
    for user in 0..n_users {
        for envied in 0..n_users {
            let Some(margin) = margin(instance, user, envied) else { continue };
            if least.as_ref().is_none_or(|least| margin < least.margin) {
                least = Some(Tightest { user, envied, margin });
            }
        }
    }
    least
}

/// `v_nm` in tasks of `user`.
fn bundle_value(
    constraints: &Constraints<'_>,
    user: usize,
    envied: usize,
    holdings: &[(usize, Rational)],
) -> Rational {
    let users = constraints.problem().users();
    let mut value = Rational::new();
    for (i, x) in holdings.iter().filter(|(_, x)| *x > 0) {
        let (Some(own), Some(theirs)) = (constraints.usage(user, *i), constraints.usage(envied, *i)) else {
            continue;
        };
        let fractions = own.iter().zip(theirs.iter()).filter(|(own, _)| !own.is_zero());
        let tasks = fractions.map(|(own, theirs)| Rational::from(theirs / own) * x).min();
        value += tasks.unwrap_or_default();
    }
    value * users[user].weight() / users[envied].weight()
}

fn margin_of(problem: &Problem, user: usize, total: Rational, value: Rational) -> Rational {
    match problem.users()[user].tasks() {
        Some(tasks) if *tasks < value => total - tasks,
        _ => total - value,
    }
}

/// Whether the weights of the users have a common multiple narrow enough to be counted with.
pub(crate) fn check_weights(problem: &Problem) -> Result<(), InstanceError> {
    let mut common = Integer::from(1);
    for user in problem.users() {
        absorb(&mut common, user.weight().numer());
        check_width(&common, problem.n_users() as u64)?;
    }
    Ok(())
}

/// The axiom.
pub(crate) struct EnvyFree;

impl Rule for EnvyFree {
    fn name(&self) -> &'static str {
        "envy-free"
    }

    fn derive(&self, instance: &Instance<'_>) -> Result<Option<Found>, Refusal> {
        check_weights(instance.problem())?;
        Ok(tightest(instance)?.map(|Tightest { user, envied, margin }| {
            let evidence = |gain| Evidence::Envy { user, envied, gain };
            Found { yes: evidence(None), no: Some(evidence(Some(loss(instance, user, &margin)))), margin }
        }))
    }

    fn write(&self, names: &Names<'_>, evidence: &Evidence) -> Option<Json> {
        let Evidence::Envy { user, envied, gain } = evidence else { return None };
        let pair = [("user", names.user_name(*user)), ("envied", names.user_name(*envied))];
        Some(match gain {
            None => fields([("tightest", fields(pair))]),
            Some(gain) => Json::object(pair.into_iter().chain([("gain", number(gain))])),
        })
    }
}

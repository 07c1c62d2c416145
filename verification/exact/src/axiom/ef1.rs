//! Envy-free up to one task (weighted): for every other user `m` there is a task of `m` after whose removal `n` does
//! not envy the rest. That is, `x_n >= min(T_n, v)` with
//! `v = (w_n / w_m) (sum_i x_mi rho_i - max over i with x_mi >= 1 of rho_i)`.
//!
//! A task of `m` on class `i` is worth `rho_i = min over r with d_nir > 0 of d_mir / d_nir` tasks to `n`, as in
//! [`envy_free`](super::envy_free), which implies this axiom. Only classes where `n` can run count, and where time is
//! shared, `rho_i = gamma_ni / gamma_mi`. The removed task is the one that is worth most to `n`. All tasks on a class
//! are identical, so it does not matter on which of its servers they are.
//!
//! The axiom applies if tasks are whole: on every class, and on every server if there are placements.
//!
//! The margin is the least `(x_n - min(T_n, v)) / g_n` over the pairs `n != m` of active users. There is no margin if
//! there is no pair. Inactive users take no part.

use crate::axiom::envy_free::{Tightest, tightest_pair};
use crate::axiom::rule::{Found, Rule, loss};
use crate::evidence::Evidence;
use crate::instance::Instance;
use crate::names::write::{Json, Names, fields, number};
use crate::refusal::{Inapplicable, Refusal};

/// Returns an error unless every task is whole.
///
/// # Errors
/// Returns an error that names a user and a server whose tasks are not whole.
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

/// The axiom `ef1`.
pub(crate) struct Ef1;

impl Rule for Ef1 {
    fn name(&self) -> &'static str {
        "ef1"
    }

    fn applies(&self, instance: &Instance<'_>) -> Result<(), Inapplicable> {
        applies(instance)
    }

    fn derive(&self, instance: &Instance<'_>) -> Result<Option<Found>, Refusal> {
        Ok(tightest_pair(instance, true)?.map(|Tightest { user, envied, removed, margin }| {
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

//! Envy-free (weighted): for every other user `m`
//!
//! $$x_n \ge \min(T_n, v_{nm}), \qquad v_{nm} = \sum_i \min_{r: d_{nir} > 0} \frac{w_n}{w_m} \frac{x_{mi}
//! d_{mir}}{d_{nir}}.$$
//!
//! The number `v_nm` is the worth of the bundle of `m` to `n`, scaled by the weights. Only classes where `n` can run
//! count. Where time is shared, the row of time is used instead of the resources (docs/theory.md, section 7).
//!
//! The margin is the least $(x_n - \min(T_n, v_{nm})) / g_n$ over the pairs $n \ne m$ of active users. There is no
//! margin if there is no pair. Inactive users take no part.

mod bundles;

use rug::Rational;

pub(super) use bundles::tightest as tightest_pair;

use crate::axiom::rule::{Found, Rule, loss};
use crate::budget::TooLarge;
use crate::evidence::Evidence;
use crate::instance::Instance;
use crate::names::write::{Json, Names, fields, number};
use crate::refusal::Refusal;

/// The pair with the least margin, and the margin. Among pairs with equal margins, the pair with the first user is
/// chosen, and then the pair with the lowest envied user. For this order, all users of one shape count at the position
/// of the first of them.
#[derive(Debug, Clone, PartialEq)]
pub struct Tightest {
    /// The user that envies, or the user that comes closest to envy.
    pub user: usize,
    /// The user whose bundle is compared.
    pub envied: usize,
    /// For envy up to one task: the first class on which a task is worth most, and from which a task is removed.
    /// `None` if no task is worth anything.
    pub removed: Option<usize>,
    /// The margin `(x_n - min(T_n, v)) / g_n`, where `v` is the worth of the bundle to the user.
    pub margin: Rational,
}

/// Returns the pair with the least margin, or `None` if there is no pair.
///
/// # Errors
/// Returns [`TooLarge`] if the budget is exceeded.
pub fn tightest(instance: &Instance<'_>) -> Result<Option<Tightest>, TooLarge> {
    tightest_pair(instance, false)
}

/// The axiom `envy-free`.
pub(crate) struct EnvyFree;

impl Rule for EnvyFree {
    fn name(&self) -> &'static str {
        "envy-free"
    }

    fn derive(&self, instance: &Instance<'_>) -> Result<Option<Found>, Refusal> {
        Ok(tightest(instance)?.map(|Tightest { user, envied, margin, .. }| {
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

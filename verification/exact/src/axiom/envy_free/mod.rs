//! Envy-free (weighted): for every other user `m`
//!
//! $$x_n \ge \min(T_n, v_{nm}), \qquad
//!   v_{nm} = \sum_i \min_{r: d_{nir} > 0} \frac{w_n}{w_m} \frac{x_{mi} d_{mir}}{d_{nir}}.$$
//!
//! `v_nm` is what the bundle of `m`, scaled by the weights, is worth to `n`; only classes count that `n` can
//! run on, and where time is shared the row of time takes the place of the resources (theory, section 7).
//!
//! Margin: the least $(x_n - \min(T_n, v_{nm})) / g_n$ over the pairs $n \ne m$ of
//! active users; absent without a pair. Users that are not active take no part.

mod bundles;

use rug::Rational;

pub(super) use bundles::tightest as tightest_pair;

use crate::axiom::rule::{Found, Rule, loss};
use crate::budget::TooLarge;
use crate::evidence::Evidence;
use crate::instance::Instance;
use crate::names::write::{Json, Names, fields, number};
use crate::refusal::Refusal;

/// The pair with the least margin (among equals the first user, those of one shape in the place
/// of their first, then the lowest envied one), and the margin.
#[derive(Debug, Clone, PartialEq)]
pub struct Tightest {
    /// The user that envies, or comes closest to it.
    pub user: usize,
    /// The user that it looks at.
    pub envied: usize,
    /// For envy up to one task: the class from which a task is removed, the first where it is worth most; `None` when
    /// no task is worth anything.
    pub removed: Option<usize>,
    /// `(x_n - min(T_n, v)) / g_n`, with what the bundle is worth to the user.
    pub margin: Rational,
}

/// The tightest pair; `None` without a pair.
///
/// # Errors
/// [`TooLarge`] when the work is not left.
pub fn tightest(instance: &Instance<'_>) -> Result<Option<Tightest>, TooLarge> {
    tightest_pair(instance, false)
}

/// The axiom.
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

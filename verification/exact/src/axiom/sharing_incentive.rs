//! Sharing incentive, with the entitlement `e_n` (DRFH, property 4; PS-DSF, section II-A):
//!
//! $$x_n \ge \min(T_n, e_n \gamma_n), \qquad e_n = \frac{w_n}{\sum_{m \text{ active}} w_m}.$$
//!
//! For a user that limits its accelerators, the right side is the best use of its part: the largest $\sum_iy_{ni}$ with
//! $y_{ni} \le e_n \gamma_{ni}$, at most `at_most` accelerators and at most $T_n$ tasks (docs/theory.md, section 12).
//!
//! The margin is the least $(x_n - \min(T_n, e_n \gamma_n)) / g_n$ over the active users.

use evenhand_budget::for_a_thread;
use rayon::prelude::*;
use rug::{Integer, Rational};

use crate::axiom::rule::{Found, Rule, loss};
use crate::evidence::Evidence;
use crate::instance::Instance;
use crate::names::write::{Json, Names, fields, number};
use crate::quotient::Quotient;
use crate::refusal::Refusal;

/// Returns the user with the least margin (the first among equals) and the margin, or `None` if no user is active.
#[must_use]
pub fn tightest(instance: &Instance<'_>) -> Option<(usize, Rational)> {
    let margins = Margins::new(instance);
    let users: Vec<usize> = (0..instance.problem().n_users()).filter(|&n| instance.is_active(n)).collect();
    let of = |n: usize| (margins.of(n), n);
    let least = if users.len() < for_a_thread(1) {
        users.into_iter().map(of).min()?
    } else {
        users.into_par_iter().map(of).min()?
    };
    Some((least.1, least.0.to_rational()))
}

/// Returns `(x_n - min(T_n, e_n gamma_n)) / g_n`, or `None` for a user that is not active.
#[must_use]
pub fn margin(instance: &Instance<'_>, n: usize) -> Option<Rational> {
    let active = n < instance.problem().n_users() && instance.is_active(n);
    active.then(|| Margins::new(instance).of(n).to_rational())
}

struct Margins<'a, 'b> {
    instance: &'a Instance<'b>,
    total_weight: Rational,
}

impl<'a, 'b> Margins<'a, 'b> {
    fn new(instance: &'a Instance<'b>) -> Self {
        let scaled = &instance.scaled;
        // If no user is active, the weight is 0, but then no user has an entitlement.
        let total_weight = Rational::from((&scaled.active_weight, &scaled.weight_scale));
        Self { instance, total_weight }
    }

    fn of(&self, n: usize) -> Quotient {
        let user = &self.instance.problem().users()[n];
        let mut entitled = match user.at_most() {
            None => Rational::from(self.instance.scaled.gamma(n) * user.weight()) / &self.total_weight,
            Some(_) => {
                let part = Rational::from(user.weight() / &self.total_weight);
                self.instance.problem().most_with(n, &part)
            }
        };
        if let Some(tasks) = user.tasks().filter(|tasks| **tasks < entitled) {
            entitled.clone_from(tasks);
        }
        let denominator = &self.instance.denominator;
        let lead = Integer::from(&self.instance.totals[n] * entitled.denom())
            - Integer::from(entitled.numer() * denominator);
        let unit = self.instance.scale(n);
        Quotient::new(lead * unit.denom(), Integer::from(entitled.denom() * denominator) * unit.numer())
    }
}

/// The axiom `sharing-incentive`.
pub(crate) struct SharingIncentive;

impl Rule for SharingIncentive {
    fn name(&self) -> &'static str {
        "sharing-incentive"
    }

    fn derive(&self, instance: &Instance<'_>) -> Result<Option<Found>, Refusal> {
        instance.charge_all_users()?;
        Ok(tightest(instance).map(|(user, margin)| {
            let evidence = |loss| Evidence::Entitlement { user, loss };
            Found { yes: evidence(None), no: Some(evidence(Some(loss(instance, user, &margin)))), margin }
        }))
    }

    fn write(&self, names: &Names<'_>, evidence: &Evidence) -> Option<Json> {
        let Evidence::Entitlement { user, loss } = evidence else { return None };
        let user = ("user", names.user_name(*user));
        Some(match loss {
            None => fields([("tightest", fields([user]))]),
            Some(loss) => fields([user, ("loss", number(loss))]),
        })
    }
}

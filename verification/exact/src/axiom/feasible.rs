//! Feasible: on every class `i`, for every resource `r`,
//!
//! $$\sum_n x_{ni} d_{nir} \le k_i c_{ir} \quad \text{(where time is shared } \sum_n x_{ni} / \gamma_{ni} \le 1),
//!   \qquad x_n \le T_n, \quad x_{ni} \ge 0,$$
//!
//! and no user has tasks where it cannot run. The allocation is judged as it is stated, before its repair.
//!
//! The margin is the least of
//! - `(capacity - load) / capacity` over the rows, where loads do not count negative or misplaced entries;
//! - `(T_n - x_n) / g_n` over the active users with finite tasks;
//! - `(at_most - sum_i x_ni / rate_ni) / at_most` over the active users with a limit on their accelerators, where the
//!   sum does not count negative or misplaced entries;
//! - `-|x_ni| / g_n` over the entries that are negative or where the user cannot run (`-|x_ni|` for a user with
//!   `g_n = 0`, which should have no tasks).
//!
//! With placements, the axiom applies to every single server (like [`integer_feasible`], except that tasks may be
//! fractional). Placements are not repaired, so an excess of any size violates the axiom.

use rug::{Integer, Rational};

use crate::axiom::integer_feasible;
use crate::axiom::rule::{Found, Rule};
use crate::evidence::Evidence;
pub use crate::evidence::Limit;
use crate::instance::Instance;
use crate::limit_rows::LimitOf;
use crate::names::write::{Json, Names, fields, number, string};
use crate::parameters::Parameters;
use crate::quotient::Quotient;
use crate::refusal::Refusal;

/// Returns the slack and the margin of `limit`. The slack is in the units of the row, or in tasks. Returns `None` if
/// the limit has no effect.
pub(super) fn slack(instance: &Instance<'_>, limit: Limit) -> Option<(Rational, Rational)> {
    let stated = instance.stated();
    match limit {
        Limit::Row(row) => {
            stated.constraints().rows().get(row)?;
            let margin = row_margin(stated, row)?.to_rational();
            Some((stated.slack(row), margin))
        }
        Limit::Tasks(n) => {
            if n >= stated.problem().n_users() {
                return None;
            }
            let margin = tasks_margin(stated, n)?.to_rational();
            Some((Rational::from(&margin * stated.scale(n)), margin))
        }
        Limit::Accelerators(n) => {
            let (slack, margin) = accelerators(stated, n)?;
            Some((slack, margin.to_rational()))
        }
        Limit::Entry(n, i) => refused(stated)
            .find(|(at, _, _)| *at == (n, i))
            .map(|(_, slack, margin)| (slack, margin.to_rational())),
    }
}

/// Returns the limit with the least margin, and this margin. Among equal limits, rows come first, then tasks of users,
/// then accelerators of users, then entries, and each of these in ascending order.
#[must_use]
pub fn tightest(instance: &Instance<'_>) -> Option<(Limit, Rational)> {
    let stated = instance.stated();
    let rows = (0..stated.constraints().rows().len())
        .filter_map(|row| Some((Limit::Row(row), row_margin(stated, row)?)));
    let users =
        (0..stated.problem().n_users()).filter_map(|n| Some((Limit::Tasks(n), tasks_margin(stated, n)?)));
    let accelerators = (0..stated.problem().n_users())
        .filter_map(|n| Some((Limit::Accelerators(n), accelerators(stated, n)?.1)));
    let entries = refused(stated).map(|((n, i), _, margin)| (Limit::Entry(n, i), margin));
    let mut least: Option<(Limit, Quotient)> = None;
    for (limit, margin) in rows.chain(users).chain(accelerators).chain(entries) {
        if least.as_ref().is_none_or(|(_, least)| margin < *least) {
            least = Some((limit, margin));
        }
    }
    least.map(|(limit, margin)| (limit, margin.to_rational()))
}

/// Returns true if the allocation, as it is stated, is exactly feasible.
#[must_use]
pub fn holds_exactly(instance: &Instance<'_>) -> bool {
    let stated = instance.stated();
    let has_too_much = |n| stated.tasks_left(n).is_some_and(|left| left.numerator < 0);
    let keeps_accelerators = stated.limits().list().iter().all(|row| match row.of {
        LimitOf::User(_) => row.held <= row.most,
        LimitOf::Group { .. } => true,
    });
    stated.refused.is_empty()
        && keeps_accelerators
        && (0..stated.constraints().rows().len()).all(|row| *stated.scaled_slack(row) >= 0)
        && !(0..stated.problem().n_users()).any(has_too_much)
}

/// Returns true if no limit is exceeded by more than the tolerance. On single servers no excess is allowed.
///
/// If an allocation is not feasible in this sense, no axiom except feasibility is claimed about it (docs/theory.md,
/// section 7).
#[must_use]
pub fn is_feasible(instance: &Instance<'_>, tolerance: &Rational) -> bool {
    match instance.placements() {
        // The axiom always applies if there are placements.
        Some(_) => integer_feasible::tightest(instance, false)
            .is_ok_and(|tightest| tightest.is_none_or(|(_, _, margin)| margin >= 0)),
        None => tightest(instance).is_none_or(|(_, margin)| margin >= Rational::from(-tolerance)),
    }
}

/// Returns the margin of a row, or `None` if the row has no capacity.
fn row_margin(stated: &Instance<'_>, row: usize) -> Option<Quotient> {
    let slack = stated.scaled_slack(row);
    let capacity = stated.scaled_capacity(row);
    // No user can use a row without capacity, so its load is 0.
    (!capacity.is_zero()).then(|| Quotient::new(slack.clone(), capacity * &stated.denominator))
}

/// Returns `(T_n - x_n) / g_n`, where `x_n` includes all stated entries.
fn tasks_margin(stated: &Instance<'_>, n: usize) -> Option<Quotient> {
    let scale = Some(stated.scale(n)).filter(|scale| !scale.is_zero())?;
    let mut left = stated.tasks_left(n)?;
    let first = stated.refused.partition_point(|(user, _, _)| *user < n);
    let of_user = stated.refused[first..].iter().take_while(|(user, _, _)| *user == n);
    let refused: Rational = of_user.map(|(_, _, x)| x).sum();
    if !refused.is_zero() {
        left.numerator =
            left.numerator * refused.denom() - Integer::from(refused.numer() * &left.denominator);
        left.denominator *= refused.denom();
    }
    Some(Quotient::new(left.numerator * scale.denom(), left.denominator * scale.numer()))
}

/// Returns the slack of an active user's accelerators, and its margin `(at_most - sum_i x_ni / rate_ni) / at_most`.
fn accelerators(stated: &Instance<'_>, n: usize) -> Option<(Rational, Quotient)> {
    let row = &stated.limits().list()[stated.limits().of_accelerators(n)?];
    let slack = Rational::from(&row.most - &row.held);
    let margin = Quotient::from(&Rational::from(&slack / &row.most));
    stated.is_active(n).then_some((slack, margin))
}

/// Returns the entries that do not count as tasks, with their slack in tasks and their margin.
fn refused<'a>(stated: &'a Instance<'_>) -> impl Iterator<Item = ((usize, usize), Rational, Quotient)> + 'a {
    stated.refused.iter().map(|(n, i, x)| {
        let slack = -Rational::from(x.abs_ref());
        let scale = stated.scale(*n);
        let margin = if scale.is_zero() { slack.clone() } else { Rational::from(&slack / scale) };
        ((*n, *i), slack, Quotient::from(&margin))
    })
}

/// The axiom `feasible`.
pub(crate) struct Feasible;

impl Rule for Feasible {
    fn name(&self) -> &'static str {
        "feasible"
    }

    fn is_exact_on_servers(&self) -> bool {
        true
    }

    fn derive(&self, instance: &Instance<'_>) -> Result<Option<Found>, Refusal> {
        if instance.placements().is_some() {
            let found = integer_feasible::tightest(instance, false)?;
            let of = |(limit, slack, margin)| Found {
                margin,
                yes: Evidence::SingleLimit { limit, slack },
                no: None,
            };
            return Ok(found.map(of));
        }
        Ok(tightest(instance).map(|(limit, margin)| {
            let slack = slack(instance, limit).map_or_else(Rational::new, |(slack, _)| slack);
            Found { margin, yes: Evidence::Limit { limit, slack }, no: None }
        }))
    }

    fn in_tasks(
        &self,
        instance: &Instance<'_>,
        _parameters: &Parameters,
        evidence: &Evidence,
        _margin: &Rational,
    ) -> Option<Rational> {
        let Evidence::Limit { limit: Limit::Tasks(n) | Limit::Entry(n, _), slack } = evidence else {
            return None;
        };
        (*n < instance.problem().n_users()).then(|| slack.clone())
    }

    fn write(&self, names: &Names<'_>, evidence: &Evidence) -> Option<Json> {
        let Evidence::Limit { limit, slack } = evidence else {
            return integer_feasible::IntegerFeasible.write(names, evidence);
        };
        let slack = ("slack", number(slack));
        Some(match *limit {
            Limit::Row(row) => {
                let (server, kind) = names.row(row);
                fields([("server", Json::Text(server)), ("resource", Json::Text(kind)), slack])
            }
            Limit::Tasks(n) => fields([("user", names.user_name(n)), slack]),
            Limit::Accelerators(n) => {
                fields([("user", names.user_name(n)), ("limit", string("at_most")), slack])
            }
            Limit::Entry(n, i) => {
                fields([("user", names.user_name(n)), ("server", names.server_name(i)), slack])
            }
        })
    }
}

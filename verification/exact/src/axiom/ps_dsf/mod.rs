//! Per-server dominant-share fairness (PS-DSF, Theorems 1 and 2; docs/theory.md, section 4): every active user has all
//! its `T_n` tasks, or a bottleneck on every class where it can run. The level of user `n` on class `i` is
//! `x_n / (w_n gamma_ni)`, its virtual dominant share by weight. A row of the class is a bottleneck of `n` if `n` uses
//! it, it is saturated, and no user that uses it has a higher level on the class.
//!
//! The definition by rows covers both ways of sharing. Where resources are divided (Theorem 1), there is one row for
//! each resource. Where time is shared, there is a single row of time, which every user that can run on the class uses.
//! Time is shared under TDM (Theorem 2 with finite tasks), or because a user states its `gamma` for the class.
//!
//! For a row that it uses, user `n` lacks on class `i`, in tasks:
//!
//! $$\frac{1}{d_{nir}} \Bigl( \mathrm{slack}_{ir} + \sum_{m \ne n} \min\bigl(x_{mi}, \max(0, x_m - x_n \frac{w_m
//! \gamma_{mi}}{w_n \gamma_{ni}})\bigr) d_{mir} \Bigr).$$
//!
//! This is the free capacity, plus the usage of users with a higher level than `n`. Of their tasks, only those above
//! the level of `n` count. A row is a bottleneck of `n` if this number is 0.
//!
//! The margin of `n` on `i` is minus the least lack over the rows, or `x_n - T_n` if this number is larger, divided by
//! `g_n`. The margin of the axiom is the least over the active users and the classes where they can run.
//!
//! The evidence that the axiom holds states for every active user that it has all its tasks, or a row for each class.
//! The evidence that it is violated is the pair with the least margin, with the lack of the user for every row that it
//! uses on the class.

mod rows;

use rayon::prelude::*;
use rug::Rational;

use self::rows::{Rows, full};
use crate::axiom::rule::{Found, Rule};
use crate::budget::TooLarge;
use crate::evidence::Evidence;
pub use crate::evidence::{Standing, Unblocked};
use crate::instance::Instance;
use crate::names::write::{Json, Names, fields, number, string};
use crate::refusal::Refusal;

/// The result of [`examine`].
#[derive(Debug, Clone, PartialEq)]
pub struct Examined {
    /// The margin of the axiom, in units of `g_n`.
    pub margin: Rational,
    /// The first user with this margin.
    pub user: usize,
    /// The first class on which that user has this margin.
    pub server: usize,
    /// The standing of every active user. `None` for other users. The standing is that the user has all its tasks, if
    /// this margin is at least as good as the margins of its rows. Otherwise the standing is the best row of every
    /// class, or the first of equally good rows.
    pub standings: Vec<Option<Standing>>,
}

/// The least number of users that a thread examines at a time. It is lower than for other axioms, because each user is
/// compared with all users of its classes.
const CHUNK: usize = 1 << 6;

/// Returns the margin, the user and class where it is least, and the standing of every user. Returns `None` if no user
/// is active.
///
/// # Errors
/// Returns [`TooLarge`] if the budget is exceeded.
pub fn examine(instance: &Instance<'_>) -> Result<Option<Examined>, TooLarge> {
    let rows = Rows::new(instance)?;
    let n_users = instance.problem().n_users();
    let found: Vec<_> = (0..n_users)
        .into_par_iter()
        .with_min_len(CHUNK)
        .map(|n| rows.standing_of(n))
        .collect::<Result<_, _>>()?;
    let mut least: Option<(Rational, usize, usize)> = None;
    let mut standings = Vec::with_capacity(n_users);
    for (n, found) in found.into_iter().enumerate() {
        let Some((margin, server, standing)) = found else {
            standings.push(None);
            continue;
        };
        standings.push(Some(standing));
        if least.as_ref().is_none_or(|(least, _, _)| margin < *least) {
            least = Some((margin, n, server));
        }
    }
    Ok(least.map(|(margin, user, server)| Examined { margin, user, server, standings }))
}

/// Returns the margin of user `n` on class `i`. Returns `None` if the user is not active or cannot run on the class.
///
/// # Errors
/// Returns [`TooLarge`] if the budget is exceeded.
pub fn margin(instance: &Instance<'_>, n: usize, i: usize) -> Result<Option<Rational>, TooLarge> {
    if !runs(instance, n, i) || !instance.is_active(n) {
        return Ok(None);
    }
    let rows = Rows::new(instance)?;
    let (lack, _) = rows.best(n, i)?;
    let margin = -(lack / instance.scale(n));
    Ok(Some(rows.satisfied(n).map_or(margin.clone(), |satisfied| satisfied.max(margin))))
}

/// Returns the best row of class `i` for user `n`, and minus its lack for this row, in tasks. The row is a bottleneck
/// if this number is 0. Returns `None` if the user cannot run on the class.
///
/// # Errors
/// Returns [`TooLarge`] if the budget is exceeded.
pub fn bottleneck(
    instance: &Instance<'_>,
    n: usize,
    i: usize,
) -> Result<Option<(usize, Rational)>, TooLarge> {
    if !runs(instance, n, i) {
        return Ok(None);
    }
    let (lack, row) = Rows::new(instance)?.best(n, i)?;
    Ok(Some((row, -lack)))
}

/// Returns the level of user `n` on class `i`, `x_n / (w_n gamma_ni)`. Returns `None` if the user cannot run on the
/// class.
#[must_use]
pub fn level(instance: &Instance<'_>, n: usize, i: usize) -> Option<Rational> {
    runs(instance, n, i).then(|| instance.total(n) / full(instance, n, i).to_rational())
}

/// Returns the lack of user `n` for every row of class `i` that it uses. Returns `None` if the user cannot run on the
/// class.
///
/// # Errors
/// Returns [`TooLarge`] if the budget is exceeded.
pub fn unblocked(instance: &Instance<'_>, n: usize, i: usize) -> Result<Option<Unblocked>, TooLarge> {
    if !runs(instance, n, i) {
        return Ok(None);
    }
    let rows = Rows::new(instance)?;
    let mut lacks = Vec::new();
    for row in instance.constraints().class_rows(i) {
        if let Some(lack) = rows.lack(n, row, None)? {
            lacks.push((row, lack));
        }
    }
    Ok(Some(Unblocked { user: n, server: i, lacks }))
}

fn runs(instance: &Instance<'_>, n: usize, i: usize) -> bool {
    let problem = instance.problem();
    n < problem.n_users() && i < problem.n_servers() && instance.scaled.can_run(n, i)
}

/// The axiom `ps-dsf`.
pub(crate) struct PsDsf;

impl Rule for PsDsf {
    fn name(&self) -> &'static str {
        "ps-dsf"
    }

    fn derive(&self, instance: &Instance<'_>) -> Result<Option<Found>, Refusal> {
        let Some(found) = examine(instance)? else { return Ok(None) };
        let no = unblocked(instance, found.user, found.server)?.map(Evidence::Unblocked);
        Ok(Some(Found { margin: found.margin, yes: Evidence::Bottlenecks(found.standings), no }))
    }

    fn write(&self, names: &Names<'_>, evidence: &Evidence) -> Option<Json> {
        match evidence {
            Evidence::Bottlenecks(standings) => {
                let stated = standings.iter().enumerate().filter_map(|(n, s)| Some((n, s.as_ref()?)));
                let stated = stated.map(|(n, standing)| (names.user(n), write_standing(names, standing)));
                Some(fields([("bottlenecks", Json::Object(stated.collect()))]))
            }
            Evidence::Unblocked(Unblocked { user, server, lacks }) => {
                let lacks = lacks.iter().map(|(row, lack)| (names.row(*row).1, number(lack)));
                Some(fields([
                    ("user", names.user_name(*user)),
                    ("server", names.server_name(*server)),
                    ("lacks", Json::Object(lacks.collect())),
                ]))
            }
            _ => None,
        }
    }
}

fn write_standing(names: &Names<'_>, standing: &Standing) -> Json {
    let Standing::Bottlenecks(rows) = standing else { return string("satisfied") };
    let rows = rows.iter().map(|&row| names.row(row));
    Json::Object(rows.map(|(server, resource)| (server, Json::Text(resource))).collect())
}

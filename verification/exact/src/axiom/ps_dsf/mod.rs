//! Per-server dominant-share fairness (PS-DSF, Theorems 1 and 2; THEORY, section 4): every active user
//! has all its `T_n` tasks, or on every class where it can run a bottleneck. The level of user `n` on
//! class `i` is `x_n / (w_n gamma_ni)`, its virtual dominant share by weight; a row of the class is a
//! bottleneck of `n` when `n` uses it, it is saturated, and nobody who holds some of it has a higher
//! level on the class.
//!
//! One meaning for both ways of sharing: what counts are the rows. Where resources are divided
//! (Theorem 1) there is one for each resource; where time is shared, under TDM (Theorem 2 with
//! finite tasks) or because a user states its `gamma` for the class, there is the one of time, which
//! everybody that can run there uses.
//!
//! In tasks of user `n`, a row of class `i` is worth to it the least of
//! * for every holder `m`, `x_mi d_mir > 0`: `x_n - w_n gamma_ni L_m` with `L_m` the level of `m`, the
//!   tasks by which `n` is ahead of it. Where `n` is behind, no more counts than `m` holds of the row:
//!   `-min(w_n gamma_ni L_m - x_n, x_mi d_mir / d_nir)`. A trace that rounding leaves of a task is a trace
//!   of a violation;
//! * where the row is not saturated, `-|slack| / d_nir`: the tasks that are still missing there.
//!
//! Margin: the least over the active users and their classes of the best of `x_n - T_n` and the rows.
//! `n` itself is among the holders of what it holds, so that the margin there is at most 0.
//!
//! Evidence of yes: for every active user that it is satisfied, or a row for each class. Evidence of
//! no: the pair with the least margin, and for every row that the user needs there why it is no
//! bottleneck: its slack, or who holds some of it at a higher level.

mod rows;

use evenhand_problem::RowKind;
use rayon::prelude::*;
use rug::{Integer, Rational};

use self::rows::Rows;
use crate::claim::Refusal;
use crate::instance::Instance;
use crate::quotient::Quotient;
use crate::usage::Usage;

/// What a user has in place of more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// It has all its tasks.
    Satisfied,
    /// A bottleneck for each class that it can run on: rows of
    /// [`Constraints`](evenhand_problem::Constraints), ascending.
    Bottlenecks(Vec<usize>),
}

/// A user and a class on which it has no bottleneck.
#[derive(Debug, Clone, PartialEq)]
pub struct Unblocked {
    /// The user.
    pub user: usize,
    /// The class.
    pub server: usize,
    /// The level of the user on the class.
    pub level: Rational,
    /// By row of the class that the user needs, ascending: why it is none.
    pub reasons: Vec<(usize, Reason)>,
}

/// Why a row is no bottleneck of a user.
#[derive(Debug, Clone, PartialEq)]
pub enum Reason {
    /// It is not saturated; what is left, in the units of the row.
    Slack(Rational),
    /// This user holds some of it, and has a higher level.
    Holder {
        /// The user.
        user: usize,
        /// Its level on the class.
        level: Rational,
    },
}

/// What [`examine`] finds.
#[derive(Debug, Clone, PartialEq)]
pub struct Examined {
    /// The margin of the axiom, in tasks.
    pub margin: Rational,
    /// The first user that has it.
    pub user: usize,
    /// The first class on which that user has it.
    pub server: usize,
    /// Of every active user, by user: that it is satisfied where that is as good, else the best row of every
    /// class, the first among equals.
    pub standings: Vec<Option<Standing>>,
}

/// Users that one worker examines at a time.
const CHUNK: usize = 1 << 6;

/// The margin, where it is least, and what everybody has; `None` without active users.
#[must_use]
pub fn examine(instance: &Instance<'_>) -> Option<Examined> {
    let rows = Rows::new(instance);
    let n_users = instance.problem().n_users();
    let found: Vec<_> =
        (0..n_users).into_par_iter().with_min_len(CHUNK).map(|n| rows.standing_of(n)).collect();
    let mut least: Option<(Quotient, usize, usize)> = None;
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
    let (margin, user, server) = least?;
    Some(Examined { margin: rows.in_tasks(&margin), user, server, standings })
}

/// The margin of user `n` on class `i`; `None` when it is not active or cannot run there.
#[must_use]
pub fn margin(instance: &Instance<'_>, n: usize, i: usize) -> Option<Rational> {
    let problem = instance.problem();
    if n >= problem.n_users() || i >= problem.n_servers() || !instance.is_active(n) {
        return None;
    }
    let rows = Rows::new(instance);
    let (best, _) = instance.scaled.can_run(n, i).then(|| rows.best(n, i))?;
    Some(rows.in_tasks(&rows.satisfied(n).map_or(best.clone(), |satisfied| satisfied.max(best))))
}

/// The best row of class `i` for user `n` and what it is worth to it, in tasks: a bottleneck when that is
/// not negative. `None` where the user cannot run.
#[must_use]
pub fn bottleneck(instance: &Instance<'_>, n: usize, i: usize) -> Option<(usize, Rational)> {
    let problem = instance.problem();
    if n >= problem.n_users() || i >= problem.n_servers() || !instance.scaled.can_run(n, i) {
        return None;
    }
    let rows = Rows::new(instance);
    let (margin, row) = rows.best(n, i);
    Some((row, rows.in_tasks(&margin)))
}

/// The level of user `n` on class `i`, `x_n / (w_n gamma_ni)`; `None` where it cannot run.
#[must_use]
pub fn level(instance: &Instance<'_>, n: usize, i: usize) -> Option<Rational> {
    let problem = instance.problem();
    let runs = n < problem.n_users() && i < problem.n_servers() && instance.scaled.can_run(n, i);
    runs.then(|| instance.total(n) / full(instance, n, i).to_rational())
}

/// Why user `n` has no bottleneck on class `i` within `tolerance`; `None` when it has one, or cannot
/// be given anything there.
#[must_use]
pub fn unblocked(instance: &Instance<'_>, n: usize, i: usize, tolerance: &Rational) -> Option<Unblocked> {
    let level = level(instance, n, i)?;
    let rows = Rows::new(instance);
    let full = full(instance, n, i);
    let mut reasons = Vec::new();
    for row in instance.constraints().class_rows(i) {
        let Some(usage) = Usage::of(instance, n, row) else { continue };
        if rows.missing(row, &usage).is_some_and(|missing| rows.in_tasks(&missing) > *tolerance) {
            reasons.push((row, Reason::Slack(instance.slack(row))));
            continue;
        }
        let (lead, step) = rows.lead(n, row, &usage, &full)?;
        if rows.in_tasks(&lead) <= *tolerance {
            return None;
        }
        reasons.push((row, Reason::Holder { user: step.user, level: rows.in_tasks(&step.level) }));
    }
    Some(Unblocked { user: n, server: i, level, reasons })
}

/// Whether `stated` shows that its user has no bottleneck on its class, beyond `tolerance`.
#[must_use]
pub(crate) fn is_unblocked(instance: &Instance<'_>, stated: &Unblocked, tolerance: &Rational) -> bool {
    let Unblocked { user: n, server: i, level: own, reasons } = stated;
    let (n, i) = (*n, *i);
    if level(instance, n, i).as_ref() != Some(own) {
        return false;
    }
    let rows = instance.constraints().class_rows(i);
    let needed = rows.filter(|&row| Usage::of(instance, n, row).is_some());
    if !needed.eq(reasons.iter().map(|(row, _)| *row)) {
        return false;
    }
    let full = full(instance, n, i);
    reasons.iter().all(|(row, reason)| {
        let (row, kind) = (*row, instance.constraints().rows()[*row].kind);
        let Some(own_use) = instance.constraints().usage(n, i) else { return false };
        let offset = row - instance.constraints().class_rows(i).start;
        debug_assert_eq!(instance.constraints().row_of(i, kind), Some(row));
        let per_task = &own_use[offset];
        match reason {
            Reason::Slack(slack) => {
                *slack == instance.slack(row) && Rational::from(slack.abs_ref()) / per_task > *tolerance
            }
            Reason::Holder { user: m, level: theirs } => {
                if level(instance, *m, i).as_ref() != Some(theirs) {
                    return false;
                }
                let Some(their_use) = instance.constraints().usage(*m, i) else { return false };
                let held = instance.tasks_on(*m, i).map_or_else(Rational::new, |x| {
                    Rational::from((x, &instance.denominator)) * &their_use[offset] / per_task
                });
                let ahead = Rational::from(theirs - own) * full.to_rational();
                held > 0 && ahead > 0 && held.min(ahead) > *tolerance
            }
        }
    })
}

/// The margin that `standings` prove; `None` without active users.
///
/// # Errors
/// [`Refusal`] when a user lacks one, or has one that says nothing about it.
pub fn margin_of_standings(
    instance: &Instance<'_>,
    standings: &[Option<Standing>],
) -> Result<Option<Rational>, Refusal> {
    let n_users = instance.problem().n_users();
    if standings.len() != n_users {
        return Err(Refusal::new("the bottlenecks are those of another number of users"));
    }
    let rows = Rows::new(instance);
    let margins = (0..n_users).into_par_iter().with_min_len(CHUNK).map(|n| rows.margin_of(n, &standings[n]));
    let least = margins.try_reduce(
        || None,
        |a, b| {
            Ok(match (a, b) {
                (Some(a), Some(b)) => Some(std::cmp::min(a, b)),
                (a, b) => a.or(b),
            })
        },
    )?;
    Ok(least.map(|margin| rows.in_tasks(&margin)))
}

/// `w_n gamma_ni`: the tasks at which the level is 1. Positive, for a user that can run on the class.
fn full(instance: &Instance<'_>, n: usize, i: usize) -> Quotient {
    let problem = instance.problem();
    let user = &problem.users()[n];
    let gamma = if instance.constraints().is_time_shared(i) {
        Quotient::from(&problem.unconstrained_gamma(n, i))
    } else {
        let scaled = &instance.scaled;
        let row = |r: usize| instance.constraints().row_of(i, RowKind::Resource(r));
        let rates =
            scaled.demand(n, i).iter().filter_map(|(r, demand)| Some((&scaled.capacity[row(*r)?], demand)));
        let mut least: Option<(&Integer, &Integer)> = None;
        for (capacity, demand) in rates {
            if least.is_none_or(|(c, d)| Integer::from(capacity * d) < Integer::from(c * demand)) {
                least = Some((capacity, demand));
            }
        }
        // Who can run there demands something, each of which has a row.
        let (capacity, demand) = least.map_or_else(Default::default, |(c, d)| (c.clone(), d.clone()));
        Quotient::new(capacity, demand.max(Integer::from(1)))
    };
    let weight = user.weight();
    Quotient::new(gamma.numerator * weight.numer(), gamma.denominator * weight.denom())
}

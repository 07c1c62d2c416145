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
//! What user `n` lacks on class `i` for a row that it uses, in tasks:
//! `(slack + sum over m other than n of min(x_mi, max(0, x_m - x_n w_m gamma_mi / (w_n gamma_ni))) d_mir) / d_nir`,
//! what is free and what those hold who are ahead of it, each no more than it is ahead. A row is a
//! bottleneck of `n` where that is 0.
//!
//! Margin of `n` on `i`: minus the least lack over the rows, or `x_n - T_n` if that is more, over `g_n`;
//! of the axiom: the least over the active users and the classes where they can run.
//!
//! Evidence of yes: for every active user that it is satisfied, or a row for each class. Evidence of
//! no: the pair with the least margin, with what the user lacks for every row that it uses there.

mod rows;

use evenhand_problem::RowKind;
use rayon::prelude::*;
use rug::{Integer, Rational};

use self::rows::Rows;
use crate::budget::TooLarge;
use crate::instance::Instance;
use crate::quotient::Quotient;
use crate::refusal::Refusal;

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
    /// By row of the class that the user uses, ascending: what it lacks there, in tasks.
    pub lacks: Vec<(usize, Rational)>,
}

/// What [`examine`] finds.
#[derive(Debug, Clone, PartialEq)]
pub struct Examined {
    /// The margin of the axiom, in units of `g_n`.
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
///
/// # Errors
/// [`TooLarge`] when the work is not left.
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

/// The margin of user `n` on class `i`; `None` when it is not active or cannot run there.
///
/// # Errors
/// [`TooLarge`] when the work is not left.
pub fn margin(instance: &Instance<'_>, n: usize, i: usize) -> Result<Option<Rational>, TooLarge> {
    if !runs(instance, n, i) || !instance.is_active(n) {
        return Ok(None);
    }
    let rows = Rows::new(instance)?;
    let (lack, _) = rows.best(n, i)?;
    let margin = -(lack / instance.scale(n));
    Ok(Some(rows.satisfied(n).map_or(margin.clone(), |satisfied| satisfied.max(margin))))
}

/// The best row of class `i` for user `n` and minus what it lacks there, in tasks: a bottleneck when that
/// is 0. `None` where the user cannot run.
///
/// # Errors
/// [`TooLarge`] when the work is not left.
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

/// The level of user `n` on class `i`, `x_n / (w_n gamma_ni)`; `None` where it cannot run.
#[must_use]
pub fn level(instance: &Instance<'_>, n: usize, i: usize) -> Option<Rational> {
    runs(instance, n, i).then(|| instance.total(n) / full(instance, n, i).to_rational())
}

/// What user `n` lacks for every row that it uses of class `i`; `None` where it cannot run.
///
/// # Errors
/// [`TooLarge`] when the work is not left.
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
    let rows = Rows::new(instance)?;
    let margins = (0..n_users).into_par_iter().with_min_len(CHUNK).map(|n| rows.margin_of(n, &standings[n]));
    margins.try_reduce(
        || None,
        |a, b| {
            Ok(match (a, b) {
                (Some(a), Some(b)) => Some(std::cmp::min(a, b)),
                (a, b) => a.or(b),
            })
        },
    )
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

//! Feasible and integer feasible: the margin of every limit, of the allocation as it is stated. And sharing
//! incentive: users against their entitlement.
//!
//! Evidence: a limit that attains the least margin, and its slack in its own units; the user.

use rug::Rational;

use super::Shown;
use super::place::{Compared, Named, Place, least};
use crate::allocation::{Placement, Tasks, entries};
use crate::case::{Case, total_of};
use crate::claim::Claim;
use crate::work::{self, Checked};

pub fn feasible(case: &Case<'_>, claim: &Claim<'_>) -> Checked<Shown> {
    let named = named(case, claim, false)?;
    least(named.as_ref(), &limits(case, &case.stated.tasks, None, false)?)
}

/// Tasks are whole, and fit on single servers: those of the placements, or the only ones of their classes.
pub fn integer_feasible(case: &Case<'_>, claim: &Claim<'_>) -> Checked<Shown> {
    let named = named(case, claim, true)?;
    let all = case.as_placements(&case.stated.tasks);
    let servers = case.stated.placements.as_ref().unwrap_or(&all);
    least(named.as_ref(), &limits(case, &case.stated.tasks, Some(servers), true)?)
}

/// Whether tasks stand on single servers.
pub fn stands_on_servers(case: &Case<'_>) -> bool {
    let single = |i: usize| case.problem.classes[i].count == 1;
    case.stated.placements.is_some() || entries(&case.stated.tasks).all(|(_, i, _)| single(i))
}

/// Whether nothing is above its limit by more than is tolerated; on single servers, of which all together are
/// those of the class, not at all. Parts of tasks are another axiom's matter.
pub fn holds(case: &Case<'_>) -> Checked<bool> {
    let limits = limits(case, &case.stated.tasks, case.stated.placements.as_deref(), false)?;
    Ok(limits.iter().all(|limit| limit.margin >= case.least_of_limits()))
}

/// Whether an allocation is feasible exactly: of classes, or whole tasks on single servers.
pub fn is_feasible(case: &Case<'_>, tasks: &Tasks, servers: Option<&[Placement]>) -> Checked<bool> {
    Ok(limits(case, tasks, servers, servers.is_some())?.iter().all(|limit| limit.margin >= 0))
}

/// What the evidence names: a row, an entry, or a user whose tasks are the limit; of a single server by its
/// index.
fn named(case: &Case<'_>, claim: &Claim<'_>, single: bool) -> Checked<Option<Named>> {
    let raw = claim.evidence;
    let named = match (raw.get("server").is_absent(), raw.get("resource").is_absent()) {
        _ if claim.has_none() => return Ok(None),
        (_, false) => Place::read(case, raw, "server resource index?", "slack")?,
        (true, true) => Place::read(case, raw, "user", "slack")?,
        (false, true) => Place::read(case, raw, "user server index?", "slack")?,
    };
    let has_index = named.0.class.is_some() && single;
    if named.0.index.is_some() == has_index {
        Ok(Some(named))
    } else {
        raw.wrong("an `index` too many, or none")
    }
}

/// What limits these tasks: what users have, the rows of every server with tasks (or of every class), and
/// entries that are none, or not whole where they are to be, which have no slack but what they are off.
fn limits(
    case: &Case<'_>,
    tasks: &Tasks,
    servers: Option<&[Placement]>,
    whole: bool,
) -> Checked<Vec<Compared>> {
    let mut limits = Vec::new();
    let known = servers.is_none() && *tasks == case.x;
    let mut add = |place, slack: Rational, unit: &Rational| {
        let margin = Rational::from(&slack / unit);
        limits.push(Compared { place, amount: Some(slack), margin });
    };
    for (n, user) in case.problem.users.iter().enumerate().filter(|(n, _)| case.is_active(*n)) {
        if let Some(most) = &user.tasks {
            work::spend(tasks[n].len())?;
            let place = Place { user: Some(n), ..Place::default() };
            add(place, most - total_of(&tasks[n]), &case.g[n]);
        }
    }
    for Placement { class, index, tasks } in servers.unwrap_or(&case.as_placements(tasks)) {
        if servers.is_some() && tasks.is_empty() {
            continue;
        }
        let on = Place { class: Some(*class), index: servers.map(|_| *index), ..Place::default() };
        let count = if servers.is_some() { case.problem.classes[*class].count } else { 1 };
        let rows = case.rows_of(*class);
        let left = if known { case.slack[rows.clone()].to_vec() } else { case.left(*class, count, tasks)? };
        for (row, slack) in rows.zip(left) {
            let place = Place { row: Some(row), ..on.clone() };
            add(place, slack, &Rational::from(&case.rows[row].capacity / count));
        }
        for (n, x) in tasks {
            let part = if whole { x - Rational::from(x.round_ref()) } else { Rational::new() };
            let off = if case.counts(*n, *class, x) { part } else { x.clone() };
            if !off.is_zero() {
                let unit = if case.is_active(*n) { &case.g[*n] } else { &Rational::from(1) };
                add(Place { user: Some(*n), ..on.clone() }, -off.abs(), unit);
            }
        }
    }
    Ok(limits)
}

/// `x_n >= min(T_n, e_n gamma_n)`, with `e_n = w_n / sum w`.
pub fn sharing_incentive(case: &Case<'_>, claim: &Claim<'_>) -> Checked<Shown> {
    let compared = |n: usize| {
        let user = &case.problem.users[n];
        let due = Rational::from(&case.gamma[n] * &user.weight) / &case.weight;
        let margin = (&case.total[n] - user.at_most_tasks(due)) / &case.g[n];
        let loss = (claim.holds == Some(false)).then(|| -Rational::from(&margin * &case.g[n]));
        Compared { place: Place { user: Some(n), ..Place::default() }, amount: loss, margin }
    };
    let named = Place::tightest(case, claim, "user", "loss")?;
    least(named.as_ref(), &case.active().map(compared).collect::<Vec<_>>())
}

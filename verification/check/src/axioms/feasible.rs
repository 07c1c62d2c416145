//! Feasible and integer feasible: the margin of every limit, of the allocation as it is stated. And sharing
//! incentive: users against their entitlement.
//!
//! Evidence: a limit that attains the least margin, and its slack in its own units; the user.

use rug::Rational;

use super::Shown;
use super::place::{Compared, Place, least};
use crate::allocation::{Placement, Tasks, entries};
use crate::case::{Case, total_of};
use crate::claim::Claim;
use crate::work::Checked;

pub fn feasible(case: &Case<'_>, claim: &Claim<'_>) -> Checked<Shown> {
    let named = named(case, claim, false)?;
    least(named, &limits(case, &case.stated.tasks, &case.as_placements(&case.stated.tasks), false)?)
}

/// Tasks are whole, and fit on single servers: those of the placements, or the only ones of their classes.
pub fn integer_feasible(case: &Case<'_>, claim: &Claim<'_>) -> Checked<Shown> {
    let named = named(case, claim, true)?;
    let all = case.as_placements(&case.stated.tasks);
    let servers = case.stated.placements.as_ref().unwrap_or(&all);
    least(named, &limits(case, &case.stated.tasks, servers, true)?)
}

/// Whether tasks stand on single servers.
pub fn stands_on_servers(case: &Case<'_>) -> bool {
    let single = |i: usize| case.problem.classes[i].count == 1;
    case.stated.placements.is_some() || entries(&case.stated.tasks).all(|(_, i, _)| single(i))
}

/// Whether nothing is above its limit by more than is tolerated; on single servers not at all.
pub fn holds(case: &Case<'_>) -> Checked<bool> {
    let tasks = &case.stated.tasks;
    let by_class = limits(case, tasks, &case.as_placements(tasks), false)?;
    let Some(servers) = &case.stated.placements else {
        return Ok(by_class.iter().all(|limit| limit.margin >= Rational::from(-&case.tolerance)));
    };
    // Parts of tasks are another axiom's matter.
    let counts = |server: &Placement| {
        server.tasks.iter().all(|(n, x)| x.is_zero() || case.counts(*n, server.class, x))
    };
    let mut on_servers = limits(case, tasks, servers, true)?;
    on_servers.retain(|limit| limit.place.row.is_some());
    let all_hold = by_class.iter().chain(&on_servers).all(|limit| limit.margin >= 0);
    Ok(all_hold && servers.iter().all(counts))
}

/// Whether an allocation is feasible exactly: of classes, or whole tasks on single servers.
pub fn is_feasible(case: &Case<'_>, tasks: &Tasks, servers: Option<&[Placement]>) -> Checked<bool> {
    let by_class = case.as_placements(tasks);
    let limits = limits(case, tasks, servers.unwrap_or(&by_class), servers.is_some())?;
    Ok(limits.iter().all(|limit| limit.margin >= 0))
}

/// What the evidence names: a row, an entry, or a user whose tasks are the limit; of a single server by its index.
fn named(case: &Case<'_>, claim: &Claim<'_>, single: bool) -> Checked<Option<(Place, Option<Rational>)>> {
    let raw = claim.evidence;
    let named = match (raw.get("server").is_absent(), raw.get("resource").is_absent()) {
        _ if claim.has_none() => return Ok(None),
        (_, false) => Place::read(case, raw, ["server", "resource", "index?", "slack"])?,
        (true, true) => Place::read(case, raw, ["user", "slack"])?,
        (false, true) => Place::read(case, raw, ["user", "server", "index?", "slack"])?,
    };
    let has_index = named.0.class.is_some() && single;
    if named.0.index.is_some() == has_index {
        Ok(Some(named))
    } else {
        raw.wrong("an `index` too many, or none")
    }
}

/// What limits these tasks: what users have, the rows of every server (or class as a whole), and entries that
/// are none, or on a single server not whole, which have no slack but what they are off.
fn limits(case: &Case<'_>, tasks: &Tasks, servers: &[Placement], single: bool) -> Checked<Vec<Compared>> {
    let mut limits = Vec::new();
    for (n, tasks) in tasks.iter().enumerate() {
        if let Some(above) = case.above_tasks(n, &total_of(tasks)) {
            let place = Place { user: Some(n), ..Place::default() };
            let slack = -Rational::from(&above * &case.g[n]);
            limits.push(Compared { place, amount: Some(slack), margin: -above });
        }
    }
    for Placement { class, index, tasks } in servers {
        if single && tasks.iter().all(|(_, x)| x.is_zero()) {
            continue;
        }
        let on = Place { class: Some(*class), index: single.then_some(*index), ..Place::default() };
        let count = if single { case.problem.classes[*class].count } else { 1 };
        for (row, slack) in case.rows_of(*class).zip(case.left(*class, count, tasks)?) {
            let margin = Rational::from(&slack / &case.rows[row].capacity) * count;
            let place = Place { row: Some(row), ..on.clone() };
            limits.push(Compared { place, amount: Some(slack), margin });
        }
        for (n, x) in tasks {
            let off = match case.counts(*n, *class, x) {
                true if single => (x - Rational::from(x.round_ref())).abs(),
                true => continue,
                false => x.clone().abs(),
            };
            if !off.is_zero() {
                let per = if case.is_active(*n) { case.g[*n].clone() } else { Rational::from(1) };
                let place = Place { user: Some(*n), ..on.clone() };
                limits.push(Compared { place, margin: -Rational::from(&off / &per), amount: Some(-off) });
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
    let named = Place::tightest(case, claim, ["user"], ["user", "loss"])?;
    least(named, &case.active().map(compared).collect::<Vec<_>>())
}

//! Work-conserving, no justified complaints, and per-server dominant-share fairness (theory, sections 3, 4
//! and 7): every user has all its tasks, or rows answer its complaint.
//!
//! By each axiom a row is somewhat short of answering a user, and from that rows of several classes are; the
//! margin of a user is minus that, or `(x_n - T_n) / g_n` where that is more.

use std::collections::HashMap;

use rug::Rational;

use crate::allocation::entries;
use crate::case::{Case, Claim, Shown};
use crate::groups::holdings::Holdings;
use crate::names::{Amounts, at};
use crate::work::{self, Checked};

/// The least margin of users who are each somewhat short.
fn least(case: &Case<'_>, short: impl Fn(usize) -> Checked<Rational>) -> Checked<Shown> {
    let margin = |n: usize| {
        let short = -short(n)?;
        Ok(case.tasks_left(n).map(|left| -left / &case.g[n]).into_iter().fold(short, Rational::max))
    };
    Ok((case.active().map(margin).collect::<Checked<Vec<_>>>()?.into_iter().min(), None))
}

/// The least of a number of each row of which a task takes something.
fn of_rows(uses: Amounts, of: impl Fn(usize, Rational) -> Checked<Rational>) -> Checked<Rational> {
    let numbers: Checked<Vec<Rational>> = uses.into_iter().map(|(row, d)| of(row, d)).collect();
    Ok(numbers?.into_iter().min().unwrap_or_default())
}

/// A user is short of the tasks for which there is room: on each class what the scarcest row leaves, or a limit of groups
/// there, and in all what these hold back. On single servers a whole task fits or does not.
pub fn work_conserving(case: &Case<'_>, _: &Claim<'_>) -> Checked<Shown> {
    let placed = case.stated.placements.is_some();
    let servers = if placed { case.free()? } else { Vec::new() };
    let holdings = case.problem.groups.hold_back().then(|| Holdings::new(case)).transpose()?;
    let whole = |tasks: Rational| if placed { Rational::from(u32::from(tasks >= 1)) } else { tasks };
    let room = |n: usize, i: usize| {
        let limit = holdings.as_ref().map_or(Ok(None), |holdings| holdings.left_on_class(n, i))?;
        let uses = case.uses(n, i);
        let room = if placed {
            work::steps(100 * servers[i].len() as u64)?;
            let fits = |on: &Amounts| uses.iter().all(|(row, d)| at(on, *row).is_none_or(|free| free >= d));
            Rational::from(u32::from(servers[i].iter().any(fits)))
        } else {
            of_rows(uses, |row, d| work::times(&case.slack[row], &d.recip()))?
        };
        Ok(limit.map(whole).into_iter().fold(room, Rational::min))
    };
    let mut least = case.active().next().map(|_| Rational::new());
    // Without limits of groups there is as much room for all who are alike.
    let mut known: HashMap<usize, Vec<Rational>> = HashMap::new();
    for n in case.active().filter(|n| case.tasks_left(*n).is_none_or(|left| left > 0)) {
        let alike = known.get(&case.problem.alike[n]).filter(|_| holdings.is_none()).cloned();
        let rooms = || case.problem.classes_of(n).map(|i| room(n, i)).collect::<Checked<Vec<_>>>();
        let rooms = alike.map_or_else(rooms, Ok)?;
        let room = if placed { rooms.into_iter().max().unwrap_or_default() } else { work::sum(rooms)? };
        known.insert(case.problem.alike[n], vec![room.clone()]);
        let stops = holdings.as_ref().map_or(Ok(Vec::new()), |holdings| holdings.stops(n))?;
        let room = stops.into_iter().chain(case.tasks_left(n)).fold(room, Rational::min);
        let margin = if placed { -whole(room) } else { -room / &case.g[n] };
        least = least.map(|least| least.min(margin));
    }
    Ok((least, None))
}

/// A row is short by its slack, or by what the user holds of it less than its entitlement, as parts of the
/// row.
pub fn njc(case: &Case<'_>, _: &Claim<'_>) -> Checked<Shown> {
    least(case, |n| {
        let due = Rational::from(&case.problem.users[n].weight / &case.weight);
        let short = |row: usize, d: Rational| {
            let capacity = &case.rows[row].capacity;
            let part = at(&case.x[n], case.rows[row].class).map(|x| d * x / capacity).unwrap_or_default();
            Ok(Rational::from(&case.slack[row] / capacity).max(&due - part))
        };
        let classes = case.problem.classes_of(n).map(|i| of_rows(case.uses(n, i), short));
        Ok(classes.collect::<Checked<Vec<_>>>()?.into_iter().min().unwrap_or_default())
    })
}

/// A row is short by what the user lacks of it in tasks: what is free of it, and of what everybody else holds
/// the part that is ahead of `n`, over what a task of `n` takes.
pub fn ps_dsf(case: &Case<'_>, _: &Claim<'_>) -> Checked<Shown> {
    // `w_n gamma_ni`, over which levels are.
    let full = |n: usize, i: usize| case.problem.gamma(n, i) * &case.problem.users[n].weight;
    // Who has tasks on each class: its level there, itself, its tasks, those at level 1; levels ascending.
    let mut holders = vec![Vec::new(); case.problem.classes.len()];
    for (m, i, x) in entries(&case.x) {
        holders[i].push((&case.total[m] / full(m, i), m, x, full(m, i)));
    }
    holders.iter_mut().for_each(|holders| holders.sort());
    let lack = |n: usize, row: usize, d: Rational| {
        let i = case.rows[row].class;
        let level = &case.total[n] / full(n, i);
        let mut parts = vec![Rational::from(&case.slack[row] / &d)];
        for (_, m, x, full) in holders[i].iter().rev().take_while(|holder| holder.0 > level) {
            work::spend(6)?;
            let ahead = &case.total[*m] - Rational::from(&level * full);
            parts.push(ahead.min((*x).clone()) * case.takes(*m, row).unwrap_or_default() / &d);
        }
        work::sum(parts)
    };
    least(case, |n| {
        let classes = case.problem.classes_of(n).map(|i| of_rows(case.uses(n, i), |row, d| lack(n, row, d)));
        let most = classes.collect::<Checked<Vec<_>>>()?.into_iter().max().unwrap_or_default();
        Ok(most / &case.g[n])
    })
}

//! Work-conserving, no justified complaints, and per-server dominant-share fairness (theory, sections 3, 4
//! and 7): every user has all its tasks, or rows answer its complaint.
//!
//! By each axiom a row is somewhat short of answering a user, and from that rows of several classes are; the
//! margin of a user is minus that, or `(x_n - T_n) / g_n` where that is more.

use std::collections::HashMap;

use rug::Rational;

use crate::allocation::entries;
use crate::case::{Case, Claim, Shown};
use crate::groups::gangs::whole;
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

/// Whether users could run more in what is free.
pub fn work_conserving(case: &Case<'_>, _: &Claim<'_>) -> Checked<Shown> {
    let holdings = case.problem.groups.hold_back().then(|| Holdings::new(case)).transpose()?;
    let margin = match case.stated.placements {
        Some(_) => gangs_that_fit(case, holdings.as_ref())?,
        None => divided_room(case, holdings.as_ref())?,
    };
    Ok((case.active().next().map(|_| margin), None))
}

/// A user is short of the tasks for which there is room: on each class what the scarcest row leaves, or a limit of groups
/// there, and in all what these hold back.
fn divided_room(case: &Case<'_>, holdings: Option<&Holdings<'_>>) -> Checked<Rational> {
    let room = |n: usize, i: usize| {
        let limit = holdings.map_or(Ok(None), |holdings| holdings.left_on_class(n, i))?;
        let room = of_rows(case.uses(n, i), |row, d| work::times(&case.slack[row], &d.recip()))?;
        Ok(limit.into_iter().fold(room, Rational::min))
    };
    let mut least = Rational::new();
    // Without limits of groups there is as much room for all who are alike.
    let mut known: HashMap<usize, Rational> = HashMap::new();
    for n in case.active().filter(|n| case.tasks_left(*n).is_none_or(|left| left > 0)) {
        let alike = known.get(&case.problem.alike[n]).filter(|_| holdings.is_none()).cloned();
        let rooms = || case.problem.classes_of(n).map(|i| room(n, i)).collect::<Checked<Vec<_>>>();
        let room = alike.map_or_else(|| work::sum(rooms()?), Ok)?;
        known.insert(case.problem.alike[n], room.clone());
        let stops = holdings.map_or(Ok(Vec::new()), |holdings| holdings.stops(n))?;
        let room = stops.into_iter().chain(case.tasks_left(n)).fold(room, Rational::min);
        least = least.min(-room / &case.g[n]);
    }
    Ok(least)
}

/// On single servers all tasks of a gang fit or they do not, and groups leave a gang or they do not.
fn gangs_that_fit(case: &Case<'_>, holdings: Option<&Holdings<'_>>) -> Checked<Rational> {
    let servers = case.free()?;
    // By class, up to a gang: on each server as many whole tasks as its scarcest row has room for.
    let room = |n: usize, i: usize| {
        let (gang, uses) = (case.problem.groups.members[n].gang, case.uses(n, i));
        let mut tasks = 0;
        for (free, count) in &servers[i] {
            work::steps(100)?;
            let fits = |(row, d): &(usize, Rational)| at(free, *row).is_none_or(|free| free >= d);
            if !uses.iter().all(fits) {
                continue;
            }
            let mut most = gang;
            for (row, d) in uses.iter().filter(|_| gang > 1) {
                work::spend(2)?;
                most = at(free, *row).map_or(most, |free| whole(Rational::from(free / d), most));
            }
            tasks = gang.min(tasks + most.saturating_mul(*count));
        }
        Ok((i, tasks))
    };
    // There is as much room for all who are alike and have gangs of one size.
    let mut known: HashMap<(usize, u64), Vec<(usize, u64)>> = HashMap::new();
    let mut least = Rational::new();
    for n in case.active() {
        let gang = case.problem.groups.members[n].gang;
        if case.tasks_left(n).is_some_and(|left| left < gang) {
            continue;
        }
        let rooms = match known.get(&(case.problem.alike[n], gang)) {
            Some(rooms) => rooms.clone(),
            None => case.problem.classes_of(n).map(|i| room(n, i)).collect::<Checked<_>>()?,
        };
        let is_left = match holdings {
            None => rooms.iter().fold(0, |sum: u64, (_, tasks)| sum.saturating_add(*tasks)) >= gang,
            Some(holdings) => {
                holdings.stops(n)?.into_iter().all(|left| left >= gang) && holdings.leave_gang(n, &rooms)?
            }
        };
        known.insert((case.problem.alike[n], gang), rooms);
        if is_left {
            least = Rational::from(-1);
        }
    }
    Ok(least)
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

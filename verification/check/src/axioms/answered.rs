//! Work-conserving, no justified complaints, and per-server dominant-share fairness (docs/theory.md, sections 3, 4 and
//! 7). Each axiom says that every user either has all its tasks, or has no justified complaint because some rows remove
//! it.
//!
//! Each axiom defines the distance of a row from removing a user's complaint. From these distances follows the distance
//! for the rows of all classes, which is the shortfall of the user. The margin of a user is minus its shortfall, or
//! `(x_n - T_n) / g_n` if that is larger.

use std::collections::HashMap;

use rug::Rational;

use crate::allocation::entries;
use crate::case::{Case, Claim, Shown};
use crate::groups::gangs::whole;
use crate::groups::holdings::Holdings;
use crate::names::{Amounts, at};
use crate::work::{self, Checked};

/// Returns the smallest margin of all users. `short` computes the shortfall of a user.
fn least(case: &Case<'_>, short: impl Fn(usize) -> Checked<Rational>) -> Checked<Shown> {
    let margin = |n: usize| {
        let short = -short(n)?;
        Ok(case.tasks_left(n).map(|left| -left / &case.g[n]).into_iter().fold(short, Rational::max))
    };
    Ok((case.active().map(margin).collect::<Checked<Vec<_>>>()?.into_iter().min(), None))
}

/// Returns the smallest value of a function over the rows that a task uses.
fn of_rows(uses: Amounts, of: impl Fn(usize, Rational) -> Checked<Rational>) -> Checked<Rational> {
    let numbers: Checked<Vec<Rational>> = uses.into_iter().map(|(row, d)| of(row, d)).collect();
    Ok(numbers?.into_iter().min().unwrap_or_default())
}

/// Judges whether users could run more tasks in the free capacity.
pub fn work_conserving(case: &Case<'_>, _: &Claim<'_>) -> Checked<Shown> {
    let holdings = case.problem.groups.hold_back().then(|| Holdings::new(case)).transpose()?;
    let margin = match case.stated.placements {
        Some(_) => gangs_that_fit(case, holdings.as_ref())?,
        None => divided_room(case, holdings.as_ref())?,
    };
    Ok((case.active().next().map(|_| margin), None))
}

/// Returns the margin for divisible tasks. The shortfall of a user is the number of its tasks that could still run. On
/// each class this number is at most what the scarcest row and the limits of groups allow there. In total it is at most
/// what groups allow.
fn divided_room(case: &Case<'_>, holdings: Option<&Holdings<'_>>) -> Checked<Rational> {
    let room = |n: usize, i: usize| {
        let limit = holdings.map_or(Ok(None), |holdings| holdings.left_on_class(n, i))?;
        let room = of_rows(case.uses(n, i), |row, d| work::times(&case.slack[row], &d.recip()))?;
        Ok(limit.into_iter().fold(room, Rational::min))
    };
    let mut least = Rational::new();
    // Without limits of groups, identical users could run the same number of further tasks.
    let mut known: HashMap<usize, Rational> = HashMap::new();
    for n in case.active().filter(|n| case.tasks_left(*n).is_none_or(|left| left > 0)) {
        let alike = known.get(&case.problem.alike[n]).filter(|_| holdings.is_none()).cloned();
        let rooms = || case.problem.classes_of(n).map(|i| room(n, i)).collect::<Checked<Vec<_>>>();
        let room = alike.map_or_else(|| work::sum(rooms()?), Ok)?;
        known.insert(case.problem.alike[n], room.clone());
        let stops = holdings.map_or(Ok(Vec::new()), |holdings| holdings.stops(n))?;
        work::steps(stops.iter().map(|stop| work::comparison(work::words(stop))).sum())?;
        let room = stops.into_iter().chain(case.tasks_left(n)).fold(room, Rational::min);
        least = least.min(-room / &case.g[n]);
    }
    Ok(least)
}

/// Returns the margin on single servers. It is -1 if all tasks of some gang fit and the limits of groups allow them,
/// and 0 otherwise.
fn gangs_that_fit(case: &Case<'_>, holdings: Option<&Holdings<'_>>) -> Checked<Rational> {
    let servers = case.free()?;
    // Counts whole tasks on each class, up to the size of a gang. Each server takes as many tasks as its scarcest row
    // allows.
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
    // Identical users with gangs of the same size could run the same number of further tasks.
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

/// Judges no justified complaints. The shortfall of a row is the larger of two fractions of its capacity: its slack,
/// and the entitlement of the user minus the fraction that the user uses.
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

/// Judges per-server dominant-share fairness. The shortfall of a row is the number of tasks that the user lacks on it.
/// This number is an amount of the row divided by the demand of a task of `n`. The amount is the free capacity of the
/// row, plus the capacity that users with a higher level than `n` use for the tasks above the level of `n`.
pub fn ps_dsf(case: &Case<'_>, _: &Claim<'_>) -> Checked<Shown> {
    // The divisor of a user's level on a class, `w_n gamma_ni`.
    let full = |n: usize, i: usize| case.problem.gamma(n, i) * &case.problem.users[n].weight;
    // The users with tasks on each class, by ascending level. An entry has the level of the user there, the user, its
    // tasks there, and the tasks that it would have at level 1.
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

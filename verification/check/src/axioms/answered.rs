//! Work-conserving, no justified complaints, and per-server dominant-share fairness (theory, sections 3, 4
//! and 7): every user has all its tasks, or rows answer its complaint.
//!
//! By each axiom a row is somewhat short of answering a user, and from that rows of several classes are; the
//! margin of a user is minus that, or `(x_n - T_n) / g_n` where that is more. Evidence of yes: for every user
//! `satisfied`, or rows of the classes on which it can run, which attain the least margin. Of no: a user that
//! has it, and how.

use rug::Rational;

use super::Shown;
use super::place::Place;
use crate::allocation::entries;
use crate::case::Case;
use crate::claim::Claim;
use crate::json::{Json, Kind};
use crate::problem::{Amounts, at};
use crate::work::{self, Checked, ensure, refuse};

/// `(class, rows)`, ascending.
pub type Rows = Vec<(usize, Vec<usize>)>;

/// The margin, by
/// - `field`, that of the evidence of yes;
/// - `users`, who may complain, ascending;
/// - `short(n, i, rows)`: how short the best of some rows of class `i` is of answering user `n`;
/// - `of_classes(n, shorts)`: the same of several classes, which are each so short;
/// - `complaint(evidence, least)`: the user that the evidence of no names, and whether it shows how this is
///   the least margin.
fn judge(
    case: &Case<'_>,
    claim: &Claim<'_>,
    (field, users): (&str, Vec<usize>),
    short: impl Fn(usize, usize, &[usize]) -> Checked<Rational>,
    of_classes: impl Fn(usize, Vec<Rational>) -> Checked<Rational>,
    complaint: impl Fn(&Json<'_>, Option<&Rational>) -> Checked<(usize, bool)>,
) -> Checked<Shown> {
    let answered = |n: usize, rows: &Rows| {
        let short: Checked<_> = rows.iter().map(|(i, rows)| short(n, *i, rows)).collect();
        of_classes(n, short?).map(|short| -short)
    };
    let mut margins = Amounts::new();
    for n in users.iter().copied() {
        let rows_of = |i| (i, case.uses(n, i).into_iter().map(|(row, _)| row).collect());
        let answered = answered(n, &case.problem.classes_of(n).map(rows_of).collect())?;
        margins.push((n, case.above_tasks(n, &case.total[n]).into_iter().fold(answered, Rational::max)));
    }
    // Where somebody is there, and nobody complains, nothing is short.
    let nothing = case.active().next().map(|_| Rational::new());
    let least = margins.iter().map(|(_, margin)| margin.clone()).min().or(nothing.clone());
    let (raw, stated) = (claim.evidence, claim.evidence.get(field));
    if stated.is_absent() && !claim.has_none() {
        let (user, is_so) = complaint(raw, least.as_ref())?;
        let has_least = at(&margins, user).is_some() && at(&margins, user) == least.as_ref();
        ensure(has_least && is_so, "the complaint of the evidence is not the one with the least margin")?;
        return Ok((least, Some(false)));
    }
    let stated = case.problem.user_names.map(stated, |_, raw| rows_of_user(case, field, raw))?;
    ensure(nothing.is_none() == claim.has_none(), "there is no evidence, or nobody whom it could be about")?;
    raw.given().filter(|_| nothing.is_some()).map(|raw| raw.fields::<1>(field)).transpose()?;
    let named = stated.iter().map(|(n, _)| n);
    ensure(named.eq(&users), "the evidence is not about just those who may complain")?;
    let mut shown = Vec::new();
    for (n, rows) in stated {
        let Some(rows) = rows else {
            shown.push(case.above_tasks(n, &case.total[n]));
            continue;
        };
        let is_every = field == "witness" || rows.iter().map(|(i, _)| *i).eq(case.problem.classes_of(n));
        ensure(is_every, "rows are not stated of every class where a user can run")?;
        let is_one = case.stated.placements.is_some() || rows.iter().all(|(_, rows)| rows.len() == 1);
        ensure(is_one, "several rows are stated of a class")?;
        shown.push(Some(answered(n, &rows)?));
    }
    let shown: Option<Vec<Rational>> = shown.into_iter().collect();
    let attains = shown.is_some_and(|shown| shown.into_iter().min().or(nothing) == least);
    ensure(attains, "the rows of the evidence show another margin")?;
    Ok((least, Some(true)))
}

/// What the evidence says of a user: rows, or that it has all its tasks.
pub fn rows_of_user(case: &Case<'_>, field: &str, raw: &Json<'_>) -> Checked<Option<Rows>> {
    let row = |i: usize, raw: &Json<'_>| case.row_named(i, raw.text()?, raw);
    let classes = &case.problem.class_names;
    match field {
        "short" => {
            let listed = |i: usize, raw: &Json<'_>| match &raw.kind {
                Kind::List(list) => list.iter().map(|raw| row(i, raw)).collect(),
                _ => Ok(vec![row(i, raw)?]),
            };
            classes.map(raw, listed).map(Some)
        }
        _ if raw.text() == Ok("satisfied") => Ok(None),
        "witness" => {
            let [server, resource] = raw.fields("server resource")?;
            let i = classes.named(server)?;
            Ok(Some(vec![(i, vec![row(i, resource)?])]))
        }
        _ => classes.map(raw, |i, raw| Ok(vec![row(i, raw)?])).map(Some),
    }
}

/// The least of some rows by a number of each; all of them are such that a task of user `n` takes something
/// of.
fn least_of(
    case: &Case<'_>,
    (n, i): (usize, usize),
    rows: &[usize],
    of: impl Fn(usize, Rational) -> Checked<Rational>,
) -> Checked<Rational> {
    let mut numbers = Vec::new();
    let can_run = case.problem.can_run(n, i);
    for row in rows {
        let Some(d) = Some(*row).filter(|_| can_run).and_then(|row| case.takes(n, row)) else {
            return refuse("a task takes nothing of a stated row");
        };
        numbers.push(of(*row, d)?);
    }
    Ok(numbers.into_iter().min().unwrap_or_default())
}

/// A row is short by the tasks that it leaves room for: none, where it is full. On single servers of the
/// placements rows are short of nothing when every server lacks one of them for a task, and else of a whole
/// task.
pub fn work_conserving(case: &Case<'_>, claim: &Claim<'_>) -> Checked<Shown> {
    if case.problem.groups.hold_back() {
        return crate::groups::held_back::work_conserving(case, claim);
    }
    let placed = case.stated.placements.is_some();
    let pending = |n: &usize| {
        let left = case.problem.users[*n].tasks.as_ref().map(|tasks| tasks - case.total[*n].clone());
        left.is_none_or(|left| if placed { left >= 1 } else { left > 0 })
    };
    let servers = free(case)?;
    // Whether a server has less free than a task takes (of one of these rows).
    let lacks =
        |uses: &Amounts, free: &Amounts| uses.iter().any(|(row, d)| at(free, *row).is_some_and(|f| f < d));
    let room = |n: usize, i: usize, rows: &[usize]| {
        if !placed {
            return least_of(case, (n, i), rows, |row, d| Ok(Rational::from(&case.slack[row] / &d)));
        }
        work::steps(100 * servers[i].len() as u64)?;
        let mut uses = case.uses(n, i);
        uses.retain(|(row, _)| rows.contains(row));
        Ok(Rational::from(u32::from(!servers[i].iter().all(|(_, free)| lacks(&uses, free)))))
    };
    let of_classes = |n: usize, rooms: Vec<Rational>| {
        let room = if placed { rooms.into_iter().max().unwrap_or_default() } else { work::sum(rooms)? };
        let left = case.problem.users[n].tasks.as_ref().map(|tasks| tasks - case.total[n].clone());
        Ok(left.into_iter().fold(room, Rational::min) / &case.g[n])
    };
    let complaint = |raw: &Json<'_>, _: Option<&Rational>| {
        let (place, _) = Place::read(case, raw, "user server index?", "")?;
        let (n, i) = (place.user.unwrap_or(0), place.class.unwrap_or(0));
        let uses = case.uses(n, i);
        let is_free = match place.index {
            Some(index) => {
                let here = servers[i].iter().find(|(at, _)| *at == Some(index));
                let here = here.or_else(|| servers[i].iter().find(|(at, _)| at.is_none()));
                index < case.problem.classes[i].count && here.is_some_and(|(_, free)| !lacks(&uses, free))
            }
            None => uses.iter().all(|(row, _)| case.slack[*row] > 0),
        };
        Ok((n, is_free && place.index.is_some() == placed && case.problem.can_run(n, i)))
    };
    let users = case.active().filter(pending).collect();
    judge(case, claim, ("short", users), room, of_classes, complaint)
}

/// The index of a server, or none of those that hold nothing; and what is free on it, by row.
pub type Server = (Option<u64>, Amounts);

/// What is free on the servers of every class.
pub fn free(case: &Case<'_>) -> Checked<Vec<Vec<Server>>> {
    let mut servers = vec![Vec::new(); case.problem.classes.len()];
    for server in case.stated.placements.iter().flatten() {
        let free = case.left(server.class, case.problem.classes[server.class].count, &server.tasks)?;
        servers[server.class].push((Some(server.index), case.rows_of(server.class).zip(free).collect()));
    }
    for (i, servers) in servers.iter_mut().enumerate() {
        let count = case.problem.classes[i].count;
        if (servers.len() as u64) < count {
            servers.push((None, case.rows_of(i).zip(case.left(i, count, &[])?).collect()));
        }
    }
    Ok(servers)
}

/// A row is short by its slack, or by what the user holds of it less than its entitlement, as parts of the
/// row.
pub fn njc(case: &Case<'_>, claim: &Claim<'_>) -> Checked<Shown> {
    let due = |n: usize| Rational::from(&case.problem.users[n].weight / &case.weight);
    let part =
        |n: usize, row: usize, d: Rational| d * case.on(n, case.rows[row].class) / &case.rows[row].capacity;
    let short = |n: usize, i: usize, rows: &[usize]| {
        least_of(case, (n, i), rows, |row, d| {
            let slack = Rational::from(&case.slack[row] / &case.rows[row].capacity);
            Ok(slack.max(due(n) - part(n, row, d)))
        })
    };
    let of_classes = |_: usize, short: Vec<Rational>| Ok(short.into_iter().min().unwrap_or_default());
    let complaint = |raw: &Json<'_>, _: Option<&Rational>| {
        let [user, entitlement, shares] = raw.fields("user entitlement shares")?;
        let (n, entitlement) = (case.problem.user_names.named(user)?, entitlement.computed()?);
        let uses = case.problem.classes_of(n).flat_map(|i| case.uses(n, i));
        let full = uses.filter(|(row, _)| case.slack[*row].is_zero());
        let held = full.map(|(row, d)| (row, part(n, row, d)));
        let is_so = case.by_class_and_row(shares)?.into_iter().eq(held);
        Ok((n, is_so && case.is_active(n) && entitlement == due(n)))
    };
    let users = case.active().collect();
    judge(case, claim, ("witness", users), short, of_classes, complaint)
}

/// A row is short by what the user lacks of it in tasks: what is free of it, and of what everybody else holds
/// the part that is ahead of `n`, over what a task of `n` takes.
pub fn ps_dsf(case: &Case<'_>, claim: &Claim<'_>) -> Checked<Shown> {
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
    let short = |n: usize, i: usize, rows: &[usize]| least_of(case, (n, i), rows, |row, d| lack(n, row, d));
    let of_classes =
        |n: usize, lacks: Vec<Rational>| Ok(lacks.into_iter().max().unwrap_or_default() / &case.g[n]);
    let complaint = |raw: &Json<'_>, least: Option<&Rational>| {
        let [user, server, lacks] = raw.fields("user server lacks")?;
        let (n, i) = (case.problem.user_names.named(user)?, case.problem.class_names.named(server)?);
        let stated = case.by_row(i, lacks)?;
        ensure(case.is_active(n) && case.problem.can_run(n, i), "the user of the evidence cannot run there")?;
        let found = case.uses(n, i).into_iter().map(|(row, d)| Ok((row, lack(n, row, d)?)));
        let found = found.collect::<Checked<Amounts>>()?;
        let short = found.iter().map(|(_, lack)| -lack.clone() / &case.g[n]).max();
        Ok((n, stated == found && short.max(case.above_tasks(n, &case.total[n])).as_ref() == least))
    };
    let users = case.active().collect();
    judge(case, claim, ("bottlenecks", users), short, of_classes, complaint)
}
